"""What a failure map says holds on fresh trials, whatever the search brought up."""

import jsonschema
import numpy as np

from simreal.core.seeds import generator
from simreal.verdicts.examples import example
from simreal.verdicts.failure_map import (
    NOT_CONFIRMED,
    STANDS_OUT,
    Evidence,
    Seen,
    bound_from_json,
    bound_json,
    judged,
)
from simreal.verdicts.regions import Bound, Region, scale_of
from simreal.verdicts.schemas import schema

SCALES = {name: scale_of(np.linspace(0, 1, 1001)) for name in ("a", "b")}
LOW_A = Region((Bound("a", None, 0.25, "a below 0.25"),))
HIGH_B = Region((Bound("b", 0.5, None, "b above 0.5"),))


def trials(n, rate, seed, region=None):
    """Trials spread evenly (inside a region), which fail at rate(a, b)."""
    rng = generator(seed, "test/map")
    found = []
    while len(found) < n:
        a, b = rng.random(2)
        if region is None or region.inside({"a": np.array([a]), "b": np.array([b])})[0]:
            failed = rng.random() < rate(a, b)
            found.append(Seen({"a": a, "b": b}, "missed" if failed else None))
    return found


def evidence(rate, seed, regions=(LOW_A, HIGH_B), n=200):
    return Evidence(
        trials(n, rate, 4 * seed),
        trials(n // 2, rate, 4 * seed + 1),
        regions,
        trials(n, rate, 4 * seed + 2),
        [trials(80, rate, 4 * seed + 3, region) for region in regions],
        [0.25, 0.5][: len(regions)],
        SCALES,
    )


def test_a_true_region_stands_out_and_a_false_one_does_not():
    found = judged(evidence(lambda a, b: 0.6 if a < 0.25 else 0.1, 1))
    low, high = found["regions"]
    assert low["state"] == STANDS_OUT
    assert high["state"] == NOT_CONFIRMED
    assert low["inside"]["rate"] > 0.45
    assert low["outside"]["rate"] < 0.2
    assert "Holm over 2" in low["method"]
    assert low["kinds"] == {"missed": low["inside"]["k"]}
    assert found["explained"] == low["explains"]
    assert found["explained"]["ci"][0] < 0.15 / 0.225 < found["explained"]["ci"][1]
    assert found["factors"][0]["name"] == "a"
    assert found["factors"][0]["in_region"]


def test_inside_are_the_drawn_ones_and_those_that_fell_in():
    given = evidence(lambda a, b: 0.3, 2)
    low, _ = judged(given)["regions"]
    fell = sum(t.factors["a"] <= 0.25 for t in given.general)
    assert low["inside"]["n"] == 80 + fell
    assert low["outside"]["n"] == 200 - fell


def test_chance_stands_out_in_at_most_a_twentieth():
    """Both regions are noise: the family's error rate is kept."""
    states = [
        any(r["state"] == STANDS_OUT for r in judged(evidence(lambda a, b: 0.3, s))["regions"])
        for s in range(60)
    ]
    assert sum(states) <= 7  # P(more) < 0.02 at a true rate of 0.05


def test_a_region_that_fails_less_does_not_stand_out():
    found = judged(evidence(lambda a, b: 0.05 if a < 0.25 else 0.6, 3, (LOW_A,)))
    assert found["regions"][0]["state"] == NOT_CONFIRMED
    assert found["explained"]["k"] == 0


def test_without_candidates_there_is_still_a_rate_and_its_factors():
    found = judged(evidence(lambda a, b: 0.3, 4, ()))
    assert found["regions"] == []
    assert found["failures"]["n"] == 200
    assert {f["name"] for f in found["factors"]} == {"a", "b"}
    assert sum(b["n"] for b in found["factors"][0]["bins"]) == 400


def test_the_example_keeps_the_schema():
    content = example("explore")
    jsonschema.validate(content, schema("explore"))
    assert content["regions"][0]["state"] == STANDS_OUT


def test_a_bound_survives_json():
    for bound in (*LOW_A.bounds, *HIGH_B.bounds):
        assert bound_from_json(bound_json(bound)) == bound
