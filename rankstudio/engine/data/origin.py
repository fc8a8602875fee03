"""The origin of a dataset: its files, and how they were read."""

from __future__ import annotations

from dataclasses import dataclass, field

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.table import ReadAs, Source


@dataclass(frozen=True)
class DatasetOrigin:
    """Files that a dataset was read from.

    Attributes
    ----------
    known : str or None
        Key of the recognised dataset ("letor4", "ohsumed", "gov",
        "mslr", "yahoo").
    checksum : str
        Checksum of the first file; "" for data made in memory.
    read_as : ReadAs
        Format of the first file.
    columns : DataColumns
        Columns of the data that the user specified.
    whole_sources : tuple of Source
        With a share of the training queries: the files of the whole
        folds; otherwise ().
    """

    known: str | None = None
    checksum: str = ""
    read_as: ReadAs = field(default_factory=ReadAs)
    columns: DataColumns = field(default_factory=DataColumns)
    whole_sources: tuple[Source, ...] = ()
