"""Stability selection: how often each feature is selected on halves of the queries.

Documents without queries are one ranking, of which halves of the
documents are taken. The bounds hold for both: they need independent
queries, or independent documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import halved_count
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.splitting.query_halves import half_of
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.capabilities import PathsFromSums
from rankstudio.engine.methods.foreign.instances import as_method
from rankstudio.engine.methods.selection.base import GrowingSelector, Selector
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.threads import STEADY, pool, share
from rankstudio.engine.support.work import Waiting, WorkProgress, finish, without_notes
from rankstudio.plugins.evidence.partial_result import PartialResult

MOST_HALVES = 1_000_000  # pairs of halves; a greater number is taken for a typing error
_AT_ONCE = 16  # halves between two partial results, if paths follow from sums
_ROUNDING = 1e-9  # tolerance of a computed number of halves


def halves_text(*, one_ranking: bool) -> str:
    """Return the text that is shown while selections on halves are in progress."""
    return (
        "selecting on halves of the documents"
        if one_ranking
        else "selecting on halves of the queries"
    )


@dataclass(frozen=True, eq=False)
class StabilitySelection:
    """Selection frequencies of n features on halves of the queries, or of the documents of one ranking.

    Attributes
    ----------
    counts : ndarray of shape (k, n)
        Number of halves that select each feature within 1, 2, … k steps.
    places : ndarray of shape (N, n)
        Step at which each of the N halves selects each feature, from 1;
        0 if the feature is not selected.
    n_candidates : int
        Number of features that vary within some query, p; other
        features cannot change a ranking.
    seed : int
        Seed of the halves.

    Notes
    -----
    All parameters, including λ, are those of the estimator on every
    half, although a half has only about half of the squared errors.
    Pinned features count as selected.
    """

    counts: Ints
    places: Ints
    n_candidates: int
    seed: int

    @property
    def n_paths(self) -> int:
        """Number of halves, N: two per division."""
        return int(self.places.shape[0])

    @property
    def probability(self) -> Floats:
        """Share of the halves on which each feature is selected within 1, 2, … steps, shape (k, n)."""
        shares: Floats = self.counts / self.n_paths
        return shares

    @property
    def positions(self) -> Floats:
        """5, 50 and 95 % quantiles of each feature's position, shape (3, n); inf for not selected."""
        # A quantile q is the ceil(q N)-th smallest position of the N
        # halves. A product q N that is whole may be slightly greater by
        # rounding.
        places = np.sort(np.where(self.places == 0, np.inf, self.places), axis=0)
        indices = (
            np.ceil(np.array([0.05, 0.5, 0.95]) * self.n_paths - _ROUNDING).astype(
                np.int64
            )
            - 1
        )
        quantiles: Floats = places[indices]
        return quantiles

    def stable(
        self, threshold: float = 0.75, *, n_features: int | None = None
    ) -> tuple[int, ...]:
        """Return the 0-based columns that at least a share of the halves selects, most frequent first.

        Parameters
        ----------
        threshold : float, default 0.75
            τ, the least share of the halves; greater than 0.5, at most 1.
        n_features : int, optional
            Number of steps within which a half selects a feature; k by default.
        """
        counts = self.counts[self._row_index(n_features)]
        order = np.argsort(-counts, kind="stable")
        return tuple(order[counts[order] >= self._min_halves(threshold)].tolist())

    def bound(
        self,
        threshold: float = 0.75,
        *,
        unimodal: bool = False,
        n_features: int | None = None,
    ) -> float:
        """Bound the expected number of stable features that are selected no more often than by chance.

        Parameters
        ----------
        threshold, n_features
            As in :meth:`stable`; the bound holds for values chosen beforehand.
        unimodal : bool, default False
            Whether to assume that the share of pairs of halves that
            both select a feature is unimodal. If the theorem does not
            hold for the threshold or number of features, the bound
            without the assumption is used.

        Notes
        -----
        With q of p features selected on a half, these are the stable
        features that a half selects with a probability of at most q /
        p. Their expected number is at most q² / ((2τ - 1) p), and C(τ,
        B) q² / p for B unimodal pairs of halves (Shah and Samworth
        2013, theorems 1 and 2, eq. (8)). Queries must be independent,
        and for one ranking its documents.
        """
        tau = self._min_halves(threshold) / self.n_paths
        selected = float(self.probability[self._row_index(n_features)].sum())
        return selection_bound(
            tau, selected, self.n_candidates, self.n_paths // 2 if unimodal else None
        )

    def _row_index(self, n_features: int | None) -> int:
        """Return the row of ``counts`` for a number of steps.

        ``n_features`` is the number of steps; None for all steps. Raise
        ParameterError for a number that the paths do not have.
        """
        k = self.counts.shape[0]
        return (
            k - 1 if n_features is None else between("n_features", n_features, 1, k) - 1
        )

    def _min_halves(self, threshold: float) -> int:
        """Return the minimum number of halves that select a stable feature."""
        if not 0.5 < threshold <= 1:
            raise ParameterError(
                "threshold", threshold, "a number greater than 0.5 and at most 1"
            )
        return int(np.ceil(threshold * self.n_paths - _ROUNDING))


