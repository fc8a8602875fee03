"""Paired tests: every finished run against one of them, query by query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction

from rankstudio.engine.analysis.significance import ALPHA, ComparedRun
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.language import tr
from rankstudio.ui.results.view import RUN_DOT, View
from rankstudio.ui.style.number_format import signed
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column
from rankstudio.ui.widgets.choice_box import choice_box
from rankstudio.ui.widgets.layout import named

_BEST = "best"
_BOX = 216


class TestsView(View):
    """Difference to the reference, its interval, and whether it could be chance.

    Attributes
    ----------
    referenceChosen : Signal(object)
        Number of the run to compare with, None for the best.
    """

    __test__ = False  # for pytest, which takes the name for that of its own
    referenceChosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._measure = ""
        self._runs: tuple[tuple[int, str], ...] | None = None
        self.reference = named(choice_box(()), "tests-reference", tr("Run to compare with"))
        self.reference.setMinimumWidth(_BOX)
        self.tools = (self.reference,)
        said = tr("Two finished runs on the same folds are compared here, query by query.")
        about = tr("Every finished run against one of them, by query.")
        self.table = self.add_table(
            "tests", tr("Tests table"), about, said, lambda row: row.key, tr("Paired tests")
        )
        self.table.row_actions = self._actions
        self.body.addWidget(self.table)
        self.reference.activated.connect(self._on_reference)
        self.table.activated.connect(self._on_activated)

    def show_rows(self, rows: Sequence[ComparedRun], name: str) -> None:
        """Show runs against the first of them, by a measure."""
        if name != self._measure:
            self._measure = name
            self.table.set_columns(_columns(name))
        self.table.set_rows(rows if len(rows) > 1 else ())
        self.set_caption(self._caption_for(rows))

    def set_runs(self, runs: Mapping[int, str], reference: int | None) -> None:
        """Offer runs as the reference, by number and method; None marks the best."""
        offered = tuple(runs.items())
        if offered != self._runs:
            self._runs = offered
            self.reference.clear()
            self.reference.addItem(tr("against the best"), _BEST)
            for key, title in offered:
                self.reference.addItem(tr("run {key} · {title}").format(key=key, title=title), key)
        self.reference.setCurrentIndex(self.reference.findData(_BEST if reference is None else reference))
        self.reference.setToolTip(
            plain(
                tr("Which run the others are compared with: {currentText}").format(
                    currentText=self.reference.currentText()
                )
            )
        )
        self.reference.setEnabled(len(runs) > 1)

    def _caption_for(self, rows: Sequence[ComparedRun]) -> str:
        compared = [row.found for row in rows if row.found is not None]
        waiting = sum(row.role == "waiting" for row in rows)
        if len(rows) < 2:
            return ""
        if not compared:
            return tr("comparing …") if waiting else tr("no other run can be paired with the reference")
        against = tr("{measure}, {n:,} queries, against run {key}").format(
            measure=self._measure, n=compared[0].n, key=rows[0].key
        )
        return (
            tr("{against} · comparing {waiting} more …").format(against=against, waiting=waiting)
            if waiting
            else tr("{against} · double-click changes it").format(against=against)
        )

    def _actions(self, row: ComparedRun) -> list[QAction]:
        """Return what the context menu offers for a run."""
        if row.role == "reference":
            return []
        compare = QAction(tr("Compare the others with this run"), self.table)
        compare.triggered.connect(lambda: self.referenceChosen.emit(row.key))
        return [compare]

    @Slot(int)
    def _on_reference(self, index: int) -> None:
        key = self.reference.itemData(index)
        self.referenceChosen.emit(None if key == _BEST else key)

    @Slot(object)
    def _on_activated(self, _: object) -> None:
        row = self.table.current()
        if row is not None and row.role != "reference":
            self.referenceChosen.emit(row.key)


def _clear(row: ComparedRun) -> bool:
    """Tell whether the difference is more than chance would explain."""
    return row.p_holm is not None and row.p_holm < ALPHA


def _tone(row: ComparedRun) -> str:
    return "muted" if row.role == "left out" else "text"


def _signed(value: float) -> str:
    return signed(value, 4)


def _found(
    key: str,
    title: str,
    text: Callable[[Any], str],
    tooltip: str,
    width: int,
    bold: Callable[[ComparedRun], bool] | None = None,
) -> Column:
    """Return a column of what the comparison found."""
    return Column(
        key,
        title,
        "right",
        text,
        value=lambda row: getattr(row.found, key) if row.found is not None else None,
        tooltip=tooltip,
        tone="text" if bold else "muted",
        bold=bold,
        width=width,
    )


_FIRST = (
    RUN_DOT,
    Column("key", tr("run"), "right", width=44, tone=_tone),
    Column("method", tr("method"), width=190, tone=_tone),
    Column(
        "differs",
        tr("differs by"),
        value=lambda row: tr("the reference") if row.role == "reference" else row.differs,
        tooltip=tr("What is set otherwise than in the reference, and why a run is left out"),
        stretch=True,
        tone="muted",
    ),
)
_LAST = (
    _found("low", tr("95 % from"), _signed, tr("Of the difference: bootstrap"), 84),
    _found("high", tr("to"), _signed, tr("Of the difference: bootstrap"), 72),
    _found("p_randomisation", "p Fisher", p_text, tr("Of Fisher's randomisation test, two-sided"), 78),
    Column(
        "p_holm",
        "Holm",
        "right",
        p_text,
        tooltip=tr("The same, corrected by Holm for all runs compared; bold below {alpha}").format(
            alpha=ALPHA
        ),
        bold=_clear,
        width=72,
    ),
    _found("p_t", tr("p t-test"), p_text, tr("Of Student's paired t, two-sided"), 78),
    Column(
        "p_t_holm",
        "Holm",
        "right",
        p_text,
        tooltip=tr("The same, corrected by Holm for all runs compared"),
        tone="muted",
        width=72,
    ),
    _found("p_wilcoxon", tr("p Wilcoxon"), p_text, tr("Of Wilcoxon's signed-rank test, two-sided"), 88),
    Column(
        "p_wilcoxon_holm",
        "Holm",
        "right",
        p_text,
        tooltip=tr("The same, corrected by Holm for all runs compared"),
        tone="muted",
        width=72,
    ),
    _found("wins", tr("better"), str, tr("Queries in which it is better than the reference"), 62),
    _found("ties", tr("equal"), str, tr("Queries in which both are equal"), 58),
    _found("losses", tr("worse"), str, tr("Queries in which it is worse than the reference"), 60),
)


def _columns(name: str) -> tuple[Column, ...]:
    """Return the columns for a measure."""
    better = tr("more") if measure(name).higher_is_better else tr("less")
    tooltip = tr("{name} less that of the reference, mean over the queries; {better} is better").format(
        name=name, better=better
    )
    return (
        *_FIRST,
        Column(
            "mean", name, "right", ".4f", tooltip=tr("Mean {name} over the folds").format(name=name), width=84
        ),
        _found("mean_difference", tr("difference"), _signed, tooltip, 92, bold=_clear),
        *_LAST,
    )
