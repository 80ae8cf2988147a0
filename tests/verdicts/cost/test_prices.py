import pytest

from simreal.core.errors import UsageError
from simreal.verdicts.cost.prices import Price, prices_from, read_prices


def test_shipped_prices_have_bands_and_sources():
    prices = read_prices()
    assert (prices.operator.low, prices.operator.value, prices.operator.high) == (25, 35, 45)
    assert (prices.compute.low, prices.compute.high) == (0.34, 0.60)
    assert prices.currency == "USD"
    for name in ("operator", "robot", "wear", "compute", "engineering", "setup_hours"):
        assert len(getattr(prices, name).source) > 10, name
    assert {"easy", "dexterous", "lerobot"} <= set(prices.times)


def test_what_has_no_source_is_marked():
    assert set(read_prices().assumptions) == {"wear", "engineering", "setup_hours"}


def test_a_number_of_ones_own_replaces_the_band_and_the_assumption(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('operator = 38\nengineering = 90\nrobot = "franka"\nmachine = "h100"\n')
    prices = read_prices(path)
    assert prices.operator == Price(38, 38, 38, "an hour", "user")
    assert prices.robot.value == 5.625
    assert prices.compute.low == 2.69
    assert "engineering" not in prices.assumptions
    assert "wear" in prices.assumptions


def test_presets_of_ones_own_stand_beside_the_shipped_ones():
    prices = prices_from({"robot": "mine", "robots": {"mine": {"value": 3, "source": "receipt"}}})
    assert prices.robot.value == 3
    assert prices.robot.source == "receipt"
    assert prices_from({"machine": 1.25}).compute.value == 1.25


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"operater": 3}, "Did you mean 'operator'"),
        ({"robot": "sawyer"}, "Unknown robot in the price file 'sawyer'; allowed: franka, so101"),
        ({"operator": {"low": 50, "high": 20}}, "low <= high"),
        ({"operator": {"low": 20, "high": 50, "value": 60}}, "in its band"),
        ({"operator": -3}, "0 <= low"),
        ({"operator": {"low": 3}}, "needs `value`, or `low` and `high`"),
        ({"operator": {"value": "many"}}, "must be a number"),
        ({"operator": "cheap"}, "must be a number or a table"),
        ({"operator": True}, "must be a number or a table"),
        ({"operator": {"value": 3, "sauce": "x"}}, "Unknown key of price 'operator' 'sauce'"),
        ({"operator": float("nan")}, "finite"),
        ({"robots": 3}, r"\[robots\] must be a table"),
        ({"operator": 1e308}, "1,000,000,000 at most"),
        ({"currency": 5}, "currency is 5; give a code"),
        ({"currency": "A\nB"}, "give a code or a sign"),
        ({"currency": ""}, "give a code or a sign"),
    ],
)
def test_a_bad_price_is_refused(user, message):
    with pytest.raises(UsageError, match=message):
        prices_from(user)


def test_a_missing_or_broken_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"No price file .*none\.toml"):
        read_prices(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("operator = = 3")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_prices(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_prices(tmp_path / "bad.toml")
