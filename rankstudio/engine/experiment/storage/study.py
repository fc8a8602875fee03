"""The run store: a study is a file in which runs keep what they have finished, unit by unit.

What is stored is on the disk when the call returns. Whatever ends the process takes only the unit that was
being computed; :func:`rankstudio.engine.experiment.resume.run_stored` goes on from there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ChangedDataError, StoreError, shown
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict
from rankstudio.engine.experiment.results.filed_steps import path_keeper
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.results import FoldResult, PathResult, RunResult
from rankstudio.engine.experiment.storage import sqlite_file
from rankstudio.engine.experiment.storage.codec import fold_from_values, fold_values, pack_path, unpack_path
from rankstudio.engine.experiment.storage.data_fingerprint import fingerprint
from rankstudio.engine.experiment.storage.report_settings import ReportSettings, settings_values
from rankstudio.engine.experiment.storage.run_index import RecordedData, RunKey, RunLabel, RunSummary
from rankstudio.engine.experiment.storage.seal import SealMark
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
from rankstudio.engine.experiment.storage.stored_values import IMPOSSIBLE
from rankstudio.engine.experiment.storage.study_records import StudyRecords, as_json, same, write_data
from rankstudio.engine.experiment.storage.study_rows import Row, next_id, write
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.language import tr

__all__ = ["SUFFIX", "RecordedData", "RunKey", "RunLabel", "RunSummary", "Study"]

SUFFIX = ".rankstudio"
"""The ending of a study's name."""


