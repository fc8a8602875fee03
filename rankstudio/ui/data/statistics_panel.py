"""The panel with the statistics of the data: a table of features, documents per query, and the documents."""

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
from rankstudio.engine.data.summary import (
    DatasetSummary,
    FeatureSummary,
    shown_features,
)
from rankstudio.engine.plugins.feature_columns import FeatureColumn, FeatureValue
from rankstudio.engine.plugins.feature_columns import (
    feature_columns as contributed_entries,
)
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
    """A feature as a row of the table of features, with all that is known about the feature.

    Attributes
    ----------
    summary : FeatureSummary
        Statistics of the feature's values.
    quality : FeatureQuality or None
        None while the quality is computed.
    name : str
    note : str
        The user's note; "" for none.
    cost : float or None
        Cost in the plan; None if the method has no costs.
    group : str
        Group in the plan; "" for none.
    per_document, per_query : float or None
        Milliseconds that the feature costs; None if this is not known.
    contributed : dict of str to FeatureValue
        Values in columns of plug-ins, by the keys of the columns.
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
        """Whether the feature is constant within every query, so that it can change no ranking."""
        return self.summary.constant

    @property
    def histogram(self) -> HistogramCell | None:
        """Share of each bin among all documents, and among the relevant ones.

        The bins divide the range of the feature's values. The result is
        None while the documents are counted.
        """
        if self.quality is None:
            return None
        all_shares, relevant_shares = self.quality.histogram.shares.tolist()
        return HistogramCell(tuple(all_shares), tuple(relevant_shares))

    @property
    def values_text(self) -> str:
        """The histogram of the values in words: their range, and the bin with the most documents.

        The text is "" until the quality of the feature, which has the
        histogram, is computed.
        """
        if self.quality is None:
            return ""

        # Shares and counts have shape (2, number of bins): all
        # documents, relevant ones.
        histogram = self.quality.histogram
        all_shares, relevant_shares = histogram.shares.tolist()
        _, n_relevant = histogram.counts.sum(axis=1).tolist()
        tallest = max(range(len(all_shares)), key=all_shares.__getitem__)
        width = (histogram.high - histogram.low) / len(all_shares)

        # The lower end of this bin.
        low = histogram.low + tallest * width
        if not width:  # the least value is the greatest
            return tr("All values are {number}.").format(number=_number(histogram.low))
        text = tr(
            "From {least} to {most}. {every} of all documents are between {low} and {high}."
        )
        if n_relevant:
            text = tr(
                "From {least} to {most}. {every} of all documents and {relevant} of the "
                "relevant ones are between {low} and {high}."
            )
        return text.format(
            least=_number(histogram.low),
            most=_number(histogram.high),
            every=percentage(all_shares[tallest]),
            relevant=percentage(relevant_shares[tallest]),
            low=_number(low),
            high=_number(low + width),
        )

    def alone(self, measure: str) -> float | None:
        """Return a measure of ranking by the feature alone.

        ``measure`` is the name of the measure. Return None if the
        feature is constant or not measured.
        """
        return (
            None
            if self.quality is None or self.constant
            else self.quality.alone[measure]
        )

    @property
    def direction_text(self) -> str:
        """The direction in which ranking by the feature alone is better, as a sentence."""
        if self.quality is None or self.constant:
            return ""
        if self.quality.ascending:
            return tr("Ranks small values first, which gives the better MAP.")
        return tr("Ranks large values first, which gives the better MAP.")

    @property
    def warning(self) -> str:
        """Warnings on the feature, one word each."""
        if self.quality is None:
            return tr("constant") if self.constant else ""
        return ", ".join(finding.word for finding in self.quality.findings)

    @property
    def warning_text(self) -> str:
        """Warnings on the feature, one sentence each."""
        return (
            "\n".join(finding.text for finding in self.quality.findings)
            if self.quality
            else ""
        )


_number = partial(significant, digits=6)
_short = partial(significant, digits=4)


def _range_text(row: DescribedFeature) -> str:
    """Return the least and the greatest value of a feature; a single number if they are equal."""
    summary = row.summary
    if summary.minimum == summary.maximum:
        return _number(summary.minimum)

    # Two numbers have room only if they are short.
    return " … ".join(
        _short_number(value) for value in (summary.minimum, summary.maximum)
    )


def _short_number(value: float) -> str:
    """Return a number for a narrow column: three digits below 1, otherwise four."""
    return significant(value, 3 if 0 < abs(value) < 1 else 4)


_ID_COLUMN = Column("feature_id", tr("id"), "right", width=44, tone="muted")
_NAME_COLUMN = Column(
    "name",
    tr("feature"),
    stretch=True,
    tone=lambda row: "muted" if row.constant else "text",
    editor_text=lambda row: row.name,
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
_MEAN_COLUMN = Column(
    "mean", tr("mean"), "right", _short, value=lambda row: row.summary.mean, width=74
)
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
    editor_text=lambda row: f"{row.cost:g}",
    tooltip=tr(
        "Cost by which the plan selects, 1 by default. Double-click or press F2 to edit."
    ),
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
    editor_text=lambda row: row.group,
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
    """Return the column of a measure of the ranking by each feature alone.

    The tooltip of a cell says whether greater or smaller values are better.
    """
    # Its key and title are the measure; numbers have four decimals.
    return Column(
        measure,
        measure,
        "right",
        ".4f",
        value=lambda row: row.alone(measure),
        hint=lambda row: row.direction_text,
        tooltip=tr(
            "{measure} of ranking by this feature alone, in its better direction"
        ).format(measure=measure),
        width=84 if "@" in measure else 66,  # pixels for a long or a short name
    )


def _contributed_column(entry: FeatureColumn) -> Column:
    """Return the column of a plug-in: a number for each feature, and a text on it as the tooltip.

    Features without a value have an empty cell.
    """

    def number(row: DescribedFeature) -> float | None:
        """Return the plug-in's number for a feature; None without one."""
        return (
            row.contributed[entry.key].number if entry.key in row.contributed else None
        )

    def text(row: DescribedFeature) -> str:
        """Return the plug-in's text on a feature; "" without one."""
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
    """Return the keys of the columns that a narrow table hides, the first one first.

    ``rows`` are the features in the table. Columns are hidden until the
    column of names has the width `NAME_WIDTH`. A column of groups
    without content is the first, columns of plug-ins are the last.
    """
    empty_columns = () if any(row.group for row in rows) else ("group",)
    return (
        *empty_columns,
        "mean",
        "zeros",
        "range",
        *(entry.key for entry in contributed_entries()),
    )


