"""Permutation within queries: by direct loops, zero where nothing can change, for any model and measure."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from evidence_problems import planted
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import Problem, problems

from rankstudio.engine import GreedyRankRLS, RankRLS, evaluate, permutation_importance
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.export.models import Model, Weight
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.evidence import permutation_importance as module
from rankstudio.plugins.evidence.partial_result import PartialResult

LambdaMART = estimator_class("lambdamart")


def by_loops(
    score: Any,
    X: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray,
    measure: str,
    groups: Any,
    n_repeats: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The measure in each query, and the loss of each group, query by query and document by document."""
    order = np.concatenate(
        [np.flatnonzero(qid == q) for q in dict.fromkeys(qid.tolist())]
    )
    drawn = []
    for number in range(n_repeats):
        keys = np.empty(len(y))
        keys[order] = np.random.default_rng([5, number]).random(len(y))
        drawn.append(keys)
    base = evaluate(y, score(X), qid, measures=[measure])
    losses = []
    for group in groups:
        values = np.zeros(base.query_ids.size)
        for keys in drawn:
            other = X.copy()
            for q in base.query_ids:
                own = np.flatnonzero(qid == q)
                for column in group:
                    other[own, column] = X[own[np.argsort(keys[own])], column]
            values += evaluate(y, score(other), qid, measures=[measure]).per_query[
                measure
            ]
        losses.append(base.per_query[measure] - values / n_repeats)
    return base.per_query[measure], np.array(losses)


