"""Stability selection against refitting on the halves, published bounds, planted truth and noise."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import greedy_by_retraining
from strategies import Problem

from rankstudio.engine import (
    GAS,
    FSMRank,
    GreedyRankRLS,
    L1Path,
    MutualInformation,
    RankRLS,
    RecursiveElimination,
    SingleFeatureRanking,
    stability_selection,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.splitting.query_halves import half_of
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.stability_selection import (
    StabilitySelection,
    selection_bound,
    stability_steps,
)


def halves(qid: np.ndarray, seed: int, count: int) -> list[np.ndarray]:
    """Which rows are in each of so many halves."""
    names = np.array(list(dict.fromkeys(qid.tolist())))
    return [
        np.isin(qid, names[half_of(names.size, seed, number)])
        for number in range(count)
    ]


@settings(max_examples=10)
@given(untied(), st.integers(0, 2**32 - 1))
def test_paths_from_sums_are_those_of_retraining_on_the_halves(
    problem: Problem, seed: int
) -> None:
    X, y, qid, regularization = problem
    n = X.shape[1]
    found = stability_selection(
        GreedyRankRLS(n, regularization), X, y, qid=qid, n_halves=2, seed=seed
    )
    counts = np.zeros((n, n))
    for number, rows in enumerate(halves(qid, seed, 4)):
        order, _ = greedy_by_retraining(X[rows], y[rows], qid[rows], n, regularization)
        for size in range(n):
            counts[size, order[: size + 1]] += 1
        assert np.argsort(found.places[number]).tolist() == order
    np.testing.assert_array_equal(found.probability, counts / 4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighting": "pairs"},
        {"cost": "unit"},
        {"pinned": (4,), "banned": (1,)},
        {"costs": list(range(1, 26)), "budget": 30.0},
        {"size_penalty": 0.02},
        {"n_candidates": 10, "seed": 3},
    ],
)
def test_sums_and_refitting_select_the_same(options: dict[str, object]) -> None:
    X, y, qid = planted(0)
    y = np.round(y)
    method = GreedyRankRLS(5, 4.0, **options)  # type: ignore[arg-type]
    found = stability_selection(method, X, y, qid=qid, n_halves=3, seed=1)
    for number, rows in enumerate(halves(qid, 1, 6)):
        order = method.fit(X[rows], y[rows], qid=qid[rows]).selection_order_
        assert (np.argsort(found.places[number])[-order.size :] == order).all()
        assert (found.places[number] > 0).sum() == order.size


@pytest.mark.parametrize(
    "method",
    [
        GreedyRankRLS(3, search="floating"),
        GreedyRankRLS(2, groups=[(0, 5), (3, 4)]),
        GreedyRankRLS(3, algorithm="algorithm1"),
        SingleFeatureRanking(n_features_to_select=3),
        MutualInformation(n_features_to_select=3),
        GAS(n_features_to_select=3),
        RecursiveElimination(n_features_to_select=3),
        L1Path(n_features_to_select=3),
        FSMRank(),
    ],
    ids=lambda method: type(method).__name__,
)
def test_any_selector_is_refitted(method: GreedyRankRLS) -> None:
    X, y, qid = planted(0)
    X, y = X[:, :8], np.round(y)
    found = stability_selection(method, X, y, qid=qid, n_halves=2)
    for number, rows in enumerate(halves(qid, 0, 4)):
        support = method.fit(X[rows], y[rows], qid=qid[rows]).support_
        np.testing.assert_array_equal(found.places[number] > 0, support)
    assert found.counts.max() <= 4
    np.testing.assert_array_equal(found.counts[-1], (found.places > 0).sum(axis=0))


def test_halves_of_a_division_have_no_query_in_common() -> None:
    for count in (4, 9, 20):
        first, second = half_of(count, 5, 6), half_of(count, 5, 7)
        assert first.size == second.size == count // 2
        assert not set(first) & set(second)
        assert (np.diff(first) > 0).all()
    assert (half_of(20, 5, 6) != half_of(20, 5, 8)).any()


@pytest.mark.parametrize("algorithm", ["statistics", "algorithm1"])
def test_an_interrupted_selection_is_valid_and_goes_on(algorithm: str) -> None:
    X, y, qid = planted(1)
    method, data = GreedyRankRLS(4, algorithm=algorithm), group(X, y, qid)
    whole = finish(stability_steps(method, data, 20, 3))
    begun = stability_steps(method, data, 20, 3)
    told = next(begun)
    begun.close()
    assert isinstance(told, PartialResult)
    partial = told.found
    assert 0 < partial.n_paths < 40
    assert told.share == partial.n_paths / 40
    np.testing.assert_array_equal(partial.places, whole.places[: partial.n_paths])
    np.testing.assert_array_equal(partial.counts[-1], (partial.places > 0).sum(axis=0))
    again = finish(stability_steps(method, data, 20, 3, partial))
    np.testing.assert_array_equal(again.places, whole.places)
    np.testing.assert_array_equal(again.counts, whole.counts)
    with pytest.raises(ParameterError):
        finish(stability_steps(method, data, 20, 4, partial))


def test_bounds_are_the_closed_forms_and_what_stabs_prints() -> None:
    # R, stabs: stabsel_parameters(p = 88, q = 20, cutoff = 0.8) prints PFER 3.743316.
    assert selection_bound(0.8, 20, 88, 50) == pytest.approx(3.743316, abs=5e-7)
    # stabs' example, p = 9 of bodyfat, cutoff 0.75, q = 2: PFER (*): 0.454.
    assert round(selection_bound(0.75, 2, 9, 50), 3) == 0.454
    assert selection_bound(0.9, 5, 100) == pytest.approx(25 / (0.8 * 100))
    assert selection_bound(0.75, 5, 100, 50) == pytest.approx(
        25 / 100 / (2 * (0.5 - 0.01))
    )
    assert selection_bound(0.9, 5, 100, 50) == pytest.approx(
        25 / 100 * 4 * (0.1 + 0.01) / 1.02
    )
    # q / p above 1 / √3: the theorem does not hold, and the worst case does.
    assert selection_bound(0.9, 6, 10, 50) == selection_bound(0.9, 6, 10)
    taus = np.arange(52, 101) / 100
    for pairs in (None, 50):
        bounds = [selection_bound(tau, 5, 100, pairs) for tau in taus]
        assert (np.diff(bounds) < 0).all()


def test_a_result_counts_by_its_threshold() -> None:
    counts = np.array([[8, 1, 1, 0], [10, 8, 2, 0]])
    places = np.array([[1, 2, 0, 0]] * 8 + [[2, 0, 1, 0], [2, 0, 1, 0]])
    found = StabilitySelection(counts, places, 3, 0)
    assert found.stable(0.8) == (0, 1)
    assert found.stable(0.8, n_features=1) == (0,)
    assert found.stable(0.81) == (0,)
    assert found.bound(0.8) == pytest.approx(4 / (0.6 * 3))
    # Shares of ten halves are tenths: 0.75 asks for 0.8.
    assert found.bound(0.75) == found.bound(0.8)
    np.testing.assert_array_equal(
        found.positions,
        [[1, 2, 1, np.inf], [1, 2, np.inf, np.inf], [2, np.inf, np.inf, np.inf]],
    )
    for threshold in (0.5, 1.01, np.nan):
        with pytest.raises(ParameterError):
            found.stable(threshold)
    with pytest.raises(ParameterError):
        found.bound(0.9, n_features=3)


def test_planted_features_are_stable_and_twins_share() -> None:
    right = 0
    for seed in range(10):
        X, y, qid = planted(seed)
        found = stability_selection(GreedyRankRLS(4, 1.0), X, y, qid=qid)
        probability = found.probability[3]
        strong = (probability[:3] >= 0.9).all() and not (probability[5:] >= 0.75).any()
        # One of the twins is in every path; which one is left to chance.
        one = ((found.places[:, 3] > 0) | (found.places[:, 4] > 0)).mean()
        right += strong and one > 0.9 and set(found.stable(0.75)) >= {0, 1, 2}
    print(f"planted truth found in {right} of 10 seeds")  # noqa: T201 - the counts
    assert right >= 9


def test_on_noise_the_count_stays_below_the_bound() -> None:
    rng = np.random.default_rng(0)
    qid, draws, counts, bounds = np.repeat(np.arange(20), 5), 30, [], []
    for _ in range(draws):
        X, y = rng.normal(size=(100, 12)), rng.normal(size=100)
        found = stability_selection(GreedyRankRLS(2), X, y, qid=qid, n_halves=25)
        counts.append([len(found.stable(tau)) for tau in (0.6, 0.7, 0.8, 0.9)])
        bounds.append([found.bound(tau, unimodal=True) for tau in (0.6, 0.7, 0.8, 0.9)])
    mean, bound = np.mean(counts, axis=0), np.mean(bounds, axis=0)
    told = f"{mean}, unimodal bounds: {bound.round(3)}"
    print(f"stable noise features in a draw at τ = .6, .7, .8, .9: {told}")  # noqa: T201 - the counts
    error = np.std(counts, axis=0) / np.sqrt(draws)
    assert (mean <= bound + 2 * error).all()
    assert mean[0] > 0  # the test is of something that happens


def test_what_cannot_be_done_is_refused() -> None:
    X, y, qid = planted(0)
    with pytest.raises(ParameterError):
        stability_selection(RankRLS(), X, y, qid=qid)
    with pytest.raises(DatasetError):
        stability_selection(GreedyRankRLS(), X, y, qid=qid // 27)
    with pytest.raises(ParameterError):
        stability_selection(GreedyRankRLS(), X, y, qid=qid, n_halves=0)
