"""Control loop with images beside robosuite and so101-nexus, in one run (which installs them).

    .venv/bin/python benchmarks/peers.py [--rounds N] [--shadows on] [--only NAME ...]

A step is: every world gets an action for 50 ms (20 Hz) and gives two camera images of 64 x 64
pixels. All contestants use all cores (one process a core) and no multisampling; resets are left
out. Peers run in environments of their own under .bench, made from pinned lists of packages in
benchmarks/peer (9 GB, most of it torch for so101-nexus's Warp backend). OpenGL by Mesa in software:
Debian packages libegl1, libgl1-mesa-dri, libosmesa6. A peer that cannot be installed or started is
named with the reason, and the others go on. All contestants stay in memory: 18 GB on two cores.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from statistics import median
from typing import Any

from contest import Contestant, Score, contest

from simreal.core.files import write_json

RESULTS = Path(__file__).parent / "results" / "peers.json"
SIZE_PX = 64
SHADOWS = ("off", "on")


def opengl(
    name: str, group: str, program: str, library: str, *words: str, pins: str = ""
) -> Contestant:
    """A contestant that draws with MuJoCo's OpenGL renderer through `library`."""
    variables = {"MUJOCO_GL": library, "PYOPENGL_PLATFORM": library}
    return Contestant(name, group, program, words, pins or name.split(",")[0], variables)


NEXUS, SUITE = "nexus_lift.py", "robosuite_lift.py"
#: Each of its worlds holds OpenGL buffers of its own, 0.7 GB; more of them are no faster.
MJBATCH = ("--backend", "mjbatch", "--worlds", "2")
#: Groups: the goals are against the fastest of a group. `SMALL` has shadow maps of 1,024 pixels
#: in place of the shipped ones (robosuite 4,096, so101-nexus 8,192).
OURS, RIVAL, GL, WARP = "simreal", "robosuite", "so101-nexus OpenGL", "so101-nexus Warp"
SMALL = ", shadow map 1024"
CONTESTANTS = [
    Contestant("simreal, randomized", OURS, "simreal_lift.py", ("--profile", "full")),
    Contestant("simreal, nominal", OURS, "simreal_lift.py", ("--profile", "none")),
    opengl("robosuite, EGL", RIVAL, SUITE, "egl"),
    opengl("robosuite, OSMesa", RIVAL, SUITE, "osmesa"),
    opengl("so101-nexus, EGL", GL, NEXUS, "egl"),
    opengl("so101-nexus, OSMesa", GL, NEXUS, "osmesa"),
    opengl("so101-nexus, mjbatch", GL, NEXUS, "osmesa", *MJBATCH, pins="so101-nexus-mjbatch"),
    Contestant(
        "so101-nexus, Warp (shadows on)",
        WARP,
        NEXUS,
        ("--backend", "warp", "--worlds", "50"),
        "so101-nexus-warp",
    ),
]
WITH_SHADOWS_ONLY = [
    opengl(f"robosuite, OSMesa{SMALL}", RIVAL + SMALL, SUITE, "osmesa", "--shadow-map", "1024"),
    opengl(f"so101-nexus, OSMesa{SMALL}", GL + SMALL, NEXUS, "osmesa", "--shadow-map", "1024"),
]
#: How many times a peer's images/s were wanted.
GOALS = {RIVAL: 10, GL: 25}
GROUPS = (RIVAL, GL, WARP, RIVAL + SMALL, GL + SMALL)


def all_contestants(shadows: str) -> list[Contestant]:
    return CONTESTANTS + (WITH_SHADOWS_ONLY if shadows == "on" else [])


def best(scores: dict[str, Score], group: str) -> str | None:
    """Name of the fastest contestant of a group that ran."""
    names = [c.name for c in all_contestants("on") if c.group == group and c.name in scores]
    return max(names, key=lambda name: scores[name].rate, default=None)


def ratios(scores: dict[str, Score]) -> dict[str, dict[str, Any]]:
    """Ours against the fastest of each peer's ways: median, least and most over the rounds."""
    found = {}
    for own in (c.name for c in CONTESTANTS if c.group == OURS and c.name in scores):
        for group in GROUPS:
            if (other := best(scores, group)) is None:
                continue
            rounds = zip(scores[own].rates, scores[other].rates, strict=True)
            times = [mine / theirs for mine, theirs in rounds]
            found[f"{own} / {group}"] = {
                "against": other,
                "times": round(median(times), 1),
                "least": round(min(times), 1),
                "most": round(max(times), 1),
                "by_cpu_time": round(scores[own].per_cpu_s / scores[other].per_cpu_s, 1),
                "goal": GOALS.get(group),
            }
    return found


def plain(score: Score) -> dict[str, Any]:
    return {
        "images_per_s": round(score.rate, 1),
        "rounds": [round(rate, 1) for rate in score.rates],
        "images_per_cpu_s": round(score.per_cpu_s, 1),
        **score.facts,
    }


def show(shadows: str, result: dict[str, Any]) -> None:
    heads = ("images/s", "rounds", "a CPU second", "worlds", "physics", "triangles", "lights")
    print(f"\n{f'shadows {shadows}':38}" + "".join(f"{head:>14}" for head in heads))
    for name, row in result["contestants"].items():
        span = f"{min(row['rounds']):.0f}-{max(row['rounds']):.0f}"
        cells = [f"{row['images_per_s']:.1f}", span, f"{row['images_per_cpu_s']:.1f}"]
        cells += [row[key] for key in ("worlds", "physics_steps", "triangles")]
        cells.append(f"{row['shadow_lights']:.2g}")
        print(f"{name:38}" + "".join(f"{cell:>14}" for cell in cells))
    for name, reason in result["not_run"].items():
        print(f"{name:38} not run: {reason}")
    for name, ratio in result["ratios"].items():
        goal = f", goal {ratio['goal']}" if ratio["goal"] else ""
        print(
            f"{name:58} {ratio['times']:6.1f} times ({ratio['least']}-{ratio['most']} over rounds, "
            f"{ratio['by_cpu_time']} by CPU time{goal}; against {ratio['against']})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0, help="a round and contestant")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shadows", nargs="+", choices=SHADOWS, default=SHADOWS)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[""], help="parts of names")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON file to write")
    options = parser.parse_args()
    chosen = [c for c in all_contestants("on") if any(x in c.name for x in options.only)]
    if not chosen:
        names = "; ".join(c.name for c in all_contestants("on"))
        parser.error(f"--only {' '.join(options.only)} names no contestant; there are: {names}.")
    content: dict[str, Any] = {
        "size_px": SIZE_PX,
        "cameras": 2,
        "rate_hz": 20,
        "multisampling": 0,
        "processes": options.processes,
        "rounds": options.rounds,
        "seconds": options.seconds,
    }
    for shadows in options.shadows:
        words = ["--size", str(SIZE_PX), *(["--shadows"] if shadows == "on" else [])]
        present = [c for c in chosen if c in all_contestants(shadows)]
        scores, reasons = contest(
            present, words, options.processes, options.rounds, options.seconds
        )
        content[f"shadows {shadows}"] = {
            "contestants": {name: plain(score) for name, score in scores.items()},
            "not_run": reasons,
            "ratios": ratios(scores),
        }
        show(shadows, content[f"shadows {shadows}"])
        write_json(options.out, content)
    print("\nimages/s: of all processes, median over rounds; worlds: a process; physics: physics")
    print("steps in a control step; triangles: of visible meshes; lights: those that cast shadows")


if __name__ == "__main__":
    main()
