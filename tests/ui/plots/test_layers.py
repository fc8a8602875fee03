import sys

import pytest

from rankstudio.ui.plots import CurvesPlot
from rankstudio.ui.plots.curves import curve_layers


def test_a_layer_that_fails_is_reported_once_and_ends_nothing(monkeypatch, stage, theme):
    told = []

    def fail(plot, painter, frame, colors):
        raise ValueError("no drawing today")

    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: told.append(str(error)))
    monkeypatch.setattr(curve_layers, "draw_curves", fail)
    plot = stage(CurvesPlot(theme, "validation MAP"))
    for _ in range(3):
        plot.grab()
    assert told == ["no drawing today"]


@pytest.mark.parametrize("kind", ["ordered", "category"])
def test_a_family_without_curves_can_be_drawn(stage, theme, kind):
    plot = stage(CurvesPlot(theme, "validation MAP"))
    plot.set_family((), (), kind=kind)
    plot.flush()
    plot.grab()
