"""The table of a paper made of finished runs: rows, what each measured, and how sure the differences are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import isnan, nan
from statistics import stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.analysis.fold_table import defined, measured
from rankstudio.engine.analysis.report.source import DataOpener, ReportSource, listed
from rankstudio.engine.analysis.result_table.query import BY, TESTS, By, TableQuery
from rankstudio.engine.analysis.significance import comparing_measure, first_equals, named, why_unpaired
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.difference import distinctions
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
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

if TYPE_CHECKING:
    from rankstudio.engine.analysis.queries.remeasurement import Remeasurement

Documents = Callable[[], FoldedDataset | None]


def no_documents() -> None:
    """Return no documents."""


@dataclass(frozen=True, eq=False)
class TableRun:
    """A finished run.

    Attributes
    ----------
    result : RunResult
        Result, without measures on the test part if that is sealed.
    name : str
        The user's name; "" for the method.
    documents : callable
        Returns its data with documents, or None if they are not available; called only if a measure is
        missing.
    sealed : bool
        Whether the test part is sealed.
    """

    result: RunResult
    name: str = ""
    documents: Documents = field(default=no_documents)
    sealed: bool = False

    def measured(self, names: Sequence[str], engine: Remeasurement) -> TableRun:
        """Return the run with these measures in every query, computed from its models' scores if necessary.

        Parameters
        ----------
        names : sequence of str
        engine : Remeasurement

        Raises
        ------
        PlanError
            If a measure is missing and the documents are not available.
        """
        folds = self.result.folds
        missing = [name for name in names if any(name not in fold.per_query for fold in folds)]
        if not missing:
            return self
        data = self.documents()
        if data is not None:
            return replace(self, result=engine.with_measures(self.result, data, missing, sealed=self.sealed))
        unknown = [name for name in missing if any(name not in measured(fold) for fold in folds)]
        if unknown:
            plan = self.result.plan
            raise PlanError(
                f"{plan.title} on {self.result.data_name} has no {' and '.join(unknown)}, and the original "
                f"data to compute it are missing or changed: {plan.data}."
            )
        return self


def table_runs(sources: Iterable[ReportSource]) -> list[TableRun]:
    """Return the runs of opened studies, without the measures of sealed test parts."""
    opener = DataOpener()
    return [
        TableRun(
            run.result,
            run.label.name,
            lambda run=run: run.data if run.data is not None else opener(run.plan, run.recorded),  # type: ignore[misc]
            source.is_sealed(run),
        )
        for source in sources
        for run in source.shown.runs
    ]


def check_conventions(runs: Iterable[TableRun]) -> None:
    """Reject runs on one dataset with different conventions.

    Raises
    ------
    PlanError
    """
    first: dict[str, RunResult] = {}
    for run in runs:
        other = first.setdefault(run.result.data_name, run.result)
        if run.result.plan.convention != other.plan.convention:
            labels = [convention(one.plan.convention).label for one in (other, run.result)]
            raise PlanError(
                f"{other.data_name}: expected one evaluation convention, found {labels[0]} for "
                f"{other.plan.title} and {labels[1]} for {run.result.plan.title}."
            )


Key = Callable[[Plan], Hashable]

_OWN = ("method", "ranker", "protocol", "rule", "missing", "normalize", "seed")


@dataclass(frozen=True, eq=False)
class RowRuns:
    """A row of the table: the same method on one or several datasets.

    Attributes
    ----------
    title : str
    plan : Plan
        Plan of its first run.
    runs : Mapping of str to TableRun
        Runs by dataset name.
    """

    title: str
    plan: Plan
    runs: Mapping[str, TableRun]


def row_runs(runs: Sequence[TableRun]) -> list[RowRuns]:
    """Return the rows of a table, in order of first occurrence.

    Identical runs are included once. A method with one run per dataset has one row, regardless of its grids;
    several runs on one dataset are grouped by equal settings. Titles of rows with the same method state the
    settings in which they differ.
    """
    firsts = first_equals([run.result for run in runs])
    kept = [run for at, run in enumerate(runs) if firsts[at] == at]
    several = {
        title
        for (_, title), n in Counter((run.result.data_name, _title(run)) for run in kept).items()
        if n > 1
    }
    rows: dict[Hashable, dict[str, TableRun]] = {}
    used: defaultdict[tuple[str, Hashable], int] = defaultdict(int)
    for run in kept:
        title, data = _title(run), run.result.data_name
        key: Hashable = (title, _settings(run.result.plan)) if title in several else title
        number = used[data, key]  # runs of the same settings that are not the same stand below each other
        used[data, key] += 1
        rows.setdefault((key, number), {})[data] = run
    return _titled(list(rows.values()))


def _title(run: TableRun) -> str:
    return run.name or run.result.plan.title


def _settings(plan: Plan) -> Hashable:
    values = (plan.parameters, plan.ranker_parameters, plan.groups)
    return tuple(getattr(plan, name) for name in _OWN), *(tuple(sorted(_plain(one))) for one in values)


def _plain(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, repr(value)) for name, value in values.items()]


def _titled(rows: Sequence[Mapping[str, TableRun]]) -> list[RowRuns]:
    """Return rows with titles that tell them apart."""
    firsts = [next(iter(row.values())) for row in rows]
    titles = [_title(run) for run in firsts]
    said = distinctions({at: run.result.plan for at, run in enumerate(firsts)})
    titles = [
        f"{title} ({said[at]})" if titles.count(title) > 1 and said[at] else title
        for at, title in enumerate(titles)
    ]
    counts: Counter[str] = Counter()
    found = []
    for title, run, row in zip(titles, firsts, rows, strict=True):
        counts[title] += 1
        numbered = f"{title} ({counts[title]})" if titles.count(title) > 1 else title
        found.append(RowRuns(numbered, run.result.plan, row))
    return found


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
    """Return runs as a table.

    Parameters
    ----------
    runs : sequence of TableRun
        Finished runs, on one or several datasets.
    query : TableQuery
    cancelled : callable
        Called between tests; once it returns True, testing stops and the result must not be used.

    Raises
    ------
    PlanError
        If there are no runs, a measure is not available, conventions differ on the same data, or the
        reference row is missing.
    ParameterError
        For an unknown measure.
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
        p = _tests(rows, reference, places, query, cancelled) if query.tested else {}
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
    """Return the measures of a table, by their usual names.

    Raises
    ------
    ParameterError
        For an unknown measure.
    """
    if query.measures:
        return tuple(dict.fromkeys(measure(name).name for name in query.measures))
    plan = runs[0].result.plan
    return (comparing_measure(plan),) if query.by == "folds" else plan.measures


