"""Overview of every feature of a dataset.

It has the distribution of a feature's values, its ranking alone, and its problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from rankstudio.engine.analysis.features.features_alone import (
    ALONE,
    BOTH_WAYS,
    measuring_columns,
)
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.summary import (
    DatasetSummary,
    FeatureSummary,
    described_parts,
)
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import ONE_RANKING_MEASURES
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.grades import Grading, joined
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.sparse_rows import SparseRows, concatenated
from rankstudio.engine.support.work import finish

BINS = 24
"""Number of bins of a histogram."""

MOST_DOCUMENTS = 100_000
"""Maximum number of documents that are examined.

Larger data are sampled by evenly spaced whole queries.
"""

PERFECT = 0.98
"""Share of the way from the worst to the best ranking: an almost perfect feature."""

MOSTLY = 0.95
"""A feature with at least this share of zeros is mostly zero."""

FAR = 1000.0
"""Factor by which a badly scaled range is wider or narrower than the usual one."""

# range of a histogram: the outermost bins also count the values outside
_RANGE_QUANTILES = (0.005, 0.995)
# rows that are copied at a time, so that other threads wait only for milliseconds
_ROWS_AT_ONCE = 4096


class Oddity(Enum):
    """Kinds of problems of a feature; the value is the word in a table."""

    CONSTANT = "constant"
    DUPLICATED = "duplicate"
    LEAKING = "leaking"
    BADLY_SCALED = "badly scaled"
    MOSTLY_ZERO = "mostly zero"


@dataclass(frozen=True)
class Finding:
    """One problem of a feature.

    Attributes
    ----------
    oddity : Oddity
        Kind of the problem.
    word : str
        Word for a table: "duplicate of 12".
    text : str
        Sentence with the numbers.
    """

    oddity: Oddity
    word: str
    text: str


@dataclass(frozen=True, eq=False)
class ValueHistogram:
    """Histogram of the values of a feature.

    Attributes
    ----------
    low, high : float
        Left edge of the first bin and right edge of the last bin.
        Values outside are counted in these bins.
    counts : ndarray of shape (2, 24)
        Number of documents in each bin: all of them, and those with a
        label above 0.
    """

    low: float
    high: float
    counts: Ints

    @property
    def shares(self) -> Floats:
        """Counts as shares of the documents, which sum to 1 in each row; 0 in an empty row.

        The shape is that of `counts`: a row for all documents, and one
        for the relevant ones.
        """
        totals = self.counts.sum(axis=1, keepdims=True)
        shares: Floats = np.divide(
            self.counts, totals, out=np.zeros(self.counts.shape), where=totals > 0
        )
        return shares


@dataclass(frozen=True, eq=False)
class FeatureQuality:
    """Description of one feature: its values, its ranking and its problems.

    Attributes
    ----------
    feature_id : int
        1-based id of the feature.
    histogram : ValueHistogram
        Distribution of the values.
    alone : Mapping of str to float
        MAP and NDCG@10 of ranking by this feature alone; AUC and MAP
        for one ranking without queries. The feature ranks in the
        direction in which the first of the measures is better.
    ascending : bool
        Whether this direction puts small values first.
    findings : tuple of Finding
        Problems of the feature, the most serious first.
    """

    feature_id: int
    histogram: ValueHistogram
    alone: Mapping[str, float]
    ascending: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class QualityReport:
    """Descriptions of the features of some documents.

    Attributes
    ----------
    features : tuple of FeatureQuality
        One description per feature, in the order of the columns.
    n_documents : int
        Number of documents behind histograms and measures.
    convention : str
        Convention of the measures.
    """

    features: tuple[FeatureQuality, ...]
    n_documents: int
    convention: str


def feature_quality(
    *parts: RankingDataset, summary: DatasetSummary, convention: str = DEFAULT
) -> QualityReport:
    """Describe every feature of one dataset, or of several parts together.

    Parameters
    ----------
    *parts : RankingDataset
        At least one part, all with the same features.
    summary : DatasetSummary
        Summary of the same parts, with the statistics of each feature.
    convention : str
        Convention of the measures.

    Returns
    -------
    QualityReport
        Histogram, measures and problems of each feature.

    Notes
    -----
    O(nm log m) for n features and at most :data:`MOST_DOCUMENTS`
    documents m: larger parts are sampled by every i-th query.
    Duplicates and the numbers of the summary use all documents.
    """
    # Documents of some queries if the data are large, otherwise of all.
    # `grading` has what measures need besides labels, such as the
    # largest label.
    X, y, ptr, grading = _sampled_queries(parts)
    # Histograms of the values of each feature.
    histograms = _histograms(X, y)

    # Measures of each feature alone.
    is_one_ranking = ptr.size - 1 == len(parts)  # a single query in each part
    # `ALONE` are the usual measures of ranking by one feature.
    names = (ONE_RANKING_MEASURES[0], ALONE[0]) if is_one_ranking else ALONE
    evaluator = Evaluator(y, ptr, convention, names, grading=grading)
    # Each measure has shape (n,); `ascending` says whether small values rank first.
    measures_alone, ascending = _measure_features_alone(evaluator, X)

    # Oddities: features that reveal the labels, shape (n,), and the
    # earlier column that equals a column.
    leaking = _features_that_leak(evaluator, y, measures_alone)
    twins = _duplicates(parts, X)
    all_findings = _findings_by_feature(
        summary.features, twins, leaking, measures_alone
    )
    rows = zip(
        summary.features, histograms, ascending.tolist(), all_findings, strict=True
    )
    features = tuple(
        FeatureQuality(
            feature_id=feature.feature_id,
            histogram=histogram,
            alone={name: float(values[j]) for name, values in measures_alone.items()},
            ascending=is_ascending,
            findings=findings,
        )
        for j, (feature, histogram, is_ascending, findings) in enumerate(rows)
    )
    return QualityReport(features, y.size, convention)


def fold_quality(
    dataset: FoldedDataset,
    number: int | None,
    summary: DatasetSummary,
    convention: str = DEFAULT,
) -> QualityReport:
    """Describe every feature of a fold's documents, or of all documents.

    `number` is the number of the fold, or None for all documents;
    `summary` was made of the same documents.
    """
    parts = described_parts(dataset, number)
    if len(summary.features) < dataset.n_features:
        # Of wide data, the summary has only the features with the most values.
        ids = [feature.feature_id for feature in summary.features]
        columns = np.searchsorted(dataset.feature_ids, ids)
        parts = tuple(part.with_features(columns) for part in parts)
    return feature_quality(*parts, summary=summary, convention=convention)


def _sampled_queries(
    parts: tuple[RankingDataset, ...],
) -> tuple[Floats, Floats, Ints, Grading]:
    """Return X, y, query pointer and grading of all queries, or of a sample of large data.

    The sample has every i-th query. X has shape (m, n) and y shape
    (m,). Query q has the rows from ptr[q] to ptr[q + 1]; the grading
    has the labels' grades with the largest label.
    """
    # Every query, if they have at most MOST_DOCUMENTS documents; the
    # double minus rounds up.
    stride = -(-sum(part.n_documents for part in parts) // MOST_DOCUMENTS)
    if stride == 1 and len(parts) == 1:
        return parts[0].X, parts[0].y, parts[0].query_ptr, parts[0].grading

    # Queries to keep in each part, and the rows of their documents.
    masks = [np.arange(part.n_queries) % stride == 0 for part in parts]
    rows = [
        np.flatnonzero(mask[part.query_index])
        for part, mask in zip(parts, masks, strict=True)
    ]

    # Copy the rows in blocks, so that large data need little memory.
    X = np.empty((sum(chosen.size for chosen in rows), parts[0].n_features))
    n_filled = 0
    for part, part_rows in zip(parts, rows, strict=True):
        for begin in range(0, part_rows.size, _ROWS_AT_ONCE):
            block = part_rows[begin : begin + _ROWS_AT_ONCE]
            X[n_filled : n_filled + block.size] = part.X[block]
            # Free the memory of rows that were mapped from a file.
            release(part.X[block[0] : block[-1] + 1])
            n_filled += block.size

    # Labels and queries of all parts one after another.
    y = np.concatenate(
        [part.y[chosen] for part, chosen in zip(parts, rows, strict=True)]
    )
    sizes = [
        np.diff(part.query_ptr)[mask] for part, mask in zip(parts, masks, strict=True)
    ]
    ptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    # What measures need besides labels, for the same documents.
    gradings = [
        part.grading.taken(chosen) for part, chosen in zip(parts, rows, strict=True)
    ]
    return X, y, ptr, joined(gradings, rows)


def _histograms(X: Floats, y: Floats) -> Iterator[ValueHistogram]:
    """Yield the histogram of each of the n columns of X, shape (m, n).

    A histogram counts all documents in each bin, and the relevant
    documents, which have a label above 0. `y`, shape (m,), has the
    labels.
    """
    is_relevant = y > 0
    for j in range(X.shape[1]):
        values = np.ascontiguousarray(X[:, j])
        low, high = _histogram_range(values)
        # Halves are subtracted, because the difference of two finite
        # numbers may be infinite.
        width = high / 2 - low / 2
        # Position of each value in the range: 0 at its low end, 1 at its high end.
        fractions = (
            (values / 2 - low / 2) / width if width > 0 else np.zeros(values.size)
        )
        bins = np.clip(fractions * BINS, 0, BINS - 1).astype(np.int64)
        counts = np.stack(
            [
                np.bincount(bins[rows], minlength=BINS)
                for rows in (slice(None), is_relevant)
            ]
        )
        yield ValueHistogram(low, high, counts)


def _histogram_range(values: Floats) -> tuple[float, float]:
    """Return the range of the values without the tails, or of all if that is a single point."""
    low, high = (
        float(q) for q in np.quantile(values, _RANGE_QUANTILES, method="nearest")
    )
    return (low, high) if low < high else (float(values.min()), float(values.max()))


def _measure_features_alone(
    evaluator: Evaluator, X: Floats
) -> tuple[dict[str, Floats], Bools]:
    """Return each feature's measures when it ranks alone, and which rank small values first.

    X has the values of n features, shape (m, n). A feature ranks in the
    direction in which the first measure is better. The measures have
    shape (n,) by name, and the second result has shape (n,).
    """
    down, up = finish(measuring_columns(evaluator, X, BOTH_WAYS))
    # The first measure decides the better direction.
    first = next(iter(down))
    ascending = up[first] > down[first]
    return {name: np.where(ascending, up[name], down[name]) for name in down}, ascending


def _features_that_leak(
    evaluator: Evaluator, y: Floats, measures: Mapping[str, Floats]
) -> Bools:
    """Return which features alone rank nearly as well as the labels themselves, shape (n,).

    `evaluator` computes the measures, `y` has the labels, shape (m,),
    and `measures` has each measure of ranking by each feature, shape
    (n,). All measures of such a feature are nearly perfect.
    """
    # Ranking by the negative labels is the worst ranking, by the labels the best.
    measures_of_labels = evaluator.evaluate_many(np.stack((-y, y)))
    is_almost_perfect = np.ones(len(next(iter(measures.values()))), dtype=np.bool_)
    for name, values in measures.items():
        worst, best = measures_of_labels[name].tolist()
        # If the worst ranking is nearly as good, a perfect value says nothing.
        is_informative = best - worst > 0.05
        # `PERFECT` is a share of the way from the worst to the best value.
        is_almost_perfect &= is_informative & (
            values - worst >= PERFECT * (best - worst)
        )
    return is_almost_perfect


def _duplicates(parts: tuple[RankingDataset, ...], X: Floats) -> dict[int, int]:
    """Return, by column, the earlier column with equal values in all documents of the parts.

    `X` has the values of sampled documents, which narrow the search.
    Columns without an equal one are left out.
    """
    if isinstance(X, SparseRows):
        return _sparse_duplicates(parts)
    # The different columns found so far, by the bytes of their first 64
    # values: only columns with equal bytes are compared as a whole.
    # Adding 0.0 turns
    # -0.0 into 0.0.
    columns_by_start: dict[bytes, list[int]] = {}
    twins: dict[int, int] = {}
    for j in range(X.shape[1]):
        candidates = columns_by_start.setdefault(
            np.ascontiguousarray(X[:64, j] + 0.0).tobytes(), []
        )
        twin = next(
            (
                i
                for i in candidates
                if all(_are_columns_equal(part.X, i, j) for part in parts)
            ),
            None,
        )
        if twin is None:
            candidates.append(j)
        else:
            twins[j] = twin
    return twins


def _sparse_duplicates(parts: tuple[RankingDataset, ...]) -> dict[int, int]:
    """Return, by column, the earlier column of sparse data that equals it."""
    # Sparse by columns: the rows and values of column j are stored together.
    csc = concatenated([part.X for part in parts]).csc
    column_by_content: dict[bytes, int] = {}
    twins: dict[int, int] = {}
    for j in range(csc.shape[1]):
        # Rows and values that the column stores.
        span = slice(*csc.indptr[j : j + 2])
        content = csc.indices[span].tobytes() + csc.data[span].tobytes()
        earlier = column_by_content.setdefault(content, j)
        if earlier != j:
            twins[j] = earlier
    return twins


def _are_columns_equal(X: Floats, i: int, j: int) -> bool:
    """Return whether the columns i and j of X are equal.

    `X` has shape (m, n), and may be in a file: it is read in blocks up
    to the first difference.
    """
    for first in range(0, len(X), _ROWS_AT_ONCE):
        rows = X[first : first + _ROWS_AT_ONCE]
        are_equal = bool((rows[:, i] == rows[:, j]).all())
        release(rows)  # frees the memory of rows mapped from a file
        if not are_equal:
            return False
    return True


def _findings_by_feature(
    features: tuple[FeatureSummary, ...],
    twins: Mapping[int, int],
    leaking: Bools,
    measures: Mapping[str, Floats],
) -> Iterator[tuple[Finding, ...]]:
    """Yield the problems of each feature, in the order of the features.

    `features` has the statistics of the features. `twins` has the
    earlier equal column of a column, `leaking`, shape (n,), says which
    features rank like the labels, and `measures` has each measure of
    ranking by each feature, shape (n,); the first one is named in a
    problem.
    """
    # Half of each range, because the difference of two finite numbers may be infinite.
    ranges = np.array(
        [feature.maximum / 2 - feature.minimum / 2 for feature in features]
    )
    # Constant features have no range to compare with.
    varying_ranges = ranges[[not feature.constant for feature in features]]
    median_range = float(np.median(varying_ranges)) if varying_ranges.size else 0.0
    name, values = next(iter(measures.items()))
    for j, feature in enumerate(features):
        findings: list[Finding | None] = []
        # A constant feature has no further findings.
        if feature.constant:
            text = tr("Constant within every query: it cannot change any ranking.")
            findings.append(Finding(Oddity.CONSTANT, tr("constant"), text))
        else:
            findings.append(
                _duplicate_finding(features[twins[j]]) if j in twins else None
            )
            findings.append(
                _leak_finding(name, float(values[j])) if leaking[j] else None
            )
            findings.append(_scale_finding(float(ranges[j]), median_range))
            findings.append(_zeros_finding(feature))
        yield tuple(finding for finding in findings if finding is not None)


def _duplicate_finding(twin: FeatureSummary) -> Finding:
    """Return the problem that a feature equals an earlier one, its twin."""
    # A name such as "feature 7" would only repeat the id.
    named = f"feature {twin.feature_id}" + (
        "" if twin.name.startswith("feature ") else f" ({twin.name})"
    )
    text = tr("It equals {named} in every document: one of the two is enough.").format(
        named=named
    )
    return Finding(
        Oddity.DUPLICATED, tr("duplicate of {id}").format(id=twin.feature_id), text
    )


def _leak_finding(name: str, value: float) -> Finding:
    """Return the problem that a feature ranks nearly like the labels, by this measure."""
    text = tr(
        "Possible label leakage: it ranks nearly like the labels ({name} {value:.4f}). A "
        "feature made after judging, such as clicks on judged documents, is not available at "
        "prediction time."
    )
    return Finding(Oddity.LEAKING, tr("leakage?"), text.format(name=name, value=value))


def _scale_finding(width: float, median_range: float) -> Finding | None:
    """Return the problem that a feature's range is far wider or narrower than the median.

    `width` is half the range of the feature, and `median_range` the
    median of these halves. The result is None if there is no problem.
    """
    if not median_range or (median_range / FAR < width < median_range * FAR):
        return None
    # How many times wider or narrower; 0 for a feature without any range.
    ratio = 0.0
    if width > median_range:
        ratio = width / median_range
    elif width:
        ratio = median_range / width
    if not ratio or not np.isfinite(ratio):
        return None
    text = tr(
        "Its range is {ratio:,.0f} times {than} than the median range. Regularization treats "
        "such features differently; scaling within each query (File, Scaling) corrects this."
    ).format(ratio=ratio, than=tr("wider") if width > median_range else tr("narrower"))
    return Finding(Oddity.BADLY_SCALED, tr("badly scaled"), text)


def _zeros_finding(feature: FeatureSummary) -> Finding | None:
    """Return the problem that a feature is 0 in most documents; None if it is not."""
    if feature.zeros < MOSTLY:
        return None
    text = tr("It is 0 in {share} of the documents and can order only the others.")
    return Finding(
        Oddity.MOSTLY_ZERO,
        tr("mostly zero"),
        text.format(share=percentage(feature.zeros, 1)),
    )
