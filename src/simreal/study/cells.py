"""Which arm is tried where: the cells of a study's plan."""

from __future__ import annotations

from simreal.core.errors import unknown
from simreal.study.evidence import SIM
from simreal.study.spec import ArmSpec, StudySpec
from simreal.trials.plan import Cell
from simreal.verdicts.evidence import simulation_for
from simreal.worlds.tasks import task as find_task


def simulation_of(spec: StudySpec, arm: ArmSpec, target: str) -> str:
    """The name under which an arm's checkpoint for a target plays in simulation.

    An arm that reads no real data has one checkpoint for all targets, and so has any arm of a study
    with one target: it plays under the bare name. Else each target's checkpoint plays for itself,
    so that a gap is always that of one checkpoint.
    """
    alone = len(spec.targets) == 1 or not spec.n(arm, "real")
    return SIM if alone else simulation_for(SIM, target)


def target_of(spec: StudySpec, cell: str) -> str:
    """The target whose checkpoints play in a cell; the first one's where any will do.

    Raises:
        UsageError: for no cell of the study.
    """
    names = [target.name for target in spec.targets]
    found = {SIM: names[0], **{simulation_for(SIM, n): n for n in names}, **{n: n for n in names}}
    if cell not in found:
        raise unknown("cell", cell, found)
    return found[cell]


def cells_of(spec: StudySpec) -> list[Cell]:
    """Simulation first, then every target and suite.

    In simulation the arms and suites whose gap is wanted, of those that can be played there: the
    nominal suite and the task's own. On targets all.
    """
    own = [s for s in spec.suites if s == "nominal" or s in find_task(spec.task).suites]
    own = [s for s in own if s in (spec.gap_suites or own)]
    names = [target.name for target in spec.targets]
    tried = [arm for arm in spec.arms if arm.gap]
    simulated = dict.fromkeys(simulation_of(spec, arm, name) for arm in tried for name in names)
    places = [(place, suite, "sim") for suite in own for place in simulated]
    places += [(name, suite, "target") for name in names for suite in spec.suites]
    found = []
    for place, suite, role in places:
        target = target_of(spec, place)
        arms = tuple(
            arm.name
            for arm in spec.arms
            if suite in spec.suites_of(arm)
            and (role == "target" or (arm.gap and simulation_of(spec, arm, target) == place))
        )
        if arms:
            everyone = len(arms) == len(spec.arms)
            found.append(Cell(place, suite, role, None if everyone else arms))
    return found
