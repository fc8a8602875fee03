"""Basis vectors: the documents whose kernel functions a model is a sum of (thesis, section 2.5)."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints

DEPENDENT = 1e-10
"""A basis vector is dropped whose squared distance from the span of the others, in the feature space of the
kernel, is at most this share of its squared length."""


class DependentBasisWarning(UserWarning):
    """Basis vectors that add nothing to the others, so that they were dropped."""


def basis_rows(ptr: Ints, n_basis: int, way: str, seed: int) -> Ints:
    """Draw basis vectors without replacement.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the documents ``ptr[q]:ptr[q + 1]``.
    n_basis : int
        How many; all documents where there are no more.
    way : {"uniform", "per_query"}
        Each document alike, or as many from each query as from any other, as far as it has so many.
    seed : int

    Returns
    -------
    ndarray of shape (min(n_basis, m),)
        Ascending.
    """
    m, rng = int(ptr[-1]), np.random.default_rng(seed)
    if n_basis >= m:
        return np.arange(m, dtype=np.int64)
    if way == "uniform":
        return np.sort(rng.choice(m, n_basis, replace=False)).astype(np.int64)
    at_random = rng.permutation(m)
    query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order = np.lexsort((at_random, query))
    rank = np.arange(m) - ptr[:-1][query[order]]
    # First one document of every query in a random order of the queries, then a second one, and so on.
    first = order[np.lexsort((at_random[order], rank))][:n_basis]
    return np.sort(first).astype(np.int64)


def independent(gram: Floats) -> tuple[Ints, Floats]:
    """Return basis vectors of which none depends on the others, and the Cholesky factor of their kernel.

    Parameters
    ----------
    gram : ndarray of shape (r, r)
        K_RR.

    Returns
    -------
    kept : ndarray of shape (s,)
        Positions, ascending.
    factor : ndarray of shape (s, s)
        C, lower triangular, with CC' = K_RR of those kept.

    Notes
    -----
    O(r³); with pivots only where the plain factorisation meets a dependent vector.
    """
    everything = np.arange(len(gram), dtype=np.int64)
    plain = _factor(gram)
    if plain is not None:
        return everything, plain
    from scipy.linalg.lapack import dpstrf  # noqa: PLC0415 - where it is needed

    length = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    _, pivots, rank, _ = dpstrf(gram * scale * scale[:, None], tol=DEPENDENT, lower=1)
    kept = np.sort(pivots[:rank] - 1).astype(np.int64)
    kept = kept[length[kept] > 0]
    return kept, np.asarray(np.linalg.cholesky(gram[np.ix_(kept, kept)]))


def _factor(gram: Floats) -> Floats | None:
    """Return the Cholesky factor, None where a pivot says that a vector depends on those before it."""
    try:
        factor: Floats = np.asarray(np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(factor) ** 2
    return factor if (pivots > DEPENDENT * np.diag(gram)).all() else None
