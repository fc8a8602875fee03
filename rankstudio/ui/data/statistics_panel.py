"""Statistics of the data: every feature, documents per query, the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTabWidget

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.summary import DatasetSummary, FeatureSummary, shown_features
from rankstudio.engine.plugins.feature_columns import FeatureColumn, FeatureValue
from rankstudio.engine.plugins.feature_columns import feature_columns as contributed_entries
from rankstudio.engine.support.number_format import percentage, significant
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.distributions import HistogramPlot
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, ColumnModel, HistogramCell, Panel, TableView
from rankstudio.ui.widgets.columns import PAD
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.feature_quality import FeatureQuality

NOTHING = tr("Open a dataset to see its contents.")


@dataclass(frozen=True, eq=False)
class DescribedFeature:
    """One feature.

    Attributes
    ----------
    summary : FeatureSummary
    quality : FeatureQuality or None
        None while it is computed.
    name : str
    note : str
        Of the user.
    cost : float or None
        In the plan; None where the method knows no costs.
    group : str
        In the plan; "" where it is in none.
    per_document, per_query : float or None
        Milliseconds that it costs; None where that is not known.
    contributed : dict of str to FeatureValue
        What columns of abilities have of it, by their keys.
    """

    summary: FeatureSummary
    quality: FeatureQuality | None
    name: str
    note: str = ""
    cost: float | None = None
    group: str = ""
    per_document: float | None = None
    per_query: float | None = None
    contributed: Mapping[str, FeatureValue] = field(default_factory=dict)

    @property
    def feature_id(self) -> int:
        """The feature's id, from 1 up."""
        return self.summary.feature_id

    @property
    def constant(self) -> bool:
        """Whether it can change no ranking."""
        return self.summary.constant

    @property
    def histogram(self) -> HistogramCell | None:
        """Shares of all documents and of the relevant ones; None while they are counted."""
        if self.quality is None:
            return None
        all_shares, relevant = self.quality.histogram.shares.tolist()
        return HistogramCell(tuple(all_shares), tuple(relevant))

    @property
    def values_text(self) -> str:
        """The histogram in words."""
        if self.quality is None:
            return ""
        histogram = self.quality.histogram
        (all_shares, relevant), (_, n_relevant) = (
            histogram.shares.tolist(),
            histogram.counts.sum(axis=1).tolist(),
        )
        tallest = max(range(len(all_shares)), key=all_shares.__getitem__)
        width = (histogram.high - histogram.low) / len(all_shares)
        low = histogram.low + tallest * width
        if not width:
            return tr("All values are {number}.").format(number=_number(histogram.low))
        text = tr("From {least} to {most}. {every} of all documents are between {low} and {high}.")
        if n_relevant:
            text = tr(
                "From {least} to {most}. {every} of all documents and {relevant} of the "
                "relevant ones are between {low} and {high}."
            )
        return text.format(
            least=_number(histogram.low),
            most=_number(histogram.high),
            every=percentage(all_shares[tallest]),
            relevant=percentage(relevant[tallest]),
            low=_number(low),
            high=_number(low + width),
        )

    def alone(self, measure: str) -> float | None:
        """Return a measure of ranking by the feature alone; None if it is constant or not measured."""
        return None if self.quality is None or self.constant else self.quality.alone[measure]

    @property
    def direction_text(self) -> str:
        """In which direction it ranks alone, as a sentence."""
        if self.quality is None or self.constant:
            return ""
        if self.quality.ascending:
            return tr("Ranks small values first, which gives the better MAP.")
        return tr("Ranks large values first, which gives the better MAP.")

    @property
    def warning(self) -> str:
        """Oddities of the feature, in words for a table."""
        if self.quality is None:
            return tr("constant") if self.constant else ""
        return ", ".join(finding.word for finding in self.quality.findings)

    @property
    def warning_text(self) -> str:
        """Oddities of the feature, in sentences."""
        return "\n".join(finding.text for finding in self.quality.findings) if self.quality else ""


_number = partial(significant, digits=6)
_short = partial(significant, digits=4)


def _range_text(row: DescribedFeature) -> str:
    summary = row.summary
    if summary.minimum == summary.maximum:
        return _number(summary.minimum)
    return " … ".join(_short_number(value) for value in (summary.minimum, summary.maximum))


def _short_number(value: float) -> str:
    """Return a number for a narrow column: three digits below 1, otherwise four."""
    return significant(value, 3 if 0 < abs(value) < 1 else 4)


