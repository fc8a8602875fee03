"""The store of runs: a study is a file that keeps finished units of runs.

Results are on the disk when the call that stores them returns. If the
process ends in any way, only the unit that is being computed is lost;
:func:`rankstudio.engine.experiment.resume.run_stored` continues from there.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, Source
from rankstudio.engine.data.feature_sets import FeatureSet, parsed_feature_set
from rankstudio.engine.data.fingerprint import (
    Fingerprint,
    change,
    files_digest,
    fingerprint,
)
from rankstudio.engine.errors import (
    ChangedDataError,
    DataError,
    ParameterError,
    PlanError,
    StoreError,
    shown,
)
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.from_data import with_data_format
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN, parse_protocol
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_from_dict
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.results import (
    FoldResult,
    PathResult,
    RunResult,
    path_keeper,
)
from rankstudio.engine.experiment.storage import sqlite_file
from rankstudio.engine.experiment.storage.codec import (
    fold_from_values,
    fold_values,
    pack_path,
    unpack_path,
)
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    RunKey,
    RunLabel,
    RunSummary,
    SealMark,
    dataset_keys,
)
from rankstudio.engine.experiment.storage.study_rows import (
    CHOICE,
    EVIDENCE,
    FEATURE_SET,
    IMPOSSIBLE,
    MEASURE,
    METHOD,
    Row,
    checksum,
    evidence_digest,
    exactly,
    moment,
    next_id,
    numbers,
    payload_digest,
    recorded_versions,
    row_of,
    select,
    sequence,
    write,
)
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import find_method, remember_entry
from rankstudio.engine.methods.catalog.description import (
    described_method,
    description_of,
)
from rankstudio.engine.methods.catalog.parameter import OWN_FILE
from rankstudio.engine.metrics.measure_description import (
    described_measure,
    description_of_measure,
)
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.engine.plugins.origin import OriginKind

__all__ = ["SUFFIX", "RecordedData", "RunKey", "RunLabel", "RunSummary", "Study"]

SUFFIX = ".rankstudio"
"""The ending of a study's name."""


