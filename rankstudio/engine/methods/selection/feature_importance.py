"""What FSMRank knows of the features beforehand: how important each is, and how similar any two are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.methods.selection.kendall import comparing_rankings
from rankstudio.engine.methods.selection.single_feature import directed_measures
from rankstudio.engine.methods.shards.function import summed
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.support.work import Waiting, finish

_MEASURES = {"ndcg": "NDCG@10", "map": "MAP"}


def importance(data: QueryData, kind: str) -> Floats:
    """Return the importance of each feature and of its negative.

    Parameters
    ----------
    data : QueryData
        Documents, n features.
    kind : {"pearson", "ndcg", "map", "none"}
        |Pearson's correlation| with the labels over all documents (Lai et al. 2013, section III.B); NDCG@10
        or MAP of ranking by the feature alone, from the greatest value down and from the least one up; or
        1 for all.

    Returns
    -------
    ndarray of shape (2n,)
        From 0 to 1; the second half is that of the negatives. 0 for a feature with one value everywhere,
        of which none of these is defined.
    """
    return finish(weighing_features(training_data(data), kind))


def weighing_features(data: TrainingData, kind: str) -> Waiting[Floats]:
    """Do what :func:`importance` does, with signs of life."""
    if kind == "none":
        both = np.ones(2 * data.X.shape[1])
    elif kind != "pearson":
        downwards, upwards = yield from directed_measures(data, _MEASURES[kind])
        assert upwards is not None  # asked for
        both = np.concatenate((downwards, upwards))
    else:
        correlations = (yield from correlating(data))[0]
        both = np.tile(np.abs(correlations[:-1, -1]), 2)
    varies = (yield from correlating(data))[1]
    return np.where(np.tile(varies, 2), both, 0.0)


def similarity(data: QueryData, kind: str) -> Floats:
    """Return the similarity of each two features, shape (n, n), from 0 to 1 with ones on the diagonal.

    Parameters
    ----------
    data : QueryData
        Documents, n features.
    kind : {"pearson", "kendall", "none"}
        |Pearson's correlation| over all documents (section III.B); |Kendall's τ-b| averaged over queries;
        or the identity.
    """
    return finish(comparing_features(training_data(data), kind))


def comparing_features(data: TrainingData, kind: str) -> Waiting[Floats]:
    """Do what :func:`similarity` does, with signs of life."""
    if kind == "none":
        return np.eye(data.X.shape[1])
    if kind == "kendall":
        matrix = yield from comparing_rankings(data)
    else:
        correlations = (yield from correlating(data))[0]
        matrix = np.minimum(np.abs(correlations[:-1, :-1]), 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def nearest_positive_semidefinite(matrix: Floats) -> Floats:
    """Return the positive semidefinite matrix that is nearest in the Frobenius norm."""
    values, vectors = np.linalg.eigh(matrix)
    nearest: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return nearest


@dataclass
class _Correlations:
    """What :func:`correlating` has found of some data."""

    found: tuple[Floats, Bools] | None = None


def correlating(data: TrainingData) -> Waiting[tuple[Floats, Bools]]:
    """Return Pearson's correlations of the features and the labels (n + 1, n + 1), in two passes.

    Also which features have more than one value (n,). Both are kept.
    """
    kept = data.shared.of(_Correlations)
    if kept.found is None:
        what, origin = "correlating features", np.append(data.X[0], data.y[0])
        total, different = yield from summed(data, what, _totals, origin, by_blocks=True)
        mean = total / data.y.size
        (products,) = yield from summed(data, what, _products, origin, mean, by_blocks=True)
        length = np.sqrt(np.diag(products))
        length[length == 0] = 1.0
        kept.found = products / length / length[:, None], different[:-1] > 0
    return kept.found


def _totals(data: QueryData, origin: Floats) -> tuple[Floats, Floats]:
    """Return the sums of the features' and the labels' differences from a document's, and how many differ."""
    shifted = np.column_stack((data.X, data.y)) - origin
    return shifted.sum(axis=0), np.count_nonzero(shifted, axis=0).astype(np.float64)


def _products(data: QueryData, origin: Floats, mean: Floats) -> tuple[Floats]:
    """Return the products of features and labels, each minus its mean."""
    # The document goes before the mean does, so that a constant column leaves no rounding behind.
    shifted = np.column_stack((data.X, data.y))
    shifted -= origin
    shifted -= mean
    return (shifted.T @ shifted,)
