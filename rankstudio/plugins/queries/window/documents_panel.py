"""The panel of a query's documents, ranked by both models, with A's scores split by feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QPainter

from rankstudio.engine.metrics.names import per_query_name
from rankstudio.engine.support.number_format import MINUS
from rankstudio.plugins.queries.window.comparison_panel import BAR
from rankstudio.plugins.queries.window.legend import BETWEEN, Legend
from rankstudio.plugins.queries.window.sentences import (
    decimals,
    number,
    pair_sentence,
    query_sentence,
)
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.columns import ROW_ROLE
from rankstudio.ui.widgets.layout import named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.queries.query_comparison import ComparedQuery
    from rankstudio.plugins.queries.ranked_query import RankedDocument, RankedQuery

_CONTRIBUTIONS_COLUMN = 4  # index of the column of contributions
_N_COLORS = 6  # features with a color of their own; the others share one
# pixels of a part of a bar; narrower parts have no gap after them
_MIN_WIDTH_WITH_GAP = 3.0
_MAX_FEATURES_IN_TOOLTIP = 12  # features that are named; the others are counted
_CLICK_HINT = tr("click a document to see why")
_NAMES_PER_LINE = 3  # long names that share a line of the legend
_MIN_NAME_WIDTH = 120  # pixels of a long name


@dataclass(frozen=True)
class DocumentRow:
    """A row of the table: a document, and the contributions of the features to its score by A.

    Attributes
    ----------
    position : int
        Position of the document in A's ranking.
    document : RankedDocument
    parts : tuple of float
        Contributions in the order of the legend.
    contributions_text : str
        The contributions as a text, one per line.
    """

    position: int
    document: RankedDocument
    parts: tuple[float, ...]
    contributions_text: str

    @property
    def moved(self) -> int:
        """Number of ranks by which the document is higher in B than in A."""
        return self.document.rank_a - self.document.rank_b

    @property
    def improves_b(self) -> bool:
        """Whether the move improves B: upwards for a relevant document, downwards for another."""
        return (self.moved > 0) == self.document.relevant


class DocumentsPanel(Panel):
    """A table of a query's documents with their ranks by A and B, and A's scores as bars of contributions.

    A legend names the features of the bars. A sentence explains the
    order of the documents that the user selects.

    Attributes
    ----------
    table : TableView
    legend : FeatureLegend
    sentence : PlainLabel
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Query"), padding=0, name="query-documents-panel")
        self._query: RankedQuery | None = None

        # largest sum of the contributions to a document: the longest bar
        self._largest_sum = 0.0
        self._decimals = 3  # of the scores, set anew for each query
        self.legend = FeatureLegend(theme)
        label = tr("Documents of the query")
        self.table = TableView(
            theme,
            self._columns(),
            "query-documents-table",
            lambda row: row.position,
            accessible_name=label,
            # entry in the list of exports
            shared=Shared("documents", label, tr("Ranked by both models.")),
        )
        self.sentence = named(
            WrappedLabel(keeps=False), "query-sentence", role="caption"
        )
        self.sentence.setContentsMargins(12, 4, 12, 6)
        self.body.setSpacing(0)
        self.body.addWidget(self.legend)
        self.set_content(self.table)
        self.body.addWidget(self.sentence)
        self.table.selectionModel().selectionChanged.connect(self._show_sentence)
        self.clear("")

    def show_query(
        self, row: ComparedQuery, ranked_query: RankedQuery, measure: str
    ) -> None:
        """Show the documents of a query.

        Parameters
        ----------
        row : ComparedQuery
            The query with the measures of both models.
        ranked_query : RankedQuery
            The documents of the query, with ranks, scores and
            contributions of the features.
        measure : str
            Name of the measure.
        """
        self._query = ranked_query
        self.set_title(tr("Query {query_id}").format(query_id=ranked_query.query_id))
        text = tr("{measure} of A {a:.3f}, of B {b:.3f}").format(
            measure=per_query_name(measure), a=row.a, b=row.b
        )
        values = (
            _auc_sentence(row, ranked_query) if measure == "AUC" else text
        ).replace("nan", "–")
        counts = trn(
            "{n} document, {n_relevant} relevant",
            "{n} documents, {n_relevant} relevant",
            row.n_documents,
        )
        counts = counts.format(n=row.n_documents, n_relevant=row.n_relevant)
        self.set_caption(f"{counts} · {values} · {_CLICK_HINT}")

        # The most influential features have colors; the others share the last color.
        colored = ranked_query.by_influence[:_N_COLORS]
        rest = ranked_query.by_influence[_N_COLORS:]
        names = [ranked_query.names[i] for i in colored] + (
            [_others_text(len(rest))] if rest else []
        )
        legend = (
            tr("Score of A, starting at {number}, by feature:")
            if ranked_query.offset
            else tr("Score of A, by feature:")
        )
        about = tr(
            "Each bar starts at {number}: the smallest contributions of all features in this query."
        ).format(number=number(ranked_query.offset))
        self.legend.set_names(
            legend.format(number=number(ranked_query.offset)), names, about
        )
        rows = []
        strongest = ranked_query.by_influence[:_MAX_FEATURES_IN_TOOLTIP]

        for position, document in enumerate(ranked_query.documents):
            # contributions minus the smallest ones in this query, so
            # that bars start at 0
            contributions = ranked_query.above_least[position]
            parts = [float(contributions[i]) for i in colored]
            parts += [float(contributions[list(rest)].sum())] if rest else []
            tip = "\n".join(
                f"{ranked_query.names[i]}: {number(float(contributions[i]))}"
                for i in strongest
            )
            if len(ranked_query.names) > _MAX_FEATURES_IN_TOOLTIP:
                tip += f"\n{_others_text(len(ranked_query.names) - _MAX_FEATURES_IN_TOOLTIP)}"
            rows.append(DocumentRow(position, document, tuple(parts), tip))

        self._largest_sum = max((sum(r.parts) for r in rows), default=0.0)
        self._decimals = decimals(
            [document.score_a for document in ranked_query.documents]
        )

        # Rows are identified by their positions: emptied first, the
        # table does not take those of another query for the same rows.
        self.table.select(None)
        self.table.set_rows(())
        self.table.set_rows(rows)
        self.table.verticalScrollBar().setValue(0)
        self._show_sentence()

    def clear(self, reason: str) -> None:
        """Show a reason instead of a query."""
        self._query = None
        self.set_title(tr("Query"))
        self.set_caption("")
        self.legend.set_names("", ())
        self.table.placeholder = reason
        self.table.set_rows(())
        self._show_sentence()

    def _columns(self) -> tuple[Column, ...]:
        """Return the columns of the table of documents, with the ranks by A and B."""

        def of(name: str) -> Callable[[DocumentRow], object]:
            """Return a function from a row to an attribute of its document."""
            return lambda row: getattr(row.document, name)

        return (
            Column(
                "rank_a",
                "A",
                "right",
                value=of("rank_a"),
                tooltip=tr("Rank by A"),
                width=40,
            ),
            Column(
                "label",
                tr("label"),
                format="g",
                value=of("label"),
                tooltip=tr("Relevance label"),
                width=54,
                paint=_paint_label,
            ),
            Column(
                "name",
                tr("document"),
                value=of("name"),
                hint=lambda row: row.document.comment,
                width=168,
            ),
            Column(
                "rank_b",
                "B",
                "right",
                value=of("rank_b"),
                width=58,
                paint=_paint_move,
                tooltip=tr("Rank by B; the arrow shows the change from A to B"),
            ),
            Column(
                "parts",
                tr("contributions"),
                value=lambda row: row.contributions_text.replace("\n", "; "),
                stretch=True,
                hint=lambda row: row.contributions_text,
                sort=lambda row: sum(row.parts),
                paint=self._paint_parts,
                tooltip=tr(
                    "Contribution of each feature to A's score, above its smallest contribution in this query"
                ),
            ),
            Column(
                "score_a",
                tr("score"),
                "right",
                self._score,
                of("score_a"),
                tooltip=tr("Score by A"),
                width=74,
            ),
        )

    def _score(self, value: float) -> str:
        """Return a score as a text."""
        return f"{value:.{self._decimals}f}".replace("-", MINUS)

    def _paint_parts(
        self, painter: QPainter, cell: QRect, colors: Colors, row: DocumentRow
    ) -> None:
        """Draw the contributions to a document's score as parts of a bar, one after the other.

        ``cell`` is the rectangle of the table's cell. The bar of the
        largest sum is as long as this rectangle.
        """
        if not self._largest_sum:
            return
        x = float(cell.left())
        top = cell.center().y() - BAR / 2 + 1
        painter.setPen(Qt.PenStyle.NoPen)

        for index, part in enumerate(row.parts):
            width = cell.width() * part / self._largest_sum
            painter.setBrush(_feature_color(colors, index))
            painter.drawRect(
                QRectF(x, top, width - 1 if width > _MIN_WIDTH_WITH_GAP else width, BAR)
            )
            x += width

    @Slot()
    def _show_sentence(self) -> None:
        """Explain in a sentence why model A ranks one of two documents above the other.

        The two documents are the first two that the user has selected.
        If one document is selected, they are this one and the next; if
        none is, they are the first two of all.
        """
        query = self._query
        if query is None:
            self.sentence.clear()
            return
        rows = self.table.selectionModel().selectedRows()
        positions = sorted(index.data(ROW_ROLE).position for index in rows)
        last = len(query.documents) - 1
        first = positions[0] if positions else 0
        if len(positions) > 1:
            second = positions[1]
        elif first < last:
            second = first + 1
        else:  # the last document is compared with the one before it
            first, second = first - 1, first

        # Scores that do not come from features have no contributions.
        self.table.setColumnHidden(
            _CONTRIBUTIONS_COLUMN, not query.contributions.columns
        )
        sentences = [] if positions else [query_sentence(query)]
        if last > 0:
            sentences.append(pair_sentence(query, first, second))
        self.sentence.setText(" ".join(sentences))


