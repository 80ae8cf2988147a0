import numpy as np
import pytest
import torch
from tests.policies.blobs import Frames

from simreal.core.errors import BadDataError, UsageError
from simreal.core.seeds import generator
from simreal.policies.augment import Augmentation, augment
from simreal.policies.batches import Batcher, Part

STILL = Augmentation(shift_px=0, contrast=0, tint=0, brightness=0)


def counted(lengths=(3, 5, 4), joints=2, side=16, start=0):
    """Frames whose numbers are their own index: action f is f, picture f is filled with f."""
    total = sum(lengths)
    index = start + np.arange(total, dtype=np.float32)
    numbers = np.repeat(index[:, None], joints, axis=1)
    image = np.broadcast_to(index.astype(np.uint8)[:, None, None, None], (total, side, side, 3))
    episode = np.repeat(np.arange(len(lengths)), lengths)
    return Frames(numbers, numbers.copy(), {"scene": image.copy()}, episode)


def test_chunks_repeat_the_last_action_of_their_episode():
    part = Part(counted())
    chunks, valid = part.chunks(np.array([0, 2, 6, 11]), 4)
    assert chunks[..., 0].tolist() == [[0, 1, 2, 2], [2, 2, 2, 2], [6, 7, 7, 7], [11, 11, 11, 11]]
    assert valid.sum(axis=1).tolist() == [3, 1, 2, 1]


def test_a_batch_takes_each_row_from_its_part():
    parts = [Part(counted(), name="a"), Part(counted(start=100), name="b")]
    which, frames = np.array([0, 1, 1, 0]), np.array([4, 0, 11, 1])
    batch = Batcher(parts, 2, STILL).training(which, frames, 0, "test", 0)
    assert batch.joint_pos[:, 0].tolist() == [4, 100, 111, 1]
    assert batch.actions[:, 1, 0].tolist() == [5, 101, 111, 2]
    assert batch.valid.tolist() == [[1, 1], [1, 1], [1, 0], [1, 1]]
    pictures = ((batch.images["scene"] + 0.5) * 255).round()
    assert pictures[:, 0, 3, 3].tolist() == [4, 100, 111, 1]


def test_plain_and_unaugmented_batches_are_the_same_pictures():
    batcher = Batcher([Part(counted())], 2, STILL)
    which, frames = np.zeros(3, int), np.array([1, 5, 9])
    plain = batcher.plain(which, frames).images["scene"]
    same = batcher.training(which, frames, 0, "test", 0).images["scene"]
    assert torch.allclose(plain, same, atol=1e-6)


def test_shifts_move_whole_pixels_and_repeat_the_edge():
    images = np.arange(16 * 16 * 3, dtype=np.int64).reshape(1, 16, 16, 3) % 251
    images = np.repeat(images.astype(np.uint8), 64, axis=0)
    config = Augmentation(shift_px=2, contrast=0, tint=0, brightness=0)
    out = augment(images, config, generator(0, "shift")).permute(0, 2, 3, 1).numpy()
    out = np.rint((out + 0.5) * 255).astype(np.uint8)
    padded = np.pad(images[0], ((2, 2), (2, 2), (0, 0)), mode="edge")
    allowed = {padded[y : y + 16, x : x + 16].tobytes() for y in range(5) for x in range(5)}
    seen = {picture.tobytes() for picture in out}
    assert seen <= allowed
    assert len(seen) > 15  # of 25, in 64 draws


def test_jitter_stays_within_its_amplitudes_and_differs_per_picture():
    images = np.full((32, 16, 16, 3), 255, np.uint8)
    config = Augmentation(shift_px=0, contrast=0.2, tint=0.1, brightness=0.1)
    out = augment(images, config, generator(0, "jitter"))
    assert 0.5 * 0.8 * 0.9 - 0.1 <= out.min() <= out.max() <= 0.5 * 1.2 * 1.1 + 0.1
    assert out.flatten(1).mean(dim=1).unique().numel() == 32
    assert out.is_contiguous(memory_format=torch.channels_last)


def test_augmentation_depends_on_seed_and_step_only():
    batcher = Batcher([Part(counted())], 2, Augmentation())
    which, frames = np.zeros(8, int), np.arange(8)

    def scene(seed, step):
        return batcher.training(which, frames, seed, "test", step).images["scene"]

    assert torch.equal(scene(0, 5), scene(0, 5))
    assert not torch.equal(scene(0, 5), scene(0, 6))
    assert not torch.equal(scene(0, 5), scene(1, 5))


@pytest.mark.parametrize("which", [[0, 1], [-1, 0]])
def test_parts_that_do_not_exist_are_refused(which):
    batcher = Batcher([Part(counted())], 2, STILL)
    with pytest.raises(UsageError, match="1 parts"):
        batcher.training(np.array(which), np.array([0, 1]), 0, "test", 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"actions": np.zeros((12, 3))}, "actions have shape"),
        ({"episode": np.zeros(11)}, "episode has shape"),
        ({"episode": np.array([0] * 4 + [1] * 4 + [0] * 4)}, "not contiguous"),
        ({"joint_pos": np.zeros((0, 2))}, "F >= 1"),
        ({"images": {"scene": np.zeros((12, 16, 16, 3), np.float32)}}, "uint8"),
        ({"images": {"scene": np.zeros((11, 16, 16, 3), np.uint8)}}, "11 frames"),
    ],
)
def test_bad_sources_are_refused(change, said):
    frames = counted()
    fields = {name: getattr(frames, name) for name in Frames.__dataclass_fields__}
    with pytest.raises(BadDataError, match=said):
        Part(Frames(**(fields | change)))


def test_non_finite_numbers_are_named():
    frames = counted()
    frames.actions[4, 1] = np.nan
    with pytest.raises(BadDataError, match=r"sim: actions .* frame 4 \(episode 1\), joint 1"):
        Part(frames, name="sim")


def test_parts_must_agree():
    with pytest.raises(BadDataError, match="cameras"):
        Batcher([Part(counted()), Part(counted(side=32))], 2, STILL)


def test_digests_tell_data_apart():
    same, other = counted(), counted()
    assert Part(counted()).digest() == Part(same).digest()
    other.images["scene"][0, 0, 0, 0] += 1
    assert Part(other).digest() != Part(same).digest()
