"""The proved best set: against all sets learned anew, with valid bounds, restricted and interrupted."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstudio.engine import GreedyRankRLS, best_subset
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (
    _subset_kernel as kernels,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (
    branch_and_bound,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.branch_and_bound import (
    open_branches,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    SubsetProblem,
)
from rankstudio.engine.support.threads import at_most
from rankstudio.plugins.evidence.best_subset import SubsetSpace, find_best_subset
from tests.engine.oracles import leave_query_out_error
from tests.engine.strategies import Problem, problems, tolerance


def planted(seed=0, n=9, queries=12, noise=0.5):
    """Documents with labels of three features, one of which has a twin that is nearly the same."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), rng.integers(3, 9, queries))
    X = rng.normal(size=(qid.size, n))
    X[:, 4] = X[:, 1] + 0.05 * rng.normal(size=qid.size)
    y = 2 * X[:, 1] - X[:, 2] + 0.7 * X[:, n - 1] + noise * rng.normal(size=qid.size)
    return X, y, qid


def by_retraining(problem: Problem, size: int, allowed=lambda columns: True):
    """The criterion of each set of a size, learned anew without each query."""
    X, y, qid, regularization = problem
    varying = [
        j
        for j in range(X.shape[1])
        if any(np.ptp(X[qid == q, j]) > 0 for q in np.unique(qid))
    ]
    return {
        columns: leave_query_out_error(X, y, qid, list(columns), regularization)
        for columns in combinations(varying, size)
        if allowed(columns)
    }


@settings(max_examples=20, deadline=None)
@given(problems(most_features=7, fewest_queries=2))
def test_each_size_has_the_best_of_all_sets_learned_anew(problem):
    X, y, qid, regularization = problem
    found = best_subset(
        X, y, qid=qid, n_features=X.shape[1], regularization=regularization
    )
    relative, absolute = tolerance(problem)
    for one in found.sizes:
        every = by_retraining(problem, one.size)
        least = min(every.values())
        assert one.proved
        assert one.gap == 0
        assert one.n_sets == len(every)
        assert one.criterion == pytest.approx(least, rel=relative, abs=absolute)
        assert every[one.features] == pytest.approx(least, rel=relative, abs=absolute)


def test_ten_features_and_their_thousand_sets_learned_anew():
    X, y, qid = planted(1, n=10)
    problem = Problem(X, y, qid, 0.5)
    found = best_subset(X, y, qid=qid, n_features=5, regularization=0.5)
    for one in found.sizes:
        every = by_retraining(problem, one.size)
        assert one.features == min(every, key=every.__getitem__)
        assert one.criterion == pytest.approx(min(every.values()))
        assert one.greedy >= one.criterion * (1 - 1e-12)
        assert one.n_evaluated < one.n_sets
    assert found.of_size(3).features in ((1, 2, 9), (2, 4, 9))
    with pytest.raises(ParameterError):
        found.of_size(6)


@settings(max_examples=15, deadline=None)
@given(problems(most_features=7, fewest_queries=2), st.integers(1, 7))
def test_no_set_is_below_a_bound(problem, size):
    X, y, qid, regularization = problem
    data = group(X, y, qid)
    groups = ColumnGroups.of(X.shape[1], ())
    rules = Constraints.of(groups, None, (), (), None, 0, None, None, 0.0)
    made = SubsetProblem.of(data, regularization, groups, rules)
    relative, absolute = tolerance(problem)
    if size > made.n_items:
        return
    every = by_retraining(problem, size)
    branches = open_branches(made, size, np.inf)
    assert sum(branches.sets) == len(every)
    assert branches.bounds[0] <= min(every.values()) * (1 + relative) + absolute
    # With prefixes of each length: every set is below one branch, whose bound is below its criterion.
    for length in range(size):
        rows = comb(made.n_items, length)
        prefixes, bounds = (
            np.empty((rows, max(1, length)), dtype=np.int64),
            np.empty(rows),
        )
        count = kernels.branches(
            size,
            length,
            0,
            made.totals,
            made.starts,
            made.ridge,
            np.inf,
            np.inf,
            prefixes,
            bounds,
        )
        columns = made.totals[2]
        covered = 0
        for prefix, bound in zip(
            prefixes[:count, :length], bounds[:count], strict=True
        ):
            after = range(int(prefix[-1]) + 1 if length else 0, made.n_items)
            for rest in combinations(after, size - length):
                chosen = tuple(sorted(columns[[*prefix, *rest]].tolist()))
                assert bound - made.slack <= every[chosen] * (1 + relative) + absolute
                covered += 1
        assert covered == len(every)


