"""The table of a paper, made of finished runs.

It has rows of measures, and tests of their differences.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import isnan, nan
from statistics import stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    comparable_groups,
)
from rankstudio.engine.analysis.comparisons.significance import (
    comparing_measure,
    first_equals,
    is_named,
    named,
    why_unpaired,
)
from rankstudio.engine.analysis.references import cited_keys
from rankstudio.engine.analysis.reported_runs import (
    DataOpener,
    ReportedRun,
    ReportSource,
    listed,
)
from rankstudio.engine.analysis.result_table.fold_table import defined
from rankstudio.engine.analysis.result_table.query import BY, TESTS, By, TableQuery
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.difference import distinctions
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.results.unfitted import Unfitted
from rankstudio.engine.export.result_table.table import (
    MARKS,
    ResultCell,
    ResultColumn,
    ResultRow,
    ResultTable,
)
from rankstudio.engine.language import in_english
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import (
    holm,
    paired_t,
    randomisation,
    signed_ranks,
)
from rankstudio.engine.support.number_format import count_text

if TYPE_CHECKING:
    from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement

Documents = Callable[[], FoldedDataset | None]


def no_documents() -> None:
    """Return no documents."""


@dataclass(frozen=True, eq=False)
class TableRun:
    """A finished run for a table of results, with access to its data.

    Attributes
    ----------
    result : RunResult
        Result, without measures on the test part if the test part is sealed.
    name : str
        The user's name of the run; "" for the method.
    documents : callable
        Returns the run's data with documents, or None if they are not
        available; called only if a measure is missing.
    sealed : bool
        Whether the test part is left out, for instance because it is sealed.
    """

    result: RunResult
    name: str = ""
    documents: Documents = field(default=no_documents)
    sealed: bool = False

    def measured(self, names: Sequence[str], engine: Remeasurement) -> TableRun:
        """Return the run with some measures in every query; missing measures are computed.

        If the documents are not available, only means over the folds
        are required.

        Parameters
        ----------
        names : sequence of str
            Names of the measures of the table.
        engine : Remeasurement
            Measures models again by their scores.

        Raises
        ------
        PlanError
            If a measure is missing and the documents are not available.
        """
        # A run without a test part needs cross-fitted values, which a
        # study of an earlier version does not have.
        result = self.result
        if not result.part.is_estimate and result.unfitted is Unfitted.NOT_STORED:
            from rankstudio.engine.analysis.measurements.cross_fitting import (  # noqa: PLC0415 - brings numba
                with_cross_fitted,
            )

            # They are measures of each validation query by models chosen without it.
            result = with_cross_fitted(result, self.documents())

        # Missing measures are computed from the data, if these are there.
        missing = [name for name in names if not result.has_per_query(name)]
        if not missing:
            return replace(self, result=result)
        data = self.documents()
        if data is not None:
            return replace(
                self,
                result=engine.with_measures(result, data, missing, sealed=self.sealed),
            )

        # Without the data, averages are enough.
        unknown = [name for name in missing if name not in result.average]
        if unknown:
            plan = result.plan
            raise PlanError(
                f"{plan.title} on {result.data_name} has no {' and '.join(unknown)}, and the original "
                f"data to compute it are missing or changed: {plan.data}."
            )
        return replace(self, result=result)


def table_runs(
    sources: Iterable[ReportSource], part: str | None = None
) -> list[TableRun]:
    """Return the runs of studies for a table, without measures of sealed test parts.

    Parameters
    ----------
    sources : iterable of ReportSource
        Contents of the studies.
    part : {"test", "validation"}, optional
        Part of the data to use even if the seal says otherwise: with
        the test part, or without it.
    """
    # Opens the data of each run once.
    opener = DataOpener()
    # `shown` has the same runs without the measures of sealed test parts.
    return [
        _table_run(source, run, visible, part, opener)
        for source in sources
        for run, visible in zip(source.runs, source.shown.runs, strict=True)
    ]


def _table_run(
    source: ReportSource,
    run: ReportedRun,
    visible: ReportedRun,
    part: str | None,
    opener: DataOpener,
) -> TableRun:
    """Return a run for a table, with the measures of a part, "test" or "validation".

    Without `part`, the measures are those that the seal of the test
    part leaves visible. `run` has all measures of the run, and
    `visible` only those that the seal allows. `source` is the study,
    and `opener` opens the data.
    """
    if part is None:
        result = visible.result
    elif part == "validation":
        result = run.without_test.result
    else:
        result = run.result
    return TableRun(
        result=result,
        name=run.label.name,
        # Called only if measures have to be computed.
        documents=lambda: (
            run.data if run.data is not None else opener(run.plan, run.recorded)
        ),
        sealed=source.is_sealed(run) if part is None else part == "validation",
    )


Key = Callable[[Plan], Hashable]

# Fields of a plan besides its parameters.
_SETTING_FIELDS = (
    "method",
    "ranker",
    "protocol",
    "rule",
    "missing",
    "normalize",
    "seed",
)


@dataclass(frozen=True, eq=False)
class RowRuns:
    """A row of a table of results: the same method on one or several datasets.

    Attributes
    ----------
    title : str
        Title of the row.
    plan : Plan
        Plan of the first run of the row.
    runs : Mapping of str to TableRun
        Runs by dataset name.
    groups : Mapping of str to ComparableGroup
        Group of comparable runs of each run, by dataset name.
    block : int
        Position of these groups among all groups on their datasets:
        rows of the same block have the same groups.
    """

    title: str
    plan: Plan
    runs: Mapping[str, TableRun]
    groups: Mapping[str, ComparableGroup[int]]
    block: int


@dataclass(frozen=True, eq=False)
class _GroupedRun:
    """A run, its group of comparable runs, and the group's position on its dataset."""

    run: TableRun
    group: ComparableGroup[int]
    block: int


