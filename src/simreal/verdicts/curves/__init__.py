"""Learning curves: success over real and simulated demonstrations, and what simulation saves."""

from simreal.verdicts.curves.models import MODELS, Surfaces
from simreal.verdicts.curves.monotone import Drop, drops
from simreal.verdicts.curves.posterior import CellCounts, Posterior, fit
from simreal.verdicts.curves.prior import DEFAULT, Prior
from simreal.verdicts.curves.savings import Saving, saving
from simreal.verdicts.curves.view import cells_of, curves_of, posterior_of

__all__ = [
    "DEFAULT",
    "MODELS",
    "CellCounts",
    "Drop",
    "Posterior",
    "Prior",
    "Saving",
    "Surfaces",
    "cells_of",
    "curves_of",
    "drops",
    "fit",
    "posterior_of",
    "saving",
]