_ID_COLUMN = Column("feature_id", tr("id"), "right", width=44, tone="muted")
_NAME_COLUMN = Column(
    "name",
    tr("feature"),
    stretch=True,
    tone=lambda row: "muted" if row.constant else "text",
    edited=lambda row: row.name,
    mark=lambda row: bool(row.note),
    hint=lambda row: f"{row.name}\n{row.note}" if row.note else "",
    tooltip=tr("Double-click or press F2 to rename. A diamond marks a note."),
)
_VALUES_COLUMN = Column(
    "histogram",
    tr("values"),
    kind="histogram",
    width=100,
    hint=lambda row: row.values_text,
    tooltip=(
        tr(
            "Grey bars: all documents. Line: relevant documents. Heights are square roots of "
            "shares; outliers are counted at the ends."
        )
    ),
)
_RANGE_COLUMN = Column(
    "range",
    tr("range"),
    "right",
    value=_range_text,
    sort=lambda row: row.summary.maximum / 2 - row.summary.minimum / 2,
    tooltip=tr("Smallest and largest value"),
    width=126,
)
_MEAN_COLUMN = Column("mean", tr("mean"), "right", _short, value=lambda row: row.summary.mean, width=74)
_ZEROS_COLUMN = Column(
    "zeros",
    tr("zeros"),
    "right",
    lambda share: percentage(share, 1),
    value=lambda row: row.summary.zeros,
    tooltip=tr("Share of documents with value 0"),
    width=70,
)
_MISSING_COLUMN = Column(
    "missing",
    tr("missing"),
    "right",
    ",",
    value=lambda row: row.summary.missing,
    tooltip=tr("Values missing in the files"),
    width=68,
)
_COST_COLUMN = Column(
    "cost",
    tr("cost"),
    "right",
    "g",
    edited=lambda row: f"{row.cost:g}",
    tooltip=tr("Cost by which the plan selects, 1 by default. Double-click or press F2 to edit."),
    width=56,
)
_PER_DOCUMENT_COLUMN = Column(
    "per_document",
    tr("ms/doc"),
    "right",
    _short,
    full_title=tr("milliseconds per document"),
    tooltip=tr("Milliseconds that the feature costs for each document, as imported"),
    width=64,
)
_PER_QUERY_COLUMN = Column(
    "per_query",
    tr("ms/query"),
    "right",
    _short,
    full_title=tr("milliseconds per query"),
    tooltip=tr("Milliseconds that the feature costs once per query, as imported"),
    width=70,
)
_GROUP_COLUMN = Column(
    "group",
    tr("group"),
    edited=lambda row: row.group,
    tooltip=(
        tr(
            "Selectors select all features of a group or none. Double-click to edit, Ctrl+G for all "
            "selected rows; an empty cell removes the feature from its group."
        )
    ),
    width=84,
)
_WARNING_COLUMN = Column(
    "warning",
    tr("warnings"),
    tone="warning",
    hint=lambda row: row.warning_text,
    tooltip=tr("Warnings about the feature; hover over a word for the reason"),
    width=102,
)


def _single_feature_column(measure: str) -> Column:
    """Return the column of a measure of the ranking by each feature alone."""
    return Column(
        measure,
        measure,
        "right",
        ".4f",
        value=lambda row: row.alone(measure),
        hint=lambda row: row.direction_text,
        tooltip=tr("{measure} of ranking by this feature alone, in its better direction").format(
            measure=measure
        ),
        width=84 if "@" in measure else 66,
    )


def _contributed_column(entry: FeatureColumn) -> Column:
    """Return a column of an ability."""

    def number(row: DescribedFeature) -> float | None:
        return row.contributed[entry.key].number if entry.key in row.contributed else None

    def text(row: DescribedFeature) -> str:
        return row.contributed[entry.key].text if entry.key in row.contributed else ""

    return Column(
        entry.key,
        tr(entry.label),
        "right",
        entry.form,
        value=number,
        hint=text,
        tooltip=tr(entry.help),
        width=entry.width,
    )


def giving_way(rows: Sequence[DescribedFeature]) -> tuple[str, ...]:
    """Return the columns that go one after another where the names would have less than `NAME_WIDTH`."""
    empty = () if any(row.group for row in rows) else ("group",)
    return (*empty, "mean", "zeros", "range", *(entry.key for entry in contributed_entries()))


NAME_WIDTH = 150


