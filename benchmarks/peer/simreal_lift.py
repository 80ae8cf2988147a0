"""simreal's lift with the full-mesh SO-101 as a contestant: a batch of worlds, one process a core.

--profile full: every world under a randomized scenario of its own, camera noise included.
--profile none: all worlds nominal, as the peers are.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

import numpy as np
from loop import serve, sway, triangles

from simreal.demos.record import conditions_for
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tracer import VISIBLE_GROUPS
from simreal.worlds.world import World

#: Degrees (gripper: per cent) by which the arm sways.
SWAY = 5.0


def casting_lights(world: World) -> float:
    """Mean number of lights a world that are on and cast shadows."""
    looks = [world.views.look_of(settings) for settings in world.settings]
    return float(np.mean([(x.light_active & x.light_castshadow).sum() for x in looks]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--shadows", action="store_true")
    parser.add_argument("--worlds", type=int, default=50)
    parser.add_argument("--form", choices=("mesh", "primitive"), default="mesh")
    parser.add_argument("--profile", default="none")
    options = parser.parse_args()
    config = SimConfig(
        "lift",
        options.form,
        options.size,
        profile(options.profile, SO101),
        shadows=options.shadows,
        batch=options.worlds,
    )
    world = simulated_world(config)
    conditions = conditions_for(config, 0, options.worlds)
    world.reset(conditions)
    home = world.observe(images=False).joint_pos

    def step(number: int):
        if world.outcome().done.any():
            world.reset(conditions)
        world.act(home + SWAY * sway(number, 6).astype(np.float32))
        images = world.observe().images
        drawn = int((~world.physics.resting).sum()) * len(images)
        return drawn, images["scene"][0]

    facts = {
        "size_px": options.size,
        "worlds": options.worlds,
        "physics_steps": world.physics.substeps,
        "triangles": triangles(world.scene.look, VISIBLE_GROUPS),
        "shadow_lights": casting_lights(world) if options.shadows else 0,
        "versions": {name: version(name) for name in ("simreal", "mujoco", "mujoco-warp")},
    }
    serve(step, facts)


if __name__ == "__main__":
    main()
