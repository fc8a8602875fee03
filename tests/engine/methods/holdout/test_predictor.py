"""Predictions of held-out documents against retraining without them."""

import numpy as np
import pytest
from abilities import estimator_class
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Problem, problems

from rankstudio.engine import RankRLS
from rankstudio.engine.errors import DatasetError, OutOfMemoryError, ParameterError
from rankstudio.engine.methods.holdout import HeldOutPredictor, KernelDecomposition
from rankstudio.engine.support.work import finish

KernelRankRLS = estimator_class("kernel-rankrls")

LOSSES = pytest.mark.parametrize("loss", ["differences", "documents"])


def retrained(
    problem: Problem, held: np.ndarray, loss: str, weighting: str = "size"
) -> np.ndarray:
    """Predict some documents with the model learned from the others, by least squares on explicit rows."""
    X, y, _, regularization = problem
    kept = np.setdiff1d(np.arange(y.size), held)
    c, n = kept.size, X.shape[1]
    if loss == "differences":
        first, second = np.triu_indices(c, 1)
        weight = 1.0 if weighting == "none" else np.sqrt(1.0 / c)
        A = weight * (X[kept][first] - X[kept][second])
        b = weight * (y[kept][first] - y[kept][second])
        A, b = (
            np.vstack((A, np.sqrt(regularization) * np.eye(n))),
            np.concatenate((b, np.zeros(n))),
        )
        return (X[held] - X.mean(axis=0)) @ np.linalg.lstsq(A, b, rcond=None)[0]
    centre = X[kept].mean(axis=0), y[kept].mean()
    A = np.vstack((X[kept] - centre[0], np.sqrt(regularization) * np.eye(n)))
    b = np.concatenate((y[kept] - centre[1], np.zeros(n)))
    return centre[1] + (X[held] - centre[0]) @ np.linalg.lstsq(A, b, rcond=None)[0]


def equal(found: np.ndarray, expected: np.ndarray, problem: Problem) -> None:
    """Equal to 1e-8 of the labels and of what the retrained models say."""
    scale = max(
        1e-300, float(np.abs(problem.y).max()), float(np.abs(expected).max(initial=0.0))
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * scale)


def predictor(problem: Problem, loss: str, weighting: str = "size") -> HeldOutPredictor:
    return HeldOutPredictor(
        KernelDecomposition.of(problem.X),
        problem.y,
        problem.regularization,
        loss,
        weighting,
    )