def _places(rows: Sequence[RowRuns], names: Sequence[str], by: By) -> Iterator[_ColumnContent]:
    """Yield what the columns hold, from left to right."""
    data = list(dict.fromkeys(name for row in rows for name in row.runs))
    several_data, several_names = len(data) > 1, len(names) > 1

    def column(one: str, name: str, title: str, group: str, fold: int | None = None) -> _ColumnContent:
        return _ColumnContent(one, name, ResultColumn(title, group, measure(name).higher_is_better), fold)

    match by:
        case "datasets":
            for name in names:
                yield from (column(one, name, one, name if several_names else "") for one in data)
        case "measures":
            for one in data:
                yield from (column(one, name, name, one if several_data else "") for name in names)
        case "folds":
            for one, name in product(data, names):
                group = ", ".join([one] * several_data + [name] * several_names)
                for fold in _folds(rows, one):
                    yield column(one, name, f"Fold {fold}", group, fold)
                yield column(one, name, "Mean", group)


def _folds(rows: Sequence[RowRuns], data: str) -> list[int]:
    """Return the numbers of the folds that some run on a dataset has, ascending."""
    return sorted({f.fold for row in rows if data in row.runs for f in row.runs[data].result.folds})


def _cell(row: RowRuns, place: _ColumnContent) -> ResultCell:
    """Return what a row's run measured in the folds of a column."""
    if place.data not in row.runs:
        return ResultCell()
    folds = row.runs[place.data].result.folds
    there = defined(
        measured(fold).get(place.measure, nan) for fold in folds if place.fold in (None, fold.fold)
    )
    return ResultCell(
        float(np.mean(there)) if there else nan, stdev(there) if len(there) > 1 else nan, len(there)
    )


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


