"""Sums over pairs of labels or of preferences against the explicit list of pairs; products with features."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import centred_by_loops
from pair_oracles import (
    hinge_objective,
    laplacian,
    least_hinge,
    least_squared_hinge,
    pairs_of,
    squared_hinge_objective,
)
from preference_oracles import preferred
from strategies import Problem, problems

from rankstudio.engine import RankSVM
from rankstudio.engine.arithmetic.optimisers import truncated_newton
from rankstudio.engine.arithmetic.pair_losses import (
    LinearPairs,
    Smooth,
    SmoothedHinge,
    SquaredHinge,
)
from rankstudio.engine.arithmetic.pairs import Pairs, PreferencePairs
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.preferences import Preferences


def at_random(
    problem: Problem, seed: int, scale: float
) -> tuple[np.ndarray, np.ndarray, Pairs, np.ndarray]:
    """Labels and queries in grouped order, their Pairs, and scores, some equal or one margin apart."""
    data = group(problem.X, problem.y, problem.qid)
    qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    rng = np.random.default_rng(seed)
    scores = scale * rng.normal(size=data.y.size)
    scores = np.where(rng.random(scores.size) < 0.3, np.round(scores), scores)
    return data.y, qid, Pairs(data.y, data.ptr), scores


Given = tuple[Problem, Preferences]
MARGINS = st.sampled_from([1.0, 0.0, 0.5, -2.0, 30.0])


@given(problems(), st.integers(0, 99), st.sampled_from([0.0, 0.3, 2.0]), MARGINS)
def test_counts_and_hinge_are_those_of_the_listed_pairs(
    problem: Problem, seed: int, scale: float, margin: float
) -> None:
    y, qid, pairs, s = at_random(problem, seed, scale)
    listed = pairs_of(y, qid)
    assert pairs.n_pairs == len(listed)
    violated = [(i, j) for i, j in listed if s[i] - s[j] < margin]
    at = pairs.at(s, margin)
    # c and d of the thesis, (4.10) and (4.11)
    more, less = np.zeros(y.size), np.zeros(y.size)
    for i, j in violated:
        less[i] += 1
        more[j] += 1
    assert at.n_violated == len(violated)
    assert (at.counts[1] == more).all()
    assert (at.counts[0] == less).all()
    loss, slopes = at.hinge()
    expected = sum(margin - s[i] + s[j] for i, j in violated)
    assert loss == pytest.approx(expected, rel=1e-12, abs=1e-10)
    assert (slopes == more - less).all()
    if margin == 1.0:
        alone = pairs.hinge(s)
        assert (alone.slopes == slopes).all()
        assert alone.n_violated == len(violated)
        assert alone.loss == pytest.approx(expected, rel=1e-12, abs=1e-10)


@given(problems())
def test_partners_are_those_of_the_listed_pairs(problem: Problem) -> None:
    y, qid, pairs, _ = at_random(problem, 0, 0.0)
    listed = pairs_of(y, qid)
    assert (pairs.lower == np.bincount(listed[:, 0], minlength=y.size)).all()
    assert (pairs.higher == np.bincount(listed[:, 1], minlength=y.size)).all()
    assert (pairs.degrees == np.bincount(listed.ravel(), minlength=y.size)).all()
    levels = [np.unique(y[qid == q]) for q in range(qid.max() + 1)]
    assert (
        pairs.level
        == [np.searchsorted(levels[q], label) for q, label in zip(qid, y, strict=True)]
    ).all()
    at_zero, expected = pairs.hinge_at_zero, pairs.hinge(np.zeros(y.size))
    assert (at_zero.loss, at_zero.n_violated) == (expected.loss, expected.n_violated)
    assert (at_zero.slopes == expected.slopes).all()


@given(problems(), st.integers(0, 99), st.sampled_from([0.0, 0.3, 2.0]), MARGINS)
def test_squared_hinge_is_that_of_the_listed_pairs(
    problem: Problem, seed: int, scale: float, margin: float
) -> None:
    y, qid, pairs, s = at_random(problem, seed, scale)
    expected, slopes, bent = 0.0, np.zeros(y.size), np.zeros(y.size)
    values = np.random.default_rng(seed + 1).normal(size=y.size)
    for i, j in pairs_of(y, qid):
        if s[i] - s[j] < margin:
            u = margin - s[i] + s[j]
            expected += u * u
            slopes[i] -= 2 * u
            slopes[j] += 2 * u
            bent[i] += values[i] - values[j]
            bent[j] += values[j] - values[i]
    at = pairs.at(s, margin)
    loss, found = at.squared_hinge()
    assert loss == pytest.approx(expected, rel=1e-11, abs=1e-10)
    np.testing.assert_allclose(found, slopes, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(laplacian(at, values), bent, rtol=1e-11, atol=1e-10)


@given(problems(), st.integers(0, 99), st.sampled_from([1.0, 0.25, 1e-3]))
def test_the_smoothed_hinge_is_that_of_the_listed_pairs(
    problem: Problem, seed: int, width: float
) -> None:
    y, qid, pairs, s = at_random(problem, seed, 1.0)
    listed = pairs_of(y, qid)
    u = 1.0 - s[listed[:, 0]] + s[listed[:, 1]]
    expected = np.where(
        u <= 0, 0.0, np.where(u < width, u * u / (2 * width), u - width / 2)
    ).sum()
    assert SmoothedHinge(width)(pairs, s).loss == pytest.approx(
        expected, rel=1e-9, abs=1e-9 / width
    )


@given(problems(), st.integers(0, 99), st.sampled_from([None, 0.5]))
def test_derivatives_are_those_of_the_loss(
    problem: Problem, seed: int, width: float | None
) -> None:
    _, _, pairs, s = at_random(problem, seed, 1.0)
    # away from the kinks of the gradient
    s = s + 1e-3 * np.random.default_rng(seed).random(s.size)
    direction = np.random.default_rng(seed + 1).normal(size=s.size)

    def smooth(t: float) -> Smooth:
        scores = s + t * direction
        return (
            SquaredHinge()(pairs, scores)
            if width is None
            else SmoothedHinge(width)(pairs, scores)
        )

    here, step = smooth(0.0), 1e-6
    slope = (smooth(step).loss - smooth(-step).loss) / (2 * step)
    assert here.slope(direction) == pytest.approx(slope, rel=1e-5, abs=1e-4)
    bend = (smooth(step).slope(direction) - smooth(-step).slope(direction)) / (2 * step)
    assert here.bending(direction) == pytest.approx(bend, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("labels", [1, 3, 8, 9, 10_000])
def test_queries_of_every_length_come_sorted_and_start_from_nothing(
    labels: int,
) -> None:
    """Lengths about the limits of the three ways of sorting, one after the other, of few and many labels."""
    rng = np.random.default_rng(labels)
    lengths = [80, 81, 1, 199, 200, 201, 2, 200, 30, 700]
    y, s = (
        rng.integers(0, labels, sum(lengths)).astype(float),
        rng.normal(size=sum(lengths)),
    )
    qid = np.repeat(np.arange(len(lengths)), lengths)
    pairs = Pairs(y, np.concatenate([[0], np.cumsum(lengths)]))
    above = (y[:, None] > y) & (qid[:, None] == qid)
    active = above & (np.subtract.outer(s, s) < 1.0)
    levels = [
        np.unique(y[qid == q], return_inverse=True)[1] for q in range(len(lengths))
    ]
    assert (pairs.level == np.concatenate(levels)).all()
    assert (pairs.lower == above.sum(axis=1)).all() and (
        pairs.higher == above.sum(axis=0)
    ).all()
    joined, values = active + active.T, rng.normal(size=y.size)
    assert max(np.abs(s).max(), np.abs(values).max()) < 5
    # two sums of so many terms, none above 700 · 5
    rounding = 2 * 700 * (700 * 5) * np.finfo(float).eps
    for _ in range(2):  # the second time from the order of the first
        hinge, at = pairs.hinge(s), pairs.at(s)
        assert hinge.n_violated == at.n_violated == active.sum()
        assert (hinge.slopes == active.sum(axis=0) - active.sum(axis=1)).all()
        assert (at.counts == [active.sum(axis=1), active.sum(axis=0)]).all()
        np.testing.assert_allclose(
            at.sums, [active @ s, active.T @ s], rtol=0, atol=rounding
        )
        expected = joined.sum(axis=1) * values - joined @ values
        np.testing.assert_allclose(
            laplacian(at, values), expected, rtol=0, atol=rounding
        )


def many_queries(m: int = 120_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, query pointer and scores of enough documents for threads."""
    rng = np.random.default_rng(1)
    ptr = np.concatenate(
        ([0], np.sort(rng.choice(np.arange(1, m), 800, replace=False)), [m])
    )
    return rng.integers(0, 3, m).astype(float), ptr, rng.normal(size=m)


