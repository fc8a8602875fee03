"""Groups of features on one shard: what a group is worth with all of its features together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _joint_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls._delayed_kernel import Delayed
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK, State
from rankstudio.engine.methods.selection.greedy_rankrls.selected_rows import Each, of_blocks


class JointPairs:
    """What is kept of the pairs of features of one group.

    Parameters
    ----------
    groups : tuple of tuple of int
        The columns of each group of several.
    n : int
        Features.
    blocks : int
        Of queries.
    empty : callable
        Returns an array of float64 of so many numbers.

    Notes
    -----
    A comparison costs O(Q b³) for a group of b features, whatever is selected; to select a feature O(Q p)
    besides its own for p pairs of features of one group, which take O(Q p) memory.
    """

    def __init__(
        self, groups: tuple[tuple[int, ...], ...], n: int, blocks: int, empty: Callable[[int], Floats]
    ) -> None:
        sizes = np.array([len(group) for group in groups], dtype=np.int64)
        self._members: Ints = np.concatenate(groups).astype(np.int64)
        self._starts: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._pairs: Ints = np.concatenate([[0], np.cumsum(sizes * (sizes - 1) // 2)]).astype(np.int64)
        self._pair_columns = [
            (one, other) for group in groups for at, one in enumerate(group) for other in group[:at]
        ]
        self._left = np.ones(n, dtype=np.bool_)
        shape = blocks, len(self._pair_columns), BLOCK
        self._joint, self._products = empty(2 * blocks * shape[1] * BLOCK).reshape(2, *shape)
        self._largest = int(sizes.max())

    def start(self, gram: Floats, total: Floats) -> None:
        """Begin with the shard's Gram matrices (blocks, n + 1, n + 1, BLOCK), and the sum of all."""
        for pair, (one, other) in enumerate(self._pair_columns):
            self._products[:, pair] = gram[:, one, other]
            self._joint[:, pair] = total[one, other] - self._products[:, pair]

    def follow(self, feature: int, step: int, delayed: Delayed, each: Each) -> None:
        """Follow a selected feature, whose step is kept as one of those delayed."""
        self._left[feature] = False
        lists = step, self._left, self._members, self._starts, self._pairs

        def work(part: slice) -> None:
            kernels.follow(*lists, of_blocks(delayed, part), self._joint[part], self._products[part])

        each(work)

    def costs(self, regularization: float, state: State, each: Each) -> Floats:
        """Return the summands of the criterion with each group added, 0 for those selected, shape (g,)."""
        left = np.add.reduceat(self._left[self._members], self._starts[:-1], dtype=np.int64)
        wanted = np.flatnonzero(left == np.diff(self._starts))
        partial, s = np.zeros((self._joint.shape[0], self._starts.size - 1)), self._largest
        lists = wanted, self._members, self._starts, self._pairs, regularization

        def work(part: slice) -> None:
            pairs = self._joint[part], self._products[part]
            space = np.empty((s, s, BLOCK)), np.empty((s, BLOCK))
            kernels.costs(*lists, of_blocks(state, part), *pairs, *space, partial[part])

        each(work)
        summed: Floats = partial.sum(axis=0)
        return summed
