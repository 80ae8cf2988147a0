"""What summary.json expects of the roads: curves, probabilities, money and days, as marks.

Every key read here may be absent or null (older studies); what it would fill then stays empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simreal.report.marks import Band, Curve, Dose, Reach, Road, Span
from simreal.report.numbers import cell
from simreal.report.records import Study
from simreal.verdicts.rates import Rate


def entry(study: Study, key: str) -> Mapping[str, Any]:
    """An object of summary.json; empty where it is absent or null."""
    return study.summary.get(key) or {}


def entries(study: Study, key: str) -> Sequence[Mapping[str, Any]]:
    """A list of summary.json; empty where it is absent or null."""
    return study.summary.get(key) or ()


def goal(study: Study) -> float | None:
    """The success rate that is wanted (fraction of 1), None where the study names none."""
    for found in (
        entry(study, "advice").get("goal"),
        study.summary.get("goal"),
        (study.plan.get("study") or {}).get("goal"),
        (entry(study, "curves").get("saving") or {}).get("goal"),
        next((a.get("goal") for a in entries(study, "acceptance")), None),
    ):
        if found is not None:
            return float(found)
    return None


def currency(study: Study) -> str:
    """The currency of the study's prices."""
    costs = [arm.cost for arm in study.arms if arm.cost]
    asked = entry(study, "advice").get("currency")
    return str(asked or (costs[0]["currency"] if costs else "USD"))


def roads(study: Study) -> list[Road]:
    """The roads of the advice."""
    found = []
    for road in entry(study, "advice").get("roads") or ():
        step, cost = road.get("next") or {}, road.get("cost") or {}
        found.append(
            Road(
                str(road["road"]),
                int(step.get("n_real") or 0),
                int(step.get("n_sim") or 0),
                road.get("p_reach"),
                cost.get("p50"),
                cost.get("p90"),
                bool(road.get("pareto")),
                bool(road.get("tried", True)),
                road.get("after"),
                cost.get("mean"),
            )
        )
    return found


def measurements(study: Study) -> dict[str, list[Mapping[str, Any]]]:
    """Measurements that are expected to pay for themselves (`due`), and the others (`idle`)."""
    found: dict[str, list[Mapping[str, Any]]] = {"due": [], "idle": []}
    for one in entry(study, "advice").get("evsi") or ():
        value, cost = one.get("value"), one.get("cost")
        pays = value is not None and cost is not None and value > cost
        found["due" if pays else "idle"].append(one)
    return found


def advised_road(study: Study) -> Road | None:
    """The road of the advice's strategy, None where none is advised or estimated."""
    advice = study.summary["advice"]
    name = advice["road"] if "road" in advice else advice.get("strategy")
    return next((road for road in roads(study) if road.name == name), None)


def curves(study: Study) -> list[Curve]:
    """A curve for each amount of simulation, with the measured cells of that amount."""
    content = entry(study, "curves")
    cells = content.get("cells") or ()
    found = []
    for line in content.get("lines") or ():
        doses = tuple(
            Dose(str(c["arm"]), int(c["n_real"]), cell(Rate.of(c["k"], c["n"]).to_json()))
            for c in sorted(cells, key=lambda c: c["n_real"])
            if c["n_sim"] == line["n_sim"]
        )
        label = f"with {line['n_sim']:,} simulated" if line["n_sim"] else "without simulation"
        n_real, low, middle, high = (tuple(line[k]) for k in ("n_real", "p10", "p50", "p90"))
        measured = float(line["measured_to"])
        found.append(Curve(label, n_real, low, middle, high, measured, doses))
    return found


def reaches(study: Study) -> list[Reach]:
    """Cost to reach each success rate, by road."""
    return [
        Reach(
            str(road["road"]),
            tuple((p["rate"], p["p10"], p["p50"], p["p90"]) for p in road["points"]),
        )
        for road in entry(study, "economics").get("reach") or ()
    ]


def rate_in_reach(study: Study) -> float:
    """The largest success rate short of the goal that half of the futures reach by some road.

    One half where none is known.
    """
    wanted = goal(study) or 1.0
    rates = [p for road in reaches(study) for p, _, mid, _ in road.points if mid is not None]
    return max((rate for rate in rates if rate < wanted), default=0.5)


def bands(study: Study) -> list[Band]:
    """Break-even points by number of task variants, the simulator built or not."""
    return [
        Band(_variants(one), *_ends(one.get("demonstrations")))
        for one in entry(study, "economics").get("break_even") or ()
    ]


def _variants(one: Mapping[str, Any]) -> str:
    number = int(one["variants"])
    text = f"{number:,} task variant{'' if number == 1 else 's'}"
    return f"{text}, {'built' if one['built'] else 'not built'}"


def _ends(ends: Sequence[float | None] | None) -> tuple[float | None, float | None]:
    return (ends[0], ends[1]) if ends else (None, None)


def spans(study: Study) -> list[Span]:
    """Calendar days by road."""
    return [
        Span(
            str(road["name"]),
            *_quantiles(road.get("days")),
            _quantiles(road.get("robot_days")),
            road.get("by_deadline"),
            _quantiles(road.get("cost")),
        )
        for road in entry(study, "time").get("roads") or ()
    ]


def _quantiles(content: Mapping[str, Any] | None) -> tuple[float | None, float | None]:
    content = content or {}
    return content.get("p50"), content.get("p90")


def lab(study: Study) -> list[tuple[str, str]]:
    """(name, text) of the people, robots and machines that the calendar rests on."""
    inputs = entry(study, "time").get("inputs") or {}
    return [(name.replace("_", " "), _given(value)) for name, value in inputs.items()]


def _given(value: Any) -> str:
    if isinstance(value, Mapping):
        ends = dict.fromkeys(f"{value[key]:,.4g}" for key in ("p10", "p90") if key in value)
        return f"{' to '.join(ends)} ({value.get('source') or 'no source'})"
    if value is None or isinstance(value, bool):
        return {None: "not given", True: "yes", False: "no"}[value]
    return f"{value:,.4g}" if isinstance(value, int | float) else str(value)


def deadline(study: Study) -> float | None:
    """Days until the deadline, where the inputs state it as a number."""
    inputs = entry(study, "time").get("inputs") or {}
    found = inputs.get("deadline_days")
    return float(found) if isinstance(found, int | float) else None