def test_sums_do_not_depend_on_the_threads() -> None:
    y, ptr, s = many_queries()
    alone = Pairs(y, ptr)
    with ThreadPoolExecutor(3) as executor:
        together = Pairs(y, ptr, executor, 4)
        for scores in (s, 0.1 * s):
            one, many = alone.hinge(scores), together.hinge(scores)
            assert (one.loss, one.n_violated) == (many.loss, many.n_violated)
            assert (one.slopes == many.slopes).all()
            at_one, at_many = alone.at(scores), together.at(scores)
            assert (at_one.counts == at_many.counts).all()
            assert (at_one.sums == at_many.sums).all()


@given(problems(), st.integers(0, 99), st.sampled_from([0.0, 1.0, 1e6]))
def test_products_are_those_with_centred_features(
    problem: Problem, seed: int, offset: float
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    rng = np.random.default_rng(seed)
    sizes = np.diff(data.ptr)
    added = offset * np.repeat(
        rng.normal(size=(sizes.size, data.X.shape[1])), sizes, axis=0
    )
    X = data.X + added  # this addition rounds, and so does the difference of two rows
    rounding = 1e-14 + 4.0 * np.finfo(float).eps * np.abs(added).max()
    qid = np.repeat(np.arange(sizes.size), sizes)
    centred = centred_by_loops(data.X, qid)
    linear = LinearPairs(X, Pairs(data.y, data.ptr))
    w = rng.normal(size=X.shape[1])
    scores = linear.scores(w)
    expected = centred @ w - (centred @ w)[data.ptr[:-1][qid]]
    np.testing.assert_allclose(
        scores, expected, rtol=0, atol=rounding * np.abs(w).sum()
    )
    for smooth in (
        SquaredHinge()(linear.pairs, scores),
        SmoothedHinge(0.5)(linear.pairs, scores),
    ):
        atol = rounding * (1.0 + np.abs(smooth.slopes).sum())
        np.testing.assert_allclose(
            linear.weigh(smooth.slopes), centred.T @ smooth.slopes, rtol=0, atol=atol
        )
    rows = rng.integers(0, len(X), 5)
    np.testing.assert_allclose(
        linear.centred(rows), centred[rows], rtol=0, atol=rounding
    )


def test_an_offset_that_is_exact_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, (60, 4)) / 1024.0
    y, ptr = rng.integers(0, 3, 60).astype(float), np.array([0, 7, 30, 60])
    offset = np.repeat(2.0 ** rng.integers(10, 30, (3, 4)), np.diff(ptr), axis=0)
    w = rng.normal(size=4)
    plain, shifted = (
        LinearPairs(features, Pairs(y, ptr)) for features in (X, X + offset)
    )
    assert (plain.scores(w) == shifted.scores(w)).all()
    slopes = plain.pairs.hinge(plain.scores(w)).slopes
    assert (plain.weigh(slopes) == shifted.weigh(slopes)).all()


