"""Sample pictures for the report: what simulation, target and unseen backgrounds look like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simreal.compute.executor import Executor
from simreal.compute.meter import Meter
from simreal.core.files import write_bytes, write_json
from simreal.core.types import Charge, Condition, Images
from simreal.demos.dataset import open_dataset
from simreal.report.media import contact_sheet
from simreal.robots.twinfile import SUITES
from simreal.study.targets import TargetJob, kept_target

if TYPE_CHECKING:
    from simreal.study.run import Study

SAMPLES = 8


@dataclass(frozen=True)
class LookJob:
    """First pictures of some conditions on a target."""

    target: TargetJob
    conditions: tuple[Condition, ...]


def look_job(job: LookJob) -> tuple[Images, Charge]:
    """Reset the target and photograph it; with what that took."""
    with Meter("evaluate", "shared", "sample pictures") as meter:
        target = kept_target(job.target)
        target.reset(job.conditions)
        images = target.observe(images=True).images
    return images, meter.charge()


def take_samples(study: Study, executor: Executor) -> None:
    """Write sample sheets into media/ once; they show starts of episodes, both cameras.

    Only of suites that look different: a task's own change what is done, not what is seen.
    """
    index_path = study.out / "media" / "index.json"
    if index_path.exists():
        return
    entries: list[dict[str, Any]] = []
    if study.data("sim", "").exists():
        entries.append(_sheet(study.out, "sample_sim", None, None, _demonstrations(study)))
    for target in study.spec.targets:
        for suite in (s for s in study.spec.suites if s in SUITES):
            shard = study.plan.shards(suite)[0][:SAMPLES]
            job = LookJob(study.target_job(target.name), shard)
            ((_, (images, charge)),) = executor.run(look_job, [job])
            study.ledger.add([charge], once=f"pictures/{target.name}/{suite}")
            kind = "sample_target" if suite == "nominal" else "sample_unseen"
            entries.append(_sheet(study.out, kind, target.name, suite, images))
    write_json(index_path, entries)


def _demonstrations(study: Study) -> dict[str, npt.NDArray[np.uint8]]:
    """First frames of the first simulated demonstrations."""
    frames = open_dataset(study.data("sim", "")).load(slice(0, SAMPLES))
    starts = np.flatnonzero(np.diff(frames.episode, prepend=-1))
    return {camera: pictures[starts] for camera, pictures in frames.images.items()}


def _sheet(
    out: Path, kind: str, target: str | None, suite: str | None, images: Images
) -> dict[str, Any]:
    rows: Sequence[npt.NDArray[np.uint8]] = [images[camera] for camera in images]
    count = min(len(row) for row in rows)
    sheet = contact_sheet(np.concatenate([r[:count] for r in rows]), len(rows), count, scale=1)
    name = "-".join(x for x in (kind, target, suite) if x) + ".png"
    write_bytes(out / "media" / name, sheet)
    cameras = " above, ".join(images) + " camera below"
    return {
        "file": name,
        "kind": kind,
        "target": target,
        "suite": suite,
        "caption": f"{count} episode starts; {cameras}",
        "camera": "both",
    }
