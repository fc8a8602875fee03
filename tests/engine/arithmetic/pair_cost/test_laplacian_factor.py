"""Factors of the Laplacians of preferences against dense sums, in rational numbers where digits matter."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from preference_oracles import listed_preferences, preferred
from strategies import Problem

from rankstudio.engine.arithmetic.pair_cost import preference_rows as module
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.preference_rows import (
    LaplacianFactor,
    ScaledPreferences,
    laplacian_factors,
    preference_blocks,
    preference_rows,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.preferences import Preferences

EPS = float(np.finfo(float).eps)


def scaled(
    weights: dict[tuple[int, int], float], targets: dict[tuple[int, int], float]
) -> ScaledPreferences:
    """Preferences of one query, whose squared scales are (nearly) the weights."""
    winner, loser = np.array(list(weights)).T
    scale = np.sqrt(np.array(list(weights.values())))
    return ScaledPreferences(
        np.zeros(winner.size, dtype=np.int64),
        winner,
        loser,
        scale,
        np.array(list(targets.values())),
    )


def eliminated(m: int, given_: ScaledPreferences) -> list[list[Fraction]]:
    """The squared entries e_ij² of the factor, by elimination in rational numbers."""
    w = [[Fraction(0)] * m for _ in range(m)]
    for a, b, scale in zip(
        given_.winner.tolist(),
        given_.loser.tolist(),
        given_.scale.tolist(),
        strict=True,
    ):
        w[a][b] += Fraction(scale) ** 2
        w[b][a] += Fraction(scale) ** 2
    squared = [[Fraction(0)] * m for _ in range(m)]
    for i in range(m):
        total = sum(w[i][i + 1 :], Fraction(0))
        for j in range(i + 1, m):
            if total:
                squared[i][j] = w[i][j] ** 2 / total
                for k in range(i + 1, m):
                    if k != j:
                        w[j][k] += w[i][j] * w[i][k] / total
    return squared


graphs = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(
        lambda pair: pair[0] != pair[1]
    ),
    st.floats(-80, 80).map(lambda e: 2.0**e),
    min_size=1,
    max_size=15,
)


@given(graphs)
def test_every_entry_keeps_its_digits_however_different_the_weights_are(
    weights: dict[tuple[int, int], float],
) -> None:
    problem = scaled(weights, dict.fromkeys(weights, 0.0))
    (factor,) = laplacian_factors(np.array([0, 6]), problem)
    rows = factor.times(np.eye(6))
    expected = eliminated(6, problem)
    there = [i for i in range(6) if any(expected[i])]
    assert len(rows) == len(there) + 1
    for row, i in zip(rows, there, strict=False):
        for j in range(i + 1, 6):
            # Only sums, products and quotients of positive numbers: some twenty for each of six documents.
            exact = float(expected[i][j]) ** 0.5
            assert abs(-row[j] - exact) <= 120 * EPS * exact


@given(
    preferred(),
    st.sampled_from(["magnitude", "unit", "inverse"]),
    st.sampled_from(["size", "none"]),
)
def test_products_of_the_rows_are_those_of_listed_preferences(
    drawn: tuple[Problem, Preferences], cost: str, weighting: str
) -> None:
    problem, preferences = drawn
    M, N, _ = listed_preferences(preferences, problem.qid, cost, weighting)
    grouped = group(problem.X, problem.y, problem.qid)
    order = np.arange(problem.qid.size) if grouped.order is None else grouped.order
    inner = preferences.in_order(grouped.order)
    # Each preference very often, with as much less weight: no query can keep them as they are.
    many = 2 * problem.qid.size
    often = Preferences(
        *(
            np.repeat(v, many)
            for v in (inner.winner, inner.loser, inner.magnitude, inner.weight / many)
        )
    )
    blocks = list(
        preference_blocks(grouped.ptr, often, PairCost(cost, False, weighting))
    )
    assert all(isinstance(block, LaplacianFactor) for block in blocks)
    for own in (
        blocks,
        list(laplacian_runs(grouped.ptr, often, PairCost(cost, False, weighting))),
    ):
        S = np.vstack([spread(block, problem.qid.size) for block in own])
        t = np.concatenate([block.targets for block in own])
        size = float(np.sum(M**2))
        # of sums of `many` equal terms, and of a solve of |q| unknowns
        digits = 1e3 * many * EPS
        np.testing.assert_allclose(
            S.T @ S, (M.T @ M)[np.ix_(order, order)], rtol=0, atol=digits * size
        )
        scale = float(np.abs(M).sum() * np.abs(N).max())
        np.testing.assert_allclose(
            S.T @ t, (M.T @ N)[order], rtol=0, atol=digits * scale
        )
        assert abs(float(t @ t - N @ N)) <= digits * float(N @ N)


def laplacian_runs(
    ptr: np.ndarray, preferences: Preferences, cost: PairCost
) -> list[LaplacianFactor]:
    """The same factors, a query at a time."""
    return list(laplacian_factors(ptr, module._scaled(preferences, ptr, cost)))


def spread(block: LaplacianFactor, m: int) -> np.ndarray:
    """The rows of a block for all documents."""
    rows = np.zeros((block.targets.size, m))
    rows[:, block.inside] = block.times(np.eye(block.inside.stop - block.inside.start))
    return rows


def test_a_constant_feature_is_zero_and_the_last_target_what_contradicts() -> None:
    rng = np.random.default_rng(0)
    pairs = np.array([(i, j) for i in range(5) for j in range(i)])
    there, back = pairs.T
    X = np.column_stack([np.full(5, 0.1), rng.random(5)])
    consistent = Preferences(there, back, (there - back).astype(float))
    both = Preferences(np.append(there, back), np.append(back, there))
    cost = PairCost("magnitude", False, "none")
    ptr = np.array([0, 5])
    rows, targets, row_ptr = preference_rows(X, ptr, consistent, cost)
    assert rows.shape == (5, 2) and row_ptr.tolist() == [0, 5]
    assert (rows[:, 0] == 0).all()
    assert abs(targets[-1]) <= 100 * EPS * float(np.linalg.norm(consistent.magnitude))
    rows, targets, _ = preference_rows(X, ptr, both, cost)
    # Each preference and its opposite: the best scores are equal, and every pair errs by 1.
    assert (
        targets[-1] == np.sqrt(20.0)
        and (targets[:-1] == 0).all()
        and (rows[-1] == 0).all()
    )
