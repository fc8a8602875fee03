import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.paired import (
    bootstrap_interval,
    compare_paired,
    holm,
    paired_t,
    randomisation,
    win_tie_loss,
)

NAN = float("nan")

tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)  # as P@10: full of ties, and inexact in binary
rows = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=10)


def split(pairs):
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


def runs(n, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.beta(2, 3, n)
    return a + shift, np.clip(a + 0.2 * rng.normal(size=n), 0, 1)


def student(a, b):
    """t by its definition, and its p by the incomplete beta function."""
    difference = [float(x) - float(y) for x, y in zip(a, b, strict=True)]
    n = len(difference)
    mean = math.fsum(difference) / n
    variance = math.fsum((d - mean) ** 2 for d in difference) / (n - 1)
    t = mean / math.sqrt(variance / n)
    return t, special.betainc((n - 1) / 2, 0.5, (n - 1) / (n - 1 + t * t))


@pytest.mark.parametrize("n", [2, 3, 17, 400])
def test_t_is_that_of_student(n):
    a, b = runs(n, 0.03, n)
    expected_t, expected_p = student(a, b)
    t, p = paired_t(a, b)
    # The mean and the deviation are sums of n roundings each.
    assert t == pytest.approx(expected_t, rel=8 * n * np.finfo(float).eps)
    assert p == pytest.approx(expected_p, rel=1e-9)


def test_t_keeps_its_p_far_in_the_tail():
    a, b = runs(1000, 0.2)
    assert 0.0 < paired_t(a, b).p == pytest.approx(student(a, b)[1], rel=1e-6)


@pytest.mark.parametrize("exponent", [-600, 500])
def test_t_does_not_see_the_unit_of_the_measure(exponent):
    a, b = runs(17, 0.03)
    assert paired_t(np.ldexp(a, exponent), np.ldexp(b, exponent)) == paired_t(a, b)


@pytest.mark.parametrize("b", [[0.1, 0.2, 0.7], [0.0, 0.1, 0.6]])
def test_t_claims_nothing_where_the_difference_does_not_vary(b):
    # In binary the differences 0.1 - 0.0, 0.2 - 0.1 and 0.7 - 0.6 are not the same number.
    assert paired_t([0.1, 0.2, 0.7], b) == (0.0, 1.0)


def test_one_query_and_none():
    one = compare_paired([0.5], [0.2])
    assert (one.t, one.p_t, one.p_randomisation, one.low, one.high) == (0.0, 1.0, 1.0, 0.3, 0.3)
    none = compare_paired([NAN, 0.2], [0.1, NAN])
    assert none.n == none.wins == none.ties == none.losses == 0
    assert np.isnan([none.mean_difference, none.t, none.p_t, none.p_randomisation, none.low, none.high]).all()


@given(rows, st.integers(0, 5))
def test_the_order_of_the_runs_only_turns_the_sign(pairs, seed):
    a, b = split(pairs)
    one = compare_paired(a, b, n_assignments=99, n_resamples=99, seed=seed)
    other = compare_paired(b, a, n_assignments=99, n_resamples=99, seed=seed)
    assert (one.mean_difference, one.t, one.p_t) == (-other.mean_difference, -other.t, other.p_t)
    assert one.p_randomisation == other.p_randomisation
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-14)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.wins + one.ties + one.losses == one.n == len(pairs)
    assert 0 < one.p_t <= 1
    assert 0 < one.p_randomisation <= 1
    assert one.low <= one.high


def test_bootstrap_is_the_percentile_interval_of_scipy():
    a, b = runs(200, 0.02)
    n = 20_000
    reference = stats.bootstrap(
        (a - b,), np.mean, n_resamples=n, method="percentile", confidence_level=0.9, rng=3
    )
    low, high = bootstrap_interval(a, b, 0.9, n)
    # A drawn quantile at q has variance q (1 - q) / (n f²), f the density of the mean there; two are drawn.
    error = reference.standard_error
    room = 5 * np.sqrt(2 * 0.05 * 0.95 / n) * error / stats.norm.pdf(stats.norm.ppf(0.05))
    assert low == pytest.approx(reference.confidence_interval.low, abs=room)
    assert high == pytest.approx(reference.confidence_interval.high, abs=room)


