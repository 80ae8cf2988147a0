"""Small worlds for the tests of worlds and demos."""

import mujoco
import numpy as np

from simreal.core.seeds import generator
from simreal.core.types import Condition
from simreal.worlds import so101
from simreal.worlds.physics import Physics
from simreal.worlds.placing import initial_qpos
from simreal.worlds.randomize import Profile, profile
from simreal.worlds.scene import Scene
from simreal.worlds.settings import CONTROL, IMAGE, Settings
from simreal.worlds.simulated import SimConfig, scene_of, sim_spec, simulated_world
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tasks import task as find_task
from simreal.worlds.variation import OPERATIONS
from simreal.worlds.world import World

SPREAD = ("none", "visual", "dynamics", "full")


def scene(task: str = "lift") -> Scene:
    """The compiled scene of a task, once a process."""
    return scene_of(task, "primitive", None)


def conditions(n: int, task: str = "lift", seed: int = 0, first: int = 0) -> list[Condition]:
    """Conditions `first` to `first + n - 1` of a plan."""
    return [
        Condition(
            index=i,
            suite="nominal",
            reset=find_task(task).draw(generator(seed, "test/reset", i)),
            seed=1000 * seed + i,
        )
        for i in range(first, first + n)
    ]


def world(chosen: str | Profile = "none", **config: object) -> World:
    """A simulated world of a profile."""
    picked = profile(chosen, SO101) if isinstance(chosen, str) else chosen
    return simulated_world(SimConfig(profile=picked, **config))  # type: ignore[arg-type]


def fixed_world(settings: Settings, **config: object) -> World:
    """A world whose every condition is played under `settings`."""
    chosen = SimConfig(**config)  # type: ignore[arg-type]
    shadows = chosen.shadows
    task = find_task(chosen.task)
    return World(task, settings.scene, sim_spec(chosen), lambda _: settings, shadows=shadows)


def settings_with(**edits: tuple[str, object]) -> Settings:
    """Nominal settings of lift with terms applied: name=(operation, value or values)."""
    return applied(Settings(scene()), **edits)


def applied(settings: Settings, **edits: tuple[str, object]) -> Settings:
    """`settings` after more terms."""
    for name, (operation, values) in edits.items():
        term = SO101.terms[name]
        numbers = np.broadcast_to(np.asarray(values, dtype=float), (term.size,))
        term.apply(settings, OPERATIONS[operation], numbers.copy())
    return settings


def arrays(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Copies of all arrays of a compiled model."""
    found = {}
    for name in dir(model):
        if not name.startswith("_"):
            value = getattr(model, name)
            if isinstance(value, np.ndarray):
                found[name] = value.copy()
    return found


def every_field(settings: Settings) -> dict[str, np.ndarray]:
    """The value of every field that settings know: both models, sensing and camera values."""
    names = [f"control.{name}" for name in CONTROL] + [f"image.{name}" for name in IMAGE]
    names += [f"physics.{name}" for name in arrays(settings.scene.physics)]
    names += [f"look.{name}" for name in arrays(settings.scene.look)]
    return {name: settings.value(name).copy() for name in names}


def changed(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> set[str]:
    """Names of the arrays that differ."""
    assert before.keys() == after.keys()
    return {
        name
        for name, value in before.items()
        if not np.array_equal(value, after[name], equal_nan=value.dtype.kind == "f")
    }


def physics_at_home(settings: list[Settings], reset: dict[str, float] | None = None) -> Physics:
    """Physics of len(settings) worlds of lift, arm at home."""
    chosen = reset or {"object_x_m": 0.21, "object_y_m": 0.03, "object_yaw_rad": 0.2}
    built = settings[0].scene
    physics = Physics(built.physics, len(settings), so101.JOINTS, SO101.writes)
    qpos = np.stack([initial_qpos(built, s, chosen) for s in settings])
    physics.reset(settings, qpos, qpos[:, physics.joint_q])
    return physics


def wave(step: int, n: int, seed: int = 0) -> np.ndarray:
    """Joint targets (n, 6) rad around home that differ from world to world; same for any n."""
    phases = np.stack([generator(seed, "test/wave", i).uniform(0, 6.3, 6) for i in range(n)])
    return so101.HOME_RAD + 0.25 * np.sin(0.35 * step + phases)
