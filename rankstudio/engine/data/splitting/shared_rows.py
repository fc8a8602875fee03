"""Folds that share their rows: a training part consists of validation and test parts of other folds.

The five folds of LETOR hold every document five times. If the test
parts are concatenated in the order in which training parts have them,
and a few are repeated at the end, then every part is a slice of that
array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.dataset import Fold, RankingDataset, read_only
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.sparse_rows import SparseRows

Scalar = TypeVar("Scalar", bound=np.generic)

# of the free memory: shared rows may take it while the original parts still exist
_MEMORY_SHARE = 0.25
_ROWS_AT_ONCE = 4096  # compared at a time


def share_rows(folds: Sequence[Fold]) -> list[Fold]:
    """Return equal folds whose parts are slices of one matrix, if that saves memory.

    In a cross-validation read from files, each document occurs in the
    parts of several folds: its features are then stored once.

    Parameters
    ----------
    folds : sequence of Fold
        Folds with all their data in memory.

    Returns
    -------
    list of Fold
        Folds with the same contents. These are the original folds if no
        part is a union of other parts, too little memory is free, or
        the folds are mapped from files.

    Notes
    -----
    O(mn) to compare the rows, and to copy the shared ones.
    """
    # The pieces are the validation and test parts: other parts may be
    # unions of them. Each part becomes a sequence of numbers of pieces.
    parts = [part for fold in folds for part in fold.parts.values()]
    if len(folds) < 2 or not all(_can_be_sliced(part) for part in parts):
        return list(folds)
    small_parts = (part for fold in folds for part in (fold.vali, fold.test))
    pieces = _Pieces(part.X for part in small_parts if part is not None)
    sequences = _sequences(parts, pieces)
    if sequences is None:
        return list(folds)
    # Arrange the pieces so that each part is a slice.
    order = _common_order(sequences)
    shared = [pieces.matrices[piece] for piece in order]
    # The first row of each piece in the shared matrix, and its number of rows.
    *starts, n_shared_rows = np.cumsum([0, *map(len, shared)]).tolist()
    # Sharing has to save rows, and the copy has to fit into memory.
    saves_rows = n_shared_rows < sum(part.n_documents for part in parts)
    needed = 8.0 * n_shared_rows * parts[0].n_features
    if not saves_rows or needed > _MEMORY_SHARE * memory.available():
        return list(folds)
    # Replace the rows of each part with its slice.
    common = read_only(np.concatenate(shared))
    # The first row of each part in the shared matrix: that of the first
    # of its pieces, where they follow each other in the order.
    firsts = [starts[_index_within(order, sequence)] for sequence in sequences]
    return _sliced_folds(folds, common, firsts)


def _sliced_folds(
    folds: Sequence[Fold], common: Floats, firsts: Sequence[int]
) -> list[Fold]:
    """Return the folds with parts that are slices of one matrix.

    ``common`` has the rows of all parts. ``firsts`` has the first row of
    each part, in the order of the folds and of the parts of a fold.
    """
    first_rows = iter(firsts)
    sliced_folds = []
    for fold in folds:
        sliced_parts = {}
        for name, part in fold.parts.items():
            first = next(first_rows)
            rows = common[first : first + part.n_documents]
            sliced_parts[name] = _without_buffers(part, rows)
        sliced_folds.append(Fold(fold.number, **sliced_parts))
    return sliced_folds


def _sequences(
    parts: Sequence[RankingDataset], pieces: _Pieces
) -> list[list[int]] | None:
    """Return each part of the folds as a sequence of numbers of pieces.

    Pieces are the distinct validation and test parts. Return None if a
    part is not a union of pieces.
    """
    sequences: list[list[int]] = []
    for part in parts:
        sequence = pieces.sequence(part.X)
        if sequence is None:
            return None
        sequences.append(sequence)
    return sequences


def _can_be_sliced(part: RankingDataset) -> bool:
    """Return whether the rows of a part are an array in memory."""
    return not in_file(part.X) and not isinstance(part.X, SparseRows)


class _Pieces:
    """Distinct feature matrices of validation and test parts.

    Other parts of the folds may be composed of these pieces.
    """

    def __init__(self, features: Iterable[Floats]) -> None:
        """Collect matrices of shape (rows, n), each of equal ones once."""
        self.matrices: list[Floats] = []
        # The numbers of the pieces with the same first row, by its bytes.
        self._by_first_row: dict[bytes, list[int]] = {}
        for X in features:
            candidates = self._by_first_row.setdefault(X[:1].tobytes(), [])
            if not any(
                _have_same_bits(self.matrices[piece], X) for piece in candidates
            ):
                candidates.append(len(self.matrices))
                self.matrices.append(X)

    def sequence(self, X: Floats) -> list[int] | None:
        """Return the indices of the pieces whose concatenation is the matrix X.

        Return None if X is not composed of pieces.
        """
        # At each row, find the piece that begins with this row and
        # agrees with the next ones.
        sequence: list[int] = []
        row = 0
        while row < len(X):
            # Pieces with this first row; the loop ends at the first that agrees.
            for piece in self._by_first_row.get(X[row : row + 1].tobytes(), []):
                if _have_same_bits(
                    self.matrices[piece], X[row : row + len(self.matrices[piece])]
                ):
                    break
            else:
                return None
            sequence.append(piece)
            row += len(self.matrices[piece])
        return sequence


def _have_same_bits(X: Floats, Y: Floats) -> bool:
    """Return whether two matrices have the same shape and the same bits.

    Unlike numbers, bits are equal for NaN, and differ for 0.0 and
    -0.0. Rows are compared in blocks, to save memory.
    """
    return X.shape == Y.shape and all(
        np.array_equal(
            X[row : row + _ROWS_AT_ONCE].view(np.int64),
            Y[row : row + _ROWS_AT_ONCE].view(np.int64),
        )
        for row in range(0, len(X), _ROWS_AT_ONCE)
    )


def _common_order(sequences: Sequence[list[int]]) -> list[int]:
    """Return an order of pieces that has every sequence as a contiguous stretch.

    Pieces are numbers; one may occur several times in the order.
    Longest sequences come first, and each next one overlaps with the
    end of the order as far as possible.

    Examples
    --------
    >>> _common_order([[0, 1, 2], [1, 2, 3], [3], [2, 3, 0]])
    [0, 1, 2, 3, 0]
    """
    order: list[int] = []
    for sequence in sorted(sequences, key=len, reverse=True):
        if _index_within(order, sequence) is not None:  # it is a stretch already
            continue
        # The most pieces at the end of the order with which the sequence begins.
        overlap = next(
            n
            for n in range(len(sequence), -1, -1)
            if order[len(order) - n :] == sequence[:n]
        )
        order += sequence[overlap:]
    return order


def _index_within(order: list[int], sequence: list[int]) -> int | None:
    """Return the index at which a sequence begins within an order.

    Return None if the order does not contain the sequence.
    """
    n = len(sequence)
    return next(
        (i for i in range(len(order) - n + 1) if order[i : i + n] == sequence), None
    )


def _without_buffers(part: RankingDataset, X: Floats) -> RankingDataset:
    """Return a part with features ``X`` and copies of its other arrays.

    The arrays of a part that was read from a file are views of one
    buffer, whose memory is free after the copy.
    """
    comments = part.comments
    if isinstance(comments, TextComments):
        comments = TextComments(comments.content.copy(), comments.offsets.copy())
    return replace(
        part,
        X=X,
        y=_copied(part.y),
        query_ptr=_copied(part.query_ptr),
        file_rows=None if part.file_rows is None else _copied(part.file_rows),
        comments=comments,
    )


def _copied(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only copy of an array."""
    return read_only(array.copy())
