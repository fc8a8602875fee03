"""The program of the cutting planes against scipy, and its value as a certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from rankstudio.engine.arithmetic.optimisers.bundle_method import Planes


def height(A: np.ndarray, b: np.ndarray, w: np.ndarray) -> float:
    """½ w'w + the highest plane, the plane 0 among them."""
    return 0.5 * float(w @ w) + max(0.0, float((b - A @ w).max()))


def at_random(seed: int, most: int, n: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Planes of very different lengths, some of them equal, opposite or level."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, most + 1))
    A = rng.normal(size=(k, n)) * length * 10.0 ** rng.uniform(-2, 0, (k, 1))
    b = rng.random(k)
    for t in range(1, k):
        match int(rng.integers(0, 8)):
            case 0:
                A[t], b[t] = A[t - 1], b[t - 1]
            case 1:
                A[t] = -A[t - 1]
            case 2:
                A[t] = 0.0
            case _:
                pass
    return A, b


@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_minimum_is_that_of_a_general_optimiser(seed: int, n: int, length: float) -> None:
    A, b = at_random(seed, 6, n, length)
    planes = Planes(n)
    for a, offset in zip(A, b, strict=True):
        planes.add(a, offset)
    w, value = planes.minimum()
    found = minimize(
        lambda v: (0.5 * v[:n] @ v[:n] + v[n], np.append(v[:n], 1.0)),
        np.append(np.zeros(n), b.max()),
        jac=True,
        method="SLSQP",
        bounds=[(None, None)] * n + [(0.0, None)],
        constraints=[{"type": "ineq", "fun": lambda v: A @ v[:n] + v[n] - b}],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    least = height(A, b, found.x[:n])
    assert value <= least * (1 + 1e-9) + 1e-12
    assert least == pytest.approx(value, rel=1e-6, abs=1e-9)
    assert height(A, b, w) == pytest.approx(value, rel=1e-9, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 6), st.integers(-3, 3))
def test_the_value_is_the_height_at_the_minimum_whatever_the_lengths(
    seed: int, n: int, exponent: int, scale: int
) -> None:
    A, b = at_random(seed, 40, n, 10.0**exponent)
    A, b = A * 10.0**scale, b * 100.0**scale
    planes, before = Planes(n), 0.0
    # The program's products are known to some 1e-16 of the longest a'a, and there are up to 40 planes.
    accuracy = 1e-13 * (float((A * A).sum(axis=1).max()) + b.max())
    for k, (a, offset) in enumerate(zip(A, b, strict=True), start=1):
        planes.add(a, offset)
        w, value = planes.minimum()
        assert value >= before - accuracy
        # No value of the dual program is above one of the primal: where they meet, both are the best.
        assert height(A[:k], b[:k], w) == pytest.approx(value, rel=1e-12, abs=accuracy)
        before = value


def test_no_planes_have_their_minimum_at_zero() -> None:
    w, value = Planes(3).minimum()
    assert (w == 0).all()
    assert value == 0.0
