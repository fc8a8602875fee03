"""The live curves: criterion and validation measure over k, one curve per setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from rankstudio.ui.numerals import power
from rankstudio.ui.plots.curves import CurvesPlot
from rankstudio.ui.theme import Theme
from rankstudio.ui.widgets import Panel

Floats = NDArray[np.float64]
Interval = tuple[Sequence[float] | Floats, Sequence[float] | Floats, Sequence[float] | Floats]
"""Mean, lower and upper end at each k."""

Key = int | Literal["live"]
LIVE: Literal["live"] = "live"
"""Key of the path at the slider's λ, where that is none of the settings."""


@dataclass
class _Path:
    """What one curve shows, for the criterion and every measure."""

    ks: list[int] = field(default_factory=list)
    criterion: list[float] = field(default_factory=list)
    validation: dict[str, list[float]] = field(default_factory=dict)


NO_MEASURES = "The validation measure is drawn here while a run works."
"""What the plot of the measure says while it is empty."""


class CurvesPanel(Panel):
    """Two linked plots with one curve per λ.

    Attributes
    ----------
    picked : Signal(object, int)
        Key of the curve (position of its setting, or ``"live"``) and k, when the user picked a point. The
        panel marks it only when its owner answers with :meth:`choose`.
    """

    picked = Signal(object, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Curves", padding=8, parent=parent)
        self.setObjectName("curves-panel")
        self._lambdas: tuple[float, ...] = ()
        self._measure = "MAP"
        self._live: float | None = None
        self._paths: dict[Key, _Path] = {}
        self._band: tuple[list[int], Interval, Mapping[str, Interval]] | None = None
        self._chosen: tuple[Key, int] | None = None
        self.criterion_plot = CurvesPlot(theme, "criterion", x_label="")
        self.validation_plot = CurvesPlot(theme, f"validation {self._measure}", x_label="")
        self.criterion_plot.setObjectName("criterion-plot")
        self.validation_plot.setObjectName("validation-plot")
        self.criterion_plot.placeholder = "The criterion is drawn here while a run works."
        self.validation_plot.placeholder = NO_MEASURES
        self._lay_out()
        self._link()

    def begin(
        self,
        method_label: str,
        data_label: str,
        lambdas: Sequence[float],
        n_steps: int,
        criterion: str = "criterion",
    ) -> None:
        """Start anew: one empty curve per λ.

        Parameters
        ----------
        method_label, data_label : str
            For the title: "Greedy RankRLS" and "MQ2008 fold 4".
        lambdas : sequence of float
            Ascending, one a setting; empty for a method without a grid, which has one curve.
        n_steps : int
            The greatest k to come.
        criterion : str
            What the method's criterion is; "" where it has none.
        """
        self.set_title(f"{method_label} · {data_label}")
        self._lambdas = tuple(lambdas)
        self._paths = {key: _Path() for key in range(max(1, len(self._lambdas)))}
        self._band = None
        self._chosen = None
        self.set_caption("")
        self.criterion_plot.set_axes(replace(self.criterion_plot.axes, title=criterion or "criterion"))
        self.criterion_plot.setVisible(bool(criterion))
        self._live = None
        # A ranker's one step has all features at once: where its point lies is known when it comes.
        x_range = (1, n_steps) if n_steps > 1 else None
        for plot in self.plots().values():
            plot.set_family(list(self._paths), [self.label(key) for key in self._paths], x_range)

    def set_measured(self, measured: bool) -> None:
        """Say whether the data have a validation part; without one there is nothing to draw of it."""
        self.validation_plot.setVisible(measured)

    def add_step(self, key: Key, k: int, criterion: float, validation: Mapping[str, float]) -> None:
        """Let a curve grow by one point."""
        path = self._path(key)
        self._explain()
        path.ks.append(k)
        path.criterion.append(criterion)
        for name, value in validation.items():
            path.validation.setdefault(name, []).append(value)
        self.criterion_plot.append(key, k, criterion)
        if self._measure in validation:
            self.validation_plot.append(key, k, validation[self._measure])

    def set_path(
        self,
        key: Key,
        ks: Sequence[int] | NDArray[np.int64],
        criterion: Sequence[float] | Floats,
        validation: Mapping[str, Sequence[float] | Floats],
        value: float | None = None,
    ) -> None:
        """Replace a whole curve.

        Parameters
        ----------
        key : int or "live"
        ks, criterion : sequence of shape (K,)
        validation : mapping of str to sequence of shape (K,)
            By measure.
        value : float, optional
            The λ of the ``"live"`` path, for its label.
        """
        if key == LIVE:
            self._live = value
        self._paths[key] = _Path(
            [int(k) for k in ks],
            [float(c) for c in criterion],
            {name: [float(v) for v in values] for name, values in validation.items()},
        )
        self._explain()
        self._draw(key)

    def remove_path(self, key: Key) -> None:
        """Take the points of a curve away."""
        if key in self._paths:
            self._paths[key] = _Path()
            self._draw(key)

    def set_band(self, ks: Sequence[int], criterion: Interval, validation: Mapping[str, Interval]) -> None:
        """Show mean and interval over folds, of the criterion and of every measure."""
        self._band = ([int(k) for k in ks], criterion, validation)
        self._draw_band()

    def set_measure(self, name: str) -> None:
        """Show another measure."""
        self._measure = name
        self.validation_plot.set_axes(replace(self.validation_plot.axes, title=f"validation {name}"))
        for key in self._paths:
            self._draw(key)
        self._draw_band()
        self._mark()

    def choose(self, key: Key | None, k: int = 0) -> None:
        """Mark the current choice in both plots; None takes the mark away."""
        self._chosen = None if key is None else (key, k)
        self._mark()

    def label(self, key: Key) -> str:
        """Return how a curve is called: "λ = 2⁶"."""
        if key == LIVE:
            return "λ of the slider" if self._live is None else f"λ = {power(self._live)}"
        return f"λ = {power(self._lambdas[key])}" if self._lambdas else "path"

    def plots(self) -> dict[str, CurvesPlot]:
        """Return the plots by name, for export."""
        return {"criterion": self.criterion_plot, "validation": self.validation_plot}

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.criterion_plot, 1)
        row.addWidget(self.validation_plot, 1)
        self.body.addLayout(row, 1)
        below = QLabel("features selected, k")
        below.setProperty("role", "caption")
        below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.body.setSpacing(2)
        self.body.addWidget(below)

    def _link(self) -> None:
        for plot in self.plots().values():
            plot.picked.connect(self._on_picked)
        self.criterion_plot.hovered.connect(self.validation_plot.set_cursor)
        self.validation_plot.hovered.connect(self.criterion_plot.set_cursor)

    def _explain(self) -> None:
        """Say in the caption how to read and to use the curves, once there is one."""
        if not self.caption():
            self.set_caption(self._explanation())

    def _explanation(self) -> str:
        """Return the caption: which curve is which, and what a click does."""
        act = "click a curve to choose k"
        if len(self._lambdas) < 2:
            return act
        first, last = power(self._lambdas[0]), power(self._lambdas[-1])
        return f"one curve per λ, {first} dark … {last} bright · {act}"

    def _path(self, key: Key) -> _Path:
        return self._paths.setdefault(key, _Path())

    def _draw(self, key: Key) -> None:
        path = self._path(key)
        values = path.validation.get(self._measure, [])
        self.criterion_plot.set_curve(key, path.ks, path.criterion)
        self.validation_plot.set_curve(key, path.ks[: len(values)], values)
        if key == LIVE:
            for plot in self.plots().values():
                plot.family[key].label = self.label(key)

    def _draw_band(self) -> None:
        if self._band is None:
            return
        ks, criterion, validation = self._band
        self.criterion_plot.set_band(ks, *criterion)
        if self._measure in validation:
            self.validation_plot.set_band(ks, *validation[self._measure])

    def _mark(self) -> None:
        if self._chosen is None:
            for plot in self.plots().values():
                plot.choose(None)
            return
        key, k = self._chosen
        self.criterion_plot.choose(key, k)
        self.validation_plot.choose(key, k, self._note(key, k))

    def _note(self, key: Key, k: int) -> tuple[str, ...]:
        path = self._path(key)
        values = dict(zip(path.ks, path.validation.get(self._measure, []), strict=False))
        if k not in values:
            return ()
        where = (
            f"k = {k} · {self.label(key)} · chosen" if self._lambdas or key == LIVE else f"k = {k} · chosen"
        )
        return where, f"validation {self._measure} {values[k]:.4f}"

    @Slot(object, object)
    def _on_picked(self, key: Key, k: object) -> None:
        self.picked.emit(key, int(k))  # type: ignore[call-overload]
