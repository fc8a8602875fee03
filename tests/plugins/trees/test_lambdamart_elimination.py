"""Elimination with LambdaMART against a loop that grows the trees again, and LambdaMART alone."""

from __future__ import annotations

from itertools import pairwise

import lightgbm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordering import ranking_problem

from rankstudio.engine import LambdaMART, LambdaMARTElimination, LambdaMARTTop
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.elimination import eliminate
from rankstudio.engine.methods.two_stage import Narrowed
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

QUICK = {"n_rounds": 5, "min_data_in_leaf": 2, "num_leaves": 5}
KINDS = pytest.mark.parametrize("importance", ["gain", "split"])


def importances(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, importance: str
) -> np.ndarray:
    """Return the importances of features, as LightGBM alone gives them."""
    parameters = LambdaMART(**QUICK)._parameters()
    sizes = np.unique(qid, return_counts=True)[1]
    documents = lightgbm.Dataset(X, label=y, group=sizes, params=parameters)
    # A booster that goes through its text would round the gains.
    model = lightgbm.train(
        parameters,
        documents,
        num_boost_round=QUICK["n_rounds"],
        keep_training_booster=True,
    )
    return np.asarray(model.feature_importance(importance), dtype=float)


def slow_elimination(
    data: tuple[np.ndarray, ...], importance: str, share: float
) -> list[int]:
    X, y, qid = data
    remaining_columns, dropped = list(range(X.shape[1])), list[int]()
    while len(remaining_columns) > 1:
        scores = importances(X[:, remaining_columns], y, qid, importance).tolist()
        worst_first = sorted(
            range(len(remaining_columns)), key=lambda i: (scores[i], -i)
        )
        n_dropped = min(
            max(1, int(share * len(remaining_columns))), len(remaining_columns) - 1
        )
        worst = [remaining_columns[i] for i in worst_first[:n_dropped]]
        dropped += worst
        remaining_columns = [j for j in remaining_columns if j not in worst]
    return [*remaining_columns, *dropped[::-1]]


@pytest.mark.parametrize("share", [None, 0.34, 0.6, 1.0])
@KINDS
def test_the_path_is_that_of_growing_again(
    importance: str, share: float | None
) -> None:
    for seed in range(3):
        data = ranking_problem(seed)
        method = LambdaMARTElimination(
            importance=importance, dropped_share=share, **QUICK
        )
        X, y, qid = data
        expected = slow_elimination(data, importance, share or 0.0)
        fitted = method.fit(X, y, qid=qid)
        assert fitted.selection_order_.tolist() == expected
        assert fitted.ranking_[expected].tolist() == list(range(1, len(expected) + 1))


@pytest.mark.parametrize("share", [None, 0.6])
def test_every_size_is_lambdamart_of_the_first_features(share: float | None) -> None:
    X, y, qid = ranking_problem(2)
    method = LambdaMARTElimination(4, dropped_share=share, **QUICK)
    steps = list(method.steps(X, y, qid=qid))
    assert [step.number for step in steps] == [1, 2, 3, 4]
    documents = np.ascontiguousarray(X.T)
    for step in steps:
        assert isinstance(step, Narrowed)
        first = sorted(step.selected)
        single_model = LambdaMART(**QUICK).fit(X[:, first], y, qid=qid)
        np.testing.assert_array_equal(
            step.scores(documents), single_model.predict(X[:, first])
        )
        np.testing.assert_array_equal(step.coef[first], single_model.coef_)
    fitted = method.fit(X, y, qid=qid)
    np.testing.assert_array_equal(fitted.predict(X), steps[-1].scores(documents))


@KINDS
def test_the_dropped_one_is_the_least_of_those_that_were_compared(
    importance: str,
) -> None:
    X, y, qid = ranking_problem(1)
    method = LambdaMARTElimination(importance=importance, **QUICK)
    steps = list(method.steps(X, y, qid=qid))
    assert np.isnan(steps[0].candidates).all()
    for step in steps[1:]:
        columns = sorted(step.selected)
        expected = importances(X[:, columns], y, qid, importance)
        np.testing.assert_array_equal(step.candidates[columns], expected)
        assert step.candidates[step.selected[-1]] == expected.min()


@KINDS
def test_dropping_all_at_once_is_the_order_of_one_model(importance: str) -> None:
    for seed in range(3):
        X, y, qid = ranking_problem(seed)
        once = LambdaMARTElimination(importance=importance, dropped_share=1.0, **QUICK)
        top = LambdaMARTTop(importance=importance, **QUICK).fit(X, y, qid=qid)
        order = once.fit(X, y, qid=qid).selection_order_.tolist()
        used = top.selection_order_.tolist()
        assert order[: len(used)] == used
        assert order[len(used) :] == sorted(set(range(X.shape[1])) - set(used))


def test_the_first_features_go_by_the_number_of_splits() -> None:
    for seed in range(3):
        X, y, qid = ranking_problem(seed)
        counts = importances(X, y, qid, "split")
        expected = [j for j in np.argsort(-counts, kind="stable") if counts[j] > 0]
        fitted = LambdaMARTTop(importance="split", **QUICK).fit(X, y, qid=qid)
        assert fitted.selection_order_.tolist() == expected
        np.testing.assert_array_equal(fitted.importances_, counts)
        gains = importances(X, y, qid, "gain")
        np.testing.assert_array_equal(fitted.gains_, gains)


def test_without_a_split_the_columns_keep_their_order() -> None:
    X, _, qid = ranking_problem(2)
    fitted = LambdaMARTElimination(**QUICK).fit(X, np.zeros(len(qid)), qid=qid)
    assert fitted.selection_order_.tolist() == list(range(X.shape[1]))
    assert np.ptp(fitted.predict(X)) == 0
    single_model = LambdaMARTElimination(**QUICK).fit(X[:, :1], qid % 2, qid=qid)
    assert single_model.selection_order_.tolist() == [0]


def test_wrong_parameters_are_refused_before_the_trees_grow() -> None:
    data = group(*ranking_problem(2))
    for wrong in (
        {"dropped_share": 0.0},
        {"dropped_share": 1.5},
        {"dropped_share": np.nan},
        {"importance": "weight"},
        {"n_features_to_select": 0},
        {"num_leaves": 1},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            next(LambdaMARTElimination(**{**QUICK, **wrong}).work(data))
    event = next(LambdaMARTElimination(**QUICK).work(data))
    assert isinstance(event, WorkProgress) and event.what == "eliminating features"


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=9),
    st.floats(0.0, 1.0),
    st.integers(1, 9),
)
def test_rounds_drop_the_least_of_what_is_left(
    values: list[int], share: float, k: int
) -> None:
    """Importances that do not change give the same order in one round and in many."""
    requests = []

    def fixed(columns: np.ndarray) -> Waiting[np.ndarray]:
        yield from ()
        requests.append(columns.size)
        return np.array(values, dtype=float)[columns]

    n = len(values)
    order, compared = finish(
        eliminate(fixed, np.arange(n), n, min(k, n), tie=0.0, share=share)
    )
    assert order.tolist() == sorted(range(n), key=lambda j: (-values[j], j))
    sizes = [*requests, 1] if n > 1 else [1]
    for size, next_size in pairwise(sizes):
        assert size - next_size == min(max(1, int(share * size)), size - 1)
    for position, row in enumerate(compared[1:], start=1):
        expected = np.full(n, np.nan)
        selected_columns = order[: position + 1]
        expected[selected_columns] = np.array(values)[selected_columns]
        np.testing.assert_array_equal(row, expected)