def selection_bound(
    tau: float, selected: float, n_candidates: int, n_pairs: int | None = None
) -> float:
    """Return a bound on the expected number of wrong features among the stable features.

    A feature is wrong if its selection probability is at most q / p,
    that of a feature chosen at random (Shah and Samworth 2013).

    Parameters
    ----------
    tau : float
        Threshold, greater than 0.5.
    selected : float
        Number of features selected on a half, q.
    n_candidates : int
        Number of candidates, p.
    n_pairs : int, optional
        Number of pairs of halves, B, to assume that the number of pairs
        that select a feature has a unimodal distribution; by default
        nothing is assumed.

    Examples
    --------
    >>> round(selection_bound(0.8, 20, 88), 4)
    7.5758
    >>> round(selection_bound(0.8, 20, 88, n_pairs=50), 4)
    3.7433
    """
    theta = selected / n_candidates

    # without the assumption of a unimodal distribution
    factor = 1.0 / (2.0 * tau - 1.0)

    # C(τ, B) of equation (8), where the theorem allows this θ and τ.
    if n_pairs is not None and theta <= 1 / np.sqrt(3):
        step = 0.5 / n_pairs  # 1 / (2 B)
        if tau > 0.75:
            factor = min(factor, 4.0 * (1.0 - tau + step) / (1.0 + 2.0 * step))
        elif (
            tau > min(0.5 + theta**2, 0.5 + step + 0.75 * theta**2)
            and 2.0 * tau - 1.0 > step
        ):
            factor = min(factor, 0.5 / (2.0 * tau - 1.0 - step))
    return factor * theta * selected


def stability_selection(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    n_halves: int = 50,
    seed: int = 0,
) -> StabilitySelection:
    """Select features on complementary halves of the queries, and count how often each is selected.

    Documents of a single query are one ranking: then halves of the
    documents are taken.

    Parameters
    ----------
    estimator : Selector
        A method that selects features; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document; at least four queries, or one with at
        least eight documents. None if all documents are one ranking.
    n_halves : int, default 50
        Number of divisions into halves, B. If the number of queries or
        documents is odd, each division leaves one out.
    seed : int, default 0
        Equal seeds give equal halves.

    Returns
    -------
    StabilitySelection
        Frequencies of the features.

    Notes
    -----
    Greedy RankRLS uses sums of per-query statistics, computed once;
    other methods are trained on each of the 2B halves. Both select the
    same features.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((120, 5)), np.repeat(np.arange(20), 6)
    >>> y = np.round(2 * X[:, 3] + 0.1 * rng.random(120))
    >>> found = stability_selection(GreedyRankRLS(n_features_to_select=1), X, y, qid=qid)
    >>> found.stable(0.9), found.probability[0]
    ((3,), array([0., 0., 0., 1., 0.]))
    >>> round(found.bound(0.9), 3), round(found.bound(0.9, unimodal=True), 3)
    (0.25, 0.086)
    """
    return finish(stability_steps(estimator, group(X, y, qid), n_halves, seed))