class Study:
    """An open study, the file in which runs and their results are stored.

    A study is a context manager, which closes the file. Threads may
    share it, but not processes.

    Raises
    ------
    StoreError
        From every method, if the file cannot be read or written.
    """

    def __init__(self, file: StudyFile) -> None:
        """Use an open file."""
        self._file = file

    @classmethod
    def open(
        cls, path: str | Path, *, reading: bool = False, shared: bool = False
    ) -> Study:
        """Open a study.

        Parameters
        ----------
        path : str or Path
            Path of the study's file.
        reading : bool
            Whether to open read-only files; nothing can then be stored.
        shared : bool
            Whether to read a copy in memory, so that other processes
            can open the file at the same time; nothing can be stored.

        Raises
        ------
        StoreError
            If the file does not exist, is not a study, is damaged or of
            a newer version, or is in use by another process; the file
            is unchanged. Also if the file cannot be written.
        """
        return cls(StudyFile(path, reading=reading, shared=shared))

    @classmethod
    def create(cls, path: str | Path, title: str = "") -> Study:
        """Create the file of a new study, and return the open study.

        `title` is the title of the study.

        Raises
        ------
        StoreError
            If a file already exists, or cannot be written.
        """
        about = {"title": title, "created": _now(), "versions": as_json(versions())}
        sqlite_file.create(path, fill=lambda db: write(db, "study", **about))
        return cls(StudyFile(path))

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def written(self) -> datetime | None:
        """When something was stored last, in local time; None before."""
        return self._file.written

    @property
    def read_only(self) -> bool:
        """Whether the file is read-only, so that nothing can be stored."""
        return self._file.read_only

    @property
    def title(self) -> str:
        """Name of the study; by default the name of its file."""
        rows = self._sound_records("study")
        return str(rows[0]["title"]) if rows and rows[0]["title"] else self.path.stem

    def damage(self) -> tuple[str, ...]:
        """Return a sentence for each damaged record of the study, and for each unreadable run.

        The sentences do not include damaged parts of a run:
        :meth:`runs` reports those with the run.
        """
        # Records of the whole study, by kind. Each row has a digest: it
        # is sound if this digest matches its cells.
        notes = (
            []
            if self._sound_records("study")
            else [f"{self.path}: the study's title is damaged."]
        )
        if not all(row.sound for row in self._file.records("removed")):
            notes.append(
                f"{self.path}: the record of a removed run is damaged; the run is listed again."
            )
        if not all(row.sound for row in self._file.records("label")):
            notes.append(
                f"{self.path}: the name and notes of a run are damaged and left out."
            )
        if not all(row.sound for row in self._file.records("seal")):
            notes.append(
                f"{self.path}: the record of the test part's seal and uses is damaged."
            )
        if not all(row.sound for row in self._file.records("report")):
            notes.append(
                f"{self.path}: the texts for the report are damaged and left out."
            )

        # Runs that cannot be read, and runs that are missing.
        for row in self._listed_records():
            try:
                # Called for its error only.
                self._read_run(row)
            except StoreError as error:
                notes.append(str(error))
        lost_notes = (
            f"{self.path}: the stored results of {runs} are missing."
            for runs in self._lost()
        )
        return (*notes, *lost_notes)

    @property
    def last_id(self) -> int:
        """Highest number of a run, including removed ones; 0 before the first."""
        return max((row.id for row in self._sound_records("run")), default=0)

    def close(self) -> None:
        """Close the file for other processes."""
        self._file.close()

    def save_as(self, path: str | Path) -> None:
        """Copy the study to another file, replacing an existing study, and continue there.

        Raises
        ------
        StoreError
            If the copy cannot be written, or the target is not a study
            or is in use; nothing is changed.
        """
        self._file.move_to(path)

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, plan: Plan, dataset: FoldedDataset, anew: bool = False) -> RunKey:
        """Return the run of a plan to resume, or else a new run.

        The run to resume is the latest run of an equal plan on equal
        data (from any location), computed by the same versions, so that
        all numbers of a run have one origin. A finished run is also
        returned: computing it again would give the same bits.

        Parameters
        ----------
        plan : Plan
            Plan to run.
        dataset : FoldedDataset
            Data of the plan.
        anew : bool
            Whether to start a new run in any case.

        Raises
        ------
        ChangedDataError
            If files of the data changed since the study recorded them.
        """
        # stored with the plan, because a reader of the study may not have the data
        if not plan.convention:
            plan = plan.changed(convention=dataset.convention)

        # What distinguishes the run: its plan, its data, and the versions.
        plan = with_data_format(plan, dataset)
        data_fingerprint = fingerprint(dataset)
        location = str(dataset.path.absolute()) if dataset.path is not None else ""
        self._refuse_changes(plan, location, dataset, data_fingerprint.files)
        versions_text = as_json(versions(plan.sources))
        checksum = data_fingerprint.checksum

        # An equal run is resumed; otherwise the data and a new run are written at once.
        with self._file.transaction() as db:
            run = None if anew else self._equal_run(plan, versions_text, checksum)
            if run is None:
                data = write_data(db, dataset, location, data_fingerprint)
                # If the record of the data was damaged, it is sound
                # now, and runs on the data can be found.
                run = None if anew else self._equal_run(plan, versions_text, checksum)
            if run is None:
                run = next_id(db, "run")
                # "same" has all settings by which equal plans are
                # found, and the checksums of the user's own files.
                values = {
                    "plan": as_json(plan_as_dict(plan)),
                    "same": same(plan),
                    "versions": versions_text,
                }
                write(db, "run", id=run, dataset=data, created=_now(), **values)
                _write_methods(db, run, plan)
                _write_measures(db, run, plan)
            feature_set = dataset.extension(FeatureSet)
            if feature_set is not None:
                _write_feature_set(db, data_fingerprint.checksum, feature_set)
        return RunKey(run, plan, tuple(int(i) for i in dataset.feature_ids))

    def check(self, run: RunKey, dataset: FoldedDataset) -> None:
        """Raise an error if a dataset or the present versions differ from those of a run.

        Such a run may not be resumed, because its numbers would have
        two origins.

        Raises
        ------
        StoreError
            If the data or the versions are not those of the run.
        """
        # The data must be those that the run began with.
        difference = self.data(run).difference(dataset)
        if difference:
            raise ChangedDataError(difference)

        # CSV files of the user that parameters name, by their checksums.
        recorded_files = _recorded_files(self._run(run.id))
        present_files = _own_files(run.plan)
        for name, files in recorded_files.items():
            if files != present_files.get(name):
                text = tr(
                    "{file}: the file of the {name} changed since run {id} began. Start the run again."
                )
                file = shown(str(run.plan.parameters[name]))
                raise ChangedDataError(text.format(file=file, name=name, id=run.id))

        # Versions of RankStudio and of the libraries.
        run_versions = json.loads(self._run(run.id)["versions"])
        installed_versions = versions(run.plan.sources)
        if run_versions != installed_versions:
            text = tr(
                "{path}: run {id} was started with {by}, but {versions} is installed. Start the run again."
            )
            raise StoreError(
                text.format(
                    path=self.path,
                    id=run.id,
                    by=_version_text(run_versions),
                    versions=_version_text(installed_versions),
                )
            )

    def data(self, run: RunKey) -> RecordedData:
        """Return the data of a run, as recorded."""
        return self._data(self._run(run.id))

    def remove(self, run: RunKey) -> None:
        """Mark a run as removed.

        A removed run is neither listed nor resumed, but its results stay.
        """
        with self._file.transaction() as db:
            write(db, "removed", run=run.id)

    def restore(self, run: RunKey) -> None:
        """Undo :meth:`remove`."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM removed WHERE run = ?", (run.id,))

    def set_label(self, run: RunKey, label: RunLabel) -> None:
        """Store the name, note, tags and visibility of a run."""
        values = {"name": label.name, "note": label.note, "hidden": int(label.hidden)}
        with self._file.transaction() as db:
            write(db, "label", run=run.id, tags=as_json(list(label.tags)), **values)

    def label(self, run: RunKey) -> RunLabel:
        """Return the user's name, notes and tags of a run, shortened to the limits of a label.

        The label is empty if it is missing or damaged.
        """
        for row in self._sound_records("label", "WHERE run = ?", run.id):
            # A damaged label is like none: it changes no number.
            with suppress(*IMPOSSIBLE):
                tags = tuple(sequence(json.loads(row["tags"]), str))
                return RunLabel(
                    name=row["name"],
                    note=row["note"],
                    tags=tags,
                    hidden=bool(row["hidden"]),
                ).shortened()
        return RunLabel()

    def set_choice(
        self, run: RunKey, values: tuple[Any, ...] | None, length: int | None
    ) -> None:
        """Store which model of a run the user chose.

        Parameters
        ----------
        run : RunKey
            Run of the study.
        values : tuple or None
            Values, for the model, of the parameters for which the plan
            has several values; None for the path that validation chose.
        length : int or None
            Number of features, or round; None for the length that the
            plan's rule chooses.
        """
        payload = as_json([values, length])
        with self._file.transaction() as db:
            db.execute(CHOICE)
            cells = run.id, payload, payload_digest(run.id, payload)
            db.execute("INSERT OR REPLACE INTO choice VALUES (?, ?, ?)", cells)

    def choice(self, run: RunKey) -> tuple[tuple[Any, ...] | None, int | None]:
        """Return the model of a run that the user chose, as values of parameters and a length.

        The values are those of the parameters for which the plan has
        several, or None for the path that validation chose. The length
        is a number of features or a round, or None for the best. Both
        are None if the study has no choice, or the record is damaged.
        """
        if self._has_table("choice"):
            for payload, digest in self._file.rows(
                "SELECT payload, digest FROM choice WHERE run = ?", run.id
            ):
                if digest == payload_digest(run.id, payload):
                    values, length = json.loads(payload)
                    return None if values is None else tuple(
                        map(_hashable, values)
                    ), length
        return None, None

    @property
    def seal_marks(self) -> tuple[SealMark, ...]:
        """Records that test parts of datasets were sealed (hidden) or unsealed, in order of time.

        A mark that names no datasets seals all datasets, but it unseals
        only those that the study recorded when a study had one seal for
        all datasets. A damaged mark seals all datasets.
        """
        rows = self._file.records("seal", "ORDER BY id")
        unsealed_keys = self._recorded_with_one_seal()
        return tuple(_seal_mark(row, unsealed_keys) for row in rows)

    def _recorded_with_one_seal(self) -> tuple[str, ...]:
        """Return the keys of the datasets that an earlier version recorded.

        In that version, one seal hid the test parts of all datasets.
        """
        keys: list[str] = []
        for row in self._sound_records("dataset", "ORDER BY id"):
            with suppress(*IMPOSSIBLE):  # an unreadable record has no keys
                recorded_data = _parsed_data(row)
                # Only such earlier versions did not record the first file.
                if recorded_data.first_file is None:
                    keys += dataset_keys(recorded_data)
        return tuple(dict.fromkeys(keys))

    def note_seal(self, mark: SealMark) -> None:
        """Store that the test parts of some or all datasets were sealed (hidden) or unsealed.

        `mark` has the keys of the datasets, or None for all, and the time.
        """
        datasets = None if mark.datasets is None else as_json(list(mark.datasets))
        values = {
            "sealed": int(mark.sealed),
            "happened": mark.happened,
            "datasets": datasets,
        }
        with self._file.transaction() as db:
            write(db, "seal", id=next_id(db, "seal"), **values)

    @property
    def report_settings(self) -> ReportSettings:
        """Texts and sections of the user's report; empty if missing or damaged."""
        for row in self._sound_records("report"):
            with suppress(*IMPOSSIBLE):  # errors that invalid values raise
                # Key of each section, and whether the report includes it.
                pairs = json.loads(row["sections"])
                keys = sequence([key for key, _ in pairs], str)
                flags = (exactly(is_shown, bool) for _, is_shown in pairs)
                return ReportSettings(
                    row["question"], row["notes"], tuple(zip(keys, flags, strict=True))
                )
        return ReportSettings()

    def set_report_settings(self, settings: ReportSettings) -> None:
        """Store the texts and the sections of the user's report."""
        with self._file.transaction() as db:
            sections = as_json([list(section) for section in settings.sections])
            write(
                db,
                "report",
                id=1,
                question=settings.question,
                notes=settings.notes,
                sections=sections,
            )

    def save_evidence(self, run: RunKey, fold: int, key: str, payload: bytes) -> None:
        """Store the evidence for a selection of a run, replacing the previous one.

        Parameters
        ----------
        run : RunKey
            Run of the study.
        fold : int
            Number of the fold, from 1.
        key : str
            Key of the selection or model.
        payload : bytes
            Bytes from
            :func:`rankstudio.plugins.evidence.evidence_codec.pack_evidence`, of
            the evidence for a selection or of the permutation
            importance of a model.
        """
        digest = evidence_digest(run.id, fold, key, payload)
        with self._file.transaction() as db:
            db.execute(EVIDENCE)
            cells = run.id, fold, key, payload, digest
            db.execute("INSERT OR REPLACE INTO evidence VALUES (?, ?, ?, ?, ?)", cells)

    def evidence(self, run: RunKey, fold: int, key: str) -> bytes | None:
        """Return the evidence with a key that is stored for a fold of a run, as bytes.

        Evidence explains a selection of features; `fold` is the number
        of the fold. The result is None if the evidence is missing or
        damaged, or if the study is closed.
        """
        records = self._evidence(run)
        return next(
            (
                payload
                for number, name, payload in records
                if (number, name) == (fold, key)
            ),
            None,
        )

    def evidence_of_run(self, run: RunKey) -> list[tuple[int, bytes]]:
        """Return all evidence of a run, as pairs of the number of the fold and the bytes.

        Evidence explains a selection of features. Damaged evidence is
        left out. The result is [] if the study is closed.
        """
        return [(fold, payload) for fold, _, payload in self._evidence(run)]

    def _evidence(self, run: RunKey) -> list[tuple[int, str, bytes]]:
        """Return fold, key and bytes of each undamaged evidence of a run.

        Evidence explains a selection of features on a fold. The result
        is [] if the study is closed.
        """
        # A thread may ask after another one has closed the study.
        with self._file.kept_open() as is_open:
            if not is_open or not self._has_table("evidence"):
                return []
            query = "SELECT fold, place, payload, digest FROM evidence WHERE run = ? ORDER BY fold, place"
            rows = self._file.rows(query, run.id)
        return [
            (fold, name, payload)
            for fold, name, payload, digest in rows
            if isinstance(payload, bytes)
            and digest == evidence_digest(run.id, fold, name, payload)
        ]

    def _feature_set(self, data: str) -> FeatureSet | None:
        """Return a search engine's names for the features of data with a checksum.

        `data` is the checksum. The result is None if the study has no
        such names, or if they are damaged.
        """
        if not self._has_table("feature_set"):
            return None
        for payload, digest in self._file.rows(
            "SELECT payload, digest FROM feature_set WHERE data = ?", data
        ):
            with suppress(*IMPOSSIBLE, DataError):  # errors of invalid values
                if digest == payload_digest(data, payload):
                    return _read_feature_set(json.loads(payload))
        return None

    def _has_table(self, name: str) -> bool:
        """Return whether the file of the study has a table with a name.

        Some tables are made only when they are first needed.
        """
        return bool(
            self._file.rows(
                "SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table'", name
            )
        )

    def save_unit(self, run: RunKey, path: PathResult, seconds: float) -> None:
        """Store the path of a finished unit, and the duration of the unit in seconds.

        A unit is one combination of parameters on one fold; its path
        has a model per step. The time is O(K n) for K steps and n
        features.
        """
        unit = path.unit
        # Of nonlinear models, only the one that the rule would select
        # stays able to score.
        content = pack_path(path, select_model(run.plan, [path]).step, run.feature_ids)
        values = {
            "setting": as_json(unit.values),
            "seconds": seconds,
            "payload": content,
        }
        with self._file.transaction() as db:
            write(
                db, "unit", run=run.id, fold=unit.fold, position=unit.position, **values
            )

    def finished_units(self, run: RunKey) -> dict[tuple[int, int], PathResult]:
        """Return the paths of a run's finished units, without damaged ones.

        A path has all models of a unit, which is one combination of
        parameters' values on one fold. The keys are the number of the
        fold and the position of the combination.
        """
        combinations = run.plan.combinations
        # Keeps the steps of a path in memory, in leave-query-out in a file.
        keep = path_keeper(run.plan)
        units = {}
        sound_units, _ = self._sound_parts(run)
        for row in sorted(sound_units, key=lambda row: (row["fold"], row["position"])):
            # The combination must be the one that the plan now has at this position.
            fold = row["fold"]
            position = row["position"]
            unit = Unit(fold, position, combinations[position])
            if as_json(unit.values) != row["setting"]:
                was = shown(row["setting"])
                expected = shown(unit.values)
                text = tr(
                    "{path}: fold {fold} was stored for {was}, expected {expected}."
                )
                raise StoreError(
                    text.format(path=self.path, fold=fold, was=was, expected=expected)
                )
            # Leave out a unit whose content was damaged when it was
            # stored: the digest of its row matches all the same.
            with suppress(StoreError):
                source = f"{self.path}, run {run.id}"
                units[fold, position] = keep(
                    unpack_path(row["payload"], unit, run.feature_ids, source)
                )
        return units

    def discard_damaged(self, run: RunKey) -> None:
        """Delete damaged units and folds of a run, so that resuming computes them again."""
        row = self._run(run.id)
        if not self._summary(row).damage:
            return
        with self._file.transaction() as db:
            # Rows of the run, marked as damaged also if its plan does
            # not have such a unit or fold.
            units, folds = self._parts(*self._read_run(row))
            for table, parts in (("unit", units), ("fold", folds)):
                for part in parts:
                    if not part.sound:
                        db.execute(f"DELETE FROM {table} WHERE rowid = ?", (part.id,))
            # The run is no longer finished.
            write(db, "run", **{**row.values, "finished": None, "seconds": None})

    def seconds(self, run: RunKey) -> float:
        """Return the duration of a run; for an unfinished run, of its finished units."""
        return self._seconds(run.id)

    def save_fold(self, run: RunKey, result: FoldResult) -> None:
        """Store the results of a finished fold whose units are all stored."""
        with self._file.transaction() as db:
            write(
                db,
                "fold",
                run=run.id,
                fold=result.fold,
                payload=as_json(fold_values(result)),
            )

    def save_cross_fitted(self, run: RunKey, folds: Iterable[FoldResult]) -> None:
        """Store the cross-fitted measures of finished folds, computed after the run.

        Cross-fitted measures are values in each validation query, by
        models that were chosen without it. Nothing else of the folds
        changes.

        Skipped are folds without such measures, folds with other
        measures than the plan's, and folds whose record is damaged.
        """
        names = set(run.plan.evaluated)
        _, sound_folds = self._sound_parts(run)
        rows = {row["fold"]: row for row in sound_folds}
        with self._file.transaction() as db:
            for result in folds:
                row = rows.get(result.fold)
                if row is not None and names <= set(result.cross_fitted):
                    values = {
                        name: result.cross_fitted[name].tolist()
                        for name in run.plan.evaluated
                    }
                    # The new values replace any earlier ones of this key.
                    payload = as_json(
                        {**json.loads(row["payload"]), "cross_fitted": values}
                    )
                    write(db, "fold", run=run.id, fold=result.fold, payload=payload)

    def folds(
        self, run: RunKey, units: Mapping[tuple[int, int], PathResult] | None = None
    ) -> tuple[FoldResult, ...]:
        """Return the finished folds of a run, in order, without damaged ones.

        Parameters
        ----------
        run : RunKey
            Run of this study.
        units : Mapping, optional
            Paths of the finished units, by the number of the fold and
            the position of the combination, if :meth:`finished_units`
            has already read them.
        """
        # A fold is finished if it is stored, and all its units are stored.
        units = self.finished_units(run) if units is None else units
        n_combinations = len(run.plan.combinations)
        unit_counts = Counter(fold for fold, _ in units)
        order = {number: index for index, number in enumerate(run.plan.folds)}
        names = run.plan.evaluated
        # Earlier versions did not store the digest with the fold.
        digest = _digest_of_earlier_version(run.plan, self.data(run))
        finished_folds = []
        _, sound_folds = self._sound_parts(run)
        for row in sorted(sound_folds, key=lambda row: row["fold"]):
            # All units of a fold must be readable, not only its results.
            if unit_counts[row["fold"]] == n_combinations:
                with suppress(*IMPOSSIBLE):  # damaged when it was stored
                    values = json.loads(row["payload"])
                    fold = fold_from_values(
                        row["fold"], values, units, names, run.feature_ids
                    )
                    finished_folds.append(
                        fold if fold.data_digest else replace(fold, data_digest=digest)
                    )
        # In the order of the plan.
        return tuple(
            sorted(
                finished_folds, key=lambda result: order.get(result.fold, result.fold)
            )
        )

    def _sound_parts(self, run: RunKey) -> tuple[list[Row], list[Row]]:
        """Return the undamaged rows of the units and of the folds of a run.

        A unit is the work on one fold with one value of every parameter.
        """
        row = self._run(run.id)
        units, folds = self._parts(row, run.plan, self._data(row))
        return [part for part in units if part.sound], [
            part for part in folds if part.sound
        ]

    def finish(self, run: RunKey, seconds: float) -> None:
        """Store that a run is finished, and its duration in seconds, unless already stored."""
        row = self._run(run.id)
        if row["finished"] is None:
            with self._file.transaction() as db:
                write(
                    db, "run", **{**row.values, "finished": _now(), "seconds": seconds}
                )

    def runs(self) -> list[RunSummary]:
        """Return a summary of each run of the study, the oldest first.

        Removed runs, and those reported by :meth:`damage`, are left out.
        """
        summaries = []
        for row in self._listed_records():
            with suppress(StoreError):
                summaries.append(self._summary(row))
        return summaries

    def finished(self, runs: Iterable[RunSummary]) -> list[RunResult]:
        """Return the results of all finished, undamaged runs."""
        run_results = [
            self.result(run.key) for run in runs if run.finished and not run.damage
        ]
        return [result for result in run_results if result.complete]

    def result(
        self, run: RunKey, units: Mapping[tuple[int, int], PathResult] | None = None
    ) -> RunResult:
        """Return the results of a run; those of the finished folds if it is unfinished.

        Parameters
        ----------
        run : RunKey
            Run of this study.
        units : Mapping, optional
            Paths of the finished units, by the number of the fold and
            the position of the combination, if :meth:`finished_units`
            has already read them.

        Raises
        ------
        StoreError
            If a part of the run is damaged.
        """
        # A finished run must have all its folds.
        row = self._run(run.id)
        summary = self._summary(row)
        data = self._data(row)
        folds = self.folds(run, units)
        complete = len(folds) == len(run.plan.folds or data.folds)
        if summary.damage or (summary.finished and not complete):
            raise StoreError(
                summary.damage
                or f"{self.path}: the stored results of run {run.id} are damaged."
            )
        return RunResult(
            plan=run.plan,
            data_name=data.name,
            feature_ids=np.array(data.feature_ids, dtype=np.int64),
            feature_names=data.feature_names,
            folds=folds,
            complete=complete,
            versions=summary.versions,
            seconds=self.seconds(run),
        )

    def _sound_records(self, table: str, clause: str = "", *values: Any) -> list[Row]:
        """Return the rows of a table that are not damaged.

        `clause` is the end of the query, such as "WHERE run = ?", and
        `values` has the values of its question marks.
        """
        return _sound_rows(self._file.records(table, clause, *values))

    def _listed_records(self) -> list[Row]:
        """Return the records of all runs that the user has not removed, the oldest first.

        Damaged records are among them.
        """
        removed_ids = {row["run"] for row in self._sound_records("removed")}
        return [
            row
            for row in self._file.records("run", "ORDER BY id")
            if row.id not in removed_ids
        ]

    def _run(self, run: int) -> Row:
        """Return the record of a run by its number; StoreError if it is missing or damaged."""
        rows = self._sound_records("run", "WHERE id = ?", run)
        if not rows:
            text = tr(
                "{path}: the stored results of run {run} are damaged. Run it again."
            )
            raise StoreError(text.format(path=self.path, run=run))
        return rows[0]

    def _data(self, run: Row) -> RecordedData:
        """Return the description of the data of a run, whose record is `run`.

        The description includes a search engine's names for the
        features, if the study has such names. StoreError is raised if
        the description is missing or damaged.
        """
        try:
            # Without exactly one row this raises a ValueError, which is caught.
            (row,) = self._sound_records("dataset", "WHERE id = ?", run["dataset"])
            recorded_data = _parsed_data(row)
            return replace(
                recorded_data, feature_set=self._feature_set(recorded_data.checksum)
            )
        except IMPOSSIBLE as error:
            text = tr(
                "{path}: the stored data description of run {id} is damaged. Run it again."
            )
            raise StoreError(text.format(path=self.path, id=run.id)) from error

    def _equal_run(self, plan: Plan, versions: str, checksum: str) -> int | None:
        """Return the number of the latest run of an equal plan on equal data, by the same versions.

        `versions` is the text that a run stores, and `checksum` that of
        the data. CSV files that the plan names, such as those with the
        importance of the features, must have the same bytes as when the
        run was stored. None if there is no such run. Runs that were
        removed do not count.
        """
        condition = "WHERE versions = ? AND dataset IN (SELECT id FROM dataset WHERE checksum = ?) ORDER BY id DESC"
        listed_ids = {row.id for row in self._listed_records()}
        # Checksums of the user's CSV files that the plan names, by parameter.
        own_files = _own_files(plan)
        for row in self._sound_records("run", condition, versions, checksum):
            if row.id not in listed_ids:
                continue
            try:
                _, run_plan, _ = self._read_run(row)
            except StoreError:
                continue  # a plan that this version cannot read is not resumed
            # The location of the data may differ, because their
            # checksum is equal. The files that the plan names may have
            # changed since the run, which recorded their checksums.
            if (
                run_plan.changed(data=plan.data) == plan
                and _recorded_files(row) == own_files
            ):
                return row.id
        return None

    def _refuse_changes(
        self,
        plan: Plan,
        location: str,
        dataset: FoldedDataset,
        sources: Sequence[Source],
    ) -> None:
        """Raise ChangedDataError if files at a location have changed since a run of the study.

        `sources` are the files as they are now, with their checksums.
        They are compared with the files that earlier runs of the plan's
        columns have recorded for this location. Data that a protocol
        divides have no files of their own; of them, the first file of
        `dataset` is compared.
        """
        # Only runs with the same columns count: with other columns, or
        # the labels of another judge, the same file has another
        # checksum. A damaged record, for which `_columns_of` returns
        # None, may have had the same columns.
        same_columns = None, plan_as_dict(plan).get("columns", {})
        used_datasets = {
            row["dataset"]
            for row in self._listed_records()
            if _columns_of(row) in same_columns
        }
        for row in self._sound_records("dataset", "WHERE place = ?", location):
            change_text = ""
            # A damaged record cannot prove a change.
            with suppress(*IMPOSSIBLE):
                change_text = change(_sources(row["files"]), sources)
            if not change_text and _has_other_first_file(row, dataset):
                change_text = tr("{path}: the file changed").format(path=location)
            if change_text and row.id in used_datasets:
                text = tr(
                    "{changed}. The runs in {path} used the earlier version of this file: restore "
                    "it, or start a new study."
                )
                raise ChangedDataError(text.format(changed=change_text, path=self.path))

    def _read_run(self, row: Row) -> tuple[Row, Plan, RecordedData]:
        """Return the record of a run, its plan, and the description of its data.

        Methods and measures of the run that this installation lacks are
        added to the known ones, so that messages and lists can name
        them. StoreError is raised if the record is damaged, or the plan
        or the data cannot be read.
        """
        # The record again: an error if it is damaged.
        run = self._run(row.id)
        data = self._data(row)

        # The methods must be known before the plan is read.
        try:
            # Called for their errors only: versions and times must be readable.
            recorded_versions(json.loads(run["versions"]))
            moment(run["created"])
            moment(run["finished"] or run["created"])
            self._remember_methods(run)
            self._remember_measures(run)
            return run, plan_from_dict(json.loads(run["plan"])), data
        except (PlanError, ParameterError) as error:
            reason = textwrap.shorten(str(error), _MAX_REASON_LENGTH, placeholder=" ….")
            text = tr("{path}: the plan of run {id} cannot be read: {why}")
            raise StoreError(
                text.format(path=self.path, id=row.id, why=reason)
            ) from error
        except IMPOSSIBLE as error:
            raise StoreError(
                tr("{path}: the plan of run {id} cannot be read.").format(
                    path=self.path, id=row.id
                )
            ) from error

    def _remember_methods(self, run: Row) -> None:
        """Add the methods of a run that this installation lacks to the catalog, from the study.

        They can then be named and shown, but not run.
        """
        values = json.loads(run["plan"])
        unknown = [
            key
            for name in ("method", "ranker")
            if (key := values.get(name)) and find_method(key) is None
        ]
        if not unknown or not self._has_table("method"):
            return
        for payload, digest in self._file.rows(
            "SELECT payload, digest FROM method WHERE run = ?", run.id
        ):
            # A damaged description, or one that is too long, is ignored.
            if (
                digest == payload_digest(run.id, payload)
                and len(payload) <= _MAX_METHOD_LENGTH
            ):
                for description in json.loads(payload):
                    entry = described_method(description)
                    if entry.key in unknown:
                        remember_entry(entry)

    def _remember_measures(self, run: Row) -> None:
        """Add the measures of a run that this installation lacks to the known ones, from the study.

        They can then be named and shown, but not computed.
        """
        if not self._has_table("measure"):
            return
        for payload, digest in self._file.rows(
            "SELECT payload, digest FROM measure WHERE run = ?", run.id
        ):
            # A damaged description, or one that is too long, is ignored.
            if (
                digest == payload_digest(run.id, payload)
                and len(payload) <= _MAX_METHOD_LENGTH
            ):
                for description in json.loads(payload):
                    entry = described_measure(description)
                    if MEASURES.find(entry.key) is None:
                        MEASURES.remember(entry)

    def _parts(
        self, row: Row, plan: Plan, data: RecordedData
    ) -> tuple[list[Row], list[Row]]:
        """Return the rows of a run's units and of its folds, with damaged rows marked.

        A unit is one combination of parameters' values on one fold.
        `row` is the record of the run, `plan` its plan, and `data` the
        description of its data. Units and folds that its plan does not
        have count as damaged.
        """
        numbers = plan.folds or data.folds
        n_combinations = _n_combinations(plan)
        row_lists = (
            self._file.records(table, "WHERE run = ?", row.id)
            for table in ("unit", "fold")
        )
        units, folds = (
            [
                part
                if part.sound and part["fold"] in numbers
                else replace(part, sound=False)
                for part in rows
            ]
            for rows in row_lists
        )
        # A unit also needs a combination of the plan.
        return [
            replace(unit, sound=unit.sound and 0 <= unit["position"] < n_combinations)
            for unit in units
        ], folds

    def _lost(self) -> list[str]:
        """Return texts such as "runs 3 to 5" on the runs whose records are missing.

        A record is missing if its number is a gap between those of
        other runs, or if only rows of other tables mention its number.
        """
        run_ids = [
            row.id for row in self._file.records("run", "WHERE id > 0 ORDER BY id")
        ]
        last = max(run_ids, default=0)
        mentioned_ids = (
            row["run"]
            for table in ("unit", "fold", "removed", "label")
            for row in self._file.records(table)
        )
        lost_ids = {run for run in mentioned_ids if isinstance(run, int) and run > last}
        # Runs are numbered from 1 without a gap. Each number with the
        # one before it, 0 before the first.
        gaps = [
            (before + 1, after - 1)
            for before, after in zip([0, *run_ids], run_ids, strict=False)
            if before + 1 < after
        ]
        gaps += [(run, run) for run in sorted(lost_ids)]
        return [
            f"run {first}" if first == last else f"runs {first} to {last}"
            for first, last in gaps
        ]

    def _summary(self, row: Row) -> RunSummary:
        """Return the summary of a run for a list: plan, data, times, and what is finished.

        `row` is the record of the run. StoreError is raised if its plan
        or its data cannot be read.
        """
        # Numbers of parts that the run should have, and of those without damage.
        run, plan, data = self._read_run(row)
        units, folds = self._parts(row, plan, data)
        n_folds = len(plan.folds or data.folds)
        n_units = _n_combinations(plan) * n_folds
        n_sound = len(_sound_rows(units))

        # A finished run that lacks parts is damaged, too.
        n_missing = (
            n_units + n_folds - n_sound - len(_sound_rows(folds))
            if run["finished"]
            else 0
        )
        missing_text = f"{n_missing} of its parts" if n_missing else ""
        damage = ", ".join(_damaged_row_texts(units, folds)) or missing_text
        # `damage` is "" for a run that is whole, and then stays "".
        return RunSummary(
            key=RunKey(row.id, plan, data.feature_ids),
            data_name=data.name,
            created=run["created"],
            finished=run["finished"] or "",
            seconds=self._seconds(row.id),
            n_finished=n_sound,
            n_units=n_units,
            versions=recorded_versions(json.loads(run["versions"])),
            damage=damage
            and f"{self.path}: run {row.id} is damaged ({damage}). Resume it to repair it.",
        )

    def _seconds(self, run: int) -> float:
        """Return the seconds of a run; those of its finished units if the run is unfinished."""
        parts = "(SELECT total(unit.seconds) FROM unit WHERE unit.run = run.id)"
        query = (
            f"SELECT CAST(ifnull(run.seconds, {parts}) AS REAL) FROM run WHERE id = ?"
        )
        return float(self._file.rows(query, run)[0][0])


