"""The documents of one query, ranked by both models, with A's scores split feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Slot
from PySide6.QtGui import QPainter

from rankstudio.ui.language import tr
from rankstudio.ui.queries.cell_paint import N_COLORS, paint_label, paint_move, paint_stack
from rankstudio.ui.queries.feature_legend import FeatureLegend
from rankstudio.ui.queries.sentences import counted, decimals, number, pair_sentence, query_sentence
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.number_format import MINUS
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.columns import ROW_ROLE
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.queries.query_comparison import ComparedQuery
    from rankstudio.engine.analysis.queries.ranked_query import RankedDocument, RankedQuery

_PARTS = 4  # the column of contributions
_TOLD = 12  # features in a tooltip
_ACT = tr("click one or two documents to see what decides")


@dataclass(frozen=True)
class DocumentRow:
    """A document, what the features add to its score, and how that is said.

    Attributes
    ----------
    position : int
        Among the documents as A ranks them.
    document : RankedDocument
    parts : tuple of float
        In the order of the legend.
    told : str
        The same in words.
    """

    position: int
    document: RankedDocument
    parts: tuple[float, ...]
    told: str

    @property
    def moved(self) -> int:
        """How many places B puts it higher."""
        return self.document.rank_a - self.document.rank_b

    @property
    def good(self) -> bool:
        """Whether that move is a good one: upwards for a relevant document."""
        return (self.moved > 0) == self.document.relevant


class DocumentsPanel(Panel):
    """A row a document.

    Attributes
    ----------
    table : TableView
    legend : FeatureLegend
    sentence : PlainLabel
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Query"), padding=0)
        self.setObjectName("query-documents-panel")
        self._query: RankedQuery | None = None
        self._largest = 0.0
        self._decimals = 3
        self.legend = FeatureLegend(theme)
        self.table = TableView(theme, self._columns(), "query-documents-table", lambda row: row.position)
        named(self.table, said=tr("Documents of the query"))
        self.sentence = named(PlainLabel(), "query-sentence", role="caption")
        self.sentence.setWordWrap(True)
        self.sentence.setContentsMargins(12, 4, 12, 6)
        self.body.setSpacing(0)
        self.body.addWidget(self.legend)
        self.set_content(self.table)
        self.body.addWidget(self.sentence)
        self.table.selectionModel().selectionChanged.connect(self._compare)
        self.clear("")

    def show_query(self, row: ComparedQuery, found: RankedQuery, measure: str) -> None:
        """Show another query.

        Parameters
        ----------
        row : ComparedQuery
            What both models measure in it.
        found : RankedQuery
        measure : str
        """
        self._query = found
        self.set_title(tr("Query {query_id}").format(query_id=found.query_id))
        values = (
            tr("{measure} of A {a:.3f}, of B {b:.3f}")
            .format(measure=measure, a=row.a, b=row.b)
            .replace("nan", "–")
        )
        relevant = tr("{n_relevant} relevant").format(n_relevant=row.n_relevant)
        self.set_caption(
            f"{counted(row.n_documents, tr('document'), tr('documents'))}, {relevant} · {values} · {_ACT}"
        )
        shown, others = found.by_influence[:N_COLORS], found.by_influence[N_COLORS:]
        names = [found.names[i] for i in shown] + (
            [counted(len(others), tr("other"), tr("others"))] if others else []
        )
        least = tr(" above {number}").format(number=number(found.offset)) if found.offset else ""
        about = tr("Each bar begins at {number}: the least parts of all features in this query.").format(
            number=number(found.offset)
        )
        self.legend.set_names(tr("Score of A{least}, by feature:").format(least=least), names, about)
        rows = []
        for position, document in enumerate(found.documents):
            above = found.above_least[position]
            parts = [float(above[i]) for i in shown]
            parts += [float(above[list(others)].sum())] if others else []
            most = found.by_influence[:_TOLD]
            told = "\n".join(f"{found.names[i]}: {number(float(above[i]))}" for i in most)
            told += (
                tr("\nand {counted}").format(
                    counted=counted(len(found.names) - _TOLD, tr("other"), tr("others"))
                )
                if len(found.names) > _TOLD
                else ""
            )
            rows.append(DocumentRow(position, document, tuple(parts), told))
        self._largest = max((sum(r.parts) for r in rows), default=0.0)
        self._decimals = decimals([document.score_a for document in found.documents])
        self.table.select(None)
        self.table.set_rows(())
        self.table.set_rows(rows)
        self.table.verticalScrollBar().setValue(0)
        self._say()

    def clear(self, why: str) -> None:
        """Show no query, and say why."""
        self._query = None
        self.set_title(tr("Query"))
        self.set_caption("")
        self.legend.set_names("", ())
        self.table.placeholder = why
        self.table.set_rows(())
        self._say()

    def _columns(self) -> tuple[Column, ...]:
        def of(name: str) -> Callable[[DocumentRow], object]:
            return lambda row: getattr(row.document, name)

        return (
            Column("rank_a", "A", "right", value=of("rank_a"), tooltip=tr("Rank by A"), width=40),
            Column(
                "label",
                tr("label"),
                format="g",
                value=of("label"),
                tooltip=tr("Relevance label"),
                width=54,
                paint=self._paint_label,
            ),
            Column(
                "name", tr("document"), value=of("name"), hint=lambda row: row.document.comment, width=168
            ),
            Column(
                "rank_b",
                "B",
                "right",
                value=of("rank_b"),
                width=58,
                paint=self._paint_move,
                tooltip=tr("Rank by B; the arrow tells where it moves from A to B"),
            ),
            Column(
                "parts",
                tr("contributions"),
                value=lambda row: row.told.replace("\n", "; "),
                stretch=True,
                hint=lambda row: row.told,
                sort=lambda row: sum(row.parts),
                paint=self._paint_parts,
                tooltip=tr("What each feature adds to A's score above the least that it adds in this query"),
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
        return f"{value:.{self._decimals}f}".replace("-", MINUS)

    @staticmethod
    def _paint_label(painter: QPainter, room: QRect, colors: Colors, row: DocumentRow) -> None:
        paint_label(painter, room, colors, row.document.label, row.document.relevant)

    @staticmethod
    def _paint_move(painter: QPainter, room: QRect, colors: Colors, row: DocumentRow) -> None:
        paint_move(painter, room, colors, row.document.rank_b, row.moved, row.good)

    def _paint_parts(self, painter: QPainter, room: QRect, colors: Colors, row: DocumentRow) -> None:
        paint_stack(painter, room, colors, row.parts, self._largest)

    @Slot()
    def _compare(self) -> None:
        self._say()

    def _say(self) -> None:
        """Say what decides between two chosen documents, one and the next, or the first two."""
        found = self._query
        if found is None:
            self.sentence.clear()
            return
        rows = self.table.selectionModel().selectedRows()
        at = sorted(index.data(ROW_ROLE).position for index in rows)
        last = len(found.documents) - 1
        pair = (at or [0])[:2]
        if len(pair) == 1:
            pair = [pair[0], pair[0] + 1] if pair[0] < last else [pair[0] - 1, pair[0]]
        self.table.setColumnHidden(_PARTS, not found.contributions.columns)
        parts = [] if at else [query_sentence(found)]
        if last > 0:
            parts.append(pair_sentence(found, *pair))
        self.sentence.setText(" ".join(parts))
