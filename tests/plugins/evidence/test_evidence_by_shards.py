"""The evidence for a selection from data by shards, in memory or mapped, against that from data in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem

from rankstudio.engine import (
    GAS,
    FSMRank,
    GreedyRankRLS,
    L1Path,
    RankRLS,
    SingleFeatureRanking,
)
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    gram_statistics,
)
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import (
    SummedRows,
    summed_rows,
)
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.memory import within
from rankstudio.engine.support.threads import at_most
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.best_subset import SubsetSpace, find_best_subset
from rankstudio.plugins.evidence.feature_losses import feature_losses, left_out_errors
from rankstudio.plugins.evidence.near_best_sets import find_near_best_sets
from rankstudio.plugins.evidence.repeated_left_out import left_out_steps
from rankstudio.plugins.evidence.selection_evidence import (
    PARTS,
    EvidenceOptions,
    _Evidence,
    evidence_steps,
)
from rankstudio.plugins.evidence.set_changes import changes_of
from rankstudio.plugins.evidence.shapley_shares import shapley_steps
from rankstudio.plugins.evidence.stability_selection import stability_steps
from rankstudio.plugins.evidence.step_significance import significance_steps

NOT_NUMBERS = {"seconds"}
"""Fields that no two computations share."""


def assert_same(one: Any, other: Any, name: str = "") -> None:
    """Compare two results field by field: numbers up to rounding in another order of sums."""
    assert type(one) is type(other), name
    if is_dataclass(one):
        for field in fields(one):
            if field.name not in NOT_NUMBERS:
                assert_same(
                    getattr(one, field.name), getattr(other, field.name), field.name
                )
    elif isinstance(one, Mapping):
        assert one.keys() == other.keys(), name
        for key in one:
            assert_same(one[key], other[key], name)
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), name
        for a, b in zip(one, other, strict=True):
            assert_same(a, b, name)
    elif isinstance(one, float | np.ndarray):
        # Sums of some hundred products, each rounded by eps, and differences of them.
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9, err_msg=name)
    else:
        assert one == other, name


def mapped(X: Floats, folder: Path) -> Floats:
    np.save(folder / "X.npy", X)
    found: Floats = np.load(folder / "X.npy", mmap_mode="r")
    return found


def cut(data: QueryData, documents: int = 12) -> TrainingData:
    there = TrainingData(data.X, data.y, data.ptr, documents=documents)
    assert there.several
    return there


def grouped(problem: Problem) -> QueryData:
    return group(problem.X, problem.y, problem.qid)


def wide(n_queries: int, n: int, documents: int) -> TrainingData:
    """Data of a shape, without documents to speak of."""
    nothing = np.broadcast_to(0.0, (2 * n_queries, n))
    ptr = np.arange(0, 2 * n_queries + 1, 2)
    return TrainingData(
        nothing, np.broadcast_to(0.0, 2 * n_queries), ptr, documents=documents
    )


def judged(seed: int = 0, n: int = 8) -> QueryData:
    X, y, qid = planted(seed)
    return group(X[:, :n], np.clip(np.round(y + 2), 0, 4), qid)


@given(untied(), st.integers(5, 20), st.sampled_from(["magnitude", "unit", "inverse"]))
def test_matrices_of_the_queries_are_those_of_their_rows(
    problem: Problem, documents: int, cost: str
) -> None:
    """Catches queries in the place of others, where shards begin inside a block, and another loss."""
    data, loss = grouped(problem), PairCost(cost, cost == "magnitude")
    expected = gram_statistics(summed_rows(training_data(data), loss))
    rows = summed_rows(
        TrainingData(data.X, data.y, data.ptr, documents=documents), loss
    )
    found = gram_statistics(rows)
    assert_same(found, expected)
    if isinstance(rows, SummedRows):
        with pytest.raises(TypeError, match="Gram"):
            _ = rows.centred
        narrow = summed_rows(training_data(data), loss).narrowed([1, 0])
        assert_same(gram_statistics(rows.narrowed([1, 0])), gram_statistics(narrow))


def test_matrices_beyond_the_memory_limit_are_in_a_file(tmp_path: Path) -> None:
    data = judged()
    there = TrainingData(mapped(data.X, tmp_path), data.y, data.ptr, documents=100)
    with within(10_000.0):
        found = gram_statistics(summed_rows(there, PairCost()))
    assert in_file(found.gram) and not in_file(found.total)
    assert_same(found, gram_statistics(data))
    assert not in_file(gram_statistics(summed_rows(cut(data), PairCost())).gram)


@given(untied(fewest_queries=7))
@pytest.mark.ability("queries")
def test_every_function_gives_the_numbers_of_data_in_memory(problem: Problem) -> None:
    """Catches a part of the documents, rows that are not there, and statistics of another loss."""
    paths_module = pytest.importorskip("rankstudio.plugins.queries.query_paths")
    query_paths = paths_module.query_paths
    data, n = grouped(problem), problem.X.shape[1]
    method = GreedyRankRLS(n, problem.regularization)
    space = SubsetSpace(n, problem.regularization)
    exchange = method.exact_exchange()
    assert exchange is not None
    results = [
        [
            finish(stability_steps(method, one, 3, 1)),
            finish(left_out_steps(method, one)),
            finish(significance_steps(method, one, 5, 1)),
            finish(shapley_steps(method, one)),
            changes_of(method, one, (0,)),
            [*find_best_subset(one, space)][-1].found,
            finish(find_near_best_sets(one, space)),
            query_paths(method, one, [0, 2, 3]).marked[-1].selected,
            left_out_errors(exchange, one, [(0, 1), ()]),
        ]
        for one in (data, cut(data))
    ]
    assert_same(*results)


def test_candidates_with_prices_are_tested_by_shards_too() -> None:
    """Steps whose candidates are drawn, or that have costs, are computed for each permutation anew."""
    data = judged(n=5)
    method = GreedyRankRLS(3, 2.0, costs=[1.0, 2.0, 1.0, 3.0, 1.0])
    found = [finish(significance_steps(method, one, 4, 2)) for one in (data, cut(data))]
    assert_same(*found)


@pytest.mark.parametrize("measure", ["", "MAP", "NDCG@5"])
@pytest.mark.parametrize(
    "judge", [RankRLS(2.0), RankRLS(2.0, cost="unit"), GreedyRankRLS(2, 2.0)], ids=repr
)
def test_losses_by_any_measure(judge: Any, measure: str) -> None:
    data, exchange = judged(), judge.exact_exchange()
    losses = [
        feature_losses(exchange, one, (2, 0, 5), measure)
        for one in (data, cut(data, 100))
    ]
    assert_same(*losses)


@pytest.mark.parametrize(
    "method",
    [
        GreedyRankRLS(regularization=2.0),
        GAS(3),
        L1Path(3),
        SingleFeatureRanking(3),
        FSMRank(tol=1e-4),
    ],
    ids=repr,
)
def test_all_evidence_of_a_mapped_file_within_little_memory(
    method: Any, tmp_path: Path
) -> None:
    """Catches a part that asks for all documents at once: the limit is less than these take."""
    data = judged()
    there = TrainingData(mapped(data.X, tmp_path), data.y, data.ptr, documents=100)
    judge = None if isinstance(method, GreedyRankRLS) else RankRLS(2.0)
    options = EvidenceOptions(
        n_features=3, n_halves=4, n_permutations=19, measure="MAP", judge=judge
    )
    expected = finish(evidence_steps(method, data, options))
    with within(0.5 * data.X.nbytes):
        found = finish(evidence_steps(method, there, options))
    assert_same(found, expected)
    assert found.done == (PARTS if judge is None else expected.done)
    assert "deciding" in found.done and "alternatives" in found.done


@pytest.mark.parametrize("documents", [100, None], ids=["shards", "memory"])
def test_all_evidence_is_the_same_on_any_number_of_threads(
    documents: int | None,
) -> None:
    """Catches halves, branches or permutations in the order in which threads finish."""
    found = []
    for threads in (1, 3):
        data = judged()  # anew: nothing is kept from before
        options = EvidenceOptions(
            n_features=3, n_steps=5, n_halves=6, n_permutations=19
        )
        with at_most(threads):
            rows = cut(data, documents) if documents else training_data(data)
            found.append(
                finish(evidence_steps(GreedyRankRLS(regularization=2.0), rows, options))
            )
    assert found[0].done == PARTS
    assert_same(*found)


@pytest.mark.parametrize(
    ("n_queries", "n", "documents", "sums", "repeated"),
    [
        (13_000, 136, 1000, True, True),
        # each path without a query copies from all others
        (14_000, 136, 1000, True, False),
        (14_000, 136, 10**6, False, False),  # in memory, whatever its limit
        (100_000, 136, 1000, True, False),
        (20_000, 700, 1000, False, False),
    ],
)
def test_how_many_products_are_kept(
    n_queries: int, n: int, documents: int, sums: bool, repeated: bool
) -> None:
    """The sizes that the guide names."""
    data = wide(n_queries, n, documents)
    options = EvidenceOptions(n_features=2, selected=(0, 1))
    parts = _Evidence(GreedyRankRLS(), data, options, None, None).parts
    wanted = {"deciding", "significance"} if sums else set()
    assert set(parts) & {"deciding", "significance", "repeated"} == wanted | (
        {"repeated"} if repeated else set()
    )
    assert ("best" in parts) is (sums or not data.several)