@pytest.mark.parametrize(("m", "n"), [(120_000, 2), (12_000, 900)])
def test_products_do_not_depend_on_the_threads(m: int, n: int) -> None:
    rng = np.random.default_rng(1)
    X, y, w = (
        rng.normal(size=(m, n)),
        rng.integers(0, 3, m).astype(float),
        rng.normal(size=n),
    )
    ptr = np.concatenate(
        ([0], np.sort(rng.choice(np.arange(1, m), 800, replace=False)), [m])
    )
    found = []
    with ThreadPoolExecutor(3) as executor:
        for threads, workers in ((None, 1), (executor, 4)):
            linear = LinearPairs(X, Pairs(y, ptr, threads, workers))
            scores = linear.scores(w)
            smooth = SquaredHinge()(linear.pairs, scores)
            found.append(
                (scores, linear.weigh(smooth.slopes), linear.curvature(smooth, w))
            )
    for alone, together in zip(*found, strict=True):
        assert (alone == together).all()
    scores, gradient, curved = found[0]
    first = np.repeat(ptr[:-1], np.diff(ptr))
    np.testing.assert_allclose(scores, (X - X[first]) @ w, atol=1e-10)
    # Each sum of m products is off by at most m roundings of their absolute values, in either order.
    rounding = 2.0 * m * np.finfo(float).eps
    assert (
        np.abs(gradient - X.T @ smooth.slopes)
        <= rounding * (np.abs(X).T @ np.abs(smooth.slopes))
    ).all()
    joined = 2.0 * laplacian(SquaredHinge()(Pairs(y, ptr), scores).outer, X @ w)
    assert (
        np.abs(curved - X.T @ joined) <= rounding * (np.abs(X).T @ np.abs(joined))
    ).all()


