"""L-BFGS on functions whose minimum is known."""

from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.optimisers.lbfgs import minimise
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import WorkProgress


def lowered(function: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Iterator[Any]:
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
    iterations = list(islice(lowered(lambda x: (x @ A @ x / 2 - b @ x, A @ x - b), 0 * b), 300))
    point, _, gradient = iterations[-1]
    assert np.linalg.norm(gradient) < 1e-6
    np.testing.assert_allclose(point, np.linalg.solve(A, b), atol=1e-7)
    assert (np.diff([value for _, value, _ in iterations]) < 0).all()


def test_it_ends_at_the_minimum_by_itself() -> None:
    points = list(lowered(lambda x: (float(np.cosh(x).sum()), np.sinh(x)), np.array([3.0, -40.0])))
    assert len(points) < 100
    np.testing.assert_allclose(points[-1][0], 0, atol=1e-7)
    assert len(list(lowered(lambda x: (0.0, 0 * x), np.zeros(2)))) == 1
