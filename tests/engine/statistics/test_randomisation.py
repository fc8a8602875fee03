from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.statistics import paired as module
from rankstudio.engine.statistics.paired import randomisation

tenths = st.integers(0, 10)  # as P@10: full of ties, and inexact in binary once divided


def runs(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.beta(2, 3, n)
    return a + shift, np.clip(a + 0.2 * rng.normal(size=n), 0, 1)


@given(st.lists(st.tuples(tenths, tenths), min_size=1, max_size=10))
def test_exact_p_is_the_count_over_all_signs_in_whole_numbers(pairs):
    differences = [a - b for a, b in pairs]
    signs = product((1, -1), repeat=len(pairs))
    sums = [sum(s * d for s, d in zip(row, differences, strict=True)) for row in signs]
    expected = Fraction(sum(abs(total) >= abs(sum(differences)) for total in sums), len(sums))
    a, b = np.array(pairs).T / 10
    assert randomisation(a, b, n=1024) == float(expected)


def test_exact_randomisation_in_several_chunks(monkeypatch):
    a, b = runs(9, 0.1)
    whole = randomisation(a, b)
    monkeypatch.setattr(module, "_ASSIGNMENTS_AT_ONCE", 7)
    assert randomisation(a, b) == whole


def test_exactly_as_many_assignments_as_asked_are_still_enumerated():
    a, b = np.ones(6), np.zeros(6)  # only all plus and all minus are as far out
    assert randomisation(a, b, n=64) == 2 / 64
    drawn = randomisation(a, b, n=63)
    assert drawn != 2 / 64
    assert (drawn * 64) == pytest.approx(round(drawn * 64), abs=1e-12)


def test_queries_without_a_difference_change_nothing():
    a, b = runs(8, 0.1)
    more_a, more_b = np.concatenate((a, np.full(50, 0.4))), np.concatenate((b, np.full(50, 0.4)))
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
    monkeypatch.setattr(module, "_BYTES_AT_ONCE", 8 * 1000 + 5)
    # Two independent draws of one share: five standard deviations of their difference.
    assert randomisation(a, b, n) == pytest.approx(whole, abs=5 * np.sqrt(2 * 0.25 / n))
    assert sum(codes.shape[1] for codes in module._random_signs(n, 8, 0)) == n


def test_p_is_uniform_where_the_runs_are_interchangeable():
    rng = np.random.default_rng(7)
    p = np.array([randomisation(*rng.random((2, 12))) for _ in range(400)])
    for level in (0.05, 0.2, 0.5):
        # 2^12 assignments: the steps of p are too small to matter. Four standard deviations of a share.
        assert np.mean(p <= level) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 400))
