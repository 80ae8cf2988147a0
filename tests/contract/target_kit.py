"""Test-kit: does a target keep the promise of `simreal.core.protocols.Target`?

    from target_kit import check_target
    def test_mine():
        check_target(lambda: MyTarget(...), conditions)

`make_target` is called twice and must give a fresh, equal target each time; for a robot, which
cannot be had twice, only once. `conditions`: two or more initial conditions it accepts, of which
as many are used at once as its batch takes. A failure is an AssertionError that says which promise
was broken. `refusal`: what happens to actions that are not finite: "raises" (ValueError, nothing
moves), or "holds" for a safety layer that keeps still and lets the control period pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from simreal.core.protocols import Target
from simreal.core.types import (
    WRENCH_NAMES,
    WRENCH_SAMPLES,
    Action,
    Condition,
    Observation,
    Outcome,
)

STEPS = 6
#: A step of joint 0 that every arm can make, LeRobot's units, and how long it may take.
MOVE, MOVE_S = 10.0, 1.5
#: What a force/torque sensor may show in free space: bias and noise of cheap ones, N and Nm.
FREE_N, FREE_NM = 5.0, 0.3
KINDS = ("sim", "twin", "robot")


def check_target(
    make_target: Callable[[], Target],
    conditions: Sequence[Condition],
    refusal: Literal["raises", "holds"] = "raises",
) -> None:
    """Run every check on one or two targets; both are closed at the end."""
    kit = _Kit(make_target, conditions, refusal)
    kit.check_spec()
    kit.check_observations()
    if kit.spec.wrench:
        kit.check_free_space()
    if kit.spec.kind != "robot":
        kit.check_repeats()
        kit.check_worlds_are_independent()
        kit.check_looking_changes_nothing()
    kit.check_units()
    kit.check_refusals()
    kit.check_batch_limits()
    kit.check_outcomes()
    kit.check_close()


class _Kit:
    def __init__(
        self,
        make_target: Callable[[], Target],
        conditions: Sequence[Condition],
        refusal: Literal["raises", "holds"],
    ) -> None:
        self.make_target, self.refusal = make_target, refusal
        self.target = make_target()
        self.spec = self.target.spec
        self.conditions = list(conditions)[: self.spec.batch]
        assert self.conditions, "the kit needs at least one condition"
        self.n, self.joints = len(self.conditions), len(self.spec.joint_names)

    def start(self) -> Observation:
        self.target.reset(self.conditions)
        return self.target.observe(images=False)

    def wave(self, start: Observation, step: int) -> Action:
        """A small motion of all joints around where they started."""
        phase = np.arange(self.joints)[None] + np.arange(len(start.joint_pos))[:, None] + step
        tool = self.spec.joint_names[0].startswith("tool_")
        middle = start.joint_pos if tool else np.clip(start.joint_pos, -80, 80)
        return (middle + 3 * np.sin(phase)).astype(np.float32)

    def check_spec(self) -> None:
        spec = self.spec
        assert spec.kind in KINDS, f"kind {spec.kind!r} is none of {KINDS}"
        assert spec.name, "a target has a name"
        assert spec.label, "a target has a label, printed beside every number taken on it"
        if spec.kind == "twin":
            assert "stand-in (simulated)" in spec.label, f"a twin's label is {spec.label!r}"
        assert spec.batch >= 1, f"batch {spec.batch} is less than 1"
        assert spec.rate_hz > 0, f"rate {spec.rate_hz} Hz is not positive"
        assert self.joints > 0, "a target has joints"
        assert len(set(spec.joint_names)) == self.joints, "a joint is named twice"

    def check_observation(self, seen: Observation, images: bool, n: int) -> None:
        shape = (n, self.joints)
        assert seen.joint_pos.shape == shape, f"joint_pos is {seen.joint_pos.shape}, not {shape}"
        assert seen.joint_pos.dtype == np.float32, f"joint_pos is {seen.joint_pos.dtype}"
        assert np.isfinite(seen.joint_pos).all(), "joint_pos is not finite"
        self.check_wrench(seen.wrench, n)
        if not images:
            assert not seen.images, "images came although none were asked for"
            return
        assert set(seen.images) == set(self.spec.cameras), "images and spec name other cameras"
        for name, (height, width) in self.spec.cameras.items():
            picture = seen.images[name]
            assert picture.shape == (n, height, width, 3), f"{name} gave {picture.shape}"
            assert picture.dtype == np.uint8, f"{name} gave {picture.dtype}"

    def check_wrench(self, wrench: np.ndarray | None, n: int) -> None:
        """A window of samples where the spec says so, and nothing where it does not."""
        if not self.spec.wrench:
            assert wrench is None, "a force/torque window came although the spec has none"
            return
        assert wrench is not None, "the spec has a force/torque sensor, the observation no window"
        shape = (n, WRENCH_SAMPLES, len(WRENCH_NAMES))
        assert wrench.shape == shape, f"wrench is {wrench.shape}, not {shape}"
        assert wrench.dtype == np.float32, f"wrench is {wrench.dtype}"
        assert np.isfinite(wrench).all(), "wrench is not finite"

    def check_free_space(self) -> None:
        """A force/torque sensor that was tared feels little while nothing is touched."""
        start = self.start()
        for _ in range(STEPS):
            self.target.act(start.joint_pos)
        window = self.target.observe(images=False).wrench
        assert window is not None
        for name, limit, part in (("N", FREE_N, window[..., :3]), ("Nm", FREE_NM, window[..., 3:])):
            felt = float(np.abs(part).max())
            assert felt < limit, f"{felt:.3g} {name} are felt where nothing is touched"

    def check_observations(self) -> None:
        """Shapes and dtypes with and without images; time in lockstep from 0."""
        start = self.start()
        for step in range(3):
            for images in (False, True):
                seen = self.target.observe(images)
                self.check_observation(seen, images, self.n)
                wanted = step / self.spec.rate_hz
                assert abs(seen.time_s - wanted) < 1e-6, f"time is {seen.time_s} s, not {wanted} s"
            self.target.act(self.wave(start, step))

    def check_looking_changes_nothing(self) -> None:
        """Observing twice, or not at all, gives the same joints; results are copies."""
        ends = []
        for looks in (0, 2):
            start = self.start()
            for step in range(STEPS):
                for _ in range(looks):
                    seen = self.target.observe(images=True)
                    np.copyto(seen.joint_pos, np.float32(0))
                    if seen.wrench is not None:
                        np.copyto(seen.wrench, np.float32(0))
                action = self.wave(start, step)
                self.target.act(action)
                if looks:
                    action[:] = 0
            last = self.target.observe(images=False)
            felt = np.zeros(0, dtype=np.float32) if last.wrench is None else last.wrench.ravel()
            ends.append(np.concatenate([last.joint_pos.ravel(), felt]))
        assert np.array_equal(*ends), (
            "observing, or changing what was given or taken, changes the episode"
        )

    def check_units(self) -> None:
        """Degrees or millimetres: channel 0 goes where it is told, about."""
        start = self.start()
        goal = start.joint_pos.copy()
        goal[:, 0] += np.where(start.joint_pos[:, 0] > 0, -MOVE, MOVE)
        for _ in range(round(MOVE_S * self.spec.rate_hz)):
            self.target.act(goal)
        moved = np.abs(self.target.observe(images=False).joint_pos - start.joint_pos)[:, 0]
        assert (np.abs(moved - MOVE) < MOVE / 2).all(), (
            f"told to move {MOVE}, joint 0 moved {moved}"
        )

    def check_refusals(self) -> None:
        """Wrong shapes, and values that are not finite, move nothing."""
        start = self.start()
        good = start.joint_pos
        wrong = [good[:, :-1], good[0], np.concatenate([good, good])]
        for action in wrong:
            self.expect_value_error(lambda action=action: self.target.act(action), action.shape)
        for value in (np.nan, np.inf):
            bad = good.copy()
            bad[-1, -1] = value
            if self.refusal == "raises":
                self.expect_value_error(lambda bad=bad: self.target.act(bad), value)
            else:
                self.target.act(bad)
        after = self.target.observe(images=False)
        if self.refusal == "raises":
            assert after.time_s == start.time_s, "a refused action let time pass"
        gap = float(np.abs(after.joint_pos - start.joint_pos).max())
        limit = 0.0 if self.refusal == "raises" and self.spec.kind != "robot" else MOVE / 2
        assert gap <= limit, f"refused actions moved a joint by {gap}"

    def expect_value_error(self, call: Callable[[], None], what: object) -> None:
        try:
            call()
        except ValueError:
            return
        raise AssertionError(f"no ValueError for {what}")

    def check_batch_limits(self) -> None:
        """No condition at all, or one more than the batch takes, is refused."""
        self.expect_value_error(lambda: self.target.reset([]), "an empty batch")
        many = [self.conditions[0]] * (self.spec.batch + 1)
        self.expect_value_error(lambda: self.target.reset(many), f"{len(many)} conditions")
        self.target.reset(self.conditions[:1])
        self.check_observation(self.target.observe(images=True), True, 1)

    def check_outcomes(self) -> None:
        """Fields, their ranges, and that success and done stay once they are there."""
        start = self.start()
        before = self.checked(self.target.outcome())
        assert not before.steps.any(), "steps are counted before the first action"
        for step in range(STEPS):
            self.target.act(self.wave(start, step))
            now = self.checked(self.target.outcome())
            assert (now.success >= before.success).all(), "a success was taken back"
            assert (now.done >= before.done).all(), "an episode that was done is not any more"
            assert (now.score >= before.score - 1e-6).all(), "a score (furthest stage) fell"
            assert (now.steps <= step + 1).all(), "more steps are counted than were made"
            before = now

    def checked(self, outcome: Outcome) -> Outcome:
        dtypes = {"success": "b", "done": "b", "score": "f", "steps": "i", "collisions": "i"}
        for name, kind in {**dtypes, "peak_force_n": "f"}.items():
            value = getattr(outcome, name)
            assert value.shape == (self.n,), f"outcome.{name} is {value.shape}, not ({self.n},)"
            assert value.dtype.kind == kind, f"outcome.{name} is {value.dtype}"
        assert len(outcome.failure) == self.n, "outcome.failure has the wrong length"
        assert (outcome.done >= outcome.success).all(), "a success is not done"
        assert ((outcome.score >= 0) & (outcome.score <= 1)).all(), "a score is outside 0 to 1"
        for success, done, kind in zip(outcome.success, outcome.done, outcome.failure, strict=True):
            assert not (success and kind is not None), f"a success has the failure kind {kind!r}"
            assert not (done and not success and kind is None), "a failure has no kind"
        assert (outcome.steps >= 0).all(), "steps are negative"
        assert (outcome.collisions >= 0).all(), "collisions are negative"
        return outcome

    def episode(self, target: Target, conditions: Sequence[Condition]) -> list[Observation]:
        """STEPS observations with images from a reset on; copies."""
        target.reset(conditions)
        seen = []
        for step in range(STEPS):
            now = target.observe(images=True)
            images = {name: picture.copy() for name, picture in now.images.items()}
            felt = None if now.wrench is None else now.wrench.copy()
            seen.append(Observation(now.joint_pos.copy(), images, now.time_s, felt))
            target.act(self.wave(seen[0], step))
        return seen

    def check_repeats(self) -> None:
        """Equal conditions, equal episodes: after a reset, and in a target made anew."""
        first = self.episode(self.target, self.conditions)
        again = self.episode(self.target, self.conditions)
        fresh = self.make_target()
        try:
            elsewhere = self.episode(fresh, self.conditions)
        finally:
            fresh.close()
        for other, where in ((again, "after a reset"), (elsewhere, "in a fresh target")):
            for a, b in zip(first, other, strict=True):
                self.same(a, b, slice(None), f"equal conditions give another episode {where}")

    def check_worlds_are_independent(self) -> None:
        """A condition gives the same episode alone as it does first in a batch."""
        together = self.episode(self.target, self.conditions)
        alone = self.episode(self.target, self.conditions[:1])
        for a, b in zip(together, alone, strict=True):
            self.same(a, b, slice(0, 1), "a world's episode depends on the others in its batch")

    def same(self, a: Observation, b: Observation, rows: slice, complaint: str) -> None:
        assert np.array_equal(a.joint_pos[rows], b.joint_pos), f"{complaint}: joint_pos"
        if a.wrench is not None and b.wrench is not None:
            assert np.array_equal(a.wrench[rows], b.wrench), f"{complaint}: wrench"
        for name in self.spec.cameras:
            assert np.array_equal(a.images[name][rows], b.images[name]), f"{complaint}: {name}"

    def check_close(self) -> None:
        """Closing twice is allowed, and the spec was constant all the time."""
        assert self.target.spec == self.spec, "the spec changed"
        self.target.close()
        self.target.close()
