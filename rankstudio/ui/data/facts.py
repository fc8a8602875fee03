"""What the Data page says of a dataset, as text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankstudio.engine.analysis.conventions import convention_note
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.formats.data_format import BY_KEY
from rankstudio.engine.data.summary import DatasetSummary, FeatureSummary
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support import memory
from rankstudio.ui.language import tr, trn
from rankstudio.ui.widgets import Fact

_MOST_LABELS = 6
_MOST_NAMED = 12
ABSENT = Fact(
    tr("documents"),
    "",
    tr("not open"),
    "warning",
    tr("Shows the run with the information stored in its study."),
)
"""Stands where the documents would be counted, while a run is shown without its data."""


def read_as_facts(dataset: FoldedDataset) -> tuple[Fact, ...]:
    """Return as what a dataset was read, where something beside its lines told query or label."""
    read_as = dataset.read_as
    if not read_as.qid:
        return ()
    rows = [Fact(tr("read as"), BY_KEY[read_as.format].label, tooltip=read_as_sentence(dataset))]
    told = tr("query column") if read_as.label else tr("sizes of queries")
    rows.append(Fact(told, read_as.qid, tooltip=tr("The source of the query of each document.")))
    if read_as.label:
        rows.append(
            Fact(tr("label column"), read_as.label, tooltip=tr("The column with the relevance label."))
        )
    if read_as.part:
        about = tr("The column with the part of each document.")
        rows.append(Fact(tr("part column"), read_as.part, tooltip=about))
    return tuple(rows)


def read_as_sentence(dataset: FoldedDataset) -> str:
    """Return as what a dataset was read, as a sentence."""
    read_as, train = dataset.read_as, dataset.folds[0].train
    features = trn("{n:,} feature", "{n:,} features", train.n_features).format(n=train.n_features)
    queries = trn("{n:,} query in the first part", "{n:,} queries in the first part", train.n_queries)
    counts = f"{features}, {queries.format(n=train.n_queries)}"
    if read_as.part:
        told = tr(
            "Read as {format}: query column {qid}, label column {label}, part column {part}; "
            "{counts}. Change this with File, Columns."
        )
    elif not read_as.label:
        told = tr("Read as {format}: {qid} gives the number of documents of each query; {counts}.")
    else:
        told = tr(
            "Read as {format}: query column {qid}, label column {label}; {counts}. Change this "
            "with File, Columns."
        )
    label = BY_KEY[read_as.format].label
    return told.format(format=label, qid=read_as.qid, label=read_as.label, part=read_as.part, counts=counts)


def memory_facts(dataset: FoldedDataset) -> tuple[Fact, ...]:
    """Return that a dataset is read from the disk as needed, where it is."""
    if not dataset.from_disk:
        return ()
    about = tr(
        "The documents exceed the memory limit of {size}, so they are read from disk as "
        "needed. The results are identical. Change the limit with Run, Workers, Memory limit."
    ).format(size=memory.size(memory.budget()))
    return (
        Fact(tr("read from the disk"), tr("as needed"), tooltip=about),
        Fact(tr("memory limit"), memory.size(memory.budget()), tooltip=about),
    )


def fold_facts(fold: Fold, summary: DatasetSummary | None) -> tuple[Fact, ...]:
    """Return documents, queries and features of one fold, each part in its place: train / vali / test."""
    if not fold.train.n_documents:
        return (ABSENT, features_row(fold.train.n_features, summary))
    names = " / ".join(fold.parts)
    parts = fold.parts.values()
    documents = " / ".join(f"{part.n_documents:,}" for part in parts)
    queries = " / ".join(f"{part.n_queries:,}" for part in parts)
    about = tr("Documents in the parts {names} of fold {number}.").format(names=names, number=fold.number)
    return (
        Fact(names, documents, tooltip=about, wraps=True),
        Fact(tr("queries"), queries, tooltip=_without_relevant(summary), wraps=True),
        features_row(fold.train.n_features, summary),
    )


def all_folds_facts(dataset: FoldedDataset, summary: DatasetSummary | None) -> tuple[Fact, ...]:
    """Return the facts of a whole dataset: its folds, and all of their test documents."""
    rows = [Fact(tr("folds"), str(len(dataset.folds)))]
    if not dataset.folds[0].train.n_documents:
        rows.append(ABSENT)
    if summary is not None:
        rows.append(
            Fact(tr("documents"), f"{summary.n_documents:,}", tooltip=tr("From the test parts of all folds."))
        )
        rows.append(Fact(tr("queries"), f"{summary.n_queries:,}", tooltip=_without_relevant(summary)))
    return (*rows, features_row(dataset.n_features, summary))


def features_row(n_features: int, summary: DatasetSummary | None) -> Fact:
    """Return the number of features, and how many of them can change no ranking."""
    constant = summary.constant if summary else ()
    if not constant:
        return Fact(tr("features"), str(n_features))
    return Fact(
        tr("features"),
        str(n_features),
        tr("{n_constant} constant").format(n_constant=len(constant)),
        "warning",
        _named(constant),
    )


def label_rows(summary: DatasetSummary) -> tuple[tuple[str, int], ...]:
    """Return the relevance labels with their counts; many different labels are put together in ranges."""
    labels = summary.labels
    if len(labels) <= _MOST_LABELS:
        return tuple((f"{value:g}", count) for value, count in labels)
    edges = [round(i * len(labels) / _MOST_LABELS) for i in range(_MOST_LABELS + 1)]
    groups = [labels[a:b] for a, b in pairwise(edges)]
    return tuple((f"{g[0][0]:g} – {g[-1][0]:g}", sum(count for _, count in g)) for g in groups)


def _named(features: Sequence[FeatureSummary]) -> str:
    """Return the sentence that lists the constant features, the first dozen by name."""
    shown = [f"{f.feature_id} {f.name}" for f in features[:_MOST_NAMED]]
    more = (
        [tr("and {n_features} more").format(n_features=len(features) - _MOST_NAMED)]
        if len(features) > _MOST_NAMED
        else []
    )
    listed = "\n".join((*shown, *more))
    return tr("Constant within every query, so they cannot change any ranking:\n{listed}").format(
        listed=listed
    )


def _without_relevant(summary: DatasetSummary | None) -> str:
    if summary is None or not summary.without_relevant:
        return ""
    return trn(
        "{n:,} of {n_queries:,} has no relevant document.",
        "{n:,} of {n_queries:,} have no relevant document.",
        summary.without_relevant,
    ).format(n=summary.without_relevant, n_queries=summary.n_queries)


def convention_facts(dataset: FoldedDataset, summary: DatasetSummary | None, key: str) -> tuple[Fact, ...]:
    """Return by which convention data are measured whose labels it was not made for."""
    greatest = max((value for value, _ in summary.labels), default=0.0) if summary is not None else 0.0
    about = convention_note(dataset.known, greatest, key)
    if not about:
        return ()
    note = tr("labels up to {greatest:g}").format(greatest=greatest)
    return (Fact(convention(key).label, "", note, tooltip=about),)
