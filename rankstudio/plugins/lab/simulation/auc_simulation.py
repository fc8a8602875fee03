"""Simulation of estimated and true AUC on many drawn training sets (Airola 2011, section 5.4).

The learner is regularised least squares (RLS), or a support vector machine (SVM).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED
from rankstudio.engine.support.threads import STEADY
from rankstudio.plugins.lab.simulation.deviations import Deviations

ESTIMATORS = (
    "leave-pair-out",
    "leave-one-out, pooled",
    "5-fold, pooled",
    "5-fold, averaged",
    "10-fold, pooled",
    "10-fold, averaged",
)
"""Names of the estimators, in the order of the columns of :class:`Deviations`."""

# the standard error of a mean is then 1e-4 of the standard deviation
_MAX_REPETITIONS = 100_000_000
LEARNERS = ("rls", "svm")
"""Names of the learners: regularised least squares, and a linear support vector machine."""

LearnerName = Literal["rls", "svm"]

_BLOCK = 250  # repetitions in a block: results are yielded after each block
_MAX_NUMBERS = 4_000_000  # numbers in the hat or Gram matrices of a block
# m³ of a block of support vector machines, of which each pair needs one: about a second
_MAX_SVM_SIZE = 2_000_000
# violation of the optimality of a support vector machine; scores have an order of 1
_SVM_TOLERANCE = 1e-8
_MAX_SVM_STEPS = 10_000_000


@dataclass(frozen=True)
class TwoClasses:
    """Documents of two classes, N(0, I) and N(δ, I), for which the AUC of a linear model is known.

    Attributes
    ----------
    n_examples : int
        Number of documents m, in both classes together.
    positive : float
        Share of the second, positive class; each class has at least one document.
    n_features : int
    n_informative : int
        Number of features with a shift; the others are noise.
    shift : float
        δ of each informative feature.
    """

    n_examples: int = 30
    positive: float = 0.5
    n_features: int = 10
    n_informative: int = 10
    shift: float = 0.0

    def __post_init__(self) -> None:
        """Raise a ParameterError for values out of range."""
        # Each call raises an error unless the number is within the limits.
        between("n_examples", self.n_examples, 4, 20_000)
        between("n_features", self.n_features, 1, 1_000_000)
        between("n_informative", self.n_informative, 0, self.n_features)
        if not _is_number(self.positive) or not 0 < self.positive < 1:
            raise ParameterError(
                "positive", self.positive, "a share between 0 and 1 (exclusive)"
            )
        if not _is_number(self.shift) or not abs(self.shift) <= 1e6:
            raise ParameterError("shift", self.shift, "a finite number")

    @property
    def n_positive(self) -> int:
        """Number of positive documents; they come first."""
        return min(max(round(self.positive * self.n_examples), 1), self.n_examples - 1)

    @property
    def labels(self) -> Floats:
        """1 for the positive documents and 0 for the others, shape (m,)."""
        return np.repeat(
            [1.0, 0.0], [self.n_positive, self.n_examples - self.n_positive]
        )

    @property
    def direction(self) -> Floats:
        """δ, the difference between the means of the classes, shape (n,)."""
        return np.where(
            np.arange(self.n_features) < self.n_informative, self.shift, 0.0
        )

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw features of several training sets, shape (count, m, n)."""
        X: Floats = rng.standard_normal((count, self.n_examples, self.n_features))
        X[:, : self.n_positive] += self.direction
        return X

    def auc(self, weights: Floats) -> Floats:
        """Return the true AUC Φ(w'δ / (√2 ||w||)) of linear models w; 0.5 for w = 0.

        ``weights`` has the shape (…, n), and the result (…).
        """
        from scipy.special import ndtr  # noqa: PLC0415 - where it is needed

        length = np.sqrt(2.0 * np.einsum("...n,...n->...", weights, weights))
        signal = weights @ self.direction
        auc: Floats = ndtr(
            np.divide(signal, length, out=np.zeros_like(signal), where=length > 0)
        )
        return auc

    def folds(self, count: int) -> Ints:
        """Return the number of the fold of each document, from 0, shape (m,), for ``count`` folds.

        The documents are assigned to the folds in turn. As documents of
        a class follow each other, each fold has both classes if there
        are enough documents of both. The documents of a class are
        independent and identically distributed, so no random order is
        needed.
        """
        return np.arange(self.n_examples, dtype=np.int64) % count