NAME_WIDTH = 150
"""Pixels of a feature's name."""


def feature_columns(rows: Sequence[DescribedFeature]) -> list[Column]:
    """Return the columns of the table of features.

    Columns of missing values, costs or plug-ins are left out if no row has any.
    """
    # Costs of 1 are the default. The measures are those by which each
    # feature was assessed; until one is, the usual ones.
    has_missing_values = any(row.summary.missing for row in rows)
    has_times = any(row.per_query is not None for row in rows)
    has_costs = any(row.cost not in (None, 1.0) for row in rows)
    measures = next(
        (row.quality.alone for row in rows if row.quality is not None),
        ("MAP", "NDCG@10"),
    )
    contributed_keys = {key for row in rows for key in row.contributed}
    return [
        _ID_COLUMN,
        _NAME_COLUMN,
        _GROUP_COLUMN,
        _VALUES_COLUMN,
        _RANGE_COLUMN,
        _MEAN_COLUMN,
        _ZEROS_COLUMN,
        *([_MISSING_COLUMN] if has_missing_values else []),
        *(_single_feature_column(name) for name in measures),
        *([_COST_COLUMN] if has_costs else []),
        *([_PER_DOCUMENT_COLUMN, _PER_QUERY_COLUMN] if has_times else []),
        *(
            _contributed_column(entry)
            for entry in contributed_entries()
            if entry.key in contributed_keys
        ),
        _WARNING_COLUMN,
    ]


