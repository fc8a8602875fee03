"""One map has one bar of colours, not its own over the plain map's."""

import numpy as np
import pytest

from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.plots.maps import heat_map
from rankstudio.ui.plots.maps.feature_map import FeatureMapPlot, MapFeature, MapValues

VALUES = MapValues(
    np.eye(2),
    ("one", "two"),
    ("", ""),
    (0.0, 1.0),
    "|r|",
    ((0.0, "0"), (1.0, "1")),
    (("a", "b"), ("c", "d")),
    "features",
)


@pytest.mark.parametrize("kind", [HeatMapPlot, FeatureMapPlot])
def test_a_map_draws_one_bar(theme, stage, monkeypatch, kind):
    drawn = []
    monkeypatch.setattr(heat_map, "draw_color_bar", lambda _painter, bar, _colors: drawn.append(bar))
    plot = kind(theme)
    stage(plot, 400, 240)
    if isinstance(plot, FeatureMapPlot):
        plot.show_map([MapFeature(1, "one", 1), MapFeature(2, "two")], VALUES)
    else:
        plot.set_values(VALUES.values, ["a", "b"], ["1", "2"])
    plot.flush()
    drawn.clear()
    plot.grab()
    titles = [bar.title for bar in drawn]
    assert titles == ["|r|" if isinstance(plot, FeatureMapPlot) else ""]
    assert [share for share, _ in drawn[0].ticks] in ([0.0, 1.0], [0.0, 0.5, 1.0])
    assert drawn[0].at.left() > plot.frame().area.right()
