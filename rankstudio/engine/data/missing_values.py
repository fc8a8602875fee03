"""What is done to the values of a file once it is parsed: missing values, width, normalisation."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support.blocks import group_blocks

Missing = Literal["query_min", "zero", "refuse"]
Normalize = Literal[False, "query_minmax"]


def check_options(missing: str, normalize: str | bool) -> None:
    """Raise `ParameterError` for a policy that does not exist."""
    if missing not in get_args(Missing):
        raise ParameterError("missing", missing, tr('one of "query_min", "zero" and "refuse"'))
    if normalize not in get_args(Normalize):
        raise ParameterError("normalize", normalize, tr('False or "query_minmax"'))


def fill_missing(X: Floats, query_ptr: Ints, missing: Ints, policy: str) -> None:
    """Put numbers in the place of NaN.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, changed in place.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query.
    missing : ndarray of shape (n,)
        How many values of each feature are NaN.
    policy : {"query_min", "zero"}
        ``query_min``: the least value of that feature within the query, as in LETOR's "min" version of its
        data; 0 where the query has none at all. ``zero``: 0.

    Notes
    -----
    O(m n'), where n' is the number of features with missing values.
    """
    for feature in np.flatnonzero(missing):
        column = X[:, feature]
        absent = np.isnan(column)
        filling = np.zeros(len(query_ptr) - 1)
        if policy == "query_min":
            least = np.fmin.reduceat(column, query_ptr[:-1])
            filling = np.where(np.isnan(least), 0.0, least) + 0.0  # of two zeros either may be the least
        column[absent] = np.repeat(filling, np.diff(query_ptr))[absent]


def widen(X: Floats, n_features: int) -> Floats:
    """Return X with columns of zeros appended, up to ``n_features``; X itself if it has as many."""
    if X.shape[1] == n_features:
        return X
    wide = np.zeros((X.shape[0], n_features))
    wide[:, : X.shape[1]] = X
    return wide


def normalize_queries(X: Floats, query_ptr: Ints) -> None:
    """Scale every feature to [0, 1] within every query, in place: LETOR's QueryLevelNorm.

    A feature that is constant within a query becomes 0 there. O(m n).
    """
    for first, last in group_blocks(query_ptr, X.shape[1]):
        _normalize(X[query_ptr[first] : query_ptr[last]], query_ptr[first : last + 1] - query_ptr[first])


def _normalize(X: Floats, query_ptr: Ints) -> None:
    """Scale the rows of a block of queries, in place."""
    rows = np.diff(query_ptr)
    low = np.minimum.reduceat(X, query_ptr[:-1], axis=0)
    with np.errstate(over="ignore"):
        span = np.maximum.reduceat(X, query_ptr[:-1], axis=0) - low
    if not np.isfinite(span).all():  # the difference of two huge numbers
        X *= np.repeat(np.where(np.isfinite(span), 1.0, 0.5), rows, axis=0)
        _normalize(X, query_ptr)
        return
    X -= np.repeat(low, rows, axis=0)
    span[span == 0.0] = 1.0
    X /= np.repeat(span, rows, axis=0)
