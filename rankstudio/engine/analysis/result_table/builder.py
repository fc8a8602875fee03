"""The table of a paper made of finished runs: what each measured, and how sure the differences are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import stdev

import numpy as np

from rankstudio.engine.analysis.repeated_runs import first_equals
from rankstudio.engine.analysis.result_table.query import BY, TESTS, By, TableQuery
from rankstudio.engine.analysis.result_table.rows import RowRuns, row_runs
from rankstudio.engine.analysis.result_table.table_run import TableRun, check_conventions
from rankstudio.engine.analysis.significance import named, why_unpaired
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.export.result_table.table import (
    MARKS,
    ResultCell,
    ResultColumn,
    ResultRow,
    ResultTable,
)
from rankstudio.engine.language import in_english
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import holm, paired_t, randomisation, signed_ranks

_ASSIGNMENTS = 100_000  # p = 0.05 to ±0.0014 (two standard errors)


@dataclass(frozen=True)
class _ColumnContent:
    """What a column holds: a measure on a dataset, in one fold or over all of them."""

    data: str
    measure: str
    column: ResultColumn
    fold: int | None = None


def result_table(
    runs: Sequence[TableRun], query: TableQuery, cancelled: Callable[[], bool] = lambda: False
) -> ResultTable:
    """Return runs side by side.

    Parameters
    ----------
    runs : sequence of TableRun
        Finished ones, of one or several datasets.
    query : TableQuery
    cancelled : callable
        Asked between tests; once it says so no more is tested, and nobody may use what is returned.

    Raises
    ------
    PlanError
        Without any run, where a measure cannot be had, for other conventions on the same data, and where no
        row is the reference that is named.
    ParameterError
        Where there is no such measure.
    """
    from rankstudio.engine.analysis.queries.remeasurement import Remeasurement  # noqa: PLC0415 - brings numba

    if not runs:
        raise PlanError("No data for the table: expected a completed run, found none.")
    if query.by not in BY:
        raise PlanError(f"by: expected one of {', '.join(BY)}, got {query.by}.")
    if query.test not in TESTS:
        raise PlanError(f"test: expected one of {', '.join(TESTS)}, got {query.test}.")
    check_conventions(runs)
    names = measures_of(runs, query)
    engine = Remeasurement()
    with in_english():
        rows = row_runs([run.measured(names, engine) for run in runs])
        places = list(_places(rows, names, query.by))
        reference = _reference(rows, places, query.against)
        p = _Tests(rows, reference, query, cancelled).p(places) if query.tested else {}
        cells = [
            ResultRow(row.title, tuple(replace(_cell(row, at), p=p.get((number, at), nan)) for at in places))
            for number, row in enumerate(rows)
        ]
        return ResultTable(
            _caption(rows, names, query.by),
            tuple(place.column for place in places),
            tuple(cells),
            _notes(rows),
            _mark_note(rows, reference, p, query.test),
        )


def measures_of(runs: Sequence[TableRun], query: TableQuery) -> tuple[str, ...]:
    """Return the measures that a table has, by their usual names.

    Raises
    ------
    ParameterError
        Where there is no such measure.
    """
    if query.measures:
        return tuple(dict.fromkeys(measure(name).name for name in query.measures))
    plan = runs[0].result.plan
    return (_chooser(plan),) if query.by == "folds" else plan.measures


def _chooser(plan: Plan) -> str:
    return plan.measures[0] if plan.select_by == CRITERION else plan.chosen_by


def _places(rows: Sequence[RowRuns], names: Sequence[str], by: By) -> Iterator[_ColumnContent]:
    """Yield what the columns hold, from left to right."""
    data = list(dict.fromkeys(name for row in rows for name in row.runs))
    up = {name: measure(name).higher_is_better for name in names}
    if by == "datasets":
        for name in names:
            group = name if len(names) > 1 else ""
            yield from (_ColumnContent(one, name, ResultColumn(one, group, up[name])) for one in data)
        return
    for one in data:
        if by == "measures":
            group = one if len(data) > 1 else ""
            yield from (_ColumnContent(one, name, ResultColumn(name, group, up[name])) for name in names)
            continue
        folds = dict.fromkeys(f.fold for row in rows if one in row.runs for f in row.runs[one].result.folds)
        for name in names:
            parts = ([one] if len(data) > 1 else []) + ([name] if len(names) > 1 else [])
            group = ", ".join(parts)
            for fold in sorted(folds):
                yield _ColumnContent(one, name, ResultColumn(f"Fold {fold}", group, up[name]), fold)
            yield _ColumnContent(one, name, ResultColumn("Mean", group, up[name]))


def _cell(row: RowRuns, place: _ColumnContent) -> ResultCell:
    """Return what a row's run measured in the folds of a column."""
    if place.data not in row.runs:
        return ResultCell()
    folds = row.runs[place.data].result.folds
    values = [_value(fold, place.measure) for fold in folds if place.fold in (None, fold.fold)]
    there = [value for value in values if not isnan(value)]
    return ResultCell(
        float(np.mean(there)) if there else nan, stdev(there) if len(there) > 1 else nan, len(there)
    )


def _value(fold: FoldResult, name: str) -> float:
    return (fold.test or fold.validation).get(name, nan)


