"""The tables of docs/cost.md are those of the price file and of `simreal days`."""

import re
import tomllib
from importlib import resources

from tests.architecture.tree import ROOT

from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.cost.purposes import KINDS
from simreal.verdicts.cost.timing import demonstrations_case

PAGE = (ROOT / "docs" / "cost.md").read_text()


def rows(head: str) -> list[str]:
    """The lines of the table that starts with `head`, without its two first."""
    return PAGE.split(f"\n{head}")[1].split("\n\n")[0].splitlines()[2:]


def span(entry: dict) -> str:
    if "low" not in entry:
        return f"{entry['value']:g}"
    ends = f"{entry['low']:g} to {entry['high']:g}"
    return f"{ends}, {entry['value']:g}" if "value" in entry else ends


def price_rows() -> list[str]:
    text = resources.files("simreal.verdicts.cost").joinpath("prices.toml").read_text("utf-8")
    content = tomllib.loads(text)
    named = {name: content[name] for name in content if isinstance(content[name], dict)}
    flat: dict[str, dict] = {}
    for name, entry in named.items():
        if name == "calendar":
            continue
        single = "unit" in entry
        flat.update({name: entry} if single else {f"{name}.{k}": v for k, v in entry.items()})
    return [f"| `{n}` | {span(e)} | {e['unit']} | {e['source']} |" for n, e in flat.items()]


def days(value: float) -> str:
    return f"{value:,.0f}"


def case_rows() -> list[str]:
    plain = prices_from({})
    franka = prices_from({"calendar": {"minutes": 3, "usable": 0.85}})
    found = []
    for robots in (1, 2, 4):
        for shifts in (1, 2):
            lab = Inputs(robots=robots, shifts=shifts)
            real, built = (r["days"] for r in demonstrations_case(10_000, lab, plain)["roads"][:2])
            own = demonstrations_case(10_000, lab, franka)["roads"][0]["days"]
            cells = [f"{days(d['p50'])} / {days(d['p90'])}" for d in (real, own, built)]
            found.append(f"| {robots} | {shifts} | {' | '.join(cells)} |")
    return found


def test_every_shipped_price_is_listed_with_its_source():
    expected = price_rows()
    print("\n".join(expected))  # on failure: what belongs there
    assert rows("| key | shipped |")[:-1] == expected


def test_ten_thousand_demonstrations_take_as_long_as_the_page_says():
    expected = case_rows()
    print("\n".join(expected))
    assert rows("| robots | shifts |") == expected


def test_every_kind_of_charge_and_every_key_of_the_calendar_is_explained():
    kinds = {
        k for row in rows("| kind | unit |") for k in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert kinds == set(KINDS)
    keys = {k for row in rows("| key of `[cal") for k in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert keys == {*Inputs().to_json(), "minutes", "usable", "per_core_hour"}
