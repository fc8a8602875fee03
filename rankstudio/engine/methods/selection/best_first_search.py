"""Best-first search for a subset of features, scored by coordinate ascent."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from rankstudio.engine.arithmetic.optimisers.coordinate_ascent import AscentSearch
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting, WorkProgress


@dataclass(frozen=True, eq=False)
class Node:
    """A subset of features with the combination that coordinate ascent found for it.

    Attributes
    ----------
    features : tuple of int
        0-based columns, in the order in which they came in.
    coef : ndarray of shape (n,)
        Weights of the combination, 0 for all other features.
    value : float
        The measure of the training documents ranked by it; the greater, the better.
    reached : Mapping of int to float
        Of a node that a search ended with: the best measure of any node in which a feature had weight, for
        each feature that was left.
    """

    features: tuple[int, ...]
    coef: Floats
    value: float
    reached: Mapping[int, float] = field(default_factory=dict)


class BestFirstSearch:
    """Search the graph whose nodes are subsets of features, an edge adding one feature.

    Parameters
    ----------
    ascent : AscentSearch
        The measure of the training documents.
    size : int
        How many features a subset has at most, p.
    patience : int
        The search ends after so many nodes in a row were opened without a better one, R.
    tolerance : float
        Coordinate ascent ends with a sweep that raises the measure by no more than this.
    max_iter : int
        Sweeps of coordinate ascent at most.
    rng : numpy.random.Generator
        Of the orders of the sweeps.
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
        self._ascent = ascent
        self._size = size
        self._patience = patience
        self._tolerance = tolerance
        self._max_iter = max_iter
        self._rng = rng

    def single(self, feature: int) -> Waiting[Node]:
        """Return the node of one feature, in its better direction."""
        coef = np.zeros(self._ascent.scale.size)
        coef[feature] = 1.0 / self._ascent.scale[feature]
        up = yield from self._ascent.measured(coef)
        down = yield from self._ascent.measured(-coef)
        return Node((feature,), coef if up >= down else -coef, max(up, down))

    def best_subset(
        self, left: list[int], singles: dict[int, Node]
    ) -> Generator[WorkProgress | None, None, Node]:
        """Find the best node among subsets of the features left; equal ones: the first met.

        It yields after every node made, so that whoever waits can stop waiting. Features whose
        weight came out as 0 are not in it: they stay for other subsets.
        """
        turn = count()
        queue = [(-singles[f].value, next(turn), singles[f]) for f in left]
        heapq.heapify(queue)
        best, fruitless = queue[0][2], 0
        reached = {f: singles[f].value for f in left}
        seen = {frozenset(node.features) for _, _, node in queue}
        while queue and fruitless < self._patience:
            node = heapq.heappop(queue)[2]
            fruitless += 1
            if len(node.features) >= self._size:
                continue
            for feature in left:
                features = frozenset(node.features) | {feature}
                if features in seen:
                    continue
                seen.add(features)
                yield None
                grown = yield from self._grow(node, feature)
                heapq.heappush(queue, (-grown.value, next(turn), grown))
                for member in (f for f in grown.features if grown.coef[f] != 0):
                    reached[member] = max(reached[member], grown.value)
                if grown.value > best.value:
                    best, fruitless = grown, 0
        used = tuple(feature for feature in best.features if best.coef[feature] != 0)
        return Node(used, best.coef, best.value, reached)

    def _grow(self, node: Node, feature: int) -> Generator[WorkProgress | None, None, Node]:
        """Add a feature to a subset and learn its combination, from that of the subset on."""
        features = (*node.features, feature)
        coef, value = yield from self._ascent.searching(node.coef, node.value, feature)
        if not value > node.value:
            # The new weight stays 0, and no other one could be raised before: nothing more to find.
            return Node(features, node.coef, node.value)
        before = node.value
        for _ in range(self._max_iter - 1):
            if not value > before + self._tolerance:
                break
            before = value
            order = self._rng.permutation(features).tolist()
            coef, value = yield from self._ascent.sweeping(coef, value, order)
        return Node(features, coef, value)
