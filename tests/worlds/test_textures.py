import itertools

import mujoco
import numpy as np
import pytest
from PIL import Image
from tests.worlds.stage import XML, picture

from simreal.core.errors import UsageError
from simreal.worlds.patterns import FAMILIES, TEXTURE_PX
from simreal.worlds.render import Look, Renderer
from simreal.worlds.textures import Texture, add_to, bank, from_folder

KINDS = ("train", "twin", "unseen")


@pytest.mark.parametrize("kind", KINDS)
def test_a_bank_is_made_of_unequal_named_pictures(kind):
    textures = bank(kind, 30, seed=3)
    assert len({t.sha256 for t in textures}) == len({t.name for t in textures}) == 30
    for texture in textures:
        assert texture.rgb.shape == (TEXTURE_PX, TEXTURE_PX, 3)
        assert texture.rgb.dtype == np.uint8
    families = {t.name.split("-")[1] for t in textures}
    assert families == {family.__name__ for family in FAMILIES[kind]}


@pytest.mark.parametrize("kind", KINDS)
def test_texture_i_depends_on_kind_seed_and_i_alone(kind):
    hashes = [t.sha256 for t in bank(kind, 12, seed=5)]
    assert [t.sha256 for t in bank(kind, 9, seed=5)] == hashes[:9]
    assert not set(hashes) & {t.sha256 for t in bank(kind, 12, seed=6)}


def test_no_picture_and_no_family_is_of_two_kinds():
    hashes = {kind: {t.sha256 for seed in range(3) for t in bank(kind, 40, seed)} for kind in KINDS}
    families = {kind: {f.__name__ for f in FAMILIES[kind]} for kind in KINDS}
    for a, b in itertools.combinations(KINDS, 2):
        assert not hashes[a] & hashes[b]
        assert not families[a] & families[b]


def test_pictures_are_not_all_alike():
    """Of each family both bright and dark, and but for plain ones with something to see."""
    for kind in KINDS:
        textures = bank(kind, 12 * len(FAMILIES[kind]), seed=0)
        for family in FAMILIES[kind]:
            own = [t.rgb for t in textures if t.name.split("-")[1] == family.__name__]
            means = [rgb.mean() for rgb in own]
            assert np.ptp(means) > 20, family.__name__
            if family.__name__ != "plain":
                assert min(rgb.std((0, 1)).max() for rgb in own) > 4, family.__name__


def test_the_hash_is_of_the_pixels():
    rgb = bank("train", 1, 0)[0].rgb
    assert Texture("a", rgb).sha256 == Texture("b", rgb.copy()).sha256
    changed = rgb.copy()
    changed[0, 0, 0] ^= 1
    assert Texture("a", changed).sha256 != Texture("a", rgb).sha256


@pytest.mark.parametrize(
    ("kind", "n", "message"), [("real", 3, "kind of textures 'real'"), ("twin", -1, "-1 textures")]
)
def test_impossible_banks_are_refused(kind, n, message):
    with pytest.raises(UsageError, match=message):
        bank(kind, n, seed=0)


# Folders.


def test_a_folder_is_read_in_order_of_name_whatever_the_pictures_mode(tmp_path):
    left_red = np.zeros((100, 300, 3), np.uint8)
    left_red[:, :150, 0] = 255
    Image.fromarray(left_red).save(tmp_path / "b.png")
    Image.fromarray(np.full((40, 40), 90, np.uint8)).save(tmp_path / "a.JPG")
    Image.new("RGBA", (9, 20), (1, 2, 3, 0)).save(tmp_path / "c.png")
    (tmp_path / "notes.txt").write_text("not a picture")
    grey, halves, alpha = from_folder(tmp_path)
    assert (grey.name, halves.name, alpha.name) == ("file-a.JPG", "file-b.png", "file-c.png")
    assert np.abs(grey.rgb.astype(int) - 90).max() <= 2
    assert halves.rgb[:, : TEXTURE_PX // 2 - 1, 0].min() == 255
    assert halves.rgb[:, TEXTURE_PX // 2 + 1 :, 0].max() == 0
    assert (alpha.rgb == [1, 2, 3]).all()


def test_bad_folders_are_named(tmp_path):
    with pytest.raises(UsageError, match="nowhere is not a folder"):
        from_folder(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"holds no textures; .*\.png, \.jpg, \.jpeg"):
        from_folder(tmp_path)


@pytest.mark.parametrize("keep", [0, 10, 60, 200])
def test_a_broken_picture_is_named(tmp_path, keep):
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(
        tmp_path / "x.png"
    )
    content = (tmp_path / "x.png").read_bytes()
    (tmp_path / "x.png").write_bytes(content[:keep])
    with pytest.raises(UsageError, match=r"x\.png cannot be read"):
        from_folder(tmp_path)


def test_a_damaged_header_is_named(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    content = bytearray((tmp_path / "x.png").read_bytes())
    content[20] ^= 255
    (tmp_path / "x.png").write_bytes(bytes(content))
    with pytest.raises(UsageError, match=r"x\.png cannot be read"):
        from_folder(tmp_path)


# In a model.


def test_textures_in_a_model_are_found_by_name_and_drawn():
    textures = bank("train", 4, 0)
    plain = Texture("plain", np.full_like(textures[0].rgb, (10, 20, 250)))
    spec = mujoco.MjSpec.from_string(XML)
    names = add_to(spec, (*textures, plain))
    built = spec.compile()
    numbers = [built.texture(name).id for name in names]
    assert numbers == [2, 3, 4, 5, 6]  # after the two of the scene
    size = TEXTURE_PX * TEXTURE_PX * 3
    start = built.tex_adr[numbers[1]]
    assert (built.tex_data[start : start + size] == textures[1].rgb.ravel()).all()

    built.mat_texid[built.material("table").id, 1] = numbers[-1]
    image = picture(Renderer(built, ("front",), 32, shadows=True), Look.of(built), built)["front"]
    table = image[-4]
    assert (table[:, 2] > 5 * table[:, 0].astype(int)).all()


def test_a_name_can_be_added_once():
    spec = mujoco.MjSpec()
    add_to(spec, bank("twin", 1, 0))
    with pytest.raises(UsageError, match="already has a texture named 'twin-wood-0-0'"):
        add_to(spec, bank("twin", 1, 0))
