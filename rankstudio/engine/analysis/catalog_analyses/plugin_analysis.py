"""Execution of the analyses of plug-ins, and checks of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import GeneratorType
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import AnalysisError, PlanError, one_line, shown
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import (
    Analysis,
    AnalysisResult,
    AnalysisTable,
    Cell,
    Needs,
    analysis,
)
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.guard import yielded
from rankstudio.engine.support.stop_request import stop_if_asked
from rankstudio.engine.support.work import WorkProgress

MOST_CELLS = 2_000_000
"""Maximum number of cells in all tables of an analysis."""


Subject = RankingDataset | FoldedDataset | RunResult | Plan


def analysis_steps(
    entry: Analysis, subject: Sequence[Any], values: Mapping[str, Any]
) -> Iterator[WorkProgress | AnalysisResult]:
    """Yield the progress of an analysis, its partial results, and last its final result.

    Parameters
    ----------
    entry : Analysis
        Analysis to execute.
    subject : sequence
        Arguments of the analysis's function, by its `Needs`: data, or a
        run or a plan with its data.
    values : Mapping
        Values of the analysis's parameters, by name.

    Raises
    ------
    ParameterError
        For an invalid parameter.
    AnalysisError
        If the plug-in's code fails, or returns no table.
    Cancelled
        If a stop was requested.
    """
    parameters = entry.validate(values)

    def results() -> Iterator[Any]:
        """Call the analysis's function; yield what it yields, and last what it returns.

        `entry`, `subject` and `parameters` (the analysis and its
        arguments) are variables of the enclosing function.
        """
        answer = imported(entry.compute)(*subject, **parameters)
        if isinstance(answer, GeneratorType):
            answer = yield from answer
        # a tuple of one distinguishes the final answer from the results so far
        yield (answer,)

    # `is_own` says that the analysis is one of RankStudio. Code of
    # other packages runs where it can be stopped: `yielded` yields what
    # it yields.
    steps = (
        _stoppable(results()) if entry.is_own else yielded(results, check=stop_if_asked)
    )

    # Check whatever the analysis yields: progress, results so far, and
    # last the final answer, as a tuple of one.
    try:
        for item in steps:
            if isinstance(item, WorkProgress):
                yield item
            elif isinstance(item, AnalysisResult):
                yield replace(_checked_result(entry, item), is_partial=True)
            elif isinstance(item, tuple) and len(item) == 1:
                yield replace(_checked_result(entry, item[0]), is_partial=False)
            else:
                raise AnalysisError(entry.label, _unexpected_text("WorkProgress", item))
    except RuntimeError as error:
        if entry.is_own:
            raise
        # The plug-in's error, which names the analysis.
        raise AnalysisError(entry.label, str(error)) from error


def _stoppable(steps: Iterator[Any]) -> Iterator[Any]:
    """Yield the steps of RankStudio's own code, until a stop is requested."""
    for item in steps:
        yield item
        stop_if_asked()


