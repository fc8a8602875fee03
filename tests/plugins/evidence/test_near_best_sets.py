"""Sets not significantly different from the best one: against all sets learned anew, query by query."""

from itertools import combinations

import numpy as np
import pytest

from rankstudio.engine import best_subset, near_best_sets
from rankstudio.plugins.evidence import near_best_sets as near_best
from tests.engine.oracles import centred_by_loops


def noisy(seed=0, n=8, queries=40):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), 5)
    X = rng.normal(size=(qid.size, n))
    return X, X[:, 0] + 0.2 * X[:, 3] + rng.normal(size=qid.size), qid


def errors_by_query(X, y, qid, columns, regularization):
    """The squared error of each query by the model learned without it."""
    Xc, yc = (
        centred_by_loops(X, qid)[:, columns],
        centred_by_loops(y[:, None], qid)[:, 0],
    )
    found = []
    for query in dict.fromkeys(qid.tolist()):
        held = qid == query
        left = Xc[~held].T @ Xc[~held] + regularization * np.eye(len(columns))
        w = np.linalg.solve(left, Xc[~held].T @ yc[~held])
        found.append(np.sum((yc[held] - Xc[held] @ w) ** 2))
    return np.array(found)


@pytest.mark.parametrize(("seed", "window"), [(0, 0.5), (1, 0.5), (1, None)])
def test_they_are_those_within_the_paired_interval(seed, window):
    X, y, qid = noisy(seed)
    for sized in near_best_sets(
        X, y, qid=qid, n_features=3, regularization=2.0, window=window
    ):
        reference = errors_by_query(X, y, qid, list(sized.best.features), 2.0)
        expected = {}
        for columns in combinations(range(8), sized.size):
            d = errors_by_query(X, y, qid, list(columns), 2.0) - reference
            se = np.sqrt(d.size) * d.std(ddof=1)
            inside = window is None or d.sum() <= window * reference.sum()
            if inside and d.sum() <= 1.96 * se:
                expected[columns] = d.sum(), se
        assert {one.features for one in sized.sets} == set(expected) | {
            sized.best.features
        }
        for one in sized.sets:
            if one.features in expected:
                difference, se = expected[one.features]
                assert one.difference == pytest.approx(difference, abs=1e-8)
                assert one.standard_error == pytest.approx(se, abs=1e-6)
        assert sized.sets[0].features == sized.best.features
        shares = [np.mean([j in one.features for one in sized.sets]) for j in range(8)]
        assert sized.inclusion == pytest.approx(shares)


def test_the_window_grows_until_its_outer_half_is_empty(monkeypatch):
    monkeypatch.setattr(near_best, "_MIN_SETS", 5)
    X, y, qid = noisy(7, queries=200)
    found = near_best_sets(X, y, qid=qid, n_features=2, regularization=2.0)[-1]
    wide = near_best_sets(
        X, y, qid=qid, n_features=2, regularization=2.0, window=2 * found.window
    )[-1]
    assert found.complete
    assert found.window < 1
    assert {one.features for one in wide.sets} == {one.features for one in found.sets}


def test_few_sets_are_all_compared_however_far_apart_they_are():
    rng = np.random.default_rng(1000)
    X, qid = rng.normal(size=(480, 2)), np.repeat(np.arange(80), 6)
    (found,) = near_best_sets(
        X,
        X.sum(axis=1) + 2 * rng.normal(size=480),
        qid=qid,
        n_features=1,
        regularization=1.0,
    )
    assert found.complete
    assert [one.features for one in found.sets] == [(0,), (1,)]
    assert found.sets[1].difference > 0.015 * found.best.criterion


def test_labels_without_an_error_have_one_best_set():
    X, _, qid = noisy(1)
    (found,) = near_best_sets(X, X[:, 3], qid=qid, n_features=1, regularization=1e-9)
    assert found.complete
    assert [one.features for one in found.sets] == [(3,)]


def test_a_search_that_would_take_long_ends_and_says_so(monkeypatch):
    monkeypatch.setattr(near_best, "_MAX_ERRORS", 0)
    X, y, qid = noisy(1)
    found = near_best_sets(X, y, qid=qid, n_features=3, regularization=2.0)[-1]
    assert found.window == 0.08
    assert not found.complete


def test_twins_share_about_one_half():
    X, y, qid = noisy(1, queries=200)
    X[:, 5] = X[:, 0]
    sized = near_best_sets(X, y, qid=qid, n_features=2, regularization=2.0)[-1]
    assert sized.inclusion[0] == pytest.approx(sized.inclusion[5])
    assert 0.45 <= sized.inclusion[0] <= 0.6
    assert len(sized.containing([0], [5])) == len(sized.containing([5], [0])) > 0
    assert sized.containing([0, 0], [0]) == ()


def test_a_necessary_feature_is_in_all_of_them():
    X, y, qid = noisy(2, queries=200)
    for sized in near_best_sets(X, y, qid=qid, n_features=3, regularization=2.0):
        assert sized.inclusion[0] == pytest.approx(1.0)


def test_required_and_excluded_features_move_the_best_set():
    X, y, qid = noisy(3)
    restricted = {"required": [2], "excluded": [0]}
    sized = near_best_sets(
        X, y, qid=qid, n_features=2, regularization=2.0, **restricted
    )[-1]
    best = best_subset(X, y, qid=qid, n_features=2, regularization=2.0, **restricted)
    assert sized.best.features == best.features
    assert all(2 in one.features and 0 not in one.features for one in sized.sets)


def test_more_sets_than_there_was_room_for_are_all_kept(monkeypatch):
    from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (  # noqa: PLC0415
        near_search,
    )

    X, y, qid = noisy(4)
    whole = near_best_sets(X, y, qid=qid, n_features=3, regularization=2.0, window=0.5)[
        -1
    ]
    monkeypatch.setattr(near_search, "_ROWS", 1)
    again = near_best_sets(X, y, qid=qid, n_features=3, regularization=2.0, window=0.5)[
        -1
    ]
    assert len(whole.sets) > 8
    assert [one.features for one in again.sets] == [one.features for one in whole.sets]
