"""Carrying out the analyses of plug-ins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import AnalysisError, PlanError, one_line, shown
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import Analysis, AnalysisTable, Cell, Needs, analysis
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.guard import yielded
from rankstudio.engine.support.stop_request import stop_if_asked
from rankstudio.engine.support.work import WorkProgress

MOST_CELLS = 2_000_000
"""Cells of all tables of an analysis."""


def analysis_steps(
    entry: Analysis, subject: Sequence[RankingDataset | RunResult | FoldedDataset], values: Mapping[str, Any]
) -> Iterator[WorkProgress | tuple[AnalysisTable, ...]]:
    """Yield the progress of an analysis, and last its tables.

    Parameters
    ----------
    entry : Analysis
    subject : sequence
        Arguments of its function: the training part, or a run and its data.
    values : Mapping
        Parameters by name.

    Raises
    ------
    ParameterError
        For an invalid parameter.
    AnalysisError
        If its code fails, or returns no table.
    Cancelled
        If somebody asked to stop.
    """
    parameters = entry.validate(values)

    def results() -> Iterator[Any]:
        answer = imported(entry.compute)(*subject, **parameters)
        if isinstance(answer, GeneratorType):
            answer = yield from answer
        yield (answer,)

    try:
        for item in yielded(results, check=stop_if_asked):
            if isinstance(item, WorkProgress):
                yield item
            elif isinstance(item, tuple) and len(item) == 1:
                yield _checked(entry, item[0])
            else:
                raise AnalysisError(entry.label, _unexpected("WorkProgress", item))
    except RuntimeError as error:
        raise AnalysisError(entry.label, str(error)) from error


def analyse(
    key: str,
    subject: RankingDataset | FoldedDataset | RunResult,
    data: FoldedDataset | None = None,
    /,
    **parameters: Any,
) -> tuple[AnalysisTable, ...]:
    """Carry out an analysis of a plug-in.

    Parameters
    ----------
    key : str
        Key of the analysis, as ``rankstudio plugins`` lists it.
    subject : RankingDataset, FoldedDataset or RunResult
        Data, of which the training part of the first fold is taken; or a run.
    data : FoldedDataset, optional
        Data of the run.
    **parameters
        Parameters of the analysis.

    Returns
    -------
    tuple of AnalysisTable

    Raises
    ------
    PlanError
        If there is no such analysis, or it needs something else.
    ParameterError
        For an invalid parameter.
    AnalysisError
        If its code fails.

    Examples
    --------
    >>> from rankstudio.engine import load_sample
    >>> from rankstudio.api import RankStudioError, analyse
    >>> try:
    ...     tables = analyse("no-such-analysis", load_sample())
    ... except RankStudioError as error:
    ...     print(type(error).__name__)
    PlanError
    """
    entry = analysis(key)
    arguments: tuple[Any, ...] = (subject,) if data is None else (subject, data)
    if isinstance(subject, FoldedDataset):
        arguments = (subject.folds[0].train, *arguments[1:])
    kinds = (RunResult, FoldedDataset) if entry.needs is Needs.RUN else (RankingDataset,)
    if len(arguments) != len(kinds) or not all(map(isinstance, arguments, kinds)):
        expected = tr("a run and its data") if entry.needs is Needs.RUN else tr("data")
        raise PlanError(tr("{label}: expected {expected}.").format(label=entry.label, expected=expected))
    *_, tables = analysis_steps(entry, arguments, parameters)
    assert isinstance(tables, tuple)
    return tables


def _checked(entry: Analysis, answer: object) -> tuple[AnalysisTable, ...]:
    """Return the tables that an analysis returned, with plain cells and texts of one line."""
    tables = (answer,) if isinstance(answer, AnalysisTable) else answer
    if not isinstance(tables, tuple | list) or not all(isinstance(table, AnalysisTable) for table in tables):
        raise AnalysisError(entry.label, _unexpected("AnalysisTable", answer))
    if sum(len(table.header) * len(table.rows) for table in tables) > MOST_CELLS:
        raise AnalysisError(
            entry.label, tr("its tables have more than {most:,} cells").format(most=MOST_CELLS)
        )
    return tuple(_plain(entry, table) for table in tables)


def _plain(entry: Analysis, table: AnalysisTable) -> AnalysisTable:
    """Return a table with plain cells, and texts of one line."""
    header = tuple(one_line(str(title)) for title in table.header)
    rows = []
    for number, row in enumerate(table.rows, 1):
        if len(row) != len(header):
            text = tr("row {number} of the table {title} has {cells} cells, and the header {titles}")
            problem = text.format(number=number, title=shown(table.title), cells=len(row), titles=len(header))
            raise AnalysisError(entry.label, problem)
        rows.append(tuple(_plain_cell(entry, cell) for cell in row))
    return AnalysisTable(one_line(str(table.title)), header, tuple(rows), one_line(str(table.note)))


def _plain_cell(entry: Analysis, cell: object) -> Cell:
    value = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, str):
        return one_line(value)
    if value is None or isinstance(value, int | float):
        return value
    raise AnalysisError(entry.label, _unexpected(tr("a text or a number"), value))


def _unexpected(expected: str, value: object) -> str:
    return tr("expected {expected}, got {value}").format(expected=expected, value=one_line(shown(value)))
