"""The score of a document, split feature by feature: the parts sum to the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.export.trees import checked_trees, tree_contributions
from rankstudio.engine.steps import Step
from rankstudio.engine.support.blocks import VALUES


@dataclass(frozen=True, eq=False)
class ScoreContributions:
    """Contributions of each feature to the scores of some documents.

    Attributes
    ----------
    columns : tuple of int
        0-based columns of the features that the model uses, ascending.
    values : ndarray of shape (m, s)
        Contribution of each of these s features to the score of each of m documents.
    constant : float
        Constant part of all scores: 0 except for trees (mean output in
        training) and kernel models (score of the mean basis vector).
    """

    columns: tuple[int, ...]
    values: Floats
    constant: float

    @property
    def scores(self) -> Floats:
        """Scores of the documents, (m,): the sums of their parts, up to rounding."""
        total: Floats = self.values.sum(axis=1) + self.constant
        return total


def score_contributions(step: Step, X: Floats, feature_ids: Ints) -> ScoreContributions:
    """Split the scores of a model by feature.

    Linear models contribute weight times value. Thresholds (RankBoost)
    are summed by feature. Trees are split by LightGBM into Shapley
    values: the mean change of the output over all orders in which
    features become known (Lundberg & Lee 2017), summed over the trees.
    Kernel models are split along the line from the mean basis vector,
    see
    :func:`rankstudio.plugins.queries.score_contributions.kernel_contributions`.
    If a model uses sums of features, the contribution of a sum is
    divided among its features by the sizes of the summands. Scores of
    given rankings, and of models from plug-ins, are not split: the
    result has no features.

    Parameters
    ----------
    step : Step
        Model with scores for documents.
    X : ndarray of shape (m, n)
        Features of the documents.
    feature_ids : ndarray of shape (n,)
        The 1-based id of each column.

    Returns
    -------
    ScoreContributions
        The part of each feature in the score of each document, and a constant rest.

    Raises
    ------
    StoreError
        If a study did not store the model.

    Notes
    -----
    O(ms) for linear models, O(mT) for T thresholds, O(m T L d²) for T
    trees of L leaves and depth d.
    """
    if step.linear:
        used = np.flatnonzero(step.coef)
        return ScoreContributions(
            tuple(used.tolist()), X[:, used] * step.coef[used], 0.0
        )
    if not step.learned:  # given scores do not come from features
        return ScoreContributions((), np.zeros((len(X), 0)), 0.0)
    column_of = {int(feature): column for column, feature in enumerate(feature_ids)}

    # `beyond_weights` is the definition of a nonlinear model as plain values.
    return _nonlinear_contributions(
        step.beyond_weights(feature_ids.tolist()), X, column_of, step.source
    )


def _nonlinear_contributions(
    beyond: dict[str, Any], X: Floats, column_of: dict[int, int], source: str
) -> ScoreContributions:
    """Split the scores of a nonlinear model by feature.

    ``beyond`` has the model as plain values, with its "kind"; ``X``,
    (m, n), has the documents, ``column_of`` the column of each feature
    id, and ``source`` a name of the model for errors.
    """
    if beyond["kind"] == "sums":
        return _contributions_of_sums(beyond, X, column_of, source)
    if beyond["kind"] == "thresholds":
        return _contributions_of_thresholds(beyond, X, column_of)
    if beyond["kind"] == "plugin":  # such a model may use the features in any way
        return ScoreContributions((), np.zeros((len(X), 0)), 0.0)
    if beyond["kind"] == "kernel":
        columns, values, constant = kernel_contributions(beyond, X, column_of)
        return ScoreContributions(tuple(columns.tolist()), values, constant)
    return _contributions_of_trees(beyond, X, column_of, source)


def _contributions_of_sums(
    beyond: dict[str, Any], X: Floats, column_of: dict[int, int], source: str
) -> ScoreContributions:
    """Split the scores of a model whose features are weighted sums of the original features.

    A score is first split into what each sum of features adds. What a
    sum adds is then divided among its features in proportion to the
    sizes of their summands, weight times value. If all summands of a
    document are 0, the weights of the sum replace the summands.
    ``beyond`` has the model as plain values, ``X``, (m, n), the
    documents, ``column_of`` the column of each feature id, and
    ``source`` a name of the model for errors.
    """
    # the weights of each sum, a row per sum
    sums = np.array(beyond["sums"], dtype=np.float64)
    columns = np.array([column_of[i] for i in beyond["columns"]], dtype=np.int64)
    rows = np.ascontiguousarray(X[:, columns])
    new_features = np.ascontiguousarray(
        linear_scores(np.ascontiguousarray(rows.T), sums).T
    )

    # The sums are the features of the inner model, with ids from 1.
    column_of_sum = {t: t - 1 for t in range(1, len(sums) + 1)}
    parts = _nonlinear_contributions(
        beyond["model"], new_features, column_of_sum, source
    )
    values = np.zeros(rows.shape)

    # t is a sum, and `part`, (m,), what it adds to the score of each document
    for t, part in zip(parts.columns, parts.values.T, strict=True):
        sizes = np.abs(rows * sums[t])
        total = sizes.sum(axis=1, keepdims=True)
        shares_of_weights = np.abs(sums[t]) / np.abs(sums[t]).sum()
        divisor = np.where(total > 0, total, 1.0)  # no division by 0
        shares = np.where(total > 0, sizes / divisor, shares_of_weights)
        values += part[:, None] * shares

    order = np.argsort(columns)
    return ScoreContributions(
        tuple(columns[order].tolist()), values[:, order], parts.constant
    )


def _contributions_of_thresholds(
    beyond: dict[str, Any], X: Floats, column_of: dict[int, int]
) -> ScoreContributions:
    """Split the scores of weak rankers, each of which adds a weight for values above a threshold.

    Each weak ranker belongs to one feature, so that the weights are
    added up by feature. ``beyond`` has the weak rankers as plain
    values. ``column_of`` has the column of ``X``, (m, n), for each
    feature id.
    """
    weak_rankers = [
        (column_of[t["id"]], t["above"], t["adds"]) for t in beyond["thresholds"]
    ]
    used = sorted({column for column, _, _ in weak_rankers})
    index_of = {column: i for i, column in enumerate(used)}
    values = np.zeros((X.shape[0], len(used)))

    for column, threshold, weight in weak_rankers:
        values[:, index_of[column]] += weight * (X[:, column] > threshold)
    return ScoreContributions(tuple(used), values, 0.0)


def _contributions_of_trees(
    beyond: dict[str, Any], X: Floats, column_of: dict[int, int], source: str
) -> ScoreContributions:
    """Split the scores of LightGBM's trees into Shapley values of the features.

    ``beyond`` has the trees as text and the ids of their features,
    ``column_of`` the column of ``X`` for each id, and ``source`` a name
    of the model for errors.
    """
    # Raises an error for damaged trees: the model may come from a file.
    trees = checked_trees(beyond["lightgbm"], len(beyond["columns"]))

    # Trees name features by their position among the model's features.
    columns = np.array(
        [column_of[beyond["columns"][c]] for c in trees.columns], dtype=np.int64
    )
    values, constant = tree_contributions(trees, X[:, columns], source)
    order = np.argsort(columns)
    return ScoreContributions(
        tuple(columns[order].tolist()), values[:, order], constant
    )


_N_NODES = 32  # nodes of the quadrature, which is exact for polynomials up to degree 63


def kernel_contributions(
    beyond: Mapping[str, Any], X: Floats, column_of: Mapping[int, int]
) -> tuple[Ints, Floats, float]:
    """Split the scores of a kernel model into Aumann-Shapley values.

    Along the straight line from the mean a of the basis vectors to a
    document x, each feature receives the change of the score due to its
    part of every step: (x_j - a_j) ∫ ∂f/∂x_j (a + t(x - a)) dt over t
    from 0 to 1. The contributions sum to f(x) - f(a) (Sundararajan et
    al. 2017).

    Parameters
    ----------
    beyond : Mapping
        The model as plain values.
    X : ndarray of shape (m, n)
    column_of : Mapping of int to int
        Column of each feature id.

    Returns
    -------
    columns : ndarray of shape (s,)
        Columns of the model's features, ascending.
    values : ndarray of shape (m, s)
    constant : float
        f(a).

    Notes
    -----
    O(mr(s + 32)) for r basis vectors.
    """
    columns = np.array([column_of[i] for i in beyond["columns"]], dtype=np.int64)
    order = np.argsort(columns)
    weights = np.array(beyond["weights"], dtype=np.float64)
    vectors = np.array(beyond["vectors"], dtype=np.float64).reshape(
        weights.size, columns.size
    )
    columns = columns[order]
    vectors = vectors[:, order]
    kernel = Kernel(**beyond["kernel"])
    if not weights.size:  # no basis vectors: all scores are 0
        return columns, np.zeros((len(X), columns.size)), 0.0
    start = vectors.mean(axis=0)
    values = np.empty((len(X), columns.size))

    # `products` is empty unless the kernel is a sum of products of
    # kernels. A single kernel depends on distances or on inner
    # products.
    if kernel.products:
        split = _split_sum
    elif kernel.by_distance:
        split = _contributions_to_gaussian
    else:
        split = _contributions_to_polynomial

    # Blocks of documents with about VALUES values each: a document
    # needs one per basis vector.
    block_size = max(1, VALUES // weights.size)

    for first in range(0, len(X), block_size):
        steps = X[first : first + block_size, columns] - start
        values[first : first + block_size] = split(
            kernel, vectors - start, start, weights, steps
        )

    score_of_start = kernel.scores(start[None, :], vectors, weights[None, :])[0, 0]
    return columns, values, float(score_of_start)


def _quadrature_on_unit_interval() -> tuple[Floats, Floats]:
    """Return nodes and weights of a quadrature from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    return (nodes + 1.0) / 2.0, weights / 2.0


