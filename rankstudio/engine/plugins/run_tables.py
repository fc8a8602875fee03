"""Tables of a finished run that plug-ins add to the folds on the page *Compare*, as data; without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class RunColumn:
    """A column of a table of a run.

    Attributes
    ----------
    key, label, help : str
        Key, title, and what its values are.
    form : str
        Form of numbers, as of :func:`format`; "" for texts.
    width : int
        Width in pixels.
    """

    key: str
    label: str
    help: str
    form: str = ""
    width: int = 80


@dataclass(frozen=True)
class RunTable:
    """A table of a finished run, with rows for its folds.

    Attributes
    ----------
    key : str
        Key, unique among tables.
    label, help : str
        What is chosen to see it, and what it shows, without a full stop.
    task : str
        What is done meanwhile, such as "Choosing thresholds".
    columns : tuple of RunColumn
        Columns after that of the fold.
    compute : str
        ``"module:function"``: called with a run, its data and whether their test part is sealed, it returns a
        :class:`RunTableRows`, or raises a PlanError with the reason why there is none.
    """

    key: str
    label: str
    help: str
    task: str
    columns: tuple[RunColumn, ...]
    compute: str


@dataclass(frozen=True)
class RunTableRow:
    """A row.

    Attributes
    ----------
    label : str
        "1", or "mean".
    fold : int or None
        None for the mean.
    values : dict of str to float or str
        By the keys of the columns.
    """

    label: str
    fold: int | None
    values: Mapping[str, float | str]


@dataclass(frozen=True)
class RunTableRows:
    """Contents of a table.

    Attributes
    ----------
    rows : tuple of RunTableRow
    sentence : str
        Below the rows.
    """

    rows: tuple[RunTableRow, ...]
    sentence: str = ""


def run_tables() -> list[RunTable]:
    """Return the tables that abilities add; those of other packages are refused with a warning."""
    exists = tr("A table of runs with the key {key} exists already. Choose another key.")
    unusable = tr("A table of the plug-in {name} cannot be used: {reason}")
    return [entry for _, entry in entries_of("run_tables", _refuse_invalid, exists, unusable)]


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError: its function would see what the window keeps sealed."""
    text = tr("only RankStudio itself has tables of runs; use a WindowPanel instead of {value}.")
    raise PlanError(text.format(value=shown(entry)))