def stability_steps(
    estimator: LinearRanker,
    data: GivenData,
    n_halves: int = 50,
    seed: int = 0,
    known: StabilitySelection | None = None,
) -> Waiting[StabilitySelection]:
    """Select features on random halves of the queries, and count how often each is selected.

    Parameters
    ----------
    estimator : LinearRanker
        Any selector; it is not fitted here.
    data : QueryData or TrainingData
        Documents grouped by query, or one ranking, of which halves of
        the documents are taken.
    n_halves : int, default 50
        Number of random divisions into two halves.
    seed : int, default 0
        Equal seeds give equal halves.
    known : StabilitySelection, optional
        Result of an interrupted run with the same arguments; its halves
        are not repeated.

    Yields
    ------
    PartialResult
        :class:`StabilitySelection` of the finished halves. Progress of the
        method is passed on.

    Returns
    -------
    StabilitySelection
        Counts of all halves.
    """
    estimator = as_method(estimator)
    if not isinstance(estimator, Selector):
        raise ParameterError(
            "estimator", type(estimator).__name__, "a method that selects features"
        )
    count = 2 * between("n_halves", n_halves, 1, MOST_HALVES)  # halves to select on
    start = between("seed", seed, 0, MOST_SEED)  # the seed, if it is valid
    rows = training_data(data)
    n_units = halved_count(
        rows.ptr.size - 1,
        rows.y.size,
        "Stability selection",
        one_ranking=rows.one_ranking,
    )

    # Without an earlier result, begin with one that has no halves.
    if known is None:
        known = without_paths(estimator, (yield from informative_columns(rows)), start)
    stability = known

    # `places` (N, n) has the position at which each of N halves selects
    # each feature.
    if stability.seed != start or stability.places.shape[1] != rows.X.shape[1]:
        raise ParameterError(
            "known", stability.seed, f"a result for the same data with the seed {start}"
        )

    # A path is the sets of features that a half selects, one per step.
    # The result may have the paths of some halves already.
    halves = _Halves(n_units, start, range(stability.n_paths, count))
    activity = halves_text(one_ranking=rows.one_ranking)

    # Sums are over queries: one ranking is learned from anew.
    prepare_paths = None if rows.one_ranking else estimator.paths_from_sums(rows)
    events = (
        _learned_paths(estimator, rows, halves)
        if prepare_paths is None
        else _summed_paths(prepare_paths, halves)
    )

    for event in events:
        if isinstance(event, WorkProgress):
            yield event
        else:
            stability = with_paths(stability, event)
            yield PartialResult(activity, stability.n_paths / count, stability)

    return stability


Path = Sequence[tuple[int, ...]]
"""The features after 1, 2, … steps."""


@dataclass(frozen=True)
class _Halves:
    """The halves of the queries from which paths of features are still to be learned.

    Halves are given by their numbers. They consist of queries, or of
    documents if the documents are one ranking.
    """

    n_units: int
    seed: int
    numbers: range

    def units(self, number: int) -> Ints:
        """Return the positions of the queries or documents of a half."""
        return half_of(self.n_units, self.seed, number)

    def taken(self, data: TrainingData, number: int) -> TrainingData:
        """Return the documents of a half."""
        units = self.units(number)
        return data.taken_documents(units) if data.one_ranking else data.taken(units)


