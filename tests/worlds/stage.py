"""A small scene for tests of pictures: table, a red cube that moves, a ball, cameras, lights."""

import mujoco
import numpy as np

from simreal.worlds.render import Look, Renderer

CAMERAS = ("front", "hand")
XML = """
<mujoco>
  <visual><headlight active="0"/></visual>
  <asset>
    <texture name="grid" type="2d" builtin="checker" rgb1=".9 .9 .9" rgb2=".2 .2 .2"
      width="64" height="64"/>
    <texture name="flat" type="2d" builtin="flat" rgb1=".1 .8 .1" width="64" height="64"/>
    <material name="table" texture="grid" texrepeat="2 2" specular=".5" shininess=".2"/>
    <material name="red" rgba=".8 .1 .1 1" specular=".5" shininess=".2"/>
    <material name="blue" rgba=".1 .1 .8 1"/>
  </asset>
  <worldbody>
    <light name="a" type="directional" pos="0 0 3" dir=".3 .2 -1" diffuse=".4 .4 .4"
      ambient=".1 .1 .1" specular=".3 .3 .3" castshadow="true"/>
    <light name="b" type="point" pos="1 -1 2" dir="-1 1 -2" diffuse=".3 .3 .3"
      ambient=".05 .05 .05" specular=".3 .3 .3" castshadow="false"/>
    <light name="c" type="directional" dir="0 1 -1" diffuse=".1 .1 .1" active="false"/>
    <geom name="table" type="box" size=".6 .6 .02" pos="0 0 -.02" material="table"/>
    <geom name="hidden" type="sphere" size=".3" pos="0 0 .4" rgba="1 0 1 1" group="3"/>
    <body name="cube" pos="0 0 .1">
      <freejoint/>
      <geom name="cube" type="box" size=".08 .08 .08" material="red"/>
      <camera name="hand" pos="0 0 .6" fovy="60"/>
    </body>
    <body name="ball" pos=".2 .25 .08" quat="0 0 0 1">
      <geom name="ball" type="sphere" size=".08" material="blue"/>
    </body>
    <camera name="front" pos="0 -1.2 .6" xyaxes="1 0 0 0 .45 .9" fovy="45"/>
  </worldbody>
</mujoco>
"""


def model(xml: str = XML) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(xml)


def poses(built: mujoco.MjModel, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Body positions (n, nbody, 3), quaternions (n, nbody, 4), the cube moved by each row."""
    data = mujoco.MjData(built)
    positions, quats = [], []
    for move in np.atleast_2d(moves):
        mujoco.mj_resetData(built, data)
        data.qpos[:3] += move
        data.qpos[3:7] = [1, 0.3 * move[0], 0.2 * move[1], move[2]]
        mujoco.mj_kinematics(built, data)
        positions.append(data.xpos.copy())
        quats.append(data.xquat.copy())
    return np.array(positions), np.array(quats)


def picture(renderer: Renderer, look: Look, built: mujoco.MjModel) -> dict[str, np.ndarray]:
    """One picture per camera, (H, W, 3), in the model's own pose."""
    drawn = renderer.render(*poses(built, np.zeros(3)), [look], np.zeros(1, int))
    return {camera: images[0] for camera, images in drawn.items()}