class Study:
    """An open study; a context manager. Threads may share it, processes may not.

    Raises
    ------
    StoreError
        From every method: where the file cannot be read or written.
    """

    def __init__(self, file: StudyFile) -> None:
        self._file = file
        self._records = StudyRecords(file)

    @classmethod
    def open(cls, path: str | Path, *, reading: bool = False) -> Study:
        """Open a study.

        Parameters
        ----------
        path : str or Path
        reading : bool
            Whether one that may not be written is opened too; then nothing can be stored in it.

        Raises
        ------
        StoreError
            Where there is none, it is none of ours, damaged or of a newer version, or in use by another
            process; the file has the bytes it had. Or where it cannot be written.
        """
        return cls(StudyFile(path, reading=reading))

    @classmethod
    def create(cls, path: str | Path, title: str = "") -> Study:
        """Make a study where there is no file yet, and open it.

        Raises
        ------
        StoreError
            Where there is a file, or none can be written.
        """
        about = {"title": title, "created": _now(), "versions": as_json(versions())}
        sqlite_file.create(path, fill=lambda db: write(db, "study", **about))
        return cls(StudyFile(path))

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def read_only(self) -> bool:
        """Whether the file may not be written, and nothing can be stored in it."""
        return self._file.read_only

    @property
    def title(self) -> str:
        """What the study is called; the name of its file where nobody said."""
        rows = self._records.sound("study")
        return str(rows[0]["title"]) if rows and rows[0]["title"] else self.path.stem

    def damage(self) -> tuple[str, ...]:
        """Return, as sentences, what is damaged besides what the listed runs tell of themselves."""
        found = [] if self._records.sound("study") else [f"{self.path}: the study's title is damaged."]
        if not all(row.sound for row in self._file.records("removed")):
            found.append(f"{self.path}: the mark of a removed run is damaged: the run is listed again.")
        if not all(row.sound for row in self._file.records("label")):
            found.append(f"{self.path}: what a run was called and noted is damaged: it is left out.")
        if not all(row.sound for row in self._file.records("seal")):
            found.append(f"{self.path}: it is damaged when the test part was sealed or looked at.")
        if not all(row.sound for row in self._file.records("report")):
            found.append(f"{self.path}: what was written for the report is damaged: it is left out.")
        for row in self._records.listed():
            try:
                self._records.asked(row)
            except StoreError as error:
                found.append(str(error))
        lost = (
            f"{self.path}: what was stored of {runs} is not there any more." for runs in self._records.lost()
        )
        return (*found, *lost)

    @property
    def last_id(self) -> int:
        """The greatest number of a run, removed ones included; 0 before the first."""
        return max((row.id for row in self._records.sound("run")), default=0)

    def close(self) -> None:
        """Give the file up for others."""
        self._file.close()

    def save_as(self, path: str | Path) -> None:
        """Copy the study to another file, in place of a study that is there, and go on in that one.

        Raises
        ------
        StoreError
            Where it cannot be written, or what is there is none of ours or in use; then nothing changes.
        """
        self._file.move_to(path)

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, plan: Plan, dataset: FoldedDataset, anew: bool = False) -> RunKey:
        """Return the run to go on with, or a new one.

        That is the latest one of an equal plan on equal data (from wherever they were read), computed by
        the same versions, so that a run's numbers have one origin. It may be finished: to compute it again
        would give the same bits.

        Parameters
        ----------
        plan : Plan
        dataset : FoldedDataset
            The plan's data.
        anew : bool
            Whether to begin a new run in any case.

        Raises
        ------
        ChangedDataError
            For data whose files changed since the study recorded them.
        """
        found = fingerprint(dataset)
        place = str(dataset.path.absolute()) if dataset.path is not None else ""
        self._records.refuse_changes(place, found.files)
        wanted = (plan, as_json(versions()), found.checksum)
        with self._file.transaction() as db:
            run = None if anew else self._records.equal(*wanted)
            if run is None:
                data = write_data(db, dataset, place, found)
                # Where its record was damaged it is sound by now, and the runs on it are known again.
                run = None if anew else self._records.equal(*wanted)
            if run is None:
                run = next_id(db, "run")
                values = {"plan": as_json(plan_as_dict(plan)), "same": same(plan), "versions": wanted[1]}
                write(db, "run", id=run, dataset=data, created=_now(), **values)
        return RunKey(run, plan, tuple(int(i) for i in dataset.feature_ids))

    def check(self, run: RunKey, dataset: FoldedDataset) -> None:
        """Refuse to go on with a run on other data than its own, or by other versions.

        Raises
        ------
        StoreError
            Where its numbers would have two origins.
        """
        other = self.data(run).difference(dataset)
        if other:
            raise ChangedDataError(other)
        by = json.loads(self._records.run(run.id)["versions"])
        if by != versions():
            raise StoreError(
                tr("{path}: run {id} was begun by {by}, found are {versions}: please run it anew.").format(
                    path=self.path, id=run.id, by=_words(by), versions=_words(versions())
                )
            )

    def data(self, run: RunKey) -> RecordedData:
        """Return the data that a run was begun on."""
        return self._records.data(self._records.run(run.id))

    def remove(self, run: RunKey) -> None:
        """Mark a run as removed: it is neither listed nor gone on with, but what it found stays."""
        with self._file.transaction() as db:
            write(db, "removed", run=run.id)

    def restore(self, run: RunKey) -> None:
        """Take the mark of :meth:`remove` away from a run."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM removed WHERE run = ?", (run.id,))

    def set_label(self, run: RunKey, label: RunLabel) -> None:
        """Store how a run is called, its note, its tags and whether it is hidden."""
        values = {"name": label.name, "note": label.note, "hidden": int(label.hidden)}
        with self._file.transaction() as db:
            write(db, "label", run=run.id, tags=as_json(list(label.tags)), **values)

    def label(self, run: RunKey) -> RunLabel:
        """Return what :meth:`set_label` stored; nothing where it did not, or where that is damaged."""
        return self._records.label(run.id)

    @property
    def seal_marks(self) -> tuple[SealMark, ...]:
        """When the test part was sealed and unsealed, in order; a damaged mark counts as it is."""
        rows = self._file.records("seal", "ORDER BY id")
        return tuple(SealMark(bool(row["sealed"]), str(row["happened"])) for row in rows)

    def note_seal(self, mark: SealMark) -> None:
        """Store that the test part was sealed, or that its seal was broken."""
        with self._file.transaction() as db:
            write(db, "seal", id=next_id(db, "seal"), sealed=int(mark.sealed), happened=mark.happened)

    @property
    def report_settings(self) -> ReportSettings:
        """What was written for the report of the study; nothing where that is damaged."""
        return self._records.report()

    def set_report_settings(self, settings: ReportSettings) -> None:
        """Store what is written for the report of the study."""
        with self._file.transaction() as db:
            write(db, "report", id=1, **settings_values(settings))

    def save_unit(self, run: RunKey, path: PathResult, seconds: float) -> None:
        """Store a finished unit, which took so many seconds. O(K n) for K steps and n features."""
        unit = path.unit
        content = pack_path(path, select_model(run.plan, [path]).step, run.feature_ids)
        values = {"setting": as_json(unit.values), "seconds": seconds, "payload": content}
        with self._file.transaction() as db:
            write(db, "unit", run=run.id, fold=unit.fold, position=unit.position, **values)

    def finished_units(self, run: RunKey) -> dict[tuple[int, int], PathResult]:
        """Return what a run has finished, by the number of the fold and the position of the setting.

        What is damaged is not among it.
        """
        combinations, keep = run.plan.combinations, path_keeper(run.plan)
        units = {}
        for row in sorted(self._parts(run)[0], key=lambda row: (row["fold"], row["position"])):
            fold, position = row["fold"], row["position"]
            unit = Unit(fold, position, combinations[position])
            if as_json(unit.values) != row["setting"]:
                was, expected = shown(row["setting"]), shown(unit.values)
                raise StoreError(
                    tr("{path}: fold {fold} was stored for {was}, expected {expected}.").format(
                        path=self.path, fold=fold, was=was, expected=expected
                    )
                )
            with suppress(StoreError):  # sound, and yet no path: its digest was made of what was damaged
                source = f"{self.path}, run {run.id}"
                units[fold, position] = keep(unpack_path(row["payload"], unit, run.feature_ids, source))
        return units

    def discard_damaged(self, run: RunKey) -> None:
        """Forget what is damaged of a run, so that to go on with it computes that again."""
        row = self._records.run(run.id)
        if not self._records.summary(row).damage:
            return
        with self._file.transaction() as db:
            for table, parts in zip(
                ("unit", "fold"), self._records.parts(*self._records.asked(row)), strict=True
            ):
                for part in parts:
                    if not part.sound:
                        db.execute(f"DELETE FROM {table} WHERE rowid = ?", (part.id,))
            write(db, "run", **{**row.values, "finished": None, "seconds": None})

    def seconds(self, run: RunKey) -> float:
        """Return how long a run took; of one that is not finished, how long its finished units did."""
        return self._records.seconds(run.id)

    def save_fold(self, run: RunKey, result: FoldResult) -> None:
        """Store a finished fold, all units of which are stored."""
        with self._file.transaction() as db:
            write(db, "fold", run=run.id, fold=result.fold, payload=as_json(fold_values(result)))

    def folds(
        self, run: RunKey, units: Mapping[tuple[int, int], PathResult] | None = None
    ) -> tuple[FoldResult, ...]:
        """Return the finished folds of a run in the order in which they are run, but what is damaged.

        Parameters
        ----------
        run : RunKey
        units : Mapping, optional
            What :meth:`finished_units` gave, if it is at hand.
        """
        units = self.finished_units(run) if units is None else units
        n_combinations, done = len(run.plan.combinations), Counter(fold for fold, _ in units)
        order = {number: place for place, number in enumerate(run.plan.folds)}
        names = run.plan.evaluated
        found = []
        for row in sorted(self._parts(run)[1], key=lambda row: row["fold"]):
            if done[row["fold"]] == n_combinations:
                with suppress(*IMPOSSIBLE):  # as above
                    found.append(
                        fold_from_values(
                            row["fold"], json.loads(row["payload"]), units, names, run.feature_ids
                        )
                    )
        return tuple(sorted(found, key=lambda result: order.get(result.fold, result.fold)))

    def _parts(self, run: RunKey) -> tuple[list[Row], list[Row]]:
        """Return the sound units and folds of a run."""
        row = self._records.run(run.id)
        units, folds = self._records.parts(row, run.plan, self._records.data(row))
        return [part for part in units if part.sound], [part for part in folds if part.sound]

    def finish(self, run: RunKey, seconds: float) -> None:
        """Note that a run is finished, and how long it took, if that is not noted already."""
        row = self._records.run(run.id)
        if row["finished"] is None:
            with self._file.transaction() as db:
                write(db, "run", **{**row.values, "finished": _now(), "seconds": seconds})

    def runs(self) -> list[RunSummary]:
        """Return the runs, the oldest first, but removed ones and those that :meth:`damage` tells of."""
        listed = []
        for row in self._records.listed():
            with suppress(StoreError):
                listed.append(self._records.summary(row))
        return listed

    def finished(self, runs: Iterable[RunSummary]) -> list[RunResult]:
        """Return the results of those runs that are finished and sound."""
        found = [self.result(run.key) for run in runs if run.finished and not run.damage]
        return [result for result in found if result.complete]

    def result(self, run: RunKey, units: Mapping[tuple[int, int], PathResult] | None = None) -> RunResult:
        """Return the results of a run, of its finished folds alone where it is not finished.

        Parameters
        ----------
        run : RunKey
        units : Mapping, optional
            As for :meth:`folds`.

        Raises
        ------
        StoreError
            Where something of it is damaged.
        """
        row = self._records.run(run.id)
        summary, data, folds = self._records.summary(row), self._records.data(row), self.folds(run, units)
        complete = len(folds) == len(run.plan.folds or data.folds)
        if summary.damage or (summary.finished and not complete):
            raise StoreError(summary.damage or f"{self.path}: what is stored of run {run.id} is damaged.")
        ids, seconds = np.array(data.feature_ids, dtype=np.int64), self.seconds(run)
        by = summary.versions
        return RunResult(run.plan, data.name, ids, data.feature_names, folds, complete, by, seconds)


def _words(by: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in by.items())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