def without_paths(
    estimator: Selector, informative: Bools, seed: int
) -> StabilitySelection:
    """Return a stability selection without any half, to which the halves' paths can be added.

    Parameters
    ----------
    estimator : Selector
    informative : ndarray of shape (n,)
        Whether each feature varies within some query.
    seed : int
        Seed of the halves.
    """
    n = informative.size
    k = min(estimator.n_steps(n), n) if isinstance(estimator, GrowingSelector) else n
    counts = np.zeros((k, n), dtype=np.int64)
    places = np.zeros((0, n), dtype=np.int64)
    return StabilitySelection(counts, places, max(1, int(informative.sum())), seed)


def with_paths(
    stability: StabilitySelection, paths: Sequence[Path]
) -> StabilitySelection:
    """Return a stability selection extended by the paths of further halves.

    A path has the selected features after 1, 2, ... steps. After the
    end of a path that ended early, its last features count for the
    remaining steps.
    """
    counts = stability.counts.copy()  # (steps, n)

    # step, from 1, at which each path selects each feature; 0 if it does not
    places = np.zeros((len(paths), counts.shape[1]), dtype=np.int64)

    for path_places, path in zip(places, paths, strict=True):
        # a path may be longer or shorter than `counts`
        for row, chosen in zip(counts, path, strict=False):
            row[list(chosen)] += 1
        counts[len(path) :, list(path[-1])] += 1
        path_places[list(path[-1])] = np.arange(1, len(path[-1]) + 1)

        # with groups, all features of a step have its number as their place
        if len(path[-1]) > len(path):
            for step in range(len(path), 0, -1):
                path_places[list(path[step - 1])] = step

    return StabilitySelection(
        counts,
        np.vstack((stability.places, places)),
        stability.n_candidates,
        stability.seed,
    )


def _summed_paths(
    prepare_paths: Callable[[], PathsFromSums], halves: _Halves
) -> Iterator[list[Path]]:
    """Yield the paths on some halves, a few at a time, computed from sums over queries.

    ``prepare_paths`` adds up the sums of all queries. A path has the
    features after 1, 2, ... steps.
    """
    with STEADY:
        paths = prepare_paths()
    with pool() as (executor, workers):
        for first in range(0, len(halves.numbers), _AT_ONCE):
            part = halves.numbers[first : first + _AT_ONCE]
            path_by_number: dict[int, Path] = {}

            # The dict is an argument, as each round has its own.
            def learn(
                number: int, paths_of_part: dict[int, Path] = path_by_number
            ) -> None:
                """Keep the path on the half of a number, in `paths_of_part`."""
                steps = paths.path_of(halves.units(number))
                paths_of_part[number] = [step.selected for step in steps]

            # `learn` is called with the number of each half, on all threads.
            with STEADY:
                share(executor, workers, learn, part)
            yield [path_by_number[number] for number in part]


def _learned_paths(
    estimator: Selector, data: TrainingData, halves: _Halves
) -> Iterator[list[Path] | WorkProgress]:
    """Yield the paths of selected features of any method on some halves, one at a time.

    A path has the selected features after 1, 2, ... steps. The method
    is trained on each half, and its progress is yielded in between.
    """
    for number in halves.numbers:
        half = halves.taken(data, number)
        fresh = type(estimator)(**estimator.get_params(deep=False))
        steps = yield from without_notes(steps_of(fresh.work(half)))
        yield [path_of_steps(fresh, steps)]


def path_of_steps(estimator: Selector, steps: list[Step]) -> Path:
    """Return the path of a fitted method: the selected features after each step.

    A method that does not add features step by step has one model: its
    features are ordered by absolute weight, and the first 1, 2, … of
    them stand for the steps.
    """
    if isinstance(estimator, GrowingSelector):
        return [step.selected for step in steps]
    last = steps[-1]
    order = sorted(last.selected, key=lambda column: (-abs(last.coef[column]), column))
    return [tuple(order[:size]) for size in range(1, len(order) + 1)] or [()]
