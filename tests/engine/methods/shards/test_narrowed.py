"""Ranking with selected features by shards: as the ranker on the array of these columns, everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from hypothesis import given
from hypothesis import strategies as st
from sharded_problems import (
    assert_same_bits,
    assert_same_everywhere,
    cut,
    elsewhere,
    problem,
    steps,
)

from rankstudio.engine import RankRLS, RankSVM
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.execution.shard_executors import shard_executor
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.two_stage import Columns, two_stage_steps
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.work import WorkProgress

KernelRankRLS = estimator_class("kernel-rankrls")

AdaRank = estimator_class("adarank")
ListNet = estimator_class("listnet")
SVMMAP = estimator_class("svm-map")
CoordinateAscent = estimator_class("coordinate-ascent")

GROWING: tuple[Columns, ...] = ((3,), (3, 0), (3, 0, 1))
APART: tuple[Columns, ...] = ((), (3, 0), (1, 2, 4))


class SelectedColumns(LinearRanker):
    """Ranks with some sets of features."""

    def __init__(self, ranker: LinearRanker, sets: tuple[Columns, ...]) -> None:
        self.ranker, self.sets = ranker, sets

    def work(self, data: Any) -> Iterator[Step | WorkProgress]:
        yield from two_stage_steps(self.ranker, data, self.sets)


RANKERS: list[LinearRanker] = [
    RankSVM(C=0.1, max_iter=5),
    AdaRank(n_rounds=4),
    ListNet(max_iter=4),
    CoordinateAscent(measure="MAP", n_restarts=1, max_iter=1),
    SVMMAP(max_iter=4),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_a_set_is_ranked_with_as_the_array_of_its_columns(
    ranker: LinearRanker, tmp_path: Path
) -> None:
    data = problem(60)
    found = steps(SelectedColumns(ranker, APART), cut(data, 40))
    for step, columns in zip(found[1:], APART[1:], strict=True):
        ascending = sorted(columns)
        alone = QueryData(np.ascontiguousarray(data.X[:, ascending]), data.y, data.ptr)
        last = steps(ranker, cut(alone, 40))[-1]
        assert np.array_equal(step.coef[ascending], last.coef)
        assert step.criterion == last.criterion
    assert_same_everywhere(SelectedColumns(ranker, APART), data, tmp_path)


@given(
    documents=st.integers(1, 90),
    seed=st.integers(0, 5),
    cost=st.sampled_from(["magnitude", "inverse"]),
)
def test_rankrls_cuts_its_sums_out_of_those_of_all_features(
    documents: int, seed: int, cost: str
) -> None:
    data = problem(seed=seed, rounded=False)
    ranker = RankRLS(0.5, cost=cost)
    for sets in (GROWING, APART):
        found = steps(SelectedColumns(ranker, sets), cut(data, documents))
        for step, columns in zip(found, sets, strict=True):
            assert step.selected == columns
            if columns:
                (whole,) = ranker.learn(data.narrowed(sorted(columns)))
                # λ = 0.5 bounds the condition of sums below 1e5 by 2e5.
                np.testing.assert_allclose(
                    step.coef[sorted(columns)], whole.coef, rtol=1e-9, atol=1e-9
                )
                assert step.criterion == pytest.approx(whole.criterion, rel=1e-9)


@pytest.mark.parametrize("sets", [GROWING, APART], ids=["growing", "apart"])
def test_rankrls_has_the_same_bits_everywhere(
    sets: tuple[Columns, ...], tmp_path: Path
) -> None:
    data = problem(60)
    assert_same_everywhere(SelectedColumns(RankRLS(0.5), sets), data, tmp_path)
    assert_same_bits(
        steps(SelectedColumns(RankRLS(0.5), sets), cut(data, 1 << 16).whole("It")),
        steps(SelectedColumns(RankRLS(0.5), sets), data),
    )


def test_rankrls_adds_up_products_once_for_all_sets_and_regularizations() -> None:
    data = cut(problem(60), 40)
    for number, sets in enumerate((GROWING, GROWING, APART)):
        told = list(two_stage_steps(RankRLS(2.0**number), data, sets))
        sums = [
            one
            for one in told
            if isinstance(one, WorkProgress) and "adding up" in one.what
        ]
        assert len(sums) == (0 if number else len(data.shards))


def test_processes_choose_the_columns_of_what_they_have() -> None:
    data = problem(60)
    with on_processes(2) as processes:
        shards = replace(cut(data, 40), executor=shard_executor(processes))
        for method in (
            SelectedColumns(RankSVM(C=0.1, max_iter=5), APART),
            SelectedColumns(RankRLS(0.5), GROWING),
            SelectedColumns(RankRLS(0.5), APART),
        ):
            assert_same_bits(steps(method, shards), steps(method, cut(data, 40)))


def test_some_columns_lie_where_all_do_and_are_copied_when_they_are_asked_for(
    tmp_path: Path,
) -> None:
    data = problem(60)
    for shards in elsewhere(data, 40, tmp_path):
        narrow = shards.narrowed((3, 0, 2)).narrowed((2, 0))
        assert in_file(narrow.X) == in_file(shards.X)
        assert narrow.columns == (2, 3)
        assert narrow.source is shards
        last = len(narrow.shards) - 1
        assert np.array_equal(
            narrow.shard(last).X, data.X[narrow.shards[last].rows][:, [2, 3]]
        )
        assert np.array_equal(narrow.whole("It").X, data.X[:, [2, 3]])


def test_a_ranker_that_looks_at_all_documents_needs_memory_for_the_selected_features_alone(
    tmp_path: Path,
) -> None:
    data = problem(60)
    np.save(tmp_path / "X.npy", data.X)
    mapped: TrainingData = replace(
        cut(data, 40), X=np.load(tmp_path / "X.npy", mmap_mode="r")
    )
    ranker = SelectedColumns(KernelRankRLS(), ((3,), (3, 0)))
    whole = steps(ranker, data)
    with memory.within(2.0 * mapped.X.nbytes / 5 * 2):
        with pytest.raises(OutOfMemoryError):
            mapped.whole("It")
        found = steps(ranker, mapped)
    rows = np.ascontiguousarray(data.X.T)
    for one, other in zip(found, whole, strict=True):
        assert np.array_equal(one.coef, other.coef)
        assert np.array_equal(one.scores(rows), other.scores(rows))
    with (
        memory.within(100.0),
        pytest.raises(OutOfMemoryError, match="Kernel RankRLS needs all documents"),
    ):
        steps(ranker, mapped)
