"""What FSMRank knows of the features beforehand: how important each is, and how similar any two are."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.selection.kendall import comparing_rankings
from rankstudio.engine.methods.selection.single_feature import single_feature_measures
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import WorkProgress, finish

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
    varies = np.ptp(data.X, axis=0) > 0
    if kind == "pearson":
        values = np.abs(_standardised(data.X).T @ _standardised(data.y[:, None])[:, 0])
        both = np.concatenate((values, values))
    elif kind == "none":
        both = np.ones(2 * data.X.shape[1])
    else:
        turned = QueryData(-data.X, data.y, data.ptr)
        both = np.concatenate(
            [single_feature_measures(d, _MEASURES[kind], both_directions=False)[0] for d in (data, turned)]
        )
    return np.where(np.concatenate((varies, varies)), both, 0.0)


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
    return finish(comparing_features(data, kind))


def comparing_features(data: QueryData, kind: str) -> Generator[WorkProgress, None, Floats]:
    """Do what :func:`similarity` does, with signs of life."""
    if kind == "none":
        return np.eye(data.X.shape[1])
    if kind == "kendall":
        matrix = yield from comparing_rankings(data)
    else:
        columns = _standardised(data.X)
        matrix = np.minimum(np.abs(columns.T @ columns), 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def nearest_positive_semidefinite(matrix: Floats) -> Floats:
    """Return the positive semidefinite matrix that is nearest in the Frobenius norm."""
    values, vectors = np.linalg.eigh(matrix)
    nearest: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return nearest


def _standardised(columns: Floats) -> Floats:
    """Return columns of mean 0 and length 1; of zeros where they have one value."""
    # The first row goes before the mean does, so that a constant column leaves no rounding behind.
    shifted = columns - columns[0]
    shifted -= shifted.mean(axis=0)
    length = np.sqrt(np.einsum("ij,ij->j", shifted, shifted))
    standardised: Floats = shifted / np.where(length > 0, length, 1.0)
    return standardised
