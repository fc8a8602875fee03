"""Penalties on absolute weights: L1, and three concave ones that penalise large weights less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankstudio.engine.arrays import Floats

PenaltyName = Literal["l1", "mcp", "log", "lp"]


@dataclass(frozen=True)
class ConcavePenalty:
    """A penalty of weights w: λ g(|w|), summed over the weights, with g concave, g(0) = 0 and slope 1 at 0.

    With this slope, the least λ for which all weights are 0 is the same
    for every penalty.

    Attributes
    ----------
    name : {"l1", "mcp", "log", "lp"}
        "l1": g(u) = u. "mcp": the minimax concave penalty, g(u) = u -
        u²/(2γλ) up to γλ, and γλ/2 above. "log": g(u) = ε log(1 + u/ε).
        "lp": g(u) = ((u
        + ε)^p - ε^p) / (p ε^(p-1)), the ℓp pseudo-norm with ε added to the
        weights.
    gamma : float
        γ of "mcp", greater than 0.
    epsilon : float
        ε of "log" and "lp", greater than 0.
    exponent : float
        p of "lp", greater than 0, less than 1.
    """

    name: PenaltyName = "l1"
    gamma: float = 3.0
    epsilon: float = 0.1
    exponent: float = 0.5

    def value(self, w: Floats, penalty: float) -> float:
        """Return the penalty of weights (n,), with λ = ``penalty``."""
        # The penalty is even: u is |w|, and g(u), a formula for each
        # name, is summed in the end. "mcp" is level from γλ on.
        u = np.abs(w)
        eps = self.epsilon
        if self.name == "mcp":
            end = self.gamma * penalty
            capped = np.minimum(u, end)
            g = capped - capped**2 / (2.0 * end)
        elif self.name == "log":
            g = eps * np.log1p(u / eps)
        elif self.name == "lp":
            p = self.exponent
            g = eps * ((1.0 + u / eps) ** p - 1.0) / p
        else:
            g = u
        return penalty * float(g.sum())

    def slopes(self, w: Floats, penalty: float) -> Floats:
        """Return the derivative of the penalty in each |w|, shape (n,), with λ = ``penalty``."""
        # λ g'(u) for u = |w|; g'(u) is 1 for "l1".
        u = np.abs(w)
        slopes = np.ones_like(u)
        if self.name == "mcp":
            slopes = np.maximum(1.0 - u / (self.gamma * penalty), 0.0)
        elif self.name == "log":
            slopes = 1.0 / (1.0 + u / self.epsilon)
        elif self.name == "lp":
            slopes = (1.0 + u / self.epsilon) ** (self.exponent - 1.0)
        return penalty * slopes
