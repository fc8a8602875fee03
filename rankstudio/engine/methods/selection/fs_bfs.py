"""FS-BFS: groups of features, each combined into one new feature (Dang & Croft 2010)."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arithmetic.optimisers.coordinate_ascent import AscentSearch
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import between
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import MOST_SEED
from rankstudio.engine.methods.capabilities import Compared, ComparedByQuery
from rankstudio.engine.methods.catalog.selectors import FS_BFS
from rankstudio.engine.methods.scikit_learn import check_is_fitted, validate_data
from rankstudio.engine.methods.selection.base import PathSelector
from rankstudio.engine.methods.shards.ascent_search import ascent_search
from rankstudio.engine.methods.shards.sums import combined_models, deviations
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.metrics.conventions import DEFAULT, objective
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress, told_as


@dataclass
class _Partition:
    """Subsets of one dataset's features that a search has found.

    ``is_whole`` is True once the search has ended.
    """

    nodes: list[Node] = field(default_factory=list)
    is_whole: bool = False


@dataclass
class _Partitions:
    """Cache of one dataset's partitions.

    A key is the selector's class and its parameters without λ.
    """

    found: dict[tuple[type, tuple[tuple[str, Any], ...]], _Partition] = field(
        default_factory=dict
    )


@dataclass(eq=False, repr=False)
class FSBFS(PathSelector):
    """FS-BFS divides features into subsets by best-first search and combines each into one new feature.

    The search starts from every remaining single feature. The search
    opens the node with the best measure, creates a node with every
    remaining feature added, learns each one's combination by coordinate
    ascent on the measure of the training documents, and stops after
    ``patience`` nodes in a row without an improvement. The best node is
    a subset: its combination sum_i w_i x_i becomes a new feature, its
    features are removed, and the search starts again. Each step adds a
    subset; RankRLS, or another ranker in a plan, ranks with the new
    features so far.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of new features, that is subsets; by default
        until no feature remains.
    subset_size : int, default 5
        Maximum number of features of a subset, p from 1 up.
    measure : str, default "NDCG@10"
        Any measure of :func:`rankstudio.engine.evaluate`.
    patience : int, default 5
        Number of nodes opened in a row without an improvement before
        the search stops, R from 1 to 1000.
    max_iter : int, default 25
        Maximum number of iterations of coordinate ascent per node, 1 to 10,000.
    tolerance : float, default 1e-3
        Coordinate ascent stops after the first iteration that improves
        the measure by at most this much; greater than 0.
    convention : str, default "standard"
        Convention of the measure. A cut-off k is limited to the number
        of documents of a query.
    seed : int, default 0
        Seed of the orders in which coordinate ascent visits features, 0 to 2^32 - 1.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the new features, each
        scaled to a standard deviation of 1 within queries.

    Attributes
    ----------
    subsets_ : tuple of tuple of int
        0-based columns of each subset, in the order of their addition.
    combinations_ : ndarray of shape (t, n)
        Weights of each subset's combination.
    subset_scores_ : ndarray of shape (t,)
        Measure of the training documents ranked by each combination.
    selection_order_ : ndarray
        Columns of all subsets, subset by subset.
    coef_, support_, criterion_path_, coef_path_
        As in
        :class:`rankstudio.engine.methods.selection.base.PathSelector`,
        in terms of the original features.

    Notes
    -----
    Coordinate ascent starts from the parent's combination, with weight
    0 for the new feature. Opening a node costs up to n line searches of
    O(m log |q|) and a few sweeps, so this takes far longer than
    filters. Features that are constant within every query are in no
    subset as long as others remain.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSBFS(1, subset_size=2).fit(train.X, train.y, qid=train.qid).subsets_
    ((1, 0),)
    """

    entry = FS_BFS

    subsets_: tuple[tuple[int, ...], ...] = field(init=False)
    combinations_: Floats = field(init=False)
    subset_scores_: Floats = field(init=False)

    _: KW_ONLY
    subset_size: int = 5
    measure: str = "NDCG@10"
    patience: int = 5
    max_iter: int = 25
    tolerance: float = 1e-3
    convention: str = DEFAULT
    seed: int = 0
    regularization: float = 1.0

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step per subset: RankRLS with the new features so far, and progress events in between.

        Each subset of features is combined into one new feature. Also
        sets the attributes of the fitted selector that describe the
        subsets so far. ``data`` are the training documents.
        """
        data = training_data(data)
        max_nodes = self._n_to_select(data.X.shape[1])
        regularization = self.checked("regularization")
        nodes: list[Node] = []
        for node in self.nodes(data, max_nodes):
            if isinstance(node, WorkProgress):
                yield node
                continue
            nodes.append(node)
            # The new features are the subsets' combinations of
            # features, scaled to a standard deviation of 1.
            combinations = np.array([node.coef for node in nodes])
            deviation = yield from deviations(data, combinations)
            combinations /= np.where(deviation > 0, deviation, 1.0)[:, None]
            # Models with the first 1, 2, … new features; the last one
            # is the model of this step.
            weights, errors = yield from combined_models(
                data, combinations, regularization
            )
            features = tuple(f for node in nodes for f in node.features)
            self._set_subsets(nodes)
            # `reached` has, for each feature that this search could
            # select, the best measure of the subsets that it tried with
            # the feature.
            candidate_scores = np.full(data.X.shape[1], np.nan)
            candidate_scores[list(node.reached)] = list(node.reached.values())
            # The model weighs new features. Multiplied by the
            # combinations, its weights are those of the original
            # features.
            yield Step(
                number=len(nodes),
                selected=features,
                coef=weights[-1] @ combinations,
                criterion=float(errors[-1]),
                candidates=candidate_scores,
            )

    def nodes(
        self, data: TrainingData, max_nodes: int | None = None
    ) -> Iterator[Node | WorkProgress]:
        """Yield the cached subsets of these data, then search for the others.

        A :class:`Node` is a subset of features with the weights that
        combine them. The search ends after ``max_nodes`` subsets, or
        when no feature remains. A subset is cached as soon as the
        search has it, because a caller may stop early. A later search
        starts again from the same seed, so it first repeats the cached
        subsets, which are not yielded a second time. Progress events
        come in between.
        """
        # The cached subsets come first. If these are all, no search is
        # needed. They are the same for every λ.
        key = type(self), self._order_parameters()
        partition = data.shared.of(_Partitions).found.setdefault(key, _Partition())
        n_known = len(partition.nodes)
        yield from tuple(partition.nodes)
        if partition.is_whole:
            return
        # The search finds the cached subsets again; only later ones are new.
        n_found = 0
        for node in self._partition(data):
            if isinstance(node, WorkProgress):
                yield node
                continue
            n_found += 1
            if n_found > n_known:
                partition.nodes.append(node)
                yield node
            if n_found == max_nodes:
                break
        # The cache is whole also after the break. Its key has the
        # number of features to select, from which ``max_nodes``
        # follows, so that it needs no more. If the caller stops early,
        # this line is not reached.
        partition.is_whole = True

    def _partition(self, data: TrainingData) -> Iterator[Node | WorkProgress]:
        """Yield one subset after the other until no feature remains that varies within a query.

        A :class:`Node` is a subset of features with its combination,
        found by a best-first search; progress events come in between.
        ``data`` are the training documents.
        """
        n = data.X.shape[1]
        size = self.checked("subset_size")
        patience = self.checked("patience")
        max_iter = self.checked("max_iter")
        tolerance = self.checked("tolerance")
        rng = np.random.default_rng(between("seed", self.seed, 0, MOST_SEED))
        with ascent_search(data, self.measure, objective(self.convention)) as opening:
            # Measures models, and searches along weights; opened with progress.
            ascent = yield from opening
            # Only features that vary within a query can change a ranking.
            remaining: list[int] = ascent.informative.tolist()
            # All features are constant: a single subset with the first
            # feature, and equal scores. The loops below then do
            # nothing.
            if not remaining:
                value = yield from ascent.measured(np.zeros(n))
                yield Node(features=(0,), coef=np.eye(1, n)[0], value=value)
            search = BestFirstSearch(
                ascent=ascent,
                size=size,
                patience=patience,
                tolerance=tolerance,
                max_iter=max_iter,
                rng=rng,
            )
            # The subset of each single feature, with which all later searches start.
            singles = {}
            for feature in remaining:
                singles[feature] = yield from search.single(feature)
            # Each search selects among the features that are in no earlier subset.
            n_informative = len(remaining)
            while remaining:
                search_events = search.best_subset(remaining, singles)
                node = yield from _with_progress(
                    search_events, 1.0 - len(remaining) / n_informative
                )
                remaining = [
                    feature for feature in remaining if feature not in node.features
                ]
                yield node

    def _set_subsets(self, nodes: list[Node]) -> None:
        """Set the attributes that describe the subsets: their features, combinations and measures."""
        self.subsets_ = tuple(node.features for node in nodes)
        self.combinations_ = np.array([node.coef for node in nodes])
        self.subset_scores_ = np.array([node.value for node in nodes])

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared:
        """Yield for each subset the measure of every feature and each query's part in it.

        The subsets end with the one that brings their number of
        features to ``n_features``. The measure of a feature in the
        subset is that of the subset's combination. That of another
        feature is the best measure among the combinations that the
        search tried with the feature. A query's part is its summand in
        this mean over queries: the combinations are not searched for
        again without the query. ``data`` are the training documents.
        """
        from rankstudio.engine.methods.selection.query_parts import measured_by_query  # noqa: PLC0415 - numba

        n = data.X.shape[1]
        n_taken = 0
        for node in self.nodes(data):
            if isinstance(node, WorkProgress):
                yield node
                continue
            # The first combination is that of the subset; then the best
            # one of each feature outside the subset. `node.reached` has
            # the measure of each feature that the search could select.
            other_columns = [
                column for column in node.reached if column not in node.features
            ]
            combinations = np.array(
                [node.coef, *(node.combinations[column] for column in other_columns)]
            )
            # Shape (combinations, Q), NaN for queries without a value.
            values = yield from measured_by_query(
                data, combinations, self.measure, objective(self.convention)
            )
            # The measure is a mean over the queries that have one.
            is_counted = ~np.isnan(values[0])
            values = np.where(is_counted, values, 0.0) / max(1, is_counted.sum())
            # All features of the subset share its measure.
            scores = np.full(n, np.nan)
            parts = np.zeros((n, is_counted.size))
            inside = list(node.features)
            scores[inside] = node.value
            parts[inside] = values[0]
            scores[other_columns] = [node.reached[column] for column in other_columns]
            parts[other_columns] = values[1:]
            yield ComparedByQuery(
                winners=node.features,
                scores=scores,
                parts=parts,
                counted=is_counted,
            )
            n_taken += len(node.features)
            if n_taken >= n_features:
                return

    def transform(self, X: ArrayLike) -> Any:
        """Return the new features of documents X (m, n), the weighted sums of t subsets, shape (m, t)."""
        check_is_fitted(self)
        validate_data(self, X, reset=False, dtype=np.float64)
        return super().transform(X)

    def _transform(self, X: Any) -> Floats:
        new_features: Floats = np.asarray(X, dtype=np.float64) @ self.combinations_.T
        return new_features

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Raise an error: sums of features cannot be inverted."""
        raise NotImplementedError(
            "FS-BFS: features cannot be recovered from their combinations."
        )

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Return a name for each new feature: ``fsbfs0``, ``fsbfs1``, …, shape (t,)."""
        check_is_fitted(self)
        return np.array([f"fsbfs{t}" for t in range(len(self.subsets_))], dtype=object)


