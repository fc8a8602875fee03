"""The test of each step of greedy RankRLS: how much a step lowers the error with permuted residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, centre
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.permuted_labels import targets_of
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import prefer
from rankstudio.engine.methods.selection.greedy_rankrls.summed_paths import SummedPaths
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.memory import budget
from rankstudio.engine.support.shard import Shard

_PROGRESS_TEXT = "permuting residuals"
_MAX_PERMUTATIONS = (
    16  # permutations between two partial results, and those whose steps share what has no labels
)
_UNCHECKED_BYTES = 1e8  # bytes of scores: to ask what is free takes longer
_BUDGET_PER_PRODUCT = 64  # bytes of the memory limit for one of them, and what is made of it
_MOST_PRODUCTS = 2e7  # of features with labels, of all queries and permutations at a time


def _scores_of_models(data: TrainingData, coefs: Sequence[Floats]) -> Floats:
    """Return the centred documents' scores by no model, which are 0, and by each model, (k + 1, m)."""
    limit = budget() / 2
    out = Scratch(Room(lambda: limit, unasked=_UNCHECKED_BYTES)).empty(len(coefs) + 1, data.y.size)
    out[0] = 0.0

    def score(index: int, shard: Shard, rows: QueryData) -> None:
        X = rows.centred[0]
        for row, coef in zip(out[1:], coefs, strict=True):
            row[shard.rows] = X @ coef

    for _ in data.visited(score, _PROGRESS_TEXT):
        pass
    return out


class ResidualTest:
    """Reduction of the error by each step of a path, with permuted residuals.

    Parameters
    ----------
    paths : SummedPaths
    data : TrainingData
    cost : PairCost
    """

    def __init__(self, paths: SummedPaths, data: TrainingData, cost: PairCost) -> None:
        if not cost.ties:
            raise ParameterError("ties", False, "True, as documents with equal labels count, too")
        self._paths = paths
        self._data = data
        self._targets = targets_of(data.ptr, cost)
        steps = paths.path()
        self.selected: tuple[int, ...] = steps[-1].selected
        self._labels = centre(data.y[:, None], data.ptr)[:, 0]
        self._fitted = _scores_of_models(data, [step.coef for step in steps[: len(self.selected) - 1]])
        self.drops: Floats = np.array([step.before - step.criterion for step in steps[: len(self.selected)]])
        self.empty: float = steps[0].before

    @property
    def at_once(self) -> int:
        """How many permutations are compared at a time."""
        products = self._paths.n_queries * self._data.X.shape[1] + self._data.y.size
        max_products = (
            min(_MOST_PRODUCTS, budget() / _BUDGET_PER_PRODUCT) if self._data.several else _MOST_PRODUCTS
        )
        return int(min(_MAX_PERMUTATIONS, max(1, max_products // products)))

    def permuted(self, orders: Sequence[Ints], step: int) -> Floats:
        """Return by how much a step, from 0, lowers the error with each permutation of the residuals."""
        fitted = self._fitted[step]
        rest = self._labels - fitted
        targets = self._targets(np.column_stack([fitted + rest[order] for order in orders]))
        rules = self._paths.rules
        if rules.costs is None and rules.n_candidates is None:
            return self._best_drops(targets, step)
        return np.array([self._drop(labels[:, None], step) for labels in targets.T])

    def _drop(self, targets: Floats, step: int) -> float:
        """Return by how much a step lowers the error, by a path of its own."""
        labels = np.ascontiguousarray(targets)
        last = self._paths.labelled_path(labels, self.selected[:step])[-1]
        # A path may end before, where no feature is worth its penalty.
        return last.before - last.criterion if len(last.selected) > step else 0.0

    def _best_drops(self, targets: Floats, step: int) -> Floats:
        """Return by how much the best feature lowers the error with each of some targets (m, P), shape (P,).

        What does not depend on the targets is computed once for all of them.
        """
        paths = self._paths
        before = list(self.selected[:step])
        changes = self._changes(paths.products(targets), before)
        rules = paths.rules
        varies = paths.informative
        remaining = rules.allowed.copy()
        remaining[before] = False
        candidates = prefer(np.flatnonzero(remaining), varies)
        if step < len(rules.pinned):
            return -changes[:, rules.pinned[step]]
        drops: Floats = -changes[:, candidates].min(axis=1)
        if rules.size_penalty > 0:
            empty = (targets**2).sum(axis=0)
            drops[drops <= (rules.size_penalty + TIE) * empty] = 0.0
        return drops

    def _changes(self, products: Floats, before: list[int]) -> Floats:
        """Return the change of the error by each feature after some others, (P, n).

        Parameters
        ----------
        products : ndarray of shape (Q, P, n)
            Of the features with each of P targets in each query.
        before : list of int
            The others.

        Notes
        -----
        Without query q the weights are w = A⁻¹ (t - r)_S for A = (T - G)_SS + λI, and those of feature j as a
        target of the others are b = A⁻¹ (T - G)_Sj. Feature j then has the weight

            ((t - r)_j - (T - G)_jS w) / ((T - G)_jj + λ - (T - G)_jS b)

        on what is left of it, x_j - X_S b. All of it follows from G and r, and b is the same for all targets.
        """
        paths = self._paths
        n = products.shape[2]
        chosen = np.array(before, dtype=np.int64)
        gram = paths.statistics.gram
        total_gram = paths.statistics.total[:n, :n]
        ridge = paths.regularization * np.eye(chosen.size)
        total = products.sum(axis=0)
        changes: Floats = np.zeros_like(total)
        for block, first in zip(gram, range(0, paths.n_queries, BLOCK), strict=True):
            block_products = products[first : first + BLOCK]
            G = np.moveaxis(block, 2, 0)[: len(block_products), :n, :n]
            square = np.diagonal(G, axis1=1, axis2=2)
            right = total - block_products
            product = block_products
            pivot = np.diagonal(total_gram) - square + paths.regularization
            if before:
                rows = G[:, chosen]
                rest = total_gram[chosen] - rows
                A = rest[:, :, chosen] + ridge
                b = np.linalg.solve(A, rest)
                missed = rows - rows[:, :, chosen] @ b
                square = square - (b * (rows + missed)).sum(axis=1)
                pivot -= (b * rest).sum(axis=1)
                w = np.linalg.solve(A, right[:, :, chosen].transpose(0, 2, 1)).transpose(0, 2, 1)
                product = block_products - block_products[:, :, chosen] @ b - w @ missed
                right = right - w @ rest
            weight = right / pivot[:, None]
            changes += (weight * (weight * square[:, None] - 2.0 * product)).sum(axis=0)
        return changes
