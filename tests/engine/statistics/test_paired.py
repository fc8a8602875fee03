"""Paired tests, intervals and corrections against their definitions, SciPy and enumeration."""

import math
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics import paired
from rankstudio.engine.statistics.paired import (
    bootstrap_interval,
    compare_paired,
    holm,
    paired_t,
    randomisation,
    signed_ranks,
    win_tie_loss,
)

NAN = float("nan")

# as P@10: full of ties, and inexact in binary
tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)
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
    assert (one.t, one.p_t, one.p_randomisation, one.low, one.high) == (
        0.0,
        1.0,
        1.0,
        0.3,
        0.3,
    )
    none = compare_paired([NAN, 0.2], [0.1, NAN])
    assert none.n == none.wins == none.ties == none.losses == 0
    assert np.isnan(
        [
            none.mean_difference,
            none.t,
            none.p_t,
            none.p_randomisation,
            none.low,
            none.high,
        ]
    ).all()


@given(rows, st.integers(0, 5))
def test_the_order_of_the_runs_only_turns_the_sign(pairs, seed):
    a, b = split(pairs)
    one = compare_paired(a, b, n_assignments=99, n_resamples=99, seed=seed)
    other = compare_paired(b, a, n_assignments=99, n_resamples=99, seed=seed)
    assert (one.mean_difference, one.t, one.p_t) == (
        -other.mean_difference,
        -other.t,
        other.p_t,
    )
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
        (a - b,),
        np.mean,
        n_resamples=n,
        method="percentile",
        confidence_level=0.9,
        rng=3,
    )
    low, high = bootstrap_interval(a, b, 0.9, n)
    # A drawn quantile at q has variance q (1 - q) / (n f²), f the density of the mean there; two are drawn.
    error = reference.standard_error
    room = (
        5 * np.sqrt(2 * 0.05 * 0.95 / n) * error / stats.norm.pdf(stats.norm.ppf(0.05))
    )
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


@given(st.lists(st.one_of(st.floats(0, 1), st.just(NAN)), max_size=8))
def test_holm_decides_as_by_definition(p):
    adjusted = holm(p)
    kept = [i for i, value in enumerate(p) if not np.isnan(value)]
    assert np.array_equal(np.isnan(adjusted), np.isnan(np.array(p, dtype=float)))
    assert adjusted[kept].tolist() == by_definition([p[i] for i in kept])


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


@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=10)
)
def test_exact_p_is_the_count_over_all_signs_in_whole_numbers(pairs):
    differences = [a - b for a, b in pairs]
    signs = product((1, -1), repeat=len(pairs))
    sums = [sum(s * d for s, d in zip(row, differences, strict=True)) for row in signs]
    expected = Fraction(
        sum(abs(total) >= abs(sum(differences)) for total in sums), len(sums)
    )
    a, b = np.array(pairs).T / 10
    assert randomisation(a, b, n=1024) == float(expected)


def test_exact_randomisation_in_several_chunks(monkeypatch):
    a, b = runs(9, 0.1)
    whole = randomisation(a, b)
    monkeypatch.setattr(paired, "_ASSIGNMENTS_AT_ONCE", 7)
    assert randomisation(a, b) == whole


def test_exactly_as_many_assignments_as_asked_are_still_enumerated():
    a, b = np.ones(6), np.zeros(6)  # only all plus and all minus are as far out
    assert randomisation(a, b, n=64) == 2 / 64
    drawn = randomisation(a, b, n=63)
    assert drawn != 2 / 64
    assert (drawn * 64) == pytest.approx(round(drawn * 64), abs=1e-12)


def test_queries_without_a_difference_change_nothing():
    a, b = runs(8, 0.1)
    more_a, more_b = (
        np.concatenate((a, np.full(50, 0.4))),
        np.concatenate((b, np.full(50, 0.4))),
    )
    assert randomisation(more_a, more_b) == randomisation(a, b)


@pytest.mark.parametrize("wins", [35, 40, 50])
def test_drawn_randomisation_is_near_the_binomial_where_that_is_exact(wins):
    # Q differences of the same size: the sum is a binomial.
    q, n = 61, 40_000
    a = np.where(np.arange(q) < wins, 0.3, 0.1)
    b = np.full(q, 0.2)
    tail = sum(comb(q, i) for i in range(max(wins, q - wins), q + 1)) / 2**q
    exact = 2 * tail
    # Five standard deviations of the share of n draws, and the + 1.
    room = 5 * np.sqrt(exact * (1 - exact) / n) + 1 / n
    assert randomisation(a, b, n) == pytest.approx(exact, abs=room)


def test_the_observed_assignment_counts_as_one_of_the_drawn():
    # 2 of 2^61 are as far out: none of a thousand draws is.
    assert randomisation(np.ones(61), np.zeros(61), n=1000) == 1 / 1001


