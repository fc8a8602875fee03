from itertools import combinations
from math import sqrt
from statistics import NormalDist, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.stability import (
    membership,
    nogueira,
    similarity,
    stability,
)


@st.composite
def selections(draw, one_size=False):
    """Two to six sets of one to nine features, empty and full ones too, and how many features there are."""
    d = draw(st.integers(1, 9))
    size = draw(st.integers(0, d))
    sizes = st.just(size) if one_size else st.integers(0, d)
    order = st.permutations(range(d))
    return [draw(order)[: draw(sizes)] for _ in range(draw(st.integers(2, 6)))], d


def slow_nogueira(sets, d):
    """Φ and its variance, number by number from the paper's definitions."""
    m = len(sets)
    z = [[1 if f in s else 0 for f in range(d)] for s in sets]
    p = [sum(row[f] for row in z) / m for f in range(d)]
    k = [sum(row) for row in z]
    mean_k = sum(k) / m
    below = (mean_k / d) * (1 - mean_k / d)
    phi = 1 - sum(variance([row[f] for row in z]) for f in range(d)) / d / below
    own = [
        (
            sum(z[i][f] * p[f] for f in range(d)) / d
            - k[i] * mean_k / d**2
            + phi / 2 * (2 * k[i] * mean_k / d**2 - k[i] / d - mean_k / d + 1)
        )
        / below
        for i in range(m)
    ]
    mean_own = sum(own) / m
    return phi, 4 / m**2 * sum((value - mean_own) ** 2 for value in own)


def pairwise(sets, index):
    pairs = list(combinations(map(set, sets), 2))
    return sum(index(a, b) for a, b in pairs) / len(pairs)


@given(selections())
def test_nogueira_is_the_paper_number_by_number(selection):
    sets, d = selection
    total = sum(map(len, sets))
    found = nogueira(membership(sets, d))
    if total in (0, len(sets) * d):
        assert found == (0, 0, 0, 0)
        return
    value, spread = slow_nogueira(sets, d)
    # At most 9 features: k̄/d (1 - k̄/d) >= 1/60, so that rounding grows by 60, and by its square in v.
    assert found.value == pytest.approx(value, abs=1e-13)
    assert found.variance == pytest.approx(spread, abs=1e-11)
    room = NormalDist().inv_cdf(0.975) * sqrt(found.variance)
    assert (found.low, found.high) == pytest.approx(
        (found.value - room, found.value + room), abs=1e-12
    )
    assert -1 / (len(sets) - 1) - 1e-12 <= found.value <= 1


def test_variance_is_that_of_the_influence_of_each_set():
    # The derivative of Φ's numerator and denominator in the weight of one set, numerically: they are
    # quadratic in the weights, so that central differences are exact but for rounding.
    z = (np.random.default_rng(0).random((12, 7)) < np.linspace(0.1, 0.9, 7)).astype(
        float
    )
    found = nogueira(membership([np.flatnonzero(row).tolist() for row in z], 7))

    def parts(weights):
        p = weights @ z
        return np.array([np.mean(p * (1 - p)), p.mean() * (1 - p.mean())])

    even = np.full(12, 1 / 12)
    influence = np.empty(12)
    for i in range(12):
        towards = np.eye(12)[i] - even
        above, below = (
            parts(even + 1e-3 * towards) - parts(even - 1e-3 * towards)
        ) / 2e-3
        influence[i] = ((1 - found.value) * below - above) / parts(even)[1]
    assert found.variance == pytest.approx(np.mean(influence**2) / 12, rel=1e-9)


@given(selections(one_size=True))
def test_sets_of_one_size_have_kunchevas_index_and_it_is_nogueiras(selection):
    sets, d = selection
    k = len(sets[0])

    def index(a, b):
        return (len(a & b) * d - k * k) / (k * (d - k)) if 0 < k < d else 0.0

    found = stability(sets, d)
    assert found.index == "Kuncheva"
    assert found.consistency == pytest.approx(pairwise(sets, index), abs=1e-14)
    assert found.consistency == pytest.approx(found.nogueira.value, abs=1e-13)


@given(selections())
def test_sets_of_different_sizes_have_lustgartens_index(selection):
    sets, d = selection

    def index(a, b):
        most = min(len(a), len(b)) - max(0, len(a) + len(b) - d)
        return (len(a & b) - len(a) * len(b) / d) / most if most else 0.0

    expected = pairwise(sets, index)
    matrix = similarity(membership(sets, d), "Lustgarten")
    assert matrix[np.triu_indices(len(sets), 1)].mean() == pytest.approx(
        expected, abs=1e-14
    )
    assert np.abs(matrix).max() <= 1
    found = stability(sets, d)
    if found.index == "Lustgarten":
        assert found.consistency == pytest.approx(expected, abs=1e-14)
    assert (found.index == "Lustgarten") == (len(set(map(len, sets))) > 1)


@given(selections())
def test_jaccard_similarity_and_sizes(selection):
    sets, d = selection

    def index(a, b):
        return len(a & b) / len(a | b) if a | b else 1.0

    found = stability(sets, d)
    assert found.similarity.tolist() == [
        [index(set(a), set(b)) for b in sets] for a in sets
    ]
    assert found.jaccard == pytest.approx(pairwise(sets, index), abs=1e-14)
    np.testing.assert_array_equal(
        found.corrected, similarity(membership(sets, d), found.index)
    )
    assert found.sizes.tolist() == [len(s) for s in sets]


def test_a_textbook_case():
    # Two sets of 5 of 10 with 4 in common: (4 × 10 - 25) / 25.
    sets = [[0, 1, 2, 3, 4], [0, 1, 2, 3, 9]]
    assert stability(sets, 10).consistency == pytest.approx(0.6)
    assert similarity(membership(sets, 10), "Kuncheva") == pytest.approx(
        np.array([[1, 0.6], [0.6, 1]])
    )
    assert stability(sets, 10).jaccard == pytest.approx(4 / 6)


def test_equal_sets_are_stable_without_doubt():
    found = stability([[1, 3]] * 5, 6)
    assert found.nogueira == pytest.approx((1, 0, 1, 1))
    assert found.consistency == found.jaccard == 1


def test_a_set_alone_has_nothing_to_agree_with():
    found = stability([[2, 0]], 3)
    assert np.isnan([*found.nogueira, found.consistency, found.jaccard]).all()
    assert found.similarity.tolist() == [[1]]


@pytest.mark.parametrize("chosen", [[], [0, 1, 2]])
def test_nothing_or_everything_selected_agrees_as_chance_does(chosen):
    found = stability([chosen] * 4, 3)
    assert found.nogueira == (0, 0, 0, 0)
    assert found.consistency == 0
    assert found.jaccard == 1


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: stability([], 3), "sets"),
        (lambda: stability([[3]], 3), "sets"),
        (lambda: stability([[-1]], 3), "sets"),
        (lambda: stability([[1, 1]], 3), "sets"),
        (lambda: stability([[0.5]], 3), "sets"),
        (lambda: membership([[0]], 0), "n_features"),
        (lambda: nogueira(membership([[0], [1]], 3), 95.0), "level"),
        (lambda: similarity(membership([[0], [1]], 3), "Dice"), "index"),
        (lambda: similarity(membership([[0], [1, 2]], 3), "Kuncheva"), "index"),
    ],
)
def test_errors_name_the_parameter(call, name):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.name == name
