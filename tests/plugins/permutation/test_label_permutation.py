"""Permutation tests against fitting to each permuted label vector."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from evidence_problems import planted
from hypothesis import given
from hypothesis import strategies as st
from preference_oracles import preferred
from strategies import Problem, problems, tolerance
from wording import naming

from rankstudio import engine
from rankstudio.engine import GreedyRankRLS, RankRLS, RankSVM, sample_preferences
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods import permuted_labels
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.single_feature import SingleFeatureRanking
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.statistics.row_permutation import permuted_rows
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import blas
from rankstudio.plugins.permutation import label_permutation
from rankstudio.plugins.permutation.label_permutation import (
    PermutationTest,
    compared_rows,
    permutation_steps,
    permutation_test,
)

KernelRankRLS = estimator_class("kernel-rankrls")

LambdaMART = estimator_class("lambdamart")


def by_fitting(method: object, problem: Problem, count: int, seed: int) -> np.ndarray:
    """The criteria of a method that is fitted anew to the labels of each permutation."""
    data = group(problem.X, problem.y, problem.qid)
    qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    rows = [permuted_rows(data.ptr, seed, number) for number in range(count)]
    return np.array(
        [
            [s.criterion for s in method.steps(data.X, data.y[order], qid=qid)]
            for order in rows
        ]  # type: ignore[attr-defined]
    )


@given(problems(fewest_queries=2), st.integers(0, 2**32 - 1))
def test_criteria_are_those_of_fitting_to_permuted_labels(
    problem: Problem, seed: int
) -> None:
    X, y, qid, regularization = problem
    eps = tolerance(problem)
    for method in (
        GreedyRankRLS(regularization=regularization),
        GreedyRankRLS(
            regularization=regularization, n_features_to_select=1, algorithm="rows"
        ),
        RankRLS(regularization=regularization),
        GreedyRankRLS(regularization=regularization, weighting="pairs"),
        RankRLS(regularization=regularization, weighting="none"),
        RankRLS(regularization=regularization, weighting="pairs"),
        RankRLS(regularization=regularization, cost="unit"),
    ):
        permuted_path = permutation_test(method, X, y, qid, n_permutations=2, seed=seed)
        expected = by_fitting(method, problem, 2, seed)
        # Paths of tied features may part; the first step's error is the same whichever is taken.
        np.testing.assert_allclose(
            permuted_path.permuted[:, 0], expected[:, 0], rtol=eps[0], atol=eps[1]
        )
        observed = [step.criterion for step in method.steps(X, y, qid=qid)]
        np.testing.assert_allclose(
            permuted_path.observed[0], observed[0], rtol=eps[0], atol=eps[1]
        )


def ranked(
    m: int = 240, n: int = 6, noise: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.random((m, n))
    qid = np.arange(m) // 8
    return X, np.round(2 * X[:, 2] + noise * rng.normal(size=m)), qid


@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 4},
        {"n_features_to_select": 3, "pinned": (5,), "banned": (2,)},
        {"size_penalty": 0.01},
        {"costs": [1.0, 2.0, 5.0, 1.0, 1.0, 2.0], "budget": 6.0},
        {"n_candidates": 2, "seed": 3},
        {"algorithm": "algorithm1"},
        {"cost": "unit", "n_features_to_select": 2},
        {"weighting": "none", "n_features_to_select": 2},
        {"weighting": "pairs", "n_features_to_select": 4, "pinned": (1,)},
        {"ties": False, "weighting": "pairs", "n_features_to_select": 2},
        {"search": "floating", "n_features_to_select": 3},
        {"search": "swap", "n_features_to_select": 3},
        {"search": "best", "n_features_to_select": 3},
        {"groups": [(0, 1), (2, 3)]},
    ],
    ids=str,
)
def test_whole_paths_are_repeated_with_all_rules(options: dict[str, object]) -> None:
    X, y, qid = ranked()
    method = GreedyRankRLS(**options)
    permuted_path = permutation_test(method, X, y, qid, n_permutations=6, seed=1)
    observed = [step.criterion for step in method.steps(X, y, qid=qid)]
    np.testing.assert_allclose(permuted_path.observed, observed, rtol=1e-9)
    for number in range(6):
        order = permuted_rows(group(X, y, qid).ptr, 1, number)
        path = [step.criterion for step in method.steps(X, y[order], qid=qid)][
            : len(observed)
        ]
        np.testing.assert_allclose(
            permuted_path.permuted[number, : len(path)], path, rtol=1e-9
        )
        assert (
            permuted_path.permuted[number, len(path) :]
            == permuted_path.permuted[number, len(path) - 1]
        ).all()


@pytest.mark.parametrize("weighting", ["size", "pairs", "none"])
def test_what_depends_on_documents_alone_is_computed_once_whatever_a_query_weighs(
    weighting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, qid = ranked()

    def fail(*_: object) -> None:
        raise AssertionError("learned anew")

    monkeypatch.setattr(label_permutation, "learned_path", fail)
    for method in (GreedyRankRLS(weighting=weighting), RankRLS(weighting=weighting)):
        assert (
            permutation_test(method, X, y, qid, n_permutations=3).permuted.shape[0] == 3
        )
    with pytest.raises(AssertionError, match="learned anew"):
        permutation_test(
            RankRLS(ties=False, weighting=weighting), X, y, qid, n_permutations=3
        )


def test_other_methods_learn_anew() -> None:
    X, y, qid = ranked()
    for method in (RankSVM(C=0.1), RankRLS(solver="cg")):
        *_, last = method.steps(X, y, qid=qid)
        permuted_path = permutation_test(method, X, y, qid, n_permutations=3)
        assert permuted_path.observed == pytest.approx([last.criterion], rel=1e-6)
        np.testing.assert_array_equal(permuted_path.p_values, [0.25])


def test_what_features_say_is_told_from_chance() -> None:
    X, y, qid = ranked()
    method = GreedyRankRLS(n_features_to_select=3)
    told = permutation_test(method, X, y, qid, n_permutations=99)
    np.testing.assert_array_equal(told.p_values, 0.01)
    assert (told.observed < told.band(0.9)[0]).all()
    rng = np.random.default_rng(5)
    chance = [
        permutation_test(
            method, rng.random(X.shape), y, qid, n_permutations=19, seed=s
        ).p_values
        for s in range(12)
    ]
    assert 0.3 < np.mean(chance) < 0.7  # uniform on 0.05, 0.1, …, 1


def test_labels_that_cannot_change_give_one() -> None:
    X, _, qid = ranked()
    permuted_path = permutation_test(
        GreedyRankRLS(n_features_to_select=2), X, qid.astype(float), qid, 9
    )
    np.testing.assert_array_equal(permuted_path.p_values, 1.0)


@pytest.mark.parametrize(
    "method", [GreedyRankRLS(n_features_to_select=3), RankRLS()], ids=repr
)
def test_neither_threads_nor_blocks_change_the_bits(
    method: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, qid = ranked()
    permuted_path = []
    for threads in ("1", "3"):
        monkeypatch.setenv("RANKSTUDIO_THREADS", threads)
        permuted_path.append(
            permutation_test(method, X, y, qid, n_permutations=70).permuted
        )  # type: ignore[arg-type]
    np.testing.assert_array_equal(*permuted_path)
    sizes = [
        t.permuted.shape[0]
        for t in permutation_steps(method, group(X, y, qid), 70)
        if t
    ]  # type: ignore[arg-type]
    assert sizes == [64, 70]


def test_what_is_shared_has_the_bits_of_one_blas_thread() -> None:
    # So many features that BLAS would cut its sums into one part a thread.
    rng, qid = (
        np.random.default_rng(0),
        np.sort(np.random.default_rng(1).integers(0, 40, 3000)),
    )
    X, y = rng.random((3000, 136)), rng.integers(0, 3, 3000).astype(float)
    permuted_path = []
    for count in (1, 2):
        with blas().limit(limits=count):
            permuted_path.append(permutation_test(RankRLS(), X, y, qid, 17))
    np.testing.assert_array_equal(permuted_path[0].permuted, permuted_path[1].permuted)
    np.testing.assert_array_equal(permuted_path[0].observed, permuted_path[1].observed)


def test_what_is_free_just_now_changes_no_bit_but_may_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = ranked()
    method = GreedyRankRLS(n_features_to_select=3)
    expected = permutation_test(method, X, y, qid, 9).permuted
    needed = 8.0 * 30 * 7 * (2 * 7 + 4 * 3)
    monkeypatch.setattr(memory, "available", lambda: needed)
    np.testing.assert_array_equal(
        permutation_test(method, X, y, qid, 9).permuted, expected
    )
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    with pytest.raises(OutOfMemoryError, match=naming("240 6")):
        permutation_test(method, X, y, qid, 9)


def test_p_counts_equal_criteria_and_the_observed_one() -> None:
    test = PermutationTest(
        np.array([2.0, 2.0]), np.array([[1.0, 3.0], [2.0, 4.0], [5.0, 6.0]])
    )
    np.testing.assert_array_equal(test.p_values, [0.75, 0.25])
    low, high = test.band(0.5)
    np.testing.assert_allclose(low, np.quantile(test.permuted, 0.25, axis=0))
    np.testing.assert_allclose(high, np.quantile(test.permuted, 0.75, axis=0))
    with pytest.raises(ParameterError, match="level"):
        test.band(1.0)


class WithoutCriterion(RankRLS):
    """A method whose steps have no criterion."""

    def work(self, data: Any) -> Iterator[Any]:
        for step in super().work(data):
            yield replace(step, criterion=np.nan)


def test_what_makes_no_sense_is_refused() -> None:
    X, y, qid = ranked()
    with pytest.raises(ParameterError, match="n_permutations"):
        permutation_test(RankRLS(), X, y, qid, n_permutations=0)
    with pytest.raises(ParameterError, match="seed"):
        permutation_test(RankRLS(), X, y, qid, seed=-1)
    with pytest.raises(ParameterError, match="a method with a criterion"):
        permutation_test(WithoutCriterion(), X, y, qid)


@pytest.mark.parametrize(
    "method", [RankRLS(), GreedyRankRLS(n_features_to_select=1, pairs="pointwise")]
)
def test_one_ranking_is_learned_anew_from_permuted_labels(method: LinearRanker) -> None:
    X, y, _ = ranked()
    one = np.zeros(y.size)
    permuted_path = permutation_test(method, X, y, one, n_permutations=3)
    fitted = type(method)(**method.get_params()).fit(X, y, qid=one)
    criterion = getattr(fitted, "criterion_path_", None)
    np.testing.assert_allclose(
        permuted_path.observed, fitted.criterion_ if criterion is None else criterion
    )
    assert (
        permuted_path.permuted > permuted_path.observed
    ).all()  # nothing else orders labels as well


def test_several_shards_learn_by_sums_of_each_permutation_wherever_they_are(
    tmp_path: Path,
) -> None:
    X, y, qid = ranked()
    data = group(X, y, qid)
    np.save(tmp_path / "X.npy", X)
    for method in (
        GreedyRankRLS(n_features_to_select=2),
        RankRLS(),
        SingleFeatureRanking(n_features_to_select=1, measure="MAP"),
    ):
        shards = TrainingData(data.X, data.y, data.ptr, documents=70)
        mapped = replace(shards, X=np.load(tmp_path / "X.npy", mmap_mode="r"))
        (*_, permuted_path), (*_, other) = (
            permutation_steps(method, rows, 5) for rows in (shards, mapped)
        )
        assert np.array_equal(permuted_path.permuted, other.permuted)
        assert np.array_equal(permuted_path.observed, other.observed)
        whole = permutation_test(method, X, y, qid, n_permutations=5)
        # Sums of 240 terms in another order, of systems that λ = 1 keeps well conditioned.
        np.testing.assert_allclose(permuted_path.permuted, whole.permuted, rtol=1e-9)
        np.testing.assert_allclose(permuted_path.observed, whole.observed, rtol=1e-9)


def ranked_anew(m: int = 120, n: int = 5) -> RankingDataset:
    return RankingDataset.from_arrays(*ranked(m, n, noise=0.3))


def exchanged(
    preferences: Preferences, qid: np.ndarray, seed: int, number: int
) -> Preferences:
    """The preferences of a permutation, by hand: each document that is compared has another one's part."""
    data = group(np.zeros((qid.size, 1)), np.zeros(qid.size), qid)
    order = data.order if data.order is not None else np.arange(qid.size)
    place = np.argsort(order)
    compared = np.zeros(qid.size, dtype=bool)
    compared[np.append(preferences.winner, preferences.loser)] = True
    rows = permuted_rows(data.ptr, seed, number, compared[order])
    part = {int(order[old]): int(order[new]) for new, old in enumerate(rows)}
    winner, loser = (
        [part[int(row)] for row in rows]
        for rows in (preferences.winner, preferences.loser)
    )
    assert (qid[winner] == qid[preferences.winner]).all() and place.size == qid.size
    assert set(winner) | set(loser) == set(np.flatnonzero(compared))
    return Preferences(winner, loser, preferences.magnitude, preferences.weight)


