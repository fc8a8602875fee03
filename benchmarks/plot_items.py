"""Our plot of curves, against one made of pyqtgraph's own axes, curves and legend.

    python benchmarks/plot_items.py

Both show a run: curves of 46 steps, an axis of whole numbers from 1 to 46, and names beside the curves. The
figures are what it takes to make a plot, and to show one more step of one curve, drawn at once, without a
display.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph
from PySide6.QtWidgets import QApplication
from record import Record, parser

from rankstudio.ui.app import application
from rankstudio.ui.plots.curves.curves_plot import CurvesPlot
from rankstudio.ui.style.theme import Theme

STEPS = 46
SIZE = (520, 320)

# until the end: neither library is to be measured at taking plots apart
_KEPT: list[object] = []


class OfLibrary:
    """Curves as pyqtgraph draws them."""

    def __init__(self, n_curves: int) -> None:
        self.view = pyqtgraph.PlotWidget()
        item = self.view.getPlotItem()
        item.setLabel("bottom", "k")
        item.setLabel("left", "validation MAP")
        item.showGrid(y=True)
        item.addLegend()
        item.setXRange(1, STEPS)
        colors = [pyqtgraph.intColor(number, n_curves) for number in range(n_curves)]
        self.curves = [
            item.plot([], [], pen=color, name=f"λ = 2^{n}")
            for n, color in enumerate(colors)
        ]

    def show(self, number: int, xs: np.ndarray, ys: np.ndarray) -> None:
        """Show the steps of one curve, and draw."""
        self.curves[number].setData(xs, ys)
        self.view.viewport().repaint()


class Own:
    """Curves as the window draws them."""

    def __init__(self, theme: Theme, n_curves: int) -> None:
        self.view = CurvesPlot(theme, "validation MAP")
        self.view.set_family(
            range(n_curves), [f"λ = 2^{n}" for n in range(n_curves)], (1, STEPS)
        )

    def show(self, number: int, xs: np.ndarray, ys: np.ndarray) -> None:
        """Show the steps of one curve, and draw."""
        self.view.set_curve(number, xs, ys)
        self.view.flush()
        self.view.viewport().repaint()


def measured(
    make: Callable[[], OfLibrary | Own], n_curves: int, app: QApplication
) -> tuple[float, float]:
    """Return the median seconds of making a plot, and of one more step in it."""
    xs = np.arange(1, STEPS + 1, dtype=float)
    ys = 0.4 + 0.1 * np.log(xs)
    making, stepping = [], []
    for _ in range(5):
        begin = time.perf_counter()
        plot = make()
        plot.view.resize(*SIZE)
        plot.view.show()
        app.processEvents()
        making.append(time.perf_counter() - begin)
        for number in range(n_curves):
            plot.show(number, xs[:-1], ys[:-1] + number / 100)
        for number in range(n_curves):
            begin = time.perf_counter()
            plot.show(number, xs, ys + number / 100)
            stepping.append(time.perf_counter() - begin)
        plot.view.hide()
        _KEPT.append(plot)
    return median(making), median(stepping)


def main() -> None:
    """Print both side by side."""
    record = Record(parser(__doc__).parse_args().json)
    app = application()
    theme = Theme("light")
    theme.apply(app)
    print(f"{'curves':>6} {'':>10} {'made, ms':>10} {'one step, ms':>13}")
    for n_curves in (3, 7, 31):
        makers: dict[str, Callable[[], OfLibrary | Own]] = {
            "RankStudio": partial(Own, theme, n_curves),
            "pyqtgraph": partial(OfLibrary, n_curves),
        }
        for name, make in makers.items():
            made, step = measured(make, n_curves, app)
            print(f"{n_curves:>6} {name:>10} {1e3 * made:>10.1f} {1e3 * step:>13.2f}")
            record.add(
                f"{n_curves} curves", name, made_ms=1e3 * made, step_ms=1e3 * step
            )
    record.save()


if __name__ == "__main__":
    main()
