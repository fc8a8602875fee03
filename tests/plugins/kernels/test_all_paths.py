"""The all-paths graph kernel against sums of powers and loops over labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine import KernelRankRLS
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.plugins.kernels.all_paths import (
    LabelledGraph,
    all_paths_kernel,
    walk_weights,
)

LABELS = "abc"


@st.composite
def graphs(draw: st.DrawFn) -> list[LabelledGraph]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = []
    for _ in range(draw(st.integers(1, 5))):
        size = draw(st.integers(1, 5))
        A = rng.random((size, size)) * (rng.random((size, size)) < 0.6)
        A *= (
            0.9 / max(1e-9, np.abs(np.linalg.eigvals(A)).max())
            if draw(st.booleans())
            else 0.1
        )
        if np.abs(np.linalg.eigvals(A)).max() >= 0.95:
            A *= 0.0
        signs = rng.choice([-1.0, 1.0], (size, size)) if draw(st.booleans()) else 1.0
        A = A * signs * 0.5
        made.append(
            LabelledGraph(
                A,
                [
                    set(rng.choice(list(LABELS), rng.integers(0, 4)))
                    for _ in range(size)
                ],
            )
        )
    return made


def dense(graph: LabelledGraph, combine: str) -> np.ndarray:
    """G by loops over the sum of powers."""
    A = np.asarray(graph.adjacency)
    walks, power = np.zeros_like(A), np.eye(len(A))
    for _ in range(2000):
        power = power @ A
        walks = walks + power
    L = np.array(
        [[float(label in labels) for labels in graph.labels] for label in LABELS]
    )
    if combine == "sum":
        return L @ walks @ L.T
    out = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = max(
                L[i, k] * walks[k, m] * L[j, m]
                for k in range(len(A))
                for m in range(len(A))
            )
    return out


@given(graphs(), st.sampled_from(["sum", "max"]))
def test_it_is_the_inner_product_of_the_weights_between_labels(
    given_graphs: list[LabelledGraph], combine: str
) -> None:
    full = np.array([dense(graph, combine).ravel() for graph in given_graphs])
    found = all_paths_kernel(given_graphs, combine=combine)
    np.testing.assert_allclose(found, full @ full.T, rtol=1e-9, atol=1e-12)
    beside = all_paths_kernel(given_graphs[:1], combine, other_graphs=given_graphs)
    np.testing.assert_allclose(beside, found[:1], rtol=1e-12, atol=1e-14)


def test_the_sum_and_the_erratum_differ_where_labels_are_connected_twice() -> None:
    A = np.array([[0.0, 0.5, 0.25], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    graph = LabelledGraph(A, [{"a"}, {"b"}, {"b"}])
    assert all_paths_kernel([graph]).tolist() == [[0.75**2]]
    assert all_paths_kernel([graph], combine="max").tolist() == [[0.5**2]]


def test_walks_without_a_finite_sum_are_refused() -> None:
    fine = LabelledGraph(np.array([[0.999]]), ["a"])
    assert walk_weights(fine.adjacency)[0, 0] == pytest.approx(999.0)
    ring = LabelledGraph(np.array([[0.0, 2.0], [0.5, 0.0]]), ["a", "b"])
    with pytest.raises(
        DatasetError,
        match=r"graphs\[1\]: expected an adjacency matrix of spectral radius",
    ):
        all_paths_kernel([fine, ring])
    with pytest.raises(
        DatasetError, match=r"graphs\[0\]: expected a square matrix of finite weights"
    ):
        all_paths_kernel([LabelledGraph(np.ones((1, 2)), ["a"])])
    with pytest.raises(DatasetError, match="expected labels of 1 vertices, got 2"):
        all_paths_kernel([LabelledGraph(np.zeros((1, 1)), ["a", "b"])])
    with pytest.raises(ParameterError, match="combine: expected sum or max, got 'min'"):
        all_paths_kernel([fine], combine="min")


def test_a_ranker_learns_with_it() -> None:
    rng = np.random.default_rng(0)
    made = [
        LabelledGraph(0.3 * rng.random((3, 3)), ["a", "b", rng.choice(list("ab"))])
        for _ in range(24)
    ]
    y, qid = (
        np.array([float(graph.labels[2] == "a") for graph in made]),
        np.arange(24) // 4,
    )
    kernel = all_paths_kernel(made)
    ranker = KernelRankRLS("precomputed", regularization=0.01).fit(kernel, y, qid=qid)
    scores = ranker.predict(all_paths_kernel(made, other_graphs=made))
    assert scores[y == 1].mean() > scores[y == 0].mean()