def test_bootstrap_of_two_queries_is_known_exactly():
    # The mean of a sample is 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4.
    assert bootstrap_interval([0.0, 1.0], [0.0, 0.0], 0.95) == (0.0, 1.0)
    assert bootstrap_interval([0.0, 1.0], [0.0, 0.0], 0.4) == (0.5, 0.5)


def test_results_are_decided_by_the_seed():
    a, b = runs(100, 0.01)
    assert compare_paired(a, b, seed=4) == compare_paired(a, b, seed=4)
    other = compare_paired(a, b, seed=5)
    assert compare_paired(a, b, seed=4).p_randomisation != other.p_randomisation
    assert compare_paired(a, b, seed=4).low != other.low


def test_a_pair_with_a_nan_is_left_out_together():
    a, b = runs(30, 0.02)
    gaps_a, gaps_b = np.insert(a, [3, 9], [NAN, 0.1]), np.insert(b, [3, 9], [0.7, NAN])
    assert compare_paired(gaps_a, gaps_b) == compare_paired(a, b)
    assert compare_paired(a, b).n == 30


def test_wins_follow_the_direction_of_the_measure_and_the_tolerance():
    a, b = [0.5, 0.3, 0.3, 0.3 + 1e-14], [0.4, 0.5, 0.3, 0.3]
    assert win_tie_loss(a, b) == (1, 2, 1)
    assert win_tie_loss(a, b, 0.15) == (0, 3, 1)
    assert win_tie_loss(a, b, 0.15, higher_is_better=False) == (1, 3, 0)
    assert compare_paired(a, b, tolerance=0.15, higher_is_better=False).wins == 1


def by_definition(p):
    """Holm's procedure as a sequence of decisions: the least level at which each test is rejected."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    levels, before = {}, 0.0
    for step, i in enumerate(order):
        # Test i is reached only where all before it were rejected, and then needs (m - step) p <= level.
        before = max(before, (len(p) - step) * p[i])
        levels[i] = min(1.0, before)
    return [levels[i] for i in range(len(p))]


def test_holm_by_hand():
    # 4 × 0.005, 3 × 0.01, then 2 × 0.03 and 1 × 0.04 < 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.one_of(st.floats(0, 1), st.just(NAN)), max_size=8))
def test_holm_rises_with_p_and_is_never_below_it(p):
    adjusted = holm(p)
    kept = [i for i, value in enumerate(p) if not np.isnan(value)]
    assert np.array_equal(np.isnan(adjusted), np.isnan(np.array(p, dtype=float)))
    assert adjusted[kept].tolist() == by_definition([p[i] for i in kept])
    assert all(p[i] <= adjusted[i] <= 1 for i in kept)
    assert all(adjusted[i] <= adjusted[j] for i in kept for j in kept if p[i] <= p[j])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: paired_t([0.1, 0.2], [0.1]), "b"),
        (lambda: paired_t([[0.1]], [[0.1]]), "a"),
        (lambda: randomisation([np.inf], [0.1]), "a"),
        (lambda: randomisation([0.2], [0.1], n=0), "n"),
        (lambda: randomisation([0.2], [0.1], n=1e4), "n"),
        (lambda: randomisation([0.2], [0.1], seed=-1), "seed"),
        (lambda: bootstrap_interval([0.2], [0.1], level=1.0), "level"),
        (lambda: bootstrap_interval([0.2], [0.1], n=0), "n"),
        (lambda: win_tie_loss([0.2], [0.1], -0.1), "tolerance"),
        (lambda: holm([0.1, 1.2]), "p_values"),
        (lambda: holm([-0.1]), "p_values"),
    ],
)
def test_errors_name_the_parameter(call, name):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.name == name
