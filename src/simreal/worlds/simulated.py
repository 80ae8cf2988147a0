"""Puts a simulated world together from plain values that can be sent to a worker process."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path

from simreal.core.errors import UsageError, unknown
from simreal.core.types import FORMS, RATE_HZ, Condition, Form, Scenario, TargetSpec
from simreal.worlds.names import CAMERAS
from simreal.worlds.randomize import Profile, draw
from simreal.worlds.scene import Scene, build
from simreal.worlds.settings import Settings
from simreal.worlds.starts import starting
from simreal.worlds.tasks import task as find_task
from simreal.worlds.textures import bank, from_folder
from simreal.worlds.world import Prepare, World

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
        robot = find_task(self.task).robot
        starting(find_task(self.task), self.profile.starts)
        for axis in self.profile.axes:
            if axis.term not in robot.terms:
                raise unknown(f"axis of the task {self.task}", axis.term, robot.terms)
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
    return build(find_task(task), form, textures)


def sim_spec(config: SimConfig) -> TargetSpec:
    """How the simulated world presents itself."""
    size, robot = (config.size_px, config.size_px), find_task(config.task).robot
    return TargetSpec(
        name=f"simulation ({config.profile.name})",
        kind="sim",
        label="simulation",
        batch=config.batch,
        joint_names=robot.channels,
        cameras=dict.fromkeys(CAMERAS, size),
        rate_hz=RATE_HZ,
        task=config.task,
        seed=config.seed,
        wrench=robot.wrench,
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
        lambda settings: task.robot.unsolvable(task, settings),
        config.appearances,
    )


def simulated_world(config: SimConfig, settings: Prepare | None = None) -> World:
    """A world whose condition i is played under scenario i of the configured profile.

    settings: those of each condition, where they are not the profile's scenarios in order.
    """

    def prepare(condition: Condition) -> Settings:
        if condition.suite not in ("nominal", "demonstrations", *find_task(config.task).suites):
            raise UsageError(
                f"Simulation has no suite {condition.suite!r}: it plays the task's own conditions "
                "under a profile. Held-out suites are played on targets."
            )
        return draw_scenario(config, condition.index)[1]

    return World(
        find_task(config.task),
        scene_of(config.task, config.form, config.backgrounds),
        sim_spec(config),
        settings or prepare,
        shadows=config.shadows,
        device=config.device,
    )