def _tests(
    rows: Sequence[RowRuns],
    reference: int,
    places: Sequence[_ColumnContent],
    query: TableQuery,
    cancelled: Callable[[], bool],
) -> dict[tuple[int, _ColumnContent], float]:
    """Test the differences of all rows to one of them column by column, each column a family.

    Returns
    -------
    dict
        The corrected p by row and column; a column of one fold alone is not tested.
    """
    found: dict[tuple[int, _ColumnContent], float] = {}
    for place in places:
        if place.fold is None and not cancelled():
            runs = {at: row.runs[place.data].result for at, row in enumerate(rows) if place.data in row.runs}
            tested = _distinct(runs, reference, place.measure)
            p = [nan if cancelled() else _p(runs[at], runs[reference], place.measure, query) for at in tested]
            found |= {(at, place): float(one) for at, one in zip(tested, holm(p), strict=True)}
    return found


def _distinct(runs: Mapping[int, RunResult], reference: int, name: str) -> list[int]:
    """Return the rows that can be paired with the reference by the queries, runs that are the same once."""
    against = runs.get(reference)
    if against is None:
        return []
    paired = [at for at, run in runs.items() if at != reference and not why_unpaired(run, against, name)]
    _, *firsts = first_equals([against, *(runs[at] for at in paired)])
    return [at for place, (at, first) in enumerate(zip(paired, firsts, strict=True), 1) if first == place]


def _p(run: RunResult, against: RunResult, name: str, query: TableQuery) -> float:
    one, other = run.per_query(name), against.per_query(name)
    match query.test:
        case "t":
            return paired_t(one, other).p
        case "wilcoxon":
            return signed_ranks(one, other).p
        case _:
            return randomisation(one, other, _ASSIGNMENTS, query.seed)


def _caption(rows: Sequence[RowRuns], names: Sequence[str], by: By) -> str:
    """Return what the table shows: "MAP and NDCG@10 on MQ2008: test part, mean over 5 folds"."""
    data = list(dict.fromkeys(name for row in rows for name in row.runs))
    results = [run.result for row in rows for run in row.runs.values()]
    parts = sorted({"test" if all(f.test for f in one.folds) else "validation" for one in results})
    folds = sorted({len(one.folds) for one in results})
    part = f"{' and '.join(parts)} part{'s' if len(parts) > 1 else ''}"
    over = ", in each fold" if by == "folds" else f", mean over {_numbers(folds)} folds"
    return f"{listed(names)} on {listed(data)}: {part}{over if folds != [1] else ''}."


def _notes(rows: Sequence[RowRuns]) -> tuple[str, ...]:
    """Return what has to be known of the numbers: by whose rules they are."""
    runs = [(data, run) for row in rows for data, run in row.runs.items()]
    labels: dict[str, dict[str, None]] = {}
    for data, run in runs:
        labels.setdefault(convention(run.result.plan.convention).label, {})[data] = None
    if len(labels) == 1:
        notes = [f"Measures follow the {next(iter(labels))} convention."]
    else:
        said = "; ".join(f"{listed(data)} by {label}" for label, data in labels.items())
        notes = [f"Conventions of the measures: {said}."]
    sealed = list(dict.fromkeys(data for data, run in runs if run.sealed))
    notes += [f"The test part is sealed: {listed(sealed)} measured on the validation part."] if sealed else []
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