class StatisticsPanel(Panel):
    """A panel with three tabs: the table of features, a histogram of documents per query, and the documents.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    table : TableView
        The table of features; its rows are `DescribedFeature`.
    names : QToolButton
        Button that reads names of features from a file.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Statistics"), padding=0, name="statistics-panel")

        # A row is recognized by the id of its feature.
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

        # A button in the head of the panel.
        self.names = self.add_tool(
            "open", tr("Read feature names from a file: CSV, RankLib, Solr")
        )
        self._documents: DocumentTable | None = None
        self._tabs = named(
            QTabWidget(), "statistics-tabs", tr("Features and documents")
        )
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
            The described documents: "MQ2008, training documents of fold 4".
        summary : DatasetSummary
            The statistics of the documents.
        part : RankingDataset or None
            The documents for the tab of documents; None for no such tab.
        rows : sequence of DescribedFeature, optional
            The features with all that is known about them; by default
            those of the summary.
        """
        self.set_caption(description)
        self._headline.setText(_headline_text(summary))
        self._headline.show()

        # By default, the quality of a feature is not known (None).
        self._show_features(
            rows or [DescribedFeature(f, None, f.name) for f in summary.features]
        )
        self.sizes.set_numbers(summary.query_sizes)

        # The current tab stays, unless it is that of the documents and they are gone.
        index = self._tabs.currentIndex()
        self._show_documents(part)
        self._tabs.setCurrentIndex(min(index, self._tabs.count() - 1))

    def clear(self, reason: str = NOTHING) -> None:
        """Remove the statistics, and show the reason in the empty table, such as that they are being computed."""
        self.table.placeholder = reason
        self.set_caption("")
        self._headline.hide()
        self.table.set_rows(())
        self.sizes.set_numbers(())
        self._show_documents(None)

    def _show_features(self, rows: Sequence[DescribedFeature]) -> None:
        """Show features in the table, in the columns that have content.

        The column of ids gets the width of the longest id.
        """
        columns = feature_columns(rows)
        if [c.key for c in columns] != [c.key for c in self.table.rows_model.columns]:
            self.table.set_columns(columns)
        self.table.set_rows(rows)

        # A narrow table hides these columns one by one, so that names have room.
        self.table.set_spare(*((key,) for key in giving_way(rows)), names=NAME_WIDTH)

        # PAD is the empty space at each side of a cell; 2 pixels are the grid.
        longest_id = str(max((row.feature_id for row in rows), default=0))
        id_width = self.table.fontMetrics().horizontalAdvance(longest_id) + 2 * PAD + 2
        self.table.setColumnWidth(0, max(scaled(_ID_COLUMN.width), id_width))

    def _show_documents(self, part: RankingDataset | None) -> None:
        """Show the documents of a part in the tab of documents; None removes the tab."""
        if part is None:
            if self._documents is not None:
                self._tabs.removeTab(self._tabs.indexOf(self._documents))
                self._documents.deleteLater()
                self._documents = None
            return
        if self._documents is None:
            self._documents = DocumentTable()
            self._tabs.addTab(self._documents, tr("Documents"))
        self._documents.show_part(part)


def _headline_text(summary: DatasetSummary) -> str:
    """Return sentences on the documents, and a note if the table leaves features out."""
    limit_note = ""
    if len(summary.features) < summary.n_features:
        limit_note = tr(
            "The table has the {n:,} of {all:,} features with the most values other than 0."
        ).format(n=len(summary.features), all=summary.n_features)
    return f"{_documents_sentence(summary)} {limit_note}".rstrip()


