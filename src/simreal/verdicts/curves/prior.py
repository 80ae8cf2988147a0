"""What is believed about learning surfaces before any data.

Every parameter is a monotone function of one standard normal number, so that the prior is a
standard normal of 8 dimensions for each model and simulation moves through "no effect" smoothly.

The medians and spreads are set by hand so that the prior's 95 % bands cover the published studies
of co-training on real robots: planar pushing (Wei et al. 2025: .10 to .90 over 10 to 50 real and 0
or 2,000 simulated demonstrations), cup pick-and-place (Maddukuri et al. 2025: .08 to .95 over 1 to
50 and 0 to 1,000), an FR3 pick (RCS: .16 to .41 over 0 or 10 and 0 or 100) and RLinf-Co (.27 and
.46 at 50 and 0 or 1,499). Retraining noise covers the published spread between training runs, 0.8
to 11.4 points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from simreal.verdicts.curves.models import EXCHANGE, MULTIPLICATIVE, Floats, Surfaces

#: Parameters of a surface and its retraining noise.
DIMENSIONS = 8
#: Simulated demonstrations at which the transfer of models A and C is described.
REFERENCE = 500.0


#: Concentration at which runs differ by 0.02 points at most. Beyond, the likelihood's
#: gamma functions cancel to noise, and noise draws the fit there.
MOST_SPREAD = 1e7


@dataclass(frozen=True)
class Prior:
    """Medians and spreads; (median, sigma) is a log-normal with that median.

    floor: a and b of c's Kumaraswamy law. start: b of a Beta(1, b) for the success rate without
    data. scale, exponent, steepness: tau, gamma and kappa. hurts: probability that simulation
    hurts. worth: R_max (A) and alpha 500^beta (C) in units of tau, of a simulation that helps;
    harm: the same of one that hurts. uplift: a and b of m's Kumaraswamy law (B); loss: largest -m.
    half: h. beta: range of beta, uniform. spread: beta-binomial concentration s, one training's
    rate is Beta(p s, (1 - p) s).
    """

    floor: tuple[float, float] = (0.6, 3.0)
    start: float = 8.0
    scale: tuple[float, float] = (25.0, 1.2)
    exponent: tuple[float, float] = (0.85, 0.55)
    steepness: tuple[float, float] = (1.1, 0.5)
    hurts: float = 0.1
    worth: tuple[float, float] = (2.0, 1.8)
    harm: tuple[float, float] = (1.0, 1.2)
    uplift: tuple[float, float] = (1.2, 1.2)
    loss: float = 1.5
    half: tuple[float, float] = (250.0, 1.3)
    beta: tuple[float, float] = (0.2, 1.0)
    spread: tuple[float, float] = (60.0, 1.3)

    def surfaces(self, model: int, z: Floats) -> tuple[Surfaces, Floats]:
        """Surfaces of one model and their spreads, (N,), from standard normal numbers (N, 8)."""
        floor = _kumaraswamy(special.ndtr(z[:, 0]), self.floor)
        start = floor + (1 - floor) * (1 - _beta_one(z[:, 1], self.start))
        scale = _log_normal(z[:, 2], self.scale)
        shape = _log_normal(z[:, 5], self.half)
        if model == MULTIPLICATIVE:
            transfer = self._uplift(z[:, 4])
        else:
            transfer = scale * self._worth(z[:, 4])
        if model == EXCHANGE:
            shape = self.beta[0] + (self.beta[1] - self.beta[0]) * special.ndtr(z[:, 5])
            transfer = transfer / REFERENCE**shape
        found = Surfaces(
            np.full(len(z), model),
            floor,
            start,
            scale,
            _log_normal(z[:, 3], self.exponent),
            _log_normal(z[:, 7], self.steepness),
            transfer,
            shape,
        )
        return found, np.minimum(_log_normal(z[:, 6], self.spread), MOST_SPREAD)

    def _halves(self, z: Floats) -> tuple[Floats, Floats, Floats]:
        """Whether a simulation helps, and how far up the law it is on either side of no effect."""
        u = special.ndtr(z)
        helps = u >= self.hurts
        up = np.where(helps, u - self.hurts, 0.0) / (1 - self.hurts)
        down = np.where(helps, 0.0, 1 - u / max(self.hurts, 1e-300))
        return helps, np.clip(up, 1e-12, 1 - 1e-12), np.clip(down, 1e-12, 1 - 1e-12)

    def _worth(self, z: Floats) -> Floats:
        helps, up, down = self._halves(z)
        gain = _log_normal(special.ndtri(up), self.worth)
        return np.where(helps, gain, -_log_normal(special.ndtri(down), self.harm))

    def _uplift(self, z: Floats) -> Floats:
        helps, up, down = self._halves(z)
        return np.where(helps, _kumaraswamy(up, self.uplift), -self.loss * down)


def _log_normal(z: Floats, law: tuple[float, float]) -> Floats:
    return np.asarray(law[0] * np.exp(law[1] * z))


def _kumaraswamy(u: Floats, law: tuple[float, float]) -> Floats:
    """The quantile at u of the law with distribution function 1 - (1 - x^a)^b."""
    a, b = law
    return np.asarray((1 - (1 - u) ** (1 / b)) ** (1 / a))


def _beta_one(z: Floats, b: float) -> Floats:
    """The quantile of Beta(1, b) at the standard normal number z."""
    return np.asarray(-np.expm1(special.log_ndtr(-z) / b))


#: The prior used unless another is given.
DEFAULT = Prior()
