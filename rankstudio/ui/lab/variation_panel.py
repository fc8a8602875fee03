"""Bias and standard deviation of the estimators where one quantity is varied."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from rankstudio.ui.lab.estimators import EstimatorText, text_of
from rankstudio.ui.lab.sentences import QUANTITIES, value_text, variation_sentence
from rankstudio.ui.lab.variation_plot import VariationPlot
from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.variation import VariedDeviations

_SURE = 2.0  # standard errors to both sides


class VariationPanel(Panel):
    """Two plots side by side, and a sentence.

    Parameters
    ----------
    theme : Theme
    name : str
        With which the names of its parts begin, for the program and its tests.
    texts : mapping of str to EstimatorText
        What is said of each estimator, by its name.
    paired : bool
        Whether every other estimator is a variant of the one before it, and looks like that.

    Attributes
    ----------
    texts : mapping of str to EstimatorText
        What is said of those that are shown next.
    """

    def __init__(
        self, theme: Theme, name: str, texts: Mapping[str, EstimatorText], *, paired: bool = False
    ) -> None:
        super().__init__(theme, tr("Against a quantity"), padding=0)
        self.setObjectName(f"{name}-variation")
        self.texts, self._paired = texts, paired
        self.keep_title()
        self.bias = self._plot(theme, f"{name}-bias-plot", tr("mean deviation"), zero=True)
        self.bias.placeholder = tr(
            "When the distributions are done, the quantity is varied here, and the bias drawn over it."
        )
        self.sd = self._plot(theme, f"{name}-sd-plot", tr("standard deviation"), zero=False)
        self.sd.placeholder = tr("How much the estimates scatter is drawn here.")
        self.sentence = named(PlainLabel(), f"{name}-variation-sentence")
        self.sentence.setWordWrap(True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        plots = fill(QHBoxLayout(), (self.bias, 1), (self.sd, 1), margins=(12, 8, 8, 4), spacing=16)
        below = fill(QVBoxLayout(), self.sentence, margins=(12, 4, 12, 8))
        fill(self.body, fill(QVBoxLayout(), (plots, 1), below, spacing=0), spacing=0)

    def set_figure_caption(self, caption: str) -> None:
        """Say what goes with the plots as figures."""
        self.bias.caption = self.sd.caption = caption

    def show_values(self, found: VariedDeviations | None, caption: str = "") -> None:
        """Show what is simulated so far; None shows nothing."""
        self.set_caption(caption)
        if found is None or not found.summaries:
            for plot in (self.bias, self.sd):
                plot.show_values("", (), str, ())
            self.sentence.setText("")
            return
        labels = [text_of(self.texts, name).label for name in found.summaries[0].estimators]
        written = partial(value_text, found.quantity)
        bias, half, sd = found.bias, _SURE * found.standard_error, found.sd
        curves = [(label, bias[:, at], half[:, at]) for at, label in enumerate(labels)]
        self.bias.show_values(QUANTITIES[found.quantity], found.asked, written, curves)
        bare = [(label, sd[:, at], np.zeros(0)) for at, label in enumerate(labels)]
        self.sd.show_values(QUANTITIES[found.quantity], found.asked, written, bare)
        said = variation_sentence(found, self.texts)
        if said != self.sentence.text():
            self.sentence.setText(said)

    def _plot(self, theme: Theme, name: str, title: str, *, zero: bool) -> VariationPlot:
        plot = named(VariationPlot(theme, title, zero=zero, paired=self._paired), name)
        plot.picked.connect(lambda curve, point: plot.select((curve, point)))
        return plot
