"""RankRLS: regularised least squares on the differences inside queries (Pahikkala et al. 2007, 2009)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.querywise.query_data import QueryData, QueryStatistics, several_queries
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import pool

_WORTH_THREADS = 4e6  # multiplications, below which handing work to threads costs more


class RankRLS(LinearRanker):
    """RankRLS fits a linear ranker by regularised least squares on pairs of documents of one query.

    Minimises sum_q 1/(2|q|) sum_{i,j in q} (y_i - y_j - w'(x_i - x_j))² + λ||w||²
    (Pahikkala et al. 2010, eq. (3)), so w = (X^'X^ + λI)^-1 X^'y^ with ^ centring inside each query
    (eq. (5)).

    Parameters
    ----------
    regularization : float, default 1.0
        λ > 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    criterion_ : float
        The leave-query-out squared error, summed over documents.

    Notes
    -----
    O(mn²) for the Gram matrices of the queries, shared by every λ; then O(n²) for the weights from one
    eigendecomposition and O(Qn³) for the leave-query-out error.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RankRLS(regularization=4.0).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    criterion_: float

    def __init__(self, regularization: float = 1.0) -> None:
        self.regularization = regularization

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return 1

    def learn(self, data: QueryData) -> Iterator[Step]:
        """Yield the one step there is: all features at once."""
        regularization = self.checked("regularization")
        n = data.X.shape[1]
        coef = weights(data.statistics, regularization)
        _, errors = leave_query_out_models(data.statistics, regularization)
        yield Step(1, tuple(range(n)), coef, float(errors.sum()), np.empty(0))

    def nested(self, data: QueryData, order: tuple[int, ...]) -> Iterator[Step]:  # noqa: D102 - inherited
        from rankstudio.engine.querywise.nested_rankrls import nested_models  # noqa: PLC0415 - scipy, where it is needed

        regularization = self.checked("regularization")
        coefs, errors = nested_models(data, np.array(order), regularization)
        for k in range(1, len(order) + 1):
            yield Step(k, order[:k], coefs[k - 1], float(errors[k - 1]), np.empty(0))

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        self.criterion_ = taken[-1].criterion

    def leave_query_out(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Floats:
        """Predict each document with the model learned from all queries but its own.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,)
        qid : array-like of shape (m,), optional

        Returns
        -------
        ndarray of shape (m,)
            Scores, centred inside each query, in the order of the rows of X.

        Raises
        ------
        DatasetError
            For documents of one query only: no other is left to learn from.
        """
        data = self._group(X, y, qid)
        several_queries(data.ptr, "The leave-query-out predictions of RankRLS")
        models, _ = leave_query_out_models(data.statistics, self.checked("regularization"))
        per_document = np.repeat(models, np.diff(data.ptr), axis=0)
        predicted: Floats = data.in_original_order(np.einsum("mi,mi->m", data.centred[0], per_document))
        return predicted


def weights(statistics: QueryStatistics, regularization: float) -> Floats:
    """Return w = (T + λI)^-1 T[:, y] from the eigendecomposition of T that every λ shares, shape (n,)."""
    values, vectors = statistics.eigen
    coef: Floats = vectors @ ((vectors.T @ statistics.total[:-1, -1]) / (values + regularization))
    return coef


def leave_query_out_models(statistics: QueryStatistics, regularization: float) -> tuple[Floats, Floats]:
    """Learn without each query in turn.

    Parameters
    ----------
    statistics : QueryStatistics
        Of the training data.
    regularization : float
        λ > 0.

    Returns
    -------
    weights : ndarray of shape (Q, n)
        Row q was learned from all queries but q.
    errors : ndarray of shape (Q,)
        Its squared error on the centred documents of query q.

    Notes
    -----
    O(Qn³) time, and no term in the number of documents.
    """
    from rankstudio.engine.methods.rankers import _rankrls_kernel  # noqa: PLC0415 - numba

    Q, n = statistics.n_queries, statistics.n_features
    models, errors = np.empty((Q, n)), np.empty(Q)
    with pool(Q * n**3 / 3 > _WORTH_THREADS) as (executor, workers):
        cuts = np.linspace(0, Q, workers + 1).astype(int)
        ranges = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        work = [
            (statistics.gram, statistics.total, regularization, first, last, models, errors)
            for first, last in ranges
        ]
        if executor is None:
            _rankrls_kernel.leave_out(*work[0])
        else:
            list(executor.map(lambda arguments: _rankrls_kernel.leave_out(*arguments), work))
    return models, errors
