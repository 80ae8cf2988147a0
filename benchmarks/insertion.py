"""Contact of a peg with its hole: what settings hold, and how fast.

    .venv/bin/python benchmarks/insertion.py contact [--insertions N]
    .venv/bin/python benchmarks/insertion.py halving [--insertions N]
    .venv/bin/python benchmarks/insertion.py speed [--worlds N]

`contact` varies geometry, time step, solver and contact parameters one at a time around the chosen
ones; `halving` plays the same scripted insertions at the chosen time step and at half of it. The
tables stand in docs/insertion.md; `insertion_regimes.py` holds contact against Whitney's model.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.worlds.insertion import CONTROL_S, World, push_aside

from simreal.core.seeds import generator
from simreal.verdicts.rates import wilson
from simreal.worlds.mouth import Contact
from simreal.worlds.names import OBJECT
from simreal.worlds.peghole import PegHole

CLEARANCES = (0.0005, 0.0002, 0.0001, 0.00005)
NATIVE = int(mujoco.mjtDisableBit.mjDSBL_NATIVECCD)
SINGLE = int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)

Change = Callable[[mujoco.MjModel], None]


@dataclass(frozen=True)
class Variant:
    """One row: contact parameters, and what is changed in the compiled model."""

    label: str
    contact: Contact = field(default_factory=Contact)
    change: Change = lambda model: None
    shape: str = "round"

    def peg(self, clearance: float, friction: float = 0.2) -> PegHole:
        contact = replace(self.contact, friction=friction, resolves_m=1e-5)
        return PegHole(shape=self.shape, clearance_m=clearance, contact=contact)

    def world(self, clearance: float, friction: float = 0.2, joint_friction: bool = True) -> World:
        world = World(self.peg(clearance, friction), joint_friction=joint_friction)
        self.change(world.model)
        return world


def option(**values) -> Change:
    """A change of the compiled model's options."""

    def change(model: mujoco.MjModel) -> None:
        for name, value in values.items():
            setattr(model.opt, name, value)

    return change


def variants() -> list[Variant]:
    """The rows of the table: the chosen settings, and one thing changed at a time."""
    base = Contact()
    stock = replace(base, stiffness_s=0.02, impedance=(0.9, 0.95), width_m=0.001, power=2.0)
    slow = {"timestep_s": 0.002, "stiffness_s": 0.006}
    return [
        Variant("chosen"),
        Variant("square hole", shape="square"),
        *(Variant(f"{n} planes", replace(base, planes=n)) for n in (8, 12, 32)),
        Variant("time step 2 ms", replace(base, **slow)),
        Variant("time step 0.5 ms", replace(base, timestep_s=0.0005)),
        Variant("MuJoCo's defaults", stock),
        Variant("stiff at once", replace(base, impedance=(0.998, 0.998))),
        Variant("soft (d 0.95)", replace(base, impedance=(0.95, 0.95))),
        Variant("width 2 um", replace(base, width_m=2e-6)),
        Variant("width 10 um", replace(base, width_m=10e-6)),
        Variant("solref 2 steps", replace(base, stiffness_s=0.002)),
        Variant("pyramidal cone", change=option(cone=int(mujoco.mjtCone.mjCONE_PYRAMIDAL))),
        Variant("impratio 1", change=option(impratio=1.0)),
        Variant("impratio 100", change=option(impratio=100.0)),
        Variant("native collider", change=option(disableflags=0, ccd_tolerance=1e-6)),
        Variant("one point a pair", change=option(disableflags=NATIVE | SINGLE)),
        Variant("implicit", change=option(integrator=int(mujoco.mjtIntegrator.mjINT_IMPLICIT))),
    ]


def pressed(variant: Variant, clearance: float) -> float:
    """Deepest overlap (m) of peg and ideal hole, pushed sideways at the tip with 20 N."""
    directions = (0.0, 11.25, 37.0) if variant.shape == "round" else (0.0, 90.0)
    world = variant.world(clearance)
    return max(push_aside(world, direction) for direction in directions)


