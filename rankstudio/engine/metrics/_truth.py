"""From labels and queries to what the kernels need to know before there is any score."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.metrics._kernels import Rules, Truth
from rankstudio.engine.metrics._ranking_kernel import Codes
from rankstudio.engine.metrics.conventions import Convention, Ties

_BYTE = 128  # different labels whose positions and a bit beside them fit into a byte


def check_labels(y: ArrayLike) -> Floats:
    """Return the labels as finite float64 of shape (m,).

    Raises
    ------
    DatasetError
        For no labels at all, and for one that is not a finite number; the text names the document, from 1.
    ParameterError
        For anything but one number a document.
    """
    try:
        labels = np.require(y, dtype=np.float64, requirements=["C", "W"])
    except (TypeError, ValueError):
        raise ParameterError("y", y, "one relevance label, a number, for each document") from None
    if labels.ndim != 1:
        raise ParameterError(
            "y", f"an array of shape {labels.shape}", "one relevance label for each document"
        )
    if not labels.size:
        raise DatasetError("The data have no documents to evaluate.")
    wrong = np.flatnonzero(~np.isfinite(labels))
    if wrong.size:
        raise DatasetError(
            f"The label of document {wrong[0] + 1} is {labels[wrong[0]]}; expected a finite number."
        )
    return labels


def check_query_ptr(query_ptr: ArrayLike, n_documents: int) -> Ints:
    """Return the query pointer as int64 of shape (Q + 1,), or raise ParameterError."""
    ptr = np.array(query_ptr, dtype=np.int64)
    if ptr.ndim != 1 or ptr.size < 2 or ptr[0] != 0 or ptr[-1] != n_documents or (np.diff(ptr) < 1).any():
        raise ParameterError(
            "query_ptr", query_ptr, f"increasing positions from 0 to {n_documents}, the number of documents"
        )
    return ptr


def check_document_ids(ids: Sequence[object] | NDArray[np.generic], n_documents: int) -> NDArray[np.str_]:
    """Return the document ids as text of shape (m,), or raise ParameterError."""
    names = np.asarray(ids).astype(np.str_)
    if names.shape != (n_documents,):
        raise ParameterError(
            "document_ids",
            f"an array of shape {names.shape}",
            f"one id for each of the {n_documents} documents",
        )
    return names


def compile_rules(convention: Convention, *, ties_reversed: bool = False) -> Rules:
    """Return the convention in the kernels' form.

    ``ties_reversed`` puts equal scores in the opposite order of that in which the documents were ranked.
    """
    return Rules(
        float(convention.empty_query),
        int(convention.short_ndcg),
        int(convention.short_precision),
        bool(convention.map_cut_divides_by_k),
        convention.ties is Ties.AVERAGED,
        ties_reversed,
    )


def label_codes(labels: Floats) -> tuple[Floats, Codes]:
    """Return the different labels, ascending, and the position among them of each document's.

    Positions have one byte where twice as many fit into it, else four.
    """
    values, level = np.unique(labels, return_inverse=True)
    return values, level.astype(np.uint8 if values.size <= _BYTE else np.uint32)


def compile_truth(
    labels: Floats, query_ptr: Ints, convention: Convention, greatest_grade: float, *, pairs: bool
) -> Truth:
    """Compute everything that depends on labels only, in O(m log m).

    Parameters
    ----------
    labels : ndarray of shape (m,)
    query_ptr : ndarray of shape (Q + 1,)
    convention : Convention
    greatest_grade : float
        Of the dataset, for ERR.
    pairs : bool
        Whether the disagreement error will be asked for.

    Raises
    ------
    DatasetError
        For a label so large that its gain overflows.
    """
    values, level = label_codes(labels)
    with np.errstate(over="ignore"):
        gain = convention.gains(values)
        total = np.add.reduceat(gain[level], query_ptr[:-1])
    if not np.isfinite(total).all():
        raise DatasetError(
            f"The largest label, {labels.max():g}, is too large for NDCG with the gain "
            f"{convention.gain.value} of the {convention.label} convention. "
            "Labels are usually grades such as 0 … 4."
        )
    weight = convention.weights(int(np.diff(query_ptr).max()))
    ideal = _ideal_dcg(gain[level], query_ptr, weight)
    relevant = (values >= convention.relevant_from).astype(np.float64)
    n_pairs = _count_pairs(labels, query_ptr) if pairs else np.zeros(0, np.int64)
    n_relevant = np.add.reduceat(relevant[level], query_ptr[:-1]).astype(np.int64)
    stop = convention.stop_chances(values, greatest_grade)
    return Truth(query_ptr, ideal, n_relevant, n_pairs, weight, gain, relevant, stop)


def _ideal_dcg(gain: Floats, query_ptr: Ints, weight: Floats) -> Floats:
    """Return the DCG at every rank of every query in the best order, in O(m log m)."""
    lengths = np.diff(query_ptr)
    query = np.repeat(np.arange(lengths.size), lengths)
    rank = np.arange(gain.size) - query_ptr[query]
    ideal: Floats = gain[np.lexsort((-gain, query))] * weight[rank]
    for first, last in pairwise(query_ptr.tolist()):
        np.cumsum(ideal[first:last], out=ideal[first:last])
    return ideal


def _count_pairs(labels: Floats, query_ptr: Ints) -> Ints:
    """Return each query's pairs of documents to put in order."""
    lengths = np.diff(query_ptr)
    query = np.repeat(np.arange(lengths.size), lengths)
    order = np.lexsort((labels, query))  # by query, so the queries keep their places
    starts = np.zeros(labels.size, dtype=np.bool_)
    starts[1:] = np.diff(labels[order]) > 0
    starts[query_ptr[:-1]] = True
    group = np.diff(np.append(np.flatnonzero(starts), labels.size))
    same = np.add.reduceat(group * group, np.cumsum(starts)[query_ptr[:-1]] - 1)
    counted: Ints = (lengths * lengths - same) // 2
    return counted
