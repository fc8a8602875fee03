"""Ranks of methods on datasets against Demšar's printed example, SciPy, baycomp and brute force."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from demsar_example import AUC
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankstudio.engine.errors import ParameterError
from rankstudio.plugins.method_ranks.rank_tests import (
    bayesian_signed_ranks,
    critical_difference,
    friedman,
    indistinct_groups,
    nemenyi_p,
    pair_tests,
    ranks_by_dataset,
    win_counts,
)

tables = st.integers(2, 6).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 4).map(lambda n: n / 10), min_size=k, max_size=k),
        min_size=2,
        max_size=8,
    )
)


class TestDemsarsExample:
    RANKS = ranks_by_dataset(AUC)

    def test_mean_ranks_are_the_printed_ones(self):
        assert self.RANKS.mean(axis=0).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]

    def test_friedman_and_iman_davenport_are_the_printed_ones(self):
        test = friedman(self.RANKS)
        assert round(test.chi_square, 2) == 9.28
        assert round(test.f, 2) == 3.69
        assert test.p_f < 0.05  # the printed critical value is F(3, 39) = 2.85
        assert stats.f.isf(0.05, 3, 39) == pytest.approx(2.85, abs=0.005)

    def test_critical_differences_are_the_printed_ones(self):
        assert round(critical_difference(4, 14), 2) == 1.25
        assert round(critical_difference(4, 14, 0.10), 2) == 1.12

    @pytest.mark.parametrize(
        "k, q", [(2, 1.960), (3, 2.344), (4, 2.569), (5, 2.728), (10, 3.164)]
    )
    def test_quantiles_are_those_of_the_papers_table_5(self, k, q):
        assert critical_difference(k, 1) / math.sqrt(k * (k + 1) / 6) == pytest.approx(
            q, abs=6e-4
        )

    def test_groups_are_those_of_the_papers_figure(self):
        # At .10 C4.5 differs from C4.5+m and C4.5+m+cf, and nothing can be said of C4.5+cf.
        groups = indistinct_groups(
            self.RANKS.mean(axis=0).tolist(), critical_difference(4, 14, 0.10)
        )
        assert groups == ((3, 1, 2), (2, 0))

    def test_wilcoxon_follows_from_the_printed_sums_of_ranks(self):
        # The paper prints R+ = 93 and R- = 12, each with 1.5 for one of two zeros. Without the zeros ten
        # positive and two negative differences lose two ranks each.
        first = next(
            pair
            for pair in pair_tests(AUC, self.RANKS)
            if (pair.first, pair.second) == (0, 1)
        )
        assert first.n_differences == 12
        differences = (AUC[:, 1] - AUC[:, 0]).round(6)
        nonzero = stats.rankdata(abs(differences[differences != 0]))
        positive = nonzero[differences[differences != 0] > 0].sum()
        assert positive == 93 - 1.5 - 2 * 10
        assert nonzero.sum() - positive == 12 - 1.5 - 2 * 2
        assert first.p_wilcoxon == _enumerated_p(nonzero, positive)

    def test_counts_of_wins(self):
        wins = win_counts(self.RANKS)
        # C4.5+m is better than C4.5 on ten datasets, worse on two, and equal on two
        assert wins[1, 0] == 10
        assert wins[0, 1] == 2
        assert wins.diagonal().tolist() == [0] * 4


def _enumerated_p(ranks, positive):
    middle = ranks.sum() / 2
    sums = [sum(chosen) for chosen in product(*((0, rank) for rank in ranks))]
    return np.mean([abs(total - middle) >= abs(positive - middle) for total in sums])


class TestRanks:
    @given(tables)
    def test_equals_scipy(self, rows):
        ranks = ranks_by_dataset(rows)
        assert np.array_equal(ranks, stats.rankdata(-np.round(rows, 6), axis=1))
        assert np.array_equal(
            ranks_by_dataset(rows, higher_is_better=False)[:, ::-1],
            stats.rankdata(np.round(rows, 6)[:, ::-1], axis=1),
        )

    def test_rounding_is_a_tie(self):
        assert ranks_by_dataset([[0.1 + 0.2, 0.3, 0.2]]).tolist() == [[1.5, 1.5, 3.0]]

    @pytest.mark.parametrize(
        "scores", [[[math.nan, 1.0]], [[math.inf, 1.0]], [], [[]], [1.0, 2.0]]
    )
    def test_what_is_no_table_is_refused(self, scores):
        with pytest.raises(ParameterError):
            ranks_by_dataset(scores)


class TestFriedman:
    @given(tables)
    def test_equals_scipy_with_the_correction_for_ties(self, rows):
        ranks = ranks_by_dataset(rows)
        test = friedman(ranks)
        if np.ptp(ranks) == 0:
            assert math.isnan(test.chi_square_ties)
        elif ranks.shape[1] > 2:
            chi_square, p = stats.friedmanchisquare(*np.round(rows, 6).T)
            assert test.chi_square_ties == pytest.approx(chi_square)
            assert test.p_ties == pytest.approx(p)

    def test_equals_scipy_without_ties(self):
        scores = np.random.default_rng(3).random((12, 6))
        test = friedman(ranks_by_dataset(scores))
        chi_square, p = stats.friedmanchisquare(*scores.T)
        assert (test.chi_square, test.p_chi_square) == pytest.approx((chi_square, p))
        assert (test.chi_square_ties, test.p_ties) == pytest.approx((chi_square, p))
        f = 11 * chi_square / (12 * 5 - chi_square)
        assert (test.f, test.p_f) == pytest.approx((f, stats.f.sf(f, 5, 55)))

    def test_all_values_equal_have_no_corrected_statistic(self):
        test = friedman(ranks_by_dataset(np.ones((6, 4))))
        assert (test.chi_square, test.p_chi_square, test.f, test.p_f) == (0, 1, 0, 1)
        assert math.isnan(test.chi_square_ties)
        assert math.isnan(test.p_ties)

    def test_datasets_that_all_agree_have_the_exact_p(self):
        test = friedman(ranks_by_dataset([[0.3, 0.2, 0.1]] * 3))
        assert test.f == math.inf
        orders = list(permutations(range(3)))
        agreeing = sum(len(set(drawn)) == 1 for drawn in product(orders, repeat=3))
        assert test.p_f == pytest.approx(agreeing / len(orders) ** 3)

    def test_one_dataset_or_one_method_is_no_test(self):
        assert all(map(math.isnan, friedman([[1, 2, 3]])))
        assert all(map(math.isnan, friedman([[1], [1]])))

    def test_two_hundred_methods(self):
        scores = np.random.default_rng(0).random((7, 200))
        ranks = ranks_by_dataset(scores)
        assert all(map(math.isfinite, friedman(ranks)))
        assert 0 < critical_difference(200, 7) < 200


class TestPairs:
    def test_nemenyi_p_is_alpha_at_the_critical_difference(self):
        for k, n, alpha in ((2, 5, 0.05), (4, 14, 0.10), (9, 30, 0.01)):
            assert nemenyi_p([critical_difference(k, n, alpha)], k, n)[
                0
            ] == pytest.approx(alpha, rel=1e-6)

    def test_nemenyi_of_two_is_the_normal_test(self):
        z = 0.4 / math.sqrt(2 * 3 / (6 * 10))
        assert nemenyi_p([0.4], 2, 10)[0] == pytest.approx(
            2 * stats.norm.sf(z), abs=1e-9
        )

    def test_holm_corrects_for_all_pairs(self):
        scores = np.random.default_rng(5).random((9, 4))
        tests = pair_tests(scores, ranks_by_dataset(scores))
        assert [(pair.first, pair.second) for pair in tests] == list(
            combinations(range(4), 2)
        )
        p = sorted(pair.p_wilcoxon for pair in tests)
        adjusted = np.maximum.accumulate(
            np.minimum(1, np.array(p) * np.arange(6, 0, -1))
        )
        assert sorted(pair.p_holm for pair in tests) == pytest.approx(adjusted)
        for pair in tests:
            exact = stats.wilcoxon(
                scores[:, pair.first], scores[:, pair.second], method="exact"
            ).pvalue
            assert pair.p_wilcoxon == pytest.approx(exact)

    def test_equal_methods_do_not_differ(self):
        (pair,) = pair_tests(np.ones((6, 2)), ranks_by_dataset(np.ones((6, 2))))
        assert (pair.p_nemenyi, pair.p_wilcoxon, pair.p_holm, pair.n_differences) == (
            1,
            1,
            1,
            0,
        )

    def test_one_method_has_no_pair(self):
        assert pair_tests([[0.1], [0.2]], [[1], [1]]) == ()

    @given(tables)
    def test_wins_ties_and_losses_are_all_datasets(self, rows):
        ranks = ranks_by_dataset(rows)
        wins = win_counts(ranks)
        rounded = np.round(rows, 6)
        for a, b in combinations(range(ranks.shape[1]), 2):
            assert wins[a, b] == np.sum(rounded[:, a] > rounded[:, b])
            assert wins[b, a] == np.sum(rounded[:, a] < rounded[:, b])


class TestGroups:
    @given(
        st.lists(st.integers(2, 40).map(lambda n: n / 2), min_size=1, max_size=12),
        st.floats(0.3, 8),
    )
    def test_are_the_maximal_sets_of_methods_that_do_not_differ(
        self, ranks, difference
    ):
        order = sorted(range(len(ranks)), key=lambda index: (ranks[index], index))
        runs = [
            order[a:b]
            for a in range(len(order))
            for b in range(a + 2, len(order) + 1)
            if ranks[order[b - 1]] - ranks[order[a]] < difference - 1e-12
        ]
        maximal = [
            tuple(run)
            for run in runs
            if not any(set(run) < set(other) for other in runs)
        ]
        assert indistinct_groups(ranks, difference) == tuple(maximal)

    def test_a_difference_of_exactly_cd_is_significant(self):
        assert indistinct_groups([1.0, 2.0], 1.0) == ()
        assert indistinct_groups([1.0, 1.99], 1.0) == ((0, 1),)


class TestBayesianSignedRanks:
    # Of baycomp 1.0.3: SignedRankTest.probs(AUC[:, a], AUC[:, b], rope, nsamples=200000, random_state=s),
    # the mean of s = 0, 1, 2. It splits sums of exactly twice the rope, which these ropes
    # exclude.
    BAYCOMP = (
        ((0, 1), 0.0123, (0.0, 0.5166, 0.4834)),
        ((0, 1), 0.0212, (0.0, 0.9252, 0.0748)),
        ((0, 3), 0.0123, (0.0002, 0.0767, 0.9231)),
        ((1, 3), 0.0123, (0.0001, 0.8472, 0.1527)),
        ((1, 3), 0.0013, (0.202, 0.002, 0.796)),
        ((2, 0), 0.0123, (0.117, 0.8254, 0.0575)),
        ((1, 3), 0.0, (0.2139, 0.0, 0.7861)),
        ((2, 0), 0.0, (0.5788, 0.0, 0.4212)),
    )

    @pytest.mark.parametrize("pair, rope, expected", BAYCOMP)
    def test_equals_baycomp_to_the_error_of_the_samples(self, pair, rope, expected):
        (probabilities,) = bayesian_signed_ranks(AUC, [pair], rope)
        assert probabilities == pytest.approx(
            expected, abs=4 * math.sqrt(0.25 / 50_000) + 0.001
        )

    def test_equals_a_slow_sum_over_all_pairs_of_datasets(self):
        scores = np.random.default_rng(1).normal(0.5, 0.02, (5, 2))
        (probabilities,) = bayesian_signed_ranks(
            scores, [(0, 1)], 0.01, n_samples=300, seed=7
        )
        z = [0.0, *(scores[:, 0] - scores[:, 1])]
        counts = [0, 0, 0]
        for w in np.random.default_rng(7).dirichlet([0.5, 1, 1, 1, 1, 1], 300):
            theta = [0.0, 0.0, 0.0]
            for i, j in product(range(6), repeat=2):
                total = z[i] + z[j]
                theta[0 if total > 0.02 else 2 if total < -0.02 else 1] += w[i] * w[j]
            counts[int(np.argmax(theta))] += 1
        assert probabilities == pytest.approx(np.array(counts) / 300)

    def test_swaps_with_the_methods_and_the_direction(self):
        (probabilities,) = bayesian_signed_ranks(AUC, [(0, 3)])
        assert bayesian_signed_ranks(AUC, [(3, 0)])[0] == probabilities[::-1]
        assert (
            bayesian_signed_ranks(AUC, [(0, 3)], higher_is_better=False)[0]
            == probabilities[::-1]
        )
        assert sum(probabilities) == pytest.approx(1)

    def test_equal_methods_are_equivalent(self):
        scores = np.ones((6, 2))
        assert bayesian_signed_ranks(scores, [(0, 1)]) == ((0, 1, 0),)
        assert bayesian_signed_ranks(scores, [(0, 1)], 0.0) == ((0.5, 0, 0.5),)

    def test_a_difference_of_exactly_the_rope_is_equivalent(self):
        scores = np.tile([0.51, 0.5], (6, 1))
        assert bayesian_signed_ranks(scores, [(0, 1)], 0.01)[0].equivalent == 1

    @pytest.mark.parametrize("rope", [-0.1, math.nan, math.inf, "a", True])
    def test_impossible_ropes_are_refused(self, rope):
        with pytest.raises(ParameterError):
            bayesian_signed_ranks(AUC, [(0, 1)], rope)
