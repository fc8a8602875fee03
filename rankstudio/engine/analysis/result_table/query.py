"""The query for a table of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from rankstudio.engine.language import translatable
from rankstudio.engine.support.frozen_mapping import FrozenMapping

By = Literal["measures", "folds", "datasets"]
BY: tuple[str, ...] = get_args(By)
"""Kinds of columns of a table.

A table has one kind of columns; the other kinds form groups of columns.
"""

Test = Literal["randomisation", "t", "wilcoxon"]
TESTS: Mapping[str, str] = FrozenMapping(
    {
        "randomisation": translatable("Fisher's randomisation test"),
        "t": translatable("Student's paired t-test"),
        "wilcoxon": translatable("Wilcoxon's signed-rank test"),
    }
)
"""Names of the paired tests, by their keys."""


@dataclass(frozen=True)
class TableQuery:
    """Options of a table of results: measures, columns and tests.

    Attributes
    ----------
    measures : tuple of str
        Measures; empty for those of the first run, or the selection
        criterion if folds are the columns.
    by : {"measures", "folds", "datasets"}
        Meaning of the columns.
    against : int or str
        Reference row of the tests: the row's number, from 1, its title,
        or its method such as "gas" or "gas/ranksvm". "" for the best of
        the first column.
    tested : bool
        Whether differences are tested.
    seed : int
        Seed of the randomisation.
    test : {"randomisation", "t", "wilcoxon"}
        Significance test of the differences.
    """

    measures: tuple[str, ...] = ()
    by: By = "measures"
    against: int | str = ""
    tested: bool = True
    seed: int = 0
    test: Test = "randomisation"
