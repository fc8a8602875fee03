"""What the rows of a study tell of its runs, and in which of them something is damaged."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset, Source
from rankstudio.engine.errors import ChangedDataError, ParameterError, PlanError, StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_from_dict
from rankstudio.engine.experiment.storage.data_fingerprint import Fingerprint, change
from rankstudio.engine.experiment.storage.run_index import RecordedData, RunKey, RunSummary
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
from rankstudio.engine.experiment.storage.study_rows import Row, next_id, write

# What was damaged when there were no digests yet has one now; it is found where it cannot be read.
_UNREADABLE = (ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class StudyRecords:
    """The rows of a study as what they stand for.

    Attributes
    ----------
    file : StudyFile

    Raises
    ------
    StoreError
        From every method: where the file cannot be read, or what is asked for is damaged.
    """

    file: StudyFile

    def sound(self, table: str, where: str = "", *values: Any) -> list[Row]:
        """Return the rows of a table that are not damaged."""
        return _sound(self.file.records(table, where, *values))

    def listed(self) -> list[Row]:
        """Return the records of all runs that are not removed, damaged ones too, the oldest first."""
        removed = {row["run"] for row in self.sound("removed")}
        return [row for row in self.file.records("run", "ORDER BY id") if row.id not in removed]

    def run(self, run: int) -> Row:
        """Return the record of a run."""
        rows = self.sound("run", "WHERE id = ?", run)
        if not rows:
            raise StoreError(f"{self.file.path}: what is stored of run {run} is damaged; please run it anew.")
        return rows[0]

    def data(self, run: Row) -> RecordedData:
        """Return the data of a run."""
        try:
            (row,) = self.sound("dataset", "WHERE id = ?", run["dataset"])
            return _recorded(row)
        except _UNREADABLE as error:
            raise StoreError(
                f"{self.file.path}: what is stored of the data of run {run.id} is damaged; please run "
                "it anew."
            ) from error

    def equal(self, plan: Plan, versions: str, checksum: str) -> int | None:
        """Return the latest run of an equal plan, by these versions, on data of this checksum."""
        where = (
            "WHERE versions = ? AND dataset IN (SELECT id FROM dataset WHERE checksum = ?) ORDER BY id DESC"
        )
        listed = {row.id for row in self.listed()}
        for row in self.sound("run", where, versions, checksum):
            if row.id not in listed:
                continue
            try:
                # Where the data are does not count: they have their checksum.
                if self.asked(row)[1].changed(data=plan.data) == plan:
                    return row.id
            except StoreError:
                continue  # a plan of a version that is not ours is none to go on with
        return None

    def refuse_changes(self, place: str, found: Sequence[Source]) -> None:
        """Raise ChangedDataError where files of a place changed since they were recorded."""
        used = {row["dataset"] for row in self.listed()}
        for row in self.sound("dataset", "WHERE place = ?", place):
            changed = ""
            with suppress(*_UNREADABLE):
                changed = change(_sources(row["files"]), found)
            if changed and row.id in used:
                raise ChangedDataError(
                    f"{changed}. The runs in {self.file.path} were computed from the old one: put it back, "
                    "or begin another study."
                )

    def seconds(self, run: int) -> float:
        """Return how long a run took, or how long its finished units did."""
        parts = "(SELECT total(unit.seconds) FROM unit WHERE unit.run = run.id)"
        taken = f"SELECT CAST(ifnull(run.seconds, {parts}) AS REAL) FROM run WHERE id = ?"
        return float(self.file.rows(taken, run)[0][0])

    def asked(self, row: Row) -> tuple[Row, Plan, RecordedData]:
        """Return what a run was asked for, and on which data; StoreError where that cannot be read."""
        run, data = self.run(row.id), self.data(row)
        try:
            json.loads(run["versions"])
            return run, plan_from_dict(json.loads(run["plan"])), data
        except (PlanError, ParameterError, *_UNREADABLE) as error:
            raise StoreError(f"{self.file.path}: the plan of run {row.id} cannot be read: {error}") from error

    def summary(self, row: Row) -> RunSummary:
        """Return a run as a list shows it; StoreError where its plan or its data cannot be read."""
        run, plan, data = self.asked(row)
        units, folds = (self.file.records(table, "WHERE run = ?", row.id) for table in ("unit", "fold"))
        n_folds = len(plan.folds or data.folds)
        n_units = len(plan.combinations) * n_folds
        n_sound = len(_sound(units))
        lacking = n_units + n_folds - n_sound - len(_sound(folds)) if run["finished"] else 0
        damaged = ", ".join(_damaged(units, folds)) or (f"{lacking} of its parts" if lacking else "")
        return RunSummary(
            RunKey(row.id, plan, data.feature_ids),
            data.name,
            run["created"],
            run["finished"] or "",
            self.seconds(row.id),
            n_sound,
            n_units,
            json.loads(run["versions"]),
            damaged and f"{self.file.path}: run {row.id} is damaged ({damaged}); going on with it mends it.",
        )


def write_data(db: sqlite3.Connection, dataset: FoldedDataset, place: str, found: Fingerprint) -> int:
    """Write the record of a dataset, or write it anew where it was damaged; return its number."""
    at = "SELECT id FROM dataset WHERE checksum = ? AND place = ?"
    known = db.execute(at, (found.checksum, place)).fetchone()
    number = known[0] if known else next_id(db, "dataset")
    write(
        db,
        "dataset",
        id=number,
        name=dataset.name,
        place=place,
        checksum=found.checksum,
        files=as_json([{**asdict(s), "path": str(s.path.absolute())} for s in found.files]),
        folds=as_json([fold.number for fold in dataset.folds]),
        feature_ids=as_json(dataset.feature_ids.tolist()),
        feature_names=as_json(dataset.feature_names),
    )
    return int(number)


def same(plan: Plan) -> str:
    """Return what equal plans have in common: all but where the data are, which have their checksum."""
    values = plan_as_dict(plan)
    del values["data"]
    return json.dumps(values, sort_keys=True)


def _sound(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.sound]


def _recorded(row: Row) -> RecordedData:
    """Return what a row of a study tells of a dataset; one of _UNREADABLE where it cannot be read."""
    lists = (tuple(json.loads(row[name])) for name in ("folds", "feature_ids", "feature_names"))
    return RecordedData(row["name"], row["place"], row["checksum"], _sources(row["files"]), *lists)


def _sources(files: str) -> tuple[Source, ...]:
    """Return the files of a dataset from a row of a study."""
    return tuple(Source(Path(f["path"]), f["size"], f["checksum"]) for f in json.loads(files))


def _damaged(units: Sequence[Row], folds: Sequence[Row]) -> list[str]:
    """Return in words which rows of a run are damaged."""
    named = [
        f"fold {row['fold']} with combination {_next(row['position'])}" for row in units if not row.sound
    ]
    return named + [f"the results of fold {row['fold']}" for row in folds if not row.sound]


def as_json(values: Any) -> str:
    """Return plain values as JSON; tables keep their order, and floats come back with the same bits."""
    return json.dumps(values, ensure_ascii=False)


def _next(position: Any) -> Any:
    """Return a position as people count; as it is where it is no number any more."""
    return position + 1 if isinstance(position, int) else position
