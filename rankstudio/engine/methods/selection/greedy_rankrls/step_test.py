"""The test of each step of greedy RankRLS against permuted residuals.

It measures how much a step reduces the error if the residuals before it are permuted.
"""

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
# Permutations between two partial results. They share the computations
# that do not depend on the labels.
_MAX_PERMUTATIONS = 16
# Scores of up to this size are allocated without asking how much memory is free.
_UNCHECKED_BYTES = 1e8
# Bytes of the memory limit per product, including the arrays computed from it.
_BUDGET_PER_PRODUCT = 64
# Products of features with labels, over all queries and permutations at a time.
_MOST_PRODUCTS = 2e7


def _scores_of_models(data: TrainingData, coefs: Sequence[Floats]) -> Floats:
    """Score the centred documents by the empty model and by each of k models, shape (k + 1, m).

    ``coefs`` are the weights (n,) of the models. The scores of the
    empty model are 0. The array is in memory up to half of the memory
    limit, beyond it in a file. ``data`` are the training documents.
    """
    limit = budget() / 2  # bytes
    # A small array is allocated without asking for the free memory.
    out = Scratch(Room(lambda: limit, unchecked_bytes=_UNCHECKED_BYTES)).empty(
        len(coefs) + 1, data.y.size
    )
    out[0] = 0.0

    def score(index: int, shard: Shard, rows: QueryData) -> None:
        """Write the scores of a shard's documents to ``out`` of the enclosing function.

        ``rows`` are the documents. ``index``, the number of the shard,
        is not used. A shard is a part of the data with whole queries.
        """
        X = rows.centred[0]  # the features, centred within queries
        for row, coef in zip(out[1:], coefs, strict=True):
            row[shard.rows] = X @ coef

    # The progress events of the pass over the shards are not shown.
    for _ in data.visited(score, _PROGRESS_TEXT):
        pass
    return out


