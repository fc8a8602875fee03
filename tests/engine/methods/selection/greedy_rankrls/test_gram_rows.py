"""What one shard keeps for all λ: statistics of its queries, and rows of their Gram matrices."""

import numpy as np
import pytest
from hypothesis import given
from strategies import Problem, problems

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.methods.selection.greedy_rankrls import forward_path
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    GreedyWork,
    KnownStatistics,
    Select,
    Start,
    Statistics,
    TotalRow,
    Totals,
    gram_statistics,
    statistics_of,
)
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.steps import Step


def scratch() -> Scratch:
    return Scratch(Room(lambda: 1e9))


def without_matrices(data: QueryData, by_blocks: bool) -> Statistics:
    return statistics_of(data, PairCost(), "none", by_blocks, scratch())


def random_data() -> QueryData:
    """75 queries of 1 to 12 documents, which fill two blocks and a part of a third."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 13, 75)
    X = rng.random((sizes.sum(), 9))
    X[:, 4] = 1.0
    data = group(
        X,
        np.round(3 * X[:, 2] + rng.random(sizes.sum())),
        np.repeat(np.arange(75), sizes),
    )
    return QueryData(data.X, data.y, data.ptr)


@given(problems())
def test_statistics_and_computed_rows_are_those_of_whole_matrices(
    problem: Problem,
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    n, whole = data.X.shape[1], gram_statistics(data)
    within = {"rtol": 1e-12, "atol": 1e-13 * float(np.abs(whole.gram).max())}
    for by_blocks in (False, True):
        fresh = QueryData(data.X, data.y, data.ptr)
        computed = without_matrices(fresh, by_blocks)
        for one, other in zip(
            computed.query_products, whole.query_products, strict=True
        ):
            np.testing.assert_allclose(one, other, **within)
        for ends in (np.diagonal, lambda total: total[n]):
            np.testing.assert_allclose(
                ends(computed.total), ends(whole.total), **within
            )
        state = GreedyWork(1.0, n, False, PairCost(), by_blocks).begin(fresh, scratch())
        for feature in range(n):
            (row,) = state.step(fresh, TotalRow(feature))
            np.testing.assert_allclose(row, whole.total[feature, :n], **within)
            assert (feature in computed.rows) is not by_blocks


def test_queries_that_fill_the_last_block_up_count_nothing() -> None:
    data = random_data()
    empty = -(-75 // BLOCK) * BLOCK - 75
    assert empty > 0
    for statistics in (gram_statistics(data), without_matrices(data, False)):
        for array in statistics.query_products:
            assert (array[-1, ..., -empty:] == 0).all()
    assert (gram_statistics(data).gram[-1, ..., -empty:] == 0).all()


@pytest.mark.parametrize("kept", [0, 2, 9])
def test_paths_have_the_same_bits_however_many_rows_are_kept(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward_path, "KEPT_ROWS", kept * 8 * 3 * BLOCK * 9 + 1.0)
    data = random_data()
    for regularization in (1.0, 64.0, 0.125, 1.0):
        method = GreedyRankRLS(
            n_features_to_select=5, regularization=regularization, algorithm="rows"
        )
        for shared, alone in zip(
            method.work(data), method.work(random_data()), strict=True
        ):
            assert isinstance(shared, Step)
            assert isinstance(alone, Step)
            assert shared.selected == alone.selected
            assert shared.criterion == alone.criterion
            assert (shared.coef == alone.coef).all()
            np.testing.assert_array_equal(shared.candidates, alone.candidates)
    (known,) = data.shared.of(KnownStatistics).by_layout.values()
    assert len(known.rows) <= kept
    assert bool(known.rows) is (kept > 0)


def test_a_row_is_computed_once_for_all_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    data, asked = random_data(), []
    compute = forward_path.products

    def products(*arguments):  # type: ignore[no-untyped-def]
        asked.append(arguments[2])
        compute(*arguments)

    monkeypatch.setattr(forward_path, "products", products)
    for regularization in (0.5, 2.0, 8.0):
        list(
            GreedyRankRLS(2, regularization, pinned=(2, 5), algorithm="rows").work(data)
        )
    assert asked == [2, 2, 2, 5, 5, 5]  # three blocks each


def test_other_labels_share_the_matrices_of_the_features() -> None:
    data, rng = random_data(), np.random.default_rng(0)
    shuffled = np.concatenate(
        [rng.permutation(part) for part in np.split(data.y, data.ptr[1:-1])]
    )
    other = QueryData(data.X, shuffled, data.ptr)
    known = gram_statistics(data).relabelled(
        data.centred[0], other.centred[1][:, None], data.ptr
    )
    expected = gram_statistics(other)
    for one, two in zip(known.query_products, expected.query_products, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(known.total, expected.total, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("by_blocks", [False, True])
def test_matrices_query_by_query_and_in_blocks_give_the_same_criteria_to_the_last_bit(
    by_blocks: bool,
) -> None:
    """75 queries fill two blocks and a part of a third."""
    data = random_data()
    work = GreedyWork(1.0, 4, True, PairCost(), by_blocks)

    def criteria(has_blocks: bool) -> list[bytes]:
        fresh = QueryData(data.X, data.y, data.ptr)
        if has_blocks:
            statistics_of(fresh, PairCost(), "blocks", by_blocks, scratch())
        state = work.begin(fresh, scratch())
        layouts = {layout for layout, _ in fresh.shared.of(KnownStatistics).by_layout}
        assert layouts == ({"blocks"} if has_blocks else {"queries"})
        (total,) = state.step(fresh, Totals())
        answers = [state.step(fresh, Start.of(total))]
        answers += [
            state.step(fresh, Select(feature, total[feature, :-1]))
            for feature in (2, 7, 0, 5)
        ]
        return [array.tobytes() for answer in answers for array in answer]

    assert criteria(has_blocks=True) == criteria(has_blocks=False)
