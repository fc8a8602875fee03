import sys

import pytest

from rankstudio.ui.plots import CurvesPlot
from rankstudio.ui.plots.curves import curves_plot
from rankstudio.ui.process.turns import turns


def test_a_layer_that_fails_is_reported_once_and_ends_nothing(monkeypatch, stage, theme):
    told = []

    def fail(plot, painter, frame, colors):
        raise ValueError("no drawing today")

    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: told.append(str(error)))
    monkeypatch.setattr(curves_plot, "draw_curves", fail)
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


def test_a_painting_lays_its_frame_out_once(monkeypatch, stage, theme):
    plot = stage(CurvesPlot(theme, "validation MAP"))
    plot.set_family((0, 1), ("one", "two"), (1, 3))
    plot.set_curve(0, (1, 2, 3), (0.1, 0.2, 0.3))
    plot.flush()
    asked = []
    lay_out = plot.frame_for
    monkeypatch.setattr(plot, "frame_for", lambda size: asked.append(size) or lay_out(size))
    plot.viewport().repaint()
    assert len(asked) == 1
    plot.frame()
    assert len(asked) == 2  # what is asked for between two paintings is of that moment


def test_plots_that_are_due_together_are_redrawn_in_turns_of_their_own(stage, theme):
    plots = [stage(CurvesPlot(theme, "validation MAP")) for _ in range(2)]
    for plot in plots:
        plot.flush()
        plot.set_family((0,), ("one",))
        plot.set_curve(0, (1, 2, 3), (0.1, 0.2, 0.3))
        plot._timer.timeout.emit()
    assert all(plot.accessibleDescription() == "" for plot in plots)
    turns()._turn()
    assert [bool(plot.accessibleDescription()) for plot in plots] == [True, False]
    plots[1].flush()  # whoever cannot wait draws at once, and it is not drawn again
    assert not turns().waiting
