"""The program of the cutting planes against scipy, and its value as a certificate."""

from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from rankstudio.engine.arithmetic.optimisers.bundle_method import Planes
from rankstudio.engine.arithmetic.optimisers.lbfgs import minimise
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import WorkProgress


def height(A: np.ndarray, b: np.ndarray, w: np.ndarray) -> float:
    """½ w'w + the highest plane, the plane 0 among them."""
    return 0.5 * float(w @ w) + max(0.0, float((b - A @ w).max()))


def at_random(
    seed: int, most: int, n: int, length: float
) -> tuple[np.ndarray, np.ndarray]:
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
def test_the_minimum_is_that_of_a_general_optimiser(
    seed: int, n: int, length: float
) -> None:
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


@given(
    st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 6), st.integers(-3, 3)
)
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


def lowered(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats
) -> Iterator[Any]:
    """Yield the iterations for a function that is known at once."""

    def objective(point: Floats) -> Generator[WorkProgress, None, tuple[float, Floats]]:
        yield from ()
        return function(point)

    return minimise(objective, start)


def test_a_quadratic_is_solved() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    A = A @ A.T + 0.1 * np.eye(30)
    b = rng.normal(size=30)
    iterations = list(
        islice(lowered(lambda x: (x @ A @ x / 2 - b @ x, A @ x - b), 0 * b), 300)
    )
    point, _, gradient = iterations[-1]
    assert np.linalg.norm(gradient) < 1e-6
    np.testing.assert_allclose(point, np.linalg.solve(A, b), atol=1e-7)
    assert (np.diff([value for _, value, _ in iterations]) < 0).all()


def test_it_ends_at_the_minimum_by_itself() -> None:
    points = list(
        lowered(lambda x: (float(np.cosh(x).sum()), np.sinh(x)), np.array([3.0, -40.0]))
    )
    assert len(points) < 100
    np.testing.assert_allclose(points[-1][0], 0, atol=1e-7)
    assert len(list(lowered(lambda x: (0.0, 0 * x), np.zeros(2)))) == 1
