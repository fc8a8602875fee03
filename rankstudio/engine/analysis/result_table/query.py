"""What a table of results is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from rankstudio.engine.language import translatable
from rankstudio.engine.support.frozen_mapping import FrozenMapping

By = Literal["measures", "folds", "datasets"]
BY: tuple[str, ...] = get_args(By)
"""What the columns of a table can be, within groups of the others."""

Test = Literal["randomisation", "t", "wilcoxon"]
TESTS: Mapping[str, str] = FrozenMapping(
    {
        "randomisation": translatable("Fisher's randomisation test"),
        "t": translatable("Student's paired t-test"),
        "wilcoxon": translatable("Wilcoxon's signed-rank test"),
    }
)
"""The paired tests that marks of significance can be of, with what they are called."""


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
    test : {"randomisation", "t", "wilcoxon"}
        By what differences are tested.
    """

    measures: tuple[str, ...] = ()
    by: By = "measures"
    against: int | str = ""
    tested: bool = True
    seed: int = 0
    test: Test = "randomisation"
