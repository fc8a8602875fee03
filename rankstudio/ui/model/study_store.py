"""The study store: holds the open study, in which runs are stored, and creates a study if none is open.

This module uses no widgets. Methods that access the disk are called on workers only.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.storage.study_contents import SealMark
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.plugins.origin import CodeSource
from rankstudio.engine.support.resources import resource
from rankstudio.engine.support.user_folders import data_folder
from rankstudio.ui.background.worker import CancelFlag, JobFunction
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_record import Clock, RunRecord, RunState
from rankstudio.ui.model.session import Choice, reading

if TYPE_CHECKING:
    from rankstudio.engine.experiment.results.results import FoldResult, PathResult
    from rankstudio.engine.experiment.storage.study import RunKey, RunSummary, Study

SUFFIX = ".rankstudio"
"""The ending of a study's name; the engine's own constant would bring its heavy modules."""
_WAIT_SECONDS = 0.1  # wait for a study to be closed, between two checks of `cancelled`
_MAX_WAITS = 100
READ_ONLY = tr("Its study is read-only.")
"""Reason why a run of a study that is open for reading only cannot be resumed."""

READING_SAMPLE = tr("Reading the run of the sample")
"""Name of the task of `read_sample_run`."""


def is_study(path: str | Path) -> bool:
    """Return whether the name of a file has the suffix of studies."""
    return Path(path).suffix.lower() == SUFFIX


@dataclass(frozen=True, eq=False)
class RunTarget:
    """Where the results of a run are stored: an open study, and which of its runs it is."""

    study: Study
    key: RunKey


@dataclass(frozen=True, eq=False)
class OpenedStudy:
    """A study that was opened.

    Attributes
    ----------
    study : Study
    n_runs, last_id : int
        The number of runs, and the greatest number ever given to a run,
        including removed ones.
    seal_marks : tuple of SealMark
        Times at which test parts were sealed and unsealed.
    """

    study: Study
    n_runs: int
    last_id: int
    seal_marks: tuple[SealMark, ...]


class StudyStore:
    """Holds the study that runs are stored in.

    Parameters
    ----------
    folder : Path, optional
        Folder of the studies that the user has not named; by default
        within the user's data folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or data_folder() / "studies"
        # The lock guards the attributes, and is never held while the
        # disk works. With the condition `_closed`, a job that opens a
        # study waits until this window has closed it.
        self._lock = threading.Lock()
        self._closed = threading.Condition(self._lock)
        self._study: Study | None = None
        self._open: list[Study] = []  # with those that are about to be closed
        # Functions that write what the window requested, not yet
        # called. The lock is held from the removal of such a note until
        # it is written, so that no study is closed in between.
        self._writing = threading.Lock()
        self._notes: deque[Callable[[], None]] = deque()

    @property
    def path(self) -> Path | None:
        """The file of the study; None before there is one."""
        study = self._study
        return study.path if study is not None else None

    @property
    def written(self) -> datetime | None:
        """Time of the last write to the study; None if nothing was written or no study is open."""
        study = self._study
        return study.written if study is not None else None

    def is_own(self, path: Path | None) -> bool:
        """Return whether a study is in the folder of studies that the user has not named."""
        return path is not None and path.parent == self.folder.resolve()

    @property
    def study(self) -> Study | None:
        """The study; None before there is one."""
        return self._study

    def begin(self, plan: Plan, dataset: FoldedDataset) -> RunTarget:
        """Begin a run in the study, which is created if none is open.

        Raises
        ------
        PlanError, ParameterError
            If the plan does not fit the data; then nothing is written to the study.
        StoreError
            If the run cannot be stored.
        """
        from rankstudio.engine.experiment.runner import check  # noqa: PLC0415 - it brings numba

        check(plan, dataset)
        study = self._study or self._make()
        return RunTarget(study, study.begin(plan, dataset, anew=True))

    def target(self, key: RunKey) -> RunTarget | None:
        """Return the target of a run of the study that goes on; None if no study is open."""
        study = self._study
        return RunTarget(study, key) if study is not None else None

    def read(self, path: Path) -> JobFunction:
        """Make the job that opens a study and reads its runs, the oldest first.

        The job yields an OpenedStudy, then one RunRecord for each run,
        and last a sentence on each damage. The study does not become
        the one in which runs are stored; :meth:`switch_to` does that.
        If this window still has the study open and is about to close
        it, the job waits for that.
        """

        def work(cancelled: CancelFlag) -> Iterator[OpenedStudy | RunRecord | str]:
            """Open the study, and yield it, its runs and remarks on damage; called on the worker."""
            from rankstudio.engine.experiment.storage.study import Study  # noqa: PLC0415 - it brings numba

            # The same file may still be open here, and is being closed:
            # wait for that, up to 10 seconds. Then an error says that
            # the file is in use.
            with self._closed:
                for _ in range(_MAX_WAITS):
                    if cancelled() or all(
                        open_study.path != path for open_study in self._open
                    ):
                        break
                    self._closed.wait(_WAIT_SECONDS)
            study = self._add(Study.open(path, reading=True))
            # A damaged study is closed again.
            try:
                runs = study.runs()
                last_id = study.last_id
                marks = study.seal_marks
            except StoreError:
                self.close(study)
                raise
            # First the study, then its runs one by one, then remarks on damage.
            yield OpenedStudy(study, len(runs), last_id, marks)
            datasets: dict[object, FoldedDataset] = {}
            for summary in runs:
                yield _read_run(study, summary, datasets)
            yield from study.damage()

        return work

    def switch_to(self, study: Study | None) -> Study | None:
        """Store runs in another study from now on; None for one that is created when it is needed.

        Returns the previous study, which the caller has to close once
        the study's run has finished.
        """
        with self._lock:
            before = self._study
            self._study = study
        return before

    def save_as(self, path: Path) -> None:
        """Copy the study to another file, and use that file from now on.

        The previous file is removed if the user has not named it: then
        it lies in the folder of the program's own studies, and the copy
        takes its place.

        Raises
        ------
        StoreError
            If the file cannot be written; then the previous file stays in use.
        """
        study = self._study or self._make()  # a window may have no study yet
        previous_path = study.path
        study.save_as(path)
        if self.is_own(previous_path) and previous_path != study.path:
            # if the previous file cannot be removed, it stays beside the copy
            with suppress(OSError):
                previous_path.unlink()

    def note(self, write: Callable[[], None]) -> None:
        """Queue a function that writes to the study; :meth:`write_notes` and :meth:`close` call it."""
        self._notes.append(write)

    def write_notes(self) -> None:
        """Write the notes on runs that :meth:`note` queued to the study.

        Raises
        ------
        StoreError
            If a note cannot be written.
        """
        with self._writing:
            while self._notes:
                self._notes.popleft()()

    def close(self, study: Study) -> None:
        """Close a study, after its queued notes are written, so that other windows can open it."""
        # Notes that cannot be written, such as a removal from the list,
        # are lost, but no results.
        with suppress(StoreError):
            self.write_notes()
        study.close()
        # A job may wait to open the same file.
        with self._lock:
            if study in self._open:
                self._open.remove(study)
                self._closed.notify_all()

    def close_all(self) -> None:
        """Close all open studies."""
        for study in tuple(self._open):
            self.close(study)
        self._study = None

    def _add(self, study: Study) -> Study:
        with self._lock:
            self._open.append(study)
        return study

    def _make(self) -> Study:
        """Create a study named after the present time, and store runs in it from now on.

        Raises
        ------
        StoreError
            If the folder or the file cannot be created.
        """
        from rankstudio.engine.experiment.storage.study import Study  # noqa: PLC0415 - it brings numba

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                tr("{folder}: the folder could not be created: {strerror}.").format(
                    folder=self.folder, strerror=error.strerror
                )
            ) from error
        # The first name that is free.
        name = tr("Study {now:%Y-%m-%d %H.%M}").format(now=datetime.now())
        for number in count(1):
            path = self.folder / f"{name}{f' ({number})' if number > 1 else ''}{SUFFIX}"
            if path.exists():  # two windows may create a study within the same minute
                continue
            study = self._add(Study.create(path))
            self.switch_to(study)
            return study
        raise AssertionError  # count never ends


