"""From a robot file to LeRobot's own robot object, connected; every failure is one sentence."""

from __future__ import annotations

import dataclasses
import importlib
import logging
import pkgutil
from types import ModuleType
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.robots.robotfile import RobotFile


def connect(file: RobotFile) -> Any:
    """The `lerobot.robots.Robot` of a robot file, connected and calibrated.

    Raises:
        UsageError: for an unknown type (naming the registered ones, and plug-ins that cannot be
            imported), settings LeRobot refuses, a missing driver, a failed connection, or a robot
            that was not calibrated.
    """
    from lerobot.robots import make_robot_from_config

    config = _config(file)
    try:
        robot = make_robot_from_config(config)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{file.path}: {file.name} cannot be made: {_line(error)}") from error
    try:
        robot.connect(calibrate=False)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"{file.path}: {file.name} cannot be reached, check port, power and cameras: "
            f"{_line(error)}"
        ) from error
    if not robot.is_calibrated:
        robot.disconnect()
        raise UsageError(
            f"{file.path}: {file.name} is not calibrated; run lerobot-calibrate "
            f"--robot.type={file.robot['type']} with its id and port first."
        )
    return robot


def keep_torque(config: Any) -> None:
    """Have disconnecting leave the motors on, where LeRobot's robot can."""
    if "disable_torque_on_disconnect" in _names(config):
        config.disable_torque_on_disconnect = False


def _names(config: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(config)}


def _config(file: RobotFile) -> Any:
    """LeRobot's config object; positions in degrees wherever the robot lets one choose."""
    import draccus
    from draccus.utils import DraccusException
    from lerobot.robots import RobotConfig

    broken = register()
    kind = file.robot["type"]
    kinds = RobotConfig.get_known_choices()
    if kind not in kinds:
        error = unknown(f"robot type in {file.path}", kind, kinds)
        excuses = [f"{name} cannot be imported ({why})" for name, why in broken.items()]
        raise UsageError(" ".join([str(error), *(f"{excuse}." for excuse in excuses)]))
    settings = dict(file.robot)
    if "use_degrees" in _names(kinds[kind]):
        settings.setdefault("use_degrees", True)
        if settings["use_degrees"] is not True:
            raise UsageError(f"{file.path}: use_degrees must be true; simreal speaks degrees.")
    try:
        return draccus.decode(RobotConfig, settings)
    except (DraccusException, ValueError) as error:
        why = _line(error.__cause__ or error)
        raise UsageError(f"{file.path}: LeRobot refuses [robot]: {why}") from error


class _Failures(logging.Handler):
    """Collects the plug-ins whose import LeRobot logs as failed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.broken: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the name of the module and its error."""
        if record.exc_info and record.exc_info[1] is not None and isinstance(record.args, tuple):
            self.broken[str(record.args[0])] = _line(record.exc_info[1])


def register() -> dict[str, str]:
    """Have LeRobot know its own robots and cameras and those of installed plug-ins.

    Returns those that cannot be imported, with the reason: module -> error.
    """
    import lerobot.cameras
    import lerobot.robots
    from lerobot.utils.import_utils import register_third_party_plugins

    broken = {**_import_all(lerobot.robots), **_import_all(lerobot.cameras)}
    failures = _Failures()
    logging.root.addHandler(failures)
    try:
        register_third_party_plugins()
    finally:
        logging.root.removeHandler(failures)
    return {**broken, **failures.broken}


def _import_all(package: ModuleType) -> dict[str, str]:
    broken = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.ispkg:
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                broken[module.name] = _line(error)
    return broken


def _line(error: BaseException) -> str:
    """An error as one line."""
    return " ".join(str(error).split()) or type(error).__name__
