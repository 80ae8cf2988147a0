"""The command line: one verb a stage. Errors are one sentence and an exit code, never a traceback.

Exit codes: 0 done; 1 the thing checked is bad; 2 wrong usage; 3 interrupted, resumable.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tyro

from simreal import __version__
from simreal.core.errors import InterruptedRunError, SimrealError
from simreal.verbs import advising, explaining, exploring, judging, making, money, planning, studies

VERBS: Mapping[str, Callable[..., Any]] = {
    "demo": studies.demo,
    "study": studies.study,
    "collect": making.collect,
    "train": making.train,
    "evaluate": making.evaluate,
    "compare": judging.compare,
    "gap": explaining.gap,
    "explore": exploring.explore,
    "validate": judging.validate,
    "cost": money.cost,
    "days": money.days,
    "plan": planning.plan,
    "advise": advising.advise,
    "report": studies.report,
    "schema": judging.schema,
    "doctor": making.doctor,
}

#: Verbs with verbs of their own.
GROUPS: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "randomize": {"show": making.randomize_show},
    "twin": {"new": making.twin_new, "profile": explaining.twin_profile},
    "clock": {
        "start": money.clock_start,
        "stop": money.clock_stop,
        "show": money.clock_show,
        "propose": money.clock_propose,
    },
}


def _randomize() -> None:
    """Look at randomization profiles: randomize show."""


def _twin() -> None:
    """Make stand-ins for a robot: twin new, twin profile."""


def _clock() -> None:
    """Hours of engineering and validation: clock start, stop, show, propose."""


_GROUP_HELP: Mapping[str, Callable[..., Any]] = {
    "randomize": _randomize,
    "twin": _twin,
    "clock": _clock,
}

#: A flag is given or left out; none has a twin that says no.
_FLAGS = (tyro.conf.FlagCreatePairsOff,)


def _parse(arguments: Sequence[str]) -> None:
    description = "How much simulation and how much reality does a robot policy need?"
    if arguments and arguments[0] in GROUPS:
        group = arguments[0]
        tyro.extras.subcommand_cli_from_dict(
            {**GROUPS[group], "help": _GROUP_HELP[group]},
            prog=f"simreal {group}",
            description=_GROUP_HELP[group].__doc__,
            args=list(arguments[1:]),
            config=_FLAGS,
        )
        return
    tyro.extras.subcommand_cli_from_dict(
        {**VERBS, **_GROUP_HELP},
        prog="simreal",
        description=description,
        args=list(arguments),
        config=_FLAGS,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `simreal` with the given or the process's arguments."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        print(f"simreal {__version__}")
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # Names that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _parse(given)
        if sys.stdout is not None:  # It was closed (`>&-`).
            sys.stdout.flush()
    except SimrealError as error:
        print(f"simreal: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except BrokenPipeError:
        # The reader (`| head`) has enough; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # No permission, no space, a folder in place of a file.
        where = f"{error.filename}: " if error.filename else ""
        print(f"simreal: {where}{error.strerror or error}.", file=sys.stderr)
        raise SystemExit(SimrealError.exit_code) from None
    except KeyboardInterrupt:
        print("simreal: interrupted.", file=sys.stderr)
        raise SystemExit(InterruptedRunError.exit_code) from None


if __name__ == "__main__":
    main()
