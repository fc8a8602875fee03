"""The section of a report with the tables of analyses that plug-ins contribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankstudio.engine.analysis.catalog_analyses.plugin_analysis import analysis_steps
from rankstudio.engine.analysis.measurements.measurement import (
    sealed_data,
    sealed_plan_data,
)
from rankstudio.engine.analysis.reported_runs import ReportSource
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.methods.catalog.analysis import (
    Analysis,
    AnalysisResult,
    Needs,
    reported_analyses,
)
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.plugins.report.document import Block


def analysis_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield for a report the tables of each analysis of the plug-ins, for each subject.

    A subject is what an analysis reads: a run, a plan, a dataset or a
    training part, with its name.
    """
    for entry in reported_analyses():
        # An analysis needs a run, a plan, a dataset or a part. The
        # function for this need returns all of them that the report
        # has, by name.
        subjects = _SUBJECTS_BY_NEED[entry.needs](source)
        if not subjects:
            yield Paragraph(f"{entry.label}: the data are not available.", muted=True)
        for name, subject in subjects.items():
            yield from _analysis_tables(entry, name, subject)


def _analysis_tables(
    entry: Analysis, name: str, subject: tuple[Any, ...]
) -> Iterator[Block]:
    """Yield the tables of an analysis of a subject, or a paragraph that says why there are none."""
    try:
        # With default options; the last step is the result, the others are progress.
        *_, result = analysis_steps(entry, subject, {})
    except RankStudioError as error:
        yield Paragraph(f"{name}: {error}", muted=True)
        return
    assert isinstance(result, AnalysisResult)
    for table in result.tables:
        text = table.as_text()
        yield replace(text, title=f"{entry.label}, {name}: {text.title}")


def _runs_with_data(source: ReportSource) -> dict[str, tuple[Any, ...]]:
    """Return the result and the data of each run whose data are available, by the run's name.

    Sealed test parts, whose numbers must not be seen yet, are left out.
    """
    return {
        run.name: (
            run.result,
            sealed_data(run.data) if source.is_sealed(run) else run.data,
        )
        for run in source.runs
        if run.data is not None
    }


def _plans_with_data(source: ReportSource) -> dict[str, tuple[Any, ...]]:
    """Return the plan and the data of each run whose data are available, by the run's name.

    Sealed test parts, whose numbers must not be seen yet, are left out.
    """
    return {
        run.name: (
            run.result.plan,
            sealed_plan_data(run.result.plan, run.data)
            if source.is_sealed(run)
            else run.data,
        )
        for run in source.runs
        if run.data is not None
    }


def _datasets(source: ReportSource) -> dict[str, tuple[Any, ...]]:
    """Return each available dataset, in a tuple, by its name; sealed test parts are left out."""
    return {
        run.result.data_name: (
            sealed_data(run.data) if source.is_sealed(run) else run.data,
        )
        for run in source.runs
        if run.data is not None
    }


def _training_parts(source: ReportSource) -> dict[str, tuple[Any, ...]]:
    """Return the first training part of each available dataset, in a tuple, by name."""
    datasets = {
        run.result.data_name: run.data for run in source.runs if run.data is not None
    }
    return {
        f"{name}, fold {data.folds[0].number}": (data.folds[0].train,)
        for name, data in datasets.items()
    }


# Functions that return the subjects of an analysis by their names, each
# as a tuple of arguments.
_SUBJECTS_BY_NEED = {
    Needs.DATA: _training_parts,
    Needs.FOLDS: _datasets,
    Needs.RUN: _runs_with_data,
    Needs.PLAN: _plans_with_data,
}
