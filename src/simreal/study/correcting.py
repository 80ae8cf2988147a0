"""A study's simulated demonstrations: the expert's, then those in which a policy acts in turns."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from simreal.compute.executor import Executor
from simreal.compute.progress import Progress
from simreal.core.types import Mixture, Part, Stage
from simreal.study.data import Leading, collect_sim
from simreal.study.training import TrainJob, piece, train_charge, train_job

if TYPE_CHECKING:
    from simreal.study.run import Study

#: Peak learning rate of the policy that is corrected.
PEAK_LR = 1e-3


def collect_simulated(study: Study, executor: Executor, progress: Progress) -> None:
    """Fill the data set `sim`: the expert's demonstrations first, the corrected ones after them.

    Corrected is a policy that is trained on the expert's alone, for this only.
    """
    asked = study.spec.simulation
    plain = asked.episodes - asked.corrections
    progress.start("Simulated demonstrations", plain, "demos")
    collect = functools.partial(
        collect_sim,
        study.data("sim", ""),
        study.sim_config(),
        executor=executor,
        ledger=study.ledger,
        told=progress.advance,
    )
    collect(plain, more=asked.corrections > 0)
    if not asked.corrections:
        return
    progress.start("A policy to correct", asked.leader_steps, "steps")
    leader = _leader(study, plain, executor)
    progress.advance(asked.leader_steps)
    progress.start("Corrected demonstrations", asked.corrections, "demos")
    collect(asked.episodes, led=Leading(leader, plain))


def _leader(study: Study, plain: int, executor: Executor) -> str:
    """The checkpoint folder of the policy to correct, trained if it is not there yet."""
    asked, folder = study.spec.simulation, study.out / "leader"
    data = Mixture((Part(str(study.data("sim", "")), 1.0, plain),))
    job = TrainJob(
        folder.name,
        (Stage(data, asked.leader_steps, PEAK_LR),),
        str(folder),
        asked.seed,
        study.task.robot.channels,
        training=study.spec.training,
        pictures=str(study.pictures),
    )
    if not (folder / "checkpoint").exists() or not study.ledger.has(piece(job.name)):
        readers = "+".join(arm.name for arm in study.spec.arms if study.spec.n(arm, "sim"))
        for _, trained in executor.run(train_job, [job]):
            study.ledger.add([train_charge(trained, readers)], once=piece(job.name))
    return str(folder / "checkpoint")