def ripple(variant: Variant) -> float:
    """RMS (N) of contact force about its 30 ms mean: sinking slowly with two points, and sliding
    on the plate towards the hole.
    """
    return max(_sinking(variant), _sliding(variant))


def _about_mean(forces: list[np.ndarray], step_s: float) -> float:
    values, width = np.array(forces), round(0.03 / step_s)
    mean = np.stack(
        [np.convolve(column, np.ones(width) / width, "same") for column in values.T], axis=1
    )
    return float(np.sqrt(((values - mean)[width:-width] ** 2).mean(0)).max())


def _sinking(variant: Variant) -> float:
    world, forces = variant.world(0.0002, joint_friction=False), []
    world.start([0, 0, -0.001, 0, 0, 0])
    for share in np.linspace(0, 1, 20):
        world.command([0.001 * share, 0, -0.001, 0, 0.03 * share, 0])
    for k in range(70):
        world.data.ctrl[:] = world.in_base([0.001, 0, -0.001 - 0.00025 * k, 0, 0.03, 0])
        for _ in range(world.substeps):
            mujoco.mj_step(world.model, world.data)
            forces.append(world.contact_n())
    return _about_mean(forces, world.model.opt.timestep)


def _sliding(variant: Variant) -> float:
    world, forces = variant.world(0.0002, 0.3), []
    world.start([0.020, 0, 0.001, 0, 0, 0])
    world.command([0.020, 0, -0.004, 0, 0, 0], 20)
    for k in range(60):
        world.data.ctrl[:] = world.in_base([0.020 - 0.0002 * k, 0, -0.004, 0, 0, 0])
        for _ in range(world.substeps):
            mujoco.mj_step(world.model, world.data)
            forces.append(world.contact_n())
    return _about_mean(forces[20 * world.substeps :], world.model.opt.timestep)


@dataclass(frozen=True)
class Played:
    """One scripted insertion. overlap: at the end, m; tilt_room: tilt at the end times depth, m;
    warnings: how many MuJoCo raised.
    """

    seated: bool
    overlap: float
    tilt_room: float
    warnings: int


def scripted(world: World, seed: int, index: int, steps: int = 160) -> Played:
    """Aim with an error of up to 0.8 mm, press with 2.5 N, search a spiral, then push on."""
    rng = generator(seed, "scripted insertion", index)
    tilt = np.deg2rad(rng.uniform(-1.5, 1.5, 2))
    offset = np.array([rng.uniform(-0.003, 0.003), 0.0, rng.uniform(-0.003, 0.003)])
    aim, start = rng.uniform(-0.0008, 0.0008, 2), rng.uniform(-0.003, 0.003, 2)
    world.start([*start, 0.004, 0, 0, 0], (offset, tuple(tilt)))
    held = world.tip() - world.tool()[:3]
    found = None
    for k in range(steps):
        if found is None and world.tip()[2] < -0.001:
            found, at = k, world.tool()[:2]
        if found is None:
            seconds, pitch, speed = max(0, k - 10) * CONTROL_S, 0.0003, 0.006
            angle = np.sqrt(4 * np.pi * speed * seconds / pitch)
            radius = pitch * angle / (2 * np.pi)
            xy = aim - held[:2] + radius * np.array([np.cos(angle), np.sin(angle)])
            z = -held[2] + max(-0.0025, 0.004 - 0.0008 * k)
        else:
            xy, z = at, -held[2] + max(-0.0215, -0.005 - 0.0006 * (k - found))
        world.command([*xy, z, *(-0.8 * tilt), 0])
    hole, peg = (world.data.body(n).xmat.reshape(3, 3) for n in ("hole", OBJECT))
    leans = np.abs((hole.T @ peg[:, 2])[:2])
    lean = (leans.max() if world.peg.shape == "square" else np.hypot(*leans)) * -world.tip()[2]
    seated = bool(-world.tip()[2] > world.peg.depth_m - 0.001)
    return Played(seated, world.overlap_m(), float(lean), world.warnings())