@LOSSES
@given(problem=problems(), weighting=st.sampled_from(["size", "none"]))
def test_every_pair_is_predicted_as_retraining_without_it_does(
    loss: str, problem: Problem, weighting: str
) -> None:
    m = problem.y.size
    assume(m >= 3)
    found = predictor(problem, loss, weighting)
    matrix = found.all_pairs()
    pairs = np.argwhere(~np.eye(m, dtype=bool))
    for i, j in pairs[:: max(1, pairs.shape[0] // 12)]:
        held = np.array([i, j])
        equal(
            np.array([matrix[i, j], matrix[j, i]]),
            retrained(problem, held, loss, weighting),
            problem,
        )
    assert np.isnan(np.diagonal(matrix)).all()
    equal(found.pairs(pairs)[:, 0], matrix[pairs[:, 0], pairs[:, 1]], problem)


@LOSSES
@given(problem=problems(), weighting=st.sampled_from(["size", "none"]), data=st.data())
def test_any_set_is_predicted_as_retraining_without_it_does(
    loss: str, problem: Problem, weighting: str, data: st.DataObject
) -> None:
    m = problem.y.size
    assume(m >= 2)
    sets = data.draw(
        st.lists(
            st.lists(st.integers(0, m - 1), min_size=1, max_size=m - 1, unique=True),
            max_size=4,
        )
    )
    found = predictor(problem, loss, weighting)
    for held, predicted in zip(sets, found.sets(sets), strict=True):
        equal(predicted, retrained(problem, np.array(held), loss, weighting), problem)
    alone = np.array(
        [retrained(problem, np.array([i]), loss, weighting)[0] for i in range(m)]
    )
    equal(found.each(), alone, problem)


@LOSSES
def test_a_kernel_matrix_gives_what_its_features_give(loss: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((12, 3)), rng.random(12)
    by_kernel = HeldOutPredictor(KernelDecomposition.of_kernel(X @ X.T), y, 0.3, loss)
    by_features = HeldOutPredictor(KernelDecomposition.of(X), y, 0.3, loss)
    np.testing.assert_allclose(
        by_kernel.all_pairs(), by_features.all_pairs(), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        by_kernel.each(), by_features.each(), rtol=1e-9, atol=1e-12
    )


@LOSSES
def test_several_outputs_share_the_decomposition(loss: str) -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.random((9, 4)), rng.random((9, 3))
    kernel = KernelDecomposition.of(X)
    all_at_once = HeldOutPredictor(kernel, Y, 0.5, loss)
    pairs, sets = [[0, 3], [8, 2]], [[1, 2, 5], [7]]
    for v in range(3):
        one = HeldOutPredictor(kernel, Y[:, v], 0.5, loss)
        np.testing.assert_allclose(
            all_at_once.all_pairs()[..., v], one.all_pairs(), rtol=1e-12
        )
        np.testing.assert_allclose(
            all_at_once.pairs(pairs)[..., v], one.pairs(pairs), rtol=1e-12
        )
        np.testing.assert_allclose(all_at_once.each()[:, v], one.each(), rtol=1e-12)
        for several, single in zip(all_at_once.sets(sets), one.sets(sets), strict=True):
            np.testing.assert_allclose(several[:, v], single, rtol=1e-12)


def test_rankrls_leaves_pairs_and_sets_out() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.random((10, 3)), rng.random(10)
    method = RankRLS(regularization=0.25)
    matrix, (three,) = (
        method.leave_pair_out(X, y),
        method.leave_sets_out(X, y, [[4, 1, 9]]),
    )
    for held, predicted in (((2, 7), matrix[[2, 7], [7, 2]]), ((4, 1, 9), three)):
        kept = np.setdiff1d(np.arange(10), held)
        coef = (
            RankRLS(regularization=0.25)
            .fit(X[kept], y[kept], qid=np.zeros(kept.size))
            .coef_
        )
        np.testing.assert_allclose(
            predicted, (X[list(held)] - X.mean(axis=0)) @ coef, rtol=1e-9
        )
    np.testing.assert_array_equal(
        method.leave_pair_out(X, y, pairs=[[2, 7]])[0], matrix[[2, 7], [7, 2]]
    )


@pytest.mark.parametrize(
    "options", [{"gamma": 0.7}, {"kernel": "poly", "degree": 2}, {"kernel": "linear"}]
)
def test_a_kernel_leaves_pairs_and_sets_out(options: dict[str, object]) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.random((14, 3)), rng.random(14)
    method = KernelRankRLS(regularization=0.1, **options)
    matrix, (three,) = (
        method.leave_pair_out(X, y),
        method.leave_sets_out(X, y, [[4, 1, 9]]),
    )
    for held, predicted in (((2, 7), matrix[[2, 7], [7, 2]]), ((4, 1, 9), three)):
        kept = np.setdiff1d(np.arange(14), held)
        without = KernelRankRLS(regularization=0.1, **options).fit(
            X[kept], y[kept], qid=np.zeros(kept.size)
        )
        scores = without.predict(X)
        np.testing.assert_allclose(
            predicted, (scores - scores.mean())[list(held)], rtol=1e-8, atol=1e-10
        )
    if options.get("kernel") == "linear":
        np.testing.assert_allclose(
            matrix, RankRLS(0.1).leave_pair_out(X, y), rtol=1e-8, atol=1e-10
        )
        precomputed = KernelRankRLS("precomputed", regularization=0.1).leave_pair_out(
            X @ X.T, y
        )
        np.testing.assert_allclose(precomputed, matrix, rtol=1e-8, atol=1e-10)
    with pytest.raises(ParameterError, match="n_basis: expected None"):
        KernelRankRLS(n_basis=5).leave_pair_out(X, y)


def test_threads_do_not_change_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.random((800, 5)), rng.random(800)
    found = HeldOutPredictor(KernelDecomposition.of(X), y, 1.0)
    monkeypatch.setenv("RANKSTUDIO_THREADS", "1")
    alone = found.all_pairs()
    monkeypatch.setenv("RANKSTUDIO_THREADS", "3")
    np.testing.assert_array_equal(found.all_pairs(), alone)


def test_what_cannot_be_held_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = HeldOutPredictor(KernelDecomposition.of(np.eye(4)), np.arange(4.0), 1.0)
    with pytest.raises(DatasetError, match="different rows from 0 to 3 in each set"):
        found.sets([[1, 1]])
    with pytest.raises(DatasetError, match="different rows from 0 to 3 in each set"):
        found.sets([[4]])
    with pytest.raises(DatasetError, match="All 4 documents"):
        found.sets([[0, 1, 2, 3]])
    with pytest.raises(DatasetError, match="two different rows from 0 to 3"):
        found.pairs([[1, 1]])
    with pytest.raises(DatasetError, match="two rows of X for each pair, got shape"):
        found.pairs([1, 2])
    with pytest.raises(ParameterError, match="loss"):
        HeldOutPredictor(found.kernel, found.y, 1.0, "hinge")
    with pytest.raises(DatasetError, match="expected one label per row"):
        HeldOutPredictor(found.kernel, np.arange(3.0), 1.0)
    with pytest.raises(DatasetError, match="square matrix"):
        KernelDecomposition.of_kernel(np.ones((2, 3)))
    monkeypatch.setattr(
        "rankstudio.engine.methods.holdout.memory.available", lambda: 200.0
    )
    with pytest.raises(
        OutOfMemoryError, match="Leaving out pairs of 4 documents needs"
    ):
        found.all_pairs()


@LOSSES
@given(problem=problems(), kinds=st.integers(2, 4))
def test_the_area_counts_the_pairs_in_order(
    loss: str, problem: Problem, kinds: int
) -> None:
    """Within the bounds that pairs of almost equal scores leave: these may be ties hidden by rounding."""
    m = problem.y.size
    assume(m >= 3)
    found = predictor(problem, loss)
    matrix = found.all_pairs()
    grades = np.round(np.argsort(np.argsort(problem.y)) * kinds / m)
    scale = max(
        1e-300, float(np.abs(problem.y).max()), float(np.nanmax(np.abs(matrix)))
    )
    gaps = [
        (matrix[i, j] - matrix[j, i]) / scale
        for i in range(m)
        for j in range(m)
        if grades[i] > grades[j]
    ]
    area = finish(found.pair_area(grades))
    if not gaps:
        assert np.isnan(area)
        return
    assert (
        np.mean(np.array(gaps) > 1e-8) - 1e-12
        <= area
        <= np.mean(np.array(gaps) > -1e-8) + 1e-12
    )