def test_pins_bans_groups_and_a_budget_restrict_the_search():
    X, y, qid = planted(2, n=8)
    problem = Problem(X, y, qid, 1.0)

    def best(size, **restrictions):
        found = best_subset(
            X, y, qid=qid, n_features=size, regularization=1.0, **restrictions
        )
        return found.features, found.criterion

    def least(size, allowed):
        every = by_retraining(problem, size, allowed)
        return min(every, key=every.__getitem__), pytest.approx(min(every.values()))

    assert best(3, required=[0]) == least(3, lambda s: 0 in s)
    assert best(3, required=[5, 0], excluded=[1]) == least(
        3, lambda s: {0, 5} <= set(s) and 1 not in s
    )
    assert best(2, required=[6, 3]) == least(2, lambda s: s == (3, 6))
    costs = [1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 3.0]
    assert best(3, costs=costs, budget=5) == least(
        3, lambda s: sum(costs[j] for j in s) <= 5
    )
    assert best(3, costs=costs, budget=5, required=[1]) == least(
        3, lambda s: 1 in s and sum(costs[j] for j in s) <= 5
    )
    groups = [[0, 1], [2, 3, 5]]
    of = {0: 0, 1: 0, 2: 1, 3: 1, 5: 1, 4: 2, 6: 3, 7: 4}
    every = {
        tuple(sorted(j for j in of if of[j] in chosen)): None
        for chosen in combinations(range(5), 3)
    }
    criteria = {s: leave_query_out_error(X, y, qid, list(s), 1.0) for s in every}
    found = best(3, groups=groups)
    assert found == (
        min(criteria, key=criteria.__getitem__),
        pytest.approx(min(criteria.values())),
    )


def test_no_set_within_the_budget_is_no_set():
    X, y, qid = planted(3, n=6)
    found = best_subset(
        X, y, qid=qid, n_features=3, regularization=1.0, costs=[2.0] * 6, budget=3.0
    )
    assert found.of_size(1).features
    assert [found.of_size(size).features for size in (2, 3)] == [(), ()]
    assert found.proved
    assert found.criterion == np.inf


@pytest.mark.parametrize(
    ("cost", "weighting"),
    [("unit", "pairs"), ("inverse", "none"), ("magnitude", "pairs")],
)
def test_the_loss_of_pairs_is_that_of_greedy_rankrls(cost, weighting):
    X, y, qid = planted(4, n=7)
    y = np.round(y)
    loss = {"cost": cost, "weighting": weighting, "ties": False}
    found = best_subset(X, y, qid=qid, n_features=3, regularization=0.1, **loss)
    for one in found.sizes:
        criteria = {}
        for columns in combinations(range(7), one.size):
            selector = GreedyRankRLS(one.size, 0.1, pinned=columns, **loss).fit(
                X, y, qid=qid
            )
            criteria[columns] = selector.criterion_path_[-1]
        assert one.features == min(criteria, key=criteria.__getitem__)
        assert one.criterion == pytest.approx(min(criteria.values()))


def test_the_result_does_not_depend_on_threads_or_the_size_of_branches(monkeypatch):
    X, y, qid = planted(5, n=12)
    X[:, 11] = X[:, 1]  # exact twins: two best sets but for rounding

    def found():
        best = best_subset(X, y, qid=qid, n_features=6, regularization=0.1)
        return [(one.features, one.criterion, one.n_evaluated) for one in best.sizes]

    whole = found()
    monkeypatch.setattr(branch_and_bound, "_SETS_PER_BRANCH", 5)
    with at_most(1):
        alone = found()
    with at_most(3):
        assert found() == alone
    assert [one[:2] for one in alone] == [one[:2] for one in whole]
    # of equal sets the lowest columns
    assert not any(11 in one[0] and 1 not in one[0] for one in alone)


def test_an_interrupted_search_has_a_valid_gap(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "_SETS_PER_BRANCH", 10)
    X, y, qid = planted(6, n=14, queries=6, noise=3.0)
    truth = best_subset(X, y, qid=qid, n_features=7, regularization=3.0)
    open_ones = 0
    with_results = 0
    for told in find_best_subset(group(X, y, qid), SubsetSpace(7, 3.0)):
        with_results += 1
        for one, best in zip(told.found.sizes, truth.sizes, strict=True):
            assert one.criterion >= best.criterion * (1 - 1e-12)
            assert one.criterion - one.gap <= best.criterion * (1 + 1e-9)
            open_ones += not one.proved and one.gap > 0
    assert open_ones > 0  # else nothing was interrupted
    assert told.share == pytest.approx(1.0)
    assert told.found.sizes[-1].features == truth.features
    assert with_results > len(truth.sizes)


def test_the_time_limit_ends_the_search_early():
    X, y, qid = planted(7, n=20, queries=5, noise=3.0)
    found = best_subset(
        X, y, qid=qid, n_features=9, regularization=1.0, max_seconds=0.0
    )
    assert not found.proved
    assert 0 < found.gap < found.criterion
    assert len(found.features) == 9


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("n_features", {"n_features": 10}),
        ("n_features", {"n_features": 0}),
        ("regularization", {"regularization": 0.0}),
        ("required", {"required": [9]}),
        ("excluded", {"required": [1], "excluded": [1]}),
        ("budget", {"budget": 3.0}),
        ("cost", {"cost": "other"}),
    ],
)
def test_an_error_names_the_parameter(name, changed):
    X, y, qid = planted()
    with pytest.raises(ParameterError) as raised:
        best_subset(
            X, y, qid=qid, **{"n_features": 2, "regularization": 1.0, **changed}
        )
    assert raised.value.name == name


def test_one_query_leaves_nothing_to_learn_from():
    X, y, qid = planted()
    with pytest.raises(DatasetError):
        best_subset(X, y, qid=np.zeros_like(qid), n_features=2, regularization=1.0)


def test_the_loss_is_the_default_one_of_greedy_rankrls():
    assert SubsetSpace(1, 1.0).cost == PairCost()
