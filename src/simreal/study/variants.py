"""Simulator variants: the world that a target profile describes, and the profile of a twin."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simreal.core.errors import UsageError
from simreal.core.types import RATE_HZ, Condition, Form
from simreal.robots.effects import CameraParameters, ImageEffects
from simreal.robots.hidden import draw
from simreal.robots.servo import ServoModel, in_counts
from simreal.robots.twin import own_texture
from simreal.robots.twin import textures as twin_textures
from simreal.robots.twinfile import TwinFile
from simreal.study.profile import FACTORS, Setting, TargetProfile
from simreal.worlds.randomize import edited, impossible
from simreal.worlds.scene import TRAINING_SHAPES, UNSEEN_SHAPES, Scene, build
from simreal.worlds.settings import Settings
from simreal.worlds.simulated import TEXTURES, SimConfig, sim_spec
from simreal.worlds.so101_rig import SO101, ServoDrive
from simreal.worlds.tasks import TASKS
from simreal.worlds.tasks import task as find_task
from simreal.worlds.textures import Texture, bank, from_folder
from simreal.worlds.variation import OPERATIONS
from simreal.worlds.world import Extras, World

#: What the profile of a twin says about where it comes from.
KNOWN = "known target"


@dataclass(frozen=True)
class Stage:
    """What all variants have in common: plain values that travel to worker processes."""

    task: str
    form: Form = "primitive"
    size_px: int = 64
    shadows: bool = False
    batch: int = 50
    device: str = "cpu"


def subsets(factors: Sequence[str] = FACTORS) -> Iterator[tuple[str, ...]]:
    """All 2^k sets of factors, from none to all; subset s has factor i where bit i is set."""
    for number in range(2 ** len(factors)):
        yield tuple(f for i, f in enumerate(factors) if number >> i & 1)


def described_world(profile: TargetProfile, stage: Stage) -> World:
    """The simulation as the profile describes the target; an empty profile is the nominal one.

    Raises:
        UsageError: for a profile of another task, or one that no world can have.
    """
    settings = described_settings(profile, stage)
    cameras = {"scene": profile.scene_camera, "wrist": profile.wrist_camera}
    told: dict[str, CameraParameters] = {k: v for k, v in cameras.items() if v is not None}
    extras = Extras(
        drive=ServoDrive(ServoModel(profile.servo, profile.seed, period_s=1 / RATE_HZ))
        if profile.servo is not None
        else None,
        optics=ImageEffects(told, profile.seed, RATE_HZ) if told else None,
        encoder=in_counts if profile.encoder_counts else None,
    )

    def prepare(condition: Condition) -> Settings:
        if condition.suite != "nominal":
            raise UsageError(f"A variant has no suite {condition.suite!r}; it has nominal.")
        return settings

    config = SimConfig(stage.task, stage.form, stage.size_px, batch=stage.batch)
    name = f"simulation ({'+'.join(profile.said) or 'nominal'})"
    return World(
        find_task(stage.task),
        settings.scene,
        replace(sim_spec(config), name=name),
        prepare,
        shadows=stage.shadows,
        device=stage.device,
        extras=extras,
    )


def described_settings(profile: TargetProfile, stage: Stage) -> Settings:
    """The settings every trial of a variant is played under; the profile is checked."""
    task = find_task(stage.task)
    _describable(stage.task)
    if profile.task is not None and profile.task != stage.task:
        raise UsageError(
            f"Target profile {profile.name!r} is for the task {profile.task!r}; this is "
            f"{stage.task!r}."
        )
    scene = _scene(stage.task, stage.form, profile.textures, profile.clutter_shapes)
    settings = edited(scene, {s.axis: (OPERATIONS[s.operation], s.values) for s in profile.axes})
    problem = impossible(settings) or task.robot.unsolvable(task, settings)
    if problem:
        raise UsageError(f"Target profile {profile.name!r} cannot be played: {problem}.")
    return settings


def _describable(task: str) -> None:
    """Raise UsageError for a task of a robot that target profiles do not describe."""
    if find_task(task).robot is not SO101:
        raise UsageError(
            f"Target profiles, and with them twin profile and gap --explain, describe an SO-101 so "
            f"far; the task {task!r} is done by {find_task(task).robot.name}, so choose a study of "
            f"{' or '.join(name for name, t in TASKS.items() if t.robot is SO101)}."
        )


@functools.lru_cache(maxsize=3)
def _scene(task: str, form: Form, textures: str, clutter_shapes: str) -> Scene:
    """The compiled scene (cached: building one takes a second)."""
    shapes = UNSEEN_SHAPES if clutter_shapes == "unseen" else TRAINING_SHAPES
    return build(find_task(task), form, _textures(textures), shapes)


def _textures(name: str) -> tuple[Texture, ...]:
    if name == "twin":
        return twin_textures()
    return bank("train", TEXTURES, seed=0) if name == "train" else from_folder(Path(name))


def profile_of(twin: TwinFile, name: str) -> TargetProfile:
    """The profile of a twin: all its hidden parameters, revealed on purpose.

    Raises:
        UsageError: for a twin of a robot that profiles do not describe.
    """
    _describable(twin.task)
    hidden = draw(twin.seed, twin.severity)
    axes = []
    for axis, operation, values in hidden.world():
        texture = axis.endswith("_texture")
        axes.append(Setting(axis, operation, (own_texture(int(values[0])),) if texture else values))
    return TargetProfile(
        name=name,
        source=KNOWN,
        task=twin.task,
        seed=hidden.seed,
        axes=tuple(sorted(axes, key=lambda s: s.axis)),
        textures="twin",
        clutter_shapes="unseen",
        scene_camera=hidden.scene_camera,
        wrist_camera=hidden.wrist_camera,
        encoder_counts=True,
        servo=hidden.servo,
    )
