"""FS-ED: features whose values are distributed differently in different grades (Gupta & Rosso 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.magnitude import check_rows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.capabilities import Compared, GradeDensities
from rankstudio.engine.methods.catalog.selectors import EXPECTED_DIVERGENCE
from rankstudio.engine.methods.memory_need import (
    NUMBER,
    DataShape,
    MemoryNeed,
    sums_need,
)
from rankstudio.engine.methods.selection.base import (
    Ordering,
    ScoredSelector,
    best_first,
)
from rankstudio.engine.methods.selection.single_feature import (
    measured_alone,
    measuring_features,
)
from rankstudio.engine.methods.shards.sums import informative_columns, labels_of
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.metrics.conventions import DEFAULT, objective
from rankstudio.engine.steps import Step
from rankstudio.engine.support.memory import budget
from rankstudio.engine.support.shard import Shard
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

# All pairs of labels are compared, so labels with more values are not
# treated as grades.
_MOST_CLASSES = 64
_DENSITY = 160.0  # nanoseconds for a value of a feature
_PROGRESS_TEXT = "estimating densities"
# Queries are divided into this many groups; densities are estimated
# again without each group.
_GROUPS = 20
_VALUES = 1 << 22  # numbers of features that are processed together: 32 MB
# Share of the memory budget for features that are processed together,
# for several shards. All shards are read once for every such part of
# the features.
_SHARE = 1 / 8
# Bytes for a feature: its values, their order, the values by grade, and sums.
_PER_DOCUMENT = 200.0
# Share of the sum of weights: if the average density is smaller, the
# error of the fast sums would matter.
_THIN = 1e-4


@dataclass(eq=False, repr=False)
class ExpectedDivergence(ScoredSelector):
    """FS-ED orders features by ψ(f) = s(f) + d(f), importance and expected divergence.

    s(f) is NDCG@10 of ranking the training documents by f alone, high
    values first. d(f) measures how much the distribution of f differs
    between the grades r_0 < r_1 < …; distant grades count more (eq.
    (2)):

        d(f) = sum_{m < n} (n - m) JS(f^{r_m}, f^{r_n}),

    with JS the Jensen-Shannon divergence in nats (eq. (3)) of the
    kernel density estimates (eq. (4)) of the training documents of the
    two grades, evaluated at the feature's values in the validation
    part.

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
        Maximum total cost; features that exceed the remaining budget
        are skipped. Needs ``costs``.
    density : {"normalised", "released"}, default "normalised"
        "normalised": each density sums to one over the validation
        values, so JS lies in [0, ln 2] and has a weight comparable with
        s; the bandwidth is Silverman's rule as stated by the authors, h
        = 1.06 sd M^(-1/5) with M documents of the grade and their
        standard deviation sd. "released": like the authors' program.
        The densities are not normalised, JS is summed over the
        validation values, and h =
        1.06 sd, because its M^(-1/5) is an integer division that yields M^0. d(f) then
        grows with the number of validation documents and dominates s(f).
    kde : {"fast", "exact"}, default "fast"
        "fast" is a Gauss transform, O(M + V) for M training and V
        validation values, with an error below 1e-14 + 5e-16 range / h
        times 1 / (h √(2π)), a density's maximum possible value; "exact"
        sums kernels one by one, O(MV) over distinct values.
    convention : str, default "standard"
        Convention of NDCG@10; k is at most the number of documents of a
        query, in every convention.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        ψ.
    importance_, divergence_ : ndarray of shape (n,)
        s and d.

    Notes
    -----
    The paper does not define the density of a grade with fewer than two
    distinct values. Here, "normalised", each of its values counts for
    the nearest validation value, which is the limit for h → 0; the same
    holds for a grade so far from all validation values that its density
    underflows to 0. "released" has no such limit, and pairs with such a
    grade count 0. A constant feature has d = 0 in both.

    O(n (m log m + R² V)) for R grades, spread over threads by features.
    The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.ScoredSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> ExpectedDivergence(3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 3, 1])
    """

    entry = EXPECTED_DIVERGENCE

    importance_: Floats = field(init=False)
    divergence_: Floats = field(init=False)

    _: KW_ONLY
    density: Literal["normalised", "released"] = "normalised"
    kde: Literal["fast", "exact"] = "fast"
    convention: str = DEFAULT

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        X_validation: ArrayLike | None = None,
    ) -> Self:
        """Order the features.

        Parameters
        ----------
        X, y, qid
            As in :meth:`steps`.
        X_validation : array-like of shape (V, n), optional
            Documents at whose values the densities are compared; their
            labels are not used. By default the training documents.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(_with_validation(self._validated(X, y, qid), X_validation))

    def steps(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        X_validation: ArrayLike | None = None,
    ) -> Iterator[Step]:
        """Train step by step; parameters as in :meth:`fit`."""
        yield from self.learn(_with_validation(self._group(X, y, qid), X_validation))

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape).plus(_PER_DOCUMENT * shape.m)

    def densities_of(self, data: QueryData, column: int) -> GradeDensities:
        """Return the density of a feature's values in each grade of labels.

        FS-ED scores the feature in ``column`` by comparing these
        densities. The densities are estimated from the training
        documents, and evaluated at the feature's values in the
        validation documents. Without these, the training documents are
        both. ``data`` has the documents.
        """
        density = self.checked("density")
        kde = self.checked("kde")
        documents = data.X if data.validation is None else data.validation
        return grade_densities(
            data.X[:, column],
            data.y,
            documents[:, column],
            normalised=density == "normalised",
            exact=kde == "exact",
        )

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Order features by importance plus divergence, and return the first k.

        The importance of a feature is NDCG@10 of the ranking by it
        alone. The divergence of a feature says how much its values
        differ between grades of labels. Features that are constant
        within all queries come last. ``data`` are the training
        documents. The generator yields progress events, and then
        returns the result.
        """
        density = self.checked("density")
        kde = self.checked("kde")
        convention = objective(self.convention)
        importance, _ = yield from measuring_features(
            data, "NDCG@10", convention, both_directions=False
        )
        normalised = density == "normalised"  # each density sums to 1
        exact = kde == "exact"  # sums kernel by kernel, without a fast transform
        divergence = yield from _divergences(data, normalised=normalised, exact=exact)
        scores = importance + divergence
        attributes = {
            "scores_": scores,
            "importance_": importance,
            "divergence_": divergence,
        }
        # A feature that is constant in every query leaves the documents
        # in the order of the file, which may put relevant ones first:
        # its importance says nothing.
        varies = yield from informative_columns(data)
        return Ordering(
            features=best_first(np.where(varies, scores, -np.inf), k),
            candidates=scores,
            found=attributes,
        )

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared | None:
        """Return an iterator over the first ``n_features`` steps, or None with groups or costs.

        The items of the iterator have the scores of all features,
        importance plus divergence, and each query's part in them. With
        groups or costs there is no iterator, because the scores of
        groups, or per cost, have no such parts. ``data`` are the
        training documents.
        """
        if len(self.groups) > 0 or self.costs is not None:
            return None
        from rankstudio.engine.methods.selection.query_parts import compared_means  # noqa: PLC0415 - numba

        # The importance of a feature is the mean of its NDCG@10 over queries.
        values = measured_alone(
            data, "NDCG@10", objective(self.convention), both_directions=False
        )
        return compared_means(
            self, data, n_features, values, self._divergence_parts(data)
        )

    def _divergence_parts(self, data: TrainingData) -> Waiting[Floats]:
        """Return how much the divergence of each feature decreases without each query, shape (n, Q).

        Densities are estimated again without each of up to 20 random
        groups of queries. The decrease is divided among the queries of
        the group by their numbers of documents. ``data`` are the
        training documents. The generator yields progress events, and
        then returns the result.
        """
        Q = data.ptr.size - 1
        sizes = np.diff(data.ptr)
        # Ordering k = 1 feature computes the divergence of all of them, too.
        divergence = (yield from self.order_features(data, 1)).found["divergence_"]
        parts = np.empty((divergence.size, Q))
        n_groups = min(Q, _GROUPS)
        groups = np.array_split(np.random.default_rng(0).permutation(Q), n_groups)
        for number, queries in enumerate(groups):
            yield WorkProgress("comparing queries", number / n_groups)
            # The data without the queries of this group.
            other_queries = data.taken(np.setdiff1d(np.arange(Q), queries))
            ordering = yield from self.order_features(other_queries, 1)
            decrease = divergence - ordering.found["divergence_"]
            parts[:, queries] = (
                decrease[:, None] * sizes[queries] / sizes[queries].sum()
            )
        return parts


def divergences(
    X: Floats,
    y: Floats,
    validation: Floats,
    *,
    normalised: bool = True,
    exact: bool = False,
) -> Floats:
    """Return the expected divergence d of each feature, shape (n,).

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Training documents.
    y : ndarray of shape (m,)
        Their labels.
    validation : ndarray of shape (V, n)
        Documents at whose values densities are compared.
    normalised, exact : bool
        ``density="normalised"`` and ``kde="exact"`` of :class:`ExpectedDivergence`.

    Raises
    ------
    DatasetError
        For more than 64 distinct labels.
    """
    data = QueryData(X, y, np.array([0, y.size]), validation=validation)
    return finish(_divergences(training_data(data), normalised=normalised, exact=exact))


def _divergences(
    data: TrainingData, *, normalised: bool, exact: bool
) -> Waiting[Floats]:
    """Return the expected divergence of each feature, shape (n,).

    Two grades of labels diverge by the Jensen-Shannon divergence of the
    feature's densities in them, times the distance of the grades. The
    divergence of the feature is the sum over all pairs of grades.
    ``normalised`` densities sum to 1; ``exact`` ones are summed kernel
    by kernel, others by a fast transform. Some features are read at a
    time. ``data`` are the training documents. The generator yields
    progress events, and then returns the result.
    """
    grades = labels_of(data)
    m, n = data.X.shape
    _check_grades(grades)
    grade = np.searchsorted(grades, data.y)  # the position of each document's grade
    d = np.empty(n)

    def of_feature(j: int, values: Floats) -> float:
        """Return the divergence of feature j with the values (m,) in the documents.

        Uses ``data``, ``grade`` (m,), the position of each document's
        label among the distinct ones, and the settings of the enclosing
        function.
        """
        # The values at which the densities are compared.
        points = values if data.validation is None else data.validation[:, j]
        return _grade_densities(
            values, grade, grades, points, normalised, exact
        ).divergence

    # As many features at a time as fit into a share of the memory, and
    # at least one per thread. NUMBER is the bytes of a number. Several
    # shards are all read once for each part of the features, so that
    # the parts are larger. There are threads only if the work takes
    # longer than to start them.
    with pool(worthwhile(_DENSITY * data.X.size)) as (executor, workers):
        max_numbers = _SHARE * budget() / NUMBER if data.several else _VALUES
        step = max(workers, int(max_numbers / m))
        for begin in range(0, n, step):
            columns = range(begin, min(begin + step, n))
            rows = yield from _feature_rows(data, columns)
            # One feature per thread, so that progress is shown often.
            for first in range(0, len(columns), workers):
                yield WorkProgress(_PROGRESS_TEXT, (begin + first) / n)
                part = slice(first, first + workers)
                values = (executor.map if executor else map)(
                    of_feature, columns[part], rows[part]
                )
                d[columns[part]] = list(values)
    return d


def _feature_rows(data: TrainingData, columns: range) -> Waiting[Floats]:
    """Return the values of c features in all m documents, shape (c, m), read shard by shard.

    A shard is a part of the documents, with whole queries. ``data`` are
    the training documents. The generator yields progress events, and
    then returns the result.
    """
    feature_rows = np.empty((len(columns), data.X.shape[0]))

    def read(_: int, shard: Shard, shard_data: QueryData) -> None:
        """Copy the columns of a shard's documents to ``feature_rows``; the shard's number is not used."""
        feature_rows[:, shard.rows] = shard_data.X[:, columns.start : columns.stop].T

    yield from data.visited(read, _PROGRESS_TEXT)  # calls `read` for each shard
    return feature_rows


def _check_grades(grades: Floats) -> None:
    if grades.size > _MOST_CLASSES:
        raise DatasetError(
            f"y: expected at most {_MOST_CLASSES} different labels, got {grades.size}. Expected divergence "
            "compares each pair of labels."
        )


def grade_densities(
    values: Floats,
    y: Floats,
    validation_values: Floats,
    *,
    normalised: bool = True,
    exact: bool = False,
) -> GradeDensities:
    """Estimate the densities of one feature for expected divergence.

    Parameters
    ----------
    values, y : ndarray of shape (m,)
        Values of the feature and labels of the training documents.
    validation_values : ndarray of shape (V,)
        Values of the feature at which the densities are compared.
    normalised, exact : bool
        Whether densities sum to 1 over these values, and whether they
        are summed kernel by kernel instead of by a fast transform.
    """
    grades, grade = np.unique(y, return_inverse=True)
    return _grade_densities(values, grade, grades, validation_values, normalised, exact)


def _grade_densities(
    values: Floats,
    grade: Ints,
    grades: Floats,
    validation_values: Floats,
    normalised: bool,
    exact: bool,
) -> GradeDensities:
    """Return the densities of one feature in R grades, and its expected divergence.

    ``values`` (m,) are the feature's values in the training documents,
    and ``grade`` (m,) the documents' positions in ``grades`` (R,). The
    densities are evaluated at ``validation_values`` (V,).
    ``normalised`` densities sum to 1 over these; ``exact`` ones are
    summed kernel by kernel, others by a fast transform.
    """
    from rankstudio.engine.methods.selection import _divergence_kernel as kernels  # noqa: PLC0415 - numba

    # Ascending values, with the grades in the same order.
    order = np.argsort(values)
    values = values[order]
    grade = grade[order]
    # The D values at which the densities are compared, and how often
    # each occurs.
    places, counts = _distinct(np.sort(validation_values))
    densities = np.zeros((grades.size, places.size))
    has_density = np.ones(grades.size, dtype=np.bool_)
    bandwidths = np.zeros(grades.size)
    sum_kernels = kernels.exact_sums if exact else kernels.fast_sums
    # The density of each grade at these values: the sum of a normal
    # kernel at each document of the grade.
    for r in range(grades.size):
        grade_values = values[grade == r]
        h = bandwidths[r] = _bandwidth(grade_values, normalised)
        points, weights = _distinct(grade_values)
        if 0.0 < h < np.inf:
            sums = densities[r]
            sum_kernels(points, weights, h, places, sums)
            # Normalisation magnifies the errors of fast sums where
            # hardly any kernel reaches.
            needs_exact_sums = (
                normalised
                and not exact
                and _total(sums, counts)
                < _THIN * grade_values.size * validation_values.size
            )
            if needs_exact_sums:
                kernels.exact_sums(points, weights, h, places, sums)
            if not normalised:
                sums /= grade_values.size * h * np.sqrt(2.0 * np.pi)
        if normalised:
            # The sum may be 0 at all these values, which are too far
            # from the grade's. Each point's weight then moves to the
            # nearest value. It is divided by `counts`, because the
            # density counts once for each document with a value.
            if _total(densities[r], counts) == 0.0:
                densities[r] = _move_to_nearest(points, weights, places) / counts
            densities[r] /= _total(densities[r], counts)
        else:
            # A grade whose values are all equal has no density.
            has_density[r] = 0.0 < h < np.inf
    divergence = kernels.expected_divergence(densities, counts, has_density)
    return GradeDensities(
        grades=grades,
        places=places,
        counts=counts,
        densities=densities,
        known=has_density,
        bandwidths=bandwidths,
        divergence=divergence,
    )


def _bandwidth(values: Floats, normalised: bool) -> float:
    """Return the bandwidth for the ascending values of one grade, by Silverman's rule 1.06 sd M^(-1/5).

    sd is the standard deviation of the M values. If densities are not
    ``normalised``, the factor M^(-1/5) is 1, as in the authors'
    program. The bandwidth is 0 if there is only one distinct value.
    """
    if values.size < 2 or values[0] == values[-1]:
        return 0.0
    return (
        1.06
        * float(values.std(ddof=1))
        * (float(values.size**-0.2) if normalised else 1.0)
    )


def _distinct(values: Floats) -> tuple[Floats, Floats]:
    """Return the different values of an ascending array, and how often each occurs."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return values[starts], np.diff(starts, append=values.size).astype(np.float64)


