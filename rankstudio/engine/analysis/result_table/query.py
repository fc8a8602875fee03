"""What a table of results is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

By = Literal["measures", "folds", "datasets"]
BY: tuple[str, ...] = get_args(By)
"""What the columns of a table can be, within groups of the others."""


@dataclass(frozen=True)
class TableQuery:
    """What a table is asked for.

    Attributes
    ----------
    measures : tuple of str
        Which ones; empty for those of the first run, or the one that chose where folds are the columns.
    by : {"measures", "folds", "datasets"}
        What the columns are.
    against : int or str
        The row whose run the others are tested against: its number, from 1, its title, or its method such as
        "gas" or "gas/ranksvm". "" for the best of the first column.
    tested : bool
        Whether differences are tested.
    seed : int
        Of the randomisation.
    """

    measures: tuple[str, ...] = ()
    by: By = "measures"
    against: int | str = ""
    tested: bool = True
    seed: int = 0
