"""Analyses that plug-ins add, as data: from one entry a command, a dialog of the window, and a function."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rankstudio.engine.errors import ParameterError, PlanError, RankStudioError, nearest, one_line, shown
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.catalog.registry import refuse_parameters
from rankstudio.engine.plugins.entries import entries_of

Cell = str | int | float | None

_KEY = re.compile(r"[a-z][a-z0-9-]{0,39}")
_PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_LONGEST_LABEL = 60
_LONGEST_SUMMARY = 200
_FIXED = 1e-3, 1e4  # numbers with four decimals


class Needs(Enum):
    """What an analysis is of.

    Examples
    --------
    >>> from rankstudio.api import Needs
    >>> Needs("data") is Needs.DATA
    True
    """

    DATA = "data"  # the training part of a fold
    RUN = "run"  # a finished run, with its data


@dataclass(frozen=True)
class AnalysisTable:
    """A table of results.

    Attributes
    ----------
    title : str
    header : tuple of str
        Titles of the columns.
    rows : tuple of tuple
        Cells of each row: texts, numbers, or None for what is not defined.
    note : str
        Sentence below the table.

    Examples
    --------
    >>> from rankstudio.api import AnalysisTable
    >>> AnalysisTable("Pairs", ("feature", "similarity"), (("BM25", 0.9),)).rows[0][1]
    0.9
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def text_columns(self) -> tuple[int, ...]:
        """Numbers of the columns with a text."""
        return tuple(
            column
            for column in range(len(self.header))
            if any(isinstance(row[column], str) for row in self.rows)
        )

    def as_text(self) -> TextTable:
        """Return the table as texts, with rounded numbers."""
        rows = [[cell_text(cell) for cell in row] for row in self.rows]
        return TextTable(self.title, self.header, rows, self.text_columns, self.note)

    def as_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        rows = [dict(zip(self.header, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "note": self.note}


def cell_text(cell: Cell) -> str:
    """Return a cell as a text."""
    if isinstance(cell, float):
        form = ".4f" if cell == 0 or _FIXED[0] <= abs(cell) < _FIXED[1] else ".4g"
        return "" if math.isnan(cell) else f"{cell:{form}}"
    return "" if cell is None else str(cell)


@dataclass(frozen=True)
class Analysis:
    """An analysis of data or of a finished run.

    It is a command of its key, an entry of *Run, Analyses* in the window, and `analyse` calls it in Python.

    Attributes
    ----------
    key : str
        Name of the command: lower-case letters, digits and hyphens.
    label : str
        Name in the window: "Redundant features".
    summary : str
        What it computes, as one sentence without a full stop.
    compute : str
        ``"module:function"``, imported when it is needed. It is called with the training part of a fold, a
        `RankingDataset`; or for ``needs=Needs.RUN`` with a `RunResult` and its `FoldedDataset`, both without
        test parts while these are sealed; and with the parameters by name. It returns a `AnalysisTable` or
        several; a generator yields `WorkProgress` before.
    parameters : tuple of Parameter
    needs : Needs
    in_report : bool
        Whether reports have its tables, with the defaults of its parameters: a report waits for it.

    Examples
    --------
    >>> from rankstudio.api import Analysis
    >>> Analysis("pairs", "Pairs of features", "Lists pairs", "my_package.pairs:compute").needs.value
    'data'
    """

    key: str
    label: str
    summary: str
    compute: str
    parameters: tuple[Parameter, ...] = ()
    needs: Needs = Needs.DATA
    in_report: bool = False

    def validate(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters in canonical form, with defaults.

        Raises
        ------
        ParameterError
            For a name or value that is invalid.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in values:
            if name not in names:
                expected = tr("one of {names}").format(names=", ".join(names))
                raise ParameterError(name, values[name], expected, nearest(name, names))
        return {p.name: p.validate(values.get(p.name, p.default)) for p in self.parameters}


def analyses(taken: Collection[str] = ()) -> dict[str, Analysis]:
    """Return the analyses of all plug-ins by key, and warn of those that cannot be used.

    Parameters
    ----------
    taken : collection of str
        Names of other commands.
    """

    def refuse_invalid(entry: object) -> None:
        problem = _problem(entry, taken)
        if problem:
            raise PlanError(problem)

    exists = tr("An analysis {key} exists already. Choose another key.")
    unusable = tr("An analysis of the plug-in {name} cannot be used: {reason}")
    return {entry.key: entry for _, entry in entries_of("analyses", refuse_invalid, exists, unusable)}


def analysis(key: str) -> Analysis:
    """Return an analysis by its key.

    Raises
    ------
    PlanError
        If there is none.
    """
    known = analyses()
    if key not in known:
        text = tr("There is no analysis {key}. Expected one of {names}.")
        raise PlanError(text.format(key=shown(key), names=", ".join(known) or "–"))
    return known[key]


def _problem(entry: object, taken: Collection[str]) -> str:
    """Return why an analysis cannot be used, as a sentence; "" if it can."""
    if not isinstance(entry, Analysis):
        return tr("expected an Analysis, got {value}.").format(value=shown(entry))
    if not isinstance(entry.key, str) or not _KEY.fullmatch(entry.key):
        text = tr("key: expected lower-case letters, digits and hyphens, got {key}.")
        return text.format(key=shown(entry.key))
    if entry.key in taken:
        return tr("A command {key} exists already. Choose another name.").format(key=shown(entry.key))
    if not isinstance(entry.compute, str) or not _PLACE.fullmatch(entry.compute):
        text = tr('{key}: expected "module:name", got {place}.')
        return text.format(key=entry.key, place=shown(entry.compute))
    for name, most in (("label", _LONGEST_LABEL), ("summary", _LONGEST_SUMMARY)):
        value = getattr(entry, name)
        if not isinstance(value, str) or not 0 < len(value.strip()) <= most or one_line(value) != value:
            text = tr("{key}: {field}: expected a line of at most {most} characters, got {value}.")
            return text.format(key=entry.key, field=name, most=most, value=shown(value))
    return _problem_of_parameters(entry)


def reported_analyses() -> tuple[Analysis, ...]:
    """Return the analyses whose tables are in reports."""
    return tuple(entry for entry in analyses().values() if entry.in_report)


def _problem_of_parameters(entry: Analysis) -> str:
    if not isinstance(entry.needs, Needs):
        return tr("{key}: expected Needs.DATA or Needs.RUN, got {value}.").format(
            key=entry.key, value=shown(entry.needs)
        )
    if not isinstance(entry.parameters, tuple):
        text = tr("{key}: expected a tuple of parameters, got {value}.")
        return text.format(key=entry.key, value=one_line(shown(entry.parameters)))
    try:
        refuse_parameters(entry.key, entry.parameters)
        entry.validate({})
    except RankStudioError as error:
        return str(error)
    return ""