def test_drawn_randomisation_in_chunks_is_as_near(monkeypatch):
    a, b = runs(61, 0.03)
    n = 20_000
    whole = randomisation(a, b, n)
    monkeypatch.setattr(paired, "_BYTES_AT_ONCE", 8 * 1000 + 5)
    # Two independent draws of one share: five standard deviations of their difference.
    assert randomisation(a, b, n) == pytest.approx(whole, abs=5 * np.sqrt(2 * 0.25 / n))
    assert sum(codes.shape[1] for codes in paired._random_signs(n, 8, 0)) == n


def enumerated(a, b):
    """The sum of positive ranks and its p, from every assignment of signs; differences in whole tenths."""
    tenths = np.rint(10 * (np.asarray(a) - np.asarray(b))).astype(int)
    tenths = tenths[tenths != 0]
    ranks = stats.rankdata(np.abs(tenths))
    mean, positive = ranks.sum() / 2, ranks[tenths > 0].sum()
    sums = [
        ranks @ np.array(signs) for signs in product((0.0, 1.0), repeat=tenths.size)
    ]
    return (
        positive,
        np.mean([abs(one - mean) >= abs(positive - mean) for one in sums]),
        tenths.size,
    )


@given(rows)
def test_p_counts_every_assignment_of_signs_with_zeros_left_out_and_ties_averaged(
    pairs,
):
    a, b = np.transpose(pairs)
    assert signed_ranks(a, b) == pytest.approx(enumerated(a, b), abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 7, 30, 50])
def test_without_ties_it_is_scipys_exact_test(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    found = stats.wilcoxon(a + 0.2, b, method="exact")
    ours = signed_ranks(a + 0.2, b)
    assert ours.p == pytest.approx(found.pvalue, rel=1e-12)
    assert min(ours.positive, n * (n + 1) / 2 - ours.positive) == found.statistic


@pytest.mark.parametrize("n", [80, 500])
@pytest.mark.parametrize("steps", [4, 40, 0])
def test_of_many_differences_it_is_scipys_with_ties(n, steps):
    a, b = np.random.default_rng(n).uniform(size=(2, n))
    a, b = (np.rint(a * steps), np.rint(b * steps)) if steps else (a, b)
    found = stats.wilcoxon(
        a, b, zero_method="wilcox", correction=False, method="approx"
    )
    assert signed_ranks(a, b).n == np.sum(a != b) > 50
    assert (
        signed_ranks(b, a).p
        == signed_ranks(a, b).p
        == pytest.approx(found.pvalue, rel=1e-12)
    )


def test_the_normal_distribution_takes_over_where_the_exact_p_is_almost_the_same():
    a, b = np.random.default_rng(3).uniform(size=(2, 51))
    near = [signed_ranks(a[:n] + 0.1, b[:n]).p for n in (50, 51)]
    assert signed_ranks(a + 0.1, b).p == pytest.approx(
        stats.wilcoxon(a + 0.1, b, method="exact").pvalue, abs=0.003
    )
    assert all(0 < p < 1 for p in near)


def test_what_rounding_explains_is_no_difference_and_makes_no_order():
    # In binary 0.1 - 0.0, 0.2 - 0.1 and 0.7 - 0.6 are not the same number, and 0.3 is not 0.1 + 0.2.
    assert signed_ranks([0.1, 0.2, 0.6, 0.3], [0.0, 0.1, 0.7, 0.1 + 0.2]) == (
        4.0,
        1.0,
        3,
    )


@pytest.mark.parametrize("exponent", [-600, 500])
def test_it_does_not_see_the_unit_of_the_measure(exponent):
    a, b = np.random.default_rng(0).normal(size=(2, 17))
    assert signed_ranks(np.ldexp(a, exponent), np.ldexp(b, exponent)) == signed_ranks(
        a, b
    )


def test_without_any_difference_p_is_1_and_without_a_query_there_is_none():
    assert signed_ranks([0.5, 0.2], [0.5, 0.2]) == (0.0, 1.0, 0)
    assert np.isnan(signed_ranks([np.nan], [0.1]).p)
    assert np.isnan(compare_paired([np.nan], [0.1]).p_wilcoxon)


def test_rows_are_checked_and_queries_without_a_value_left_out():
    assert signed_ranks([0.5, np.nan, 0.2], [0.1, 0.3, 0.1]) == signed_ranks(
        [0.5, 0.2], [0.1, 0.1]
    )
    with pytest.raises(ParameterError):
        signed_ranks([0.1], [0.1, 0.2])


def test_a_comparison_has_it():
    a, b = np.random.default_rng(2).uniform(size=(2, 30))
    assert compare_paired(a, b).p_wilcoxon == signed_ranks(a, b).p