def _paint_label(
    painter: QPainter, cell: QRect, colors: Colors, row: DocumentRow
) -> None:
    """Draw a relevance label as a chip, for a relevant document in the color of its label."""
    label = row.document.label
    relevant = row.document.relevant

    # There are colors for labels from 0 to 6; others have the nearest of these.
    color = (
        palettes.category(colors, min(max(0, int(label)), 6)).color
        if relevant
        else colors.q("bar")
    )

    # 24 by 17 pixels, in the middle of the line
    chip = QRectF(cell.left(), cell.center().y() - 8, 24, 17)
    painter.setPen(pen(color, 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(chip, 8, 8)
    painter.setFont(font(TINY, bold=relevant))
    painter.setPen(colors.q("text" if relevant else "muted"))
    painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, f"{label:g}")


def _paint_move(
    painter: QPainter, cell: QRect, colors: Colors, row: DocumentRow
) -> None:
    """Draw a document's rank by B and an arrow, upwards if B ranks the document higher than A does.

    Equal ranks get a dot. The color says whether the move improves B's ranking.
    """
    moved = row.moved  # number of ranks, positive if B ranks the document higher
    name = "ok" if row.improves_b else "error"
    color = colors.q(name if moved else "muted")
    painter.setPen(color)
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

    # The last 16 pixels of the cell are for the arrow or the dot.
    painter.drawText(cell.adjusted(0, 0, -16, 0), right, str(row.document.rank_b))
    x = cell.right() - 5.0
    y = cell.center().y() + 1.0
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if not moved:
        painter.drawEllipse(QPointF(x, y), 1.4, 1.4)
        return
    tip = -4.0 if moved > 0 else 4.0
    base = y - tip * 0.8
    painter.drawPolygon(
        [QPointF(x - 4.5, base), QPointF(x + 4.5, base), QPointF(x, y + tip)]
    )


def _others_text(n: int) -> str:
    """Return the text for ``n`` features that are not named."""
    return trn("{n} other", "{n} others", n).format(n=n)


def _auc_sentence(row: ComparedQuery, ranked_query: RankedQuery) -> str:
    """Return a text with the AUC of both models in a query and DeLong's 95 % intervals.

    The measures in ``row`` are AUC.
    """
    (a_low, a_high), (b_low, b_high) = ranked_query.auc_intervals()
    text = tr(
        "AUC of A {a:.3f} ({a_low:.2f} to {a_high:.2f}), of B {b:.3f} ({b_low:.2f} to {b_high:.2f}; "
        "95\xa0% intervals)"
    )
    return text.format(
        a=row.a,
        b=row.b,
        a_low=a_low,
        a_high=a_high,
        b_low=b_low,
        b_high=b_high,
    )


def _feature_color(colors: Colors, position: int) -> QColor:
    """Return the color of a feature, given by its position among the most discriminating features."""
    return (
        palettes.category(colors, position).color
        if position < _N_COLORS
        else colors.q("bar")
    )


class FeatureLegend(Legend):
    """A legend with the names of the features that contribute to scores, beside their colors.

    Parameters
    ----------
    theme : Theme
    """

    pad = 12
    radius = 2.0

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme, "feature-legend", tr("Features that contribute to the score")
        )

    def set_names(self, title: str, names: Sequence[str], about: str = "") -> None:
        """Show the names of features in the order of their colors, with a title.

        ``about`` is the first line of the tooltip.
        """
        self._show(title, names, about)

    def color(self, colors: Colors, position: int) -> QColor:
        """Return the color of a feature."""
        return _feature_color(colors, position)

    def max_entry_width(self, line_width: float) -> float:
        """Return the width to which a name is cut, so that several long names share a line.

        ``line_width`` is that of a line in pixels. The tooltip has the
        whole names.
        """
        return max(_MIN_NAME_WIDTH, line_width / _NAMES_PER_LINE - BETWEEN)
