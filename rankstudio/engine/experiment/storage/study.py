"""The run store: a study is a file in which runs keep what they have finished, unit by unit.

What is stored is on the disk when the call returns. Whatever ends the process takes only the unit that was
being computed; :func:`rankstudio.engine.experiment.resume.run_stored` goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, Source
from rankstudio.engine.errors import ChangedDataError, ParameterError, PlanError, StoreError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_from_dict
from rankstudio.engine.experiment.results.results import FoldResult, PathResult, RunResult
from rankstudio.engine.experiment.runner import select_model
from rankstudio.engine.experiment.storage import sqlite_file
from rankstudio.engine.experiment.storage.codec import fold_from_values, fold_values, pack_path, unpack_path
from rankstudio.engine.experiment.storage.data_fingerprint import change, fingerprint
from rankstudio.engine.experiment.storage.run_index import RecordedData, RunKey, RunSummary
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
from rankstudio.engine.experiment.versions import versions

__all__ = ["SUFFIX", "RecordedData", "RunKey", "RunSummary", "Study"]

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

    @classmethod
    def open(cls, path: str | Path) -> Study:
        """Open a study.

        Raises
        ------
        StoreError
            Where there is none, it is none of ours, damaged or of a newer version, or in use by another
            process; the file has the bytes it had. Or where it cannot be written.
        """
        return cls(StudyFile(path))

    @classmethod
    def create(cls, path: str | Path, title: str = "") -> Study:
        """Make a study where there is no file yet, and open it.

        Raises
        ------
        StoreError
            Where there is a file, or none can be written.
        """
        sqlite_file.create(path)
        study = cls(StudyFile(path))
        with study._file.transaction() as db:
            db.execute("INSERT INTO study VALUES (?, ?, ?)", (title, _now(), _text(versions())))
        return study

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def title(self) -> str:
        """What the study is called; the name of its file where nobody said."""
        rows = self._file.rows("SELECT title FROM study")
        return str(rows[0][0]) if rows and rows[0][0] else self.path.stem

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        self._refuse_changes(place, found.files)
        ids = tuple(int(i) for i in dataset.feature_ids)
        same, now = _same(plan), _text(versions())
        equal = self._file.rows(
            "SELECT run.id FROM run JOIN dataset ON dataset.id = run.dataset WHERE run.same = ? "
            "AND run.versions = ? AND dataset.checksum = ? ORDER BY run.id DESC LIMIT 1",
            *(same, now, found.checksum),
        )
        if equal and not anew:
            return RunKey(equal[0][0], plan, ids)
        files = [{**asdict(source), "path": str(source.path.absolute())} for source in found.files]
        numbers = [fold.number for fold in dataset.folds]
        with self._file.transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO dataset VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
                (
                    dataset.name,
                    place,
                    found.checksum,
                    *map(_text, (files, numbers, ids, dataset.feature_names)),
                ),
            )
            at = "SELECT id FROM dataset WHERE checksum = ? AND place = ?"
            data = db.execute(at, (found.checksum, place)).fetchone()[0]
            run = db.execute(
                "INSERT INTO run VALUES (NULL, ?, ?, ?, ?, ?, NULL, NULL)",
                (data, _text(plan_as_dict(plan)), same, now, _now()),
            ).lastrowid
        assert run is not None  # a row was inserted
        return RunKey(run, plan, ids)

    def check(self, run: RunKey, dataset: FoldedDataset) -> None:
        """Refuse to go on with a run on other data than its own, or by other versions.

        Raises
        ------
        StoreError
            Where its numbers would have two origins.
        """
        recorded, by = self.data(run), self._file.rows("SELECT versions FROM run WHERE id = ?", run.id)
        other = recorded.difference(dataset)
        if other:
            raise ChangedDataError(other)
        if by[0][0] != _text(versions()):
            raise StoreError(
                f"{self.path}: run {run.id} was begun by {_words(json.loads(by[0][0]))}, found are "
                f"{_words(versions())}: please run it anew."
            )

    def data(self, run: RunKey) -> RecordedData:
        """Return the data that a run was begun on."""
        name, place, checksum, files, *lists = self._file.rows(
            "SELECT name, place, checksum, files, folds, feature_ids, feature_names "
            "FROM run JOIN dataset ON dataset.id = run.dataset WHERE run.id = ?",
            run.id,
        )[0]
        return RecordedData(name, place, checksum, _sources(files), *(tuple(json.loads(x)) for x in lists))

    def remove(self, run: RunKey) -> None:
        """Forget a run and everything that it has found."""
        with self._file.transaction() as db:
            for table, column in (("unit", "run"), ("fold", "run"), ("run", "id")):
                db.execute(f"DELETE FROM {table} WHERE {column} = ?", (run.id,))
            db.execute("DELETE FROM dataset WHERE id NOT IN (SELECT dataset FROM run)")

    def save_unit(self, run: RunKey, path: PathResult, seconds: float) -> None:
        """Store a finished unit, which took so many seconds. O(K n) for K steps and n features."""
        unit = path.unit
        content = pack_path(path, select_model(run.plan, [path]).step, run.feature_ids)
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?)",
                (run.id, unit.fold, unit.position, _text(unit.values), seconds, content),
            )

    def finished_units(self, run: RunKey) -> dict[tuple[int, int], PathResult]:
        """Return what a run has finished, by the number of the fold and the position of the setting."""
        combinations = run.plan.combinations
        units = {}
        for fold, position, values, content in self._file.rows(
            "SELECT fold, position, setting, payload FROM unit WHERE run = ? ORDER BY fold, position", run.id
        ):
            unit = Unit(fold, position, combinations[position])
            if _text(unit.values) != values:
                raise StoreError(f"{self.path}: fold {fold} was stored for {values}, expected {unit.values}.")
            try:
                units[fold, position] = unpack_path(content, unit, run.feature_ids)
            except StoreError as error:
                raise StoreError(f"{self.path}: {error}") from error
        return units

    def seconds(self, run: RunKey) -> float:
        """Return how long a run took; of one that is not finished, how long its finished units did."""
        taken = "ifnull(run.seconds, (SELECT total(unit.seconds) FROM unit WHERE unit.run = run.id))"
        return float(self._file.rows(f"SELECT {taken} FROM run WHERE id = ?", run.id)[0][0])

    def save_fold(self, run: RunKey, result: FoldResult) -> None:
        """Store a finished fold, all units of which are stored."""
        with self._file.transaction() as db:
            db.execute("INSERT INTO fold VALUES (?, ?, ?)", (run.id, result.fold, _text(fold_values(result))))

    def folds(
        self, run: RunKey, units: Mapping[tuple[int, int], PathResult] | None = None
    ) -> tuple[FoldResult, ...]:
        """Return the finished folds of a run in the order in which they were.

        Parameters
        ----------
        run : RunKey
        units : Mapping, optional
            What :meth:`finished_units` gave, if it is at hand.
        """
        units = self.finished_units(run) if units is None else units
        rows = self._file.rows("SELECT fold, payload FROM fold WHERE run = ? ORDER BY rowid", run.id)
        return tuple(fold_from_values(fold, json.loads(text), units) for fold, text in rows)

    def finish(self, run: RunKey, seconds: float) -> None:
        """Note that a run is finished, and how long it took, if that is not noted already."""
        noted = "UPDATE run SET finished = ?, seconds = ? WHERE id = ? AND finished IS NULL"
        with self._file.transaction() as db:
            db.execute(noted, (_now(), seconds, run.id))

    def runs(self) -> list[RunSummary]:
        """Return all runs, the oldest first.

        Raises
        ------
        StoreError
            For a plan that this version cannot read.
        """
        rows = self._file.rows(
            "SELECT run.id, plan, feature_ids, name, run.created, ifnull(finished, ''), ifnull(run.seconds, "
            "(SELECT total(seconds) FROM unit WHERE unit.run = run.id)), "
            "(SELECT count(*) FROM unit WHERE unit.run = run.id), folds, versions "
            "FROM run JOIN dataset ON dataset.id = run.dataset ORDER BY run.id"
        )
        return [self._summary(*row) for row in rows]

    def result(self, run: RunKey, units: Mapping[tuple[int, int], PathResult] | None = None) -> RunResult:
        """Return the results of a run, of its finished folds alone where it is not finished.

        Parameters
        ----------
        run : RunKey
        units : Mapping, optional
            As for :meth:`folds`.
        """
        name, ids, names, there, by = self._file.rows(
            "SELECT name, feature_ids, feature_names, folds, versions "
            "FROM run JOIN dataset ON dataset.id = run.dataset WHERE run.id = ?",
            run.id,
        )[0]
        folds = self.folds(run, units)
        return RunResult(
            run.plan,
            name,
            np.array(json.loads(ids), dtype=np.int64),
            tuple(json.loads(names)),
            folds,
            len(folds) == len(run.plan.folds or json.loads(there)),
            json.loads(by),
            self.seconds(run),
        )

    def _summary(self, run: int, plan: str, ids: str, name: str, *rest: Any) -> RunSummary:
        created, finished, seconds, done, folds, by = rest
        try:
            made = plan_from_dict(json.loads(plan))
        except (PlanError, ParameterError) as error:
            raise StoreError(f"{self.path}: the plan of run {run} cannot be read: {error}") from error
        n_units = len(made.combinations) * len(made.folds or json.loads(folds))
        key = RunKey(run, made, tuple(json.loads(ids)))
        return RunSummary(key, name, created, finished, seconds, done, n_units, json.loads(by))

    def _refuse_changes(self, place: str, found: tuple[Source, ...]) -> None:
        for (text,) in self._file.rows("SELECT files FROM dataset WHERE place = ?", place):
            changed = change(_sources(text), found)
            if changed:
                raise ChangedDataError(
                    f"{changed}. The runs in {self.path} were computed from the old one: put it back, or "
                    "begin another study."
                )


def _same(plan: Plan) -> str:
    """Return what equal plans have in common: all but where the data are, which have their checksum."""
    values = plan_as_dict(plan)
    del values["data"]
    return json.dumps(values, sort_keys=True)


def _text(values: Any) -> str:
    """Return plain values as JSON; tables keep their order, and floats come back with the same bits."""
    return json.dumps(values, ensure_ascii=False)


def _sources(files: str) -> tuple[Source, ...]:
    return tuple(Source(Path(f["path"]), f["size"], f["checksum"]) for f in json.loads(files))


def _words(by: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in by.items())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
