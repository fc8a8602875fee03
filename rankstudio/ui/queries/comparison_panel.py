"""A against B: the plot of all queries, and what they say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QSizePolicy

from rankstudio.ui.language import tr
from rankstudio.ui.queries.query_plot import SCATTER, SORTED, QueryPlot
from rankstudio.ui.queries.sentences import comparison_sentence
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.queries.query_comparison import QueryComparison

PART_NAMES = {"test": tr("test"), "vali": tr("validation"), "train": tr("training")}
"""Parts of a fold, as they are called."""


class ComparisonPanel(Panel):
    """The queries as points or as sorted differences.

    Attributes
    ----------
    plot : QueryPlot
    sentence : PlainLabel
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("A against B"))
        self.setObjectName("query-comparison-panel")
        self.plot = named(QueryPlot(theme), "query-plot", tr("A against B"))
        self.sentence = named(PlainLabel(), "query-comparison-sentence", role="caption")
        self.sentence.setWordWrap(True)
        self.mode = named(
            Segmented([(SCATTER, tr("scatter")), (SORTED, tr("sorted differences"))], tr("way of drawing")),
            "query-plot-mode",
            tip=tr("One point per query, or sorted differences"),
        )
        self.mode.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.tools.addWidget(self.mode)
        fill(self.body, (self.plot, 1), self.sentence, spacing=4)
        self.mode.chosen.connect(self._draw_as)

    def show_comparison(self, found: QueryComparison) -> None:
        """Show other queries."""
        self.plot.set_comparison(found)
        self.plot.placeholder = tr("{measure} is undefined in all of these queries.").format(
            measure=found.measure
        )
        part = PART_NAMES[found.part]
        self.set_caption(
            tr("{n_queries:,} {part} queries, {measure}").format(
                n_queries=len(found.queries), part=part, measure=found.measure
            )
        )
        self.sentence.setText(comparison_sentence(found))

    def clear(self, why: str) -> None:
        """Show no queries, and say why."""
        self.plot.placeholder = why
        self.plot.set_comparison(None)
        self.set_caption("")
        self.sentence.clear()

    @Slot(object)
    def _draw_as(self, mode: object) -> None:
        self.plot.set_mode(str(mode))
