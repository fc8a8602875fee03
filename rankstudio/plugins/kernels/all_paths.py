"""The all-paths graph kernel (Airola et al. 2008, with its erratum of 2009; thesis, section 2.6)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, ParameterError

COMBINATIONS = ("sum", "max")


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A directed graph with weighted edges and labelled vertices.

    Attributes
    ----------
    adjacency : ndarray of shape (V, V)
        A: weight of the edge between each pair of vertices, 0 for no edge.
    labels : sequence of collections, V of them
        The set of labels of each vertex.
    """

    adjacency: Floats
    labels: Sequence[Collection[Hashable]]


def all_paths_kernel(
    graphs: Sequence[LabelledGraph],
    combine: str = "sum",
    other_graphs: Sequence[LabelledGraph] | None = None,
) -> Floats:
    """Compare graphs by the weights of all walks between their labels.

    For each graph, W = (I - A)^-1 - I contains the total weight of all
    walks between each pair of vertices. With L_iv = 1 if vertex v has
    label i, and 0 otherwise, G = LWL' contains the total weight of all
    walks between each pair of labels. The kernel of two graphs is Σ_ij
    G'_ij G''_ij.

    Parameters
    ----------
    graphs : sequence of LabelledGraph
        Graphs with an adjacency matrix A and a set of labels for each vertex.
    combine : {"sum", "max"}, default "sum"
        Whether the weights between vertices of two labels are summed,
        as in the paper, or G_ij is the maximum of L_ik W_kl L_jl, as in
        the program behind the paper's results (erratum, (2)).
    other_graphs : sequence of LabelledGraph, optional
        Graphs to compare with; by default the same graphs.

    Returns
    -------
    ndarray of shape (graphs, others)
        Kernel values, as needed for ``kernel="precomputed"``.

    Raises
    ------
    DatasetError
        If the weights of a graph are so large that the sum over all
        walks is infinite: the spectral radius of A must be less than 1.

    Notes
    -----
    O(V³) per graph; only the connected pairs of labels of each graph are stored.

    Examples
    --------
    >>> import numpy as np
    >>> step = np.array([[0.0, 0.5], [0.0, 0.0]])
    >>> graph = LabelledGraph(step, [{"protein"}, {"protein", "binds"}])
    >>> all_paths_kernel([graph])
    array([[0.5]])
    """
    if combine not in COMBINATIONS:
        raise ParameterError("combine", combine, "sum or max")

    # The number of each pair of labels, filled in by `_connections`. A
    # graph is a row of a sparse matrix, with a value for some of these
    # pairs.
    numbers: dict[tuple[Hashable, Hashable], int] = {}
    left = [
        _connections(graph, number, combine, numbers)
        for number, graph in enumerate(graphs)
    ]
    right = left  # without other graphs, the graphs are compared with each other
    if other_graphs is not None:
        right = [
            _connections(graph, number, combine, numbers)
            for number, graph in enumerate(other_graphs)
        ]
    values: Floats = (
        _sparse_matrix(left, len(numbers)) @ _sparse_matrix(right, len(numbers)).T
    ).toarray()
    return values


def walk_weights(adjacency: Floats, number: int = 0) -> Floats:
    """Return W = (I - A)^-1 - I, (V, V), the total weight of all walks between two vertices.

    ``adjacency`` is A, (V, V), the weights of the edges. ``number`` is
    that of the graph, for the DatasetError that is raised if a weight
    is infinite.
    """
    A = np.array(adjacency, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.isfinite(A).all():
        raise DatasetError(
            f"graphs[{number}]: expected a square matrix of finite weights, got shape {A.shape}."
        )
    radius = float(np.abs(np.linalg.eigvals(A)).max(initial=0.0))
    if radius >= 1.0:
        raise DatasetError(
            f"graphs[{number}]: expected an adjacency matrix of spectral radius less than 1, found "
            f"{radius:.4g}: the sum over its walks is infinite. Scale the weights down."
        )

    # (I - A)^-1 - I = (I - A)^-1 A
    return np.asarray(np.linalg.solve(np.eye(len(A)) - A, A))


def _connections(
    graph: LabelledGraph,
    number: int,
    combine: str,
    numbers: dict[tuple[Hashable, Hashable], int],
) -> dict[int, float]:
    """Return the values other than 0 of a graph's G, by the number of the pair of labels.

    G has the total weight of the walks between each pair of labels, or
    with ``combine`` "max" the largest weight between vertices with
    these labels. ``number`` is that of the graph, for errors.
    ``numbers`` contains the number of each pair of labels; new pairs
    get the next numbers.
    """
    # The weights of all walks between each two vertices.
    walks = walk_weights(graph.adjacency, number)
    count = len(graph.labels)
    if count != len(walks):
        raise DatasetError(
            f"graphs[{number}]: expected labels of {len(walks)} vertices, got {count}."
        )

    # The vertices that have each label; a label that is given twice counts once.
    vertices: dict[Hashable, list[int]] = {}
    for vertex, labels in enumerate(graph.labels):
        for label in dict.fromkeys(labels):
            vertices.setdefault(label, []).append(vertex)

    # One value for each ordered pair of labels.
    connections: dict[int, float] = {}
    for first, second in product(vertices, repeat=2):
        between = walks[np.ix_(vertices[first], vertices[second])]
        if combine == "sum":
            value = float(between.sum())
        else:  # the maximum over all vertices k and l, where L_ik W_kl L_jl is 0 if one lacks its label
            have_all_labels = between.size == walks.size
            value = float(between.max() if have_all_labels else max(between.max(), 0.0))
        if value != 0.0:
            connections[numbers.setdefault((first, second), len(numbers))] = value
    return connections


def _sparse_matrix(rows: Sequence[dict[int, float]], width: int) -> Any:
    """Return a sparse matrix whose rows are dicts from columns to values."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - where it is needed

    # All rows one after the other: columns, values, and where each row ends.
    columns: Ints = np.array([column for row in rows for column in row], dtype=np.int64)
    values = np.array(
        [value for row in rows for value in row.values()], dtype=np.float64
    )
    ends = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)
    return csr_array((values, columns, ends), shape=(len(rows), max(1, width)))
