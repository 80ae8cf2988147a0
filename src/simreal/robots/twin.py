"""The twin: a stand-in for a real robot, played by a server process of its own.

The server draws the hidden parameters and keeps them: its client sees pictures, joints and
outcomes, as it would of a robot. What a twin measures is *stand-in (simulated)*.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from simreal.core.errors import SimrealError, UsageError
from simreal.core.seeds import generator
from simreal.core.types import (
    RATE_HZ,
    STAND_IN,
    Action,
    Condition,
    Form,
    Observation,
    Outcome,
    TargetSpec,
)
from simreal.robots.effects import ImageEffects
from simreal.robots.hidden import TwinParameters, draw
from simreal.robots.hidden_looks import Looks
from simreal.robots.hidden_peg import PegTwinParameters, draw_peg
from simreal.robots.peg_effects import PegEffects
from simreal.robots.servo import ServoModel, in_counts
from simreal.robots.twinfile import SUITES, TwinFile, read_twin
from simreal.robots.wrench_effects import SensorEffects
from simreal.worlds.names import CAMERAS
from simreal.worlds.peg_drive import PegDrive
from simreal.worlds.randomize import edited
from simreal.worlds.scene import UNSEEN_SHAPES, Scene, build
from simreal.worlds.settings import Settings
from simreal.worlds.simulated import SimConfig
from simreal.worlds.so101_rig import ServoDrive
from simreal.worlds.tasks import task as find_task
from simreal.worlds.textures import Texture, bank
from simreal.worlds.variation import OPERATIONS
from simreal.worlds.world import Extras, World

#: Textures of the twin's own bank, and of the bank no policy and no twin's everyday look uses.
OWN_TEXTURES, UNSEEN_TEXTURES = 16, 24


@dataclass(frozen=True)
class TwinJob:
    """Which twin plays how; plain values that travel to the server process."""

    twin: TwinFile
    form: Form
    size_px: int
    shadows: bool
    batch: int
    device: str


@functools.lru_cache(maxsize=2)
def textures() -> tuple[Texture, ...]:
    """The textures a twin's scene holds: its own first, then the unseen ones."""
    return (*bank("twin", OWN_TEXTURES, seed=0), *bank("unseen", UNSEEN_TEXTURES, seed=0))


def hidden_settings(scene: Scene, hidden: Looks, condition: Condition) -> Settings:
    """The settings of one episode: the twin's draw, on unseen backgrounds where the suite asks."""
    values = {name: (operation, numbers) for name, operation, numbers in hidden.world()}
    for name in ("table_texture", "background_texture", "object_texture"):
        values[name] = ("set", (own_texture(getattr(hidden, name)),))
    if condition.suite == "backgrounds":
        rng = generator(condition.seed, f"twin/{hidden.seed}/unseen backgrounds")
        first, second = rng.choice(UNSEEN_TEXTURES, 2, replace=False)
        values["table_texture"] = ("set", (float(OWN_TEXTURES + first + 1),))
        values["background_texture"] = ("set", (float(OWN_TEXTURES + second + 1),))
    return edited(scene, {k: (OPERATIONS[op], numbers) for k, (op, numbers) in values.items()})


def own_texture(number: int) -> float:
    """A texture number within the twin's own bank; 0 stays plain."""
    return float((number - 1) % OWN_TEXTURES + 1) if number else 0.0


def twin_spec(job: TwinJob) -> TargetSpec:
    """How a twin presents itself."""
    twin = job.twin
    return TargetSpec(
        name=f"twin {twin.seed} ({twin.severity})",
        kind="twin",
        label=STAND_IN,
        batch=job.batch,
        joint_names=find_task(twin.task).robot.channels,
        cameras=dict.fromkeys(CAMERAS, (job.size_px, job.size_px)),
        rate_hz=RATE_HZ,
        task=twin.task,
        seed=twin.seed,
        severity=twin.severity,
        wrench=find_task(twin.task).robot.wrench,
    )


def suites_of(task: str) -> tuple[str, ...]:
    """What the twin of a task can be asked to show: every twin's suites, and the task's own."""
    return tuple(dict.fromkeys((SUITES[0], *find_task(task).suites, *SUITES[1:])))


def hidden_of(twin: TwinFile) -> Looks:
    """What reality the twin is drawn to be.

    Raises:
        UsageError: for a task whose robot has no twin.
    """
    robot = find_task(twin.task).robot.name
    draws: dict[str, Callable[[int, str], Looks]] = {"so101": draw, "ur5e": draw_peg}
    if robot not in draws:
        raise UsageError(
            f"The task {twin.task!r} is done by {robot}, of which there is no twin; there are "
            f"twins of {', '.join(draws)}."
        )
    return draws[robot](twin.seed, twin.severity)


