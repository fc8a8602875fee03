"""Groups of features: against retraining with every group that could be added, and against no groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import leave_query_out_error
from scipy.sparse import csr_matrix
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.query_data import group as by_query
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import GroupSearch
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import on_demand_search

Groups = tuple[tuple[int, ...], ...]


@st.composite
def problems_with_groups(draw: st.DrawFn) -> tuple[Problem, Groups]:
    """A problem, its features dealt to groups of any size, some of which are not named."""
    problem = draw(problems(most_features=7, fewest_queries=2))
    n = problem.X.shape[1]
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    order = draw(st.permutations(range(n)))
    found = [
        tuple(j for j in order if labels[j] == label)
        for label in sorted(set(labels) - {3})
    ]
    return problem, tuple(found)


def every_group(n: int, groups: Groups) -> list[tuple[int, ...]]:
    """Return the groups with the features that are in none."""
    inside = {j for group in groups for j in group}
    return sorted(
        [
            *(tuple(sorted(g)) for g in groups),
            *((j,) for j in range(n) if j not in inside),
        ]
    )


@given(problems_with_groups(), st.sampled_from(["statistics", "columns"]))
def test_each_step_is_the_best_union_of_retrained_models(
    given_problem: tuple[Problem, Groups], algorithm: str
) -> None:
    problem, groups = given_problem
    X, y, qid, regularization = problem
    relative, absolute = tolerance(problem)
    left = every_group(X.shape[1], groups)
    method = GreedyRankRLS(
        regularization=regularization, groups=groups, algorithm=algorithm
    )
    before: tuple[int, ...] = ()
    for step in method.steps(X, y, qid=qid):
        new = tuple(sorted(step.selected[len(before) :]))
        assert step.selected[: len(before)] == before
        assert new in left
        errors = {
            group: leave_query_out_error(X, y, qid, [*before, *group], regularization)
            for group in left
        }
        for group, error in errors.items():
            seen = step.candidates[list(group)]
            if not np.isnan(seen).any():  # what cannot change a ranking comes last
                np.testing.assert_allclose(seen, error, rtol=relative, atol=absolute)
        compared = {
            g: e for g, e in errors.items() if not np.isnan(step.candidates[g[0]])
        }
        assert errors[new] <= min(compared.values()) * (1 + relative) + absolute
        assert step.criterion == pytest.approx(errors[new], rel=relative, abs=absolute)
        left.remove(new)
        before = step.selected
    assert left == []


@given(
    problems(fewest_queries=2), st.sampled_from(["forward", "floating", "swap", "best"])
)
def test_groups_of_one_feature_change_no_bit(
    given_problem: Problem, search: str
) -> None:
    X, y, qid, regularization = given_problem
    alone = tuple((j,) for j in reversed(range(X.shape[1])))
    plain, grouped = (
        list(
            GreedyRankRLS(
                regularization=regularization, search=search, groups=groups
            ).steps(X, y, qid=qid)
        )
        for groups in ((), alone)
    )
    assert [step.selected for step in grouped] == [step.selected for step in plain]
    for step, other in zip(plain, grouped, strict=True):
        assert step.criterion == other.criterion
        assert (step.coef == other.coef).all()
        np.testing.assert_array_equal(step.candidates, other.candidates)


def problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """40 queries of 5 documents with 8 features; every feature tells something."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((200, 4))
    X = hidden @ rng.random((4, 8)) + 0.3 * rng.random((200, 8))
    y = np.round(
        3 * hidden[:, 0] + 2 * hidden[:, 1] - hidden[:, 2] + 0.5 * rng.normal(size=200)
    )
    return X, y, np.repeat(np.arange(40), 5)


GROUPS: Groups = ((6, 1), (2, 3, 7))


def test_sparse_features_give_the_same_path() -> None:
    X, y, qid = problem()
    X[X < 0.4] = 0.0
    dense, sparse = (
        GreedyRankRLS(groups=GROUPS).fit(form, y, qid=qid)
        for form in (X, csr_matrix(X))
    )
    assert sparse.selection_order_.tolist() == dense.selection_order_.tolist()
    np.testing.assert_allclose(sparse.criterion_path_, dense.criterion_path_, rtol=1e-9)


