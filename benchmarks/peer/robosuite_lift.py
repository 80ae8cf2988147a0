"""robosuite's Lift with a Panda as a contestant; runs in an environment of its own.

Its fastest documented way on a CPU: offscreen rendering by MuJoCo's OpenGL renderer (MUJOCO_GL=egl
or osmesa), one environment a process. Multisampling and shadows are set through the hook that
robosuite has for editing its XML; all else is as shipped, its joint position controller included.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import robosuite
from loop import serve, sway, triangles
from robosuite.controllers import load_composite_controller_config
from robosuite.environments.manipulation.lift import Lift

CAMERAS = ["agentview", "robot0_eye_in_hand"]


def editor(shadows: bool, shadow_map: int):
    def edit(xml: str) -> str:
        root = ET.fromstring(xml)
        visual = root.find("visual")
        ET.SubElement(visual, "quality", offsamples="0", shadowsize=str(shadow_map))
        for light in root.iter("light"):
            light.set("castshadow", "true" if shadows else "false")
        return ET.tostring(root, encoding="unicode")

    return edit


def make(size: int, shadows: bool, shadow_map: int):
    class Edited(Lift):
        def edit_model_xml(self, xml: str) -> str:
            return editor(shadows, shadow_map)(super().edit_model_xml(xml))

    parts = load_composite_controller_config(controller="BASIC")
    return Edited(
        robots="Panda",
        controller_configs=parts,
        has_renderer=False,
        has_offscreen_renderer=True,
        use_camera_obs=True,
        camera_names=CAMERAS,
        camera_heights=size,
        camera_widths=size,
        control_freq=20,
        ignore_done=True,
        hard_reset=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--shadows", action="store_true")
    parser.add_argument("--shadow-map", type=int, default=4096, help="pixels; MuJoCo's own: 4096")
    options = parser.parse_args()
    env = make(options.size, options.shadows, options.shadow_map)
    env.reset()
    low, high = env.action_spec
    model = env.sim.model._model

    def step(number: int):
        action = np.clip(0.3 * sway(number, len(low)), low, high)
        seen = env.step(action)[0]
        return len(CAMERAS), seen["agentview_image"]

    context = env.sim._render_context_offscreen
    assert context.con.offSamples == 0, context.con.offSamples
    facts = {
        "size_px": options.size,
        "worlds": 1,
        "physics_steps": round(env.control_timestep / env.model_timestep),
        "triangles": triangles(model, (1, 2)),
        "shadow_lights": int(sum(model.light_castshadow)),
        "versions": {"robosuite": robosuite.__version__, "mujoco": mujoco.__version__},
    }
    serve(step, facts)


if __name__ == "__main__":
    main()