def _version_text(by: Mapping[str, str]) -> str:
    """Return versions as text: "numpy 2.0, scipy 1.1"."""
    return ", ".join(f"{name} {number}" for name, number in by.items())


def _now() -> str:
    """Return the present time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


_MAX_REASON_LENGTH = 300  # characters of the reason why a plan cannot be read
_MAX_CELL_LENGTH = 20  # characters of a cell that a sentence quotes
_MAX_METHOD_LENGTH = 1 << 20  # characters of the description of a method


def _has_other_first_file(row: Row, dataset: FoldedDataset) -> bool:
    """Return whether the recorded first file of some data had other contents than that of a dataset.

    Nothing is known of data in memory, and of records of earlier
    versions.
    """
    recorded = row["first_file"]
    return bool(recorded and dataset.origin.checksum) and (
        recorded != dataset.origin.checksum
    )


def write_data(
    db: sqlite3.Connection,
    dataset: FoldedDataset,
    location: str,
    data_fingerprint: Fingerprint,
) -> int:
    """Write the record of a dataset, replacing a damaged one; return its number.

    The record contains the names and checksums of the data, not the
    documents. `location` is the path that was opened, "" for data in
    memory.
    """
    query = select("dataset", "WHERE checksum = ? AND place = ?")
    rows = [
        row_of("dataset", cells)
        for cells in db.execute(query, (data_fingerprint.checksum, location))
    ]
    number = rows[0].id if rows else next_id(db, "dataset")

    # The checksum of the first file names the dataset in seals. A sound
    # record of an earlier version lacks it, and stays so: the one seal
    # of that version applies to it.
    first_file = (
        rows[0]["first_file"] if rows and rows[0].sound else dataset.origin.checksum
    )
    write(
        db,
        "dataset",
        id=number,
        name=dataset.name,
        place=location,
        checksum=data_fingerprint.checksum,
        files=as_json(
            [
                {**asdict(source), "path": str(source.path.absolute())}
                for source in data_fingerprint.files
            ]
        ),
        folds=as_json([fold.number for fold in dataset.folds]),
        feature_ids=as_json(dataset.feature_ids.tolist()),
        feature_names=as_json(dataset.feature_names),
        first_file=first_file,
    )
    return int(number)


def _write_methods(db: sqlite3.Connection, run: int, plan: Plan) -> None:
    """Store descriptions of the methods of a plan that are not RankStudio's own.

    `run` is the number of the run of the plan. A reader without these
    methods can then still name the methods and their parameters.
    """
    descriptions = [
        description_of(entry)
        for entry in plan.entries
        # An ability is a plug-in that comes with RankStudio.
        if entry.origin is not None and entry.origin.kind is not OriginKind.ABILITY
    ]
    if descriptions:
        # `METHOD` is the SQL that makes the table of methods, if the
        # study does not have it yet.
        db.execute(METHOD)
        payload = as_json(descriptions)
        cells = run, payload, payload_digest(run, payload)
        db.execute("INSERT OR REPLACE INTO method VALUES (?, ?, ?)", cells)


def _write_measures(db: sqlite3.Connection, run: int, plan: Plan) -> None:
    """Store descriptions of the measures of a plan that are not RankStudio's own.

    `run` is the number of the run of the plan. A reader without these
    measures can then still name the measures.
    """
    descriptions = [description_of_measure(entry) for entry in plan.foreign_measures]
    if descriptions:
        # `MEASURE` is the SQL that makes the table of measures, if the
        # study does not have it yet.
        db.execute(MEASURE)
        payload = as_json(descriptions)
        db.execute(
            "INSERT OR REPLACE INTO measure VALUES (?, ?, ?)",
            (run, payload, payload_digest(run, payload)),
        )


def _write_feature_set(
    db: sqlite3.Connection, data: str, feature_set: FeatureSet
) -> None:
    """Store the names that a search engine has for the features of some data.

    `data` is the checksum of the data. An earlier feature set of these
    data is replaced.
    """
    payload = as_json(
        {
            "source": feature_set.source,
            "ids": dict(feature_set.ids),
            "set": feature_set.text(),
        }
    )
    # `FEATURE_SET` is the SQL that makes the table of feature sets, if
    # the study does not have it yet.
    db.execute(FEATURE_SET)
    cells = data, payload, payload_digest(data, payload)
    db.execute("INSERT OR REPLACE INTO feature_set VALUES (?, ?, ?)", cells)


def _read_feature_set(values: Any) -> FeatureSet:
    """Return a feature set, a search engine's names of features, from its stored values.

    Raise a DataError, or an exception of the tuple IMPOSSIBLE, for damaged values.
    """
    feature_set = parsed_feature_set(
        Path(exactly(values["source"], str)), exactly(values["set"], str)
    )
    ids = {int(i): exactly(name, str) for i, name in values["ids"].items()}
    if not set(ids.values()) <= set(feature_set.names):
        raise ValueError("expected features of the set")
    return replace(feature_set, ids=ids)


def _digest_of_earlier_version(plan: Plan, data: RecordedData) -> str:
    """Return the digest of a fold's data, for folds that an earlier version stored without one.

    The digest equals that of new runs if the folds are those of the
    files; otherwise it is the checksum of the data.
    """
    is_from_files = bool(data.files) and parse_protocol(plan.protocol).kind == GIVEN
    return files_digest(data.files) if is_from_files else data.checksum


def same(plan: Plan) -> str:
    """Return a text that is the same for equal plans: the values of the plan as JSON.

    The location of the data is left out, because the same data may be elsewhere.
    """
    values = plan_as_dict(plan)
    del values["data"]
    # A file of the user counts by its content, because its name may stay the same.
    own_files = _own_files(plan)
    return json.dumps(
        values | ({"own_files": own_files} if own_files else {}), sort_keys=True
    )


def _own_files(plan: Plan) -> dict[str, list[str]]:
    """Return checksums of a user's CSV files that a plan names, by name of the parameter.

    Such a file has the user's own importance or similarity of features.
    A file that cannot be read is left out.
    """
    checksums: dict[str, list[str]] = {}
    for parameter in plan.entry.parameters:
        if not parameter.own_file:
            continue
        value = plan.parameters.get(parameter.name)
        for name in value if isinstance(value, tuple) else (value,):
            if isinstance(name, str) and name.lower().endswith(OWN_FILE):
                with suppress(OSError):  # the run itself raises the error
                    digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
                    checksums.setdefault(parameter.name, []).append(f"sha256:{digest}")
    return checksums


def _recorded_files(row: Row) -> dict[str, list[str]]:
    """Return the recorded checksums of the user's CSV files that a run's plan names, by parameter.

    `row` is the record. The result is {} if another version wrote the record.
    """
    with suppress(*IMPOSSIBLE):
        return dict(json.loads(row["same"]).get("own_files", {}))
    return {}


def _columns_of(row: Row) -> dict[str, Any] | None:
    """Return the user's settings for the columns of the data, as recorded in the plan of a run.

    `row` is the record. The result is None if the record is damaged.
    """
    with suppress(*IMPOSSIBLE):
        return dict(json.loads(row["plan"]).get("columns", {}))
    return None


def _hashable(value: Any) -> Any:
    """Return a value of JSON as it is on an axis, where lists are tuples."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _sound_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that are not damaged."""
    return [row for row in rows if row.sound]


