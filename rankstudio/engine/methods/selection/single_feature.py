"""Selectors that score one feature at a time: by a ranking measure, or by mutual information."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.capabilities import Compared
from rankstudio.engine.methods.catalog.selectors import (
    CHI_SQUARED,
    MUTUAL_INFORMATION,
    SINGLE_FEATURE,
)
from rankstudio.engine.methods.selection import sparse_columns
from rankstudio.engine.methods.selection.base import (
    Ordering,
    ScoredSelector,
    best_first,
)
from rankstudio.engine.methods.shards.order_statistics import order_statistics
from rankstudio.engine.methods.shards.sums import informative_columns, labels_of, summed
from rankstudio.engine.methods.shards.training_data import TrainingData, column_portions
from rankstudio.engine.methods.shards.work import Joined
from rankstudio.engine.metrics.conventions import DEFAULT, Convention, objective
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.support.work import Waiting, WorkProgress


@dataclass(eq=False, repr=False)
class SingleFeatureRanking(ScoredSelector):
    """The single-feature filter orders features by how well each alone ranks the training documents.

    Features that are constant within every query come last, regardless
    of the measure of the file's order.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    groups : sequence of sequence of int, default ()
        0-based columns that are selected together, by the score of the
        best one; a group counts as one of k.
    costs : array-like of shape (n,), optional
        Cost of each feature, greater than 0. Features are then selected
        by score per cost; a negative score is multiplied by the cost
        instead. A group costs the sum of its features.
    budget : float, optional
        Maximum total cost; features that the rest of it does not cover
        are passed over. Needs ``costs``.
    measure : str, default "NDCG@10"
        Any measure of :func:`rankstudio.engine.evaluate`.
    direction : {"best", "descending"}, default "best"
        "best": a feature may also rank in ascending order, if that is
        better. "descending": always high values first.
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number
        of documents of a query.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        Measure of each feature.
    directions_ : ndarray of shape (n,)
        1.0 if high values rank first, -1.0 for low values. ``directions_[j] * X[:, j]``
        ranks.

    Notes
    -----
    O(nm log m) for m documents and n features, plus RankRLS along the
    path. The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.ScoredSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> SingleFeatureRanking(3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([ 1,  0, 16])
    """

    entry = SINGLE_FEATURE
    accepts_sparse: ClassVar[bool] = True

    directions_: Floats = field(init=False)

    _: KW_ONLY
    measure: str = "NDCG@10"
    direction: Literal["best", "descending"] = "best"
    convention: str = DEFAULT

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Rank by each feature alone, and return the first k features by the measure of these rankings.

        Features that are constant within all queries come last. This is
        a generator, which yields progress events before it returns the
        Ordering.
        """
        tries_both = self.checked("direction") == "best"
        scores, directions = yield from measuring_features(
            data, self.measure, objective(self.convention), tries_both
        )
        higher_is_better = find_measure(self.measure).higher_is_better
        gains = scores if higher_is_better else -scores
        # The disagreement error is NaN if no query has a pair. In place
        # of NaN comes a number below all others.
        gains = np.nan_to_num(gains, nan=float(np.nanmin(gains, initial=0.0)) - 1.0)
        varies = yield from informative_columns(data)
        gains = np.where(varies, gains, -np.inf)
        # Lower-is-better measures lie in [0, 1]; show 1 - score so that
        # larger is always better.
        shown_scores = np.where(
            varies, scores if higher_is_better else 1.0 - scores, np.nan
        )
        return Ordering(
            features=best_first(gains, k),
            candidates=shown_scores,
            found={"scores_": scores, "directions_": directions},
        )

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared | None:
        """Return an iterator over the first ``n_features`` steps, or None with groups or costs.

        The items of the iterator have the measures of the rankings by
        each feature alone, and each query's part in them. With groups
        or costs there is no iterator, because the scores of groups, or
        per cost, have no such parts. ``data`` are the training
        documents.
        """
        if len(self.groups) > 0 or self.costs is not None:
            return None
        from rankstudio.engine.methods.selection.query_parts import compared_means  # noqa: PLC0415 - numba

        values = measured_alone(
            data, self.measure, objective(self.convention), self.direction == "best"
        )
        return compared_means(self, data, n_features, values)


def measuring_features(
    data: TrainingData,
    measure: str,
    convention: str | Convention = DEFAULT,
    both_directions: bool = True,
) -> Waiting[tuple[Floats, Floats]]:
    """Measure the ranking by each feature alone, in the better direction.

    The generator yields progress events, and then returns the result.

    Parameters
    ----------
    data : TrainingData
        Documents to rank.
    measure : str
        Name of the measure.
    convention : str or Convention
        Convention of the measure, or its key. Methods that select by
        the measure pass a variant of the convention, its objective.
    both_directions : bool
        Whether a feature may also rank in ascending order.

    Returns
    -------
    values : ndarray of shape (n,)
        Averages over queries.
    directions : ndarray of shape (n,)
        1.0, or -1.0 if the ascending order is better.

    Notes
    -----
    O(nm log m). Documents with equal values keep their order in the
    data, in both directions.
    """
    descending, ascending = yield from directed_measures(
        data, measure, convention, both_directions
    )
    if ascending is None:
        return descending, np.ones(descending.size)
    higher_is_better = find_measure(measure).higher_is_better
    ascending_is_better = (
        ascending > descending if higher_is_better else ascending < descending
    )
    return np.where(ascending_is_better, ascending, descending), np.where(
        ascending_is_better, -1.0, 1.0
    )


def measured_alone(
    data: TrainingData, name: str, convention: Convention, both_directions: bool = True
) -> Waiting[Floats]:
    """Return the measure of the ranking by each feature alone in each query, shape (n, Q).

    A feature ranks in its better direction over all queries. Larger is
    better: an error is subtracted from 1. NaN for a query without a
    value. ``name`` is that of the measure, and ``convention`` has its
    rules. Without ``both_directions``, larger values of a feature
    always rank first. ``data`` are the training documents. The
    generator yields progress events, and then returns the result.
    """
    from rankstudio.engine.methods.selection.query_parts import measured_by_query  # noqa: PLC0415 - numba

    _, directions = yield from measuring_features(
        data, name, convention, both_directions
    )
    # Row j of the diagonal matrix is the model that has only feature j.
    return (yield from measured_by_query(data, np.diag(directions), name, convention))


def directed_measures(
    data: TrainingData,
    measure: str,
    convention: str | Convention = DEFAULT,
    both_directions: bool = True,
) -> Waiting[tuple[Floats, Floats | None]]:
    """Return the mean measure (n,) of ranking by each feature in descending order, and in ascending order.

    The second is None without ``both_directions``. The mean is over
    queries, NaN if no query has a value. ``data`` are the training
    documents. The generator yields progress events, and then returns
    the result. ``convention`` has the rules of the measure.
    """
    activity = "measuring features"
    name = find_measure(measure).name  # in its usual spelling
    signs = (1.0, -1.0) if both_directions else (1.0,)
    n = data.X.shape[1]
    # Sums over queries of each shard, and in how many queries the measure is defined.
    total, count = np.empty((2, len(signs), n))
    # Some columns at a time; `summed` adds up the results of all shards.
    for columns in data.portions():
        yield WorkProgress(activity, columns.start / n)
        total[:, columns], count[:, columns] = yield from summed(
            data, activity, _measure_sums, columns, name, convention, signs
        )
    # The mean over these queries; NaN without any.
    values = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return values[0], values[1] if both_directions else None


def _measure_sums(
    data: QueryData,
    columns: slice,
    measure: str,
    convention: str | Convention,
    signs: tuple[float, ...],
) -> tuple[Floats, Floats]:
    """Return the sums over queries of some features' measure, and for how many queries it is defined, (signs, c).

    The c features are those of the slice ``columns``. Documents are
    ranked by the values of one feature times each of the ``signs``: 1
    for descending and
    -1 for ascending order. ``convention`` has the rules of the measure.
    ``data`` has the documents.
    """
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed

    if data.sparse:
        return sparse_columns.measure_sums(data, columns, measure, convention, signs)
    evaluator = Evaluator(data.y, data.ptr, convention, [measure], grading=data.grading)
    total, count = np.empty((2, len(signs), columns.stop - columns.start))
    # Some features at a time, each as a row of scores.
    for part in column_portions(len(data.X), columns):
        features = np.ascontiguousarray(data.X[:, part].T)
        part_slice = slice(part.start - columns.start, part.stop - columns.start)
        for index, sign in enumerate(signs):
            values = evaluator.per_query_many(sign * features)[measure]
            total[index, part_slice] = np.nansum(values, axis=-1)
            count[index, part_slice] = np.count_nonzero(~np.isnan(values), axis=-1)
    return total, count


@dataclass(eq=False, repr=False)
class MutualInformation(ScoredSelector):
    """The mutual information filter orders features by the mutual information of binned values and labels.

    Bins hold about equally many documents. Values count in absolute
    terms, not relative to other documents of the query, and a
    non-monotonic relation counts as much as a monotonic one.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    groups : sequence of sequence of int, default ()
        0-based columns that are selected together, by the score of the
        best one; a group counts as one of k.
    costs : array-like of shape (n,), optional
        Cost of each feature, greater than 0. Features are then selected
        by score per cost; a negative score is multiplied by the cost
        instead. A group costs the sum of its features.
    budget : float, optional
        Maximum total cost; features that the rest of it does not cover
        are passed over. Needs ``costs``.
    n_bins : int, default 10
        Number of bins of a feature, 2 to 1000. Equal values share a
        bin, so there may be fewer.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        Mutual information in nats, sum p(b, l) ln(p(b, l) / (p(b)
        p(l))) over bins b and labels l; 0 for a constant feature.

    Notes
    -----
    O(nm log m) for m documents and n features, plus RankRLS along the
    path. The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.ScoredSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> MutualInformation(3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([ 0, 12,  2])
    """

    entry = MUTUAL_INFORMATION
    accepts_sparse: ClassVar[bool] = True

    _: KW_ONLY
    n_bins: int = 10

    def statistic(self, counts: Floats) -> float:
        """Return the mutual information of a feature's bins and the labels.

        ``counts`` (bins, labels) are the numbers of documents of each
        bin and label.
        """
        return _mutual_information(counts)

    def gains(self, counts: Floats) -> Floats:
        """Return the effect of one document of each bin and label on the statistic, to first order, (bins, labels).

        ``counts`` (bins, labels) are the numbers of documents with a
        feature's value in each bin, and with each label. The result is
        the derivative of the statistic with respect to them, up to a
        constant that is the same for all documents.
        """
        p = counts / counts.sum()
        independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
        is_positive = counts > 0
        # The logarithm of p over what it would be if bins and labels
        # were independent; 0 where there are no documents.
        ratios: Floats = (
            np.log(
                np.where(is_positive, p, 1.0) / np.where(is_positive, independent, 1.0)
            )
            / counts.sum()
        )
        return ratios

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Order features by a statistic of their binned values and the labels, and return the first k.

        The statistic says how much values and labels depend on each
        other. ``data`` are the training documents. The generator yields
        progress events, and then returns the result.
        """
        scores = np.empty(data.X.shape[1])
        # The edges of each feature's bins (n, bins - 1), and the
        # distinct labels.
        edges, labels = yield from _bin_edges(data, self.checked("n_bins"))
        for columns in data.portions():
            yield WorkProgress(_PROGRESS_TEXT, columns.start / scores.size)
            (counts,) = yield from summed(
                data, _PROGRESS_TEXT, _joint_counts, columns, edges[columns], labels
            )
            # A table (bins, labels) of numbers of documents for each feature.
            scores[columns] = [self.statistic(joint) for joint in counts]
        return Ordering(
            features=best_first(scores, k), candidates=scores, found={"scores_": scores}
        )

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared | None:
        """Return an iterator over the first ``n_features`` steps, or None with groups or costs.

        The items of the iterator have the statistic of each feature,
        and each query's part in it, to first order. With groups or
        costs there is no iterator, because the scores of groups, or per
        cost, have no such parts. The bins are assumed to be the same
        for all queries. ``data`` are the training documents.
        """
        if len(self.groups) > 0 or self.costs is not None:
            return None
        return self._compared(data, n_features)

    def _compared(self, data: TrainingData, n_features: int) -> Compared:
        """Yield the scores (n,) of the features at each of ``n_features`` steps, with each query's part (n, Q)."""
        from rankstudio.engine.methods.selection.query_parts import (  # noqa: PLC0415 - numba
            compared_parts,
            sized_steps,
        )

        steps = yield from sized_steps(self, data, n_features)
        parts = yield from statistic_by_query(self, data)
        yield from compared_parts(steps, parts, np.ones(parts.shape[1], dtype=np.bool_))


@dataclass(eq=False, repr=False)
class ChiSquared(MutualInformation):
    """The χ² filter orders features by Pearson's χ² statistic of binned values and labels (CHI).

    Its parameters, bins and cost are those of :class:`MutualInformation`.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        sum (O - E)² / E over bins and labels, for O documents and E
        expected ones if value and label were independent; 0 for a
        constant feature.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> ChiSquared(3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([ 0, 12,  2])
    """

    entry = CHI_SQUARED

    def statistic(self, counts: Floats) -> float:
        """Return Pearson's χ² of a feature from the documents of each bin and label (bins, labels)."""
        # The numbers of documents if bins and labels were independent.
        expected = (
            counts.sum(axis=1, keepdims=True)
            * counts.sum(axis=0, keepdims=True)
            / counts.sum()
        )
        is_positive = expected > 0
        return float(
            np.sum(
                (counts[is_positive] - expected[is_positive]) ** 2
                / expected[is_positive]
            )
        )

    def gains(self, counts: Floats) -> Floats:
        """Return the effect of one document of each bin and label on χ², to first order, (bins, labels).

        ``counts`` (bins, labels) are the numbers of documents with a
        feature's value in each bin, and with each label. The result is
        the derivative of χ² with respect to them, up to a constant that
        is the same for all documents.
        """
        p = counts / counts.sum()
        bins = p.sum(axis=1, keepdims=True)
        labels = p.sum(axis=0, keepdims=True)
        # The derivatives of sum p² / (bins labels), which is χ² / m + 1
        # for m documents.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(p / (bins * labels))
        # The shares of bins and labels are sums of p, so p also changes these.
        of_bins = ratios**2 * labels
        of_labels = ratios**2 * bins
        derivatives: Floats = (
            2 * ratios - of_bins.sum(axis=1, keepdims=True) - of_labels.sum(axis=0)
        )
        return derivatives


_PROGRESS_TEXT = "comparing features with labels"


def statistic_by_query(
    estimator: MutualInformation, data: TrainingData
) -> Waiting[Floats]:
    """Return the part of each query in the statistic of each feature, shape (n, Q).

    The statistic says how much the values of a feature, in bins, and
    the labels depend on each other. A query's part is the sum over its
    documents of what each contributes to the statistic to first order.
    ``data`` are the training documents. The generator yields progress
    events, and then returns the result. ``estimator`` is the filter.
    """
    edges, labels = yield from _bin_edges(data, estimator.checked("n_bins"))
    n = edges.shape[0]
    parts = np.empty((n, data.ptr.size - 1))
    for columns in data.portions():
        yield WorkProgress(_PROGRESS_TEXT, columns.start / n)
        column_edges = edges[columns]
        # The first pass counts documents per bin and label; the second
        # one adds up what each document gains.
        (counts,) = yield from summed(
            data, _PROGRESS_TEXT, _joint_counts, columns, column_edges, labels
        )
        gains = np.array([estimator.gains(joint) for joint in counts])
        (parts[columns],) = yield from summed(
            data, _PROGRESS_TEXT, _gains_by_query, columns, column_edges, labels, gains
        )
    return parts


def _bin_edges(data: TrainingData, n_bins: int) -> Waiting[tuple[Floats, Floats]]:
    """Return the upper edges of each feature's bins, except the last bin, and the distinct labels.

    Shapes are (n, bins - 1) and (labels,). A feature has at most
    ``n_bins`` bins. ``data`` are the training documents. The generator
    yields progress events, and then returns the result.
    """
    ranks = np.ceil((data.y.size - 1) * _quantiles(n_bins)).astype(np.int64)
    return (yield from order_statistics(data, ranks, _PROGRESS_TEXT)), labels_of(data)


def _gains_by_query(
    data: QueryData, columns: slice, edges: Floats, labels: Floats, gains: Floats
) -> tuple[Joined]:
    """Return each query's sum of the gains of its documents for some features, (c, Q).

    ``gains`` (c, bins, labels) are what a document of each bin and
    label contributes to the statistic; ``edges`` (c, bins - 1) are the
    upper edges of bins, and ``labels`` the distinct labels. The c
    features are those of the slice ``columns``. ``data`` has the
    documents.
    """
    # The position of each document's label among the distinct ones.
    number = np.searchsorted(labels, data.y)
    out = np.empty((edges.shape[0], data.ptr.size - 1))
    for row, gain, feature_edges, values in zip(
        out, gains, edges, data.X[:, columns].T, strict=True
    ):
        # Repeated edges begin no further bin; a bin includes its upper edge.
        bins = np.searchsorted(np.unique(feature_edges), values, side="left")
        row[:] = np.add.reduceat(gain[bins, number], data.ptr[:-1])
    return (Joined(out),)


def _joint_counts(
    data: QueryData, columns: slice, edges: Floats, labels: Floats
) -> tuple[Floats]:
    """Return the number of documents of each bin and label for some features, shape (c, bins, labels).

    ``columns`` are the c features, ``edges`` (c, bins -
    1) the upper edges of their bins, except the last bin,
    and ``labels`` the distinct labels. A bin includes its upper edge.
    Repeated edges begin no further bin. ``data`` has the documents.
    """
    # The position of each document's label among the distinct ones.
    number = np.searchsorted(labels, data.y)
    if data.sparse:
        return (sparse_columns.joint_counts(data, columns, edges, number, labels.size),)
    out = np.zeros((edges.shape[0], edges.shape[1] + 1, labels.size))
    for joint, feature_edges, values in zip(
        out, edges, data.X[:, columns].T, strict=True
    ):
        bins = np.searchsorted(np.unique(feature_edges), values, side="left")
        # Bin and label as one number, row by row of the table.
        counts = np.bincount(bins * labels.size + number, minlength=joint.size)
        joint[:] = counts.reshape(joint.shape)
    return (out,)


def _quantiles(n_bins: int) -> Floats:
    return np.asarray(np.arange(1, n_bins) / n_bins)


def _mutual_information(counts: Floats) -> float:
    """Return the mutual information of bins and labels, in nats.

    ``counts`` (bins, labels) are the numbers of documents of each bin and label.
    """
    joint = counts / counts.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    is_positive = joint > 0
    # Negative only by rounding.
    return max(
        0.0,
        float(
            np.sum(
                joint[is_positive]
                * np.log(joint[is_positive] / independent[is_positive])
            )
        ),
    )
