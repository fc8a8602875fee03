"""Kernel functions against loops, and their slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import KERNELS, kernel_by_loops

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.errors import DatasetError


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
    [
        Kernel("rbf", 0.7),
        Kernel("poly", 0.5, 3, 1.0),
        Kernel("linear"),
        Kernel("0.5 * linear + rbf", 0.7),
        Kernel("linear * rbf + 2 * rbf * rbf * poly", 0.7, 2),
    ],
    ids=lambda kernel: kernel.function,
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


@pytest.mark.parametrize("text", ["linear*rbf", "2^-1 * rbf+linear * 4", "poly + poly"])
def test_sums_are_positive_semidefinite_and_large_ones_made_in_blocks(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(3).normal(size=(150, 4))
    kernel = Kernel(text, 0.3, 2)
    whole = kernel.matrix(X, X)
    expected = kernel_by_loops(X, X, text.replace("2^-1", "0.5"), 0.3, 2)
    np.testing.assert_allclose(whole, expected, rtol=1e-12, atol=1e-13)
    values = np.linalg.eigvalsh(whole)
    assert values[0] >= -1e-13 * len(X) * values[-1]
    monkeypatch.setattr("rankstudio.engine.arithmetic.kernel_functions.VALUES", 1)
    np.testing.assert_array_equal(kernel.matrix(X, X), whole)


def test_a_product_out_of_range_is_refused() -> None:
    X = np.full((2, 1), 1e80)
    with pytest.raises(DatasetError, match="not finite"):
        Kernel("linear * linear").matrix(X, X)
    assert np.isfinite(Kernel("linear").matrix(X, X)).all()
