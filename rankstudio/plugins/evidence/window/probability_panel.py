"""The panel of the selection probability of each feature by the size of the selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal

from rankstudio.engine.export.figures.values import Level
from rankstudio.ui.language import tr
from rankstudio.ui.plots.step_curves import BEHIND, StepCurve, StepCurvesPlot
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence

_MAX_NAMED_CURVES = 8


class ProbabilityPanel(Panel):
    """A plot of the selection probability by the number of features, with one curve for each feature.

    The curves of the first selected features are named. A click on a curve inspects its
    feature.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    inspected : Signal(int)
        Id of the feature whose curve was clicked.
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Selection probability"), name="probability-panel")
        self.plot = named(
            StepCurvesPlot(
                theme, tr("share of the halves"), tr("features selected, k"), (0.0, 1.0)
            ),
            "probability-plot",
        )
        self.plot.decimals = 2
        self.plot.feature_at = lambda feature, _: feature
        self.plot.shared = Shared("probability", tr("Selection probability"))
        self.plot.placeholder = tr(
            "The share of the halves that select each feature appears here."
        )
        self.set_content(self.plot)
        self.plot.picked.connect(lambda feature, _: self.inspected.emit(feature))
        self.set_caption("")

    def show_probability(
        self, evidence: SelectionEvidence, ids: Sequence[int], names: Sequence[str]
    ) -> None:
        """Show a curve for each feature that some half selects: its probability by set size.

        ``ids`` and ``names`` are those of the data's columns.
        """
        stability = evidence.stability
        if stability is None or not stability.n_paths:
            self.clear()
            return
        probability = stability.probability
        x = np.arange(1.0, probability.shape[0] + 1)

        # The first selected features have colors and labels, the others are behind
        # them.
        named_columns = {
            column: index
            for index, column in enumerate(evidence.selected[:_MAX_NAMED_CURVES])
        }
        curves = [
            StepCurve(
                int(ids[column]),
                f"{ids[column]} {names[column]}",
                x,
                probability[:, column],
                named_columns.get(column, BEHIND),
            )
            for column in np.flatnonzero(probability[-1] > 0).tolist()
        ]
        level = Level(tr("threshold"), evidence.rules.threshold)
        self.plot.set_curves(curves, level, min(evidence.size, probability.shape[0]))
        self.set_caption(tr("by number of features, k"))

    def clear(self) -> None:
        """Show nothing."""
        self.plot.set_curves(())
        self.set_caption("")