def _extras(hidden: Looks, scene: Scene) -> Extras:
    """What the twin adds to its world, by robot."""
    cameras = {"scene": hidden.scene_camera, "wrist": hidden.wrist_camera}
    optics = ImageEffects(cameras, hidden.seed, RATE_HZ)
    if isinstance(hidden, PegTwinParameters):
        step_s = float(scene.physics.opt.timestep)
        laws = PegEffects(hidden.contact, hidden.fixture, hidden.arm, hidden.seed, step_s=step_s)
        return Extras(drive=PegDrive(laws), feel=SensorEffects(hidden.sensor), optics=optics)
    assert isinstance(hidden, TwinParameters)
    servo = ServoModel(hidden.servo, hidden.seed, period_s=1 / RATE_HZ)
    return Extras(drive=ServoDrive(servo), optics=optics, encoder=in_counts)


def build_world(job: TwinJob) -> World:
    """The world a twin's server runs; no client ever holds one."""
    task, hidden = find_task(job.twin.task), hidden_of(job.twin)
    scene = build(task, job.form, textures(), UNSEEN_SHAPES)
    return World(
        task,
        scene,
        twin_spec(job),
        lambda condition: hidden_settings(scene, hidden, condition),
        shadows=job.shadows,
        device=job.device,
        extras=_extras(hidden, scene),
    )


def serve(pipe: Connection, job: TwinJob) -> None:
    """The server: answers calls on the pipe until it closes."""
    world = build_world(job)
    calls: dict[str, Callable[..., Any]] = {
        "reset": world.reset,
        "observe": world.observe,
        "act": world.act,
        "outcome": world.outcome,
        "privileged": world.privileged,
    }
    with contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while True:
            name, arguments = pipe.recv()
            try:
                answer = (True, calls[name](*arguments))
            except (ValueError, SimrealError) as error:
                answer = (False, error)
            pipe.send(answer)


class TwinTarget:
    """The client of a twin's server. Keeps the `Target` contract."""

    def __init__(self, job: TwinJob) -> None:
        self._spec = twin_spec(job)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, job), daemon=True)
        self._process.start()
        theirs.close()

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            self._pipe.send((name, arguments))
            good, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join(timeout=5)
            raise SimrealError(
                f"The server of {self._spec.name} ended (exit code {self._process.exitcode}); "
                "start again, and if memory ran out, with fewer workers."
            ) from error
        if not good:
            raise answer
        return answer

    @property
    def spec(self) -> TargetSpec:
        """What this twin is; nothing of its parameters."""
        return self._spec

    def reset(self, conditions: Sequence[Condition]) -> None:
        """Place N worlds at their conditions."""
        suites = suites_of(self._spec.task)
        for condition in conditions:
            if condition.suite not in (*suites, "demonstrations"):
                raise UsageError(
                    f"A twin has no suite {condition.suite!r}; it has {', '.join(suites)}."
                )
        self._call("reset", list(conditions))

    def observe(self, images: bool = True) -> Observation:
        """What the twin's encoders and cameras give."""
        return cast(Observation, self._call("observe", images))

    def act(self, actions: Action) -> None:
        """Command absolute targets (N, J)."""
        self._call("act", actions)

    def outcome(self) -> Outcome:
        """How the N episodes stand."""
        return cast(Outcome, self._call("outcome"))

    def privileged(self) -> Any:
        """Exact values for the scripted operator, who sees the table as a person does."""
        return self._call("privileged")

    def close(self) -> None:
        """End the server."""
        self._pipe.close()
        self._process.join(timeout=5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def open_twin(
    path: str, *, task: str, size_px: int, shadows: bool, batch: int, device: str
) -> TwinTarget:
    """Open the twin of a twin file, in the form the file says.

    Raises:
        UsageError: for a bad file, a twin of another task, or an impossible camera size.
    """
    twin = read_twin(Path(path))
    if twin.task != task:
        raise UsageError(f"{path} is a twin for the task {twin.task!r}; this is {task!r}.")
    config = SimConfig(task=task, form=cast(Form, twin.form), size_px=size_px, batch=batch)
    return TwinTarget(TwinJob(twin, config.form, size_px, shadows, batch, device))


def reveal(twin: TwinFile) -> dict[str, Any]:
    """The hidden parameters, for whoever asks for them on purpose."""
    return hidden_of(twin).to_json()