def _with_progress(
    search_events: Generator[object, None, Node], share: float
) -> Waiting[Node]:
    """Yield the progress ``share`` for each event of a search, and return its result."""
    return told_as(
        search_events, lambda _: WorkProgress(tr("searching for a subset"), share)
    )


@dataclass(frozen=True, eq=False)
class Node:
    """A subset of features with its combination from coordinate ascent.

    Attributes
    ----------
    features : tuple of int
        0-based columns, in the order of their addition.
    coef : ndarray of shape (n,)
        Weights of the combination, 0 for all other features.
    value : float
        Measure of the training documents ranked by the combination; larger is better.
    reached : Mapping of int to float
        Only for the result of a search: for each feature that remained,
        the best measure of the nodes in which the feature had weight.
    combinations : Mapping of int to ndarray of shape (n,)
        Only for the result of a search: the combination of this best
        node of each feature.
    """

    features: tuple[int, ...]
    coef: Floats
    value: float
    reached: Mapping[int, float] = field(default_factory=dict)
    combinations: Mapping[int, Floats] = field(default_factory=dict)


class BestFirstSearch:
    """Best-first search in the graph whose nodes are subsets of features; an edge adds one feature.

    Parameters
    ----------
    ascent : AscentSearch
        Search for the measure of the training documents.
    size : int
        Maximum number of features of a subset, p.
    patience : int
        Number of nodes opened in a row without an improvement before the search stops,
        R.
    tolerance : float
        Coordinate ascent stops after the first sweep that improves the
        measure by at most this much.
    max_iter : int
        Maximum number of sweeps of coordinate ascent.
    rng : numpy.random.Generator
        Generator of the orders of the sweeps.
    """

    def __init__(
        self,
        ascent: AscentSearch,
        size: int,
        patience: int,
        tolerance: float,
        max_iter: int,
        rng: np.random.Generator,
    ) -> None:
        """Store the settings; :meth:`best_subset` searches.

        ``ascent`` measures models and searches along weights. ``size``
        is the maximum number of features of a subset, and ``patience``
        the number of expansions without a better subset after which a
        search ends. The weights of a subset are swept up to
        ``max_iter`` times, or until the measure improves by at most
        ``tolerance``. ``rng`` draws the order of the weights.
        """
        self._ascent = ascent
        self._size = size
        self._patience = patience
        self._tolerance = tolerance
        self._max_iter = max_iter
        self._rng = rng

    def single(self, feature: int) -> Waiting[Node]:
        """Return the subset of one feature, in its better direction, and its measure.

        The weight is 1 or -1 for the feature divided by its standard
        deviation. The generator yields progress events, and then
        returns the result.
        """
        # `scale` (n,) has the features' standard deviations.
        coef = np.zeros(self._ascent.scale.size)
        coef[feature] = 1.0 / self._ascent.scale[feature]
        up = yield from self._ascent.measured(coef)
        down = yield from self._ascent.measured(-coef)
        return Node(
            features=(feature,), coef=coef if up >= down else -coef, value=max(up, down)
        )

    def best_subset(
        self, remaining: list[int], singles: dict[int, Node]
    ) -> Generator[WorkProgress | None, None, Node]:
        """Search the best node among subsets of the remaining features; of equal ones, the earlier node wins.

        A node is a subset of features with the weights of their
        combination, and ``singles`` has the node of each single
        feature. The search yields None or progress before each new
        node, so that the caller can stop. Features with a final weight
        of 0 are left out of the resulting subset.
        """
        # An item of the queue begins with the negated measure, because
        # a heap yields its smallest item. A number follows, by which
        # the earlier of two equal nodes wins.
        turn = count()
        # The search starts with the subsets of one feature.
        queue = [(-singles[f].value, next(turn), singles[f]) for f in remaining]
        heapq.heapify(queue)
        # The first item of a heap is its smallest, here the node with
        # the greatest measure.
        _, _, best = queue[0]
        n_fruitless = 0
        # For each feature, the best node in which its weight is not 0.
        best_nodes = {f: singles[f] for f in remaining}
        visited = {frozenset(node.features) for _, _, node in queue}
        # The best node of the queue is expanded: each other feature is
        # added to it. The search ends after several expansions without
        # a better node.
        while queue and n_fruitless < self._patience:
            _, _, node = heapq.heappop(queue)
            n_fruitless += 1
            # Nodes of the maximum size are not expanded.
            if len(node.features) >= self._size:
                continue
            for feature in remaining:
                features = frozenset(node.features) | {feature}
                if features in visited:
                    continue
                visited.add(features)
                yield None
                grown = yield from self._grow(node, feature)
                heapq.heappush(queue, (-grown.value, next(turn), grown))
                weighted_features = [f for f in grown.features if grown.coef[f] != 0]
                for member in weighted_features:
                    if grown.value > best_nodes[member].value:
                        best_nodes[member] = grown
                if grown.value > best.value:
                    best = grown
                    n_fruitless = 0
        used = tuple(feature for feature in best.features if best.coef[feature] != 0)
        return Node(
            features=used,
            coef=best.coef,
            value=best.value,
            reached={f: node.value for f, node in best_nodes.items()},
            combinations={f: node.coef for f, node in best_nodes.items()},
        )

    def _grow(
        self, node: Node, feature: int
    ) -> Generator[WorkProgress | None, None, Node]:
        """Return the node with a feature added, whose combination starts from that of the smaller node.

        A node is a subset of features with the weights of their
        combination. The new weight is searched for first. Sweeps over
        all weights in random order follow, until one improves the
        measure by no more than the tolerance. Yields None or progress,
        so that the caller can stop.
        """
        features = (*node.features, feature)
        coef, value = yield from self._ascent.searching(node.coef, node.value, feature)
        if not value > node.value:
            # The new weight stays 0, and the other weights are those at
            # which ascent stopped before.
            return Node(features=features, coef=node.coef, value=node.value)
        previous_value = node.value
        # The search for the new weight was the first iteration.
        for _ in range(self._max_iter - 1):
            if not value > previous_value + self._tolerance:
                break
            previous_value = value
            order = self._rng.permutation(features).tolist()
            coef, value = yield from self._ascent.sweeping(coef, value, order)
        return Node(features=features, coef=coef, value=value)
