"""Why these features: the map of a path's candidates with its switch."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QScrollArea

from rankstudio.engine.analysis.candidate_map import CandidateMap
from rankstudio.engine.methods.catalog.candidate_score import CandidateScore
from rankstudio.ui.inspect.candidate_map_plot import HEADER, ROW, CandidateMapPlot
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import named

_NONE = "Run a method to see what it compared at each step."


class WhyPanel(Panel):
    """Shows a `CandidateMap`, as scores or as ranks.

    Attributes
    ----------
    picked : Signal(int, int)
        Column of the feature in the data, and place of the step in the path, of the cell that was picked.
    """

    picked = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Why")
        self.setObjectName("why-panel")
        self._map: CandidateMap | None = None
        self.plot = named(CandidateMapPlot(theme), "candidate-map", "Candidates at each step")
        self.plot.placeholder = _NONE
        self.switch = named(Segmented(((False, "scores"), (True, "ranks")), "show"), "why-switch")
        self.tools.addWidget(self.switch)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusProxy(self.plot)
        self._scroll.setWidget(self.plot)
        self.set_content(self._scroll)
        self.switch.chosen.connect(self._on_switched)
        self.plot.cellPicked.connect(self._on_picked)

    def show_map(
        self, shown: CandidateMap | None, names: Sequence[str], score: CandidateScore | None
    ) -> None:
        """Show a path's candidates; ``names`` are those of all features."""
        self._map = shown
        self.plot.set_map(shown, names, score)
        self.plot.setAccessibleName(score.title if score and shown else "Candidates at each step")
        self.plot.setMinimumHeight(HEADER + 4 + ROW * len(shown.features) if shown else 72)
        self.set_caption(_caption(shown, score) if shown and score else "")

    def mark(self, feature: int | None, place: int | None) -> None:
        """Mark the feature that is looked at (its column) and the chosen step (its place in the path)."""
        shown = self._map
        if shown is None:
            return
        row = shown.features.index(feature) if feature in shown.features else None
        column = None
        if place is not None:
            column = min(range(len(shown.places)), key=lambda at: abs(shown.places[at] - place))
        self.plot.mark(row, column)
        if row is not None:
            middle = HEADER + round((row + 0.5) * (self.plot.height() - HEADER) / len(shown.features))
            self._scroll.ensureVisible(0, middle, 0, 2 * ROW)

    @Slot(object)
    def _on_switched(self, ranked: object) -> None:
        self.plot.set_ranked(bool(ranked))

    @Slot(int, int)
    def _on_picked(self, row: int, column: int) -> None:
        if self._map is not None:
            self.picked.emit(self._map.features[row], self._map.places[column])


def _caption(shown: CandidateMap, score: CandidateScore) -> str:
    """Return what the colours are of, and what of the path is not shown."""
    parts = [score.title]
    if len(shown.features) < shown.n_features:
        parts.append(f"{len(shown.features)} of {shown.n_features} features")
    if len(shown.numbers) < shown.n_steps:
        parts.append(f"{len(shown.numbers)} of {shown.n_steps} steps")
    return " · ".join(parts)