def _total(density: Floats, counts: Floats) -> float:
    """Return the sum of a density (D,) over all values, each of which occurs ``counts`` (D,) times."""
    # Without BLAS, whose threads would compete with those of this module.
    return float((density * counts).sum())


def _move_to_nearest(points: Floats, weights: Floats, places: Floats) -> Floats:
    """Move the weight of each point to the nearest place, and return the weight of each place, (D,).

    ``points`` and ``weights`` (P,) are values and how much each counts;
    ``places`` (D,) are the ascending values to which the weights move.
    If two places are equally near, each gets half of the weight.
    """
    mass = np.zeros(places.size)
    # The neighbouring places on both sides of each point; before the
    # first place, both are that place.
    right = np.clip(np.searchsorted(places, points), 0, places.size - 1)
    left = np.maximum(right - 1, 0)
    to_left = np.abs(points - places[left])
    to_right = np.abs(points - places[right])
    # All of the weight goes to a nearer left place, none if the right one is nearer.
    left_share = np.select([to_left < to_right, to_left > to_right], [1.0, 0.0], 0.5)
    np.add.at(mass, left, left_share * weights)
    np.add.at(mass, right, (1.0 - left_share) * weights)
    return mass


def _with_validation(data: QueryData, X_validation: ArrayLike | None) -> QueryData:
    """Return the data with checked validation documents (V, n), or unchanged for None."""
    if X_validation is None:
        return data
    return replace(data, validation=_check_validation(X_validation, data.X.shape[1]))


def _check_validation(X_validation: ArrayLike, n: int) -> Floats:
    """Check validation documents, and return them as an array of shape (V, n).

    ``n`` is the number of features of the training documents. Raises a
    DatasetError for another shape or an invalid number.
    """
    validation = np.asarray(X_validation, dtype=np.float64)
    if validation.ndim != 2 or validation.shape[0] == 0 or validation.shape[1] != n:
        raise DatasetError(
            f"X_validation: expected rows of {n} features like those of X, got shape {validation.shape}."
        )
    if not np.isfinite(validation).all():
        row = int(np.argwhere(~np.isfinite(validation))[0][0])
        raise DatasetError(
            f"X_validation: expected finite numbers, row {row} has NaN or infinity."
        )
    # Called for its errors only: all documents are treated as one query.
    check_rows(
        validation,
        np.array([0, validation.shape[0]]),
        lambda j: f"column {j} of X_validation",
    )
    return validation
