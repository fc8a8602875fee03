"""Left-out queries where basis vectors nearly depend on each other, beside arithmetic of 50 digits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from decimal_oracles import exactly, left_out_condition, left_out_in_decimals
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import kernel_by_loops

from rankstudio.engine.methods.kernels.nystrom import NystromFeatures
from rankstudio.plugins.kernels.systems import QueryFactor, ReducedSystem

LEAST = 2.0**-15


class Near(NamedTuple):
    """Documents of which some are all but the same, so that basis vectors nearly depend on each other."""

    kernel: np.ndarray
    y: np.ndarray
    ptr: list[int]
    basis: np.ndarray


def near(seed: int) -> Near:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=rng.integers(3, 8))
    m, n = int(sizes.sum()), int(rng.integers(1, 4))
    X = rng.random((m, n)) * rng.choice([1, 1, 5])
    for _ in range(4):
        i, j = rng.integers(0, m, 2)
        X[i] = X[j] + (
            rng.random(n) * 10.0 ** -rng.integers(2, 7) if rng.random() < 0.7 else 0
        )
    y = rng.integers(0, 3, m).astype(float)
    functions = [
        ("rbf", 1.0),
        ("rbf", 0.02),
        ("rbf", 30.0),
        ("poly", 0.5),
        ("linear", 1.0),
    ]
    kernel = kernel_by_loops(X, X, *functions[rng.integers(0, 5)], 2, 1.0)
    basis = np.sort(rng.choice(m, int(rng.integers(2, m)), replace=False))
    return Near(kernel, y, [0, *np.cumsum(sizes).tolist()], basis)


def left_out(problem: Near) -> tuple[np.ndarray, np.ndarray]:
    """The predictions at the smallest λ, and the basis vectors that were kept."""
    kernel, y, ptr, basis = problem
    found = NystromFeatures.of(kernel[basis], basis)
    factor = QueryFactor.centring(y, np.array(ptr))
    system = ReducedSystem.of(
        found.features, found.dual(np.eye(found.basis.size)), found.basis, factor
    )
    return system.left_out([LEAST])[0], found.basis


def bound(problem: Near, basis: np.ndarray) -> np.ndarray:
    """How far predictions may be off, each.

    By one rounding of each value of the kernel, r + 1 of them in the Cholesky factor of r basis vectors
    (Higham 2002, theorem 10.3); and by those of the one decomposition, as in `test_systems.rounding`.
    """
    kernel, y, ptr, _ = problem
    condition = left_out_condition(kernel, y, ptr, LEAST, basis)
    decomposition = (
        16
        * float(np.finfo(float).eps)
        * (1.0 + float(np.trace(kernel)) / LEAST)
        * y.max()
    )
    return np.maximum(1e-8 * y.max(), decomposition + (basis.size + 1) * condition)


@given(st.integers(0, 2**32 - 1))
def test_left_out_predictions_are_exact_as_far_as_the_kernel_determines_them(
    seed: int,
) -> None:
    problem = near(seed)
    found, basis = left_out(problem)
    expected = left_out_in_decimals(
        exactly(problem.kernel), *problem[1:3], LEAST, basis
    )
    assert (np.abs(found - expected) <= bound(problem, basis)).all()


@pytest.mark.parametrize("seed", [234, 155, 343, 160, 148])
def test_basis_vectors_that_nearly_depend_on_held_out_ones_cost_no_digits(
    seed: int,
) -> None:
    # Elimination alone is off by 6.6e-6, 4.1e-6, 1.8e-6, 4.1e-7 and 1.3e-7. What one rounding of the kernel's
    # values moves is no loss: another processor's order of sums is off by a part of it.
    problem = near(seed)
    found, basis = left_out(problem)
    expected = left_out_in_decimals(
        exactly(problem.kernel), *problem[1:3], LEAST, basis
    )
    rounding = left_out_condition(problem.kernel, *problem[1:3], LEAST, basis)
    assert (
        np.abs(found - expected) <= np.maximum(1e-8 * problem.y.max(), rounding)
    ).all()


@pytest.mark.parametrize("seed", [341, 302, 470, 427])
def test_more_than_that_the_kernel_does_not_determine(seed: int) -> None:
    # Each of its values is rounded, and another rounding of the last bit moves the exact predictions as far.
    problem = near(seed)
    kernel, y, ptr, _ = problem
    found, basis = left_out(problem)
    exact = exactly(kernel)
    expected = left_out_in_decimals(exact, y, ptr, LEAST, basis)
    signs = np.triu(np.random.default_rng(seed).choice([-1.0, 1.0], kernel.shape))
    other = exact * (1 + exactly((signs + np.triu(signs, 1).T) * 2.0**-53))
    moved = np.abs(left_out_in_decimals(other, y, ptr, LEAST, basis) - expected)
    assert moved.max() > 1e-8 * y.max()
    assert (moved <= left_out_condition(kernel, y, ptr, LEAST, basis)).all()
    assert np.abs(found - expected).max() < 10 * moved.max()
