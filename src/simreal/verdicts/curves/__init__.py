"""Learning curves: success over real and simulated demonstrations, and what simulation saves."""

from simreal.verdicts.curves.models import MODELS, Surfaces
from simreal.verdicts.curves.posterior import CellCounts, Posterior, fit
from simreal.verdicts.curves.prior import DEFAULT, Prior

__all__ = ["DEFAULT", "MODELS", "CellCounts", "Posterior", "Prior", "Surfaces", "fit"]
