"""API functions for plug-in filters: relevance and similarity of features."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.fsmrank import comparing_features
from rankstudio.engine.methods.selection.single_feature import measuring_features
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.conventions import DEFAULT, objective
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.support.work import Waiting

_KINDS = ("kendall", "pearson")


@dataclass
class _Comparisons:
    """Cache of one dataset's comparisons: gains by measure and convention, similarities by kind."""

    gains: dict[tuple[str, str], Floats] = field(default_factory=dict)
    similarities: dict[str, Floats] = field(default_factory=dict)


def single_feature_gains(
    data: TrainingData, measure: str = "NDCG@10", convention: str = DEFAULT
) -> Waiting[Floats]:
    """Measure how well each feature alone ranks the documents, in its better direction.

    The generator yields progress events, and then returns the result.

    Parameters
    ----------
    data : TrainingData
        The documents.
    measure : str, default "NDCG@10"
        Any measure of rankings.
    convention : str, default "standard"
        Convention of the run. A cut-off k is limited to the number of
        documents of a query, as in all methods that select by a
        measure.

    Returns
    -------
    ndarray of shape (n,)
        Averages over queries, larger for better features: an error is subtracted from
        1. 0 for a feature for which no query has a value.

    Raises
    ------
    ParameterError
        If there is no such measure or convention.

    Notes
    -----
    O(nm log m) for m documents and n features; cached with the data.
    Ranked by a feature that is constant within every query, documents
    keep the order of the file, and the feature has the measure of this
    order.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, finish, single_feature_gains, training_data
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.5], [2.0, 3.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 2, 4])))
    >>> finish(single_feature_gains(data, "MAP"))
    array([1.  , 0.75])
    """
    name = find_measure(measure).name  # as the measure is spelt in the cache's keys
    # The gains are cached with the data, and computed if they are not
    # there yet.
    gains = data.shared.of(_Comparisons).gains
    return (
        yield from once(
            gains, (name, convention), _gains_of_features(data, name, convention)
        )
    )


def _gains_of_features(
    data: TrainingData, measure: str, convention: str
) -> Waiting[Floats]:
    """Return the measure of each feature alone, 0 without a value; an error is subtracted from 1.

    ``measure`` is the name of the measure, and ``convention`` the key
    of its convention. ``data`` are the training documents. The
    generator yields progress events, and then returns the result.
    """
    values, _ = yield from measuring_features(data, measure, objective(convention))
    gains = values if find_measure(measure).higher_is_better else 1.0 - values
    return np.nan_to_num(gains, nan=0.0)


def feature_similarities(data: TrainingData, kind: str = "kendall") -> Waiting[Floats]:
    """Compute the similarity of each pair of features.

    The generator yields progress events, and then returns the result.

    Parameters
    ----------
    data : TrainingData
        The documents.
    kind : {"kendall", "pearson"}, default "kendall"
        |Kendall's τ-b| averaged over queries; or |Pearson's correlation| over all documents.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, from 0 to 1, with ones on the diagonal.

    Raises
    ------
    ParameterError
        For another kind.

    Notes
    -----
    O(n² m log |q|) for m documents, n features and queries of |q|
    documents; Pearson's O(n² m). Cached with the data.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, feature_similarities, finish, training_data
    >>> X = np.array([[0.0, 3.0, 1.0], [1.0, 2.0, 0.0], [2.0, 1.0, 2.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0]), np.array([0, 3])))
    >>> finish(feature_similarities(data)).round(2).tolist()
    [[1.0, 1.0, 0.33], [1.0, 1.0, 0.33], [0.33, 0.33, 1.0]]
    """
    if kind not in _KINDS:
        raise ParameterError("kind", kind, "kendall or pearson")
    similarities = data.shared.of(_Comparisons).similarities
    return (yield from once(similarities, kind, comparing_features(data, kind)))