def test_size_counts_groups_and_a_group_is_pinned_or_banned_as_a_whole() -> None:
    X, y, qid = problem()
    method = GreedyRankRLS(3, groups=GROUPS, pinned=(7, 0), banned=(6,))
    steps = list(method.steps(X, y, qid=qid))
    assert [step.number for step in steps] == [1, 2, 3]
    assert steps[0].selected == (2, 3, 7)
    assert steps[1].selected == (2, 3, 7, 0)
    assert not {1, 6} & set(steps[2].selected)
    assert GreedyRankRLS(groups=GROUPS, banned=(6,)).n_steps(8) == 4
    with pytest.raises(ParameterError, match=r"features that are not pinned \(3 is\)"):
        GreedyRankRLS(groups=GROUPS, pinned=(7,), banned=(3,)).fit(X, y, qid=qid)
    with pytest.raises(ParameterError, match="from 1 to 5"):
        GreedyRankRLS(6, groups=GROUPS).fit(X, y, qid=qid)


def test_a_group_costs_what_its_features_cost_together() -> None:
    X, y, qid = problem(1)
    costs = np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 3.0])
    steps = list(
        GreedyRankRLS(groups=GROUPS, costs=costs, budget=7.0).steps(X, y, qid=qid)
    )
    left, spent, before, selected = every_group(8, GROUPS), 0.0, steps[0].before, []
    for step in steps:
        fits = [g for g in left if spent + costs[list(g)].sum() <= 7.0]
        gains = {
            g: before - leave_query_out_error(X, y, qid, [*selected, *g], 1.0)
            for g in fits
        }
        best = max(fits, key=lambda g: gains[g] / costs[list(g)].sum())
        if gains[best] <= 0:
            break
        selected += best
        assert list(step.selected) == selected
        spent, before = spent + costs[list(best)].sum(), before - gains[best]
        left.remove(best)
    assert len(selected) > 3


def test_floating_search_moves_groups_and_is_no_worse_at_any_size() -> None:
    improved = 0
    for seed in range(12):
        X, y, qid = problem(seed)
        forward = list(GreedyRankRLS(groups=GROUPS).steps(X, y, qid=qid))
        floating = list(
            GreedyRankRLS(groups=GROUPS, search="floating").steps(X, y, qid=qid)
        )
        whole = [set(group) for group in GROUPS]
        for step, other in zip(forward, floating, strict=True):
            assert other.criterion <= step.criterion * (1 + 1e-12)
            error = leave_query_out_error(X, y, qid, list(other.selected), 1.0)
            assert other.criterion == pytest.approx(error, rel=1e-10)
            assert all(
                group <= set(other.selected) or not group & set(other.selected)
                for group in whole
            )
            improved += other.criterion < step.criterion * (1 - 1e-9)
    assert improved > 0


def test_comparing_groups_leaves_the_selection_as_it_is() -> None:
    X, y, qid = problem()
    groups = ColumnGroups.of(8, GROUPS)
    search = GroupSearch(on_demand_search(by_query(X, y, qid), 1.0, 8), groups)
    search.move_to((1, 0))
    for compare in (lambda: search.costs(np.array([2, 3, 4])), search.removals):
        compare()
        assert search.selected == (1, 0)
        error = leave_query_out_error(X, y, qid, list(groups.columns((1, 0))), 1.0)
        assert search.criterion() == pytest.approx(error, rel=1e-10)


def test_random_candidates_are_groups() -> None:
    X, y, qid = problem()
    steps = list(
        GreedyRankRLS(groups=GROUPS, n_candidates=2, seed=3).steps(X, y, qid=qid)
    )
    groups = every_group(8, GROUPS)
    for step in steps[:-1]:
        compared = {g for g in groups if not np.isnan(step.candidates[list(g)]).any()}
        assert len(compared) == 2
        assert sum(map(len, compared)) == np.count_nonzero(~np.isnan(step.candidates))


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"groups": ((0, 1), (1, 2))}, "distinct columns"),
        ({"groups": ((0, 8),)}, "columns from 0 to 7"),
        ({"groups": ((), (1, 2))}, "nonempty"),
        ({"groups": GROUPS, "fitting": "back"}, "fitting: expected pre"),
        (
            {"groups": GROUPS, "algorithm": "algorithm1"},
            "algorithm: expected auto, statistics or columns",
        ),
        (
            {"groups": GROUPS, "algorithm": "rows"},
            "algorithm: expected auto, statistics or columns",
        ),
    ],
)
def test_what_groups_cannot_be_is_refused(
    parameters: dict[str, object], expected: str
) -> None:
    X, y, qid = problem()
    with pytest.raises(ParameterError, match=expected):
        GreedyRankRLS(**parameters).fit(X, y, qid=qid)
