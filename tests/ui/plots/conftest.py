"""A plot of three curves, and what is picked in it."""

import numpy as np
import pytest

from rankstudio.ui.plots import CurvesPlot

KS = np.arange(1, 47)


@pytest.fixture
def plot(theme, stage):
    made = CurvesPlot(theme, "validation MAP")
    stage(made, 480, 300)
    made.set_family(range(3), ["λ = 2⁰", "λ = 2¹", "λ = 2²"], (1, 46))
    for key in range(3):
        made.set_curve(key, KS, 0.4 + 0.05 * key + 0.0005 * KS)
    made.flush()
    return made


@pytest.fixture
def picks(plot):
    told = []
    plot.picked.connect(lambda key, x: told.append((key, x)))
    return told
