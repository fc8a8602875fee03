"""Analyses that plug-ins add, as data.

From one entry, the program makes a command, a dialog of the window, and a function.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rankstudio.engine.errors import (
    ParameterError,
    PlanError,
    RankStudioError,
    nearest,
    one_line,
    shown,
)
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.catalog.registry import refuse_parameters
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.terminal_commands import problem_of_command
from rankstudio.engine.support.number_format import NOTHING

Cell = str | int | float | None

Form = str | Callable[[Any], str]
"""How a number is written: a format of :func:`format`, or a function that returns the text."""

# The names of the program's own modules begin with this.
_OWN_PACKAGE = "rankstudio."
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_MAX_LABEL_LENGTH = 60
_MAX_SUMMARY_LENGTH = 200
_MAX_DESCRIPTION_LENGTH = 4000
# Sizes of numbers that are written with four decimals.
_FIXED_POINT_RANGE = 1e-3, 1e4


class Needs(Enum):
    """Subject of an analysis.

    Examples
    --------
    >>> from rankstudio.api import Needs
    >>> Needs("data") is Needs.DATA
    True
    """

    DATA = "data"  # the training part of a fold
    FOLDS = "folds"  # data with all folds and parts
    RUN = "run"  # a finished run, with its data
    PLAN = "plan"  # a plan that is not carried out yet, with its data


class _FormattedFloat(float):
    form: Form


class _FormattedInt(int):
    form: Form


def formatted(value: float, form: Form) -> float:
    """Return a number with its own format in tables; NaN is written as a dash.

    Parameters
    ----------
    value : int or float
        The number.
    form : str or callable
        Format of :func:`format`, such as ``"+.3f"``; or a function that
        returns the text.

    Examples
    --------
    >>> from rankstudio.api import formatted
    >>> formatted(0.25, "+.3f") + 1
    1.25
    """
    number = _FormattedInt(value) if isinstance(value, int) else _FormattedFloat(value)
    number.form = form
    return number


@dataclass(frozen=True)
class AnalysisTable:
    """A table of results.

    Attributes
    ----------
    title : str
    header : tuple of str
        Titles of the columns.
    rows : tuple of tuple
        Cells of each row: texts, numbers, or None for an undefined value.
    note : str
        Sentence below the table.
    above : str or None
        Lines that the terminal prints above the table in place of the
        title; None for the title itself.

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
    above: str | None = None

    @property
    def text_columns(self) -> tuple[int, ...]:
        """Positions of the columns that contain a text."""
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
        """Return the table as plain values by name, which can be written to a file."""
        rows = [dict(zip(self.header, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "note": self.note}


@dataclass(frozen=True)
class AnalysisResult:
    """Result of an analysis: its tables, the values for JSON, and warnings.

    Attributes
    ----------
    tables : tuple of AnalysisTable
    values : dict or None
        Plain values that ``--json`` prints; None to print the values of the tables.
    warnings : tuple of str
        Sentences about the result, printed on standard error.
    is_partial : bool
        Whether the analysis is not finished. A function that takes long
        yields partial results; if it is stopped, the last partial
        result is its result.

    Examples
    --------
    >>> from rankstudio.api import AnalysisResult, AnalysisTable
    >>> table = AnalysisTable("Pairs", ("feature", "similarity"), (("BM25", 0.9),))
    >>> AnalysisResult((table,), {"pairs": [0.9]}).values["pairs"]
    [0.9]
    """

    tables: tuple[AnalysisTable, ...]
    values: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    is_partial: bool = False


def cell_text(cell: Cell) -> str:
    """Return a cell of a table as a text: numbers are rounded, None and NaN are empty.

    A number from :func:`formatted` has its own ``form``: a format such
    as ".2f", or a function that writes it. NaN is then a dash.
    """
    if isinstance(cell, _FormattedFloat | _FormattedInt):
        if math.isnan(cell):
            return NOTHING
        return cell.form(cell) if callable(cell.form) else f"{cell:{cell.form}}"
    if isinstance(cell, float):
        # Very small and very large numbers have an exponent.
        smallest, end = _FIXED_POINT_RANGE
        form = ".4f" if cell == 0 or smallest <= abs(cell) < end else ".4g"
        return "" if math.isnan(cell) else f"{cell:{form}}"
    return "" if cell is None else str(cell)


@dataclass(frozen=True)
class Analysis:
    """An analysis of data or of a finished run.

    An analysis is a command that is named by its key, and an entry of
    *Run, Analyses* in the window. In Python, `analyse` calls it.

    Attributes
    ----------
    key : str
        Name of the command: lower-case letters, digits and hyphens.
    label : str
        Name in the window: "Redundant features".
    summary : str
        What the analysis computes, as one sentence without a full stop.
    compute : str
        ``"module:function"``, imported on first use. The function is
        called with the subject that ``needs`` names, and with the
        parameters by name. It returns an `AnalysisTable`, several, or
        an `AnalysisResult`. A generator yields `WorkProgress` before,
        and may yield partial results, each an `AnalysisResult`.
    parameters : tuple of Parameter
    needs : Needs
        Subject of the analysis. ``DATA``: the training part of a fold,
        a `RankingDataset`. ``FOLDS``: a `FoldedDataset`. ``RUN``: a
        `RunResult` and its `FoldedDataset`. ``PLAN``: a `Plan` and its
        `FoldedDataset`. While test parts are sealed, the subject has no
        test parts.
    in_report : bool
        Whether reports include the tables, computed with the default parameters.
    description : str
        Help text of the command, with examples; by default the summary.
    terminal : str
        Module that defines the options of the command, in place of
        options for the parameters: ``add_options(parser)`` adds the
        options, and ``read(args)`` returns the subject as a tuple, and
        the parameters by name.
    words : str
        ``"module:function"``, only for a command whose options
        ``terminal`` defines. The function gets the plan and the
        parameters by name, and returns the words of the command line
        that follow the command's name or the study, as a list; None if
        there is no such command line.

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
    description: str = ""
    terminal: str = ""
    words: str = ""

    @property
    def is_own(self) -> bool:
        """Whether the analysis is RankStudio's own code, which is called without a guard."""
        return all(
            entry_point.startswith(_OWN_PACKAGE)
            for entry_point in (self.compute, self.terminal, self.words)
            if entry_point
        )

    def validate(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Check the values of parameters, and return all parameters in canonical form, with defaults.

        Raises
        ------
        ParameterError
            For an unknown name or an invalid value.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in values:
            if name not in names:
                expected = tr("one of {names}").format(names=", ".join(names))
                raise ParameterError(name, values[name], expected, nearest(name, names))
        return {
            p.name: p.validate(values.get(p.name, p.default)) for p in self.parameters
        }


def analyses(other_commands: Collection[str] = ()) -> dict[str, Analysis]:
    """Return the analyses of all plug-ins by key, and warn about analyses that cannot be used.

    Parameters
    ----------
    other_commands : collection of str
        Names of other commands, which no analysis may have.
    """

    def refuse_invalid(entry: object) -> None:
        """Raise a PlanError for an entry that cannot be used."""
        problem = _problem(entry, other_commands)
        if problem:
            raise PlanError(problem)

    # `entries_of` fills in these texts. It leaves out entries that are
    # refused, or whose key exists already, and warns about them.
    exists = tr("An analysis {key} exists already. Choose another key.")
    message = tr("An analysis of the plug-in {name} cannot be used: {reason}")
    return {
        entry.key: entry
        for _, entry in entries_of("analyses", refuse_invalid, exists, message)
    }


def analysis(key: str) -> Analysis:
    """Return an analysis by its key.

    Raises
    ------
    PlanError
        If no analysis has this key.
    """
    by_key = analyses()
    if key not in by_key:
        text = tr("There is no analysis {key}. Expected one of {names}.")
        raise PlanError(text.format(key=shown(key), names=", ".join(by_key) or "–"))
    return by_key[key]


def _problem(entry: object, other_commands: Collection[str]) -> str:
    """Return why an analysis cannot be used, as a sentence; "" if it can.

    ``entry`` is what a plug-in lists as an analysis. ``other_commands``
    are names that its command must not have.
    """
    # First the checks that all kinds of commands share; they refuse
    # other classes. The second condition is only for the type checker.
    problem = problem_of_command(entry, Analysis, other_commands)
    if problem or not isinstance(entry, Analysis):
        return problem
    # `compute` and `words` name functions. `words` may be "": `compute`
    # is then checked twice.
    for entry_point in (entry.compute, entry.words or entry.compute):
        if not isinstance(entry_point, str) or not _MODULE_AND_NAME.fullmatch(
            entry_point
        ):
            text = tr('{key}: expected "module:name", got {place}.')
            return text.format(key=entry.key, place=shown(entry_point))
    # The module of its command in the terminal; "" for none.
    if not isinstance(entry.terminal, str) or (
        entry.terminal and not _MODULE.fullmatch(entry.terminal)
    ):
        text = tr("{key}: expected the name of a module, got {module}.")
        return text.format(key=entry.key, module=one_line(shown(entry.terminal)))
    # Texts are shown on one line, in menus and tables.
    for name, max_length in (
        ("label", _MAX_LABEL_LENGTH),
        ("summary", _MAX_SUMMARY_LENGTH),
    ):
        value = getattr(entry, name)
        if (
            not isinstance(value, str)
            or not 0 < len(value.strip()) <= max_length
            or one_line(value) != value
        ):
            text = tr(
                "{key}: {field}: expected a line of at most {most} characters, got {value}."
            )
            return text.format(
                key=entry.key, field=name, most=max_length, value=shown(value)
            )
    if not _is_printable_text(entry.description):
        text = tr(
            "{key}: description: expected a printable text of at most {most} characters, got {value}."
        )
        return text.format(
            key=entry.key,
            most=_MAX_DESCRIPTION_LENGTH,
            value=one_line(shown(entry.description)),
        )
    return _problem_of_parameters(entry)


def _is_printable_text(value: object) -> bool:
    """Return whether a value is a text of allowed length, whose lines are printable."""
    if not isinstance(value, str) or len(value) > _MAX_DESCRIPTION_LENGTH:
        return False
    return all(one_line(line) == line for line in value.split("\n"))


def reported_analyses() -> tuple[Analysis, ...]:
    """Return the analyses whose tables reports include."""
    return tuple(entry for entry in analyses().values() if entry.in_report)


def _problem_of_parameters(entry: Analysis) -> str:
    """Return why the subject or a parameter of an analysis is invalid, as a sentence.

    The reason is "" if everything is valid.
    """
    # The subject is what the analysis needs, such as a finished run.
    if not isinstance(entry.needs, Needs):
        kinds = ", ".join(f"Needs.{kind.name}" for kind in Needs)
        text = tr("{key}: expected one of {kinds}, got {value}.")
        return text.format(key=entry.key, kinds=kinds, value=shown(entry.needs))
    if not isinstance(entry.parameters, tuple):
        text = tr("{key}: expected a tuple of parameters, got {value}.")
        return text.format(key=entry.key, value=one_line(shown(entry.parameters)))
    # The parameters by themselves, and their defaults together.
    try:
        refuse_parameters(entry.key, entry.parameters)
        entry.validate({})
    except RankStudioError as error:
        return str(error)
    return ""
