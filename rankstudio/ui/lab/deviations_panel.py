"""Deviations of several estimators: a distribution each, a table, and what is seen in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from rankstudio.ui.lab.deviations_plot import DeviationRow, DeviationsPlot
from rankstudio.ui.lab.estimators import EstimatorText, short_of, text_of
from rankstudio.ui.lab.sentences import deviations_sentence, summary_of
from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.number_format import fixed, signed
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot, Panel, TableView
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary


@dataclass(frozen=True)
class EstimatorRow:
    """A row of the table.

    Attributes
    ----------
    category : int
        Its colour.
    label, about : str
    bias, error, sd, unconditional : float
    """

    category: int
    label: str
    about: str
    bias: float
    error: float
    sd: float
    unconditional: float


_COLUMNS = (
    Column("dot", "", kind="dot", value=lambda row: Dot(row.category), width=30),
    Column("label", tr("estimator"), stretch=True, hint=lambda row: row.about, format=short_of),
    Column(
        "bias",
        tr("mean"),
        "right",
        format=lambda value: signed(value, 4),
        tooltip=tr("Mean deviation of the estimate from the truth: the bias"),
        width=76,
    ),
    Column(
        "error",
        tr("± s.e."),
        "right",
        format=lambda value: fixed(value, 4),
        tooltip=tr("Standard error of the mean deviation"),
        tone="muted",
        width=66,
    ),
    Column(
        "sd",
        tr("sd"),
        "right",
        format=lambda value: fixed(value, 4),
        tooltip=tr("Standard deviation of estimate minus truth of the very model (T 5.1)"),
        width=66,
    ),
    Column(
        "unconditional",
        tr("sd of all"),
        "right",
        format=lambda value: fixed(value, 4),
        tooltip=tr("Standard deviation of estimate minus the mean truth of all models (T 5.2)"),
        tone="muted",
        width=72,
    ),
)

_SPARE = ("error", "unconditional")  # columns that give way
_WIDE = 840  # pixels, from which they have room
_NAME, _NAME_NARROW = 198, 158  # pixels of the column with the names


class DeviationsPanel(Panel):
    """How far estimates are from the truth.

    Parameters
    ----------
    theme : Theme
    name : str
        Of the panel, for the program and its tests.
    texts : mapping of str to EstimatorText
        What is said of each estimator, by its name.
    x_label : str
        What the axis measures.
    placeholder : str
        What the empty plot says.
    paired : bool
        Whether every other estimator is a variant of the one before it, and looks like that.

    Attributes
    ----------
    texts : mapping of str to EstimatorText
        What is said of those that are shown next.
    """

    def __init__(
        self,
        theme: Theme,
        name: str,
        texts: Mapping[str, EstimatorText],
        x_label: str,
        placeholder: str,
        *,
        paired: bool = False,
    ) -> None:
        super().__init__(theme, tr("Deviations"), padding=0)
        self.setObjectName(name)
        self.keep_title()
        self.texts, self._paired = texts, paired
        self.plot = named(DeviationsPlot(theme, x_label), f"{name}-plot", tr("Deviations of the estimators"))
        self.plot.placeholder = placeholder
        self.table = named(
            TableView(theme, _COLUMNS, f"{name}-table", lambda row: row.label),
            said=tr("Deviations by estimator"),
        )
        self.table.placeholder = tr("Mean and standard deviation of each estimator are listed here.")
        self.sentence = named(PlainLabel(), f"{name}-sentence")
        self.sentence.setWordWrap(True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.sentence.setContentsMargins(12, 4, 12, 8)
        room = fill(QVBoxLayout(), (self.plot, 1), margins=(12, 8, 8, 4))
        beside = fill(QHBoxLayout(), (room, 1), self.table, spacing=0)
        fill(self.body, (beside, 1), self.sentence, spacing=0)
        theme.restyled.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show fewer columns where there is little room."""
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Give the table the room that its columns need, and the sentence that of two lines."""
        narrow = self.width() < scaled(_WIDE)
        shown = [column for column in _COLUMNS if not (narrow and column.key in _SPARE)]
        for number, column in enumerate(_COLUMNS):
            self.table.setColumnHidden(number, column not in shown)
        names = _NAME_NARROW if narrow else _NAME
        self.table.setFixedWidth(scaled(names + sum(column.width for column in shown)))
        self.sentence.setMinimumHeight(2 * self.sentence.fontMetrics().lineSpacing() + 14)

    def show_summary(self, found: DeviationSummary | None, caption: str = "") -> None:
        """Show what is simulated so far; None shows nothing."""
        self.set_caption(caption)
        if found is None:
            self.table.set_rows(())
            self.plot.set_rows((), self.plot.edges, "")
            self.sentence.setText("")
            return
        rows = [
            DeviationRow(
                text_of(self.texts, name).label,
                float(found.bias[at]),
                float(found.standard_error[at]),
                float(found.sd[at]),
                int(found.counts[at]),
                found.shares[at],
                at // 2 if self._paired else at,
                self._paired and at % 2 == 1,
                text_of(self.texts, name).short,
            )
            for at, name in enumerate(found.estimators)
        ]
        self.plot.set_rows(rows, found.edges, summary_of(found, self.texts))
        self.table.set_rows(
            [
                EstimatorRow(
                    row.category,
                    row.label,
                    text_of(self.texts, found.estimators[at]).about,
                    row.mean,
                    row.error,
                    row.sd,
                    float(found.unconditional_sd[at]),
                )
                for at, row in enumerate(rows)
            ]
        )
        said = deviations_sentence(found, self.texts)
        if said != self.sentence.text():
            self.sentence.setText(said)
