"""Leave-query-out errors of the features one asks for: nothing is kept of a feature that is not selected."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.nested_rankrls import factorise
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _column_search_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls.products import Comparison, Products
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile

_PARTS = 4  # of the candidates at least, for threads to share
_MULTIPLICATION = 0.2  # nanoseconds
_AT_ONCE = 1 << 17  # candidates times queries that a thread compares in one go, a megabyte a number


class OnDemandSearch:
    """Leave-query-out criterion with a feature added to a selection, or with one taken out of it.

    Parameters
    ----------
    products : Products
        Of the training data.
    regularization : float
        λ > 0.

    Notes
    -----
    The criterion of a set S is sum_q ||y^_q - X^_q[:, S] w_q||², with w_q the RankRLS weights learned from
    all queries but q (Pahikkala et al. 2010, eq. (7)). With t features selected and Q queries, a candidate
    costs O(Qt²) besides its products, which cost O(Qt) from Gram matrices and O(t) an entry from a column;
    with columns, a comparison of candidates costs O(Qt³) more, once for all of them. To select a feature
    costs O(Qt²), to know the criterion without each of the t O(Qt³). O(Qk²) memory for k features.
    """

    def __init__(self, products: Products, regularization: float) -> None:
        self.selected: tuple[int, ...] = ()
        self.informative = products.informative
        self._products = products
        self._regularization = regularization
        blocks, width = -(-products.n_queries // kernels.BLOCK), kernels.BLOCK
        empty = np.pad(products.labels, (0, blocks * width - products.n_queries)).reshape(blocks, 1, width)
        # Room for the features selected, of which there are none yet; it grows with them.
        flat, square = (blocks, 0, width), (blocks, 0, 0, width)
        self._state: kernels.State = (
            np.empty(square),
            np.empty(square),
            np.empty(flat),
            np.empty(flat),
            np.empty(flat),
            empty,
        )
        self._left, self._right = np.empty((0, 0)), np.empty(0)

    def costs(self, candidates: Ints) -> Floats:
        """Return what the criterion would be with each candidate added, shape (c,)."""
        # Parts that do not depend on the number of threads, each for one thread: nor do the numbers then.
        count = max(_PARTS, candidates.size * self._products.n_queries // _AT_ONCE)
        parts = np.array_split(candidates, count)
        changes = [np.empty(0)] * count
        with STEADY, self._threads(candidates.size) as (executor, workers):
            compare = self._comparison()

            def work(part: int) -> None:
                changes[part] = compare(parts[part])

            share(executor, workers, work, range(count))
        costs: Floats = self.criterion() + np.concatenate(changes)
        return costs

    def _comparison(self) -> Comparison:
        """Return the function from candidates to how the criterion changes with each."""
        return self._products.comparison(self._factor(), self._regularization, self._state)

    def _factor(self) -> Floats:
        """Return L with LL' = T[A, A] + λI, shape (t, t)."""
        t = len(self.selected)
        return factorise(self._left[:t, :t], self._regularization)

    def removals(self) -> Floats:
        """Return what the criterion would be without each of the t selected features, shape (t,)."""
        t = len(self.selected)
        partial = np.empty((self._state[-1].shape[0], t))
        self._share_blocks(t, lambda first, last: kernels.removals(t, first, last, self._state, partial))
        costs: Floats = self.criterion() + partial.sum(axis=0)
        return costs

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        return float(self._state[-1][:, len(self.selected)].sum())

    def select(self, feature: int) -> None:
        """Add a feature to the selection."""
        t = len(self.selected)
        if t == self._right.size:
            self._make_room(max(8, 2 * t))
        own, total = self._products.keep(feature, t)
        self._share_blocks(
            1,
            lambda first, last: kernels.append(t, own, total, self._regularization, first, last, self._state),
        )
        self._left[t, :t] = self._left[:t, t] = total[2:]
        self._left[t, t] = total[0] + self._regularization
        self._right[t] = total[1]
        self.selected = (*self.selected, feature)

    def _share_blocks(self, count: int, work: Callable[[int, int], None]) -> None:
        """Call ``work(first, last)`` for ranges of the blocks of queries, to do something so many times."""
        with self._threads(count) as (executor, workers):
            blocks = self._state[-1].shape[0]
            cuts = np.linspace(0, blocks, min(blocks, 2 * workers) + 1).astype(int).tolist()
            share(executor, workers, lambda ends: work(*ends), list(pairwise(cuts)))

    def _threads(self, count: int) -> AbstractContextManager[tuple[Executor | None, int]]:
        """Provide threads to do so many times what takes O(t²) for each query, where that is worthwhile."""
        t = len(self.selected) + 1
        return pool(worthwhile(_MULTIPLICATION * count * self._products.n_queries * t * t))

    def _make_room(self, capacity: int) -> None:
        """Let the arrays hold so many features."""
        more = capacity - self._right.size
        inverse, inner, *others = self._state
        square, flat = ((0, 0), (0, more), (0, more), (0, 0)), ((0, 0), (0, more), (0, 0))
        along, seen, left, error = (np.pad(array, flat) for array in others)
        self._state = np.pad(inverse, square), np.pad(inner, square), along, seen, left, error
        self._left = np.pad(self._left, (0, more))
        self._right = np.pad(self._right, (0, more))

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Make another selection the present one; the features after those in common are selected anew."""
        same = 0
        while same < min(len(selected), len(self.selected)) and selected[same] == self.selected[same]:
            same += 1
        if same < len(self.selected):
            self.selected = selected[:same]
            kernels.forget(same, self._state)
        for feature in selected[same:]:
            self.select(feature)

    def weights(self) -> Floats:
        """Return RankRLS's weights with the present selection, learned from all queries, shape (n,)."""
        t = len(self.selected)
        coef = np.zeros(self.informative.size)
        from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

        coef[list(self.selected)] = cho_solve((self._factor(), True), self._right[:t], check_finite=False)
        return coef
