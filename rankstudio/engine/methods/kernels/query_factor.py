"""What a pairwise squared loss sees of scores: M_q'f_q for each query q, to be like N_q (Paper I, 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class QueryFactor:
    """The loss Σ_q ||M_q'f_q - N_q||² of scores f; a constant may be missing.

    Attributes
    ----------
    documents : ndarray of shape (Q + 1,)
        Query q has the documents ``documents[q]:documents[q + 1]``.
    targets : ndarray of shape (p,) or (p, v)
        N, the rows of one query after those of another; v outputs.
    blocks : tuple of ndarray of shape (documents of q, p_q), optional
        M_q. Without them it is S_q = I - 11'/|q|, which takes the mean off: the magnitude-preserving cost.
    """

    documents: Ints
    targets: Floats
    blocks: tuple[Floats, ...] | None = None

    @classmethod
    def centring(cls, y: Floats, ptr: Ints) -> QueryFactor:
        """Return the factor of RankRLS's loss for labels (m,) or (m, v), grouped by query."""
        return cls(ptr, centre(as_columns(y), ptr).reshape(y.shape))

    @cached_property
    def ptr(self) -> Ints:
        """Where the rows of M' begin that are of each query, shape (Q + 1,)."""
        if self.blocks is None:
            return self.documents
        return np.append(0, np.cumsum([block.shape[1] for block in self.blocks])).astype(np.int64)

    def of(self, values: Floats) -> Floats:
        """Return M'Z (p, c) of values Z (m, c) a document."""
        if self.blocks is None:
            return centre(values, self.documents)
        out = np.empty((int(self.ptr[-1]), values.shape[1]))
        for block, rows, own in self._pieces():
            out[own] = block.T @ values[rows]
        return out

    def back(self, values: Floats) -> Floats:
        """Return MA (m, c) of values A (p, c)."""
        if self.blocks is None:
            return centre(values, self.documents)
        out = np.empty((int(self.documents[-1]), values.shape[1]))
        for block, rows, own in self._pieces():
            out[rows] = block @ values[own]
        return out

    def _pieces(self) -> list[tuple[Floats, slice, slice]]:
        rows = [slice(*ends) for ends in pairwise(self.documents.tolist())]
        own = [slice(*ends) for ends in pairwise(self.ptr.tolist())]
        return list(zip(self.blocks or (), rows, own, strict=True))


def as_columns(values: Floats) -> Floats:
    """Return one output (m,) as a matrix (m, 1), several (m, v) as they are."""
    return values[:, None] if values.ndim == 1 else values
