"""Test-kit: does a policy keep the promise of `simreal.core.protocols.Policy`?

    from policy_kit import check_policy
    def test_mine():
        check_policy(lambda: MyPolicy(...), joint_names=(...), cameras={"scene": (64, 64)})

`make_policy` is called several times and must give a fresh policy each time. A failure is an
AssertionError that says which promise was broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from simreal.core.protocols import Policy
from simreal.core.seeds import generator
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES, Action, Observation

STEPS = 11
WORLDS = 4


def check_policy(
    make_policy: Callable[[], Policy],
    joint_names: Sequence[str],
    cameras: Mapping[str, tuple[int, int]],
    tolerance: float = 1e-2,
    wrench: bool = False,
) -> None:
    """Run every check. tolerance: joint units by which a world's action may depend on its batch.

    wrench: observations hold force/torque windows.
    """
    kit = _Kit(make_policy, len(joint_names), dict(cameras), tolerance, wrench)
    kit.check_actions()
    kit.check_determinism()
    kit.check_reset_forgets()
    kit.check_looks()
    kit.check_independence()
    kit.check_aliasing()


class _Kit:
    def __init__(
        self,
        make_policy: Callable[[], Policy],
        joints: int,
        cameras: dict[str, tuple[int, int]],
        tolerance: float,
        wrench: bool,
    ) -> None:
        self.make_policy, self.joints = make_policy, joints
        self.cameras, self.tolerance, self.wrench = cameras, tolerance, wrench

    def observation(self, step: int, n: int = WORLDS, seed: int = 0) -> Observation:
        """Some pose and pictures of step `step`; world i's do not depend on n."""
        poses, felt, images = [], [], {name: [] for name in self.cameras}
        for world in range(n):
            draw = generator(seed, f"policy kit {world}", step)
            poses.append(draw.uniform(-30, 30, self.joints))
            for name, (height, width) in self.cameras.items():
                images[name].append(draw.integers(0, 256, (height, width, 3), dtype=np.uint8))
            if self.wrench:
                felt.append(draw.normal(0, 5, (WRENCH_SAMPLES, len(WRENCH_NAMES))))
        stacked = {name: np.stack(pictures) for name, pictures in images.items()}
        wrench = np.array(felt, np.float32) if felt else None
        return Observation(np.array(poses, np.float32), stacked, step / 20, wrench)

    def episode(
        self, policy: Policy, n: int = WORLDS, blind: bool = False, seed: int = 0
    ) -> list[Action]:
        """STEPS actions from a reset on; `blind` withholds images when the policy won't look."""
        policy.reset(n)
        actions = []
        for step in range(STEPS):
            seen = self.observation(step, n, seed)
            if blind and not policy.looks():
                seen = replace(seen, images={})
            actions.append(np.array(policy.act(seen)))
        return actions

    def check_actions(self) -> None:
        for n in (1, 3):
            policy = self.make_policy()
            policy.reset(n)
            for step in range(STEPS):
                assert isinstance(policy.looks(), bool), "looks() must return a bool"
                action = policy.act(self.observation(step, n))
                wanted = (n, self.joints)
                assert action.shape == wanted, f"act() gave {action.shape}, promised {wanted}"
                assert action.dtype == np.float32, f"act() gave {action.dtype}, promised float32"
                assert np.isfinite(action).all(), f"act() gave non-finite targets at step {step}"

    def check_determinism(self) -> None:
        first, second = self.episode(self.make_policy()), self.episode(self.make_policy())
        assert np.array_equal(first, second), "two fresh policies act differently on the same input"

    def check_reset_forgets(self) -> None:
        fresh = self.episode(self.make_policy())
        policy = self.make_policy()
        policy.reset(2)
        for step in range(3):
            policy.act(self.observation(step, 2, seed=1))
        assert np.array_equal(fresh, self.episode(policy)), "reset() does not forget the past"

    def check_looks(self) -> None:
        seeing, blind = self.make_policy(), self.make_policy()
        always = self.episode(seeing)
        needed = self.episode(blind, blind=True)
        assert np.array_equal(always, needed), "act() depends on images although looks() is False"
        policy = self.make_policy()
        policy.reset(1)
        assert policy.looks() == policy.looks(), "asking looks() must change nothing"

    def check_independence(self) -> None:
        """What one world gets must not depend on the others, but for rounding."""
        together = np.array(self.episode(self.make_policy()))
        alone = np.array(self.episode(self.make_policy(), n=1))
        gap = float(np.abs(together[:, :1] - alone).max())
        assert gap <= self.tolerance, f"world 0 acts differently alone: {gap:g} units"
        mirrored = self.make_policy()
        mirrored.reset(WORLDS)
        for step in range(STEPS):
            seen = self.observation(step)
            images = {name: pictures[::-1].copy() for name, pictures in seen.images.items()}
            wrench = None if seen.wrench is None else seen.wrench[::-1].copy()
            turned = Observation(seen.joint_pos[::-1].copy(), images, seen.time_s, wrench)
            gap = float(np.abs(mirrored.act(turned)[::-1] - together[step]).max())
            assert gap <= self.tolerance, f"reordering worlds changes their actions: {gap:g} units"

    def check_aliasing(self) -> None:
        clean = self.episode(self.make_policy())
        policy = self.make_policy()
        policy.reset(WORLDS)
        for step in range(STEPS):
            seen = self.observation(step)
            kept = seen.joint_pos.copy(), {k: v.copy() for k, v in seen.images.items()}
            felt = None if seen.wrench is None else seen.wrench.copy()
            action = policy.act(seen)
            assert np.array_equal(action, clean[step]), "a changed result changes later actions"
            assert np.array_equal(kept[0], seen.joint_pos), "act() changes its observation"
            assert felt is None or np.array_equal(felt, seen.wrench), "act() changes its forces"
            for name, pictures in kept[1].items():
                assert np.array_equal(pictures, seen.images[name]), "act() changes its images"
            action[:] = np.nan
