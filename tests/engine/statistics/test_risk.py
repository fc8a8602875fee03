"""Risk criteria against sums by hand, by exact fractions, and SciPy; and their properties."""

import math
from fractions import Fraction
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.paired import paired_t
from rankstudio.engine.statistics.risk import baseline_risk, geo_risks, z_risks

NAN = float("nan")
EPS = float(np.finfo(float).eps)

# as P@10: full of ties, and inexact in binary
tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)
pairs = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=12)
alphas = st.floats(0, 20)
tables = st.integers(1, 4).flatmap(
    lambda n_runs: st.lists(
        st.lists(tenths, min_size=n_runs, max_size=n_runs), min_size=1, max_size=8
    )
)


def normal_cdf(x):
    """Return the distribution function, which stays exact far below 0."""
    return math.erfc(-x / math.sqrt(2)) / 2


def split(rows):
    return [a for a, _ in rows], [b for _, b in rows]


def exact_urisk(run, baseline, alpha):
    """Return URisk as the definition has it, in fractions of the printed numbers."""
    total = Fraction(0)
    for value, other in zip(run, baseline, strict=True):
        difference = Fraction(str(value)) - Fraction(str(other))
        weight = 1 + Fraction(alpha) if difference < 0 else 1
        total += weight * difference
    return total / len(run)


def slow_z_risk(table, run, alpha):
    """Return ZRisk by loops over the definition."""
    n_queries = len(table)
    n_runs = len(table[0])
    total = sum(sum(row) for row in table)
    of_run = sum(table[query][run] for query in range(n_queries))
    risk = 0.0
    for query in range(n_queries):
        of_query = sum(table[query][other] for other in range(n_runs))
        expected = of_run * of_query / total if total else 0.0
        if expected == 0:
            continue
        z = (table[query][run] - expected) / math.sqrt(expected)
        risk += z if z > 0 else (1 + alpha) * z
    return risk


class TestBaselineRisk:
    def test_by_hand(self):
        """Differences +0.2, −0.1, 0, −0.3: gain 0.05, loss 0.1."""
        risk = baseline_risk([0.5, 0.3, 0.4, 0.2], [0.3, 0.4, 0.4, 0.5], alpha=1)
        assert risk.gain == pytest.approx(0.05)
        assert risk.loss == pytest.approx(0.1)
        assert risk.urisk == pytest.approx(0.05 - 2 * 0.1)
        assert (risk.n_losses, risk.n) == (2, 4)
        weighted = [0.2, -0.2, 0.0, -0.6]
        t = fmean(weighted) / (stdev(weighted) / 2)
        assert risk.trisk == pytest.approx(t)
        assert risk.p == pytest.approx(2 * stats.t.sf(abs(t), 3))

    @given(pairs, alphas)
    def test_urisk_is_that_of_the_definition(self, rows, alpha):
        run, baseline = split(rows)
        risk = baseline_risk(run, baseline, alpha)
        # Each value has a rounding of its own, and each of the sums another.
        tolerance = 4 * (len(rows) + 4) * EPS * (1 + alpha)
        expected = float(exact_urisk(run, baseline, alpha))
        assert risk.urisk == pytest.approx(expected, abs=tolerance)
        balance = risk.gain - (1 + alpha) * risk.loss
        assert risk.urisk == pytest.approx(balance, abs=tolerance)

    @given(pairs)
    def test_without_aversion_it_is_the_mean_difference_and_its_t(self, rows):
        run, baseline = split(rows)
        risk = baseline_risk(run, baseline, 0.0)
        mean = float(np.mean(np.subtract(run, baseline)))
        assert risk.urisk == pytest.approx(mean, abs=(len(rows) + 4) * EPS)
        if not math.isnan(risk.trisk):
            t, p = paired_t(run, baseline)
            assert risk.trisk == pytest.approx(t, rel=1e-9, abs=1e-9)
            assert risk.p == pytest.approx(p, rel=1e-9)

    @given(pairs, alphas, alphas)
    def test_more_aversion_never_raises_it(self, rows, first_alpha, second_alpha):
        run, baseline = split(rows)
        low, high = sorted((first_alpha, second_alpha))
        careless = baseline_risk(run, baseline, low)
        careful = baseline_risk(run, baseline, high)
        assert careful.urisk <= careless.urisk
        if careful.loss == 0:
            assert careful == careless

    @given(pairs, alphas)
    def test_a_swap_of_runs_swaps_gain_and_loss(self, rows, alpha):
        run, baseline = split(rows)
        risk = baseline_risk(run, baseline, alpha)
        swapped = baseline_risk(baseline, run, alpha)
        assert (swapped.gain, swapped.loss) == (risk.loss, risk.gain)
        error = baseline_risk(run, baseline, alpha, higher_is_better=False)
        assert error == swapped

    def test_without_variation_there_is_no_standard_error(self):
        for run, baseline in (
            ([0.1, 0.2], [0.1, 0.2]),
            ([0.4, 0.3], [0.3, 0.2]),
            ([1], [0]),
        ):
            risk = baseline_risk(run, baseline)
            assert math.isnan(risk.trisk)
            assert math.isnan(risk.p)
            assert risk.urisk == pytest.approx(run[0] - baseline[0])

    def test_rounding_is_no_loss(self):
        risk = baseline_risk([0.3, 0.5], [0.1 + 0.2, 0.5], alpha=1e6)
        assert risk.n_losses == 0
        assert risk.urisk == 0

    def test_queries_without_a_value_do_not_count(self):
        risk = baseline_risk([0.1, NAN, 0.5, 0.2], [0.2, 0.1, NAN, 0.2])
        assert risk.n == 2
        assert risk.urisk == pytest.approx(-0.1)

    def test_without_queries_nothing_is_known(self):
        risk = baseline_risk([NAN], [0.2])
        assert risk.n == 0
        assert all(
            math.isnan(number)
            for number in (risk.gain, risk.loss, risk.urisk, risk.trisk, risk.p)
        )

    @pytest.mark.parametrize("alpha", [-0.1, NAN, math.inf, True])
    def test_an_impossible_aversion_is_refused(self, alpha):
        with pytest.raises(ParameterError, match="alpha"):
            baseline_risk([0.1], [0.2], alpha)
        with pytest.raises(ParameterError, match="alpha"):
            geo_risks([[0.1, 0.2]], alpha)

    def test_rows_of_other_lengths_are_refused(self):
        with pytest.raises(ParameterError):
            baseline_risk([0.1, 0.2], [0.2])