def _documents_sentence(summary: DatasetSummary) -> str:
    """Return sentences on the documents, queries and labels of a summary.

    `query_sizes` of the summary has the number of documents of each query.
    """
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
        text = tr(
            "{n_documents:,} documents of {n_queries:,} queries, {max:,} documents per query;"
        )
    without_relevant = trn(
        "{without_relevant:,} query has no relevant document.",
        "{without_relevant:,} queries have no relevant document.",
        summary.without_relevant,
    )
    if not summary.without_relevant:
        without_relevant = tr("every query has a relevant document.")
    only_relevant = trn(
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
    sentences = (
        text,
        without_relevant,
        *([only_relevant] if summary.only_relevant else []),
    )
    return " ".join(sentence.format(**fields) for sentence in sentences)


def _document_columns(data: RankingDataset) -> list[Column]:
    """Return the columns of the table of documents, whose rows are the indices of documents.

    The columns are relevance, query, the features, and the comment if
    the data file has comments.
    """

    def comment(row: int) -> str:
        """Return the comment on a document; "" if the data have no comments."""
        return data.comments[row] if row < len(data.comments) else ""

    return [
        Column(
            "relevance", tr("relevance"), "right", "g", value=lambda row: data.y[row]
        ),
        Column(
            "query",
            tr("query"),
            # `query_index` has the position of the query of each document.
            value=lambda row: data.query_ids[int(data.query_index[row])],
        ),
        *(_feature_column(data, column) for column in _shown_columns(data)),
        Column("comment", tr("comment"), value=comment, hint=comment),
    ]


def _shown_columns(data: RankingDataset) -> Sequence[int]:
    """Return the columns of the feature matrix that the table of documents shows."""
    # `shown_features` chooses some of the columns if there are too many
    # for a table, and returns None if there are not.
    columns = shown_features(data)
    return (
        range(data.n_features)
        if columns is None
        else [int(column) for column in columns]
    )


def _feature_column(data: RankingDataset, column: int) -> Column:
    """Return the column of the values of a feature, whose title is the feature's id.

    ``column`` is the index of the feature's column in the matrix of ``data``.
    """
    number = str(data.feature_ids[column])
    return Column(
        number,
        number,
        "right",
        ".4g",
        value=lambda row: data.X[row, column],
        tooltip=f"{number} {data.feature_names[column]}",
        # The tooltip has all digits.
        hint=lambda row: repr(float(data.X[row, column])),
    )


class DocumentTable(QTableView):
    """A table of the documents of a dataset, which is filled when it is first visible."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "preview-table", tr("Documents"))
        self._part: RankingDataset | None = None
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)

        # All rows have one height, as measuring many thousands would
        # take long. The numbers are heights and widths in pixels.
        row_header = self.verticalHeader()
        row_header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        row_header.setDefaultSectionSize(29)
        row_header.setStyleSheet("QHeaderView::section { border: none; }")
        column_header = self.horizontalHeader()
        column_header.setDefaultSectionSize(92)
        column_header.setHighlightSections(False)
        column_header.setFixedHeight(29)

    def show_part(self, part: RankingDataset) -> None:
        """Show other documents."""
        self._part = part
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """Fill the table with documents that were set while it was hidden."""
        self._fill()
        super().showEvent(event)

    def _fill(self) -> None:
        """Fill the table with the documents, unless it already has them.

        This is called once the table is visible, so that documents are
        not read before.
        """
        part = self._part

        # Before the first documents, the table has no model, or a model of Qt.
        old_model = self.model()
        if part is None or (
            isinstance(old_model, _DocumentModel) and old_model.part is part
        ):
            return
        self.setModel(_DocumentModel(part, self))

        # The last column has the comments; its width is in pixels.
        self.setColumnWidth(self.model().columnCount() - 1, 420)
        if old_model is not None:
            old_model.deleteLater()


class _DocumentModel(ColumnModel):
    """The model of a table of documents, whose row objects are the indices of documents."""

    def __init__(self, part: RankingDataset, parent: QObject) -> None:
        super().__init__(
            _document_columns(part), rows=range(part.n_documents), parent=parent
        )
        self.part = part
