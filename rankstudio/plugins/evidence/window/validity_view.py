"""The view of validity and completeness by the number of features kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.support.number_format import signed
from rankstudio.plugins.evidence.window.work_row import WorkRow
from rankstudio.ui.language import tr
from rankstudio.ui.plots.step_curves import StepCurve, StepCurvesPlot
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.model_validity import MeasuredValidity

_VALIDITY = 0
_COMPLETENESS = 1


class ValidityView(QWidget):
    """Curves of validity and completeness with their intervals, a sentence, and a button that measures them.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    plot : StepCurvesPlot
    work : WorkRow
    sentence : WrappedLabel
        The first feature with its validity and completeness.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.plot = named(
            StepCurvesPlot(theme, tr("Kendall's τ"), tr("features kept, k")),
            "validity-plot",
        )
        self.plot.decimals = 3

        # the plot's entry in the list of exports
        self.plot.shared = Shared(
            "validity", tr("Validity and completeness of the features")
        )
        self.plot.placeholder = tr(
            "How far the first features alone rank as the model does appears here."
        )
        self.plot.feature_at = self._feature_kept_last
        self.sentence = named(WrappedLabel(), "validity-sentence", role="caption")

        # the button, with its text without and with an estimated time,
        # and its tooltip
        self.work = WorkRow(
            "validity-work",
            tr("Compute validity"),
            tr("Compute validity (about {time})"),
            tr(
                "Rank the documents by the first features alone, and without them: Kendall's τ with the "
                "ranking by the model."
            ),
        )
        fill(
            QVBoxLayout(self),
            (self.plot, 1),
            self.work,
            self.sentence,
            margins=(0, 0, 0, 0),
            spacing=4,
        )
        self._ids: tuple[int, ...] = ()  # of the model's features, in order
        self.clear()

    def show_validity(self, measured: MeasuredValidity, ids: Sequence[int]) -> None:
        """Show the curves of a model; ``ids`` are those of the data's columns."""
        self._ids = tuple(int(ids[column]) for column in measured.columns)
        sizes = np.array(measured.sizes, dtype=np.float64)
        validity = measured.found.validity_means
        completeness = measured.found.completeness_means
        curves = [
            StepCurve(
                number, label, sizes, means.mean, number, low=means.low, high=means.high
            )
            for number, label, means in (
                (_VALIDITY, tr("validity"), validity),
                (_COMPLETENESS, tr("completeness"), completeness),
            )
        ]
        self.plot.set_curves(curves)
        text = tr("{feature} alone: validity {validity}, completeness {completeness}")
        self._say(
            text.format(
                feature=self._ids[0],
                validity=signed(validity.mean[0], 3),
                completeness=signed(completeness.mean[0], 3),
            )
        )

    def clear(self) -> None:
        """Show nothing."""
        self._ids = ()
        self.plot.set_curves(())
        self._say("")

    def _say(self, text: str) -> None:
        self.sentence.setText(text)
        self.sentence.setVisible(bool(text))

    def _feature_kept_last(self, _: int, size: int) -> int:
        """Return the id of the feature that a set of this size has more than the next smaller one."""
        return self._ids[size - 1] if 0 < size <= len(self._ids) else 0
