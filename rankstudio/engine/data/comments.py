"""The comments of the documents, kept as bytes until they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, Self

import numpy as np

from rankstudio.engine.arrays import Bytes, Ints

_ROWS_AT_ONCE = 1 << 14  # rows whose bytes are copied at a time
_DOCUMENT_ID = re.compile(r"\bdocid\s*=\s*(\S+)", re.IGNORECASE)


class Comments(Protocol):
    """Comments of the documents, decoded on demand."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int) -> str: ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True, eq=False)
class TextComments:
    """The comments of the m documents of a dataset, as a sequence of texts decoded on demand.

    Attributes
    ----------
    content : uint8 array
        Bytes of all comments, concatenated.
    offsets : int64 array of shape (m + 1,)
        Start of each comment, and the end of the last. Bytes that are
        not UTF-8 are shown as U+FFFD.
    """

    content: Bytes
    offsets: Ints

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return the comments of a dataset, from the texts of its documents.

        A character that UTF-8 cannot encode is kept as an escape.
        """
        content = [text.encode("utf-8", errors="backslashreplace") for text in texts]
        offsets = np.cumsum([0, *map(len, content)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(content), dtype=np.uint8).copy(), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        """Return the comment of a document; a negative row counts from the end."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"there are {len(self)} comments, none at {row}")
        row %= len(self)
        # ``offsets`` has the begin of each comment within the bytes of all.
        return (
            self.content[self.offsets[row] : self.offsets[row + 1]]
            .tobytes()
            .decode("utf-8", errors="replace")
        )

    def __iter__(self) -> Iterator[str]:
        """Yield all comments in order.

        The bytes are copied for many rows at once, which is faster than
        row by row.
        """
        for begin in range(0, len(self), _ROWS_AT_ONCE):
            offsets = self.offsets[begin : begin + _ROWS_AT_ONCE + 1].tolist()
            # ``offsets`` has the begin of each comment within the bytes
            # of all, but the copy begins at the first of these rows:
            # hence the differences.
            content = self.content[offsets[0] : offsets[-1]].tobytes()
            for first, last in pairwise(offsets):
                yield content[first - offsets[0] : last - offsets[0]].decode(
                    "utf-8", errors="replace"
                )


@dataclass(frozen=True, eq=False)
class TakenComments:
    """Comments of some rows of a dataset, as a sequence of texts decoded on demand.

    Attributes
    ----------
    of : Comments
        Comments of all rows.
    rows : ndarray of shape (m,)
        Positions of the selected rows among all rows.
    """

    of: Comments
    rows: Ints

    def __len__(self) -> int:
        return self.rows.size

    def __getitem__(self, row: int) -> str:
        return self.of[int(self.rows[row])]

    def __iter__(self) -> Iterator[str]:
        return (self.of[row] for row in self.rows.tolist())


@dataclass(frozen=True, eq=False)
class RankedIds:
    """Comments that contain only a document id, which is the rank of the original id.

    Such comments replace the comments of the file where only the order
    of the document ids was kept.

    Attributes
    ----------
    ranks : int64 array of shape (m,)
        Rank of each document's id among the ids of its query.
    """

    ranks: Ints

    def __len__(self) -> int:
        return self.ranks.size

    def __getitem__(self, row: int) -> str:
        return f"docid = {int(self.ranks[row]):019d}"

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))


def document_id(comment: str) -> str:
    """Return the document id in a LETOR comment, "" if it has none.

    Examples
    --------
    >>> document_id("docid = GX008-86-4444840 inc = 1 prob = 0.086622")
    'GX008-86-4444840'
    """
    match = _DOCUMENT_ID.search(comment)
    return match[1] if match else ""
