"""Draws moments of a compiled model with MuJoCo's own renderer (MUJOCO_GL=egl or osmesa).

    MUJOCO_GL=osmesa python draw.py FOLDER

FOLDER/model.mjb: the model. FOLDER/moments.npz: `qpos` (n, nq), `size_px`, `shadows`, `cameras`,
and for each visual field of the model the values of every moment, `look.FIELD` (n, ...). Writes
FOLDER/drawn.npz: camera -> (n, H, W, 3). No multisampling, no sites, visible groups 0 to 2.
"""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import numpy as np

#: Nearest distance that is drawn, m; at MuJoCo's own (1 % of the scene) the fingers are cut off.
NEAR_M = 0.001


def main() -> None:
    folder = Path(sys.argv[1])
    moments = np.load(folder / "moments.npz")
    model = mujoco.MjModel.from_binary_path(str(folder / "model.mjb"))
    model.vis.quality.offsamples = 0
    size = int(moments["size_px"])
    model.vis.global_.offwidth = model.vis.global_.offheight = max(size, 64)
    data = mujoco.MjData(model)
    model.vis.map.znear = NEAR_M / model.stat.extent
    options = mujoco.MjvOption()
    options.sitegroup[:] = 0
    looks = {name[5:]: moments[name] for name in moments.files if name.startswith("look.")}
    cameras = [str(name) for name in moments["cameras"]]
    drawn = {camera: [] for camera in cameras}
    with mujoco.Renderer(model, size, size) as renderer:
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = bool(moments["shadows"])
        for i, qpos in enumerate(moments["qpos"]):
            for name, values in looks.items():
                getattr(model, name)[...] = values[i]
            data.qpos[:] = qpos
            mujoco.mj_forward(model, data)
            for camera in cameras:
                renderer.update_scene(data, camera, options)
                drawn[camera].append(renderer.render())
    np.savez(folder / "drawn.npz", **{camera: np.stack(x) for camera, x in drawn.items()})


if __name__ == "__main__":
    main()
