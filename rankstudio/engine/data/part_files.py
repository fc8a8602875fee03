"""What is read as one part of a dataset, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import SourceFile
from rankstudio.engine.data.table_builder import TableBuilder, TableFacts


@dataclass(frozen=True, eq=False)
class PartFiles:
    """Files that are one part of a fold, and how they are read.

    Attributes
    ----------
    paths : tuple of Path
        In their order; a query may go on from one to the next.
    told : DataColumns
        What is known of the columns of tables, and with what the ids of features begin in text.
    sizes : int64 array of shape (Q,), optional
        How many documents each query has, where the lines do not say their query.
    refuse : bool
        Whether a missing value is an error.
    most_features : int, optional
        A larger feature id in text is an error.
    """

    paths: tuple[Path, ...]
    told: DataColumns = field(default_factory=DataColumns)
    sizes: Ints | None = None
    refuse: bool = False
    most_features: int | None = None

    @property
    def first_id(self) -> int:
        """With what the ids of features begin in text: 1, or 0, which becomes 1."""
        return 1 if self.told.ids_from is None else self.told.ids_from


class FormatReader(Protocol):
    """Reads the files of a part in one format."""

    def __call__(
        self, part: PartFiles, files: Iterable[SourceFile], builder: TableBuilder, progress: ReadProgress, /
    ) -> TableFacts:
        """Hand the documents to a builder piece by piece, and return what is known of all of them.

        Raises
        ------
        DataError, MissingExtraError
            Where a file cannot be read, or is not as its format has it.
        """
        ...