def read_sample_run() -> RunRecord:
    """Read the finished run of the sample, which comes with the program.

    None of the user's studies stores the run. So its record has no key
    in a study (``stored``), and no reason why the run cannot be resumed
    (``why_not_on``).

    Raises
    ------
    StoreError
        If the run is missing or damaged.
    """
    from rankstudio.engine.experiment.storage.study import Study  # noqa: PLC0415 - it brings numba

    with Study.open(resource("sample", "run.rankstudio"), shared=True) as study:
        summary = next(iter(study.runs()), None)
        if summary is None:
            raise StoreError(tr("The study of the sample holds no run."))
        record = _read_run(study, summary, {})
    if record.state is not RunState.DONE:
        raise StoreError(record.failure)
    record.plan = record.plan.changed(data=SAMPLE)
    record.stored = None
    record.why_not_on = ""
    return record


def _read_run(
    study: Study, summary: RunSummary, datasets: dict[object, FoldedDataset]
) -> RunRecord:
    """Read the finished units of a run; a damaged run becomes a record whose state is FAILED.

    The record has the run's number in the study, and its plan names the
    data by the path at which they can be opened here. Until the data
    are open, a dataset without documents takes their place;
    ``datasets`` caches these, so that runs on the same data share one.
    """
    key = summary.key
    # What the study says of the run, before its units are read.
    recorded = study.data(summary.key)
    plan = key.plan.changed(data=recorded.path_to_open(key.plan))
    paths: dict[tuple[int, int], PathResult] = {}
    folds: tuple[FoldResult, ...] = ()
    result = None
    problem = summary.damage
    # A unit that cannot be read makes the run a failed one instead of
    # stopping the whole study.
    try:
        paths = study.finished_units(key)
        folds = study.folds(key, paths)
        result = study.result(key, paths) if summary.finished else None
    except StoreError as error:
        problem = str(error)
    # Runs on the same parts of the same data share one dataset without
    # documents. It has the validation and test parts that were
    # measured.
    is_validated = all(path.validated for path in paths.values())
    is_tested = any(fold.test for fold in folds)
    dataset_key = (recorded, reading(plan), (is_validated, is_tested))
    dataset = datasets.setdefault(
        dataset_key,
        recorded.without_documents(validated=is_validated, tested=is_tested),
    )
    # `finished` is the time at which the run ended, or None.
    time_text = _local_time_text(summary.finished or summary.created)
    why_not_on = _reason_not_resumable(summary.versions, plan.sources)
    if not why_not_on and study.read_only:
        why_not_on = READ_ONLY
    # The record shows what was read; a finished run is done, and any
    # other can be continued.
    record = RunRecord(
        key.id,
        plan,
        dataset,
        state=RunState.DONE if summary.finished else RunState.UNFINISHED,
        paths=paths,
        folds={fold.fold: fold for fold in folds},
        result=result,
        baselines={fold.fold: fold.baseline for fold in folds},
        stored=key,
        label=study.label(key),
        choice=Choice(*study.choice(key)),
        recorded=recorded,
        origin=f"{time_text}, {_version_text(summary.versions)}",
        why_not_on=why_not_on,
        steps_per_unit=1,  # the progress counts whole units only
        n_units=summary.n_units,
        units_done=summary.n_finished,
        clock=Clock(worked=summary.seconds),
    )
    if problem:
        record.state = RunState.FAILED
        record.failure = problem
    return record


def _local_time_text(moment: str) -> str:
    """Return the local time of a moment that a study stores in UTC."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"


def _version_text(recorded: Mapping[str, str]) -> str:
    return tr("by RankStudio {rankstudio}").format(
        rankstudio=recorded.get("rankstudio", tr("of an unknown version"))
    )


def _reason_not_resumable(
    recorded: Mapping[str, str], entries: Sequence[CodeSource]
) -> str:
    """Return why a run cannot be resumed here, other versions or missing software; "" if it can.

    Parameters
    ----------
    recorded : mapping
        The versions that the run began with, by the name of the software.
    entries : sequence of CodeSource
        The pieces of code that compute the run: methods, and code of plug-ins.
    """
    for entry in entries:
        if entry.lacking:  # a sentence on the software that is not installed
            return entry.lacking
    # `versions` returns the installed version of each software, by name.
    for name, number in versions(entries).items():
        if recorded.get(name) != number:
            software = "RankStudio" if name == "rankstudio" else name
            return tr(
                "It was started with {what} {found}; version {number} is installed."
            ).format(
                what=software,
                found=recorded.get(name, tr("of an unknown version")),
                number=number,
            )
    return ""
