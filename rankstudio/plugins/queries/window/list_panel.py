"""The panel with a table of the compared queries, which the user filters and sorts."""

from __future__ import annotations

from functools import partial
from math import isnan
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRect, Signal, Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLineEdit, QPushButton

from rankstudio.engine.arrays import Bools
from rankstudio.engine.metrics.names import measure, per_query_name
from rankstudio.engine.support.number_format import signed
from rankstudio.plugins.queries.window.comparison_panel import paint_difference
from rankstudio.ui.language import tr
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.choices import choice_box, set_choices
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.plugins.queries.query_comparison import (
        ComparedQuery,
        QueryComparison,
    )

_DRAG_HINT = tr("drag over points to list only those")
_ORDER_AND_DRAG_HINT = tr("largest loss first · drag over points to list only those")
_NUMBER_WIDTH = 62  # pixels of the number of a difference, beside its bar
# minimum characters of the box that filters by the better model
_WINNER_BOX_LETTERS = 14
_ALL = "all"
_BETTER = "better"
_WORSE = "worse"
_EQUAL = "equal"


class QueryListPanel(Panel):
    """A table of the compared queries with the measures of A and B, the greatest loss of B first.

    The user filters the queries by id, by the better model, and by
    brushing points of the plot, and can select features for the listed
    queries.

    Attributes
    ----------
    chosen : Signal(int)
        The user moved to another query: its position in the comparison's order.
    filtered : Signal(object)
        The filter has changed: whether each query of the comparison is
        listed (ndarray of bool).
    select_for : QPushButton
        Button to select features for the listed queries alone.
    table : TableView
    """

    chosen = Signal(int)
    filtered = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Queries"), padding=0, name="query-list-panel")
        self._comparison: QueryComparison | None = None
        self._brushed_positions: tuple[int, ...] = ()
        self._position_of: dict[
            tuple[int, int], int
        ] = {}  # in the comparison, by fold and position in the part

        # fold and position in the part
        self._marked_query: tuple[int, int] | None = None
        self._largest_difference = 0.0
        self.all = named(
            QPushButton(tr("show all")),
            "query-show-all",
            tr("Show all queries"),
            tr("List all queries again"),
            "quiet",
        )
        self.all.clicked.connect(lambda: self.brush(()))
        self.select_for = named(
            QPushButton(tr("Select for these…")),
            "select-for-queries",
            tip=tr(
                "Select features for the listed queries alone, and for the others alone"
            ),
            role="quiet",
        )
        self.field = named(
            QLineEdit(),
            "query-filter",
            tr("Query id"),
            tr("Show only queries whose id contains this text"),
        )
        self.field.setPlaceholderText(tr("query id"))
        self.field.setClearButtonEnabled(True)
        self.field.setFixedWidth(128)
        self.field.textChanged.connect(self._list_filtered)
        self.winner = named(
            choice_box(()),
            "query-winner",
            tr("Better model"),
            tr("Show only queries in which B is better, worse or equal"),
        )
        self.winner.setMinimumContentsLength(_WINNER_BOX_LETTERS)
        self.winner.currentIndexChanged.connect(self._list_filtered)
        self.tools.addWidget(self.winner)
        self.tools.addWidget(self.select_for)
        self.tools.addWidget(self.all)
        self.tools.addWidget(self.field)
        self.table = TableView(
            theme,
            self._columns(several_folds=False),
            "query-table",
            _row_identity,
            accessible_name=tr("Queries"),
            # entry in the list of exports
            shared=Shared(
                "queries", tr("Queries"), tr("Measures of two models in every query.")
            ),
        )
        self.set_content(self.table)
        self.table.horizontalHeader().sortIndicatorChanged.connect(self._show_caption)
        self.table.chosen.connect(
            lambda row: self.chosen.emit(self._position_of[_row_identity(row)])
        )
        self.clear("")

    def show_comparison(self, comparison: QueryComparison) -> None:
        """List the queries of a comparison; filters by points end, the others stay."""
        self._comparison = comparison
        self._brushed_positions = ()
        self._offer_winners(comparison)
        self._position_of = {
            _row_identity(query): i for i, query in enumerate(comparison.queries)
        }
        gains = comparison.gain[~np.isnan(comparison.gain)]
        self._largest_difference = float(np.abs(gains).max()) if gains.size else 0.0
        self.table.placeholder = tr("No query has this id.")
        header = self.table.horizontalHeader()
        sorted_section = header.sortIndicatorSection()
        sort_order = header.sortIndicatorOrder()
        n_columns = self.table.rows_model.columnCount()
        self.table.set_columns(
            self._columns(several_folds=len({q.fold for q in comparison.queries}) > 1)
        )

        # with the same columns, the order is kept
        if self.table.rows_model.columnCount() == n_columns:
            self.table.sortByColumn(sorted_section, sort_order)
        self._list_filtered()

    def clear(self, reason: str) -> None:
        """Show a reason instead of queries."""
        self._comparison = None
        self._brushed_positions = ()
        self._position_of = {}
        self._marked_query = None

        # the filter by the better model, and the buttons to list all
        # queries and to select features for the listed ones
        self.winner.hide()
        self.table.placeholder = reason
        self.all.hide()
        self.select_for.hide()
        self.set_caption("")
        self.table.set_rows(())

    def brush(self, positions: tuple[int, ...]) -> None:
        """List only the queries at some positions of the comparison that also pass the other filters.

        Without positions, all queries are listed, whichever model is better.
        """
        self._brushed_positions = positions
        if not positions:
            self.winner.setCurrentIndex(0)
        self._list_filtered()

    def forget_filter(self) -> None:
        """Reset all filters, because the queries of other data have other ids."""
        self._brushed_positions = ()
        self.winner.setCurrentIndex(0)
        self.field.clear()

    def listed(self) -> tuple[ComparedQuery, ...]:
        """Return the queries that pass the filters, in the order of the comparison."""
        if self._comparison is None:
            return ()
        is_listed = self._is_listed()
        return tuple(
            q
            for q, passes in zip(self._comparison.queries, is_listed, strict=True)
            if passes
        )

    def select(self, position: int) -> None:
        """Mark a query, by its position in the comparison, without a signal.

        Reset all filters if the query is not listed.
        """
        if self._comparison is None:
            return
        if not self._is_listed()[position]:
            self._brushed_positions = ()
            self.winner.setCurrentIndex(0)
            self.field.clear()
            self._list_filtered()
        query = self._comparison.queries[position]
        self._marked_query = _row_identity(query)
        self.table.select(query)

    def _is_listed(self) -> Bools:
        """Return whether each query of the comparison passes the filters, shape (Q,).

        The three filters are the points that were selected in the plot,
        the better model, and a text in the query's id.
        """
        assert self._comparison is not None  # callers have checked
        queries = self._comparison.queries
        is_listed = np.ones(len(queries), dtype=np.bool_)
        if self._brushed_positions:
            is_listed[:] = False
            is_listed[list(self._brushed_positions)] = True
        gain = self._comparison.gain
        has_outcome = {_BETTER: gain > 0, _WORSE: gain < 0, _EQUAL: gain == 0}.get(
            self.winner.currentData()
        )
        if has_outcome is not None:
            is_listed &= has_outcome
        text = self.field.text().strip()
        if text:
            is_listed &= np.array(
                [text in query.query_id for query in queries], dtype=np.bool_
            )
        return is_listed

    def _offer_winners(self, comparison: QueryComparison) -> None:
        """Offer the filters by the better model, with their numbers of queries.

        The chosen filter stays.
        """
        chosen = self.winner.currentIndex()  # -1 without options
        counts = comparison.counts
        options = (
            (_ALL, tr("all queries")),
            (_BETTER, tr("B better ({n:,})").format(n=counts.wins)),
            (_WORSE, tr("B worse ({n:,})").format(n=counts.losses)),
            (_EQUAL, tr("equal ({n:,})").format(n=counts.ties)),
        )

        # The list is filtered once, by the caller.
        self.winner.blockSignals(True)
        set_choices(self.winner, options)
        self.winner.setCurrentIndex(max(0, chosen))
        self.winner.blockSignals(False)
        self.winner.show()

    @Slot()
    def _list_filtered(self) -> None:
        """List the queries that pass the filters."""
        comparison = self._comparison
        if comparison is None:
            return
        is_listed = self._is_listed()
        self.table.set_rows(
            [comparison.queries[i] for i in np.flatnonzero(is_listed).tolist()]
        )

        # New rows have no mark; the marked query may be among them.
        if self._marked_query in self._position_of:
            self.table.select(
                comparison.queries[self._position_of[self._marked_query]], scroll=False
            )
        n = int(np.count_nonzero(is_listed))
        self.all.setVisible(
            bool(self._brushed_positions) or self.winner.currentIndex() > 0
        )

        # A selection needs at least two queries in each of the two groups.
        self.select_for.setVisible(2 <= n <= is_listed.size - 2)
        self._show_caption()
        self.filtered.emit(is_listed)

    @Slot()
    def _show_caption(self) -> None:
        """Show the number of listed queries if some are filtered out, otherwise a hint."""
        n = len(self.table.rows())
        n_all = len(self._position_of)

        # -1 stands for the original order, the largest loss of B first
        is_sorted_by_user = self.table.horizontalHeader().sortIndicatorSection() >= 0
        caption = _DRAG_HINT if is_sorted_by_user else _ORDER_AND_DRAG_HINT
        if not n_all:
            caption = ""
        elif n < n_all:
            caption = tr("{n:,} of {size:,}").format(n=n, size=n_all)
        self.set_caption(caption)

    def _columns(self, *, several_folds: bool) -> tuple[Column, ...]:
        """Return the columns of the table of queries, with the measures of A and B."""
        name = self._comparison.measure if self._comparison else "measure"
        fold = Column(
            "fold",
            tr("fold"),
            "right",
            tooltip=tr("Fold of the query"),
            tone="muted",
            width=46,
        )
        per_query = per_query_name(name) if self._comparison else name
        sign = -1.0 if self._comparison and not measure(name).higher_is_better else 1.0

        # Without the column of folds, the ids take its width, so that
        # the other columns do not move.
        id_width = 104 if several_folds else 104 + fold.width
        return (
            Column(
                "query_id",
                tr("query"),
                tooltip=tr("Id of the query in the file"),
                width=id_width,
                sort=_sorting_key,
            ),
            *([fold] if several_folds else []),
            Column("n_documents", tr("documents"), "right", tone="muted", width=86),
            Column(
                "n_relevant",
                tr("relevant"),
                "right",
                tooltip=tr("Relevant documents"),
                tone="muted",
                width=70,
            ),
            _measure_column("a", per_query),
            _measure_column("b", per_query),
            Column(
                "difference",
                "B − A",
                "right",
                partial(signed, decimals=3),
                tooltip=tr("{name} of B minus {name} of A").format(name=per_query),
                stretch=True,
                tone=partial(_row_tone, sign=sign),
                paint=partial(self._paint, sign=sign),
            ),
        )

    def _paint(
        self,
        painter: QPainter,
        cell: QRect,
        colors: Colors,
        row: ComparedQuery,
        *,
        sign: float,
    ) -> QRect:
        """Draw a query's difference B - A as a bar, if it is defined and the cell is wide enough.

        ``cell`` is the rectangle of the cell in pixels, and ``sign`` is
        -1 if lower measures are better. The rectangle for the number,
        which is drawn next, is returned: the whole cell, as numbers are
        aligned to its right.
        """
        bar = cell.adjusted(0, 0, -_NUMBER_WIDTH, 0)
        value = row.difference

        # A bar needs at least two thirds of the width of a number.
        if bar.width() > 2 * _NUMBER_WIDTH // 3 and not isnan(value):
            paint_difference(
                painter,
                bar,
                colors,
                value,
                self._largest_difference,
                better=value * sign > 0,
            )
        return cell


def _measure_column(model: str, name: str) -> Column:
    """Return the column of the measure of A or B; queries without relevant documents sort last."""
    tip = tr(
        "{name} of {model} in the query. Click to list the lowest values first; queries without relevant "
        "documents come last."
    ).format(name=name, model=model.upper())
    measured = attrgetter(model)  # rows have the measures as attributes a and b
    return Column(
        model,
        model.upper(),
        "right",
        ".3f",
        tooltip=tip,
        width=64,
        sort=lambda row: measured(row) if row.n_relevant else None,
    )


def _row_identity(row: ComparedQuery) -> tuple[int, int]:
    """Return fold and position of a query."""
    return row.fold, row.position


def _sorting_key(row: ComparedQuery) -> tuple[int, int, str]:
    """Return a key to sort query ids by: numbers by value, then texts."""
    text = row.query_id
    return (0, int(text), "") if text.isdecimal() else (1, 0, text)


def _row_tone(row: ComparedQuery, *, sign: float) -> str:
    """Return the color of a row by whether B is better."""
    gain = row.difference * sign
    if gain > 0:
        return "ok"
    return "error" if gain < 0 else "muted"
