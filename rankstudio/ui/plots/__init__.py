"""Our plots on pyqtgraph: numbers in, signals out, each as a file or as its numbers."""

from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.bars import Bar, BarsPlot
from rankstudio.ui.plots.base import Plot, plot_writer
from rankstudio.ui.plots.curves.curves_plot import CurvesPlot
from rankstudio.ui.plots.distributions import Density, DensityPlot
from rankstudio.ui.plots.maps.heat_map import HeatMapPlot

__all__ = [
    "Axes",
    "Bar",
    "BarsPlot",
    "CurvesPlot",
    "Density",
    "DensityPlot",
    "HeatMapPlot",
    "Plot",
    "plot_writer",
]
