"""The file of a target profile (TOML), read with errors that name what was wrong, and written."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.robots.effects import CameraParameters
from simreal.robots.servo import JOINTS, ServoParameters
from simreal.study.profile import (
    AXES,
    CLUTTER_SHAPES,
    EXTRAS,
    FACTORS,
    NOMINAL_SERVO,
    TEXTURES,
    Setting,
    TargetProfile,
)
from simreal.study.typed import make
from simreal.worlds.so101_rig import SO101
from simreal.worlds.textures import from_folder
from simreal.worlds.variation import OPERATIONS


@dataclass(frozen=True)
class _Head:
    """The table [profile]."""

    name: str
    source: str = "by hand"
    task: str | None = None
    seed: int = 0


@dataclass
class _Parts:
    """What the tables of the factors add up to."""

    axes: list[Setting] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)


def read_profile(path: Path) -> TargetProfile:
    """Read a target profile.

    Raises:
        UsageError: for a missing or broken file, an unknown name, a name in another factor's
            table, and values that nothing can have.
    """
    if not path.is_file():
        raise UsageError(
            f"No target profile {path}; write one by hand (docs/explain.md), or for a twin of "
            "yours: `simreal twin profile TWIN.toml --out profile.toml`."
        )
    try:
        content = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"Target profile {path} is not valid TOML: {error}.") from error
    try:
        return profile_from(content, path.stem)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def profile_from(content: Mapping[str, Any], name: str) -> TargetProfile:
    """A profile from the tables of its file. name: what it is called if the file does not say.

    Raises:
        UsageError: as `read_profile`.
    """
    for table in content:
        if table not in ("profile", *FACTORS):
            raise unknown("table of a target profile", table, ("profile", *FACTORS))
    head: _Head = make(_Head, {"name": name, **_table(content, "profile")}, "[profile]")
    parts = _Parts()
    for factor in FACTORS:
        for key, value in _table(content, factor).items():
            _read(parts, factor, key, value)
    found = TargetProfile(**asdict(head), axes=tuple(parts.axes), **parts.extras)
    _check(found)
    return found


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"[{name}] must be a table, not {table!r}.")
    return table


def _read(parts: _Parts, factor: str, key: str, value: Any) -> None:
    """One entry of a factor's table."""
    belongs = {**AXES, **EXTRAS}
    if key not in belongs:
        allowed = [name for name, f in belongs.items() if f == factor]
        raise unknown(f"entry of [{factor}]", key, allowed)
    if belongs[key] != factor:
        raise UsageError(f"{key} belongs into [{belongs[key]}], not into [{factor}].")
    if key in AXES:
        parts.axes.append(_setting(key, value))
    elif key in ("scene_camera", "wrist_camera"):
        parts.extras[key] = _camera(key, value)
    elif key == "servo":
        parts.extras[key] = _servo(value)
    else:
        parts.extras[key] = value


def _setting(axis: str, value: Any) -> Setting:
    """`{ add = [0.01, 0, 0] }`; one number stands for all of an axis' numbers."""
    example = f"{axis} = {{ set = 1.0 }}"
    if not isinstance(value, Mapping) or len(value) != 1:
        raise UsageError(f"{axis} = {value!r}; give one operation, such as `{example}`.")
    ((operation, given),) = value.items()
    if operation not in OPERATIONS:
        raise unknown(f"operation of {axis}", str(operation), OPERATIONS)
    size = SO101.terms[axis].size
    numbers = list(given) if isinstance(given, list) else [given] * size
    if len(numbers) != size or not all(_finite(x) for x in numbers):
        unit = SO101.terms[axis].unit
        raise UsageError(f"{axis}: {operation} = {given!r}; give {size} finite numbers ({unit}).")
    return Setting(axis, str(operation), tuple(float(x) for x in numbers))


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _camera(name: str, table: Any) -> CameraParameters:
    found: CameraParameters = make(CameraParameters, table, f"[visual.{name}]")
    if len(found.white_balance) != 3:
        raise UsageError(f"[visual.{name}]: white_balance needs 3 gains (R, G, B).")
    numbers = {k: v for k, v in asdict(found).items() if k not in ("k1", "k2", "white_balance")}
    low = [k for k, v in numbers.items() if v is not None and v < 0]
    if low or min(found.white_balance) < 0 or found.exposure_lag_s == 0:
        what = ", ".join(low) or "white_balance and exposure_lag_s"
        raise UsageError(f"[visual.{name}]: {what} must not be below zero, exposure_lag_s above.")
    return found


def _servo(table: Any) -> ServoParameters:
    """What the table does not name is the simulation's own; one number stands for all joints."""
    if not isinstance(table, Mapping):
        raise UsageError(f"[actuation.servo] must be a table, not {table!r}.")
    nominal = asdict(NOMINAL_SERVO)
    spread = {
        k: [v] * JOINTS if isinstance(nominal.get(k), tuple) and _finite(v) else v
        for k, v in table.items()
    }
    found: ServoParameters = make(ServoParameters, {**nominal, **spread}, "[actuation.servo]")
    return found


def _check(found: TargetProfile) -> None:
    """What no single entry shows."""
    if type(found.encoder_counts) is not bool:
        raise UsageError(f"encoder_counts = {found.encoder_counts!r}; give true or false.")
    if found.clutter_shapes not in CLUTTER_SHAPES:
        raise unknown("clutter_shapes", str(found.clutter_shapes), CLUTTER_SHAPES)
    if not isinstance(found.textures, str):
        raise UsageError(f"textures = {found.textures!r}; give train, twin or a folder.")
    if found.textures not in TEXTURES:
        from_folder(Path(found.textures))
    if found.seed < 0:
        raise UsageError(f"seed = {found.seed}; give a whole number, 0 or more.")
    replaced = {"action_latency": "latency_s", "joint_friction": "friction_nm"}
    for setting in found.axes:
        if found.servo is not None and setting.axis in replaced:
            raise UsageError(
                f"[actuation.servo] replaces {setting.axis}; give {replaced[setting.axis]} there."
            )


def profile_text(profile: TargetProfile) -> str:
    """The file (TOML) that `read_profile` turns back into an equal profile."""
    lines = ["# How a target differs from the nominal simulation; see docs/explain.md."]
    head = {k: getattr(profile, k) for k in ("name", "source", "task", "seed")}
    lines += ["[profile]", *_entries({k: v for k, v in head.items() if v is not None})]
    for factor in FACTORS:
        part = profile.only([factor])
        entries, tables = _said(part)
        if part.axes or entries or tables:
            settings = [f"{s.axis} = {{ {s.operation} = {_toml(s.values)} }}" for s in part.axes]
            lines += ["", f"[{factor}]", *_entries(entries), *settings]
        for name, table in tables.items():
            lines += ["", f"[{factor}.{name}]", *_entries(table)]
    return "\n".join(lines) + "\n"


def _said(part: TargetProfile) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Extras that differ from nominal: plain entries, and tables without their None."""
    entries, tables = {}, {}
    defaults = {f.name: f.default for f in fields(part)}
    for name in EXTRAS:
        value = getattr(part, name)
        if isinstance(value, CameraParameters | ServoParameters):
            tables[name] = {k: v for k, v in asdict(value).items() if v is not None}
        elif value != defaults[name]:
            entries[name] = value
    return entries, tables


def _entries(values: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in values.items()]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)
