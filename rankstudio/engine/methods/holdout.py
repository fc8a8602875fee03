"""Predictions of held-out documents from one decomposition of all documents: no model is retrained."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.query_data import QueryData, check_labels
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, OutOfMemoryError, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.left_out import with_columns
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile
from rankstudio.engine.support.work import WorkProgress

_MAX_NUMBERS = 1 << 20  # numbers of the hat matrix that are computed at a time: 8 MB
MOST_LEFT_OUT = 1 << 15
"""Maximum number of documents of one ranking whose pairs are left out: 5e8 pairs take seconds for each λ."""


@dataclass(frozen=True, eq=False)
class KernelDecomposition:
    """Eigenvectors V and eigenvalues Λ of SKS, with K the kernel of m documents and S = I - 11'/m.

    Attributes
    ----------
    vectors : ndarray of shape (m, r)
        V. Eigenvectors of the eigenvalue 0 may be omitted.
    values : ndarray of shape (r,)
        Λ, none negative.
    """

    vectors: Floats
    values: Floats

    @classmethod
    def of(cls, X: ArrayLike) -> KernelDecomposition:
        """Decompose the linear kernel XX' of documents with features X, shape (m, n): O(mn min(m, n))."""
        features = np.asarray(X, dtype=np.float64)
        # Centring makes XX' the matrix SKS, whose eigenvalues are the
        # squared singular values of X. The first document is subtracted
        # before, so that a constant feature becomes exactly 0.
        shifted = features - features[0]
        left_vectors, singular, _ = np.linalg.svd(
            shifted - shifted.mean(axis=0), full_matrices=False
        )
        return cls(left_vectors, singular**2)

    @classmethod
    def of_kernel(cls, kernel: ArrayLike) -> KernelDecomposition:
        """Decompose a symmetric kernel matrix, shape (m, m): O(m³).

        Raises
        ------
        DatasetError
            For any other shape.
        """
        K = np.asarray(kernel, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise DatasetError(
                f"kernel: expected a square matrix, got shape {K.shape}."
            )
        # SKS: each row and column minus its mean. An eigenvalue is
        # negative only by rounding.
        rows = K.mean(axis=1)
        values, vectors = np.linalg.eigh(K - rows[:, None] - rows + rows.mean())
        return cls(vectors, np.maximum(values, 0.0))

    @property
    def n_documents(self) -> int:
        """Number of documents, m."""
        return int(self.vectors.shape[0])

    def hat(self, regularization: float) -> Floats:
        """Return the hat matrix H = VΛ(Λ + λI)^-1V', shape (m, m), which maps labels to predictions: O(m²r).

        ``regularization`` is the λ of this formula.
        """
        hat: Floats = (self.vectors * self._shrinkage(regularization)) @ self.vectors.T
        return hat

    def hat_of(self, rows: ArrayLike, regularization: float) -> Floats:
        """Return the rows and columns of the hat matrix of u documents, shape (u, u): O(u²r).

        H = VΛ(Λ + λI)^-1V' maps labels to predictions, with
        ``regularization`` λ. ``rows`` (u,) are those of the documents.
        """
        vectors = self.vectors[np.asarray(rows)]
        hat: Floats = (vectors * self._shrinkage(regularization)) @ vectors.T
        return hat

    def residuals(self, labels: Floats, regularization: float) -> Floats:
        """Return y^ - Hy^ for centred labels y^ of shape (m,) or (m, v), with the hat matrix H.

        ``regularization`` is λ in H = VΛ(Λ + λI)^-1V'.
        """
        shrinkage = self._shrinkage(regularization)
        along = (self.vectors.T @ labels).T * shrinkage
        residuals: Floats = labels - self.vectors @ along.T
        return residuals

    def _shrinkage(self, regularization: float) -> Floats:
        return self.values / (self.values + regularization)


LOSSES = ("differences", "documents")
WEIGHTINGS = ("size", "none")


@dataclass(frozen=True, eq=False)
class HeldOutPredictor:
    """Predicts documents of one global ranking by the model trained on all others.

    No model is retrained: with the hat matrix H of all m documents and
    r = y^ - Hy^, the residuals of the held-out documents U are

        (I - H_UU (I + 11'/c))^-1 r_U    RankRLS, c = m - |U|,
        (I - H_UU - 11'/m)^-1 r_U        regularised least squares with a bias,

    The first follows from (36)-(39) of Paper I in Airola's thesis, with
    Q = VΛ(λ + cΛ)^-1V' of the centred kernel, whose products with C are
    0. The second is (G_UU)^-1 a_U with the bordered inverse G.

    Parameters
    ----------
    kernel : KernelDecomposition
        Kernel of all documents.
    y : ndarray of shape (m,) or (m, v)
        Labels; v outputs share the decomposition.
    regularization : float
        λ > 0.
    loss : {"differences", "documents"}, default "differences"
        RankRLS on all pairs of documents, or least squares on documents
        with an intercept.
    weighting : {"size", "none"}, default "size"
        Weighting of the differences. "size": the sum over pairs is
        divided by the number of training documents, so that L = I -
        11'/c, as in RankRLS. "none": it is not divided, L = cI - 11',
        as in Paper I.

    Notes
    -----
    RankRLS has no intercept: its predictions are w'(x - mean of all m
    documents). Predictions of least squares on documents include the
    intercept.
    """

    kernel: KernelDecomposition
    y: Floats
    regularization: float
    loss: str = "differences"
    weighting: str = "size"

    def __post_init__(self) -> None:
        """Raise an error for an unknown loss or weighting, or for labels that do not fit the kernel."""
        for name, value, choices in (
            ("loss", self.loss, LOSSES),
            ("weighting", self.weighting, WEIGHTINGS),
        ):
            if value not in choices:
                raise ParameterError(name, value, f"one of {', '.join(choices)}")
        # Called for its errors only. The check wants the shape of
        # features, of which only the number of rows matters here.
        for column in self._outputs:
            check_labels((self.kernel.n_documents, 1), column)

    @property
    def _outputs(self) -> Floats:
        """The labels as rows, shape (v, m)."""
        return np.ascontiguousarray(
            self.y.T.reshape(-1, self.y.shape[0]), dtype=np.float64
        )

    @property
    def _centred(self) -> Floats:
        """The labels minus their mean, shape of ``y``; equal labels become exactly 0."""
        shifted: Floats = self.y - self.y[0]
        return np.asarray(shifted - shifted.mean(axis=0))

    def sets(self, sets: Iterable[ArrayLike]) -> list[Floats]:
        """Predict each of several sets of documents by the model trained without the set.

        Parameters
        ----------
        sets : iterable of array-like of int
            Rows of the documents of each set.

        Returns
        -------
        list of ndarray of shape (u,) or (u, v)
            Predictions of the u documents of each set; v is the number of outputs.

        Raises
        ------
        DatasetError
            For a row that does not exist or is repeated in a set, or a
            set that contains all documents.

        Notes
        -----
        O(|U|²r + |U|³) per set, plus a product of the labels with V,
        once per size of set if the weighting is "none".
        """
        labels = self._centred
        m = self.kernel.n_documents
        residuals_by_strength: dict[float, Floats] = {}
        predictions = []
        for held_out in sets:
            rows = self._rows(held_out)
            n_training = m - rows.size
            strength = self._strength(n_training)
            # Sets of the same size have the same strength of
            # regularization, and so the same residuals r.
            if strength not in residuals_by_strength:
                residuals_by_strength[strength] = self.kernel.residuals(
                    labels, strength
                )
            # The rows and columns U of the hat matrix H, which maps
            # labels to predictions, for the documents of the set.
            hat = self.kernel.hat_of(rows, strength)
            # Their residuals without the set solve a system with the
            # matrix I - H_UU minus one number per row: the row's sum of
            # H_UU divided by the number of training documents, or for a
            # model with a bias, 1/m.
            matrix = np.eye(rows.size) - hat
            matrix -= (
                hat.sum(axis=1)[:, None] / n_training
                if self.loss == "differences"
                else 1.0 / m
            )
            # A prediction is a label minus a residual. For a loss of
            # differences, labels are centred.
            residuals = np.linalg.solve(matrix, residuals_by_strength[strength][rows])
            predictions.append(self._target_labels[rows] - residuals)
        return predictions

    def each(self) -> Floats:
        """Predict each document by the model trained without it, shape (m,), or (m, v) for v outputs: O(mr).

        r is the number of eigenvectors of the kernel. The residual of a
        document i is r_i / (1 - leverage_i), where r_i is that in the
        model of all documents.
        """
        m = self.kernel.n_documents
        self._check_training_size(m - 1)
        # λ for a model of m - 1 documents.
        strength = self._strength(m - 1)
        shrinkage = self.kernel.values / (self.kernel.values + strength)
        # The diagonal of the hat matrix H, which maps labels to
        # predictions, and the term that the loss adds to it: for a loss
        # of differences, H_ii over the number of training documents;
        # for a model with a bias, 1/m.
        leverage: Floats = self.kernel.vectors**2 @ shrinkage
        leverage += leverage / (m - 1) if self.loss == "differences" else 1.0 / m
        residuals = self.kernel.residuals(self._centred, strength)
        # A prediction is a label minus a residual. For a loss of
        # differences, labels are centred. Transposed, because leverages
        # divide rows, and several outputs are columns.
        predictions: Floats = self._target_labels - (residuals.T / (1.0 - leverage)).T
        return predictions

    def document_error(self) -> float:
        """Return the leave-one-out error: the sum of squared errors of documents by models without them."""
        errors = self._target_labels - self.each()
        return float(errors @ errors)

    def pair_error(self) -> Generator[WorkProgress, None, float]:
        """Return the leave-pair-out error, with progress: O(m²r) time, and some megabytes of memory.

        For each pair of documents, the difference of the two labels is
        predicted by the model trained without both. The error is the
        sum of the squared errors of all pairs, divided by m. For any m
        numbers, the sum of squared differences divided by m is the sum
        of squares of the centred numbers, so that this error compares
        with that of single documents.
        """
        from rankstudio.engine.methods import _pair_holdout_kernel as _pair_kernel  # noqa: PLC0415 - numba, where it is needed

        m = self.kernel.n_documents
        # 1 over the number of training documents or 0, and 0 or 1/m: by
        # the loss, one of them enters the equations of a pair.
        constants = self._constants
        # The kernel can add a scale, here 0, times the outer product of
        # a vector to the hat matrix.
        no_update = np.zeros(m)

        def losses(
            hat: Floats, leverages: Floats, residuals: Floats, first: int, out: Floats
        ) -> None:
            """Write the sums of squared errors of each document's pairs to ``out``.

            ``hat`` has the rows of the hat matrix from ``first`` on.
            Uses ``no_update`` and ``constants`` of the enclosing
            method. ``leverages`` (m,) is its diagonal, and
            ``residuals`` (m,) are those of the model of all documents.
            """
            _pair_kernel.pair_losses(
                hat, leverages, residuals, no_update, 0.0, *constants, first, out
            )

        return float((yield from self._over_pairs(losses)).sum()) / m

    def pair_area(self, kinds: Floats) -> Generator[WorkProgress, None, float]:
        """Return the leave-pair-out AUC, with progress: O(m²r) time, and some megabytes of memory.

        Parameters
        ----------
        kinds : ndarray of shape (m,)
            Numbers that define the correct order of the documents:
            relevance, or labels.

        Returns
        -------
        float
            Share of the pairs of different kinds that are in the
            correct order by the model trained without both documents,
            where ties count one half; NaN without such a pair. It
            equals
            :func:`rankstudio.engine.statistics.auc.pair_auc` of
            :meth:`all_pairs`, except that scores that differ only by rounding, up to m
            eps of their size, are ties here.
        """
        from rankstudio.engine.methods import _pair_holdout_kernel as _pair_kernel  # noqa: PLC0415 - numba, where it is needed

        rounding = self.kernel.n_documents * float(np.finfo(np.float64).eps)
        target_labels = np.ascontiguousarray(self._target_labels)
        constants = self._constants
        # The number of pairs of different kinds: of all pairs, without
        # those of equal kinds.
        _, kind_counts = np.unique(kinds, return_counts=True)
        counts = kind_counts.astype(np.float64)
        n_pairs = float(counts.sum() ** 2 - (counts**2).sum()) / 2.0

        def orders(
            hat: Floats, leverages: Floats, residuals: Floats, first: int, out: Floats
        ) -> None:
            """Write to ``out`` how many pairs of each document from ``first`` on are in the correct order.

            ``hat`` (rows, m) has these documents' rows of the hat
            matrix, and ``leverages`` (m,) is its diagonal.
            ``residuals`` (m,) are those of the model of all documents.
            Uses variables of the enclosing method: labels, kinds, the
            rounding of scores, and the two constants of the equations
            of a pair.
            """
            _pair_kernel.pair_orders(
                hat,
                leverages,
                residuals,
                target_labels,
                kinds,
                *constants,
                first,
                rounding,
                out,
            )

        n_correct = float((yield from self._over_pairs(orders)).sum())
        return n_correct / n_pairs if n_pairs else float("nan")

    def _over_pairs(
        self, count: Callable[[Floats, Floats, Floats, int, Floats], None]
    ) -> Generator[WorkProgress, None, Floats]:
        """Call ``count`` for the pairs of each document with all later ones, and return its results (m,).

        ``count`` gets some rows of the hat matrix H at a time (rows,
        m), the diagonal of H (m,), the residuals of all documents (m,),
        the number i of the first row, and the array (m,), to which it
        writes a number for each of its documents.
        """
        m = self.kernel.n_documents
        # Without a pair, m - 2 documents are left for training. The
        # strength is λ for this number.
        self._check_training_size(m - 2)
        strength = self._strength(m - 2)
        # H in factors, H = shrunk V', because all of H may not fit into memory.
        residuals = self.kernel.residuals(self._centred, strength)
        shrinkage = self.kernel.values / (self.kernel.values + strength)
        shrunk = self.kernel.vectors * shrinkage
        # The diagonal of H.
        leverages = np.einsum("ir,ir->i", shrunk, self.kernel.vectors)
        counts = np.empty(m)
        # Rows of H are made and used in blocks that fit into a fixed amount of memory.
        size = max(1, _MAX_NUMBERS // m)
        blocks = [(first, min(first + size, m)) for first in range(0, m, size)]

        def work(block: tuple[int, int]) -> None:
            """Count the pairs of the documents first … last - 1; ``block`` is (first, last).

            Uses ``count`` and arrays of the enclosing method, and
            writes to ``counts`` (m,) of this method. ``shrunk`` times
            the transposed eigenvectors of the kernel are the rows of
            the hat matrix, which maps labels to predictions;
            ``leverages`` is its diagonal.
            """
            first, last = block
            count(
                shrunk[first:last] @ self.kernel.vectors.T,
                leverages,
                residuals,
                first,
                counts,
            )

        # Threads share the blocks if the pairs, at 6 ns each, take long
        # enough. STEADY gives BLAS one thread, so that sums have the
        # same last bits everywhere. Progress is yielded before each
        # round of blocks, one per thread.
        with STEADY, pool(worthwhile(6.0 * m * (m - 1) / 2)) as (executor, workers):
            for begin in range(0, len(blocks), workers):
                yield WorkProgress(tr("leaving pairs out"), begin / len(blocks))
                share(executor, workers, work, blocks[begin : begin + workers])
        return counts

    @property
    def _constants(self) -> tuple[float, float]:
        """The two constants of the system of a left-out pair.

        For a loss of differences, 1 over the number of training
        documents, and 0; for a model with a bias, 0 and 1 / m.
        """
        m = self.kernel.n_documents
        return (1.0 / (m - 2), 0.0) if self.loss == "differences" else (0.0, 1.0 / m)

    def pairs(self, pairs: ArrayLike) -> Floats:
        """Predict the two documents of each pair by the model trained without both.

        Parameters
        ----------
        pairs : array-like of int, shape (p, 2)
            Rows of the two documents of each pair.

        Returns
        -------
        ndarray of shape (p, 2) or (p, 2, v)
            Predictions of both documents; v is the number of outputs.

        Raises
        ------
        DatasetError
            For another shape, or a pair of rows that do not exist or are equal.
        OutOfMemoryError
            If the hat matrix of all documents does not fit.
        """
        rows = np.ascontiguousarray(pairs, dtype=np.int64)
        m = self.kernel.n_documents
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise DatasetError(
                f"pairs: expected two rows of X for each pair, got shape {rows.shape}."
            )
        if rows.size and (
            rows.min() < 0 or rows.max() >= m or (rows[:, 0] == rows[:, 1]).any()
        ):
            raise DatasetError(
                f"pairs: expected two different rows from 0 to {m - 1} for each pair."
            )
        from rankstudio.engine.methods import _pair_holdout_kernel as _pair_kernel  # noqa: PLC0415 - numba, where it is needed

        # Each output has its own residuals; all share the hat matrix H
        # (m, m), which maps labels to predictions. The two constants
        # enter the equations of a pair.
        hat, target_labels, residuals, inverse_count, border = self._pair_arguments(
            m**2
        )
        out = np.empty((target_labels.shape[0], rows.shape[0], 2))
        for labels, output_residuals, predicted in zip(
            target_labels, residuals, out, strict=True
        ):
            _pair_kernel.some_pairs(
                hat, output_residuals, labels, inverse_count, border, rows, predicted
            )
        return self._with_outputs_last(out)

    def all_pairs(self) -> Floats:
        """Predict every document by the models trained without this document and one other.

        Returns
        -------
        ndarray of shape (m, m) or (m, m, v)
            Entry (i, j) is the prediction of i without i and j; NaN on the diagonal.

        Raises
        ------
        OutOfMemoryError
            If two such matrices do not fit.

        Notes
        -----
        O(m²r) for H, then constant time per pair and output.
        """
        from rankstudio.engine.methods import _pair_holdout_kernel as _pair_kernel  # noqa: PLC0415 - numba, where it is needed

        m = self.kernel.n_documents
        # The hat matrix, which maps labels to predictions; labels and
        # residuals by output; and two constants of the equations of a
        # pair. H and the result have m² numbers each, the latter for
        # every output.
        hat, target_labels, residuals, inverse_count, border = self._pair_arguments(
            m**2 * (1 + self._outputs.shape[0])
        )
        out = np.full((target_labels.shape[0], m, m), np.nan)
        # Threads share ranges of rows with about as many pairs each.
        # The rows from i on have about (m - i)²/2 pairs, so the limits
        # follow by a square root. A pair takes about 6 ns.
        with pool(worthwhile(6.0 * m * (m - 1) / 2)) as (executor, workers):
            shares = np.sqrt(1.0 - np.arange(workers + 1) / workers)
            cuts = np.round(m * (1.0 - shares)).astype(int).tolist()
            ranges = [(v, *cut) for v in range(out.shape[0]) for cut in pairwise(cuts)]

            def work(part: tuple[int, int, int]) -> None:
                """Predict by output v the documents first … last - 1, in pairs with all later ones.

                ``part`` is (v, first, last). Uses the hat matrix,
                residuals (v, m), labels (v, m) and constants of the
                enclosing method, and writes to ``out`` (v, m, m) of
                this method.
                """
                v, first, last = part
                _pair_kernel.all_pairs(
                    hat,
                    residuals[v],
                    target_labels[v],
                    inverse_count,
                    border,
                    first,
                    last,
                    out[v],
                )

            share(executor, workers, work, ranges)
        return self._with_outputs_last(out)

    def _pair_arguments(
        self, numbers: int
    ) -> tuple[Floats, Floats, Floats, float, float]:
        """Return the arguments with which the kernels leave out pairs, for v outputs and m documents.

        The arguments are the hat matrix H (m, m), the labels (v, m),
        the residuals of the model of all documents (v, m), and the two
        constants of the system of each pair. ``numbers`` is how many
        numbers the caller and H need together: an OutOfMemoryError is
        raised if they do not fit into memory.
        """
        m = self.kernel.n_documents
        free = memory.available()
        if 8.0 * numbers > free:
            raise OutOfMemoryError(
                f"Leaving out pairs of {m:,} documents needs {memory.size(8.0 * numbers)} of memory, and "
                f"{memory.size(free)} are free. Leave out sets of documents instead."
            )
        # Without a pair, m - 2 documents are left for training. The
        # strength is λ for this number.
        self._check_training_size(m - 2)
        strength = self._strength(m - 2)
        residuals = self.kernel.residuals(self._centred, strength)
        # The labels that predictions refer to, centred for a loss of
        # differences. The kernels take one row per output, also for
        # labels without outputs.
        return (
            self.kernel.hat(strength),
            np.ascontiguousarray(self._target_labels.T.reshape(-1, m)),
            np.ascontiguousarray(residuals.T.reshape(-1, m)),
            *self._constants,
        )

    @property
    def _target_labels(self) -> Floats:
        """Labels that predictions are compared with, centred if the model has no bias."""
        return self._centred if self.loss == "differences" else self.y

    def _strength(self, n_training: int) -> float:
        """Return the λ for a model of ``n_training`` documents, as the formulas of left-out documents need it.

        The formulas divide the loss by this number. For a loss of
        differences with the weighting "none", which is not to be
        divided, λ is divided by the number instead.
        """
        is_unweighted = self.loss == "differences" and self.weighting == "none"
        return (
            self.regularization / n_training if is_unweighted else self.regularization
        )

    def _with_outputs_last(self, by_output: Floats) -> Floats:
        """Return an array of v outputs (v, …) as (…, v), or without this axis for labels (m,)."""
        return by_output[0] if self.y.ndim == 1 else np.moveaxis(by_output, 0, -1)

    def _rows(self, held_out: ArrayLike) -> Ints:
        """Return the rows of a set of held-out documents as an array (u,).

        Raises a DatasetError for an invalid set, such as one that
        leaves no training documents.
        """
        rows = np.asarray(held_out, dtype=np.int64).ravel()
        m = self.kernel.n_documents
        is_outside = rows.size and (rows.min() < 0 or rows.max() >= m)
        if is_outside or np.unique(rows).size != rows.size:
            raise DatasetError(
                f"sets: expected different rows from 0 to {m - 1} in each set."
            )
        self._check_training_size(m - rows.size)
        return rows

    def _check_training_size(self, n_training: int) -> None:
        """Raise a DatasetError if no training document remains."""
        if n_training < 1:
            raise DatasetError(
                f"All {self.kernel.n_documents} documents are held out; expected at least one training "
                "document."
            )


class HoldOutRanker(LinearRanker):
    """Base class of least-squares rankers, whose parameters include ``regularization``."""

    def leave_pair_out(
        self, X: ArrayLike, y: ArrayLike, *, pairs: ArrayLike | None = None
    ) -> Floats:
        """Predict pairs of documents of one global ranking by the model trained on all others.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,)
        pairs : array-like of int, shape (p, 2), optional
            Rows of the documents of each pair; all pairs by default.

        Returns
        -------
        ndarray of shape (p, 2), or (m, m)
            Scores w'(x - x̄) with the mean x̄ of all documents. For all
            pairs, entry (i, j) is the score of document i by the model
            without i and j, NaN on the diagonal.

        Notes
        -----
        O(m²r) once for rank r of the centred X, then constant time per
        pair (Pahikkala et al. 2009, section 3.4).
        :func:`rankstudio.engine.statistics.auc.pair_auc` measures all pairs.
        """
        left_out = self._held_out(X, y)
        return left_out.all_pairs() if pairs is None else left_out.pairs(pairs)

    def leave_sets_out(
        self, X: ArrayLike, y: ArrayLike, sets: Iterable[ArrayLike]
    ) -> list[Floats]:
        """Predict sets of documents of one global ranking, each by the model trained without the set.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,)
        sets : iterable of array-like of int
            Rows of the documents of each set.

        Returns
        -------
        list of ndarray of shape (u,)
            Scores as in :meth:`leave_pair_out`.
        """
        return self._held_out(X, y).sets(sets)

    def pair_area(  # noqa: D102 - inherited
        self, data: QueryData, columns: Sequence[int], kinds: Floats
    ) -> Generator[WorkProgress, None, float]:
        if not columns:  # the model without features has one score
            return 0.5 if np.ptp(kinds) else float("nan")
        narrow = with_columns(data, columns)
        predictor = self._held_out(narrow.X, narrow.y)
        return (yield from predictor.pair_area(kinds))

    def _held_out(self, X: ArrayLike, y: ArrayLike) -> HeldOutPredictor:
        """Check documents X (m, n) with labels y (m,), and return the predictor that leaves some of them out.

        All documents are one ranking, without queries. The predictor
        has the loss and λ of this ranker.
        """
        # One query for all documents, so that they keep their order.
        data = self._group(X, y, np.zeros(np.shape(y)[:1], dtype=np.int64)).dense()
        regularization = self.checked("regularization")
        loss, weighting = self.held_out_loss()
        return HeldOutPredictor(
            kernel=KernelDecomposition.of(data.X),
            y=data.y,
            regularization=regularization,
            loss=loss,
            weighting=weighting,
        )

    def held_out_loss(self) -> tuple[str, str]:
        """Return the ranker's loss, "differences" or "documents", and its weighting, "size" or "none"."""
        return "differences", "size"

    def one_ranking_error(
        self, kernel: KernelDecomposition, y: Floats, regularization: float
    ) -> Generator[WorkProgress, None, float]:
        """Return the criterion of one ranking with labels y (m,), with progress events.

        No query can be left out of one ranking. So this is the
        leave-pair-out error, or for a loss of single documents the
        leave-one-out error. The error is NaN where it is not available:
        for some losses, and for too few or too many documents.
        ``kernel`` is the decomposed kernel of the documents, and
        ``regularization`` is λ.
        """
        if self.why_no_error(len(y)):
            return float("nan")
        loss, weighting = self.held_out_loss()
        predictor = HeldOutPredictor(
            kernel=kernel,
            y=y,
            regularization=regularization,
            loss=loss,
            weighting=weighting,
        )
        return (
            predictor.document_error()
            if loss == "documents"
            else (yield from predictor.pair_error())
        )

    def why_no_error(self, n_documents: int) -> str:
        """Return the reason why one ranking of n documents has no criterion by left-out documents.

        The criterion is the leave-pair-out or leave-one-out error. The
        reason is "" if the ranking has such an error.
        """
        # Some losses have no such error; the message says why.
        try:
            loss, _ = self.held_out_loss()
        except ParameterError as error:
            return str(error)
        # One document has to be left for training, without one or two others.
        least = 2 if loss == "documents" else 3
        if n_documents < least:
            return tr("One ranking needs {least} documents, found {n}.").format(
                least=least, n=n_documents
            )
        if loss == "documents" or n_documents <= MOST_LEFT_OUT:
            return ""
        return tr(
            "The leave-pair-out error is computed for up to {most:,} documents, found {n:,}. Choose by a "
            'validation measure, or set pairs to "pointwise" where the method has it.'
        ).format(most=MOST_LEFT_OUT, n=n_documents)
