"""Why these features: the map of a path's candidates, or the densities that they were judged by."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot

from rankstudio.engine.analysis.features.candidate_map import CandidateMap
from rankstudio.engine.methods.catalog.method import CandidateScore
from rankstudio.ui.features.candidate_map_plot import CandidateMapPlot
from rankstudio.ui.features.densities_view import DensitiesView
from rankstudio.ui.language import tr
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import named

NO_CANDIDATES = tr("Run a method to see the candidates it compared at each step.")
_UNKNOWN = tr("This run has no stored candidate scores. Run it again to see them.")

SCORES, RANKS, DENSITIES = "scores", "ranks", "densities"
"""The ways of showing it."""

_MAPS = ((SCORES, tr("scores")), (RANKS, tr("ranks")))


class WhyPanel(Panel):
    """Shows a `CandidateMap`, as scores or as ranks, or densities for a method that compares such.

    Attributes
    ----------
    picked : Signal(int, int)
        Column of the feature in the data, and place of the step in the path, of the cell that was picked.
    densitiesAsked : Signal()
        The densities came to be seen.
    """

    picked = Signal(int, int)
    densitiesAsked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Why"))
        self.setObjectName("why-panel")
        self.plot = named(CandidateMapPlot(theme), "candidate-map", tr("Candidates at each step"))
        self.plot.placeholder = NO_CANDIDATES
        self.densities = DensitiesView(theme)
        self.densities.hide()
        self.switch = named(Segmented(_MAPS, tr("show")), "why-switch")
        self.tools.addWidget(self.switch)
        self.set_content(self.plot)
        self.set_content(self.densities)
        self.switch.chosen.connect(self._on_switched)
        self.plot.cellPicked.connect(self.picked)

    @property
    def shows_densities(self) -> bool:
        """Whether densities are shown rather than the map."""
        return self.switch.value() == DENSITIES

    def offer_densities(self, offered: bool) -> None:
        """Let the user choose densities too, or no longer."""
        options = (*_MAPS, (DENSITIES, tr("densities"))) if offered else _MAPS
        if len(self.switch.options()) == len(options):
            return
        chosen = self.switch.value()
        self.switch.set_options(options)
        self.switch.select(chosen)
        self._on_switched(self.switch.value())

    def show_map(
        self,
        shown: CandidateMap | None,
        names: Sequence[str],
        score: CandidateScore | None,
        steps: str = "step",
    ) -> None:
        """Show a path's candidates; see :meth:`CandidateMapPlot.set_map`."""
        self.plot.placeholder = NO_CANDIDATES if score is None else _UNKNOWN
        self.plot.set_map(shown, names, score, steps)
        self.plot.setAccessibleName(tr(score.title) if score and shown else tr("Candidates at each step"))
        self.set_caption(tr(score.title) if shown and score else "")

    def explain(self, why: str) -> None:
        """Say in place of the map why there is none."""
        self.plot.placeholder = why
        self.plot.redraw()

    def mark(self, feature: int | None, place: int | None) -> None:
        """Mark the feature that is looked at (its column) and the chosen step (its place in the path)."""
        self.plot.mark(feature, place)

    @Slot(object)
    def _on_switched(self, way: object) -> None:
        self.densities.setVisible(way == DENSITIES)
        self.plot.setVisible(way != DENSITIES)
        if way == DENSITIES:
            self.densitiesAsked.emit()
        else:
            self.plot.set_ranked(way == RANKS)
