"""Kernel functions against loops, and their slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import KERNELS, kernel_by_loops

from rankstudio.engine.arithmetic.kernel_functions import Kernel


@given(st.integers(0, 2**32 - 1), st.integers(1, 90), st.integers(1, 9), KERNELS)
def test_values_are_those_of_the_formulas_and_symmetric_to_the_last_bit(
    seed: int, a: int, n: int, settings: dict[str, object]
) -> None:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(a, n)), rng.normal(size=(7, n))
    others = {name: value for name, value in settings.items() if name != "kernel"}
    kernel = Kernel(settings["kernel"], **others)
    expected = kernel_by_loops(A, B, settings["kernel"], **others)
    np.testing.assert_allclose(kernel.matrix(A, B), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(kernel.matrix(A, B), kernel.matrix(B, A).T)
    whole = kernel.matrix(A, A)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_array_equal(whole[:1], kernel.matrix(A[:1], A))
    b = rng.normal(size=(2, a))
    np.testing.assert_allclose(
        kernel.scores(B, A, b), b @ kernel.matrix(A, B), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    "kernel",
    [Kernel("rbf", 0.7), Kernel("poly", 0.5, 3, 1.0), Kernel("linear")],
    ids=str,
)
@pytest.mark.parametrize("r", [9, 1203])
def test_slopes_are_root_mean_squares_of_differences(kernel: Kernel, r: int) -> None:
    rng = np.random.default_rng(0)
    vectors, b = rng.random((r, 3)), rng.normal(size=r)
    at = vectors[:: 1 if r == 9 else 3]
    expected = []
    for nudge in 1e-5 * np.eye(3):
        there, here = (
            kernel.scores(at + sign * nudge, vectors, b[None, :])[0] for sign in (1, -1)
        )
        expected.append(np.sqrt(np.mean(((there - here) / 2e-5) ** 2)))
    np.testing.assert_allclose(kernel.slopes(vectors, b), expected, rtol=1e-6)
    assert Kernel(lambda A, B: A @ B.T).slopes(vectors, b).tolist() == [0.0] * 3
