"""The runs of a study read for its report, with their documents where these are still as they were."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from rankstudio.engine.analysis.report.source import ReportedRun, ReportSource
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RecordedData

Opener = Callable[[Plan, RecordedData], FoldedDataset | None]


def no_data(_: Plan, __: RecordedData) -> None:
    """Open nothing: a report without what needs the documents."""


class DataOpener:
    """Opens the data of runs, each once; what changed since or is not there is None."""

    def __init__(self) -> None:
        self._opened: dict[tuple[str, ...], FoldedDataset | None] = {}

    def __call__(self, plan: Plan, recorded: RecordedData) -> FoldedDataset | None:
        """Return the data of a plan as they were recorded; None where they cannot be had."""
        key = (recorded.checksum, plan.data, plan.missing, plan.normalize, plan.protocol, str(plan.seed))
        if key not in self._opened:
            self._opened[key] = None
            with suppress(RankStudioError):
                found = open_data(plan)
                self._opened[key] = None if recorded.difference(found) else found
        return self._opened[key]


def read_study(study: Study, opener: Opener = no_data) -> ReportSource:
    """Return what a study's report is made of: its finished, sound and listed runs that are not hidden.

    Parameters
    ----------
    study : Study
    opener : callable
        Returns the documents of a run, or None: :class:`DataOpener` or :func:`no_data`.

    Raises
    ------
    StoreError
        Where the study cannot be read.
    """
    runs = []
    for summary in study.runs():
        label = study.label(summary.key)
        if not summary.finished or summary.damage or label.hidden:
            continue
        result, recorded = study.result(summary.key), study.data(summary.key)
        plan = result.plan.changed(data=recorded.opened_by(result.plan))
        result = replace(result, plan=plan)
        if result.complete:
            runs.append(ReportedRun(summary.key.id, result, recorded, opener(plan, recorded), label))
    return ReportSource(study.title, tuple(runs), study.report_settings, study.seal_marks)