class ResidualTest:
    """Test of a path's steps: how much each step reduces the error if the residuals before it are permuted.

    Parameters
    ----------
    paths : SummedPaths
    data : TrainingData
    cost : PairCost
    """

    def __init__(self, paths: SummedPaths, data: TrainingData, cost: PairCost) -> None:
        """Compute the path, and the scores of the documents by the model before each step.

        ``paths`` has the products of features and labels in each query,
        from which paths follow. Raises a ParameterError for a ``cost``
        of pairs without ties. ``data`` are the training documents.
        """
        if not cost.ties:
            raise ParameterError(
                "ties", False, "True, as documents with equal labels count, too"
            )
        self._paths = paths
        self._data = data
        self._targets = targets_of(data.ptr, cost)
        # One step per feature. If no feature is selected, there is a
        # step of the empty model, which the slices below cut off.
        steps = paths.path()
        self.selected: tuple[int, ...] = steps[-1].selected
        self._labels = centre(data.y[:, None], data.ptr)[:, 0]
        # All but the last one: no step follows it.
        models = [step.coef for step in steps[: len(self.selected) - 1]]
        # Scores by the model before each step.
        self._fitted_scores = _scores_of_models(data, models)
        self.drops: Floats = np.array(
            [step.before - step.criterion for step in steps[: len(self.selected)]]
        )
        self.empty: float = steps[0].before

    @property
    def at_once(self) -> int:
        """Number of permutations that are compared at a time."""
        # A permutation needs a product of each feature in each query, and its labels.
        n_products = self._paths.n_queries * self._data.X.shape[1] + self._data.y.size
        # Data in several shards are large: the memory limit counts, too.
        max_products = (
            min(_MOST_PRODUCTS, budget() / _BUDGET_PER_PRODUCT)
            if self._data.several
            else _MOST_PRODUCTS
        )
        return int(min(_MAX_PERMUTATIONS, max(1, max_products // n_products)))

    def permuted(self, orders: Sequence[Ints], step: int) -> Floats:
        """Return by how much a step reduces the error with each permutation of the residuals, shape (P,).

        ``step`` is the position of the step in the path, from 0. The
        residuals are those of the model before it. ``orders`` are P
        permutations of the m documents. The labels of a permutation are
        the scores of that model plus the permuted residuals.
        """
        fitted = self._fitted_scores[step]
        residuals = self._labels - fitted
        # Labels become targets of the rows whose squared errors are the loss.
        targets = self._targets(
            np.column_stack([fitted + residuals[order] for order in orders])
        )
        # With costs or random candidates, the step depends on all steps
        # before, so the path is computed again. Otherwise one
        # comparison of features is enough.
        rules = self._paths.rules
        if rules.costs is None and rules.n_candidates is None:
            return self._best_drops(targets, step)
        return np.array([self._drop(labels[:, None], step) for labels in targets.T])

    def _drop(self, targets: Floats, step: int) -> float:
        """Return by how much a step, from 0, reduces the error with some targets (m, 1).

        The error is the leave-query-out error. A path is computed for
        the targets, which starts with the features of the earlier
        steps.
        """
        labels = np.ascontiguousarray(targets)
        last = self._paths.labelled_path(labels, self.selected[:step])[-1]
        # The path may end before this step if no feature is worth its penalty.
        return last.before - last.criterion if len(last.selected) > step else 0.0

    def _best_drops(self, targets: Floats, step: int) -> Floats:
        """Return by how much the best feature reduces the error with each of P label vectors, shape (P,).

        ``targets`` (m, P) are the label vectors. The feature is added
        to those of the path before ``step``, from 0. What does not
        depend on the labels is computed once.
        """
        paths = self._paths
        # The changes of each target's error by each feature, after the selected ones.
        selected = list(self.selected[:step])
        changes = self._changes(paths.products(targets), selected)
        rules = paths.rules
        varies = paths.informative
        remaining = rules.allowed.copy()
        remaining[selected] = False
        # The features that the step compares, as the path does: those
        # that vary in some query, if there are any.
        candidates = prefer(np.flatnonzero(remaining), varies)
        # A pinned feature is selected whatever its change.
        if step < len(rules.pinned):
            return -changes[:, rules.pinned[step]]
        drops: Floats = -changes[:, candidates].min(axis=1)
        # A reduction that the penalty outweighs is none: the path would
        # end. The penalty is a share of the error without features,
        # `empty`.
        if rules.size_penalty > 0:
            empty = (targets**2).sum(axis=0)
            drops[drops <= (rules.size_penalty + TIE) * empty] = 0.0
        return drops

    def _changes(self, products: Floats, selected: list[int]) -> Floats:
        """Return the change of the error by adding each feature to the selected features, (P, n).

        Parameters
        ----------
        products : ndarray of shape (Q, P, n)
            Products of the features with each of P targets in each query.
        selected : list of int
            Columns of the selected features.

        Notes
        -----
        Query q has the Gram matrix G and the products r with a target,
        over all queries T and t. Without query q, the weights of the
        selected features S are w = A⁻¹ (t - r)_S with A = (T - G)_SS +
        λI. The weights that predict feature j from them are b = A⁻¹ (T
        - G)_Sj. Feature j then has the weight

            ((t - r)_j - (T - G)_jS w) / ((T - G)_jj + λ - (T - G)_jS b)

        on its residual x_j - X_S b. b is the same for all targets.
        """
        paths = self._paths
        n = products.shape[2]
        chosen = np.array(selected, dtype=np.int64)
        gram = paths.statistics.gram
        total_gram = paths.statistics.total[:n, :n]
        ridge = paths.regularization * np.eye(chosen.size)
        total = products.sum(axis=0)
        changes: Floats = np.zeros_like(total)
        # BLOCK queries at a time, as the Gram matrices are stored; the
        # queries are the last axis, which becomes the first.
        for block, first in zip(gram, range(0, paths.n_queries, BLOCK), strict=True):
            block_products = products[first : first + BLOCK]
            G = np.moveaxis(block, 2, 0)[: len(block_products), :n, :n]
            # In the held-out query: the squares of all features, and
            # their products with the residual target.
            square = np.diagonal(G, axis1=1, axis2=2)
            product = block_products
            # In the other queries: the numerator and the denominator of the weight.
            right = total - block_products
            pivot = np.diagonal(total_gram) - square + paths.regularization
            # Without selected features, residuals are the features and targets.
            if selected:
                rows = G[:, chosen]
                other_rows = total_gram[chosen] - rows
                A = other_rows[:, :, chosen] + ridge
                b = np.linalg.solve(A, other_rows)
                residual_rows = rows - rows[:, :, chosen] @ b  # X_S'(x_j - X_S b)
                square = square - (b * (rows + residual_rows)).sum(axis=1)
                pivot -= (b * other_rows).sum(axis=1)
                w = np.linalg.solve(
                    A, right[:, :, chosen].transpose(0, 2, 1)
                ).transpose(0, 2, 1)
                product = (
                    block_products
                    - block_products[:, :, chosen] @ b
                    - w @ residual_rows
                )
                right = right - w @ other_rows
            weight = right / pivot[:, None]
            # |e - weight v|² - |e|², with the residuals e of the target and v of
            # the feature in the held-out query.
            changes += (weight * (weight * square[:, None] - 2.0 * product)).sum(axis=0)
        return changes
