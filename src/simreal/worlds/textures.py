"""Procedural textures in three disjoint kinds, textures from a folder, and their way into a model.

`train` textures are for randomization, `twin` textures for stand-ins of reality, `unseen` ones for
held-out backgrounds. No family occurs in two kinds, so no arm has met what it is tested on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt
from PIL import Image

from simreal.core.errors import UsageError, unknown
from simreal.core.seeds import generator
from simreal.worlds.patterns import FAMILIES, TEXTURE_PX, Kind

Pixels = npt.NDArray[np.uint8]

#: File names that `from_folder` reads.
SUFFIXES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True, eq=False)
class Texture:
    """A named square picture, rgb (TEXTURE_PX, TEXTURE_PX, 3) uint8."""

    name: str
    rgb: Pixels

    @property
    def sha256(self) -> str:
        """Hex digest of the pixels; equal pictures have equal digests whatever their names."""
        return hashlib.sha256(self.rgb.tobytes()).hexdigest()


def bank(kind: Kind, n: int, seed: int) -> tuple[Texture, ...]:
    """`n` textures of one kind, families in turn; texture i depends on (kind, seed, i) alone."""
    if kind not in FAMILIES:
        raise unknown("kind of textures", kind, FAMILIES)
    if n < 0:
        raise UsageError(f"A bank of {n} textures cannot be made; ask for 0 or more.")
    return tuple(_drawn(kind, seed, index) for index in range(n))


def _drawn(kind: Kind, seed: int, index: int) -> Texture:
    families = FAMILIES[kind]
    family = families[index % len(families)]
    rng = generator(seed, f"textures {kind}", index)
    values = np.broadcast_to(family(rng), (TEXTURE_PX, TEXTURE_PX, 3))
    name = f"{kind}-{family.__name__}-{seed}-{index}"
    return Texture(name, np.rint(255 * values.clip(0, 1)).astype(np.uint8))


def from_folder(path: Path) -> tuple[Texture, ...]:
    """All PNG and JPEG files directly in `path`, in order of name, their middle squares resized."""
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder; textures are read from a folder of images.")
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
    if not files:
        raise UsageError(
            f"{path} holds no textures; files ending in {', '.join(SUFFIXES)} are read."
        )
    return tuple(Texture(f"file-{file.name}", _read(file)) for file in files)


def _read(file: Path) -> Pixels:
    try:
        with Image.open(file) as image:
            picture = image.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UsageError(f"{file} cannot be read as a PNG or JPEG image: {error}.") from error
    side = min(picture.size)
    left, top = ((length - side) // 2 for length in picture.size)
    square = (left, top, left + side, top + side)
    return np.asarray(picture.resize((TEXTURE_PX, TEXTURE_PX), Image.Resampling.BOX, box=square))


def add_to(spec: mujoco.MjSpec, textures: Sequence[Texture]) -> tuple[str, ...]:
    """Add two-dimensional textures to `spec`; returns their names."""
    for texture in textures:
        if spec.texture(texture.name) is not None:
            raise UsageError(f"The model already has a texture named {texture.name!r}.")
        added = spec.add_texture(
            name=texture.name,
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            width=TEXTURE_PX,
            height=TEXTURE_PX,
            nchannel=3,
        )
        added.data = texture.rgb.tobytes()
    return tuple(texture.name for texture in textures)