def _short_text(cell: Any) -> str:
    """Return a value of a study's table as a short text for a sentence of a message.

    A damaged cell may hold anything. A long text is cut, and characters
    that cannot be printed are escaped.
    """
    text = str(cell)
    is_short = text.isprintable() and len(text) < _MAX_CELL_LENGTH
    return (
        text
        if is_short
        else textwrap.shorten(ascii(cell), _MAX_CELL_LENGTH, placeholder="…")
    )


def _parsed_data(row: Row) -> RecordedData:
    """Return the description of a dataset that a row of the study records.

    Raise an exception of the tuple IMPOSSIBLE if the row cannot be read.
    """
    ids = numbers(json.loads(row["feature_ids"]))
    names = sequence(json.loads(row["feature_names"]), str)
    if len(ids) != len(names):
        raise ValueError("expected a name for each feature")
    first_file = row["first_file"]
    return RecordedData(
        name=row["name"],
        place=row["place"],
        checksum=checksum(row["checksum"]),
        files=_sources(row["files"]),
        folds=numbers(json.loads(row["folds"])),
        feature_ids=ids,
        feature_names=names,
        first_file=checksum(first_file) if first_file else first_file,
    )


def _seal_mark(row: Row, unsealed_keys: tuple[str, ...]) -> SealMark:
    """Return the mark in a row: the record that test parts were sealed or unsealed.

    Sealed means hidden. A damaged mark seals all datasets, because the
    original may have sealed any of them.

    Parameters
    ----------
    row : Row
        Row of the table of seals.
    unsealed_keys : tuple of str
        Keys of the datasets that a mark without datasets unseals.
    """
    happened = str(row["happened"])
    # Without datasets it seals all of them (None), but unseals these keys only.
    if row.sound and row["datasets"] is None:
        return SealMark(
            bool(row["sealed"]), happened, None if row["sealed"] else unsealed_keys
        )
    if row.sound:
        with suppress(*IMPOSSIBLE):  # errors that invalid values raise
            return SealMark(
                bool(row["sealed"]),
                happened,
                sequence(json.loads(row["datasets"]), str),
            )
    # A damaged mark.
    return SealMark(True, happened)


