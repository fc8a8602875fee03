"""ListNet: fits each document's probability of being ranked first to that of the labels (Cao et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.optimisers.lbfgs import Objective, minimise
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.methods.shards.work import StateWork
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Waiting, WorkProgress
from rankstudio.plugins.baselines.entries import LISTNET


@dataclass(eq=False, repr=False)
class ListNet(LinearRanker):
    """ListNet fits a linear ranker by the cross entropy of top-one probabilities (Cao et al. 2007).

    Minimizes sum_q sum_{i in q} -P_y(i) ln P_w(i) + λ/2 ||w||². The
    top-one probabilities of the labels are P_y(i) = exp(y_i) / sum_j
    exp(y_j), over the documents j of the query; those of the scores,
    P_w(i), are the same with w'x_i instead of y_i (Cao et al. 2007,
    theorem 8 and eq. (5), with a linear model instead of the neural
    network). The objective is smooth and convex; L-BFGS minimizes it,
    while the paper follows the gradient of one query after the other.
    The term with λ, which is not in the paper, makes the minimum
    unique.

    Parameters
    ----------
    regularization : float, default 1.0
        λ > 0.
    tol : float, default 1e-6
        Stops when the gradient norm is at most this share of its
        initial value; greater than 0.
    max_iter : int, default 500
        Maximum number of iterations, 1 to 100,000.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        Minimum of the objective.
    gradient_norm_ : float
        Gradient norm at the minimum, relative to that at w = 0.
    n_iter_ : int
        Iterations taken.

    Notes
    -----
    O(mn) per iteration for m documents and n features.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> ListNet().fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    entry = LISTNET

    objective_: float = field(init=False)
    gradient_norm_: float = field(init=False)
    n_iter_: int = field(init=False)

    regularization: float = 1.0
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 500

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Minimise the objective, and yield one step per iteration, with the objective as its criterion.

        The method also sets its attribute ``gradient_norm_``: the norm
        of the gradient as a share of the norm at the start.
        """
        tol = self.checked("tol")
        max_iter = self.checked("max_iter")
        features = tuple(range(data.X.shape[1]))
        with top_one_cross_entropy(
            training_data(data), self.checked("regularization")
        ) as objective:
            number = -1  # the first point is the starting point, with number 0
            first_norm = 1.0
            for event in minimise(objective, np.zeros(len(features))):
                if isinstance(event, WorkProgress):
                    yield event
                    continue

                # a point of the minimisation: w, the objective and its gradient
                coef, value, gradient = event
                number += 1
                norm = float(np.linalg.norm(gradient))
                if number == 0:
                    first_norm = norm or 1.0

                    # A step at the start, which is only yielded if no
                    # other one follows: if labels are equal within each
                    # query, w = 0 is the minimum.
                    start_step = Step(
                        number=1,
                        selected=features,
                        coef=coef,
                        criterion=value,
                        candidates=np.empty(0),
                    )
                    continue
                self.gradient_norm_ = norm / first_norm
                yield Step(
                    number,
                    selected=features,
                    coef=coef,
                    criterion=value,
                    candidates=np.empty(0),
                )
                if self.gradient_norm_ <= tol or number == max_iter:
                    return
            if number == 0:
                self.gradient_norm_ = 0.0
                yield start_step

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        self.objective_ = steps[-1].criterion
        self.n_iter_ = len(steps)


@contextmanager
def top_one_cross_entropy(
    data: TrainingData, regularization: float
) -> Iterator[Objective]:
    """Provide ListNet's objective as a function of the weights (n,), for the time of a ``with`` block.

    The function returns the value of the objective and its gradient
    (n,), in O(mn). ``regularization`` is the factor of the penalty,
    half the squared length of the weights.
    """
    with data.session(StateWork(_ListNetState)) as session:

        def objective(coef: Floats) -> Waiting[tuple[float, Floats]]:
            """Return the cross entropy plus the penalty of the weights (n,), and the gradient (n,)."""
            # The sums over all shards of what `_ListNetState.step` returns.
            sums, slopes = yield from session.sum(coef, "comparing probabilities")
            (log_sum,) = sums  # Σ P_y ln P_w, the negative cross entropy
            value = 0.5 * regularization * float(coef @ coef) - float(log_sum)
            return value, slopes + regularization * coef

        yield objective


class _ListNetState:
    """The state of a shard: the top-one probabilities of its labels."""

    def __init__(self, data: QueryData, scratch: Scratch) -> None:
        from rankstudio.engine.arithmetic.linear_scores import Queries  # noqa: PLC0415 - numba

        self._queries = Queries(data.ptr)
        self._target = np.exp(_log_softmax(data.y, data.ptr))

    def step(self, data: QueryData, message: Floats) -> tuple[Floats, Floats]:
        """Return Σ P_y ln P_w over the documents of a shard, and a gradient (n,), at the weights ``message`` (n,).

        P_y and P_w are the probabilities of a document to be ranked
        first in its query, by the labels and by the scores. The sum has
        shape (1,). The gradient is that of the negative sum.
        """
        from rankstudio.engine.arithmetic.linear_scores import Linear, Queries  # noqa: PLC0415 - numba

        # There are threads if the time, 1.4 nanoseconds for each value
        # of X, is long enough.
        with pool(worthwhile(1.4 * data.X.size)) as (executor, workers):
            queries = (
                self._queries
                if executor is None
                else Queries(data.ptr, executor, workers)
            )

            # The scores are relative to that of the query's first
            # document, which changes no probability. So differences are
            # not lost to rounding where values are large, without a
            # centered copy of the features. ln P_w, while `_target` has
            # P_y.
            linear = Linear(data.X, queries)
            logs = _log_softmax(linear.scores(message), data.ptr)
            return np.array([self._target @ logs]), linear.weigh(
                np.exp(logs) - self._target
            )


def _log_softmax(values: Floats, ptr: Ints) -> Floats:
    """Return ln(exp(v_i) / sum_j exp(v_j)) for each value v_i.

    ``values`` (m,) has a number for each document. Query q has the
    documents ptr[q] to ptr[q + 1] -
    1. The sum is over the values v_j of the query
    of v_i. The result has the shape (m,).
    """
    sizes = np.diff(ptr)
    shifted = values - np.repeat(np.maximum.reduceat(values, ptr[:-1]), sizes)
    sums = np.add.reduceat(np.exp(shifted), ptr[:-1])
    out: Floats = shifted - np.repeat(np.log(sums), sizes)
    return out
