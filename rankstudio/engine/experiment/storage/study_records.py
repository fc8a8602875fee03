"""What the rows of a study tell of its runs, and in which of them something is damaged."""

from __future__ import annotations

import json
import math
import sqlite3
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset, Source
from rankstudio.engine.errors import ChangedDataError, ParameterError, PlanError, StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_from_dict
from rankstudio.engine.experiment.storage.data_fingerprint import Fingerprint, change
from rankstudio.engine.experiment.storage.report_settings import ReportSettings, settings_from_values
from rankstudio.engine.experiment.storage.run_index import RecordedData, RunKey, RunLabel, RunSummary
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
from rankstudio.engine.experiment.storage.stored_values import (
    IMPOSSIBLE,
    checksum,
    exactly,
    moment,
    numbers,
    recorded_versions,
    sequence,
)
from rankstudio.engine.experiment.storage.study_rows import Row, next_id, write
from rankstudio.engine.language import tr

_LONGEST, _SHORT = 300, 20
"""Characters of what is wrong with a plan, and of a cell."""


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
            raise StoreError(
                tr("{path}: what is stored of run {run} is damaged; please run it anew.").format(
                    path=self.file.path, run=run
                )
            )
        return rows[0]

    def label(self, run: int) -> RunLabel:
        """Return what a person said of a run; nothing where it is damaged."""
        for row in self.sound("label", "WHERE run = ?", run):
            with suppress(*IMPOSSIBLE):
                tags = tuple(sequence(json.loads(row["tags"]), str))
                return RunLabel(row["name"], row["note"], tags, bool(row["hidden"]))
        return RunLabel()

    def report(self) -> ReportSettings:
        """Return what was written for the report; nothing where it is damaged."""
        for row in self.sound("report"):
            with suppress(*IMPOSSIBLE):
                return settings_from_values(row["question"], row["notes"], row["sections"])
        return ReportSettings()

    def data(self, run: Row) -> RecordedData:
        """Return the data of a run."""
        try:
            (row,) = self.sound("dataset", "WHERE id = ?", run["dataset"])
            return _recorded(row)
        except IMPOSSIBLE as error:
            raise StoreError(
                tr("{path}: what is stored of the data of run {id} is damaged; please run it anew.").format(
                    path=self.file.path, id=run.id
                )
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
            with suppress(*IMPOSSIBLE):
                changed = change(_sources(row["files"]), found)
            if changed and row.id in used:
                raise ChangedDataError(
                    tr(
                        "{changed}. The runs in {path} were computed from the old one: put it back, or begin "
                        "another study."
                    ).format(changed=changed, path=self.file.path)
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
            recorded_versions(json.loads(run["versions"]))
            moment(run["created"]), moment(run["finished"] or run["created"])
            return run, plan_from_dict(json.loads(run["plan"])), data
        except (PlanError, ParameterError) as error:
            why = textwrap.shorten(str(error), _LONGEST, placeholder=" ….")
            raise StoreError(
                tr("{path}: the plan of run {id} cannot be read: {why}").format(
                    path=self.file.path, id=row.id, why=why
                )
            ) from error
        except IMPOSSIBLE as error:
            raise StoreError(
                tr("{path}: the plan of run {id} cannot be read.").format(path=self.file.path, id=row.id)
            ) from error

    def parts(self, row: Row, plan: Plan, data: RecordedData) -> tuple[list[Row], list[Row]]:
        """Return the units and the folds of a run; what its plan does not have counts as damaged."""
        numbers, most = plan.folds or data.folds, _count(plan)
        found = (self.file.records(table, "WHERE run = ?", row.id) for table in ("unit", "fold"))
        units, folds = (
            [r if r.sound and r["fold"] in numbers else replace(r, sound=False) for r in rows]
            for rows in found
        )
        return [replace(r, sound=r.sound and 0 <= r["position"] < most) for r in units], folds

    def lost(self) -> list[str]:
        """Return in words the runs that are not in the file any more: they were numbered without a gap."""
        there = [row.id for row in self.file.records("run", "WHERE id > 0 ORDER BY id")]
        last = max(there, default=0)
        found = (
            row["run"] for table in ("unit", "fold", "removed", "label") for row in self.file.records(table)
        )
        named = {run for run in found if isinstance(run, int) and run > last}
        gaps = [(a + 1, b - 1) for a, b in zip([0, *there], there, strict=False) if a + 1 < b]
        gaps += [(run, run) for run in sorted(named)]
        return [f"run {first}" if first == last else f"runs {first} to {last}" for first, last in gaps]

    def summary(self, row: Row) -> RunSummary:
        """Return a run as a list shows it; StoreError where its plan or its data cannot be read."""
        run, plan, data = self.asked(row)
        units, folds = self.parts(row, plan, data)
        n_folds = len(plan.folds or data.folds)
        n_units = _count(plan) * n_folds
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
            recorded_versions(json.loads(run["versions"])),
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


def _shown(cell: Any) -> str:
    """Return a cell that may hold anything for a sentence."""
    text = str(cell)
    whole = text.isprintable() and len(text) < _SHORT
    return text if whole else textwrap.shorten(ascii(cell), _SHORT, placeholder="…")


def _recorded(row: Row) -> RecordedData:
    """Return what a row of a study tells of a dataset; one of IMPOSSIBLE where it cannot be read."""
    folds, ids = (numbers(json.loads(row[name])) for name in ("folds", "feature_ids"))
    names = sequence(json.loads(row["feature_names"]), str)
    if len(ids) != len(names):
        raise ValueError("expected a name for each feature")
    return RecordedData(
        row["name"], row["place"], checksum(row["checksum"]), _sources(row["files"]), folds, ids, names
    )


def _sources(files: str) -> tuple[Source, ...]:
    """Return the files of a dataset from a row of a study."""
    return tuple(
        Source(Path(f["path"]), exactly(f["size"], int), checksum(f["checksum"])) for f in json.loads(files)
    )


def _count(plan: Plan) -> int:
    """Return how many combinations a plan has."""
    return math.prod(len(axis.values) for axis in plan.axes)


def _damaged(units: Sequence[Row], folds: Sequence[Row]) -> list[str]:
    """Return in words which rows of a run are damaged."""
    named = [
        f"fold {_shown(row['fold'])} with combination {_next(row['position'])}"
        for row in units
        if not row.sound
    ]
    return named + [f"the results of fold {_shown(row['fold'])}" for row in folds if not row.sound]


def as_json(values: Any) -> str:
    """Return plain values as JSON; tables keep their order, and floats come back with the same bits."""
    return json.dumps(values, ensure_ascii=False)


def _next(position: Any) -> str:
    """Return a position as people count; as it is where it is no number any more."""
    return _shown(position + 1 if isinstance(position, int) else position)
