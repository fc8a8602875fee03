"""Permutation tests of preferences, against fitting to each and against labels that say the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from preference_oracles import preferred
from strategies import Problem, tolerance
from wording import naming

from rankstudio.engine import GreedyRankRLS, KernelRankRLS, RankRLS, RankSVM, sample_preferences
from rankstudio.engine.analysis.permutation import permuted_preferences
from rankstudio.engine.analysis.permutation.label_permutation import permutation_test, permuted_rows
from rankstudio.engine.analysis.permutation.permuted_preferences import compared_rows
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.rankers.lambdamart import LambdaMART


def ranked(m: int = 120, n: int = 5, seed: int = 0) -> RankingDataset:
    """Queries of 8 documents; the third feature says something."""
    rng = np.random.default_rng(seed)
    X = rng.random((m, n))
    return RankingDataset.from_arrays(X, np.round(2 * X[:, 2] + 0.3 * rng.normal(size=m)), np.arange(m) // 8)


def exchanged(preferences: Preferences, qid: np.ndarray, seed: int, number: int) -> Preferences:
    """The preferences of a permutation, by hand: each document that is compared has another one's part."""
    data = group(np.zeros((qid.size, 1)), np.zeros(qid.size), qid)
    order = data.order if data.order is not None else np.arange(qid.size)
    place = np.argsort(order)
    compared = np.zeros(qid.size, dtype=bool)
    compared[np.append(preferences.winner, preferences.loser)] = True
    rows = permuted_rows(data.ptr, seed, number, compared[order])
    part = {int(order[old]): int(order[new]) for new, old in enumerate(rows)}
    winner, loser = ([part[int(row)] for row in rows] for rows in (preferences.winner, preferences.loser))
    assert (qid[winner] == qid[preferences.winner]).all() and place.size == qid.size
    assert set(winner) | set(loser) == set(np.flatnonzero(compared))
    return Preferences(winner, loser, preferences.magnitude, preferences.weight)


@given(preferred(fewest_queries=2), st.sampled_from(["magnitude", "unit", "inverse"]), st.integers(0, 99))
def test_criteria_are_those_of_fitting_to_exchanged_documents(
    drawn: tuple[Problem, Preferences], cost: str, seed: int
) -> None:
    (X, y, qid, regularization), preferences = drawn
    eps = tolerance(Problem(X, np.ones(y.size), qid, regularization))
    scale = float((preferences.weight * preferences.magnitude**2).sum())
    for method in (
        GreedyRankRLS(regularization=regularization, cost=cost, n_features_to_select=1),
        RankRLS(regularization=regularization, cost=cost, weighting="pairs"),
    ):
        found = permutation_test(method, X, qid=qid, n_permutations=3, seed=seed, preferences=preferences)
        for number in range(3):
            other = exchanged(preferences, qid, seed, number)
            step = next(iter(method.steps(X, qid=qid, preferences=other)))
            near = pytest.approx(step.criterion, rel=eps[0], abs=eps[1] * (1.0 + scale))
            assert found.permuted[number, 0] == near


@pytest.mark.parametrize(
    "method", [GreedyRankRLS(3, ties=False), RankRLS(cost="unit"), RankSVM(C=0.1)], ids=repr
)
def test_preferences_of_all_pairs_are_permuted_as_the_labels(method: object) -> None:
    data = ranked()
    all_pairs = sample_preferences(data)
    assert compared_rows(replace(group(data.X, data.y, data.qid), preferences=all_pairs)).all()
    by_pairs = permutation_test(method, data.X, None, data.qid, 7, 3, preferences=all_pairs)  # type: ignore[arg-type]
    by_labels = permutation_test(method, data.X, data.y, data.qid, 7, 3)  # type: ignore[arg-type]
    np.testing.assert_allclose(by_pairs.observed, by_labels.observed, rtol=1e-6)
    np.testing.assert_allclose(by_pairs.permuted, by_labels.permuted, rtol=1e-6)


def test_the_rows_are_those_of_a_method_that_learns_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    data = ranked()
    some = sample_preferences(data, share=0.8, noise=0.2)
    given_ = {"qid": data.qid, "n_permutations": 5, "preferences": some}
    for method in (GreedyRankRLS(3), RankRLS(weighting="pairs")):
        known = permutation_test(method, data.X, **given_)
        with monkeypatch.context() as patched:
            patched.setattr(permuted_preferences, "_blocks", lambda *_: None)  # they do not fit
            anew = permutation_test(method, data.X, **given_)
        np.testing.assert_allclose(known.permuted, anew.permuted, rtol=1e-10)
        np.testing.assert_allclose(known.observed, anew.observed, rtol=1e-10)


def test_chance_is_chance_where_preferences_come_of_labels() -> None:
    rng = np.random.default_rng(5)
    p, turned = [], []
    for seed in range(40):
        data = replace(ranked(80, 4), X=rng.random((80, 4)))
        preferences = sample_preferences(data, share=0.7, seed=seed)
        method = GreedyRankRLS(2)
        test = permutation_test(method, data.X, None, data.qid, 19, seed, preferences=preferences)
        p.append(test.p_values[0])
        criteria = []
        for _ in range(19):  # each preference turned round for itself: what is not done
            swap = rng.random(len(preferences)) < 0.5
            winner = np.where(swap, preferences.loser, preferences.winner)
            loser = np.where(swap, preferences.winner, preferences.loser)
            other = Preferences(winner, loser, preferences.magnitude)
            criteria.append(next(iter(method.steps(data.X, qid=data.qid, preferences=other))).criterion)
        turned.append((1 + sum(c <= test.observed[0] for c in criteria)) / 20)
    assert 0.3 < np.mean(p) < 0.7
    assert np.mean(np.array(p) <= 0.05) < 0.1 < np.mean(np.array(turned) <= 0.05)


def test_neither_threads_nor_blocks_change_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = ranked()
    some = sample_preferences(data, share=0.8, noise=0.2)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("RANKSTUDIO_THREADS", threads)
        test = permutation_test(GreedyRankRLS(2), data.X, None, data.qid, 20, preferences=some)
        found.append(test.permuted)
    np.testing.assert_array_equal(*found)


def test_any_method_of_preferences_and_no_other() -> None:
    data = ranked(40)
    some = sample_preferences(data, share=0.8, noise=0.2)
    kernel = permutation_test(KernelRankRLS(), data.X, None, data.qid, 3, preferences=some)
    assert kernel.permuted.shape == (3, 1)
    with pytest.raises(ParameterError, match=naming("estimator")):
        permutation_test(LambdaMART(), data.X, None, data.qid, 3, preferences=some)
    with pytest.raises(ParameterError, match=naming("preferences")):
        permutation_test(RankRLS(), data.X, data.y, data.qid, 3, preferences=some)
