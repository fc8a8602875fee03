"""The rows of a cost against all pairs, listed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_list_oracles import LOSSES, listed_pairs
from strategies import Problem, problems
from wording import naming

from rankstudio.engine.arithmetic.pair_cost import class_rows as module
from rankstudio.engine.arithmetic.pair_cost.class_rows import class_rows
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows, query_factors
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.errors import DatasetError, OutOfMemoryError, ParameterError


@given(problems(), st.sampled_from(LOSSES))
def test_rows_have_the_products_of_all_pairs(
    problem: Problem, loss: tuple[str, bool, str]
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    rows, targets, ptr = class_rows(data.X, data.y, data.ptr, PairCost(*loss))
    assert (np.diff(ptr) >= 1).all()
    assert ptr[-1] == targets.size
    M, N, owners = listed_pairs(problem.y, problem.qid, *loss)
    queries = problem.qid[data.ptr[:-1]]
    for q, query in enumerate(queries):
        mine = owners == query
        expected = np.column_stack((M[mine] @ problem.X, N[mine]))
        both = np.column_stack((rows, targets))[ptr[q] : ptr[q + 1]]
        scale = 1e-11 * max(
            1.0, float(np.sum(expected**2)), float(np.sum(M[mine] ** 2))
        )
        np.testing.assert_allclose(
            both.T @ both, expected.T @ expected, rtol=1e-10, atol=scale
        )


@given(problems(), st.sampled_from(LOSSES))
def test_a_feature_that_no_pair_sees_is_zero_in_all_rows(
    problem: Problem, loss: tuple[str, bool, str]
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    constant = np.repeat(
        np.random.default_rng(0).random(data.ptr.size - 1), np.diff(data.ptr)
    )
    rows, _, _ = class_rows(constant[:, None], data.y, data.ptr, PairCost(*loss))
    assert (rows == 0).all()


@given(problems(), st.sampled_from(LOSSES))
def test_factors_of_queries_say_the_same_of_any_scores(
    problem: Problem, loss: tuple[str, bool, str]
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    M, N, owners = listed_pairs(problem.y, problem.qid, *loss)
    scores = problem.X[:, 0]
    for q, (factor, targets) in enumerate(query_factors(data, PairCost(*loss))):
        first, last = data.ptr[q : q + 2]
        assert factor.shape == (targets.size, last - first)
        mine = owners == problem.qid[first]
        expected = float(np.sum((N[mine] - M[mine] @ scores) ** 2))
        error = float(np.sum((targets - factor @ scores[first:last]) ** 2))
        assert error == pytest.approx(
            expected, rel=1e-8, abs=1e-11 * (1.0 + float(np.sum(N[mine] ** 2)))
        )


@given(problems(), st.sampled_from(LOSSES))
def test_mirrored_rows_are_centred_and_have_the_same_products(
    problem: Problem, loss: tuple[str, bool, str]
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    rows = PairRows.of(data, PairCost(*loss))
    if not isinstance(rows, PairRows):
        assert PairCost(*loss).default
        return
    mirrored = rows.mirrored
    scale = 1e-12 * (1.0 + float(np.sum(rows.X**2)) + float(np.sum(rows.y**2)))
    np.testing.assert_allclose(
        mirrored.statistics.gram, rows.statistics.gram, rtol=1e-9, atol=scale
    )


def test_the_default_cost_leaves_data_as_they_are() -> None:
    data = group(np.eye(3), np.arange(3.0), [1, 1, 2])
    assert PairRows.of(data, PairCost()) is data


def test_rows_are_made_once_for_all_regularizations() -> None:
    data = group(np.eye(3), np.arange(3.0), [1, 1, 2])
    assert PairRows.of(data, PairCost("unit", ties=False)) is PairRows.of(
        data, PairCost("unit", ties=False)
    )


def test_there_are_no_more_rows_than_documents_and_labels() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((1000, 2)), rng.integers(0, 3, 1000).astype(float)
    ptr = np.array([0, 1000])
    for loss in LOSSES:
        assert len(class_rows(X, y, ptr, PairCost(*loss))[0]) <= 1000 + 3 + 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("hinge",), "cost: expected magnitude, unit or inverse, got 'hinge'."),
        (
            ("unit", True),
            "ties: expected False with the cost unit, because only magnitude has ties, got True.",
        ),
        (("unit", False, "all"), "weighting: expected size, pairs or none, got 'all'."),
    ],
)
def test_costs_that_there_are_not_are_refused(
    arguments: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        PairCost(*arguments)  # type: ignore[arg-type]
    assert str(refused.value) == sentence


def test_labels_that_all_but_coincide_have_no_relative_difference() -> None:
    data = QueryData(np.eye(2), np.array([0.0, 1e-200]), np.array([0, 2]))
    with pytest.raises(
        DatasetError,
        match="differ by at least 1e-30 with the cost inverse, found two that",
    ):
        PairRows.of(data, PairCost("inverse", ties=False))


def test_weights_of_too_many_labels_are_refused_with_what_would_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module.memory, "available", lambda: 1e5)
    with pytest.raises(OutOfMemoryError) as refused:
        class_rows(
            np.ones((100, 1)),
            np.arange(100.0),
            np.array([0, 100]),
            PairCost("inverse", ties=False),
        )
    assert naming("inverse 100 0.3 MB 0.1 MB magnitude unit").search(str(refused.value))