@pytest.mark.parametrize("n", [1, 46])
def test_one_long_query(n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(999, n)), rng.integers(0, 5, 999).astype(float)
    linear = LinearPairs(X, Pairs(y, np.array([0, 999])))
    rows = np.array([0, 5, 998])
    np.testing.assert_allclose(
        linear.centred(rows), X[rows] - X.mean(axis=0), atol=1e-12
    )
    weights = linear.pairs.hinge_at_zero.slopes
    np.testing.assert_allclose(
        linear.weigh(weights), X.T @ weights, rtol=1e-12, atol=1e-9
    )


def test_all_pairs_of_labels_have_the_sums_of_the_labels() -> None:
    rng = np.random.default_rng(0)
    ptr = np.array([0, 5, 6, 14])
    query = np.repeat(np.arange(3), np.diff(ptr))
    y, scores, values = (
        rng.integers(0, 3, 14).astype(float),
        rng.normal(size=14),
        rng.normal(size=14),
    )
    i, j = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    shuffled = rng.permutation(i.size)
    of_labels, listed = (
        Pairs(y, ptr),
        PreferencePairs(Preferences(i[shuffled], j[shuffled]), ptr),
    )
    assert listed.n_pairs == of_labels.n_pairs
    np.testing.assert_allclose(listed.degrees, of_labels.degrees)
    for margin in (1.0, 0.3, -0.5):
        ours, theirs = listed.at(scores, margin), of_labels.at(scores, margin)
        np.testing.assert_allclose(ours.counts, theirs.counts)
        np.testing.assert_allclose(ours.sums, theirs.sums, atol=1e-12)
        np.testing.assert_allclose(
            laplacian(ours, values), laplacian(theirs, values), atol=1e-12
        )
    assert listed.hinge(scores).loss == pytest.approx(of_labels.hinge(scores).loss)
    np.testing.assert_allclose(
        listed.hinge_at_zero.slopes, of_labels.hinge_at_zero.slopes
    )
    ours, theirs = (
        SmoothedHinge(0.1)(listed, scores),
        SmoothedHinge(0.1)(of_labels, scores),
    )
    assert ours.loss == pytest.approx(theirs.loss)
    assert ours.bending(values) == pytest.approx(theirs.bending(values))


def repeated(given_: Given) -> tuple[np.ndarray, np.ndarray, np.ndarray, Preferences]:
    """Return X, queries, differences as often as their weight says, and the preferences: of half weights."""
    problem, preferences = given_
    D = problem.X[preferences.winner] - problem.X[preferences.loser]
    return (
        problem.X,
        problem.qid,
        np.repeat(D, np.round(2 * preferences.weight).astype(int), 0),
        preferences,
    )


@given(preferred(), st.integers(-6, 5))
def test_squared_hinge_reaches_the_minimum_on_the_preferences(
    given_: Given, exponent: int
) -> None:
    X, qid, D, preferences = repeated(given_)
    C = 2.0**exponent
    fitted = RankSVM(C=2 * C, tol=1e-10).fit(X, qid=qid, preferences=preferences)
    reached = squared_hinge_objective(D, C, fitted.coef_)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached == pytest.approx(least_squared_hinge(D, C), rel=1e-6, abs=1e-12)


@given(preferred(), st.integers(-6, 5), st.sampled_from(["auto", "newton", "bundle"]))
def test_hinge_reaches_the_minimum_on_the_preferences(
    given_: Given, exponent: int, solver: str
) -> None:
    X, qid, D, preferences = repeated(given_)
    C = 2.0**exponent
    fitted = RankSVM(C=2 * C, loss="hinge", solver=solver, tol=1e-7)
    fitted.fit(X, qid=qid, preferences=preferences)
    reached = hinge_objective(D, C, fitted.coef_)
    least = least_hinge(D, C)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached <= least * (1 + 1e-6) + 1e-12
    # The dual value divides sums of hinges, with their rounding, by the width of the smoothing.
    magnitude = C * len(D) * (1.0 + 2.0 * float(np.abs(X @ fitted.coef_).max()))
    rounding = np.finfo(float).eps * magnitude / truncated_newton._NARROWEST
    assert fitted.objective_ - fitted.gap_ <= least * (1 + 1e-12) + rounding
