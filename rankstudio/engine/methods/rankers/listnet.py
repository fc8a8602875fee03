"""ListNet: the probability of being first, by the labels and by the scores (Cao et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.optimization.lbfgs import Objective, minimise
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Step


class ListNet(LinearRanker):
    """ListNet fits a linear ranker by the cross entropy of top-one probabilities (Cao et al. 2007).

    Minimises sum_q sum_{i in q} -P_y(i) ln P_w(i) + λ/2 ||w||², where the top-one probabilities are
    P_y(i) = exp(y_i) / sum_j exp(y_j) of the labels and P_w(i) the same of the scores w'x_i, both inside the
    query (Cao et al. 2007, theorem 8 and eq. (5), with a linear model in place of the neural network). The
    objective is smooth and convex; L-BFGS takes it to its minimum, where the paper descends along the
    gradient of one query after the other. The paper has no λ; it makes the minimum unique.

    Parameters
    ----------
    regularization : float, default 1.0
        λ > 0.
    tol : float, default 1e-6
        Ends where the gradient's length is at most this share of its length at w = 0; greater than 0.
    max_iter : int, default 500
        Iterations at most, 1 to 100,000.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        The objective there.
    gradient_norm_ : float
        The gradient's length there over that at w = 0.
    n_iter_ : int
        Iterations taken.

    Notes
    -----
    O(mn) an iteration for m documents and n features.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> ListNet().fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    objective_: float
    gradient_norm_: float
    n_iter_: int

    def __init__(self, regularization: float = 1.0, tol: float = 1e-6, max_iter: int = 500) -> None:
        self.regularization = regularization
        self.tol = tol
        self.max_iter = max_iter

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter

    def learn(self, data: QueryData) -> Iterator[Step]:
        """Yield one step an iteration, with the objective as its criterion."""
        tol, max_iter = self.checked("tol"), self.checked("max_iter")
        objective = top_one_cross_entropy(data, self.checked("regularization"))
        features = tuple(range(data.X.shape[1]))
        search = minimise(objective, np.zeros(len(features)))
        coef, value, gradient = next(search)
        first = float(np.linalg.norm(gradient)) or 1.0
        number = 0
        for coef, value, gradient in search:
            number += 1
            self.gradient_norm_ = float(np.linalg.norm(gradient)) / first
            yield Step(number, features, coef, value, np.empty(0))
            if self.gradient_norm_ <= tol or number == max_iter:
                return
        if number == 0:  # the labels say nothing: w = 0 is the minimum
            self.gradient_norm_ = 0.0
            yield Step(1, features, coef, value, np.empty(0))

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        self.objective_ = taken[-1].criterion
        self.n_iter_ = len(taken)


def top_one_cross_entropy(data: QueryData, regularization: float) -> Objective:
    """Return ListNet's objective: from weights (n,) to its value and gradient (n,), O(mn)."""
    # Centring inside queries changes no probability; differences stay where values are large.
    X, ptr = data.centred[0], data.ptr
    target = np.exp(_log_softmax(data.y, ptr))

    def objective(coef: Floats) -> tuple[float, Floats]:
        logs = _log_softmax(X @ coef, ptr)
        value = 0.5 * regularization * float(coef @ coef) - float(target @ logs)
        gradient: Floats = X.T @ (np.exp(logs) - target) + regularization * coef
        return value, gradient

    return objective


def _log_softmax(values: Floats, ptr: Ints) -> Floats:
    """Return the logarithm of each value's share of the exponentials of its query."""
    sizes = np.diff(ptr)
    shifted = values - np.repeat(np.maximum.reduceat(values, ptr[:-1]), sizes)
    sums = np.add.reduceat(np.exp(shifted), ptr[:-1])
    out: Floats = shifted - np.repeat(np.log(sums), sizes)
    return out