def analyse(
    key: str,
    subject: Subject,
    data: FoldedDataset | None = None,
    /,
    **parameters: Any,
) -> tuple[AnalysisTable, ...]:
    """Carry out an analysis of a plug-in, and return its tables.

    Parameters
    ----------
    key : str
        Key of the analysis, as ``rankstudio plugins`` lists it.
    subject : RankingDataset, FoldedDataset, RunResult or Plan
        What the analysis needs: data, a run, or a plan. If it needs a
        single part of the data, the training part of the first fold is
        used.
    data : FoldedDataset, optional
        Data of the run or of the plan; or other data that an analysis compares with the first.
    **parameters
        Parameters of the analysis, by name.

    Returns
    -------
    tuple of AnalysisTable
        Tables of the analysis.

    Raises
    ------
    PlanError
        If there is no such analysis, or it needs other arguments.
    ParameterError
        For an invalid parameter.
    AnalysisError
        If the code of the analysis fails.

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
    if entry.needs is Needs.DATA and isinstance(subject, FoldedDataset):
        arguments = (subject.folds[0].train, *arguments[1:])
    # Types of the arguments, for as many arguments as there are.
    signatures = [
        types for types in _ARGUMENT_TYPES[entry.needs] if len(types) == len(arguments)
    ]
    if not any(all(map(isinstance, arguments, types)) for types in signatures):
        raise PlanError(_needs_text(entry))
    # The last item is the final result; those before it are progress.
    *_, result = analysis_steps(entry, arguments, parameters)
    assert isinstance(result, AnalysisResult)
    return result.tables


_ARGUMENT_TYPES: dict[Needs, tuple[tuple[type, ...], ...]] = {
    Needs.DATA: ((RankingDataset,),),
    Needs.FOLDS: ((FoldedDataset,), (FoldedDataset, FoldedDataset)),
    Needs.RUN: ((RunResult, FoldedDataset),),
    Needs.PLAN: ((Plan, FoldedDataset),),
}


def _needs_text(entry: Analysis) -> str:
    """Return a sentence that names the arguments that an analysis needs."""
    texts = {
        Needs.DATA: tr("{label} needs a dataset, or the training part of a fold."),
        Needs.FOLDS: tr("{label} needs a dataset with its folds."),
        Needs.RUN: tr("{label} needs a run and its data, in this order."),
        Needs.PLAN: tr("{label} needs a plan and its data, in this order."),
    }
    return texts[entry.needs].format(label=tr(entry.label))


def _checked_result(entry: Analysis, answer: object) -> AnalysisResult:
    """Check the answer of an analysis, and return it as a result with plain tables.

    The cells of plain tables are texts of one line, numbers or None.
    AnalysisError is raised if `answer` is no table or result, or too
    large. `entry` is the analysis.
    """
    # An answer is a result, a table, or several tables.
    result = answer if isinstance(answer, AnalysisResult) else None
    tables = answer if result is None else result.tables
    tables = (tables,) if isinstance(tables, AnalysisTable) else tables
    if not isinstance(tables, tuple | list) or not all(
        isinstance(table, AnalysisTable) for table in tables
    ):
        raise AnalysisError(entry.label, _unexpected_text("AnalysisTable", tables))
    if sum(len(table.header) * len(table.rows) for table in tables) > MOST_CELLS:
        raise AnalysisError(
            entry.label,
            tr("its tables have more than {most:,} cells").format(most=MOST_CELLS),
        )

    # Plain tables; only a result has values and warnings, too.
    plain_tables = tuple(_plain_table(entry, table) for table in tables)
    if result is None:
        return AnalysisResult(plain_tables)
    if result.values is not None and not isinstance(result.values, Mapping):
        raise AnalysisError(
            entry.label, _unexpected_text(tr("values by name"), result.values)
        )
    warnings = tuple(one_line(str(text)) for text in result.warnings)
    return replace(result, tables=plain_tables, warnings=warnings)


def _plain_table(entry: Analysis, table: AnalysisTable) -> AnalysisTable:
    """Return a table of an analysis with plain cells: texts of one line, numbers or None.

    AnalysisError, which names the analysis `entry`, is raised for other cells.
    """
    # Every row has a cell for each title.
    header = tuple(one_line(str(title)) for title in table.header)
    rows = []
    for number, row in enumerate(table.rows, 1):
        if len(row) != len(header):
            text = tr(
                "row {number} of the table {title} has {cells} cells, and the header {titles}"
            )
            problem = text.format(
                number=number,
                title=shown(table.title),
                cells=len(row),
                titles=len(header),
            )
            raise AnalysisError(entry.label, problem)
        rows.append(tuple(_plain_cell(entry, cell) for cell in row))

    # The text above the table may have several lines.
    above = (
        None
        if table.above is None
        else "\n".join(map(one_line, str(table.above).split("\n")))
    )
    return AnalysisTable(
        title=one_line(str(table.title)),
        header=header,
        rows=tuple(rows),
        note=one_line(str(table.note)),
        above=above,
    )


def _plain_cell(entry: Analysis, cell: object) -> Cell:
    """Return a cell as a plain text, number or None; AnalysisError for anything else."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, str):
        return one_line(value)
    if value is None or isinstance(value, int | float):
        return value
    raise AnalysisError(entry.label, _unexpected_text(tr("a text or a number"), value))


def _unexpected_text(expected: str, value: object) -> str:
    """Return the message for an unexpected value."""
    return tr("expected {expected}, got {value}").format(
        expected=expected, value=one_line(shown(value))
    )
