import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simreal.core.errors import BadDataError
from simreal.core.seeds import generator
from simreal.policies.preprocess import (
    STATISTICS,
    Z_LIMIT,
    Normalizer,
    Statistics,
    check_statistics,
    fit_statistics,
    image_input,
)


def rows(frames=270, chunk=8, spike=False):
    """Three joints that move, one that is encoder noise only, one that never moves, a gripper."""
    draw = generator(0, "preprocess rows")
    pose = draw.uniform(-40, 40, (frames, 6))
    pose[:, 3] = -30 + 1e-4 * draw.standard_normal(frames)
    pose[:, 4] = 12.5
    pose[:, 5] = np.where(np.arange(frames) % 40 < 28, 100.0, 5.0)
    action = pose + draw.uniform(-4, 4, (frames, 6))
    action[:, 3] = -30 + 1e-4 * draw.standard_normal(frames)
    action[:, 4] = 12.5
    if spike:
        action[44, 0] = 1e6
    steps = np.minimum(np.arange(frames)[:, None] + np.arange(chunk), frames - 1)
    return pose.astype(np.float32), action.astype(np.float32)[steps]


def fitted(**kwargs) -> Normalizer:
    normalizer = Normalizer(8, 6)
    normalizer.set(fit_statistics([rows(**kwargs)]))
    return normalizer


def test_a_constant_joint_stays_constant_whatever_the_network_says():
    normalizer = fitted()
    pose = torch.tensor([[0.0, 0.0, 0.0, -30.0, 12.8, 50.0]])
    for said in (-1e6, -1.0, 0.0, 0.3, 1.0, 1e6):
        out = normalizer.actions(torch.full((1, 8, 6), said), pose)
        assert torch.isfinite(out).all()
        assert (out[..., 4] - 12.5).abs().max() <= 1e-3


def test_input_is_bounded_off_the_distribution():
    normalizer = fitted()
    pose = torch.tensor([[1e9, -1e9, 0.0, -20.0, 12.8, 1e3]])
    z = normalizer.state(pose)
    assert torch.isfinite(z).all()
    assert z.abs().max() <= Z_LIMIT
    assert z[0, 4] == 0.0  # a joint that never moved is not shown to the network
    near = normalizer.state(torch.tensor([[0.0, 0.0, 0.0, -29.7, 12.5, 50.0]]))
    assert abs(near[0, 3]) <= 3.01  # 0.3 degrees off where only noise was seen


def test_a_spike_does_not_spoil_the_statistics():
    clean, spiked = fit_statistics([rows()]), fit_statistics([rows(spike=True)])
    assert (spiked.target_scale[:, 0] < 1.2 * clean.target_scale[:, 0]).all()
    moved = np.abs(spiked.target_mean[:, 0] - clean.target_mean[:, 0])
    assert (moved < 0.2 * clean.target_scale[:, 0]).all()
    normalizer = fitted(spike=True)
    pose, chunks = (torch.from_numpy(x) for x in rows(spike=True))
    assert normalizer.target(chunks, pose).abs().max() <= Z_LIMIT


def test_a_rarely_closed_gripper_is_no_outlier():
    pose, chunk = rows(frames=2000)
    pose[:, 5] = chunk[:, :, 5] = 100.0
    pose[:10, 5] = chunk[:10, :, 5] = 5.0
    statistics = fit_statistics([(pose, chunk)])
    assert statistics.action_free[5] == 1
    assert statistics.state_live[5] == 1


@settings(max_examples=60)
@given(
    pose=st.lists(st.floats(-180, 180, width=32), min_size=6, max_size=6),
    move=st.lists(st.floats(-15, 15, width=32), min_size=6, max_size=6),
)
def test_actions_invert_targets(pose, move):
    normalizer = fitted()
    q = torch.tensor([pose])
    wanted = q[:, None] + torch.tensor(move)
    back = normalizer.actions(normalizer.target(wanted, q), q)
    free = normalizer.action_free > 0
    inside = (normalizer.target(wanted, q).abs() < Z_LIMIT)[..., free]
    error = ((back - wanted)[..., free] * inside).abs().max()
    assert error < 1e-3


def tensors(prefix="network.normalizer."):
    return {prefix + name: value.clone() for name, value in fitted().named_buffers()}


def test_sound_statistics_pass():
    check_statistics(tensors(), 8, 6, "file", "network.normalizer.")


@pytest.mark.parametrize("name", STATISTICS)
def test_a_missing_statistic_is_named(name):
    found = tensors()
    del found["network.normalizer." + name]
    with pytest.raises(BadDataError, match=rf"model\.st lacks .*{name}.*found"):
        check_statistics(found, 8, 6, "model.st", "network.normalizer.")


def test_keys_under_another_prefix_are_named():
    with pytest.raises(BadDataError, match=r"lacks .*state_mean.*found so100\.buffer\.action_free"):
        check_statistics(tensors("so100.buffer."), 8, 6, "model.st", "network.normalizer.")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("target_scale", torch.full((8, 6), float("inf")), "not finite"),
        ("state_mean", torch.full((6,), float("nan")), "not finite"),
        ("target_mean", torch.zeros(7), r"\(7,\).*6 joints.*\(8, 6\)"),
        ("state_mean", torch.zeros(0), r"\(0,\).*6 joints"),
        ("state_scale", torch.zeros(6), "positive"),
        ("action_free", torch.full((6,), 0.5), "0 or 1"),
    ],
)
def test_bad_statistics_are_refused(name, value, said):
    found = tensors() | {"network.normalizer." + name: value}
    with pytest.raises(BadDataError, match=said):
        check_statistics(found, 8, 6, "model.st", "network.normalizer.")


def test_unset_statistics_are_refused():
    with pytest.raises(BadDataError, match="not finite"):
        Normalizer(8, 6).check("the policy")


def test_statistics_carry_every_buffer():
    assert set(STATISTICS) == set(Statistics.__dataclass_fields__)
    assert set(dict(fitted().named_buffers())) == set(STATISTICS)


def test_uint8_and_unit_floats_give_the_same_bits():
    image = torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8)
    same = image.to(torch.float32) / 255
    assert torch.equal(image_input(image, "scene"), image_input(same, "scene"))
    assert image_input(torch.zeros_like(image), "scene").min() == -0.5
    assert image_input(torch.full_like(image, 255), "scene").max() == 0.5


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (torch.full((1, 3, 16, 16), 200.0), r"float images must lie in \[0, 1\], got \[200, 200\]"),
        (torch.full((1, 3, 16, 16), float("nan")), "must lie in"),
        (torch.zeros((1, 3, 16, 16), dtype=torch.int32), "must be uint8"),
        (torch.zeros((1, 16, 16, 3), dtype=torch.uint8), r"\(B, 3, H, W\)"),
        (torch.zeros((3, 16, 16), dtype=torch.uint8), r"\(B, 3, H, W\)"),
    ],
)
def test_other_images_are_refused(image, said):
    with pytest.raises(BadDataError, match=said):
        image_input(image, "scene")
