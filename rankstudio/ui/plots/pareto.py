"""Size against worth: models as markers, the front that nothing beats, and which size to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent

from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import Numbers, Plot, describe
from rankstudio.ui.plots.figure_values import pareto_figure
from rankstudio.ui.plots.frame import readable_range
from rankstudio.ui.plots.pareto_layers import draw_band_name, draw_marks, draw_pareto_front, draw_spots
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.theme import Theme

_REACH = 14.0  # pixels from a marker in which the mouse means it


@dataclass(frozen=True)
class Spot:
    """One model.

    Attributes
    ----------
    x, y : float
        Its size and its worth.
    error : float
        Standard error of the worth; NaN where there is none.
    category : int
        Whose colour and marker it takes: the run's.
    title, note : str
        What it is: "run 2 · GAS, then RankSVM" and "k = 4 · λ = 2⁶".
    """

    x: float
    y: float
    error: float
    category: int
    title: str
    note: str


@dataclass(frozen=True)
class Marks:
    """What is drawn around the spots.

    Attributes
    ----------
    front : tuple of int
        Positions of the spots that nothing beats, by ascending size.
    best, suggested : int
        Positions of the best, and of the smallest that is not clearly worse.
    levels : tuple of float
        What each spot of the front has to be worth for that.
    rule : str
        What that is called: "one standard error".
    """

    front: tuple[int, ...]
    best: int
    suggested: int
    levels: tuple[float, ...]
    rule: str = "one standard error"


class ParetoPlot(Plot):
    """Markers by size and worth, with the front as steps.

    Parameters
    ----------
    theme : Theme
    title, x_label : str

    Attributes
    ----------
    picked : Signal(int)
        Position of the spot that was clicked, or moved to with the arrow keys along the front.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme, title: str = "", x_label: str = "") -> None:
        self.spots: tuple[Spot, ...] = ()
        self.marks: Marks | None = None
        self.chosen: int | None = None
        super().__init__(theme, Axes(title, x_label, integer_x=True))
        self.add_layer(partial(draw_pareto_front, self), 0.0)
        self.add_layer(partial(draw_spots, self), 1.0)
        self.add_layer(partial(draw_marks, self), 2.0, clipped=False)
        self.add_layer(partial(draw_band_name, self), 3.0, clipped=False)

    def set_spots(self, spots: Sequence[Spot], marks: Marks | None = None) -> None:
        """Show other models; no marks where there are none."""
        self.spots, self.marks = tuple(spots), marks if spots else None
        self.chosen = self.under_mouse = None
        self.box.silence()
        self.mark_dirty()

    def select(self, position: int | None) -> None:
        """Ring the current choice; None takes the ring away."""
        self.chosen = position
        self.mark_dirty()

    # Plot

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the sizes, and that in which the front is seen well."""
        if not self.spots:
            return (0.0, 1.0), (0.0, 1.0)
        ys = np.array([spot.y for spot in self.spots])
        kept = [self.spots[i].y for i in self.marks.front] + [*self.marks.levels] if self.marks else []
        low, high = min(spot.x for spot in self.spots), max(spot.x for spot in self.spots)
        return (low - 0.5, high + 0.5), readable_range(ys, np.array(kept))

    def is_empty(self) -> bool:
        """Tell whether there is no model."""
        return not self.spots

    figure = pareto_figure

    def numbers(self) -> Numbers:
        """Return one row a model: which it is, size, worth, error, and what is marked."""
        header = [
            "model",
            "combination",
            "size",
            self.axes.title or "value",
            "standard error",
            "front",
            "chosen",
        ]
        marks = self.marks
        return header, [
            [
                spot.title,
                spot.note,
                spot.x,
                spot.y,
                spot.error,
                "front" if marks and i in marks.front else "",
                self._called(i),
            ]
            for i, spot in enumerate(self.spots)
        ]

    def readout(self, position: int) -> list[Line]:
        """Say what a marker is."""
        spot = self.spots[position]
        error = "" if isnan(spot.error) else f" ± {spot.error:.4f}"
        lines = [Line(spot.title, bold=True), Line(spot.note)]
        lines.append(Line(self.axes.title, f"{spot.y:.4f}{error}"))
        called = self._called(position)
        return [*lines, Line(called)] if called else lines

    def click(self, at: QPointF) -> None:
        """Pick the marker under the mouse."""
        position = self.hit_test(at)
        if position is not None:
            self.picked.emit(position)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along the front with the arrow keys."""
        step = {int(Qt.Key.Key_Left): -1, int(Qt.Key.Key_Right): 1}.get(event.key())
        if step is None or self.marks is None:
            event.ignore()
            return
        front = self.marks.front
        at = front.index(self.chosen) + step if self.chosen in front else front.index(self._start())
        self.picked.emit(front[max(0, min(len(front) - 1, at))])
        event.accept()

    def hit_test(self, at: QPointF) -> int | None:
        """Return the marker nearest to a pixel, by its position, the front's first; None far from any."""
        if not self.spots:
            return None
        xs, ys = np.array([spot.x for spot in self.spots]), np.array([spot.y for spot in self.spots])
        px, py = self.frame().pixels(xs, ys)
        far = np.hypot(px - at.x(), py - at.y())
        front = list(self.marks.front) if self.marks else []
        near = [i for i in front if far[i] <= _REACH / 2]
        best = min(near, key=lambda i: far[i]) if near else int(far.argmin())
        return best if far[best] <= _REACH else None

    def _start(self) -> int:
        """Return where the arrow keys begin: at the suggested model, or at the best."""
        assert self.marks is not None  # else there are no arrow keys
        marks = self.marks
        return marks.suggested if marks.suggested in marks.front else marks.best

    def _called(self, position: int) -> str:
        if self.marks is None:
            return ""
        names = {self.marks.best: tr("best"), self.marks.suggested: tr(self.marks.rule)}
        if self.marks.best == self.marks.suggested == position:
            return tr("best, and the choice by “{rule}”").format(rule=tr(self.marks.rule))
        return names.get(position, "")

    def summary(self) -> str:
        """Say which model is best, and which is suggested."""
        if self.marks is None:
            return tr("{title} of {n_spots} models").format(title=self.axes.title, n_spots=len(self.spots))
        told = {tr("best"): self.marks.best, tr(self.marks.rule): self.marks.suggested}
        return describe(
            [
                f"{name}: {self.spots[i].title}, {self.spots[i].note}, {self.spots[i].y:.4f}"
                for name, i in told.items()
            ]
        )
