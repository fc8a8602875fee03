"""Where data come from, and what stands beside the numbers there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SIZES_ENDINGS = (".group", ".query")
"""Of files with how many documents each query has: XGBoost's, and LightGBM's."""


@dataclass(frozen=True)
class Source:
    """Where a dataset was read from.

    Attributes
    ----------
    path : Path
        The file.
    size : int
        Its size in bytes.
    checksum : str
        Of its contents, as ``algorithm:hex digits``; two files with the same bytes have the same checksum.
    """

    path: Path
    size: int
    checksum: str


@dataclass(frozen=True)
class ReadAs:
    """As what a data file was read.

    Attributes
    ----------
    format : str
        Key of the format (see `rankstudio.engine.data.formats`).
    qid, label, part : str
        What told the query, the label and the part: the name of a column, of a file of sizes, or "".
    """

    format: str = "letor"
    qid: str = ""
    label: str = ""
    part: str = ""

    @property
    def by_sizes(self) -> bool:
        """Whether a file of sizes told the queries, so that each file counts its own from 1."""
        return self.qid.endswith(SIZES_ENDINGS)


class Comments(Protocol):
    """The comments of the documents, decoded only when somebody asks."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int) -> str: ...

    def __iter__(self) -> Iterator[str]: ...
