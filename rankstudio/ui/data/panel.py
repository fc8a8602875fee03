"""The panel on the open dataset: its folds, its numbers of documents and queries, and its labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from rankstudio.engine.analysis.measurements.conventions import convention_note
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.summary import DatasetSummary, FeatureSummary
from rankstudio.engine.experiment.plan.plan import USUAL_MEASURES
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.short_queries import short_queries
from rankstudio.engine.support import memory
from rankstudio.engine.support.number_format import count_text
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import BarRows, ElidedLabel, Fact, KeyValue, Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named

View = TypeVar("View", bound=QWidget)

_MAX_LABELS = 6
_MAX_NAMED_FEATURES = 12
ABSENT = Fact(
    tr("documents"),
    "",
    tr("not open"),
    "warning",
    tr("Shows the run with the information stored in its study."),
)
"""Fact that replaces the number of documents while a run is shown without its data."""
_ONE_RANKING = Fact(
    tr("queries"),
    tr("none: one ranking"),
    tooltip=tr("All documents are one ranking. Folds are made of documents."),
)
_MAX_FOLD_BUTTONS = 6  # more folds are in a combo box


def read_as_facts(dataset: FoldedDataset) -> tuple[Fact, ...]:
    """Return facts on how a dataset was read, each with a title and a value: format, columns and joined files.

    Return () for LETOR text: it is the usual format, without choices.
    """
    # `read_as` names the format and the columns or files used; `qid` is
    # the column of query ids, or the file that says which documents
    # belong to which query.
    read_as = dataset.origin.read_as
    is_one_ranking = dataset.origin.columns.no_queries
    form = format_of_key(read_as.format)

    # Only a format of a plug-in belongs to a package.
    if not (read_as.qid or is_one_ranking or form.package):
        return ()
    rows = [Fact(tr("read as"), tr(form.label), tooltip=read_as_sentence(dataset))]

    # A format without a column of labels has the sizes of its queries in a file.
    query_title = tr("query column") if read_as.label else tr("sizes of queries")
    if form.is_joined:
        rows.append(
            Fact(
                tr("joined with"),
                read_as.qid,
                tooltip=tr("Files that were joined to the data."),
            )
        )
    elif read_as.qid and not is_one_ranking:
        rows.append(
            Fact(
                query_title,
                read_as.qid,
                tooltip=tr("Column or file that assigns documents to queries."),
            )
        )
    if read_as.label:
        rows.append(
            Fact(
                tr("label column"),
                read_as.label,
                tooltip=tr("The column with the relevance label."),
            )
        )
    if read_as.part:
        about = tr("The column with the part of each document.")
        rows.append(Fact(tr("part column"), read_as.part, tooltip=about))
    return tuple(rows)


def read_as_sentence(dataset: FoldedDataset) -> str:
    """Return a sentence on how a dataset was read.

    The sentence names the columns of a table, and the numbers of
    features and queries of the training part of the first fold. `qid`
    and `label` are the columns of query and label, or the files that
    replace them.
    """
    read_as = dataset.origin.read_as
    train = dataset.folds[0].train
    features = trn("{n:,} feature", "{n:,} features", train.n_features).format(
        n=train.n_features
    )
    queries = trn(
        "{n:,} query in the first part",
        "{n:,} queries in the first part",
        train.n_queries,
    )
    counts = f"{features}, {queries.format(n=train.n_queries)}"
    if dataset.origin.columns.no_queries:
        text = tr("Read as {format}: all documents are one ranking; {features}.")
        return text.format(
            format=tr(format_of_key(read_as.format).label), features=features
        )
    if read_as.part:
        sentence = tr(
            "Read as {format}: query column {qid}, label column {label}, part column {part}; "
            "{counts}. Change this with File, Columns."
        )
    elif format_of_key(read_as.format).is_joined:
        sentence = tr("Read as {format}, joined with {qid}; {counts}.")
    elif not read_as.qid:
        sentence = tr("Read as {format}; {counts}.")
    elif not read_as.label:
        sentence = tr(
            "Read as {format}: {qid} gives the number of documents of each query; {counts}."
        )
    else:
        sentence = tr(
            "Read as {format}: query column {qid}, label column {label}; {counts}. Change this "
            "with File, Columns."
        )
    label = tr(format_of_key(read_as.format).label)
    return sentence.format(
        format=label,
        qid=read_as.qid,
        label=read_as.label,
        part=read_as.part,
        counts=counts,
    )


def memory_facts(dataset: FoldedDataset) -> tuple[Fact, ...]:
    """Return facts on the memory limit; none unless the dataset is read from disk as needed."""
    if not dataset.from_disk:
        return ()
    about = tr(
        "The documents exceed the memory limit of {size}, so they are read from disk as "
        "needed. The results are identical. Change the limit with Run, Workers, Memory limit."
    ).format(size=memory.size(memory.budget()))
    return (
        Fact(tr("read from disk"), tr("as needed"), tooltip=about),
        Fact(tr("memory limit"), memory.size(memory.budget()), tooltip=about),
    )


def fold_facts(
    fold: Fold, summary: DatasetSummary | None, *, one_ranking: bool = False
) -> tuple[Fact, ...]:
    """Return facts on a fold: its numbers of documents and queries as "train / vali / test", and of features.

    Without documents, a note says that they are not open. The summary,
    which takes time to compute, adds notes; it is None until it is
    computed. With ``one_ranking``, all documents are one ranking, and a
    note on that replaces the number of queries.
    """
    if not fold.train.n_documents:
        return (ABSENT, features_row(fold.train.n_features, summary))
    names = " / ".join(fold.parts)
    parts = fold.parts.values()
    documents = " / ".join(count_text(part.n_documents) for part in parts)
    queries = " / ".join(count_text(part.n_queries) for part in parts)
    about = tr("Documents in the parts {names} of fold {number}.").format(
        names=names, number=fold.number
    )
    queries_fact = Fact(
        tr("queries"), queries, tooltip=_no_relevant_sentence(summary), wraps=True
    )
    return (
        Fact(names, documents, tooltip=about, wraps=True),
        _ONE_RANKING if one_ranking else queries_fact,
        features_row(fold.train.n_features, summary),
    )


def all_folds_facts(
    dataset: FoldedDataset, summary: DatasetSummary | None
) -> tuple[Fact, ...]:
    """Return facts on a whole dataset: its folds, and its documents and queries.

    Documents and queries are counted in the test parts of all folds,
    which have each document once. The summary with the counts is None
    until it is computed.
    """
    rows = [Fact(tr("folds"), str(len(dataset.folds)))]
    if not dataset.folds[0].train.n_documents:
        rows.append(ABSENT)
    if summary is not None:
        rows.append(
            Fact(
                tr("documents"),
                count_text(summary.n_documents),
                tooltip=tr("From the test parts of all folds."),
            )
        )
        queries_fact = Fact(
            tr("queries"),
            count_text(summary.n_queries),
            tooltip=_no_relevant_sentence(summary),
        )
        rows.append(_ONE_RANKING if dataset.origin.columns.no_queries else queries_fact)
    return (*rows, features_row(dataset.n_features, summary))


def features_row(n_features: int, summary: DatasetSummary | None) -> Fact:
    """Return the fact on the number of features.

    A note says how many are constant, which cannot change any ranking.
    There is no note until the summary is computed (None).
    """
    constant = summary.constant if summary else ()
    if not constant:
        return Fact(tr("features"), count_text(n_features))
    return Fact(
        tr("features"),
        count_text(n_features),
        note=tr("{n_constant} constant").format(n_constant=len(constant)),
        role="warning",
        tooltip=_constant_features_sentence(constant),
    )


def label_rows(summary: DatasetSummary) -> tuple[tuple[str, int], ...]:
    """Return pairs of a relevance label, as text, and the number of documents with it.

    More than six labels are combined into six ranges of labels.
    """
    labels = summary.labels
    if len(labels) <= _MAX_LABELS:
        return tuple((f"{value:g}", count) for value, count in labels)

    # The positions at which six ranges of about equally many different
    # labels begin, and the end. `labels` are pairs of label and count.
    edges = [round(i * len(labels) / _MAX_LABELS) for i in range(_MAX_LABELS + 1)]
    rows = []
    for start, stop in pairwise(edges):
        group = labels[start:stop]
        least, _ = group[0]
        greatest, _ = group[-1]
        rows.append((f"{least:g} – {greatest:g}", sum(count for _, count in group)))
    return tuple(rows)


def _constant_features_sentence(features: Sequence[FeatureSummary]) -> str:
    """Return the sentence that lists the constant features, the first dozen by name."""
    lines = [f"{f.feature_id} {f.name}" for f in features[:_MAX_NAMED_FEATURES]]
    n_unnamed = len(features) - _MAX_NAMED_FEATURES
    if n_unnamed > 0:
        lines.append(tr("and {n_features} more").format(n_features=n_unnamed))
    return tr(
        "Constant within every query, so they cannot change any ranking:\n{listed}"
    ).format(listed="\n".join(lines))


def _no_relevant_sentence(summary: DatasetSummary | None) -> str:
    """Return a sentence on queries without a relevant document; "" without such queries."""
    if summary is None or not summary.without_relevant:
        return ""
    return trn(
        "{n:,} of {n_queries:,} has no relevant document.",
        "{n:,} of {n_queries:,} have no relevant document.",
        summary.without_relevant,
    ).format(n=summary.without_relevant, n_queries=summary.n_queries)


def convention_facts(
    dataset: FoldedDataset, summary: DatasetSummary | None, key: str
) -> tuple[Fact, ...]:
    """Return facts on where the convention of the measures does not suit the labels or the queries.

    ``key`` is that of the convention. A convention may set a measure to
    0 for queries shorter than its cut-off, such as the 10 of NDCG@10.
    """
    # Queries that are too short for a usual measure; None without such.
    short = (
        short_queries(summary.query_sizes, key, USUAL_MEASURES)
        if summary is not None
        else None
    )
    greatest = (
        max((value for value, _ in summary.labels), default=0.0)
        if summary is not None
        else 0.0
    )

    # `known` is the published dataset that the data are, if they were recognized.
    about = convention_note(dataset.origin.known, greatest, key)
    facts = []
    if about:
        note = tr("labels up to {greatest:g}").format(greatest=greatest)
        facts.append(Fact(convention(key).label, "", note, tooltip=about))
    if short is not None:
        remedy = tr(
            "The {label} convention has it so. Choose another convention in the toolbar."
        )
        tooltip = f"{short.note} {remedy.format(label=convention(key).label)}"
        name = tr("0 in {measures}").format(measures=", ".join(short.measures))
        number = tr("{n:,} of {total:,} queries").format(
            n=short.n_short, total=short.n_queries
        )
        facts.append(Fact(name, "", number, tooltip=tooltip))
    return tuple(facts)


class DataPanel(Panel):
    """A panel on the open dataset: name, choice of the fold, counts, and bars of the relevance labels.

    Facts that take time to compute are shown after :meth:`show_summary`
    was called with a `DatasetSummary`.

    Attributes
    ----------
    foldChosen : Signal(object)
        Number of the fold that the user has chosen; None for all folds.
    """

    foldChosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Data"), name="data-panel")
        self.sources = self.add_tool("info", tr("Where to get data"))
        self._dataset: FoldedDataset | None = None
        self._fold: int | None = None  # number of the shown fold; None for all

        # Key of the convention, and a text while documents are being opened.
        self._convention = self._opening_text = ""

        # Summaries by the number of the fold; None for all folds.
        self._summaries: dict[int | None, DatasetSummary] = {}
        self._name = named(
            ElidedLabel("", Qt.TextElideMode.ElideMiddle), "data-name", role="heading"
        )
        self._folds = named(Segmented(name=tr("fold"), wide=True), "data-folds")

        # Replaces the buttons if there are too many folds for them.
        self._fold_box = named(QComboBox(), "data-many-folds", tr("fold"))
        self._facts = KeyValue()
        self._labels_title = named(PlainLabel(), role="muted")
        self._labels = BarRows(theme, tr("documents by relevance"))
        self._lay_out()
        self._folds.chosen.connect(self._on_fold)
        self._fold_box.activated.connect(self._on_fold_box)
        self.clear()

    def add_below(self, make: Callable[[Theme], View]) -> View:
        """Make a widget, add it below all others, and return it."""
        view = make(self._theme)

        # Above the empty space at the bottom.
        self.body.insertWidget(self.body.count() - 1, view)
        return view

    def shows(self, dataset: FoldedDataset | None) -> bool:
        """Return whether the panel already shows these data."""
        return self._dataset is dataset

    def show_dataset(
        self, dataset: FoldedDataset, *, keep_summaries: bool = False
    ) -> None:
        """Show a dataset and its first fold.

        If only names of features have changed, `keep_summaries` keeps
        the summaries that were computed.
        """
        self._dataset = dataset
        self._summaries = self._summaries if keep_summaries else {}
        self._name.setText(dataset.name)
        self.set_convention(dataset.convention)
        numbers = [fold.number for fold in dataset.folds]
        options: list[tuple[object, str]] = [
            (number, str(number)) for number in numbers
        ]
        if len(numbers) > 1:
            options.append((None, tr("all")))

        # Up to six folds have a button each; more are in a combo box,
        # and one alone needs no choice.
        self._folds.set_options(options if len(numbers) <= _MAX_FOLD_BUTTONS else [])
        self._folds.setVisible(1 < len(numbers) <= _MAX_FOLD_BUTTONS)
        self._fold_box.clear()
        self._fold_box.addItems(
            [tr("fold {number}").format(number=number) for number in numbers]
            + [tr("all folds")]
        )
        self._fold_box.setVisible(len(numbers) > _MAX_FOLD_BUTTONS)
        self.set_fold(numbers[0])

    def set_opening(self, text: str) -> None:
        """Show a text on documents that are not open, such as that they are being read.

        "" removes the text.
        """
        if text != self._opening_text:
            self._opening_text = text
            self._refresh()

    def clear(self) -> None:
        """Show that nothing is open."""
        self._dataset = None
        self._summaries = {}
        self._name.setText(tr("No data open"))
        self.set_caption("")
        self._folds.hide()
        self._fold_box.hide()
        self._facts.set_rows(())
        self._show_labels(None)

    def set_convention(self, key: str, *, scaled: bool = False) -> None:
        """Show the convention of the measures, by its key, and whether the features were scaled."""
        self.set_caption(
            convention(key).label + (f" · {tr('scaled')}" if scaled else "")
        )

        # Its name in the caption leads to the entry "convention" of the glossary.
        self.link_caption("convention", convention(key).label)
        self._convention = key
        self._refresh()

    def set_fold(self, number: int | None) -> None:
        """Show another fold, by its number, or all folds (None); emit no signal."""
        self._fold = number
        if self._fold_box.isVisibleTo(self):
            numbers = (
                [fold.number for fold in self._dataset.folds] if self._dataset else []
            )

            # The entry after the folds is "all folds".
            self._fold_box.setCurrentIndex(
                numbers.index(number) if number in numbers else len(numbers)
            )
        else:
            self._folds.select(number)
        self._refresh()

    def show_summary(self, number: int | None, summary: DatasetSummary) -> None:
        """Take over the summary of a fold, or of all folds (None), and show it if the fold is shown.

        ``number`` is that of the fold, None for all folds.
        """
        self._summaries[number] = summary
        if number == self._fold:
            self._refresh()

    def summary(self) -> DatasetSummary | None:
        """Return the summary of the shown fold or folds.

        Return None until the summary is computed.
        """
        return self._summaries.get(self._fold)

    def has_summary(self, number: int | None) -> bool:
        """Return whether the summary of a fold is already computed."""
        return number in self._summaries

    def _lay_out(self) -> None:
        """Lay out the name, the choice of folds, the facts and the labels."""
        self._fold_box.setMaxVisibleItems(24)
        fill(
            self.body,
            self._name,
            self._folds,
            self._fold_box,
            self._facts,
            self._labels_title,
            self._labels,
            1,  # empty space at the bottom
            spacing=6,
        )

    def _refresh(self) -> None:
        """Show the facts and the labels of the current fold, or of all folds."""
        if self._dataset is None:
            return
        summary = self.summary()
        fold = next(
            (fold for fold in self._dataset.folds if fold.number == self._fold), None
        )
        if fold:
            is_one_ranking = self._dataset.origin.columns.no_queries
            rows = fold_facts(fold, summary, one_ranking=is_one_ranking)
        else:
            rows = all_folds_facts(self._dataset, summary)

        # `ABSENT` is the fact that the documents are not open. While
        # they are being opened, a text on that replaces its note.
        if self._opening_text:
            opening = replace(ABSENT, note=self._opening_text, role="muted")
            rows = tuple(opening if row is ABSENT else row for row in rows)
        convention_rows = convention_facts(self._dataset, summary, self._convention)
        self._facts.set_rows(
            (
                *rows,
                *convention_rows,
                *memory_facts(self._dataset),
                *read_as_facts(self._dataset),
            )
        )
        self._show_labels(summary)

    def _show_labels(self, summary: DatasetSummary | None) -> None:
        """Show a bar for each relevance label; hide the bars until the summary is computed (None)."""
        has_summary = summary is not None
        for widget in (self._labels_title, self._labels):
            widget.setVisible(has_summary)
        if summary is not None:
            self._labels_title.setText(
                tr("relevance, {described}").format(described=self.described())
            )
            self._labels.set_rows(label_rows(summary))

    def described(self) -> str:
        """Return which documents the summary describes: "training documents of fold 4".

        The summary of all folds describes the test parts, which have
        each document once.
        """
        if self._fold is not None:
            has_several_folds = (
                self._dataset is not None and len(self._dataset.folds) > 1
            )
            if has_several_folds:
                return tr("training documents of fold {fold}").format(fold=self._fold)
            return tr("training documents")
        has_test_part = self._dataset is not None and any(
            fold.test for fold in self._dataset.folds
        )
        return (
            tr("test documents of all folds")
            if has_test_part
            else tr("training documents of all folds")
        )

    @Slot(int)
    def _on_fold_box(self, index: int) -> None:
        """Show the fold of an entry of the box, by its index."""
        folds = self._dataset.folds if self._dataset else ()

        # The last entry is "all folds".
        self._on_fold(folds[index].number if index < len(folds) else None)

    @Slot(object)
    def _on_fold(self, number: int | None) -> None:
        """Show a fold that the user has chosen, or all folds (None), and emit it."""
        self.set_fold(number)
        self.foldChosen.emit(number)