@given(
    preferred(fewest_queries=2),
    st.sampled_from(["magnitude", "unit", "inverse"]),
    st.integers(0, 99),
)
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
        permuted_path = permutation_test(
            method, X, qid=qid, n_permutations=3, seed=seed, preferences=preferences
        )
        for number in range(3):
            other = exchanged(preferences, qid, seed, number)
            step = next(iter(method.steps(X, qid=qid, preferences=other)))
            near = pytest.approx(step.criterion, rel=eps[0], abs=eps[1] * (1.0 + scale))
            assert permuted_path.permuted[number, 0] == near


@pytest.mark.parametrize(
    "method",
    [GreedyRankRLS(3, ties=False), RankRLS(cost="unit"), RankSVM(C=0.1)],
    ids=repr,
)
def test_preferences_of_all_pairs_are_permuted_as_the_labels(method: object) -> None:
    data = ranked_anew()
    all_pairs = sample_preferences(data)
    assert compared_rows(
        replace(group(data.X, data.y, data.qid), preferences=all_pairs)
    ).all()
    by_pairs = permutation_test(
        method, data.X, None, data.qid, 7, 3, preferences=all_pairs
    )  # type: ignore[arg-type]
    by_labels = permutation_test(method, data.X, data.y, data.qid, 7, 3)  # type: ignore[arg-type]
    np.testing.assert_allclose(by_pairs.observed, by_labels.observed, rtol=1e-6)
    np.testing.assert_allclose(by_pairs.permuted, by_labels.permuted, rtol=1e-6)


