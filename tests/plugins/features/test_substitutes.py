from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.fold_context import FoldContext, group_training
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.statistics.clusters import clusters
from rankstudio.plugins.features import substitutes as module
from rankstudio.plugins.features.feature_profile import Inspector
from rankstudio.plugins.features.substitutes import (
    NO_SWAPS,
    NOT_SWAPPED,
    Substitutes,
    Swap,
    substitutes,
)


def make(n: int = 8, seed: int = 0) -> RankingDataset:
    rng = np.random.default_rng(seed)
    ptr = np.arange(0, 121, 6, dtype=np.int64)
    X = rng.normal(size=(120, n))
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=120)
    X[:, 2] = 0.05 * rng.normal(size=120) - X[:, 0]
    y = np.round(2.0 * X[:, 0] + X[:, 5] + 0.3 * rng.normal(size=120))
    return RankingDataset(
        X=X,
        y=y,
        query_ptr=ptr,
        query_ids=tuple(f"q{i}" for i in range(20)),
        feature_ids=np.arange(1, n + 1),
        feature_names=tuple(f"feature {i}" for i in range(1, n + 1)),
    )


def found(
    train: RankingDataset,
    k: int = 2,
    groups: ColumnGroups | None = None,
    **changes: object,
) -> Substitutes:
    if groups is not None:
        names = {
            str(at): tuple(c + 1 for c in one)
            for at, one in enumerate(groups.groups)
            if len(one) > 1
        }
        changes["groups"] = names
    plan = Plan(
        "sample",
        measures=("MAP",),
        **{"parameters": {"regularization": [4.0]}, **changes},
    )
    fold = Fold(1, train, None, None)
    training = group_training(fold)
    data = training.whole("It")
    path = FoldContext(plan, fold, training).path(Unit(1, 0, plan.combinations[0]))
    correlations = Inspector(train).correlations
    return substitutes(
        plan, path, k - 1, data, correlations, clusters(correlations), groups
    )


def error(
    train: RankingDataset, columns: list[int], regularization: float = 4.0
) -> float:
    """Return RankRLS's leave-query-out error per document."""
    if not columns:  # no model: each document has the score 0
        return (
            float((centre(train.y[:, None], train.query_ptr) ** 2).sum())
            / train.n_documents
        )
    model = RankRLS(regularization).fit(train.X[:, columns], train.y, qid=train.qid)
    return model.criterion_ / train.n_documents


def test_a_cluster_names_its_other_features_and_what_the_best_of_them_costs():
    train = make()
    result = found(train)
    first = result.groups[0]
    (selected,) = first.selected
    assert {selected, *first.others} == {0, 1, 2}
    swap = first.swaps[0]
    before = error(train, list(result.selected))
    costs = {
        added: error(train, [added if c == selected else c for c in result.selected])
        - before
        for added in first.others
    }
    assert swap.added == min(costs, key=lambda added: costs[added])
    assert swap.change == pytest.approx(costs[swap.added])
    pairs = np.abs(Inspector(train).correlations[np.ix_([0, 1, 2], [0, 1, 2])])
    assert first.least == pytest.approx(pairs.min())


def test_a_feature_that_is_alone_has_the_one_most_like_it():
    train = make()
    alone = next(group for group in found(train).groups if group.selected == (5,))
    assert alone.others == ()
    assert np.isnan(alone.least)
    row = np.abs(Inspector(train).correlations[5])
    row[list(found(train).selected)] = 0.0
    assert alone.swaps[0].added == int(row.argmax())


def with_constant(train: RankingDataset, column: int) -> RankingDataset:
    """Return data with a feature that is constant within every query."""
    X = train.X.copy()
    X[:, column] = np.repeat(np.arange(train.n_queries), np.diff(train.query_ptr))
    return replace(train, X=X)


def after(train: RankingDataset, selected: tuple[int, ...], swap: Swap) -> float:
    """Return the error of a selection after a change."""
    left = [swap.added if column == swap.removed else column for column in selected]
    return error(train, [column for column in left if column is not None])


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("pinned", [(7, 8), (1, 6, 8), (1, 2)])
def test_what_lowers_the_criterion_most_is_found(
    pinned: tuple[int, ...], constant: bool
) -> None:
    train = with_constant(make(), 3) if constant else make()
    result = found(
        train,
        k=len(pinned),
        parameters={"regularization": [4.0], "pinned": list(pinned)},
    )
    assert sorted(result.selected) == [feature - 1 for feature in pinned]
    before = error(train, list(result.selected))
    others = [column for column in range(8) if column not in result.selected]
    expected = {}
    for removed in result.selected:
        every = {
            one: after(train, result.selected, Swap(removed, one, 0.0, 0.0))
            for one in (None, *others)
        }
        if min(every.values()) < before - 1e-9:
            expected[removed] = min(every.values()) - before
    assert {swap.removed: swap.change for swap in result.better} == pytest.approx(
        expected
    )
    for swap in result.better:
        assert after(train, result.selected, swap) - before == pytest.approx(
            swap.change
        )
        assert swap.added != 3 or not constant, (
            "a constant feature would be no better than none"
        )


