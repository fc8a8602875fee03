"""A finished run as a table shows it, with the measures that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rankstudio.engine.analysis.report.source import ReportSource
from rankstudio.engine.analysis.report.study_source import DataOpener
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.conventions import convention

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
        Where the test part is sealed, without what was measured on it.
    name : str
        What a person calls it; "" for what it runs.
    documents : callable
        Returns its data with their documents, None where they are not at hand; asked only where a measure
        is not known.
    sealed : bool
        Whether the test part may not be looked at.
    """

    result: RunResult
    name: str = ""
    documents: Documents = field(default=no_documents)
    sealed: bool = False

    def measured(self, names: Sequence[str], engine: Remeasurement) -> TableRun:
        """Return the run with these measures in every query, from the scores of its models where need be.

        Parameters
        ----------
        names : sequence of str
        engine : Remeasurement

        Raises
        ------
        PlanError
            Where a measure is missing and the documents are not at hand.
        """
        folds = self.result.folds
        missing = [name for name in names if any(name not in fold.per_query for fold in folds)]
        if not missing:
            return self
        data = self.documents()
        if data is not None:
            return replace(self, result=engine.with_measures(self.result, data, missing, sealed=self.sealed))
        unknown = [
            name for name in missing if any(name not in (fold.test or fold.validation) for fold in folds)
        ]
        if unknown:
            plan = self.result.plan
            raise PlanError(
                f"{plan.title} on {self.result.data_name} has no {' and '.join(unknown)}, and the original "
                f"data to compute it are missing or changed: {plan.data}."
            )
        return self


def table_runs(sources: Iterable[ReportSource]) -> list[TableRun]:
    """Return the runs of studies that have been read, those with a seal without their test part."""
    opener = DataOpener()
    return [
        TableRun(
            run.result,
            run.label.name,
            lambda run=run: opener(run.plan, run.recorded),  # type: ignore[misc]
            source.sealed,
        )
        for source in sources
        for run in source.shown.runs
    ]


def check_conventions(runs: Iterable[TableRun]) -> None:
    """Refuse runs on one dataset that are measured by different conventions.

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