def feature_columns(rows: Sequence[DescribedFeature]) -> list[Column]:
    """Return the columns that have something to say of these features."""
    missing = [_MISSING_COLUMN] if any(row.summary.missing for row in rows) else []
    timed = any(row.per_query is not None for row in rows)
    priced = any(row.cost not in (None, 1.0) for row in rows)
    costs = [
        *([_COST_COLUMN] if priced else []),
        *([_PER_DOCUMENT_COLUMN, _PER_QUERY_COLUMN] if timed else []),
    ]
    measures = next((row.quality.alone for row in rows if row.quality is not None), ("MAP", "NDCG@10"))
    single_measures = [_single_feature_column(name) for name in measures]
    known_keys = {key for row in rows for key in row.contributed}
    costs += [_contributed_column(entry) for entry in contributed_entries() if entry.key in known_keys]
    return [
        _ID_COLUMN,
        _NAME_COLUMN,
        _GROUP_COLUMN,
        _VALUES_COLUMN,
        _RANGE_COLUMN,
        _MEAN_COLUMN,
        _ZEROS_COLUMN,
        *missing,
        *single_measures,
        *costs,
        _WARNING_COLUMN,
    ]


class StatisticsPanel(Panel):
    """Feature statistics, documents per query, and the rows.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    table : TableView
        Whose rows are `DescribedFeature`.
    names : QToolButton
        Pressed to read names of features from a file.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Statistics"), padding=0, name="statistics-panel")
        self.table = TableView(
            theme,
            feature_columns(()),
            "statistics-table",
            lambda row: row.feature_id,
            accessible_name=tr("Statistics of the features"),
            placeholder=NOTHING,
            feature_of=lambda row: int(row.feature_id),
        )
        self.sizes = HistogramPlot(theme, tr("queries"), tr("documents in the query"))
        named(self.sizes, "query-sizes-plot")
        self._headline = named(PlainLabel(wraps=True, selectable=True), role="muted")
        self._headline.setContentsMargins(12, 8, 12, 4)
        self._headline.hide()
        self.names = self.add_tool("open", tr("Read feature names from a file: CSV, RankLib, Solr"))
        self._rows: DocumentTable | None = None
        self._tabs = named(QTabWidget(), "statistics-tabs", tr("Features and documents"))
        self._tabs.addTab(self.table, tr("Features"))
        self._tabs.addTab(self.sizes, tr("Documents per query"))
        fill(self.body, self._headline, (self._tabs, 1), spacing=0)

    def show_summary(
        self,
        description: str,
        summary: DatasetSummary,
        part: RankingDataset | None,
        rows: Sequence[DescribedFeature] | None = None,
    ) -> None:
        """Show the statistics of some documents.

        Parameters
        ----------
        description : str
            Which documents are described: "MQ2008, training documents of fold 4".
        summary : DatasetSummary
        part : RankingDataset or None
            The documents themselves, for the rows; without them there is no such tab.
        rows : sequence of DescribedFeature, optional
            The features with all that is known of them; by default what the summary says.
        """
        self.set_caption(description)
        self._headline.setText(_headline_text(summary))
        self._headline.show()
        self._show_features(rows or [DescribedFeature(f, None, f.name) for f in summary.features])
        self.sizes.set_numbers(summary.query_sizes)
        index = self._tabs.currentIndex()
        self._show_rows(part)
        self._tabs.setCurrentIndex(min(index, self._tabs.count() - 1))

    def clear(self, reason: str = NOTHING) -> None:
        """Remove the statistics, and show the reason: they are being computed, or no data are open."""
        self.table.placeholder = reason
        self.set_caption("")
        self._headline.hide()
        self.table.set_rows(())
        self.sizes.set_numbers(())
        self._show_rows(None)

    def _show_features(self, rows: Sequence[DescribedFeature]) -> None:
        columns = feature_columns(rows)
        if [c.key for c in columns] != [c.key for c in self.table.rows_model.columns]:
            self.table.set_columns(columns)
        self.table.set_rows(rows)
        self.table.set_spare(*((key,) for key in giving_way(rows)), names=NAME_WIDTH)
        longest = str(max((row.feature_id for row in rows), default=0))
        id_width = self.table.fontMetrics().horizontalAdvance(longest) + 2 * PAD + 2
        self.table.setColumnWidth(0, max(scaled(_ID_COLUMN.width), id_width))

    def _show_rows(self, part: RankingDataset | None) -> None:
        if part is None:
            if self._rows is not None:
                self._tabs.removeTab(self._tabs.indexOf(self._rows))
                self._rows.deleteLater()
                self._rows = None
            return
        if self._rows is None:
            self._rows = DocumentTable()
            self._tabs.addTab(self._rows, tr("Documents"))
        self._rows.show_part(part)


def _headline_text(summary: DatasetSummary) -> str:
    limit_note = ""
    if len(summary.features) < summary.n_features:
        limit_note = tr(
            "The table has the {n:,} of {all:,} features with the most values other than 0."
        ).format(n=len(summary.features), all=summary.n_features)
    return f"{_documents_sentence(summary)} {limit_note}".rstrip()


def _documents_sentence(summary: DatasetSummary) -> str:
    """Describe the documents, queries and labels of a dataset in sentences."""
    sizes = summary.query_sizes
    if summary.n_queries == 1:
        return tr("{n:,} documents of a single query.").format(n=summary.n_documents)
    if sizes.max() == 1:
        return tr(
            "Each of {n:,} documents is the only one of its query, so there is nothing to rank. Check the "
            "query ids."
        ).format(n=summary.n_documents)
    text = trn(
        "{n_documents:,} documents of {n_queries:,} query, {min:,} to {max:,} documents per "
        "query, median {median:g};",
        "{n_documents:,} documents of {n_queries:,} queries, {min:,} to {max:,} documents per "
        "query, median {median:g};",
        summary.n_queries,
    )
    if sizes.min() == sizes.max():
        text = tr("{n_documents:,} documents of {n_queries:,} queries, {max:,} documents per query;")
    lacking = trn(
        "{without_relevant:,} query has no relevant document.",
        "{without_relevant:,} queries have no relevant document.",
        summary.without_relevant,
    )
    if not summary.without_relevant:
        lacking = tr("every query has a relevant document.")
    useless = trn(
        "{only_relevant:,} query has only relevant documents.",
        "{only_relevant:,} queries have only relevant documents.",
        summary.only_relevant,
    )
    fields = {
        "n_documents": summary.n_documents,
        "n_queries": summary.n_queries,
        "min": sizes.min(),
        "max": sizes.max(),
        "median": np.median(sizes),
        "without_relevant": summary.without_relevant,
        "only_relevant": summary.only_relevant,
    }
    sentences = (text, lacking, *([useless] if summary.only_relevant else []))
    return " ".join(sentence.format(**fields) for sentence in sentences)


def _document_columns(data: RankingDataset) -> list[Column]:
    """Return the columns over the numbers of the documents: relevance, query, features, comment."""

    def comment(row: int) -> str:
        return data.comments[row] if row < len(data.comments) else ""

    return [
        Column("relevance", tr("relevance"), "right", "g", value=lambda row: data.y[row]),
        Column("query", tr("query"), value=lambda row: data.query_ids[int(data.query_index[row])]),
        *(_feature_column(data, column) for column in _shown_columns(data)),
        Column("comment", tr("comment"), value=comment, hint=comment),
    ]


def _shown_columns(data: RankingDataset) -> Sequence[int]:
    columns = shown_features(data)
    return range(data.n_features) if columns is None else [int(column) for column in columns]


def _feature_column(data: RankingDataset, column: int) -> Column:
    number = str(data.feature_ids[column])
    return Column(
        number,
        number,
        "right",
        ".4g",
        value=lambda row: data.X[row, column],
        tooltip=f"{number} {data.feature_names[column]}",
        hint=lambda row: repr(float(data.X[row, column])),
    )


class DocumentTable(QTableView):
    """A table over the rows of a dataset, which is made when it is first visible."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "preview-table", tr("Documents"))
        self._part: RankingDataset | None = None
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(29)
        rows.setStyleSheet("QHeaderView::section { border: none; }")
        columns = self.horizontalHeader()
        columns.setDefaultSectionSize(92)
        columns.setHighlightSections(False)
        columns.setFixedHeight(29)

    def show_part(self, part: RankingDataset) -> None:
        """Show other rows."""
        self._part = part
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """Show the rows that were given meanwhile."""
        self._fill()
        super().showEvent(event)

    def _fill(self) -> None:
        """Put the rows into the table, if these are others than it has."""
        part = self._part
        before = self.model()
        if part is None or (isinstance(before, _Rows) and before.part is part):
            return
        self.setModel(_Rows(part, self))
        self.setColumnWidth(self.model().columnCount() - 1, 420)
        if before is not None:
            before.deleteLater()


class _Rows(ColumnModel):
    """The rows of a dataset."""

    def __init__(self, part: RankingDataset, parent: QObject) -> None:
        super().__init__(_document_columns(part), rows=range(part.n_documents), parent=parent)
        self.part = part