def test_leaving_out_is_found_where_every_other_feature_is_constant() -> None:
    train = make(n=6)
    for column in range(1, 6):
        train = with_constant(train, column)
    noise = replace(
        train,
        y=np.random.default_rng(9).integers(0, 3, train.n_documents).astype(float),
    )
    assert error(noise, []) < error(noise, [0])
    result = found(noise, k=1, parameters={"regularization": [4.0], "pinned": [1]})
    assert [(swap.removed, swap.added) for swap in result.better] == [(0, None)]
    assert [group.swaps for group in result.groups] == [()], (
        "nothing varies that could stand for it"
    )


def test_a_ranker_behind_a_selector_has_its_own_criterion():
    train = make()
    result = found(
        train,
        method="single-feature",
        parameters={"n_features_to_select": 3},
        ranker="rankrls",
        ranker_parameters={"regularization": [2.0]},
    )
    assert result.why_no_swaps == ""
    swap = result.groups[0].swaps[0]
    columns = [swap.added if c == swap.removed else c for c in result.selected]
    change = error(train, columns, 2.0) - error(train, list(result.selected), 2.0)
    assert swap.change == pytest.approx(change)


@pytest.mark.parametrize(
    "method", ["gas", "single-feature", "rfe", "fs-bfs", "expected-divergence"]
)
def test_a_filter_that_ranks_by_rankrls_has_exact_swaps(method):
    train = make()
    result = found(
        train,
        method=method,
        parameters={"n_features_to_select": 2, "regularization": [4.0]},
    )
    assert result.why_no_swaps == ""
    swap = result.groups[0].swaps[0]
    columns = [swap.added if c == swap.removed else c for c in result.selected]
    assert swap.change == pytest.approx(
        error(train, columns) - error(train, list(result.selected))
    )


def test_other_methods_say_why_they_have_no_changes():
    result = found(make(), k=1, method="fsmrank", parameters={})
    assert result.why_no_swaps == NO_SWAPS
    assert all(np.isnan(swap.change) for group in result.groups for swap in group.swaps)
    assert result.better == ()


def test_of_many_features_those_around_the_selection_are_shown():
    train = make(n=150)
    result = found(train)
    assert len(result.columns) == 60
    assert {0, 1, 2} <= set(result.columns)
    assert set(result.selected) <= set(result.columns)
    at = [result.columns.index(c) for c in (0, 1, 2)]
    assert max(at) - min(at) == 2, "the features of a cluster stand side by side"
    assert result.n_features == 150


def test_a_large_model_has_no_swaps_but_says_so(monkeypatch):
    monkeypatch.setattr(module, "_MAX_SWAP_SECONDS", 0.0)
    result = found(make())
    assert result.why_no_swaps == NOT_SWAPPED
    assert result.better == ()


def test_all_features_selected_leave_none_to_come_in():
    result = found(make(), k=8)
    assert set(result.selected) == set(range(8))
    assert all(group.swaps == () for group in result.groups)


def test_groups_are_swapped_as_a_whole_and_their_features_never_alone():
    train = make()
    groups = ColumnGroups.of(8, [(0, 3), (1, 2, 4), (6, 7)])
    result = found(train, groups=groups)
    selected = set(result.selected)
    before = error(train, sorted(selected))
    inside = [group for group in groups.groups if set(group) <= selected]
    outside = [group for group in groups.groups if not set(group) & selected]
    assert [swap.removed for swap in result.group_swaps] == [
        groups.groups[position] for position in groups.containing(result.selected)
    ]
    assert {swap.removed for swap in result.group_swaps} == set(inside)
    for swap in result.group_swaps:
        changes = {
            added: error(train, sorted(selected - set(swap.removed) | set(added)))
            - before
            for added in outside
            if len(added) > 1 or len(swap.removed) > 1
        }
        assert swap.change == pytest.approx(min(changes.values()))
        assert swap.change == pytest.approx(changes[swap.added])
    joint = {column for group in groups.groups if len(group) > 1 for column in group}
    alone = [swap for group in result.groups for swap in group.swaps] + list(
        result.better
    )
    assert not any({swap.removed, swap.added} & joint for swap in alone)


def test_swaps_are_by_the_cost_of_the_plan():
    train = make()
    result = found(
        train,
        parameters={"regularization": [4.0], "cost": "inverse", "weighting": "pairs"},
    )
    swap = result.groups[0].swaps[0]

    def loss(columns):
        model = RankRLS(4.0, cost="inverse", weighting="pairs").fit(
            train.X[:, columns], train.y, qid=train.qid
        )
        return model.criterion_ / train.n_documents

    columns = [swap.added if c == swap.removed else c for c in result.selected]
    assert swap.change == pytest.approx(loss(columns) - loss(list(result.selected)))


def test_all_pairs_over_queries_have_no_fast_swaps():
    parameters = {"regularization": [4.0], "pairs": "all"}
    assert (
        found(make(), 1, method="rankrls", parameters=parameters).why_no_swaps
        == NO_SWAPS
    )