def _sources(files: str) -> tuple[Source, ...]:
    """Return the files of a dataset from a row of a study."""
    return tuple(
        Source(
            Path(file["path"]), exactly(file["size"], int), checksum(file["checksum"])
        )
        for file in json.loads(files)
    )


def _n_combinations(plan: Plan) -> int:
    """Return the number of combinations of a plan."""
    return math.prod(len(axis.values) for axis in plan.axes)


def _damaged_row_texts(units: Sequence[Row], folds: Sequence[Row]) -> list[str]:
    """Return texts that name the damaged rows of a run: "fold 2 with combination 3"."""
    unit_texts = [
        f"fold {_short_text(row['fold'])} with combination {_position_from_one(row['position'])}"
        for row in units
        if not row.sound
    ]
    return unit_texts + [
        f"the results of fold {_short_text(row['fold'])}"
        for row in folds
        if not row.sound
    ]


def as_json(values: Any) -> str:
    """Return plain values as JSON.

    Mappings keep their order, and floats their bits.
    """
    return json.dumps(values, ensure_ascii=False)


def _position_from_one(position: Any) -> str:
    """Return the text of a position, counted from 1.

    `position` is counted from 0. A damaged position that is no number
    is returned as its text.
    """
    return _short_text(position + 1 if isinstance(position, int) else position)