def _reference(rows: Sequence[RowRuns], places: Sequence[_ColumnContent], against: int | str) -> int:
    """Return the row that the others are tested against."""
    if isinstance(against, int):
        if not 1 <= against <= len(rows):
            raise PlanError(f"against: expected a row number from 1 to {len(rows)}, got {against}.")
        return against - 1
    titles = [row.title for row in rows]
    if against in titles:
        return titles.index(against)
    if against:
        return named([row.plan for row in rows], against)
    first = places[0] if places[0].fold is None else next(p for p in places if p.fold is None)
    sign = 1.0 if first.column.higher_is_better else -1.0
    means = [sign * _cell(row, first).mean for row in rows]
    return max(range(len(rows)), key=lambda at: -float("inf") if isnan(means[at]) else means[at])


class _Tests:
    """The differences of all rows to one of them, tested column by column, each column a family."""

    def __init__(
        self, rows: Sequence[RowRuns], reference: int, query: TableQuery, cancelled: Callable[[], bool]
    ) -> None:
        self._rows, self._reference, self._query = rows, reference, query
        self._cancelled = cancelled

    def p(self, places: Sequence[_ColumnContent]) -> dict[tuple[int, _ColumnContent], float]:
        """Return the corrected p by row and column; a column of one fold alone is not tested."""
        found: dict[tuple[int, _ColumnContent], float] = {}
        for place in places:
            if place.fold is None and not self._cancelled():
                found |= {(row, place): p for row, p in self._family(place).items()}
        return found

    def _family(self, place: _ColumnContent) -> Mapping[int, float]:
        """Return the corrected p of each row that can be paired with the reference by the queries."""
        runs = {
            number: row.runs[place.data].result
            for number, row in enumerate(self._rows)
            if place.data in row.runs
        }
        against = runs.get(self._reference)
        if against is None:
            return {}
        compared = [
            number
            for number, run in runs.items()
            if number != self._reference and not why_unpaired(run, against, place.measure)
        ]
        reference, *firsts = first_equals([against, *(runs[number] for number in compared)])
        distinct = [n for n, first, at in zip(compared, firsts, range(1, 1 + len(firsts)), strict=True)
                    if first == at and first != reference]  # fmt: skip
        p = holm([self._p(runs[number], against, place.measure) for number in distinct])
        return dict(zip(distinct, p.tolist(), strict=True))

    def _p(self, run: RunResult, against: RunResult, name: str) -> float:
        if self._cancelled():
            return nan
        one, other = run.per_query(name), against.per_query(name)
        match self._query.test:
            case "t":
                return paired_t(one, other).p
            case "wilcoxon":
                return signed_ranks(one, other).p
            case _:
                return randomisation(one, other, _ASSIGNMENTS, self._query.seed)


def _caption(rows: Sequence[RowRuns], names: Sequence[str], by: By) -> str:
    """Return what the table shows: "MAP and NDCG@10 on MQ2008: test part, mean over 5 folds"."""
    data = list(dict.fromkeys(name for row in rows for name in row.runs))
    results = [run.result for row in rows for run in row.runs.values()]
    parts = sorted({"test" if all(f.test for f in one.folds) else "validation" for one in results})
    folds = sorted({len(one.folds) for one in results})
    part = f"{' and '.join(parts)} part{'s' if len(parts) > 1 else ''}"
    over = ", in each fold" if by == "folds" else f", mean over {_numbers(folds)} folds"
    return f"{_listed(names)} on {_listed(data)}: {part}{over if folds != [1] else ''}."


def _notes(rows: Sequence[RowRuns]) -> tuple[str, ...]:
    """Return what has to be known of the numbers: by whose rules they are."""
    runs = [(data, run) for row in rows for data, run in row.runs.items()]
    labels: dict[str, dict[str, None]] = {}
    for data, run in runs:
        labels.setdefault(convention(run.result.plan.convention).label, {})[data] = None
    if len(labels) == 1:
        notes = [f"Measures follow the {next(iter(labels))} convention."]
    else:
        said = "; ".join(f"{_listed(list(data))} by {label}" for label, data in labels.items())
        notes = [f"Conventions of the measures: {said}."]
    sealed = list(dict.fromkeys(data for data, run in runs if run.sealed))
    notes += (
        [f"The test part is sealed: {_listed(sealed)} measured on the validation part."] if sealed else []
    )
    return tuple(notes)


def _mark_note(
    rows: Sequence[RowRuns], reference: int, p: Mapping[tuple[int, _ColumnContent], float], test: str
) -> str:
    """Return what the marks mean; "" where nothing was tested."""
    if not p:
        return ""
    counts: dict[_ColumnContent, int] = {}
    for _, place in p:
        counts[place] = counts.get(place, 0) + 1
    against = {data: run.result for data, run in rows[reference].runs.items()}
    queries = {place.data: against[place.data].per_query(place.measure).size for place in counts}
    n = " and ".join(
        f"{size:,}" + (f" ({data})" if len(queries) > 1 else "") for data, size in queries.items()
    )
    marks = ", ".join(f"{mark} p < {below:g}" for below, mark in reversed(MARKS))
    sizes = sorted(set(counts.values()))
    hypotheses = f"{_numbers(sizes)} hypothes{'is' if sizes == [1] else 'es'}"
    drawn = f", {_ASSIGNMENTS:,} assignments" if test == "randomisation" else ""
    return (
        f"{marks} for the difference from {rows[reference].title}: {TESTS[test]}, two-sided{drawn}, over {n} "
        f"queries, with Holm correction for the {hypotheses} of a column."
    )


def _numbers(found: Sequence[int]) -> str:
    return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