def row_runs(runs: Sequence[TableRun]) -> list[RowRuns]:
    """Return runs as the rows of a table with methods as rows, datasets as columns.

    Runs on one dataset that are not comparable are in different blocks
    of rows; the blocks follow each other. Identical runs are included
    once. A method with one run per dataset has one row, whatever its
    settings. If a method has several runs on a dataset, only runs with
    equal settings share a row, and the titles of the rows have the
    settings in which they differ.
    """
    # Equal runs are shown once.
    firsts = first_equals([run.result for run in runs])
    distinct = _runs_with_groups(
        [run for index, run in enumerate(runs) if firsts[index] == index]
    )

    # Settings distinguish runs whose title occurs several times.
    counts = Counter(
        (member.run.result.data_name, member.block, _title(member.run))
        for member in distinct
    )
    repeated_titles = {
        (block, title) for (_, block, title), n in counts.items() if n > 1
    }

    # Runs of the same title and settings on different datasets share a row.
    rows: dict[Hashable, dict[str, _GroupedRun]] = {}
    n_rows: defaultdict[tuple[str, Hashable], int] = defaultdict(int)
    for grouped_run in distinct:
        title = _title(grouped_run.run)
        data = grouped_run.run.result.data_name
        is_repeated = (grouped_run.block, title) in repeated_titles
        settings = _settings(grouped_run.run.result.plan) if is_repeated else ()
        key: Hashable = (grouped_run.block, title, settings)
        # different runs with equal settings have rows of their own
        number = n_rows[data, key]
        n_rows[data, key] += 1
        rows.setdefault((key, number), {})[data] = grouped_run
    return _rows_with_titles(
        sorted(rows.values(), key=lambda row: next(iter(row.values())).block)
    )


def _runs_with_groups(runs: Sequence[TableRun]) -> list[_GroupedRun]:
    """Return each run with its group of comparable runs, in the order of the runs."""
    # The groups of each dataset are numbered from 0: the number of a
    # group is that of its block of rows.
    n_groups: Counter[str] = Counter()
    grouped_runs: dict[int, _GroupedRun] = {}
    for group in comparable_groups(
        {index: run.result for index, run in enumerate(runs)}
    ):
        block = n_groups[group.key.data_name]
        n_groups[group.key.data_name] += 1
        grouped_runs |= {
            index: _GroupedRun(runs[index], group, block) for index in group.runs
        }
    return [grouped_runs[index] for index in range(len(runs))]


