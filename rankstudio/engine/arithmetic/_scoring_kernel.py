"""Compiled inner loop of :mod:`rankstudio.engine.arithmetic.scoring`."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.jit import kernel


@kernel
def accumulate(columns: Floats, coefs: Floats, out: Floats) -> None:
    """Add ``coefs @ columns`` to ``out``, feature by feature; no fast-math, so that the order is kept."""
    for k in range(coefs.shape[0]):
        for j in range(coefs.shape[1]):
            weight = coefs[k, j]
            if weight != 0.0:
                for i in range(columns.shape[1]):
                    out[k, i] += weight * columns[j, i]
