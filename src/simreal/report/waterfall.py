"""The explanation of a gap as lines of text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simreal.core.types import STAND_IN
from simreal.report.lines import plain
from simreal.report.numbers import cell, counts, points, rate
from simreal.report.text import capital, wrap

#: Characters that stand for 100 % in the waterfall, and for the names before it.
_BAR, _NAME = 24, 23
#: The target is often tried on fewer conditions than the variants. Where the gap on those differs
#: by more than this, the sentence keeps the two apart.
_APART = 0.025

Content = Mapping[str, Any]


def explanation_lines(found: Content) -> list[str]:
    """The plain sentence, the waterfall, first-in and last-in, failures, and the caveat."""
    blocks = [
        wrap(headline(found)),
        waterfall(found),
        _bounds(found),
        wrap(" ".join(_together(found))),
        _failures(found),
        wrap(" ".join(_notes(found))),
    ]
    lines = [line for block in blocks if block for line in (*block, "")]
    return [plain(line) for line in lines[:-1]]


def headline(found: Content) -> str:
    """`Of the 22 points between simulation and twin-a, 14 (9 to 19) go with visual, ...`."""
    factors = sorted(_described(found), key=lambda f: -f["share"])
    parts = [f"{_whole(f['share'], f['ci'])} with {f['name']}" for f in factors]
    parts[0] = parts[0].replace(" with ", " go with ", 1)
    rest, total = found["unexplained"], found["explained"]["points"]
    target = found["target"]
    if round(100 * (total + (rest["points"] or 0.0))) <= 0:
        real = f", {target} {counts(cell(found['real']))}" if found["real"]["n"] else ""
        return (
            f"There is no loss to share out: simulation {counts(cell(found['sim']))}, as the "
            f"profile says {counts(cell(found['calibrated']))}{real}."
        )
    if rest["points"] is None:
        return (
            f"The profile costs {_points(total)} in simulation: {_joined(parts)}. {target} was not "
            "tried, so what is left unexplained is unknown."
        )
    gap = found["gap"]
    if abs(total + rest["points"] - gap["points"]) > _APART:
        left = _whole(rest["points"], rest["ci"])
        return (
            f"Of the {_points(total)} that the profile takes from simulation over "
            f"{found['conditions']} conditions, {_joined(parts)}. On those tried on {target} the "
            f"gap is {_whole(gap['points'], gap['ci'])}, of which {left} stay unexplained."
        )
    return (
        f"Of the {_points(total + rest['points'])} between simulation and {target}, "
        f"{_joined(parts)}; {_whole(rest['points'], rest['ci'])} stay unexplained."
    )


def _described(found: Content) -> list[Content]:
    return [f for f in found["factors"] if f["described"]]


def _points(fraction: float) -> str:
    value = round(100 * fraction)
    return f"{value} point{'' if abs(value) == 1 else 's'}"


def _whole(value: float, ci: Sequence[float]) -> str:
    """`14 (9 to 19)`, in points."""
    numbers = [f"{round(100 * x)}" for x in (value, *ci)]
    return f"{numbers[0]} ({numbers[1]} to {numbers[2]})"


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


def waterfall(found: Content) -> list[str]:
    """Simulation, what each factor takes away, the simulator in the target's image, the target."""
    rows = [_level("simulation, nominal", found["sim"])]
    at = found["sim"]["rate"]
    for factor in _described(found):
        rows.append(_fall(factor["name"], at, factor["share"], factor["ci"]))
        at -= factor["share"]
    rows.append(_level("simulation, as profile", found["calibrated"]))
    rest = found["unexplained"]
    if rest["points"] is not None:
        rows.append(_fall("unexplained", at, rest["points"], rest["ci"]))
    rows.append(_level(found["target"], found["real"]))
    return rows


def _level(name: str, found: Content) -> str:
    bar = "=" * round(_BAR * (found["rate"] or 0.0))
    return f"{name[: _NAME - 1]:{_NAME}}{bar:{_BAR}} {rate(cell(found))}"


def _fall(name: str, start: float, lost: float, ci: Sequence[float]) -> str:
    """The bar spans what is lost (-) or won (+)."""
    ends = sorted(round(_BAR * min(1.0, max(0.0, x))) for x in (start, start - lost))
    bar = " " * ends[0] + ("-" if lost >= 0 else "+") * (ends[1] - ends[0])
    text = points(-lost, (-ci[1], -ci[0])).replace(" points", "")
    return f"{'  ' + name:{_NAME}}{bar:{_BAR}} {text}"


def _bounds(found: Content) -> list[str]:
    """What each factor costs alone, and on top of all the others."""
    head = f"{'points lost, 95 %':{_NAME}}{'alone (first in)':26}on top of the others (last in)"
    rows = [
        f"{'  ' + f['name']:{_NAME}}{_tenths(f['first_in'], f['first_in_ci']):26}"
        f"{_tenths(f['last_in'], f['last_in_ci'])}"
        for f in _described(found)
    ]
    return [head, *rows]


def _tenths(value: float, ci: Sequence[float]) -> str:
    return f"{100 * value:.1f} ({100 * ci[0]:.1f} to {100 * ci[1]:.1f})"


def _together(found: Content) -> list[str]:
    """Pairs of factors that do not simply add up."""
    sentences = []
    for pair in found["interactions"]:
        names = " and ".join(pair["factors"])
        if pair["ci"][0] > 0:
            beyond = _whole(pair["points"], pair["ci"])
            sentences.append(f"{names} act together: {beyond} points beyond what each costs alone.")
        elif pair["ci"][1] < 0:
            less = _whole(-pair["points"], (-pair["ci"][1], -pair["ci"][0]))
            sentences.append(f"{names} overlap: either alone already costs {less} of their points.")
    return [capital(s) for s in sentences]


def _failures(found: Content) -> list[str]:
    """Failed trials by kind: nominal, as the profile says, on the target."""
    sides = found["failures"]
    kinds = list(dict.fromkeys(kind for side in sides.values() for kind in side))
    if not kinds:
        return []
    names = ("simulation", "as profile", found["target"][:16])
    rows = [f"{'failed trials':{_NAME}}" + "".join(f"{name:>17}" for name in names)]
    for kind in kinds:
        numbers = "".join(f"{side.get(kind, 0):>17}" for side in sides.values())
        rows.append(f"{'  ' + kind:{_NAME}}{numbers}")
    totals = "".join(f"{found[side]['n']:>17}" for side in ("sim", "calibrated", "real"))
    return [*rows, f"{'  of':{_NAME}}{totals}"]


def _notes(found: Content) -> list[str]:
    notes = [
        f"Checkpoint: arm {found['arm']}, training seed {found['seed']}. Profile: "
        f"{found['profile']}. {found['conditions']} common conditions; shares by Shapley's rule.",
    ]
    silent = [f["name"] for f in found["factors"] if not f["described"]]
    if silent:
        notes.append(f"The profile says nothing about {_joined(silent)}.")
    repeated = found["recorded"]
    if repeated["differ"]:
        notes.append(
            f"Of {repeated['n']} earlier trials in simulation {repeated['differ']} ended otherwise "
            "when they were played again: version or machine is another."
        )
    notes.append(found["note"])
    if found["label"] == STAND_IN:
        notes.append(f"{found['target']} is a {STAND_IN}.")
    return notes
