"""The map of λ and k: the validation measure of every model that was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import Signal, Slot

from rankstudio.ui.language import tr
from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import named

_NO_RUN = tr("Every combination and k that a run has tried is shown here.")


class HeatPanel(Panel):
    """One row a λ, one column a k, brighter for a greater measure.

    Attributes
    ----------
    picked : Signal(int, int)
        Position of the combination and k of the cell that the user picked.
    """

    picked = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "λ × k", "")
        self.setObjectName("heat-panel")
        self._chosen: tuple[int, int] | None = None
        self.plot = named(
            HeatMapPlot(theme, tr("validation measure"), tr("features selected, k")), "heat-map"
        )
        self.plot.placeholder = _NO_RUN
        self.set_content(self.plot)
        self.plot.picked.connect(self._on_picked)

    def set_values(
        self, combinations: Sequence[str], matrix: ArrayLike, measure: str, name: str = "λ"
    ) -> None:
        """Show the measure of every model.

        Parameters
        ----------
        combinations : sequence of str of length S
            How the combinations are called.
        matrix : array of shape (S, K)
            Measure by combination and k = 1 … K; NaN where there is none (yet).
        measure : str
        name : str
            Of the parameters that make the combinations.
        """
        values = np.asarray(matrix, dtype=np.float64)
        self.set_title(f"{name} × k")
        self.plot.set_names(name, "k")
        self.set_caption(tr("click a cell to choose {name} and k").format(name=name))
        self.plot.set_axes(replace(self.plot.axes, title=tr("validation {measure}").format(measure=measure)))
        self.plot.set_values(values, list(combinations), [str(k + 1) for k in range(values.shape[1])])
        self._mark()

    def clear(self, why: str = "") -> None:
        """Show no values, but perhaps why there are none."""
        self._chosen = None
        self.plot.placeholder = why or _NO_RUN
        self.set_caption("")
        self.plot.set_values(np.empty((0, 0)), (), ())
        self.plot.select(None)

    def select(self, combination: int | None, k: int = 0) -> None:
        """Outline the current choice; None takes the outline away."""
        self._chosen = None if combination is None else (combination, k)
        self._mark()

    def _mark(self) -> None:
        if self._chosen is None:
            self.plot.select(None)
        else:
            combination, k = self._chosen
            self.plot.select(combination, k - 1)

    @Slot(int, int)
    def _on_picked(self, row: int, column: int) -> None:
        self.picked.emit(row, column + 1)
