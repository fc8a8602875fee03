"""The greedy path by shards: that of the whole array, exact, and of the same bits wherever the shards lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import leave_query_out_error
from sharded_problems import (
    assert_same_bits,
    assert_same_everywhere,
    cut,
    error_bound,
    weights_bound,
)
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.selection.greedy_rankrls import forward_path
from rankstudio.engine.methods.shards.training_data import InProcess, TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.engine.support.work import WorkProgress

ALGORITHMS = ["statistics", "rows"]
DELAYS = [0, 1, 2, 5, 16]
"""Steps that shards keep before matrices follow; 0 where systems are solved."""


def path(
    data: Any, k: int | None = None, regularization: float = 1.0, **parameters: Any
) -> list[Step]:
    told = GreedyRankRLS(k, regularization, **parameters).work(data)
    return [step for step in told if isinstance(step, Step)]


@contextmanager
def delayed(delay: int) -> Iterator[None]:
    """Have shards keep so many steps, whatever the shape of the data."""
    with patch.object(
        forward_path,
        "delay",
        lambda n, k, whole: min(delay, k) if whole or not delay else k,
    ):
        yield


def generic(n_queries: int = 150, n: int = 12, seed: int = 0) -> QueryData:
    """Queries of 1 to 19 documents, a constant feature, two equal ones, and no ties beside them."""
    rng = np.random.default_rng(seed)
    ptr = np.cumsum([0, *rng.integers(1, 20, n_queries)])
    X = rng.standard_normal((ptr[-1], n)) + 100.0
    X[:, 4], X[:, 9] = 0.3, X[:, 6]
    y = np.round(
        X[:, 1] + 0.5 * X[:, 6] + 0.3 * X[:, 7] + 0.5 * rng.standard_normal(ptr[-1])
    )
    return QueryData(X, y, ptr)


@given(
    problems(fewest_queries=2),
    st.integers(1, 30),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(DELAYS),
)
def test_criteria_are_those_of_retraining(
    problem: Problem, documents: int, algorithm: str, delay: int
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    relative, absolute = tolerance(problem)
    with delayed(delay):
        steps = path(
            cut(data, documents),
            regularization=problem.regularization,
            algorithm=algorithm,
        )
    for step in steps:
        expected = leave_query_out_error(
            problem.X,
            problem.y,
            problem.qid,
            list(step.selected),
            problem.regularization,
        )
        assert step.criterion == pytest.approx(expected, rel=relative, abs=absolute)
        assert step.candidates[step.selected[-1]] == pytest.approx(
            expected, rel=relative, abs=absolute
        )


@given(problems(fewest_queries=2), st.integers(1, 30), st.sampled_from(ALGORITHMS))
def test_steps_are_those_of_the_whole_array(
    problem: Problem, documents: int, algorithm: str
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    relative, absolute = tolerance(problem)
    whole = path(data, regularization=problem.regularization)
    # Pinned, so that features that tie but for rounding come in the same order.
    known = {"pinned": whole[-1].selected, "regularization": problem.regularization}
    for step, expected in zip(
        path(cut(data, documents), algorithm=algorithm, **known),
        path(data, **known),
        strict=True,
    ):
        within = {"rtol": 2 * relative, "atol": 2 * absolute}
        np.testing.assert_allclose(step.candidates, expected.candidates, **within)
        np.testing.assert_allclose(
            [step.criterion, step.before],
            [expected.criterion, expected.before],
            **within,
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("parameters", "delay", "documents"),
    [
        ({}, 0, 300),
        ({}, 1, 300),
        ({}, 16, 1),
        ({"k": 4, "n_candidates": 3, "seed": 5}, 2, 300),
        ({"pinned": (5, 4), "banned": (1,)}, 16, 300),
        ({"costs": np.arange(1.0, 13.0), "budget": 20.0}, 5, 300),
        ({"size_penalty": 1e-3, "regularization": 1e-3}, 2, 1),
    ],
    ids=str,
)
def test_features_are_those_of_the_whole_array(
    algorithm: str, documents: int, parameters: dict[str, Any], delay: int
) -> None:
    whole, data = path(generic(), **parameters), cut(generic(), documents)
    with delayed(delay):
        steps = path(data, algorithm=algorithm, **parameters)
    assert [step.selected for step in steps] == [step.selected for step in whole]
    rows, w = generic().centred, whole[-1].coef
    off = weights_bound(rows, parameters.get("regularization", 1.0), w)
    assert float(np.linalg.norm(steps[-1].coef - w)) <= off
    assert (
        steps[-1].selected[-1] == 4
        or 4 not in steps[-1].selected
        or "pinned" in parameters
    )


@pytest.mark.parametrize(
    "loss",
    [{"cost": "unit"}, {"cost": "inverse", "weighting": "pairs"}, {"ties": False}],
    ids=str,
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_losses_of_pairs_are_sums_over_shards_too(
    algorithm: str, loss: dict[str, Any]
) -> None:
    whole, steps = (
        path(generic(), **loss),
        path(cut(generic(), 100), algorithm=algorithm, **loss),
    )
    assert [step.selected for step in steps] == [step.selected for step in whole]
    method = GreedyRankRLS(**loss)
    rows = PairRows.of(generic(), method.pair_cost()).centred
    for step, other in zip(steps, whole, strict=True):
        assert abs(step.criterion - other.criterion) <= error_bound(
            rows, 1.0, other.criterion
        )


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_memory_disk_and_threads_give_the_same_bits(
    algorithm: str, delay: int, tmp_path: Path
) -> None:
    with delayed(delay):
        assert_same_everywhere(
            GreedyRankRLS(algorithm=algorithm), generic(60), tmp_path, 40
        )


@pytest.mark.parametrize(
    ("k", "whole", "delay"), [(67, True, 0), (68, True, 16), (136, False, 136)]
)
def test_systems_are_solved_where_few_features_are_selected(
    k: int, whole: bool, delay: int
) -> None:
    assert forward_path.delay(136, k, whole) == delay


def test_what_one_setting_found_out_gives_another_the_same_bits() -> None:
    data, fresh = cut(generic(), 90), cut(generic(), 90)
    data = replace(data, executor=InProcess(lambda: 1e5))
    path(data, regularization=0.25)
    assert_same_bits(path(data, regularization=4.0), path(fresh, regularization=4.0))


def test_data_of_several_shards_are_learned_from_by_shards() -> None:
    data = generic(7500)
    assert data.y.size > DOCUMENTS
    assert_same_bits(path(data, 4), path(TrainingData(data.X, data.y, data.ptr), 4))


def test_shards_give_signs_of_life_and_steps_one_by_one() -> None:
    data = cut(generic(), 90)
    told = list(GreedyRankRLS(3).work(data))
    places = [place for place, value in enumerate(told) if isinstance(value, Step)]
    count = len(data.shards)
    # The totals and the first comparison, then one round a step.
    assert places == [3 * count, 4 * count + 1, 5 * count + 2]
    assert all(isinstance(value, WorkProgress) for value in told[: 3 * count])


@pytest.mark.parametrize(
    "parameters",
    [
        {"algorithm": "columns"},
        {"algorithm": "algorithm1"},
        {"search": "floating", "algorithm": "columns"},
    ],
    ids=str,
)
def test_what_needs_all_documents_at_once_has_them_where_they_fit(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    data = generic()
    whole = path(data, 5, **parameters)
    assert_same_bits(path(cut(data, 90), 5, **parameters), whole)
    np.save(tmp_path / "X.npy", data.X)
    mapped = QueryData(np.load(tmp_path / "X.npy", mmap_mode="r"), data.y, data.ptr)
    assert_same_bits(path(cut(mapped, 90), 5, **parameters), whole)
    with (
        memory.within(1e5),
        pytest.raises(OutOfMemoryError, match=r"limit is 0\.1 MB"),
    ):
        path(cut(mapped, 90), 5, **parameters)
