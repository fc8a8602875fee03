"""Floating search, groups and back-fitting by shards: the paths in memory, exact, and the same everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import leave_query_out_error
from sharded_problems import assert_same_bits, cut, elsewhere, problem, steps
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.execution.shard_executors import shard_executor
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.work import Note, WorkProgress

GROUPS = ((1, 5), (0, 3, 6))
OTHERS: dict[str, dict[str, Any]] = {
    "floating": {"search": "floating"},
    "floating, penalised": {
        "search": "floating",
        "size_penalty": 0.01,
        "algorithm": "statistics",
    },
    "swap": {"search": "swap"},
    "swap groups": {"groups": GROUPS, "search": "swap", "pinned": (8,)},
    "best": {"search": "best"},
    "best groups": {"groups": GROUPS, "search": "best", "size_penalty": 0.01},
    "best, other loss": {"search": "best", "weighting": "pairs", "cost": "unit"},
    "groups": {"groups": GROUPS, "pinned": (7,)},
    "floating groups": {"groups": GROUPS, "search": "floating"},
    "back-fitting": {"fitting": "back"},
    "some candidates": {"fitting": "back", "n_candidates": 3, "cost": "inverse"},
    "floating, other loss": {
        "search": "floating",
        "weighting": "pairs",
        "cost": "unit",
    },
}
EVERY = pytest.mark.parametrize("parameters", OTHERS.values(), ids=OTHERS)


def generic(n_queries: int = 36, n: int = 9, seed: int = 0) -> QueryData:
    """Features of which several belong together, so that floating search takes some out again."""
    rng = np.random.default_rng(seed)
    ptr = np.cumsum([0, *rng.integers(1, 9, n_queries)])
    X = rng.standard_normal((ptr[-1], n))
    y = X[:, 1] + X[:, 2] + X[:, 5] + 0.5 * rng.standard_normal(ptr[-1])
    X[:, 0] = X[:, 1] + X[:, 2] + X[:, 5] + 0.9 * rng.standard_normal(ptr[-1])
    return QueryData(X, np.round(y), ptr)


@EVERY
@settings(max_examples=4)
@given(documents=st.integers(1, 120), seed=st.integers(0, 4))
def test_paths_are_those_of_the_whole_array(
    parameters: dict[str, Any], documents: int, seed: int
) -> None:
    data = generic(seed=seed)
    method = GreedyRankRLS(5, 0.5, **parameters)
    whole, found = steps(method, data), steps(method, cut(data, documents))
    assert [step.selected for step in found] == [step.selected for step in whole]
    for one, other in zip(whole, found, strict=True):
        # Of some 160 documents with features about 1 and λ = 0.5: a condition below 1e4.
        np.testing.assert_allclose(other.coef, one.coef, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(other.criterion, one.criterion, rtol=1e-10)
        np.testing.assert_allclose(other.before, one.before, rtol=1e-10)
        np.testing.assert_allclose(other.candidates, one.candidates, rtol=1e-10)


@given(
    problems(fewest_queries=2),
    st.integers(1, 30),
    st.sampled_from(["floating", "forward", "swap", "best"]),
)
def test_criteria_are_those_of_retraining(
    problem: Problem, documents: int, search: str
) -> None:
    data, regularization = (
        group(problem.X, problem.y, problem.qid),
        problem.regularization,
    )
    n = problem.X.shape[1]
    groups = ((0, n - 1),) if n > 1 and search == "forward" else ()
    relative, absolute = tolerance(problem)
    method = GreedyRankRLS(None, regularization, search=search, groups=groups)
    for step in steps(method, cut(data, documents)):
        given = problem.X, problem.y, problem.qid, list(step.selected), regularization
        assert step.criterion == pytest.approx(
            leave_query_out_error(*given), rel=relative, abs=absolute
        )


@EVERY
def test_the_same_bits_in_memory_mapped_and_on_threads(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    data = generic()
    method = GreedyRankRLS(4, 0.5, **parameters)
    expected = steps(method, cut(data, 40))
    for other in elsewhere(data, 40, tmp_path):
        assert_same_bits(steps(method, other), expected)
    assert_same_bits(steps(method, cut(data, 1 << 16)), steps(method, data))
    told = list(method.work(cut(data, 40)))
    assert any(
        isinstance(one, WorkProgress) and not isinstance(one, Note) for one in told
    )


def test_the_same_bits_on_processes() -> None:
    data = generic()
    with on_processes(2) as processes:
        shards = replace(cut(data, 40), executor=shard_executor(processes))
        for parameters in OTHERS.values():
            method = GreedyRankRLS(4, 0.5, **parameters)
            assert_same_bits(steps(method, shards), steps(method, cut(data, 40)))


def test_matrices_are_made_once_for_all_regularizations() -> None:
    data = cut(generic(), 40)
    for number, regularization in enumerate((0.5, 2.0)):
        told = list(GreedyRankRLS(3, regularization, search="floating").work(data))
        first = [
            one
            for one in told
            if isinstance(one, WorkProgress) and "adding up" in one.what
        ]
        assert len(first) == (0 if number else len(data.shards))
        assert [len(step.selected) for step in told if isinstance(step, Step)] == [
            1,
            2,
            3,
        ]


def test_matrices_larger_than_the_documents_are_not_made(tmp_path: Path) -> None:
    data = problem(40, n=90)  # some six documents a query
    np.save(tmp_path / "X.npy", data.X)
    mapped = replace(cut(data, 40), X=np.load(tmp_path / "X.npy", mmap_mode="r"))
    method = GreedyRankRLS(2, search="floating")
    assert_same_bits(steps(method, mapped), steps(method, data))
    with (
        memory.within(1e4),
        pytest.raises(OutOfMemoryError, match="needs all documents at once"),
    ):
        steps(method, mapped)
