"""What a table is asked for in the window, and the task that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.storage.run_index import RecordedData

if TYPE_CHECKING:
    from rankstudio.engine.analysis.result_table.query import TableQuery
    from rankstudio.engine.analysis.result_table.table_run import Documents, TableRun
    from rankstudio.engine.export.result_table.table import ResultTable


@dataclass(frozen=True, eq=False)
class ListedResult:
    """A finished run that is compared.

    Attributes
    ----------
    result : RunResult
        As it is measured now.
    name : str
        What the user calls it.
    dataset : FoldedDataset
        Maybe without documents.
    plan : Plan
        Its own.
    recorded : RecordedData or None
        Where its data are, when the dataset has no documents.
    """

    result: RunResult
    name: str
    dataset: FoldedDataset
    plan: Plan
    recorded: RecordedData | None


def table_of(listed: Sequence[ListedResult], query: TableQuery, sealed: bool) -> ResultTable:
    """Return the table of runs; to be called on the worker, as it may read data and test for seconds."""
    from rankstudio.engine.analysis.report.study_source import DataOpener  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.analysis.result_table.builder import result_table  # noqa: PLC0415
    from rankstudio.engine.analysis.result_table.table_run import TableRun  # noqa: PLC0415

    opener = DataOpener()
    runs: list[TableRun] = [TableRun(one.result, one.name, _documents(one, opener), sealed) for one in listed]
    return result_table(runs, query)


def _documents(one: ListedResult, opener: object) -> Documents:
    """Return what reads the documents of a run where they are not at hand."""

    def read() -> FoldedDataset | None:
        if one.dataset.folds[0].train.n_documents:
            return one.dataset
        if one.recorded is None:
            return None
        plan = one.plan.changed(data=one.recorded.opened_by(one.plan))
        found: FoldedDataset | None = opener(plan, one.recorded)  # type: ignore[operator]
        return found

    return read
