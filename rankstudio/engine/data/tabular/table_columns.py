"""The columns of a table from any source, by their position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from rankstudio.engine.errors import DataError


class RowError(Protocol):
    """Creates the error of a row, from the value found and the value expected."""

    def __call__(
        self, row: int, actual: str, expected: str, missing: bool = False, /
    ) -> DataError:
        """Return the error; ``missing`` for a missing value that is refused."""
        ...


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table from any source.

    Attributes
    ----------
    where : str
        Name of the table, for messages.
    names : tuple of str
        Names of the columns.
    n_rows : int
        Number of rows.
    column : callable
        Function that returns the values of a column by its position:
        numbers, or objects if some are not numeric.
    error : RowError
        Function that returns the error for an invalid value in a row.
    line : callable
        Function that returns the number of a row for messages, from
        1.
    unit : str
        Unit of row numbers: "line" or "row".
    text_numbers : bool
        Whether numbers may be given as text, as in text files.
    has_header : bool
        Whether the table has a header.
    missing_texts : tuple of str
        Texts that stand for a missing value besides the usual ones.
    """

    where: str
    names: tuple[str, ...]
    n_rows: int
    column: Callable[[int], NDArray[Any]]
    error: RowError
    line: Callable[[int], int]
    unit: str = "row"
    text_numbers: bool = False
    has_header: bool = True
    missing_texts: tuple[str, ...] = ()
