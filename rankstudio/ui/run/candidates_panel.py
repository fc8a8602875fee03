"""The candidates of one step: how far each would have brought the criterion down, and who won."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from PySide6.QtCore import Signal, Slot

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.ui.plots import Bar, BarsPlot
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import ElidedLabel, Panel
from rankstudio.ui.widgets.layout import fill, named

_DROP = "drop in criterion per document"
_ROUNDING = 1e-12


class CandidatesPanel(Panel):
    """Bars of the candidates of a step, the longest first, the selected one in the accent.

    Attributes
    ----------
    picked : Signal(int)
        Id of the feature whose bar was clicked.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Candidates")
        self.setObjectName("candidates-panel")
        self._names: dict[int, str] = {}
        self.plot = named(BarsPlot(theme, _DROP), "candidates-plot")
        self.plot.placeholder = "The candidates of the chosen step are compared here."
        self.verdict = named(ElidedLabel(), "candidates-verdict")
        fill(self.body, self.verdict, (self.plot, 1), spacing=2)
        self.verdict.hide()
        self.plot.picked.connect(self._on_picked)

    def show_step(
        self,
        step_number: int,
        candidates: Sequence[float] | Floats,
        feature_ids: Sequence[int] | Ints,
        names: Sequence[str],
        selected_id: int,
        previous_criterion: float,
    ) -> None:
        """Show the candidates of a step.

        Parameters
        ----------
        step_number : int
            From 1.
        candidates : array of shape (n,)
            The criterion per document that each feature would have given; NaN for what was no candidate. Of
            size 0 for a method that compares none.
        feature_ids, names : sequence of length n
        selected_id : int
            The feature that was taken: the best, or one that is pinned.
        previous_criterion : float
            Per document, as that of the candidates; before the step.
        """
        values = np.asarray(candidates, dtype=np.float64)
        self.set_title(f"Candidates at step {step_number}")
        if not np.isfinite(values).any():
            self._show_nothing()
            return
        ids = [int(i) for i in feature_ids]
        self._names = dict(zip(ids, names, strict=True))
        criteria = {i: value for i, value in zip(ids, values.tolist(), strict=True) if isfinite(value)}
        bars = [Bar(i, self._names[i], _drop(previous_criterion, value)) for i, value in criteria.items()]
        self.set_caption("click a bar to look at its feature")
        self.plot.set_bars(bars, winner=selected_id)
        self.verdict.setText(verdict(criteria, self._names, selected_id))
        self.verdict.show()

    def clear(self) -> None:
        """Show no step."""
        self.set_title("Candidates")
        self._show_nothing()

    def select(self, feature_id: int | None) -> None:
        """Outline the bar of the feature that is inspected."""
        self.plot.select(feature_id)

    def _show_nothing(self) -> None:
        self.set_caption("")
        self.plot.set_bars(())
        self.verdict.hide()

    @Slot(object)
    def _on_picked(self, feature_id: int) -> None:
        self.picked.emit(feature_id)


def _drop(before: float, after: float) -> float:
    """Return how much the criterion falls; 0 for what is only the rounding of a sum over documents."""
    return 0.0 if abs(before - after) <= _ROUNDING * abs(before) else before - after


def verdict(criteria: dict[int, float], names: dict[int, str], selected_id: int) -> str:
    """Return who was taken and how far ahead of the next it was, in percent of the criterion.

    Parameters
    ----------
    criteria : dict
        The criterion that each candidate would have given, by id; the lower the better.
    names : dict
        By id.
    selected_id : int
        Which was taken.

    Returns
    -------
    str
        "BM25 of anchor, ahead of LMIR.JM of anchor by 0.3 %"
    """
    name = names.get(selected_id, f"feature {selected_id}")
    others = {i: value for i, value in criteria.items() if i != selected_id}
    if selected_id not in criteria:
        return f"{name}, without a comparison"
    if not others:
        return f"{name}, the last candidate"
    rival = min(others, key=lambda i: others[i])
    lead = others[rival] - criteria[selected_id]
    if lead == 0:
        return f"{name}, tied with {names[rival]}"
    percent = f"{100 * abs(lead / others[rival]):.2g} %"
    return (
        f"{name}, ahead of {names[rival]} by {percent}"
        if lead > 0
        else f"{name}, behind {names[rival]} by {percent}"
    )
