"""The heat map: the measure of every model that was tried, over two grids, or over settings and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from rankstudio.engine.arrays import Floats
from rankstudio.ui.language import tr
from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.choice_box import choice_box
from rankstudio.ui.widgets.layout import fill, named

SIZES = "sizes"
"""The map of settings and numbers of features, among those that are offered."""

_NO_RUN = tr("Run a method to compare all combinations of its parameters and k.")
_NO_RUN_OF_GRIDS = tr("Run a method to compare all combinations of its parameters.")
_OF = (("validation", tr("validation")), ("left-out", tr("left-out")))
_LETTERS = 4  # of a box that is cut: the form beside the panel has not much room either
_WIDEST = 128  # pixels of a box


class HeatView(QWidget):
    """One row a value of one grid, one column a value of another one, or a k; brighter for a greater measure.

    Attributes
    ----------
    picked : Signal(int, int)
        Row and column of the cell that the user picked.
    viewChanged : Signal()
        The user wants another map, or another measure's.
    """

    picked = Signal(int, int)
    viewChanged = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "heat-view", said="λ × k")
        self._left_out = False
        self._views: tuple[tuple[object, str], ...] = ()
        self._wanted: object = None
        said = tr("rows and columns of the map")
        self.views = named(choice_box(()), "heat-views", said=said, tip=tr("Rows and columns of the map"))
        self.of = named(choice_box(_OF), "heat-of", said=tr("measured on"), tip=tr("What is measured"))
        for box in (self.of, self.views):
            box.setMinimumContentsLength(_LETTERS)
            box.setMaximumWidth(_WIDEST)
            box.hide()
        self._caption = named(PlainLabel(), role="caption")
        self._caption.setWordWrap(True)
        self._caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        title = tr("validation measure"), tr("features selected, k")
        self.plot = named(HeatMapPlot(theme, *title), "heat-map")
        self.plot.placeholder = _NO_RUN
        boxes = fill(QHBoxLayout(), self.of, self.views, 1, spacing=6)
        fill(QVBoxLayout(self), boxes, (self.plot, 1), self._caption, margins=(0, 0, 0, 0), spacing=2)
        self.plot.picked.connect(self.picked)
        self.views.activated.connect(self._on_view)
        self.of.activated.connect(self._on_view)

    def offer(
        self, views: Sequence[tuple[object, str]], *, both: bool, left_out: bool, first: bool = True
    ) -> None:
        """Offer maps, with what they are called; the one that the user wanted stays where it can.

        ``both`` says whether validation and left-out queries are measured, ``left_out`` whether the latter
        are, ``first`` whether they are shown unless the user wants to see the validation.
        """
        if tuple(views) != self._views:
            self._views = tuple(views)
            self.views.clear()
            for _, label in views:
                self.views.addItem(label)
            kept = next((at for at, (key, _) in enumerate(views) if key == self._wanted), 0)
            self.views.setCurrentIndex(kept if views else -1)
        if both != self.of.isVisibleTo(self) or (left_out and not both) or not left_out:
            self.of.setCurrentIndex(int(left_out and first))
        self._left_out = left_out
        self.views.setVisible(len(views) > 1)
        self.of.setVisible(both)

    def caption(self) -> str:
        """Return what a click does."""
        return self._caption.text()

    def view(self) -> object:
        """Return which map is shown; None without any."""
        at = self.views.currentIndex()
        return self._views[at][0] if 0 <= at < len(self._views) else None

    def left_out(self) -> bool:
        """Tell whether left-out queries are shown, and not the validation part."""
        return self._left_out and self.of.currentIndex() == 1

    def show_sizes(self, combinations: Sequence[str], matrix: ArrayLike, title: str, name: str) -> None:
        """Show the measure of every model by its settings and size.

        Parameters
        ----------
        combinations : sequence of str of length S
            How the combinations are called.
        matrix : array of shape (S, K)
            Measure by combination and k = 1 … K; NaN where there is none (yet).
        title : str
            What is measured.
        name : str
            Of the parameters that make the combinations.
        """
        values = np.asarray(matrix, dtype=np.float64)
        columns = [str(k + 1) for k in range(values.shape[1])]
        self._show(values, combinations, columns, title, (name, "k"), tr("features selected, k"))
        self._caption.setText(tr("click a cell to choose {name} and k").format(name=name))

    def show_grids(
        self,
        rows: Sequence[str],
        columns: Sequence[str],
        values: Floats,
        best: tuple[int, int] | None,
        title: str,
        names: tuple[str, str],
        others: Sequence[str],
    ) -> None:
        """Show the measure over two grids.

        Parameters
        ----------
        rows, columns : sequence of str
            The values of the grids.
        values : ndarray of shape (R, C)
        best : tuple of (int, int) or None
            The cell with the best of all.
        title : str
            What is measured.
        names : pair of str
            Of the two parameters.
        others : sequence of str
            Of what else was tried: a cell has the best of it.
        """
        self._show(values, rows, columns, title, names, names[1])
        self.plot.mark_best(best)
        act = tr("click a cell to choose its model")
        most = tr("each cell with its best {others}").format(others=", ".join(others)) if others else ""
        self._caption.setText(" · ".join(filter(None, (most, act))))

    def explain(self, why: str) -> None:
        """Say why there are no values, else what to do."""
        sizes = self.view() in (SIZES, None)
        self.plot.placeholder = why or (_NO_RUN if sizes else _NO_RUN_OF_GRIDS)
        self.plot.redraw()

    def clear(self, why: str = "") -> None:
        """Show no values, but perhaps why there are none."""
        if self._views:
            self.setAccessibleName(self.views.currentText())
        self.explain(why)
        self._caption.setText("")
        self.plot.set_values(np.empty((0, 0)), (), ())
        self.plot.select(None)

    def _show(
        self,
        values: Floats,
        rows: Sequence[str],
        columns: Sequence[str],
        title: str,
        names: tuple[str, str],
        x_label: str,
    ) -> None:
        self.setAccessibleName(" × ".join(names))
        self.plot.set_names(*names)
        self.plot.set_axes(replace(self.plot.axes, title=title, x_label=x_label))
        self.plot.set_values(values, list(rows), list(columns))

    @Slot()
    def _on_view(self) -> None:
        self._wanted = self.view()
        self.viewChanged.emit()