def _title(run: TableRun) -> str:
    """Return the user's name of a run, or its method."""
    return run.name or run.result.plan.title


def _settings(plan: Plan) -> Hashable:
    """Return the settings by which runs of the same method are grouped."""
    field_values = tuple(getattr(plan, name) for name in _SETTING_FIELDS)
    mappings = (plan.parameters, plan.ranker_parameters, feature_groups_of(plan))
    return field_values, *(
        tuple(sorted(_comparable_values(values))) for values in mappings
    )


def _comparable_values(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values as texts that can be sorted."""
    return [(name, repr(value)) for name, value in values.items()]


def _rows_with_titles(rows: Sequence[Mapping[str, _GroupedRun]]) -> list[RowRuns]:
    """Return rows of runs as rows of a table, each with another title.

    A row has a run for each dataset, by the dataset's name. Rows with
    the same title get the settings in which they differ, or a number.
    """
    # Equal titles get the parameters that distinguish their plans.
    firsts = [next(iter(row.values())) for row in rows]
    titles = [_title(grouped_run.run) for grouped_run in firsts]
    suffixes = distinctions(
        {index: grouped_run.run.result.plan for index, grouped_run in enumerate(firsts)}
    )
    titles = [
        f"{title} ({suffixes[index]})"
        if titles.count(title) > 1 and suffixes[index]
        else title
        for index, title in enumerate(titles)
    ]

    # Titles that are still equal are numbered.
    counts: Counter[str] = Counter()
    titled_rows = []
    for title, first, row in zip(titles, firsts, rows, strict=True):
        counts[title] += 1
        numbered_title = (
            f"{title} ({counts[title]})" if titles.count(title) > 1 else title
        )
        runs = {data: grouped_run.run for data, grouped_run in row.items()}
        groups = {data: grouped_run.group for data, grouped_run in row.items()}
        titled_row = RowRuns(
            title=numbered_title,
            plan=first.run.result.plan,
            runs=runs,
            groups=groups,
            block=first.block,
        )
        titled_rows.append(titled_row)
    return titled_rows


# random assignments, which give p = 0.05 to ±0.0014 (two standard errors)
_ASSIGNMENTS = 100_000


@dataclass(frozen=True)
class _ColumnContent:
    """Content of a column: a measure on a dataset, in one fold or over all of them."""

    data: str
    measure: str
    column: ResultColumn
    fold: int | None = None


def result_table(
    runs: Sequence[TableRun],
    query: TableQuery,
    cancelled: Callable[[], bool] = lambda: False,
) -> ResultTable:
    """Return a table of the measures of runs, with a row for each method.

    Parameters
    ----------
    runs : sequence of TableRun
        Finished runs, on one or several datasets.
    query : TableQuery
        Measures, columns, tests and reference row.
    cancelled : callable
        Called between tests; once it returns True, testing stops and
        the result must not be used.

    Raises
    ------
    PlanError
        If there are no runs, a measure is not available, or the
        reference row is missing.
    ParameterError
        For an unknown measure.
    """
    from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement  # noqa: PLC0415 - brings numba

    # Check the query.
    if not runs:
        raise PlanError("No data for the table: expected a completed run, found none.")
    if query.by not in BY:
        raise PlanError(f"by: expected one of {', '.join(BY)}, got {query.by}.")
    if query.test not in TESTS:
        raise PlanError(f"test: expected one of {', '.join(TESTS)}, got {query.test}.")

    # The table is in English in every language, as publications are.
    names = measures_of(runs, query)
    engine = Remeasurement()
    with in_english():
        rows = row_runs([run.measured(names, engine) for run in runs])
        columns = list(_column_contents(rows, names, query.by))
        # The row to compare with in each block, and the p-value of each
        # cell, if the query asks for tests.
        references = _references(rows, columns, query.against)
        p_values = (
            _corrected_p_values(rows, references, columns, query, cancelled)
            if query.tested
            else {}
        )
        # Cells of each row.
        table_rows = []
        for number, row in enumerate(rows):
            cells = tuple(
                replace(
                    _measured_cell(row, column), p=p_values.get((number, column), nan)
                )
                for column in columns
            )
            table_rows.append(ResultRow(row.title, cells, row.block))
        return ResultTable(
            caption=_caption(rows, names, query.by),
            columns=tuple(column_content.column for column_content in columns),
            rows=tuple(table_rows),
            notes=_notes(rows, names),
            mark_note=_mark_note(rows, references, p_values, query.test),
            block_captions=_block_captions(rows),
            references=cited_keys(
                (run.result for row in rows for run in row.runs.values()),
                query.test if p_values else "",
            ),
        )


def measures_of(runs: Sequence[TableRun], query: TableQuery) -> tuple[str, ...]:
    """Return the names of a table's measures: those of the query, or of the first run.

    The names are in their usual spelling.

    Raises
    ------
    ParameterError
        For an unknown measure.
    """
    if query.measures:
        return tuple(dict.fromkeys(measure(name).name for name in query.measures))
    plan = runs[0].result.plan
    return (comparing_measure(plan),) if query.by == "folds" else plan.measures


def _column_contents(
    rows: Sequence[RowRuns], names: Sequence[str], by: By
) -> Iterator[_ColumnContent]:
    """Yield the content of each column of a table, from left to right.

    `by` says what varies from column to column: datasets, measures or
    folds. `names` are those of the measures.
    """
    # Names of the datasets. Groups of columns are named only if there are several.
    data = list(dict.fromkeys(name for row in rows for name in row.runs))
    has_several_datasets = len(data) > 1
    has_several_names = len(names) > 1

    def column(
        source: str, name: str, title: str, group: str, fold: int | None = None
    ) -> _ColumnContent:
        """Return a table's column for a measure on a dataset, in a fold or over all (None).

        `source` is the name of the dataset, and `name` that of the
        measure. `title` stands above the column, and `group` above
        several columns.
        """
        return _ColumnContent(
            data=source,
            measure=name,
            column=ResultColumn(title, group, measure(name).higher_is_better),
            fold=fold,
        )

    # Either the datasets are the columns and the measures their groups,
    # or the other way round.
    match by:
        case "datasets":
            for name in names:
                yield from (
                    column(
                        dataset_name,
                        name,
                        dataset_name,
                        name if has_several_names else "",
                    )
                    for dataset_name in data
                )
        case "measures":
            for data_name in data:
                yield from (
                    column(
                        data_name, name, name, data_name if has_several_datasets else ""
                    )
                    for name in names
                )
        case "folds":
            for data_name, name in product(data, names):
                # A group has the columns of the folds, and that of their mean.
                group_names = [
                    data_name if has_several_datasets else "",
                    name if has_several_names else "",
                ]
                group = ", ".join(filter(None, group_names))
                for fold in _fold_numbers(rows, data_name):
                    yield column(data_name, name, f"Fold {fold}", group, fold)
                yield column(data_name, name, "Mean", group)


def _fold_numbers(rows: Sequence[RowRuns], data: str) -> list[int]:
    """Return the numbers of the folds that some run on a dataset has, ascending."""
    return sorted(
        {
            fold.fold
            for row in rows
            if data in row.runs
            for fold in row.runs[data].result.folds
        }
    )


def _measured_cell(row: RowRuns, column_content: _ColumnContent) -> ResultCell:
    """Return the cell of a row and a column: a measure's mean over folds, with deviation.

    The cell is empty if the row has no run on the dataset of the column.
    """
    if column_content.data not in row.runs:
        return ResultCell()
    result = row.runs[column_content.data].result
    # The fold of the column; None stands for all folds.
    folds = [fold for fold in result.folds if column_content.fold in (None, fold.fold)]
    # Without the folds in which the measure is undefined.
    measured = defined(
        fold.measured(result.part).get(column_content.measure, nan) for fold in folds
    )
    return ResultCell(
        mean=float(np.mean(measured)) if measured else nan,
        sd=stdev(measured) if len(measured) > 1 else nan,
        n=len(measured),
        is_estimate=not row.groups[column_content.data].unranked,
    )


def _references(
    rows: Sequence[RowRuns], columns: Sequence[_ColumnContent], against: int | str
) -> dict[int, int]:
    """Return, by block, the number of the row against which the other rows are tested.

    A block has rows that are ranked together. The user requests a row
    by `against`: its number, its title or its method. This row is the
    reference of its own block. In other blocks the reference is the row
    that is best in the first column with estimates. A block without any
    such row is left out.
    """
    requested_rows = _requested_rows(rows, against)
    references: dict[int, int] = {}
    for block in sorted({row.block for row in rows}):
        block_rows = [index for index, row in enumerate(rows) if row.block == block]
        reference = next(
            (index for index in requested_rows if index in block_rows), None
        )
        if reference is None:
            reference = _best_row(rows, block_rows, columns)
        if reference is not None:
            references[block] = reference
    return references


def _requested_rows(rows: Sequence[RowRuns], against: int | str) -> list[int]:
    """Return the numbers of the table rows that a number, title or method refers to.

    Numbers in the result count from 0, the number `against` from
    1. Of several rows of a method, those without a final ranker
    come first. PlanError is raised if there is no such row.
    """
    if isinstance(against, int):
        if not 1 <= against <= len(rows):
            raise PlanError(
                f"against: expected a row number from 1 to {len(rows)}, got {against}."
            )
        return [against - 1]
    rows_with_title = [index for index, row in enumerate(rows) if row.title == against]
    if rows_with_title or not against:
        return rows_with_title
    named([row.plan for row in rows], against)  # raises the error for an unknown method
    rows_of_method = [
        index for index, row in enumerate(rows) if is_named(row.plan, against)
    ]
    return sorted(rows_of_method, key=lambda index: bool(rows[index].plan.ranker))


def _best_row(
    rows: Sequence[RowRuns], indices: Sequence[int], columns: Sequence[_ColumnContent]
) -> int | None:
    """Return the number of the row with the best mean in the first column of estimates.

    Estimates are means of all folds that may be ranked. `indices` are
    the numbers of the rows to compare. The result is None if no column
    has estimates.
    """
    for column_content in columns:
        cells = {
            index: _measured_cell(rows[index], column_content) for index in indices
        }
        sign = 1.0 if column_content.column.higher_is_better else -1.0
        means = {
            index: sign * cell.mean
            for index, cell in cells.items()
            if cell.is_estimate and not isnan(cell.mean)
        }
        # A column without a fold has means of all folds.
        if column_content.fold is None and means:
            return max(means, key=lambda index: means[index])
    return None


def _corrected_p_values(
    rows: Sequence[RowRuns],
    references: Mapping[int, int],
    columns: Sequence[_ColumnContent],
    query: TableQuery,
    cancelled: Callable[[], bool],
) -> dict[tuple[int, _ColumnContent], float]:
    """Test the rows of each block against the reference row of the block.

    A block has rows that are ranked together. The tests in one column
    of a block are corrected together by Holm's method. `references` has
    the number of each block's reference row; `cancelled` is called
    between tests, and stops the work by returning True.

    Returns
    -------
    dict
        The corrected p value by number of the row and by column; a
        column of one fold alone is not tested.
    """
    p_values: dict[tuple[int, _ColumnContent], float] = {}
    for column, (block, reference) in product(columns, references.items()):
        # Only columns of means are tested, not those of single folds.
        if column.fold is None and not cancelled():
            runs = {
                index: row.runs[column.data].result
                for index, row in enumerate(rows)
                if row.block == block and column.data in row.runs
            }
            # The tests of a column are corrected together.
            tested = _distinct_paired_rows(runs, reference, column.measure)
            p = [
                nan
                if cancelled()
                else _p_value(runs[index], runs[reference], column.measure, query)
                for index in tested
            ]
            p_values |= {
                (index, column): float(p_value)
                for index, p_value in zip(tested, holm(p), strict=True)
            }
    return p_values


def _distinct_paired_rows(
    runs: Mapping[int, RunResult], reference: int, name: str
) -> list[int]:
    """Return the numbers of the rows to test against the reference row by a measure.

    The rows are those whose runs can be compared with the reference
    query by query. Of equal runs only the first is tested, and no run
    that equals the reference. `runs` has the run of each row in a
    column, by the row's number.
    """
    against = runs.get(reference)
    if against is None:
        return []
    paired = [
        index
        for index, run in runs.items()
        if index != reference and not why_unpaired(run, against, name)
    ]
    # Position of the first equal run, with the reference as position 0.
    _, *firsts = first_equals([against, *(runs[index] for index in paired)])
    return [
        index
        for position, (index, first) in enumerate(zip(paired, firsts, strict=True), 1)
        if first == position  # the reference has position 0
    ]


def _p_value(run: RunResult, against: RunResult, name: str, query: TableQuery) -> float:
    """Return the p value of a paired test of two runs over their queries, by a measure.

    `query` names the test: "t", "wilcoxon" or "randomisation".
    """
    scores = run.per_query(name)
    reference = against.per_query(name)
    match query.test:
        case "t":
            return paired_t(scores, reference).p
        case "wilcoxon":
            return signed_ranks(scores, reference).p
        case _:
            return randomisation(scores, reference, _ASSIGNMENTS, query.seed)


def _caption(rows: Sequence[RowRuns], names: Sequence[str], by: By) -> str:
    """Return the caption of a table: "MAP on MQ2008: test, 5 folds, 784 queries; …".

    ``names`` are those of the measures. The table has a mean over the
    folds, or a value for each fold, as ``by`` says.
    """
    # Each row has its runs and their comparable groups by the name of
    # the dataset. Rows of different blocks have no common group.
    data = list(dict.fromkeys(name for row in rows for name in row.runs))
    values_text = "values by fold" if by == "folds" else "mean over the folds"
    n_blocks = len({row.block for row in rows})
    if n_blocks > 1:
        groups_text = f"{n_blocks} groups that are not ranked together"
        return f"{listed(names)} on {listed(data)}: {groups_text}; {values_text}."
    # Part, folds and number of queries of each dataset.
    scopes = {name: group.scope for row in rows for name, group in row.groups.items()}
    if len(set(scopes.values())) == 1:
        return f"{listed(names)} on {listed(data)}: {next(iter(scopes.values()))}; {values_text}."
    contents = listed(f"{name} ({scope})" for name, scope in scopes.items())
    return f"{listed(names)} on {contents}; {values_text}."


def _block_captions(rows: Sequence[RowRuns]) -> tuple[str, ...]:
    """Return a sentence on each block of rows that are ranked together.

    The sentence says what the block contains, and why its rows are not
    ranked with those of other blocks. The result is () for a single
    block.
    """
    blocks = sorted({row.block for row in rows})
    if len(blocks) < 2:
        return ()
    n_datasets = len({name for row in rows for name in row.runs})
    captions = []
    for block in blocks:
        # The comparable group of the block on each dataset.
        groups = {
            name: group
            for row in rows
            if row.block == block
            for name, group in row.groups.items()
        }
        contents = []
        for name, group in groups.items():
            scope = f"{name}: {group.scope}" if n_datasets > 1 else group.scope
            contents.append("; ".join(filter(None, [scope, _unranked_text(group)])))
        captions.append(
            f"{'. '.join(text[0].upper() + text[1:] for text in contents)}."
        )
    return tuple(captions)


def _unranked_text(group: ComparableGroup[int]) -> str:
    """Return why runs are not ranked, or not with others; "" if they are."""
    if group.unranked:
        return f"not ranked: {group.unranked}"
    return (
        f"not ranked with the rows above: {group.why_separate}"
        if group.why_separate
        else ""
    )


def _notes(rows: Sequence[RowRuns], names: Sequence[str]) -> tuple[str, ...]:
    """Return notes on the conventions of the measures and on sealed test parts."""
    # Datasets by the convention of their measures.
    runs = [(data, run) for row in rows for data, run in row.runs.items()]
    # The outer keys are names of conventions. The inner keys are names
    # of datasets, in order and each once; their values mean nothing.
    labels: dict[str, dict[str, None]] = {}
    for data, run in runs:
        labels.setdefault(rules_text(run.result.plan.convention, names), {})[data] = (
            None
        )
    if len(labels) == 1:
        notes = [f"Measures follow the {next(iter(labels))} convention."]
    else:
        conventions = "; ".join(
            f"{listed(data)} by {label}" for label, data in labels.items()
        )
        notes = [f"Conventions of the measures: {conventions}."]
    # Datasets whose test part is sealed.
    sealed = list(dict.fromkeys(data for data, run in runs if run.sealed))
    if sealed:
        notes.append(
            f"The test part is sealed or left out: {listed(sealed)} measured on the validation part."
        )
    return tuple(notes)


def _mark_note(
    rows: Sequence[RowRuns],
    references: Mapping[int, int],
    p: Mapping[tuple[int, _ColumnContent], float],
    test: str,
) -> str:
    """Return the meaning of the marks of a table, such as stars; "" if nothing was tested.

    `references` has the reference row of each block, and `p` the
    corrected p values by row and column. `test` names the test.
    """
    # Text on the tests that were corrected together, by block.
    families = {
        block: _family_text(rows, block, reference, p)
        for block, reference in references.items()
    }
    families = {block: family for block, family in families.items() if family}
    if not families:
        return ""
    marks = ", ".join(f"{mark} p < {below:g}" for below, mark in reversed(MARKS))
    assignments_text = (
        f", {_ASSIGNMENTS:,} assignments" if test == "randomisation" else ""
    )
    test_text = f"{TESTS[test]}, two-sided{assignments_text}"
    # The note of a single block needs no numbers of groups.
    if len({row.block for row in rows}) == 1:
        title = rows[references[0]].title
        return f"{marks} for the difference from {title}: {test_text}, {families[0]}."
    group_texts = " ".join(
        f"Group {block + 1}: difference from {rows[references[block]].title}, {family}."
        for block, family in families.items()
    )
    return f"{marks}: {test_text}. {group_texts}"


def _family_text(
    rows: Sequence[RowRuns],
    block: int,
    reference: int,
    p: Mapping[tuple[int, _ColumnContent], float],
) -> str:
    """Return the numbers of queries and hypotheses in the tests of a block, for a note.

    The text is part of a sentence. A block has rows that are ranked
    together. `reference` is the row against which the others are
    tested, and `p` has the corrected p values by row and column. The
    result is "" if nothing was tested.
    """
    # Number of tested rows in each column.
    counts = Counter(column for index, column in p if rows[index].block == block)
    if not counts:
        return ""
    # Number of queries of the reference run on each tested dataset.
    against = {data: run.result for data, run in rows[reference].runs.items()}
    queries = {
        column.data: against[column.data].per_query(column.measure).size
        for column in counts
    }
    has_several_datasets = len(queries) > 1
    query_texts = [
        f"{count_text(size)} ({data})" if has_several_datasets else count_text(size)
        for data, size in queries.items()
    ]
    n = " and ".join(query_texts)
    sizes = sorted(set(counts.values()))
    hypotheses = f"{_range_text(sizes)} hypothes{'is' if sizes == [1] else 'es'}"
    return f"over {n} queries, with Holm correction for the {hypotheses} of a column"


def _range_text(numbers: Sequence[int]) -> str:
    """Return the first and the last of ascending numbers as text: "3 to 7", or "3"."""
    return (
        str(numbers[0])
        if numbers[0] == numbers[-1]
        else f"{numbers[0]} to {numbers[-1]}"
    )