def test_the_rows_are_those_of_a_method_that_learns_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = ranked_anew()
    some = sample_preferences(data, share=0.8, noise=0.2)
    given_ = {"qid": data.qid, "n_permutations": 5, "preferences": some}
    for method in (GreedyRankRLS(3), RankRLS(weighting="pairs")):
        known = permutation_test(method, data.X, **given_)
        with monkeypatch.context() as patched:
            # they do not fit
            patched.setattr(permuted_labels, "_blocks_if_they_fit", lambda *_: None)
            anew = permutation_test(method, data.X, **given_)
        np.testing.assert_allclose(known.permuted, anew.permuted, rtol=1e-10)
        np.testing.assert_allclose(known.observed, anew.observed, rtol=1e-10)


def test_chance_is_chance_where_preferences_come_of_labels() -> None:
    rng = np.random.default_rng(5)
    p: list[float] = []
    turned: list[float] = []
    for seed in range(12):
        data = replace(ranked_anew(80, 4), X=rng.random((80, 4)))
        preferences = sample_preferences(data, share=0.7, seed=seed)
        method = GreedyRankRLS(2)
        test = permutation_test(
            method, data.X, None, data.qid, 19, seed, preferences=preferences
        )
        p.append(test.p_values[0])
        criteria = []
        for _ in range(19):  # each preference turned round for itself: what is not done
            swap = rng.random(len(preferences)) < 0.5
            winner = np.where(swap, preferences.loser, preferences.winner)
            loser = np.where(swap, preferences.winner, preferences.loser)
            other = Preferences(winner, loser, preferences.magnitude)
            criteria.append(
                next(
                    iter(method.steps(data.X, qid=data.qid, preferences=other))
                ).criterion
            )
        turned.append((1 + sum(c <= test.observed[0] for c in criteria)) / 20)
    assert 0.3 < np.mean(p) < 0.7
    assert np.mean(np.array(p) <= 0.05) < 0.1 < np.mean(np.array(turned) <= 0.05)