class TestGeoRisk:
    def test_by_hand(self):
        """Two queries and two runs, with the sums 0.6 and 0.4 of runs, 0.5 and 0.5 of queries."""
        table = [[0.4, 0.1], [0.2, 0.3]]
        expected = ((0.3, 0.2), (0.3, 0.2))
        z = [
            [(table[q][i] - expected[q][i]) / math.sqrt(expected[q][i]) for q in (0, 1)]
            for i in (0, 1)
        ]
        first = z[0][0] + 6 * z[0][1]
        second = 6 * z[1][0] + z[1][1]
        assert z_risks(table, 5).tolist() == pytest.approx([first, second])
        assert geo_risks(table, 5).tolist() == pytest.approx(
            [
                math.sqrt(0.3 * normal_cdf(first / 2)),
                math.sqrt(0.2 * normal_cdf(second / 2)),
            ]
        )

    @given(tables, alphas)
    def test_it_is_that_of_the_definition(self, table, alpha):
        n_queries = len(table)
        z = z_risks(table, alpha)
        geo = geo_risks(table, alpha)
        for run, (risk, georisk) in enumerate(zip(z, geo, strict=True)):
            expected = slow_z_risk(table, run, alpha)
            # A deviation of at most 10 roundings, by the root of the least expected
            # value, 0.1 · 0.1 / 40.
            tolerance = 10 * n_queries * EPS * (1 + alpha) / math.sqrt(0.1 * 0.1 / 40)
            assert risk == pytest.approx(expected, abs=tolerance)
            mean = fmean(row[run] for row in table)
            # A relative error is as many times that of its argument as the argument is.
            expected_geo = math.sqrt(mean * normal_cdf(expected / n_queries))
            assert georisk == pytest.approx(expected_geo, rel=1e-7, abs=1e-12)

    @given(tables, alphas, alphas)
    def test_more_aversion_never_raises_it(self, table, first_alpha, second_alpha):
        low, high = sorted((first_alpha, second_alpha))
        assert (geo_risks(table, high) <= geo_risks(table, low)).all()

    @given(tables, alphas)
    def test_it_is_between_0_and_the_root_of_the_mean(self, table, alpha):
        geo = geo_risks(table, alpha)
        assert (geo >= 0).all()
        assert (geo <= np.sqrt(np.mean(table, axis=0)) * (1 + 4 * EPS)).all()

    @given(tables, alphas, st.randoms())
    def test_the_order_of_runs_and_queries_does_not_matter(self, table, alpha, random):
        values = np.array(table)
        queries = random.sample(range(len(values)), len(values))
        runs = random.sample(range(values.shape[1]), values.shape[1])
        mixed = geo_risks(values[queries][:, runs], alpha)
        assert mixed.tolist() == pytest.approx(
            geo_risks(values, alpha)[runs].tolist(), rel=1e-9, abs=1e-12
        )

    def test_equal_runs_have_no_risk(self):
        table = [[0.2, 0.2], [0.8, 0.8]]
        assert z_risks(table).tolist() == pytest.approx([0, 0], abs=4 * EPS)
        assert geo_risks(table).tolist() == pytest.approx([0.5, 0.5])

    def test_runs_and_queries_without_any_value_above_0(self):
        assert geo_risks([[0, 0], [0, 0]]).tolist() == [0, 0]
        geo = geo_risks([[0.5, 0], [0, 0]])
        assert geo.tolist() == pytest.approx([math.sqrt(0.25 * 0.5), 0])

    def test_of_two_runs_with_the_same_mean_the_steady_one_is_ahead(self):
        table = [[0.5, 0.9, 0.5], [0.5, 0.1, 0.5], [0.5, 0.5, 0.5]]
        steady, erratic, _ = geo_risks(table, 1)
        assert steady > erratic

    def test_queries_without_a_value_of_a_run_do_not_count(self):
        table = [[0.4, 0.1], [NAN, 1.0], [0.2, 0.3]]
        assert (geo_risks(table) == geo_risks([table[0], table[2]])).all()
        assert np.isnan(geo_risks([[NAN, 0.1]])).all()

    @pytest.mark.parametrize(
        "table", [[[0.1, -0.1]], [[math.inf, 0.1]], [0.1, 0.2], [[], []]]
    )
    def test_other_values_are_refused(self, table):
        with pytest.raises(ParameterError, match="table"):
            geo_risks(table)