def _contributions_to_gaussian(
    kernel: Kernel, vectors: Floats, start: Floats, weights: Floats, steps: Floats
) -> Floats:
    """Split the scores of a Gaussian kernel, the weighted sum of exp(-γ||x - v||²), by feature.

    ``start`` is a, ``vectors``, (r, s), are v - a for r basis vectors
    of s features, ``weights``, (r,), are theirs, and ``steps``, (m, s),
    are d = x
    - a for m documents. The result has the shape (m, s). The point between a
    and x at t is a + td.

    Let e(t) be the exponential of a vector, I the integral of e(t) and
    J the integral of t e(t) from 0 to 1. From e(0) - e(1) = 2γ(||d||²J
    - d'(v - a)I), J follows from I. The contributions therefore sum to
    the score even if I is rounded.
    """
    products = steps @ vectors.T  # d'(v - a)
    squared_steps = np.sum(steps**2, axis=1)[:, None]
    squared_vectors = np.sum(vectors**2, axis=1)
    integral = np.zeros_like(products)  # I

    for node, weight in zip(*_quadrature_on_unit_interval(), strict=True):
        squared_distances = (
            node**2 * squared_steps - 2 * node * products + squared_vectors
        )
        integral += weight * np.exp(-kernel.gamma * np.maximum(squared_distances, 0.0))

    end_distances = np.maximum(squared_steps - 2 * products + squared_vectors, 0.0)

    # e(0) - e(1)
    fall = np.exp(-kernel.gamma * squared_vectors) - np.exp(
        -kernel.gamma * end_distances
    )
    numerator = fall / (2.0 * kernel.gamma) + products * integral

    # J; for a document at the start, the contributions are 0 whatever it is.
    t_integral = np.divide(
        numerator, squared_steps, out=np.zeros_like(numerator), where=squared_steps > 0
    )
    slopes = (weights * integral) @ vectors - (t_integral @ weights)[:, None] * steps
    return np.asarray(2.0 * kernel.gamma * steps * slopes)