def play(variant: Variant, clearance: float, count: int) -> tuple[list[Played], float]:
    """Scripted insertions and the CPU seconds of one control step."""
    world, begin = variant.world(clearance), time.process_time()
    played = [scripted(world, 0, i) for i in range(count)]
    return played, (time.process_time() - begin) / (count * 160)


def contact(count: int) -> None:
    """The table of variants: what each holds, how it ripples, what it costs."""
    head = " ".join(f"{1e3 * c:>7g}" for c in CLEARANCES)
    print(f"{'':18} overlap at 20 N, % of clearance    ripple  seated  worst end    a control")
    print(f"{'clearance, mm':18} {head}      N      at 0.1 mm   % of it      step, ms")
    for variant in variants():
        shares = [100 * pressed(variant, c) / c for c in CLEARANCES]
        played, cost = play(variant, 0.0001, count)
        ends = [p for p in played if p.seated] or played
        worst = 100 * max(max(p.overlap, p.tilt_room - 0.0001) for p in ends) / 0.0001
        held = " ".join(f"{s:7.1f}" for s in shares)
        seated = sum(p.seated for p in played)
        notes = sum(p.warnings for p in played)
        print(
            f"{variant.label:18} {held}  {ripple(variant):7.3f}  {seated:3}/{count:<3} {worst:9.1f}"
            f"  {1e3 * cost:10.2f}" + (f"  {notes} warnings" if notes else ""),
            flush=True,
        )


def halving(count: int) -> None:
    """The same scripted insertions at the chosen time step and at half of it."""
    print("clearance  time step    seated   95 % interval   same end   overlap um  % of clearance")
    for clearance in CLEARANCES:
        ends = {}
        for step in (0.001, 0.0005):
            variant = Variant("", replace(Contact(), timestep_s=step))
            played, _ = play(variant, clearance, count)
            ends[step] = [p.seated for p in played]
            good = sum(ends[step])
            low, high = wilson(good, count)
            same = np.mean(np.equal(ends[step], ends[0.001]))
            deep = max(p.overlap for p in played if p.seated)
            print(
                f"{1e3 * clearance:6g} mm  {1e3 * step:5g} ms  {good:4}/{count}"
                f"   {100 * low:5.1f}-{100 * high:5.1f} %  {100 * same:6.1f} %"
                f"  {1e6 * deep:10.1f}  {100 * deep / clearance:14.1f}",
                flush=True,
            )


def speed(worlds: int) -> None:
    """Control steps (50 ms) a second of one core, N worlds in turn, without pictures."""
    for shape in ("round", "square"):
        variant = Variant("", shape=shape)
        some = [variant.world(0.0002) for _ in range(worlds)]
        for name, pose in (
            ("in the air", [0, 0, 0.01, 0, 0, 0]),
            ("on the plate", [0.02, 0, -0.003, 0, 0, 0]),
            ("on the mouth's rim", [0.003, 0, -0.003, 0, 0, 0]),
            ("two points, pushing", [0.001, 0, -0.012, 0, 0.03, 0]),
        ):
            inside = pose[2] < -0.005
            for world in some:
                world.start([0 if inside else pose[0], 0, -0.002 if inside else 0.002, 0, 0, 0])
                world.command(pose, 20)
            begin = time.process_time()
            for _ in range(10):
                for world in some:
                    world.command(pose)
            rate = 10 * worlds / (time.process_time() - begin)
            contacts = np.mean([world.data.ncon for world in some])
            print(
                f"{shape:7} {name:20} {rate:7.0f} control steps a second, {contacts:.0f} contacts"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("contact", "halving", "speed"))
    parser.add_argument("--insertions", type=int, default=40)
    parser.add_argument("--worlds", type=int, default=50)
    asked = parser.parse_args()
    if asked.what == "contact":
        contact(asked.insertions)
    elif asked.what == "halving":
        halving(asked.insertions)
    else:
        speed(asked.worlds)


if __name__ == "__main__":
    main()
