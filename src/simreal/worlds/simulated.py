"""Puts a simulated world together from plain values that can be sent to a worker process."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from simreal.core.errors import UsageError, unknown
from simreal.core.types import FORMS, RATE_HZ, Condition, Form, Scenario, TargetSpec
from simreal.worlds import so101
from simreal.worlds.randomize import Profile, draw
from simreal.worlds.scene import CAMERAS, Scene, build
from simreal.worlds.settings import Settings
from simreal.worlds.task import OBJECT, Task
from simreal.worlds.tasks import task as find_task
from simreal.worlds.textures import bank, from_folder
from simreal.worlds.world import World

#: How far a scenario may move an object from where its task put it; farther is out of reach.
MOST_SHIFT_M = 0.03
#: Textures of the training bank.
TEXTURES = 24


@dataclass(frozen=True)
class SimConfig:
    """Everything that decides a simulated world.

    size_px: image height and width of both cameras. profile, seed: the randomization.
    appearances: consecutive scenario indices that share their dynamics. backgrounds: a folder of
    pictures used as textures instead of the procedural bank. batch: largest number of worlds.
    """

    task: str = "lift"
    form: Form = "primitive"
    size_px: int = 64
    profile: Profile = field(default_factory=lambda: Profile("none"))
    seed: int = 0
    appearances: int = 1
    shadows: bool = False
    backgrounds: str | None = None
    batch: int = 50
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse unknown names and impossible numbers.

        Raises:
            UsageError: naming what was wrong and what is allowed.
        """
        find_task(self.task)
        if self.form not in FORMS:
            raise unknown("form", self.form, FORMS)
        if not 16 <= self.size_px <= 512:
            raise UsageError(f"Camera size {self.size_px} px; allowed: 16 to 512.")
        if self.appearances < 1 or self.batch < 1:
            raise UsageError("appearances and batch must be at least 1.")


@functools.lru_cache(maxsize=4)
def scene_of(task: str, form: Form, backgrounds: str | None) -> Scene:
    """The compiled scene with the training textures (cached: building one takes a second)."""
    textures = from_folder(Path(backgrounds)) if backgrounds else bank("train", TEXTURES, seed=0)
    return build(find_task(task).build, form, textures)


def solvable(task: Task, settings: Settings) -> str | None:
    """Why the arm could not do the task under these settings, or None."""
    geom = settings.scene.physics.geom(OBJECT).id
    width = 2 * float(np.max(settings.value("physics.geom_size")[geom][:2]))
    if task.max_width_m is not None and width > task.max_width_m:
        return f"object {1000 * width:.0f} mm wide, limit {1000 * task.max_width_m:.0f} mm"
    shift = float(np.hypot(*settings.value("control.object_offset_m")))
    if shift > MOST_SHIFT_M:
        return f"object moved by {1000 * shift:.0f} mm, limit {1000 * MOST_SHIFT_M:.0f} mm"
    return None


def sim_spec(config: SimConfig) -> TargetSpec:
    """How the simulated world presents itself."""
    size = (config.size_px, config.size_px)
    return TargetSpec(
        name=f"simulation ({config.profile.name})",
        kind="sim",
        label="simulation",
        batch=config.batch,
        joint_names=so101.JOINTS,
        cameras=dict.fromkeys(CAMERAS, size),
        rate_hz=RATE_HZ,
        task=config.task,
        seed=config.seed,
    )


def draw_scenario(config: SimConfig, index: int) -> tuple[Scenario, Settings]:
    """Scenario `index` of the configured profile, and its settings."""
    scene = scene_of(config.task, config.form, config.backgrounds)
    task = find_task(config.task)
    return draw(
        scene,
        config.profile,
        config.seed,
        index,
        lambda settings: solvable(task, settings),
        config.appearances,
    )


def simulated_world(config: SimConfig) -> World:
    """A world whose condition i is played under scenario i of the configured profile."""

    def prepare(condition: Condition) -> Settings:
        if condition.suite not in ("nominal", "demonstrations"):
            raise UsageError(
                f"Simulation has no suite {condition.suite!r}: it plays nominal conditions under a "
                "profile. Held-out suites are played on targets."
            )
        return draw_scenario(config, condition.index)[1]

    return World(
        find_task(config.task),
        scene_of(config.task, config.form, config.backgrounds),
        sim_spec(config),
        prepare,
        shadows=config.shadows,
        device=config.device,
    )
