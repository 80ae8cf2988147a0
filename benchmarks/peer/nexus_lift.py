"""so101-nexus's PickLift as a contestant; runs in an environment of its own.

--backend mujoco: MuJoCo's OpenGL renderer (MUJOCO_GL=egl or osmesa), one environment a process.
--backend mjbatch: the same environments, `--worlds` a process, physics stepped by mjbatch.
--backend warp: MuJoCo Warp for physics and pictures, `--worlds` a process. Shadows cannot be turned
off there, nor multisampling on. All else is as shipped, but for the control rate of 20 Hz.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

import mujoco
import numpy as np
from loop import serve, sway, triangles
from so101_nexus import (
    JointPositions,
    OverheadCamera,
    PhysicsConfig,
    PickConfig,
    RenderConfig,
    RenderingQuality,
    WristCamera,
)

CAMERAS = ("wrist_camera", "overhead_camera")
#: The physics step of so101-nexus is 5 ms.
PHYSICS_STEPS = 10


def settings(size: int, shadows: bool, shadow_map: int, backend: str) -> PickConfig:
    physics = {"timestep_s": 0.05 / PHYSICS_STEPS, "control_period_s": 0.05}
    if backend != "warp":  # so101-nexus's own solver settings on the CPU
        physics |= {"integrator": "implicitfast", "noslip_iterations": 3, "tolerance": 1e-8}
    quality = {"msaa_samples": 0, "shadows": shadows, "shadow_map_size": shadow_map}
    if backend == "warp":  # it takes no others
        quality = {}
    return PickConfig(
        observations=[JointPositions(), WristCamera(size, size), OverheadCamera(size, size)],
        render=RenderConfig(quality=RenderingQuality(**quality)),
        physics=PhysicsConfig(**physics),
        obs_mode="visual",
        terminate_on_success=False,
    )


def one_world(config: PickConfig):
    from so101_nexus.mujoco.pick_env import PickLiftEnv

    env = PickLiftEnv(config=config)
    env.reset(seed=0)
    home = np.array(config.robot.rest_qpos_rad, dtype=np.float32)

    def step(number: int):
        action = home + 0.1 * sway(number, 6).astype(np.float32)
        return len(CAMERAS), env.step(action)[0][CAMERAS[0]]

    context = env._wrist_renderer._mjr_context
    assert context.offSamples == 0, context.offSamples
    return step, env.model


def several_worlds(config: PickConfig, worlds: int):
    import gymnasium as gym
    import so101_nexus.mjbatch  # noqa: F401  (registers its environments)

    env = gym.make_vec(
        "MJBatchPickLift-v1", num_envs=worlds, num_threads=1, max_episode_steps=-1, config=config
    )
    env.reset(seed=0)
    home = np.array(config.robot.rest_qpos_rad, dtype=np.float32)

    def step(number: int):
        action = np.tile(home + 0.1 * sway(number, 6).astype(np.float32), (worlds, 1))
        return worlds * len(CAMERAS), env.step(action)[0][CAMERAS[0]][0]

    return step, env.unwrapped._tasks[0].model


def warp_worlds(config: PickConfig, worlds: int):
    import torch
    from so101_nexus.warp.pick_env import WarpPickLiftVectorEnv

    torch.set_num_threads(1)
    env = WarpPickLiftVectorEnv(worlds, config, device="cpu", max_episode_steps=10**9, seed=0)
    env.reset(seed=0)
    home = torch.as_tensor(np.array(config.robot.rest_qpos_rad, dtype=np.float32))

    def step(number: int):
        wave = torch.as_tensor(sway(number, 6).astype(np.float32))
        seen = env.step((home + 0.1 * wave).expand(worlds, 6))[0]
        return worlds * len(CAMERAS), seen[CAMERAS[0]][0].numpy()

    return step, env.mjm


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", choices=("mujoco", "mjbatch", "warp"), default="mujoco")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--shadows", action="store_true")
    parser.add_argument("--shadow-map", type=int, default=8192, help="pixels; shipped: 8192")
    parser.add_argument("--worlds", type=int, default=1)
    options = parser.parse_args()
    config = settings(options.size, options.shadows, options.shadow_map, options.backend)
    if options.backend == "mujoco":
        step, model = one_world(config)
    else:
        make = several_worlds if options.backend == "mjbatch" else warp_worlds
        step, model = make(config, options.worlds)
    casting = options.shadows or options.backend == "warp"
    facts = {
        "size_px": options.size,
        "worlds": options.worlds,
        "physics_steps": PHYSICS_STEPS,
        "triangles": triangles(model, (0, 1, 2)),
        "shadow_lights": int(sum(model.light_castshadow)) if casting else 0,
        "versions": {"so101-nexus": version("so101-nexus"), "mujoco": mujoco.__version__},
    }
    serve(step, facts)


if __name__ == "__main__":
    main()