def graded(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The planted problem with five grades."""
    X, y, qid = planted(seed)
    return X, np.clip(np.round(y + 2), 0, 4), qid


def bent(X: np.ndarray) -> np.ndarray:
    """Scores that no linear model gives."""
    return np.sin(3 * X[:, 0]) + X[:, -1] * np.abs(X[:, 0])


@given(
    problems(fewest_queries=2),
    st.sampled_from(["NDCG@10", "MAP", "P@2"]),
    st.integers(1, 4),
)
def test_losses_are_those_of_direct_loops(
    problem: Problem, measure: str, n_repeats: int
) -> None:
    X, y, qid, _ = problem
    n = X.shape[1]
    groups = [*((j,) for j in range(n)), tuple(range(n))]
    options: dict[str, Any] = {
        "measure": measure,
        "n_repeats": n_repeats,
        "seed": 5,
        "groups": groups,
    }
    found = permutation_importance(bent, X, y, qid=qid, **options)
    base, losses = by_loops(bent, X, y, qid, measure, groups, n_repeats)
    np.testing.assert_allclose(found.baseline, base, atol=1e-12)
    np.testing.assert_allclose(found.loss, losses, atol=1e-12)
    assert found.measure.name == measure
    assert found.groups == tuple(groups)


def test_a_lower_measure_that_is_better_counts_the_other_way() -> None:
    X, y, qid = graded(0)
    worse = permutation_importance(
        bent, X, y, qid=qid, measure="Disagreement", groups=[(0,)]
    )
    base, losses = by_loops(bent, X, y, qid, "Disagreement", [(0,)], 10)
    assert worse.baseline == pytest.approx(base)
    again = permutation_importance(
        bent, X, y, qid=qid, measure="Disagreement", groups=[(0,)], seed=5
    )
    np.testing.assert_allclose(again.loss, -losses, atol=1e-12)


def test_constant_features_and_features_a_model_does_not_use_lose_nothing() -> None:
    X, y, qid = graded(1)
    X[:, 3] = qid
    X[qid < 40, 1] = 7.0
    found = permutation_importance(
        lambda X: X[:, :4] @ [1.0, 2.0, 0.5, 9.0], X, y, qid=qid, measure="NDCG@5"
    )
    assert (found.loss[3] == 0.0).all()
    assert (found.loss[1, :40] == 0.0).all()
    assert (found.loss[1, 40:] != 0.0).any()
    assert (found.loss[4:] == 0.0).all()
    assert (found.low[4:] == 0.0).all()


def test_the_interval_is_that_of_the_paired_t_over_queries() -> None:
    X, y, qid = graded(2)
    model = RankRLS(regularization=1.0).fit(X, y, qid=qid)
    found = permutation_importance(model, X, y, qid=qid, level=0.9, measure="NDCG@5")
    for j in (0, 3, 9):
        low, high = stats.t.interval(
            0.9, 79, found.loss[j].mean(), stats.sem(found.loss[j])
        )
        assert (found.mean[j], found.low[j], found.high[j]) == pytest.approx(
            (found.loss[j].mean(), low, high)
        )
    assert (found.low[:3] > 0).all()


def test_twins_lose_little_alone_and_much_together() -> None:
    X, y, qid = graded(3)
    model = RankRLS(regularization=64.0).fit(X, y, qid=qid)
    found = permutation_importance(
        model, X, y, qid=qid, groups=[(3,), (4,), (3, 4)], measure="MAP"
    )
    assert found.mean[2] > 1.5 * max(found.mean[0], found.mean[1])
    assert found.low[2] > 0


@pytest.mark.parametrize("estimator", [GreedyRankRLS(3), LambdaMART(20)], ids=repr)
def test_fitted_rankers_trees_and_model_files(estimator: Any, tmp_path: Path) -> None:
    X, y, qid = graded(4)
    fitted = estimator.fit(X, y, qid=qid)
    found = permutation_importance(fitted, X, y, qid=qid, measure="NDCG@5", n_repeats=3)
    assert set(found.mean.argsort()[::-1][:3].tolist()) <= {0, 1, 2, 3, 4}
    if isinstance(fitted, GreedyRankRLS):
        used = fitted.get_support(indices=True)
        assert (found.loss[np.setdiff1d(np.arange(25), used)] == 0).all()
        weights = tuple(Weight(int(j) + 1, "", float(fitted.coef_[j])) for j in used)
        file = Model(weights, "greedy-rankrls", {}, {})
        again = permutation_importance(
            file, X, y, qid=qid, measure="NDCG@5", n_repeats=3
        )
        np.testing.assert_allclose(again.loss, found.loss, atol=1e-12)


def test_parts_of_the_queries_change_nothing_and_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = graded(5)
    shuffled = np.random.default_rng(0).permutation(len(y))
    whole = permutation_importance(
        bent, X[shuffled], y[shuffled], qid=qid[shuffled], n_repeats=4
    )
    # a hundred documents at a time
    monkeypatch.setattr(module, "_VALUES_PER_BLOCK", 25 * 4 * 100)
    parts = permutation_importance(
        bent, X[shuffled], y[shuffled], qid=qid[shuffled], n_repeats=4
    )
    np.testing.assert_array_equal(parts.loss, whole.loss)
    np.testing.assert_array_equal(parts.baseline, whole.baseline)


def test_progress_has_what_is_known_of_the_queries_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = graded(6)
    monkeypatch.setattr(module, "_VALUES_PER_BLOCK", 25 * 10 * 200)
    told: list[WorkProgress] = []
    steps = module.importance_steps

    def listened(*given: Any, **settings: Any) -> Any:
        work = steps(*given, **settings)
        while True:
            try:
                told.append(next(work))
            except StopIteration as end:
                return end.value
            yield told[-1]

    monkeypatch.setattr(module, "importance_steps", listened)
    found = permutation_importance(bent, X, y, qid=qid)
    partial = [one.found for one in told if isinstance(one, PartialResult)]
    assert [one.baseline.size for one in partial] == [25, 50, 75, 80]
    for one in partial:
        np.testing.assert_array_equal(one.loss, found.loss[:, : one.baseline.size])
    assert [one.share for one in told] == sorted(one.share for one in told)
    assert len(told) == 4 * 26


def test_mapped_features_are_read_in_parts(tmp_path: Path) -> None:
    X, y, qid = graded(7)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    sizes: list[int] = []

    def score(part: np.ndarray) -> np.ndarray:
        sizes.append(len(part))
        return bent(part)

    module_values, module._VALUES_PER_BLOCK = module._VALUES_PER_BLOCK, 25 * 2 * 80
    try:
        found = permutation_importance(score, mapped, y, qid=qid, n_repeats=2)
    finally:
        module._VALUES_PER_BLOCK = module_values
    assert max(sizes) <= 160
    np.testing.assert_array_equal(
        found.loss, permutation_importance(bent, X, y, qid=qid, n_repeats=2).loss
    )


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"model": 3}, "model"),
        ({"X": np.zeros(640)}, "X"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"seed": -1}, "seed"),
        ({"groups": []}, "groups"),
        ({"groups": [(0, 25)]}, "groups"),
        ({"groups": [(1, 1)]}, "groups"),
        ({"measure": "best"}, "measure"),
        ({"level": 1.0}, "level"),
    ],
)
def test_what_is_wrong_is_refused(changes: dict[str, Any], name: str) -> None:
    X, y, qid = graded(8)
    given: dict[str, Any] = {"model": bent, "X": X, "y": y, "qid": qid, **changes}
    with pytest.raises(ParameterError) as refused:
        permutation_importance(
            given.pop("model"), given.pop("X"), given.pop("y"), **given
        )
    assert refused.value.name == name


def test_one_query_is_not_enough() -> None:
    X, y, _ = graded(9)
    with pytest.raises(DatasetError, match="all documents are one ranking"):
        permutation_importance(bent, X, y, qid=np.zeros(640))
