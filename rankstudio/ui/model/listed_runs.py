"""Collects the finished runs that the window lists, in the form in which reports and figures need them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    SealMark,
)
from rankstudio.ui.language import tr

if TYPE_CHECKING:
    from pathlib import Path

    from rankstudio.engine.analysis.reported_runs import ReportedRun, ReportSource
    from rankstudio.engine.data.dataset import FoldedDataset
    from rankstudio.engine.experiment.results.results import RunResult
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.engine.experiment.storage.study_contents import RunKey, RunLabel
    from rankstudio.engine.export.figures.files import FigureFile
    from rankstudio.engine.export.figures.style import FigureStyle
    from rankstudio.ui.model.app_model import Models
    from rankstudio.ui.model.run_record import RunRecord


@dataclass(frozen=True, eq=False)
class ListedRun:
    """A finished run of the window, as it was when a report was requested.

    Attributes
    ----------
    number : int
        Number of the run in the window.
    result : RunResult
        Result of the run, as it is measured in the window.
    dataset : FoldedDataset
    label : RunLabel
    stored : RunKey or None
        Key of the run in the study; None if no study stores the run.
    recorded : RecordedData or None
        Record of the run's data, if `dataset` has no documents.
    """

    number: int
    result: RunResult
    dataset: FoldedDataset
    label: RunLabel
    stored: RunKey | None
    recorded: RecordedData | None

    @classmethod
    def of(cls, record: RunRecord, result: RunResult) -> ListedRun:
        """Return the listed run of a record, as the run is now.

        ``result`` is the result of the run, by the run's own measures
        or by others.
        """
        # `stored` is the run's key in its study; `recorded` the record of its data.
        return cls(
            record.key,
            result,
            record.dataset,
            record.label,
            record.stored,
            record.recorded,
        )


@dataclass(frozen=True, eq=False)
class ReportRequest:
    """Runs and settings of a report.

    Attributes
    ----------
    runs : tuple of ListedRun
    study : Study or None
        The open study; None without one.
    settings : ReportSettings
    seal_marks : tuple of SealMark
        Times at which test parts were sealed and unsealed.
    """

    runs: tuple[ListedRun, ...]
    study: Study | None
    settings: ReportSettings
    seal_marks: tuple[SealMark, ...]


def request_of(models: Models, settings: ReportSettings) -> ReportRequest:
    """Make the request of a report on the finished runs that are listed and ticked.

    Only runs on the open dataset are included; without an open dataset,
    the runs on all data. A run that only has some of its results is
    left out.
    """
    session = models.session
    records = [
        record
        for record in models.runs.records
        if not record.label.hidden and models.marks.is_ticked(record.key)
    ]
    if session.dataset is not None:
        records = [
            record for record in records if record.dataset.name == session.dataset.name
        ]
    runs = tuple(
        ListedRun.of(r, r.result)
        for r in records
        if r.result is not None and r.result.complete
    )
    return ReportRequest(runs, models.study_store.study, settings, session.seal_marks)


def source_of(request: ReportRequest) -> ReportSource:
    """Collect the runs that a report and its figures are made of, with a title and the settings.

    The runs are those of ``request``. Called on the worker, as this
    reads the study from the disk.
    """
    from rankstudio.engine.analysis.reported_runs import ReportSource  # noqa: PLC0415 - on the worker only

    # A window without a study still has runs, which get a general title.
    title = request.study.title if request.study is not None else tr("Study")
    runs = tuple(_reported_run(run, request.study) for run in request.runs)
    return ReportSource(title, runs, request.settings, request.seal_marks)


def figures_of(
    request: ReportRequest,
    format_name: str,
    style: FigureStyle,
    dpi: float,
    folder: Path,
) -> list[FigureFile]:
    """Return the files of all figures of the runs, the same as the terminal's command writes.

    ``format_name`` is a format of images, such as "pdf"; ``dpi`` counts
    the dots per inch of a format made of dots. The paths of the files
    are in ``folder``; nothing is written here.
    """
    from rankstudio.engine.analysis.figures import study_figures  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.export.figures.files import figure_files  # noqa: PLC0415 - on the worker only

    figures = tuple(study_figures.made(study_figures.study_figures(source_of(request))))
    return figure_files(figures, folder, (format_name,), style, dpi)


def _reported_run(run: ListedRun, study: Study | None) -> ReportedRun:
    """Return a listed run with its recorded data and its evidence, as reports need it.

    The record of the data has their name and checksums, not the
    documents. Evidence is what plug-ins computed for a run and stored
    in its study.
    """
    from rankstudio.engine.analysis.reported_runs import ReportedRun  # noqa: PLC0415 - on the worker only

    # The study's record of the data comes first, as it was made when
    # the run began. A run without a study gets one now, from its
    # documents.
    recorded = run.recorded
    if study is not None and run.stored is not None:
        recorded = study.data(run.stored)
    if recorded is None:
        recorded = _recorded_data(run.dataset)
    # The study may come from another computer, so its path of the data
    # is replaced by the path at which they can be opened here.
    plan = run.result.plan
    result = replace(run.result, plan=plan.changed(data=recorded.path_to_open(plan)))
    # `recorded` of a listed run is None if its data are open; otherwise
    # its dataset has no documents.
    data = run.dataset if run.recorded is None else None
    evidence: tuple[tuple[int, bytes], ...] = ()
    if study is not None and run.stored is not None:
        evidence = tuple(study.evidence_of_run(run.stored))
    return ReportedRun(run.number, result, recorded, data, run.label, evidence)


def _recorded_data(dataset: FoldedDataset) -> RecordedData:
    """Make the same record of a dataset as a study stores: its name, path, checksums and features.

    ``first_file`` is the checksum of the first data file, which is the
    same for every division of the data into folds.
    """
    digest = fingerprint(dataset)
    path = str(dataset.path.absolute()) if dataset.path is not None else ""
    folds = tuple(fold.number for fold in dataset.folds)
    ids = tuple(int(i) for i in dataset.feature_ids)
    return RecordedData(
        name=dataset.name,
        place=path,
        checksum=digest.checksum,
        files=digest.files,
        folds=folds,
        feature_ids=ids,
        feature_names=dataset.feature_names,
        first_file=dataset.origin.checksum,
    )
