"""By what methods compare candidates: each score against its formula, the one taken against the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import centred_by_loops
from ordering import ranking_problem
from scipy.stats import kendalltau

from rankstudio.engine import evaluate
from rankstudio.engine.methods.catalog import Method, method, methods
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.methods.selection.expected_divergence import divergences
from rankstudio.engine.steps import Step

COMPARES_NONE = {
    "rankrls",
    "ranksvm",
    "kernel-rankrls",
    "rankboost",
    "adarank",
    "listnet",
    "coordinate-ascent",
    "svm-map",
    "catboost-select",
}
QUICK: dict[str, dict[str, object]] = {
    "fs-bfs": {"subset_size": 2, "max_iter": 3, "patience": 2},
    "lambdamart": {"n_rounds": 8, "min_data_in_leaf": 2, "num_leaves": 4},
    "xgboost": {"n_rounds": 8, "max_depth": 2},
    "catboost": {"n_rounds": 8, "depth": 2},
    "fsmrank": {"max_iter": 30},
    "fsmrank-top": {"max_iter": 30},
    "fsmsvm": {"max_iter": 30},
    "lambdamart-top": {"n_rounds": 4, "min_data_in_leaf": 2, "num_leaves": 4},
    "lambdamart-rfe": {"n_rounds": 4, "min_data_in_leaf": 2, "num_leaves": 4},
}
COMPARING = [entry for entry in methods() if entry.candidate_score is not None]
by_key = pytest.mark.parametrize("entry", COMPARING, ids=lambda entry: entry.key)
seeds = given(st.integers(0, 2**32 - 1))


def problem(
    seed: int, copies: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, qid = rng.random((90, 7)), np.arange(90) // 10
    X[:, 2] = 0.7 * X[:, 0] + 0.3 * X[:, 2]
    y = np.clip(
        np.round(2 * X[:, 0] + X[:, 4] - X[:, 5] + 0.4 * rng.normal(size=90)), 0, 2
    )
    if copies:
        X[:, 3], X[:, 6] = X[:, 0], 0.5
    return X, y, qid


def steps(entry: Method, data: tuple[np.ndarray, ...], **more: object) -> list[Step]:
    X, y, qid = data
    return list(
        entry.load()(**{**QUICK.get(entry.key, {}), **more}).steps(X, y, qid=qid)
    )


def score_of(entry: Method) -> CandidateScore:
    assert entry.candidate_score is not None
    return entry.candidate_score


def news(found: list[Step]) -> list[tuple[Step, list[int]]]:
    """Each step of a growing path, with the features that it took."""
    before: tuple[int, ...] = ()
    told = []
    for step in found:
        told.append((step, [f for f in step.selected if f not in before]))
        before = step.selected
    return told


def test_every_method_has_a_named_score_or_declares_that_it_compares_none() -> None:
    assert {
        entry.key for entry in methods() if entry.candidate_score is None
    } == COMPARES_NONE & {entry.key for entry in methods()}
    assert all(
        score_of(entry).name and score_of(entry).title == score_of(entry).title.strip()
        for entry in COMPARING
    )


@pytest.mark.parametrize("copies", [False, True])
@by_key
def test_the_one_taken_is_the_best_of_its_candidates(
    entry: Method, copies: bool
) -> None:
    score = score_of(entry)
    for seed in range(3):
        data = problem(seed, copies)
        found = steps(entry, data)
        compared = 0
        for step, new in news(found):
            scores = score.of(step)
            assert scores.shape == (7,)
            if score.source is ScoreSource.WEIGHT:
                assert (
                    scores[step.selected[0]] == scores.max()
                    or entry.step_kind is StepKind.ROUNDS
                )
                assert (
                    scores[[j for j in range(7) if j not in step.selected]] == 0
                ).all()
                compared += 1
                continue
            if not np.isfinite(scores[new]).all():
                # what cannot change a ranking comes last, without a comparison
                continue
            compared += 1
            gains = score.gains(scores)
            best = np.nanmax(gains)
            assert gains[new].min() >= best - 1e-9 * max(1.0, abs(best))
            if not score.least:
                assert np.isnan(
                    scores[[f for f in step.selected if f not in new]]
                ).all()
        assert compared >= 3


@by_key
def test_a_step_without_comparison_has_no_scores(entry: Method) -> None:
    step = Step(1, (0,), np.array([0.5, -2.0]), 1.0, np.empty(0), before=2.0)
    scores = score_of(entry).of(step)
    if score_of(entry).source is ScoreSource.WEIGHT:
        assert scores.tolist() == [0.5, 2.0]
    else:
        assert np.isnan(scores).all()


def test_the_drop_is_per_document_and_rounding_is_none() -> None:
    score = score_of(method("greedy-rankrls"))
    step = Step(
        1, (1,), np.zeros(3), 6.0, np.array([8.0, 6.0, 10.0 + 1e-14]), before=10.0
    )
    assert score.of(step, 2.0).tolist() == [1.0, 2.0, 0.0]
    assert score.title == "drop in leave-query-out error per document"


def alone(
    X: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray,
    name: str,
    directions: tuple[int, ...],
) -> list[float]:
    return [
        max(evaluate(y, d * x, qid, measures=[name])[name] for d in directions)
        for x in X.T
    ]


def check_constant(found: list[Step], expected: np.ndarray) -> None:
    """Hold scores that no step changes against theirs."""
    for step, new in news(found):
        left = np.array(expected, dtype=float)
        left[[f for f in step.selected if f not in new]] = np.nan
        np.testing.assert_allclose(step.candidates, left, rtol=1e-9)


@settings(max_examples=6)
@seeds
def test_single_features_have_their_measure_alone(seed: int) -> None:
    X, y, qid = problem(seed)
    entry = method("single-feature")
    for name, sign in (("MAP", 1.0), ("Disagreement", -1.0)):
        scores = entry.load()(measure=name).fit(X, y, qid=qid).scores_
        check_constant(
            steps(entry, (X, y, qid), measure=name), (sign < 0) + sign * scores
        )


@settings(max_examples=6)
@seeds
def test_divergence_and_information_are_their_scores(seed: int) -> None:
    X, y, qid = problem(seed)
    found = steps(method("expected-divergence"), (X, y, qid))
    check_constant(
        found, np.array(alone(X, y, qid, "NDCG@10", (1,))) + divergences(X, y, X)
    )
    information = method("mutual-information")
    check_constant(
        steps(information, (X, y, qid)), information.load()().fit(X, y, qid=qid).scores_
    )


@settings(max_examples=4)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 1.0]))
def test_gas_has_importance_less_redundancy(seed: int, c: float) -> None:
    X, y, qid = problem(seed)
    w = np.array(alone(X, y, qid, "MAP", (1, -1)))
    for step, (taken,) in news(steps(method("gas"), (X, y, qid), c=c)):
        before = list(step.selected[:-1])
        for j in set(range(7)) - set(before):
            redundancy = sum(
                np.mean(
                    [
                        abs(kendalltau(X[qid == q, i], X[qid == q, j]).statistic)
                        for q in set(qid.tolist())
                    ]
                )
                for i in before
            )
            assert step.candidates[j] == pytest.approx(
                w[j] - 2 * c * redundancy, abs=1e-9
            )
        assert taken == np.nanargmax(step.candidates)


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["weight", "scaled"]))
def test_elimination_has_the_weights_of_those_left(seed: int, importance: str) -> None:
    X, y, qid = problem(seed)
    found = steps(method("rfe"), (X, y, qid), importance=importance, regularization=0.5)
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    # the last one left is compared with none
    assert np.isnan(found[0].candidates).all()
    for step in found[1:]:
        left = sorted(step.selected)
        A = Xc[:, left]
        w = np.abs(np.linalg.solve(A.T @ A + 0.5 * np.eye(len(left)), A.T @ yc))
        if importance == "scaled":
            w *= A.std(axis=0)
        np.testing.assert_allclose(step.candidates[left], w, rtol=1e-7)
        assert np.isnan(step.candidates[[j for j in range(7) if j not in left]]).all()
        assert step.selected[-1] == left[int(np.argmin(w))]


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["unit", "none"]), st.booleans())
def test_the_lasso_has_correlations_with_the_residual(
    seed: int, scaling: str, copies: bool
) -> None:
    X, y, qid = problem(seed, copies)
    entry = method("l1-path")
    fitted = entry.load()(scaling=scaling).fit(X, y, qid=qid)
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    length = np.linalg.norm(Xc, axis=0) if scaling == "unit" else np.ones(7)
    for step in steps(entry, (X, y, qid), scaling=scaling):
        taken = step.selected[-1]
        alpha = fitted.alphas_[taken]
        if np.isnan(alpha):
            assert np.isnan(step.candidates).all()
            continue
        knot = fitted.lasso_coefs_[int(np.argmin(np.abs(fitted.lasso_alphas_ - alpha)))]
        residual = yc - Xc @ knot
        for j in np.flatnonzero(np.isfinite(step.candidates)):
            assert step.candidates[j] == pytest.approx(
                abs(Xc[:, j] @ residual) / length[j], rel=1e-6, abs=1e-9
            )
        assert step.candidates[taken] == pytest.approx(alpha, rel=1e-9)
        assert (
            not copies
            or not np.isfinite(step.candidates[[0, 3]]).all()
            or step.number == 1
            or taken in (0, 3)
        )


def test_best_first_search_has_the_best_subset_with_each_feature() -> None:
    for seed in range(3):
        X, y, qid = problem(seed)
        single = alone(X, y, qid, "NDCG@10", (1, -1))
        found = steps(method("fs-bfs"), (X, y, qid), subset_size=1)
        for step in found:
            left = np.flatnonzero(np.isfinite(step.candidates))
            np.testing.assert_allclose(
                step.candidates[left], np.array(single)[left], rtol=1e-9
            )
        fitted = method("fs-bfs").load()(**QUICK["fs-bfs"]).fit(X, y, qid=qid)
        for place, (step, new) in enumerate(news(steps(method("fs-bfs"), (X, y, qid)))):
            assert step.candidates[new].tolist() == [
                fitted.subset_scores_[place]
            ] * len(new)
            left = np.flatnonzero(np.isfinite(step.candidates))
            assert (step.candidates[left] >= np.array(single)[left] - 1e-12).all()
            assert sorted([*left, *(f for f in step.selected if f not in new)]) == list(
                range(7)
            )


@pytest.mark.parametrize("key", ["fsmsvm", "fsmrank-top"])
def test_what_is_made_of_fsmrank_has_its_weights(key: str) -> None:
    X, y, qid = problem(1)
    weights = np.abs(method("fsmrank").load()(max_iter=30).fit(X, y, qid=qid).coef_)
    check_constant(steps(method(key), (X, y, qid)), weights)


def test_boosting_has_the_gain_of_its_splits() -> None:
    X, y, qid = ranking_problem()
    for step in steps(method("lambdamart"), (X, y, qid)):
        gains = step.booster.feature_importance("gain", iteration=step.number)
        # A step has its trees as text, in which LightGBM writes six digits of a gain.
        np.testing.assert_allclose(
            score_of(method("lambdamart")).of(step), gains, rtol=1e-5
        )