def simulate_auc(
    n_examples: int = 30,
    positive: float = 0.5,
    n_features: int = 10,
    n_informative: int | None = None,
    shift: float = 0.0,
    regularization: float = 1.0,
    repetitions: int = 10_000,
    seed: int = 0,
    learner: LearnerName = "rls",
) -> Generator[Deviations, None, Deviations]:
    r"""Estimate the AUC of a linear model with an intercept in six ways, on many training sets.

    Parameters
    ----------
    n_examples, positive, n_features, n_informative, shift
        Documents of two normal classes, as in :class:`TwoClasses`:
        number, share of positives, features, features that differ
        between the classes, and by how much; by default all features
        are informative.
    regularization : float, default 1.0
        λ > 0.
    repetitions : int, default 10,000
        Number of training sets.
    seed : int, default 0
        Equal seeds give equal bits.
    learner : {"rls", "svm"}
        Regularised least squares, or a support vector machine.

    Yields
    ------
    Deviations
        All repetitions so far, of :data:`ESTIMATORS`; the generator
        returns the last result.

    Notes
    -----
    Least squares: O(mn min(m, n)) per training set, then constant time
    per pair and O(m³ / F²) for F folds; nothing is trained again. The
    support vector machine minimises, for labels :math:`y` of -1 and 1,

    .. math:: \sum_i \max(0, 1 - y_i (w^\top x_i + b)) + \lambda \lVert w \rVert^2

    (Airola 2011, section 2.8), which is the usual problem with C = 1 / 2λ. It
    is trained again for each fold, and for each pair with a support vector. The
    truth is exact, so the deviations are those of (5.1) and (5.2) of Airola
    (2011).
    """
    if learner not in LEARNERS:
        raise ParameterError("learner", learner, f"one of {', '.join(LEARNERS)}")
    informative_count = n_features if n_informative is None else n_informative
    data = TwoClasses(n_examples, positive, n_features, informative_count, shift)
    if not _is_number(regularization) or not 0 < regularization < np.inf:
        raise ParameterError(
            "regularization", regularization, "a finite number greater than 0"
        )
    count = between("repetitions", repetitions, 1, _MAX_REPETITIONS)
    checked_seed = between("seed", seed, 0, MOST_SEED)
    estimate = auc_estimates if learner == "rls" else svm_auc_estimates
    truth = np.empty(count)
    estimates = np.empty((count, len(ESTIMATORS)))

    # Number of training sets that are drawn and trained together. Their
    # m × m matrices must fit into memory. Support vector machines take
    # m³ time each: a block of them must not take long.
    block_size = max(1, min(_BLOCK, _MAX_NUMBERS // n_examples**2))
    if learner == "svm":
        block_size = max(1, min(block_size, _MAX_SVM_SIZE // n_examples**3))
    for block, begin in enumerate(range(0, count, block_size)):
        part = slice(begin, min(begin + block_size, count))
        X = data.draw(part.stop - begin, np.random.default_rng([checked_seed, block]))

        # Within `STEADY`, BLAS has one thread, so that equal seeds give equal bits.
        with STEADY:
            estimates[part], weights = estimate(data, X, regularization)
        truth[part] = data.auc(weights)
        state = Deviations(
            ESTIMATORS, truth[: part.stop], estimates[: part.stop], count
        )
        yield state
    return state


def auc_estimates(
    data: TwoClasses, X: Floats, regularization: float
) -> tuple[Floats, Floats]:
    """Estimate the AUC of regularised least squares on some training sets.

    Parameters
    ----------
    data : TwoClasses
        The two classes, with the labels of the documents and the folds.
    X : ndarray of shape (B, m, n)
        B training sets of m documents with n features; positive documents first.
    regularization : float
        λ > 0.

    Returns
    -------
    estimates : ndarray of shape (B, 6)
        Estimates of :data:`ESTIMATORS`.
    weights : ndarray of shape (B, n)
        Models trained on each training set.
    """
    from rankstudio.plugins.lab.simulation import _auc_kernel  # noqa: PLC0415 - numba, where it is needed

    labels = data.labels
    m = data.n_examples
    centred = X - X.mean(axis=1, keepdims=True)

    # A hat matrix gives the model's scores of the training documents from their labels.
    hats, weights = _hats(centred, labels - labels.mean(), regularization)
    residuals = labels - labels.mean() - np.einsum("bmn,bn->bm", centred, weights)

    # leave-pair-out, then two for each splitting
    folds = _splittings(data)
    estimates = np.empty((X.shape[0], 1 + 2 * folds.shape[0]))
    _auc_kernel.estimates(
        hats,
        residuals,
        labels,
        data.n_positive,
        folds,
        # workspaces
        np.empty(m, dtype=np.int64),
        np.empty((m, m + 1)),
        np.empty(m),
        # the result
        estimates,
    )
    return _defined_estimates(estimates), weights


def svm_auc_estimates(
    data: TwoClasses, X: Floats, regularization: float
) -> tuple[Floats, Floats]:
    """Estimate the AUC of support vector machines on some training sets.

    ``X``, (B, m, n), has B training sets of m documents with n
    features, the positive documents first. ``data`` has their labels
    and the folds. Return the estimates of :data:`ESTIMATORS`, (B, 6),
    and the models trained on each training set, (B, n).
    """
    from rankstudio.plugins.lab.simulation import _svm_kernel  # noqa: PLC0415 - numba, where it is needed

    m = data.n_examples
    folds = _splittings(data)
    betas = np.empty((X.shape[0], m))

    # leave-pair-out, then pooled and averaged AUC of each splitting into folds
    estimates = np.empty((X.shape[0], 1 + 2 * folds.shape[0]))
    _svm_kernel.svm_estimates(
        X @ X.transpose(0, 2, 1),  # Gram matrices
        2.0 * data.labels - 1.0,  # -1 and 1
        data.n_positive,
        folds,
        1.0 / (2.0 * regularization),  # the cost C
        _SVM_TOLERANCE,
        _MAX_SVM_STEPS,
        # workspaces
        np.empty(m, dtype=np.bool_),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        # the results
        betas,
        estimates,
    )
    return _defined_estimates(estimates), np.einsum("bmn,bm->bn", X, betas)


def _splittings(data: TwoClasses) -> Ints:
    """Return the folds of leave-one-out, 5-fold and 10-fold, shape (3, m)."""
    leave_one_out = np.arange(data.n_examples, dtype=np.int64)
    return np.stack([leave_one_out, data.folds(5), data.folds(10)])


def _defined_estimates(estimates: Floats) -> Floats:
    """Return the six columns of :data:`ESTIMATORS`, of the seven columns that a compiled function writes.

    ``estimates`` has a row for each training set. Column 2, the
    averaged AUC of leave-one-out, is left out: its folds have no two
    documents to compare.
    """
    return np.delete(estimates, 2, axis=1)


def _hats(X: Floats, labels: Floats, regularization: float) -> tuple[Floats, Floats]:
    """Return hat matrices (B, m, m) and weights (B, n) for centred X and labels.

    With A = X'X + λI, the hat matrix is X A^-1 X' and the weights are
    A^-1 X'y. For n > m, the smaller matrix K = XX' + λI gives I - λ
    K^-1 and X' K^-1 y.
    """
    transposed = X.transpose(0, 2, 1)
    _, m, n = X.shape
    if n <= m:
        # A^-1 X'
        solved: Any = np.linalg.solve(
            transposed @ X + regularization * np.eye(n), transposed
        )
        return X @ solved, solved @ labels
    inverse: Any = np.linalg.inv(X @ transposed + regularization * np.eye(m))  # K^-1
    return np.eye(m) - regularization * inverse, np.einsum(
        "bnm,bm->bn", transposed, inverse @ labels
    )


def _is_number(value: Any) -> bool:
    """Return whether a value is an integer or a float, but not a bool."""
    return isinstance(value, float | int | np.floating | np.integer) and not isinstance(
        value, bool
    )
