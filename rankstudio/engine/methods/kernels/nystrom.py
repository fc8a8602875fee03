"""The Nyström map: features whose inner products approximate a kernel by basis vectors (thesis, 2.5, 5.6)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.kernel_functions import (
    PRECOMPUTED,
    Kernel,
    KernelFunction,
)
from rankstudio.engine.arithmetic.query_data import QueryData, rows_by_query
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import OutOfMemoryError, ParameterError, between
from rankstudio.engine.methods.catalog.shared import (
    BASIS,
    COEF0,
    DEGREE,
    GAMMA,
    KERNEL,
    N_BASIS,
)
from rankstudio.engine.methods.kernels.shared_work import shared
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed
from rankstudio.engine.methods.scikit_learn import (
    Estimator,
    check_is_fitted,
    validate_data,
)
from rankstudio.engine.support import memory
from rankstudio.engine.support.blocks import solve_lower

DEPENDENT = 1e-10
"""A basis vector is dropped if its squared distance from the span of the others, in the feature space of the
kernel, is at most this share of its squared length.

L⁻¹K divides by the square roots of these distances, so with 1e-10 about five of sixteen digits are lost. With
a smaller share, vectors that differ from the span only by rounding would not be dropped."""


def as_columns(values: Floats) -> Floats:
    """Return one output (m,) as a matrix (m, 1), several outputs (m, v) unchanged."""
    return values[:, None] if values.ndim == 1 else values


class DependentBasisWarning(UserWarning):
    """Basis vectors were dropped because they depend linearly on others."""


def basis_rows(ptr: Ints, n_basis: int, way: str, seed: int) -> Ints:
    """Draw documents as the basis vectors of a kernel model, without replacement.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the documents ``ptr[q]:ptr[q + 1]``.
    n_basis : int
        Number of basis vectors; all documents if there are not more.
    way : {"uniform", "per_query"}
        Draw from all documents with equal probability, or equal numbers
        from each query as far as possible.
    seed : int
        Seed of the draw.

    Returns
    -------
    ndarray of shape (min(n_basis, m),)
        Rows, ascending.
    """
    m = int(ptr[-1])
    rng = np.random.default_rng(seed)
    if n_basis >= m:
        return np.arange(m, dtype=np.int64)
    if way == "uniform":
        return np.sort(rng.choice(m, n_basis, replace=False)).astype(np.int64)
    # Documents sorted by query, in a random order within each.
    at_random = rng.permutation(m)  # a random number of each document
    query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order = np.lexsort((at_random, query))
    # Position of each of these documents in the random order of its query.
    rank = np.arange(m) - ptr[:-1][query[order]]
    # First one document of every query in a random order of the
    # queries, then a second one, and so on.
    first = order[np.lexsort((at_random[order], rank))][:n_basis]
    return np.sort(first).astype(np.int64)


def independent(gram: Floats) -> tuple[Ints, Floats]:
    """Return which basis vectors of a kernel model are linearly independent, and the Cholesky factor of their kernel.

    Parameters
    ----------
    gram : ndarray of shape (r, r)
        Kernel K_RR of the basis vectors R.

    Returns
    -------
    positions : ndarray of shape (s,)
        Positions of independent basis vectors, ascending.
    factor : ndarray of shape (s, s)
        C, lower triangular, with CC' = K_RR of the independent basis vectors.

    Notes
    -----
    O(r³); pivots are used only if the plain factorisation fails.
    """
    all_positions = np.arange(len(gram), dtype=np.int64)
    full_factor = _cholesky_or_none(gram)
    if full_factor is not None:
        return all_positions, full_factor
    from scipy.linalg.lapack import dpstrf  # noqa: PLC0415 - where it is needed

    # Vectors are scaled to length 1, so that one tolerance serves all.
    # dpstrf is a Cholesky factorisation that takes the least dependent
    # vectors first, and stops when only dependent ones remain. Vectors
    # of length 0 are dropped.
    length = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    _, pivots, rank, _ = dpstrf(gram * scale * scale[:, None], tol=DEPENDENT, lower=1)
    positions = np.sort(pivots[:rank] - 1).astype(np.int64)  # LAPACK counts from 1
    positions = positions[length[positions] > 0]
    return positions, np.asarray(np.linalg.cholesky(gram[np.ix_(positions, positions)]))


def _cholesky_or_none(gram: Floats) -> Floats | None:
    """Return the Cholesky factor of a Gram matrix (r, r) of r vectors.

    The result is None if a vector depends linearly on earlier vectors,
    up to rounding: its pivot, the square of the factor's diagonal
    entry, is then almost 0.
    """
    try:
        factor: Floats = np.asarray(np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(factor) ** 2
    return factor if (pivots > DEPENDENT * np.diag(gram)).all() else None


def kernel_of(owner: Any) -> Kernel:
    """Return the kernel of an estimator; ParameterError if a parameter is out of range.

    The estimator's ``kernel``, ``gamma``, ``degree`` and ``coef0`` are
    always validated, also if the kernel does not use them. ``owner`` is
    the estimator.
    """
    function = owner.kernel
    if not callable(function) and function != PRECOMPUTED:
        function = KERNEL.check(function)
    numbers = {p.name: p.check(getattr(owner, p.name)) for p in (GAMMA, DEGREE, COEF0)}
    return Kernel(function, **numbers)


def basis_of(owner: Any) -> tuple[int | None, str, int]:
    """Return how the basis vectors of an estimator are drawn: their number, the way and the seed.

    None means all documents. Raises a ParameterError if a parameter is
    out of range. ``owner`` is the estimator.
    """
    from rankstudio.engine.methods.base import MOST_SEED  # noqa: PLC0415 - scikit-learn

    seed = between("seed", owner.seed, 0, MOST_SEED)
    return N_BASIS.check(owner.n_basis), BASIS.check(owner.basis), seed


# Values of a block of features, which fits into a processor's cache.
_BLOCK = 1 << 17
_N_MATRICES = 4  # matrices of shape (m, r) that exist at the same time


@dataclass(frozen=True, eq=False)
class NystromFeatures:
    """Documents mapped by a Nyström map: their features Z = K_MR E^-T with EE' = K_RR, and the basis R.

    Attributes
    ----------
    features : ndarray of shape (m, r)
        Features Z.
    basis : ndarray of shape (r,)
        Rows R of the documents that are basis vectors, ascending.
    factor : ndarray of shape (r, r)
        C, lower triangular; E = C(I + AA')^1/2.
    directions, shares : ndarray of shape (r, h) and (h,)
        U and (1 + σ²)^-1/2 - 1 of the singular value decomposition A = UΣV' in
        :meth:`without`. Without held-out rows, A = 0 and E = C, and the shapes are (r,
        0) and (0,).
    """

    features: Floats
    basis: Ints
    factor: Floats
    directions: Floats
    shares: Floats

    @classmethod
    def of(cls, kernel: Floats, basis: Ints) -> NystromFeatures:
        """Map documents, dropping linearly dependent basis vectors; O(mr² + r³).

        Parameters
        ----------
        kernel : ndarray of shape (r, m)
            Kernel K_RM of the basis vectors with all documents.
        basis : ndarray of shape (r,)
            Rows R of the basis vectors, ascending.
        """
        # Of the basis vectors, those that are independent, and the factor of their kernel.
        positions, factor = independent(kernel[:, basis])
        if positions.size < basis.size:
            kernel = kernel[positions]
            basis = basis[positions]
        features = solve_lower(factor, kernel).T
        # No documents are held out yet, so there is no correction: its rank is 0.
        return cls(
            features=features,
            basis=basis,
            factor=factor,
            directions=np.zeros((basis.size, 0)),
            shares=np.zeros(0),
        )

    def dual(self, weights: Floats) -> Floats:
        """Return the weights b = E^-T w of the kernel functions, for weights w (r,) or (r, v) of features.

        v is the number of outputs. E, the factor of the basis vectors'
        kernel, is not stored. E equals C (I
        + AA')^1/2, where A comes from basis vectors that
        are held out. The triangular C is ``factor``.
        ``directions`` U and ``shares`` s come from a
        decomposition of A: I + U diag(s) U' is (I +
        AA')^-1/2.
        """
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

        columns = as_columns(weights)
        # (I + AA')^-1/2 w, as E^-T = C^-T (I + AA')^-1/2.
        scaled = columns + self.directions @ (
            self.shares[:, None] * (self.directions.T @ columns)
        )
        solved = solve_triangular(
            self.factor, scaled, lower=True, trans="T", check_finite=False
        )
        return np.asarray(solved).reshape(weights.shape)

    def without(self, rows: ArrayLike) -> NystromFeatures:
        """Map the same documents without the basis vectors that are among some rows.

        Parameters
        ----------
        rows : array-like of int
            Rows of the held-out documents.

        Returns
        -------
        NystromFeatures
            Features with the inner products K_ML K_LL^-1 K_LM, where L
            are the remaining basis vectors.

        Notes
        -----
        This is Theorem 1 of Paper III. O(m|H||R|) for H basis vectors
        among the rows, instead of O(m|R|²). C is the factor of the
        kernel of all basis vectors. With A = C_LL^-1 C_LH = UΣV', one
        thin SVD gives

        K_ML E^-T = Z_L + (Z_L U((I + Σ²)^-1/2 - I) + Z_H VΣ(I + Σ²)^-1/2) U',

        because K_ML C_LL^-T = Z_L + Z_H A'.
        """
        # Documents were held out before: the factor C of all basis
        # vectors, from which this update starts, is not stored any
        # more.
        if self.shares.size:
            raise ParameterError(
                "rows", rows, "the rows of all held-out documents, in one call"
            )
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

        is_held_out = np.isin(self.basis, np.asarray(rows))
        remains = ~is_held_out
        # A = C_LL^-1 C_LH and its decomposition UΣV'.
        factor = self.factor[np.ix_(remains, remains)]
        factor_across = self.factor[np.ix_(remains, is_held_out)]  # C_LH
        across = solve_triangular(factor, factor_across, lower=True, check_finite=False)
        directions, sigma, right_vectors = np.linalg.svd(across, full_matrices=False)
        root = 1.0 / np.sqrt(1.0 + sigma**2)  # (I + Σ²)^-1/2
        features = _without_columns(
            self.features,
            is_held_out,
            directions=directions,
            shares=root - 1.0,
            other=right_vectors.T * (sigma * root),
        )
        return NystromFeatures(
            features=features,
            basis=self.basis[remains],
            factor=factor,
            directions=directions,
            shares=root - 1.0,
        )


def _without_columns(
    features: Floats, held_out: Bools, directions: Floats, shares: Floats, other: Floats
) -> Floats:
    """Return Z_L + (Z_L U diag(s) + Z_H B) U', the mapped features without held-out basis vectors.

    Z is ``features`` (m, r). L are its remaining columns, and H the
    held-out ones, by the mask ``held_out`` (r,). U is ``directions``
    (|L|, h), s is ``shares`` (h,), and B is ``other`` (|H|, h). Rows
    are processed in blocks, so that memory is read only once.
    """
    m = len(features)
    n_remaining = int((~held_out).sum())
    # Begin and end of each run of remaining columns, in turn. Held-out
    # columns are added at both sides, so that each run has both limits.
    ends = np.flatnonzero(
        np.diff(np.concatenate(([True], held_out, [True])).astype(np.int8))
    )
    out = np.empty((m, n_remaining))
    step = max(1, _BLOCK // max(1, features.shape[1]))
    directions_transposed = np.ascontiguousarray(directions.T)
    for first in range(0, m, step):
        rows = features[first : first + step]
        block = out[first : first + step]
        # Z_L, copied run by run.
        column = 0
        for begin, end in ends.reshape(-1, 2):
            block[:, column : column + end - begin] = rows[:, begin:end]
            column += end - begin
        # (Z_L U diag(s) + Z_H B) U', added to Z_L.
        correction = (block @ directions) * shares
        correction += rows[:, held_out] @ other
        block += correction @ directions_transposed
    return out


def nystrom_features(
    kernel_rows: Callable[[Ints], Floats],
    ptr: Ints,
    n_basis: int | None,
    way: str,
    seed: int,
) -> tuple[NystromFeatures, str]:
    """Draw basis vectors and map all documents to features whose inner products are about the kernel.

    Parameters
    ----------
    kernel_rows : callable
        Returns K_RM (r, m) for rows R (r,) of documents.
    ptr : ndarray of shape (Q + 1,)
        Start of each query's documents.
    n_basis : int or None
        Number of basis vectors; None for all.
    way : {"uniform", "per_query"}
        Draw from all documents with equal probability, or equal numbers
        from each query.
    seed : int
        Seed of the draw.

    Returns
    -------
    features : NystromFeatures
        The mapped documents.
    note : str
        Note on dropped basis vectors, which depend linearly on others;
        "" if there are none.

    Raises
    ------
    OutOfMemoryError
        If the features do not fit into memory.
    """
    m = int(ptr[-1])
    refuse_too_large(m, n_basis)  # called for its error only
    basis = basis_rows(ptr, m if n_basis is None else n_basis, way, seed)
    features = NystromFeatures.of(kernel_rows(basis), basis)
    n_dropped = basis.size - features.basis.size
    note = (
        f"{n_dropped:,} of {basis.size:,} basis vectors are linearly dependent and were dropped; the model "
        "is unchanged."
    )
    return features, note if n_dropped else ""


@dataclass(frozen=True, eq=False)
class _Shared:
    """Cached result of :func:`nystrom_features`."""

    found: tuple[NystromFeatures, str]

    @property
    def n_bytes(self) -> int:
        features, _ = self.found
        return features.features.nbytes


def kernel_features(
    data: QueryData, kernel: Kernel, n_basis: int | None, way: str, seed: int
) -> tuple[NystromFeatures, str]:
    """Return some documents mapped by a kernel and a drawn basis, and a note on dropped basis vectors.

    The note is "" if none is dropped. ``n_basis`` basis vectors, all
    documents for None, are drawn in the ``way`` "uniform" or
    "per_query" with a seed. The result is cached for all settings.
    ``data`` has the documents.
    """
    # The word makes this key differ from those of other results in the cache.
    key = "Nyström", kernel, n_basis, way, seed
    # The kernel of some documents with all documents, as a function of
    # their rows. The attribute `found` of the cached object is the pair
    # of features and note.
    kernel_rows = partial(_kernel_rows, kernel, data.X)
    settings = data.ptr, n_basis, way, seed
    return shared(
        data, key, lambda: _Shared(nystrom_features(kernel_rows, *settings))
    ).found


def _kernel_rows(kernel: Kernel, X: Floats, rows: Ints) -> Floats:
    return kernel.matrix(X[rows], X)


def kernel_need(
    shape: DataShape, n_basis: int | None, exact: bool = False, n_other_kernels: int = 0
) -> MemoryNeed:
    """Return the memory requirements of a kernel model with ``n_basis`` basis vectors, None for all documents.

    ``shape`` has the number m of documents, and in bytes the limit of
    the memory (`free`) and the size of documents that are read from
    disk (`read`).

    ``exact`` means that all documents are decomposed at once, which
    needs five m × m matrices. If memory allows, the maps of
    ``n_other_kernels`` other kernel functions are cached, too. A map, m
    × n_basis, has the features that a kernel gives the documents.
    """
    needed_bytes = _n_bytes(shape.m, n_basis, exact)
    # The cache of a fold takes at most 2 GB.
    cached_bytes = min(
        2e9, 8.0 * n_other_kernels * shape.m * min(shape.m, n_basis or shape.m)
    )
    # Documents that are read from disk take memory, too.
    free = shape.free - shape.read
    # Too many basis vectors for the memory, but not too many documents:
    # one basis vector would fit.
    fewer_fit = needed_bytes > free and _n_bytes(shape.m, 1, exact=False) <= free
    fits = f"n_basis={_max_basis_size(shape.m, free)}" if fewer_fit else ""
    least = shape.read + needed_bytes
    return MemoryNeed(least, usual=least + cached_bytes, fits=fits)


def _n_bytes(m: int, n_basis: int | None, exact: bool) -> float:
    """Return the bytes of a kernel model's matrices for m documents; ``n_basis`` None means all of them.

    ``exact`` means that all documents are decomposed at once.
    """
    r = m if n_basis is None else min(n_basis, m)
    return 8.0 * (5 * m**2 if exact else _N_MATRICES * (m * r + r**2))


def _max_basis_size(m: int, free: float) -> int:
    """Return how many basis vectors for m documents fit into ``free`` bytes, from 1 to 1,000."""
    # The r with 8 * _N_MATRICES * (m r + r²)
    # = free. The 8 below is 2 * _N_MATRICES,
    # from the solution of this equation.
    max_basis = int((np.sqrt(float(m) ** 2 + max(free, 0.0) / 8) - m) / 2)
    return max(1, min(max_basis, 1000))


def refuse_too_large(m: int, n_basis: int | None, exact: bool = False) -> None:
    """Raise an OutOfMemoryError if a kernel model of m documents does not fit into memory.

    ``exact`` means that all documents are decomposed at once, which
    needs five m × m matrices. The model has ``n_basis`` basis vectors,
    all documents for None.
    """
    free = memory.available()
    r = m if n_basis is None else min(n_basis, m)
    needed_bytes = _n_bytes(m, n_basis, exact)
    if needed_bytes <= free:
        return
    size_text = (
        f"{m:,} documents" if r == m else f"{m:,} documents with {r:,} basis vectors"
    )
    raise OutOfMemoryError(
        f"The kernel of {size_text} needs {memory.size(needed_bytes)} of memory, and {memory.size(free)} are "
        f"free. Use n_basis={_max_basis_size(m, free)}."
    )


@dataclass(eq=False, repr=False)
class KernelMapped(Estimator):
    """Base class of estimators with a kernel between documents.

    The models of these estimators are weighted sums of kernel functions
    of some documents, the basis vectors.
    """

    kernel: str | KernelFunction = "rbf"
    _: KW_ONLY
    gamma: float = 2.0**-6
    degree: int = 3
    coef0: float = 1.0
    n_basis: int | None = None
    basis: Literal["uniform", "per_query"] = "uniform"
    seed: int = 0

    basis_: Ints = field(init=False)
    basis_vectors_: Floats = field(init=False)


@dataclass(eq=False, repr=False)
class NystromMap(KernelMapped):
    """Nyström map: features z(x) = C^-1 k(X_R, x), CC' = K_RR, from basis documents R (thesis, section 5.6).

    A linear model w of these features is the kernel model Σ_i b_i k(x,
    x_i) over the basis vectors x_i, with b = C^-T w (Paper III, section
    2.2). So any linear method that is trained on these features learns
    with the kernel.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear"}, sum or callable, default "rbf"
        exp(-γ||x - x'||²), (γ x'x' + c)^d, x'x', a sum of products such as "linear + 0.5
        * rbf", or a function of documents (a, n) and (b, n).
    gamma : float, default 2^-6
        γ.
    degree : int, default 3
        d.
    coef0 : float, default 1.0
        c.
    n_basis : int, optional
        Number of basis vectors, |R|; all documents by default.
    basis : {"uniform", "per_query"}, default "uniform"
        Whether basis vectors are drawn from all documents with equal
        probability, or in equal numbers per query.
    seed : int, default 0
        Seed of the draw.

    Attributes
    ----------
    basis_ : ndarray of shape (r,)
        Rows R of X that are basis vectors. Linearly dependent ones are
        dropped, with a ``DependentBasisWarning``.
    basis_vectors_ : ndarray of shape (r, n)
        Basis vectors X_R.
    factor_ : ndarray of shape (r, r)
        Cholesky factor C of K_RR.

    Notes
    -----
    O(mr² + r³) for m documents and r basis vectors.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((6, 2))
    >>> Z = NystromMap(gamma=1.0).fit(X).transform(X)
    >>> np.allclose(Z @ Z.T, np.exp(-((X[:, None] - X) ** 2).sum(axis=2)))
    True
    """

    factor_: Floats = field(init=False)

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, *, qid: ArrayLike | None = None
    ) -> Self:
        """Draw basis vectors.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y
            Not used.
        qid : array-like of shape (m,), optional
            Query of each document, for ``basis="per_query"``.

        Returns
        -------
        self
        """
        self._fit(X, qid)
        return self

    def fit_transform(
        self, X: ArrayLike, y: ArrayLike | None = None, **parameters: Any
    ) -> Floats:
        """Draw basis vectors and return the features of the same documents.

        The parameters are those of ``fit``. ``y`` is not used.
        """
        return self._fit(X, parameters.get("qid")).features

    def map(self, X: ArrayLike, *, qid: ArrayLike | None = None) -> NystromFeatures:
        """Draw basis vectors and return the mapped documents, from which basis vectors can be removed.

        ``X`` (m, n) are the documents, and ``qid`` has the query of
        each; None for one query.

        Returns
        -------
        NystromFeatures
            The documents. Its method ``without(rows)`` removes the
            basis vectors among held-out documents, and ``dual(w)``
            returns the weights of the kernel functions.
        """
        return self._fit(X, qid)

    def _fit(self, X: ArrayLike, qid: ArrayLike | None) -> NystromFeatures:
        """Set the fitted attributes, and return the mapped documents in the order of the rows of X.

        The attributes are those of the basis documents: their rows,
        features, and the factor of their kernel. Warns if some of them
        are dropped, because they depend linearly on others. ``qid`` has
        the query of each document, or is None.
        """
        kernel = self._kernel()
        n_basis, way, seed = basis_of(self)
        rows = validate_data(self, X, dtype=np.float64, order="C")
        # The map expects the documents of a query together.
        ptr, order = rows_by_query(qid, len(rows))
        row_order = np.arange(len(rows)) if order is None else order
        grouped = rows[row_order]
        # Rows of the kernel matrix are computed when they are asked for.
        mapped, note = nystrom_features(
            lambda R: kernel.matrix(grouped[R], grouped), ptr, n_basis, way, seed
        )
        if note:
            # The warning names the line that calls fit. The warning
            # names the line that calls fit.
            warnings.warn(note, DependentBasisWarning, stacklevel=4)
        # From the order of queries back to that of the rows of X.
        self.basis_ = row_order[mapped.basis]
        self.factor_ = mapped.factor
        self.basis_vectors_ = grouped[mapped.basis]
        if order is None:
            return mapped
        features = np.empty_like(mapped.features)
        features[row_order] = mapped.features
        return replace(mapped, features=features, basis=self.basis_)

    def transform(self, X: ArrayLike) -> Floats:
        """Return the features of documents, shape (m, r)."""
        check_is_fitted(self, "factor_")
        rows = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return solve_lower(
            self.factor_, self._kernel().matrix(self.basis_vectors_, rows)
        ).T

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags  # noqa: PLC0415 - where it is asked for

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def _kernel(self) -> Kernel:
        if self.kernel == PRECOMPUTED:
            raise ParameterError(
                "kernel", self.kernel, "rbf, poly, linear or a function of documents"
            )
        return kernel_of(self)