@pytest.mark.ability("kernels")
@pytest.mark.ability("trees")
def test_any_method_of_preferences_and_no_other() -> None:
    data = ranked_anew(40)
    some = sample_preferences(data, share=0.8, noise=0.2)
    kernel = permutation_test(
        KernelRankRLS(), data.X, None, data.qid, 3, preferences=some
    )
    assert kernel.permuted.shape == (3, 1)
    with pytest.raises(ParameterError, match=naming("estimator")):
        permutation_test(LambdaMART(), data.X, None, data.qid, 3, preferences=some)
    with pytest.raises(ParameterError, match=naming("preferences")):
        permutation_test(RankRLS(), data.X, data.y, data.qid, 3, preferences=some)


@pytest.mark.ability("evidence")
@pytest.mark.parametrize("options", [{}, {"weighting": "pairs"}, {"banned": (0, 1)}])
def test_the_first_step_is_the_test_of_the_whole_path(
    options: dict[str, object],
) -> None:
    X, _, qid = planted(0)
    y = np.round(0.15 * X[:, 3] + np.random.default_rng(1).normal(size=640))
    method = GreedyRankRLS(1, **options)  # type: ignore[arg-type]
    permuted_path = engine.step_significance(
        method, X, y, qid=qid, n_permutations=30, seed=4
    )
    whole = permutation_test(method, X, y, qid, n_permutations=30, seed=4)
    np.testing.assert_allclose(
        permuted_path.empty - permuted_path.permuted, whole.permuted, rtol=1e-10
    )
    assert permuted_path.p_values == whole.p_values
