"""Each made-up study folder is written once, with its page; tests that change one copy it first."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report import synthetic
from tests.report.inserted import inserted

from simreal.report.page import build_page


def _built(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    folder = tmp_path_factory.mktemp("studies") / name
    folder.mkdir()
    getattr(synthetic, name)(folder)
    build_page(folder)
    return folder


@pytest.fixture(scope="session")
def demo_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory, "demo")


@pytest.fixture(scope="session")
def edge_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory, "edges")


@pytest.fixture(scope="session")
def bare_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory, "bare")


@pytest.fixture(scope="session")
def full_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory, "full")


@pytest.fixture(scope="session")
def felt_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies") / "felt"
    inserted(folder)
    return folder


@pytest.fixture(scope="session")
def studies(
    full_study: Path, demo_study: Path, edge_study: Path, bare_study: Path, felt_study: Path
) -> dict[str, Path]:
    found = {"full": full_study, "demo": demo_study, "edges": edge_study, "bare": bare_study}
    return {**found, "felt": felt_study}
