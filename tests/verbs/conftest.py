"""Commands run in this process, as the tests of studies run them."""

from tests.study.conftest import checkpoint, run

__all__ = ["checkpoint", "run"]
