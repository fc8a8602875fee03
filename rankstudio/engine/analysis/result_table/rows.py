"""Which runs on several datasets stand in one row of a table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.analysis.repeated_runs import first_equals
from rankstudio.engine.analysis.result_table.table_run import TableRun
from rankstudio.engine.experiment.plan.difference import distinctions
from rankstudio.engine.experiment.plan.plan import Plan

Key = Callable[[Plan], Hashable]

_OWN = ("method", "ranker", "protocol", "rule", "missing", "normalize", "seed")


@dataclass(frozen=True, eq=False)
class RowRuns:
    """What stands in a row: the same method on one or several datasets.

    Attributes
    ----------
    title : str
    plan : Plan
        Of its first run.
    runs : Mapping of str to TableRun
        By the name of the dataset.
    """

    title: str
    plan: Plan
    runs: Mapping[str, TableRun]


def row_runs(runs: Sequence[TableRun]) -> list[RowRuns]:
    """Return the rows of a table, in the order in which their first runs occur.

    Runs that are one and the same are in it once. A method that was run once on every dataset has one row,
    whatever its grids there; where there are several runs of it on one dataset, those with the same settings
    stand in one row. Titles tell rows of the same method apart by what is set otherwise.
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
