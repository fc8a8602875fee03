"""The panel of the selection probability of each feature, and of the validity of the first features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal

from rankstudio.engine.export.figures.values import Level
from rankstudio.plugins.evidence.window.validity_view import ValidityView
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.step_curves import BEHIND, StepCurve, StepCurvesPlot
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.choices import Segmented
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.model_validity import MeasuredValidity

HALVES = "halves"
VALIDITY = "validity"
_VIEWS = (HALVES, tr("halves")), (VALIDITY, tr("validity"))
_MAX_NAMED_CURVES = 8


class ProbabilityPanel(Panel):
    """A plot of the selection probability by the number of features, with one curve for each feature.

    The curves of the first selected features are named. A click on a
    curve inspects its feature. The other view shows how far the first
    features alone rank as the model does.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    inspected : Signal(int)
        Id of the feature whose curve was clicked.
    viewed : Signal()
        Another view is shown.
    view : Segmented
    shows_validity : bool
        Whether the view of the validity is shown.
    validity : ValidityView
    """

    inspected = Signal(int)
    viewed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            tr("Selection probability"),
            name="probability-panel",
            keeps_title=True,
        )
        self.plot = named(
            StepCurvesPlot(
                theme, tr("share of the halves"), tr("features selected, k"), (0.0, 1.0)
            ),
            "probability-plot",
        )
        self.plot.decimals = 2
        self.plot.feature_at = lambda feature, _: feature  # a curve's key is the id

        # the plot's entry in the list of exports
        self.plot.shared = Shared("probability", tr("Selection probability"))
        self.plot.placeholder = tr(
            "The share of the halves that select each feature appears here."
        )
        self.validity = ValidityView(theme)
        self.view = named(Segmented(_VIEWS, tr("show")), "probability-view")
        self.tools.addWidget(self.view)
        fill(self.body, (self.plot, 1), (self.validity, 1))

        # the shown view, which views apply, and the caption of each
        self.shows_validity = False
        self._has_halves = True
        self._has_validity = False
        self._halves_caption = ""
        self._validity_caption = ""
        self.plot.picked.connect(lambda feature, _: self.inspected.emit(feature))
        self.validity.plot.picked.connect(lambda _, size: self._inspect_kept(size))
        self.view.chosen.connect(self._show_view)
        self._show_view()

    def show_views(self, *, halves: bool, validity: bool) -> None:
        """Show the panel with the views that apply to the model; hide it if none does."""
        self._has_halves = halves
        self._has_validity = validity
        self.view.setVisible(halves and validity)
        self.setVisible(halves or validity)
        self._show_view()

    def _show_view(self) -> None:
        """Show one of the panel's two views: selection probabilities, or the validity of the features.

        Selection probabilities are the shares of halves of the queries
        that select a feature. Validity is the share of a model's
        ranking that the features alone explain. If only one view
        applies to the run, it is shown, else the one that the user
        chose. Emit `viewed` if the shown view has changed.
        """
        is_chosen = self.view.value() == VALIDITY or not self._has_halves
        shows_validity = is_chosen and self._has_validity
        is_other = shows_validity != self.shows_validity
        self.shows_validity = shows_validity
        self.plot.setVisible(not shows_validity)
        self.validity.setVisible(shows_validity)
        self.set_title(
            tr("Validity of the features")
            if shows_validity
            else tr("Selection probability")
        )
        self._show_caption()
        if is_other:
            self.viewed.emit()

    def _inspect_kept(self, size: int) -> None:
        """Inspect the last of the first ``size`` features of the model."""
        feature = self.validity.plot.feature_at(0, size)
        if feature:
            self.inspected.emit(feature)

    def show_probability(
        self, evidence: SelectionEvidence, ids: Sequence[int], names: Sequence[str]
    ) -> None:
        """Show a curve for each feature that some half selects: its selection probability by set size.

        ``ids`` and ``names`` are those of the data's columns.
        """
        stability = evidence.stability
        if stability is None or not stability.n_paths:
            self.clear()
            return
        probability = stability.probability
        x = np.arange(1.0, probability.shape[0] + 1)

        # The first selected features have colors and labels, the others
        # are behind them.
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
        self._halves_caption = tr("by number of features, k")
        self._show_caption()

    def show_validity(self, measured: MeasuredValidity, ids: Sequence[int]) -> None:
        """Show validity and completeness; ``ids`` are those of the data's columns."""
        self.validity.show_validity(measured, ids)
        if measured.part == "validation":
            text = trn(
                "{n} validation query", "{n} validation queries", measured.n_queries
            )
        else:
            text = trn("{n} training query", "{n} training queries", measured.n_queries)
        self._validity_caption = text.format(n=measured.n_queries)
        self._show_caption()

    def clear_validity(self) -> None:
        """Show no validity."""
        self.validity.clear()
        self._validity_caption = ""
        self._show_caption()

    def clear(self) -> None:
        """Show no selection probability."""
        self.plot.set_curves(())
        self._halves_caption = ""
        self._show_caption()

    def _show_caption(self) -> None:
        """Show the caption of the present view."""
        self.set_caption(
            self._validity_caption if self.shows_validity else self._halves_caption
        )
