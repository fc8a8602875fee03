"""Descriptions of tables of a finished run that plug-ins add to the page *Compare*; without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class RunColumn:
    """A column of a table of a finished run that a plug-in adds.

    Attributes
    ----------
    key, label, help : str
        Key, title, and meaning of the values.
    form : str
        Format of numbers, as for :func:`format`; "" for texts.
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
    """A table of a finished run that a plug-in adds, with rows for its folds.

    Attributes
    ----------
    key : str
        Key, unique among tables.
    label, help : str
        Name of the table in the list of tables, and its contents,
        without a full stop.
    task : str
        Text that is shown while the table is computed, such as
        "Choosing thresholds".
    columns : tuple of RunColumn
        Columns after that of the fold.
    compute : str
        ``"module:function"``: called with a run, its data and whether
        their test part is sealed, it returns a
        :class:`RunTableRows`, or raises a PlanError with the reason
        why there is none.
    """

    key: str
    label: str
    help: str
    task: str
    columns: tuple[RunColumn, ...]
    compute: str


@dataclass(frozen=True)
class RunTableRow:
    """A row of a plug-in's table of a run: for a fold, or for the mean of the folds.

    Attributes
    ----------
    label : str
        Text in the column of the fold: "1", or "mean".
    fold : int or None
        Number of the fold; None for the mean.
    values : dict of str to float or str
        Contents of the cells, by the key of the column.
    """

    label: str
    fold: int | None
    values: Mapping[str, float | str]


@dataclass(frozen=True)
class RunTableRows:
    """Contents of a plug-in's table of a run.

    Attributes
    ----------
    rows : tuple of RunTableRow
        Rows, in order.
    sentence : str
        Sentence below the rows.
    """

    rows: tuple[RunTableRow, ...]
    sentence: str = ""


def run_tables() -> list[RunTable]:
    """Return the tables of runs that abilities add.

    Abilities are RankStudio's own removable plug-ins. Tables of other
    packages are left out with a warning.
    """
    # Texts of the warnings.
    exists = tr(
        "A table of runs with the key {key} exists already. Choose another key."
    )
    unusable = tr("A table of the plug-in {name} cannot be used: {reason}")
    return [
        entry
        for _, entry in entries_of("run_tables", _refuse_invalid, exists, unusable)
    ]


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for any table of runs that a package's plug-in adds.

    The function of a table would see what the window keeps sealed.
    """
    text = tr(
        "only RankStudio itself has tables of runs; use a WindowPanel instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
