from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.paired import compare_paired, signed_ranks

tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)  # as P@10: full of ties, and inexact in binary
rows = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=10)


def enumerated(a, b):
    """The sum of positive ranks and its p, from every assignment of signs; differences in whole tenths."""
    tenths = np.rint(10 * (np.asarray(a) - np.asarray(b))).astype(int)
    tenths = tenths[tenths != 0]
    ranks = stats.rankdata(np.abs(tenths))
    mean, positive = ranks.sum() / 2, ranks[tenths > 0].sum()
    sums = [ranks @ np.array(signs) for signs in product((0.0, 1.0), repeat=tenths.size)]
    return positive, np.mean([abs(one - mean) >= abs(positive - mean) for one in sums]), tenths.size


@given(rows)
def test_p_counts_every_assignment_of_signs_with_zeros_left_out_and_ties_averaged(pairs):
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
    found = stats.wilcoxon(a, b, zero_method="wilcox", correction=False, method="approx")
    assert signed_ranks(a, b).n == np.sum(a != b) > 50
    assert signed_ranks(a, b).p == pytest.approx(found.pvalue, rel=1e-12)


def test_the_normal_distribution_takes_over_where_the_exact_p_is_almost_the_same():
    a, b = np.random.default_rng(3).uniform(size=(2, 51))
    near = [signed_ranks(a[:n] + 0.1, b[:n]).p for n in (50, 51)]
    assert signed_ranks(a + 0.1, b).p == pytest.approx(
        stats.wilcoxon(a + 0.1, b, method="exact").pvalue, abs=0.003
    )
    assert all(0 < p < 1 for p in near)


def test_what_rounding_explains_is_no_difference_and_makes_no_order():
    # In binary 0.1 - 0.0, 0.2 - 0.1 and 0.7 - 0.6 are not the same number, and 0.3 is not 0.1 + 0.2.
    assert signed_ranks([0.1, 0.2, 0.6, 0.3], [0.0, 0.1, 0.7, 0.1 + 0.2]) == (4.0, 1.0, 3)


@pytest.mark.parametrize("exponent", [-600, 500])
def test_it_does_not_see_the_unit_of_the_measure(exponent):
    a, b = np.random.default_rng(0).normal(size=(2, 17))
    assert signed_ranks(np.ldexp(a, exponent), np.ldexp(b, exponent)) == signed_ranks(a, b)


def test_the_second_run_against_the_first_has_the_same_p_and_the_other_ranks():
    a, b = np.random.default_rng(1).integers(0, 6, (2, 40)) / 10
    one, other = signed_ranks(a, b), signed_ranks(b, a)
    assert one.p == other.p
    assert one.positive + other.positive == one.n * (one.n + 1) / 2


def test_without_any_difference_p_is_1_and_without_a_query_there_is_none():
    assert signed_ranks([0.5, 0.2], [0.5, 0.2]) == (0.0, 1.0, 0)
    assert np.isnan(signed_ranks([np.nan], [0.1]).p)
    assert np.isnan(compare_paired([np.nan], [0.1]).p_wilcoxon)


def test_rows_are_checked_and_queries_without_a_value_left_out():
    assert signed_ranks([0.5, np.nan, 0.2], [0.1, 0.3, 0.1]) == signed_ranks([0.5, 0.2], [0.1, 0.1])
    with pytest.raises(ParameterError):
        signed_ranks([0.1], [0.1, 0.2])


def test_a_comparison_has_it():
    a, b = np.random.default_rng(2).uniform(size=(2, 30))
    assert compare_paired(a, b).p_wilcoxon == signed_ranks(a, b).p
