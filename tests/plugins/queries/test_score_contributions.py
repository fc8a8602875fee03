"""Parts of kernel scores against sums of small steps on the line from the mean basis vector."""

from __future__ import annotations

import numpy as np
import pytest

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.methods.kernels.kernel_model import KernelModel
from rankstudio.plugins.queries.score_contributions import kernel_contributions


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel("rbf", 0.5),
        Kernel("rbf", 4.0),
        Kernel("poly", 0.5, 4, 1.0),
        Kernel("poly", 1.0, 1),
        Kernel("linear"),
        Kernel("linear + 0.5 * rbf", 4.0),
        Kernel("2 * linear * rbf + poly", 0.5, 2),
    ],
    ids=str,
)
def test_each_feature_is_given_what_the_score_changes_by_its_steps(
    kernel: Kernel,
) -> None:
    rng = np.random.default_rng(0)
    model = KernelModel(kernel, rng.random((7, 3)), rng.normal(size=7))
    X = rng.random((5, 4)) * 2 - 0.5
    columns, values, constant = kernel_contributions(
        model.portable([30, 10, 40]), X, {30: 3, 10: 1, 40: 0}
    )
    assert columns.tolist() == [0, 1, 3]
    own = X[:, [3, 1, 0]]
    start, n = model.vectors.mean(axis=0), 400
    expected, at = np.zeros((5, 3)), np.tile(start, (5, 1))
    for step in range(n):  # the slope in the middle of each step
        middle = start + (step + 0.5) / n * (own - start)
        for j in range(3):
            nudge = np.zeros(3)
            nudge[j] = 1e-5
            slope = (model.scores(middle + nudge) - model.scores(middle - nudge)) / 2e-5
            expected[:, j] += slope * (own[:, j] - start[j]) / n
    np.testing.assert_allclose(values, expected[:, ::-1], atol=1e-4)
    assert constant == pytest.approx(model.scores(at[:1])[0], rel=1e-12)
    np.testing.assert_allclose(
        values.sum(axis=1) + constant, model.scores(own), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("function", ["rbf", "rbf + linear"])
def test_a_document_at_the_start_and_a_model_without_basis_vectors_have_no_parts(
    function: str,
) -> None:
    model = KernelModel(
        Kernel(function, 1.0), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -2.0])
    )
    _, values, _ = kernel_contributions(
        model.portable([1, 2]), np.full((1, 2), 0.5), {1: 0, 2: 1}
    )
    assert values.tolist() == [[0.0, 0.0]]
    empty = KernelModel(Kernel("rbf", 1.0), np.empty((0, 2)), np.empty(0))
    _, values, constant = kernel_contributions(
        empty.portable([1, 2]), np.ones((3, 2)), {1: 0, 2: 1}
    )
    assert (values.tolist(), constant) == ([[0.0, 0.0]] * 3, 0.0)
