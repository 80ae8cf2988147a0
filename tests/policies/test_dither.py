"""The wobble on top of what a policy commands: its size, and where it is kept."""

import json

import numpy as np
import pytest
from tests.policies.blobs import JOINTS, make_part, make_stage
from tests.policies.test_runner import counting, look

from simreal.core.errors import BadDataError, UsageError
from simreal.policies.checkpoint import read_dither, save_checkpoint
from simreal.policies.dither import PERIODS, dither
from simreal.policies.recipe import TrainConfig, check_request
from simreal.policies.runner import CompactRunner


def test_every_channel_wobbles_by_its_size_about_nothing():
    wobble = np.stack([dither(step, 6, 1.5) for step in range(4000)])
    assert wobble.dtype == np.float32
    assert wobble.mean(axis=0) == pytest.approx(np.zeros(6), abs=0.02)
    assert (wobble**2).mean(axis=0) ** 0.5 == pytest.approx(np.full(6, 1.5), rel=0.02)
    spectrum = np.abs(np.fft.rfft(wobble, axis=0))
    periods = len(wobble) / spectrum.argmax(axis=0)
    assert ((PERIODS[0] - 0.1 < periods) & (periods < PERIODS[1])).all()
    assert len(set(periods.round(1))) == 6  # no two channels in step


def test_a_runner_adds_it_from_the_start_of_every_episode(tmp_path):
    save_checkpoint(tmp_path / "c", counting(4), 4, {}, 0.5)
    runner, plain = CompactRunner.load(tmp_path / "c"), CompactRunner(counting(4), 4)
    for _ in range(2):
        runner.reset(3)
        plain.reset(3)
        for step in range(9):
            off = runner.act(look(3)) - plain.act(look(3))
            assert off == pytest.approx(np.tile(dither(step, 2, 0.5), (3, 1)), abs=1e-5)


def test_a_checkpoint_without_it_has_none_and_a_bad_one_is_named(tmp_path):
    save_checkpoint(tmp_path / "c", counting(4), 4, {})
    assert read_dither(tmp_path / "c") == 0.0
    config = json.loads((tmp_path / "c/config.json").read_text())
    del config["dither"]  # as checkpoints were before there was one
    (tmp_path / "c/config.json").write_text(json.dumps(config))
    assert read_dither(tmp_path / "c") == 0.0
    (tmp_path / "c/config.json").write_text(json.dumps({**config, "dither": -1}))
    with pytest.raises(BadDataError, match="dither -1 must be a number, 0 or more"):
        CompactRunner.load(tmp_path / "c")


def test_a_training_that_asks_for_none_is_the_same_request_as_before():
    assert "dither" not in TrainConfig().request()
    assert TrainConfig(dither=1.0).request()["dither"] == 1.0


def test_a_negative_size_is_refused():
    stage = make_stage([make_part(2)], 1)
    with pytest.raises(UsageError, match="dither -1 must be 0 or more"):
        check_request([stage], TrainConfig(dither=-1), JOINTS)