def _contributions_to_polynomial(
    kernel: Kernel, vectors: Floats, start: Floats, weights: Floats, steps: Floats
) -> Floats:
    """Split the scores of a polynomial or linear kernel, (γ x'v + c)^d or x'v, by feature.

    ``start`` is a, ``vectors``, (r, s), are v - a for r basis vectors
    of s features, ``weights``, (r,), are theirs, and ``steps``, (m, s),
    are x - a for m documents. The result has the shape (m, s).
    """
    basis_vectors = vectors + start
    if kernel.function == "linear":
        return np.asarray(steps * (weights @ basis_vectors))
    start_products = basis_vectors @ start
    step_products = steps @ basis_vectors.T

    # Integral of the inner derivative along the line from a to x, by quadrature.
    slopes = np.zeros_like(step_products)

    for node, weight in zip(*_quadrature_on_unit_interval(), strict=True):
        inner = kernel.gamma * (start_products + node * step_products) + kernel.coef0
        slopes += weight * np.power(inner, kernel.degree - 1)

    return np.asarray(
        kernel.gamma * kernel.degree * steps * ((slopes * weights) @ basis_vectors)
    )


def _split_sum(
    kernel: Kernel,
    vectors: Floats,
    start: Floats,
    weights: Floats,
    steps: Floats,
) -> Floats:
    """Split the scores of a kernel k that is a sum of products of kernels, by feature.

    ``start`` is a, ``vectors``, (r, s), are v - a for r basis vectors
    of s features, ``weights``, (r,), are their b, and ``steps``, (m,
    s), are d = x
    - a for m documents. The result has the shape (m, s). The gradient at a +
    td is

        Σ b (i v + 2s (a + td - v)),

    with the derivatives i and s of k in x'v and in ||x - v||². Its part
    along d follows from the score, so that the contributions sum to it
    exactly.
    """
    basis_vectors = vectors + start

    # The integral of the gradient without its term 2s td, which is along d.
    slopes = np.zeros_like(steps)

    for node, weight in zip(*_quadrature_on_unit_interval(), strict=True):
        points = start + node * steps
        inner, distance = kernel.sum_slopes(points, basis_vectors)
        inner *= weights
        distance *= 2.0 * weights
        slopes += weight * (inner @ basis_vectors)
        slopes -= weight * (distance @ vectors)

    # The rest of the change is due to the part along d.
    ends = np.concatenate((start[None, :], start + steps))
    scores = kernel.scores(ends, basis_vectors, weights[None, :])[0]
    contributions: Floats = steps * slopes
    rest = scores[1:] - scores[0]
    rest -= contributions.sum(axis=1)
    squared_steps = np.sum(steps**2, axis=1)

    # For a document at the start, the contributions are 0.
    along = np.divide(
        rest,
        squared_steps,
        out=np.zeros_like(rest),
        where=squared_steps > 0,
    )
    contributions += along[:, None] * steps**2
    return contributions
