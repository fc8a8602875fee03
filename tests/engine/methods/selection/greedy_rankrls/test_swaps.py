import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstudio.engine.arithmetic.query_data import QueryData, centre
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import swap_criteria


def make(seed: int, n: int, queries: int) -> QueryData:
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(rng.integers(1, 9, size=queries)))).astype(np.int64)
    X = rng.normal(size=(int(ptr[-1]), n))
    X[:, 0] = X[:, -1] * 2.0  # one feature twice
    return QueryData(X, rng.integers(0, 3, size=int(ptr[-1])).astype(np.float64), ptr)


def retrained(data: QueryData, regularization: float, columns: list[int]) -> float:
    """Learn RankRLS without each query in turn, and sum the squared errors on it."""
    error = 0.0
    if not columns:  # no model: each document has the score 0
        return float((centre(data.y[:, None], data.ptr) ** 2).sum())
    X, y = centre(data.X[:, columns], data.ptr), centre(data.y[:, None], data.ptr)[:, 0]
    qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    for q in np.unique(qid):
        out = qid == q
        model = RankRLS(regularization).fit(data.X[~out][:, columns], data.y[~out], qid=qid[~out])
        error += float(((y[out] - X[out] @ model.coef_) ** 2).sum())
    return error


@settings(max_examples=max(settings().max_examples // 3, 5))
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.01, 1.0, 64.0]))
def test_every_swap_has_the_criterion_of_the_model_trained_anew(seed, k, regularization):
    data = make(seed, 7, 6)
    order = np.random.default_rng(seed + 1).permutation(7).tolist()
    selected, candidates = tuple(order[:k]), np.array(sorted(order[k:]))
    criterion, swapped, without, beside = swap_criteria(data, regularization, selected, candidates)
    assert criterion == pytest.approx(retrained(data, regularization, list(selected)))
    for place in range(k):
        rest = [*selected[:place], *selected[place + 1 :]]
        assert without[place] == pytest.approx(retrained(data, regularization, rest))
        for column, added in enumerate(candidates.tolist()):
            left = [*selected[:place], added, *selected[place + 1 :]]
            assert swapped[place, column] == pytest.approx(retrained(data, regularization, left))
    for column, added in enumerate(candidates.tolist()):
        assert beside[column] == pytest.approx(retrained(data, regularization, [*selected, added]))
