"""Random ranking problems for hypothesis, with the shapes that break shortcuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class Problem(NamedTuple):
    """Documents, labels, query of each document, and λ."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    regularization: float


@st.composite
def problems(
    draw: st.DrawFn, most_features: int = 6, fewest_queries: int = 1
) -> Problem:
    """Queries of 1 to 7 documents, constant and duplicated features, labels 0-2 or real, λ 2^-15 … 2^15."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 7), min_size=fewest_queries, max_size=9))
    m, n = sum(sizes), draw(st.integers(1, most_features))
    X = rng.random((m, n))
    for column in range(n):
        match draw(
            st.sampled_from(
                [
                    "random",
                    "random",
                    "zero",
                    "constant",
                    "per query",
                    "duplicate",
                    "rounded",
                ]
            )
        ):
            case "zero":
                X[:, column] = 0.0
            case "constant":
                X[:, column] = 0.3
            case "per query":
                X[:, column] = np.repeat(rng.random(len(sizes)), sizes)
            case "duplicate":
                X[:, column] = X[:, rng.integers(0, n)]
            case "rounded":
                X[:, column] = np.round(X[:, column], 1)
            case _:
                pass
    y = (
        rng.integers(0, 3, m).astype(float)
        if draw(st.booleans())
        else rng.normal(size=m)
    )
    names = rng.permutation(len(sizes)) + 100
    return Problem(X, y, np.repeat(names, sizes), 2.0 ** draw(st.integers(-15, 15)))


def tolerance(problem: Problem) -> tuple[float, float]:
    """Bound on the error of a shortcut's criterion: (relative, absolute).

    The weights solve systems of condition number at most 1 + ||X^||² / λ; the criterion is a sum of squares
    bounded by that of the labels times the same factor. A few dozen roundings each.
    """
    condition = 1.0 + np.sum(problem.X**2) / problem.regularization
    eps = 256 * np.finfo(float).eps * condition
    return eps, eps * float(problem.y @ problem.y)
