"""What is refused as a study, and that a refusal changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from experiment.small import assert_same, dataset
from experiment.stored import PLAN, die_with, fill, finished, open_elsewhere
from wording import naming

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.storage import sqlite_file as study_file
from rankstudio.engine.experiment.storage.sqlite_file import APPLICATION_ID
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_rows import (
    VERSION,
    row_of,
    select,
    write,
)


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE theirs (value)")


def of_version(path: Path, version: int) -> None:
    study_file.create(path, lambda db: db.execute(f"PRAGMA user_version = {version}"))


def truncated(path: Path) -> None:
    fill(path)[1].close()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 5000])


def overwritten(path: Path) -> None:
    fill(path)[1].close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(4096) + content[8192:])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda path: path.write_text("method = 'gas'\n" * 100),
            "not a RankStudio study",
        ),
        (lambda path: path.write_bytes(b""), "not a RankStudio study"),
        (foreign_database, "not a RankStudio study"),
        (lambda path: of_version(path, 0), "not a RankStudio study"),
        *(
            (
                lambda path, other=other: of_version(path, other),
                f"the study has format version {other},",
            )
            for other in (VERSION - 1, VERSION + 1)
        ),
        (truncated, "the file is damaged or truncated; expected a complete study"),
        (overwritten, "the file is damaged or truncated; expected a complete study"),
    ],
)
def test_what_is_no_sound_study_is_refused_and_untouched(
    path: Path, make: Callable[[Path], object], message: str
) -> None:
    make(path)
    before = path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())
    with pytest.raises(StoreError) as caught:
        Study.open(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    with pytest.raises(StoreError, match=naming("file exists")):
        Study.create(path)
    assert (
        path.read_bytes(),
        path.stat().st_mtime_ns,
        sorted(path.parent.iterdir()),
    ) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("what", ["foreign", "truncated"])
def test_what_has_a_log_is_refused_and_untouched_too(path: Path, what: str) -> None:
    if what == "foreign":
        die_with(
            path,
            "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "db.execute('PRAGMA journal_mode = WAL'); db.execute('CREATE TABLE theirs (value)')",
        )
    else:
        fill(path)[1].close()
        die_with(
            path,
            "file = StudyFile(sys.argv[1])\n"
            "with file.transaction() as db: db.execute(\"UPDATE study SET title = 'other'\")",
        )
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    log = path.with_name(path.name + "-wal")
    before = path.read_bytes(), log.read_bytes()
    with pytest.raises(
        StoreError,
        match="not a RankStudio study"
        if what == "foreign"
        else "is damaged or truncated",
    ):
        Study.open(path)
    assert (path.read_bytes(), log.read_bytes()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_what_a_study_with_a_log_lost_is_refused_or_told_or_no_loss(path: Path) -> None:
    """The log has the last pages: where only these are lost, nothing is."""
    run, study = fill(path)
    study.close()
    die_with(
        path,
        "file = StudyFile(sys.argv[1])\n"
        "with file.transaction() as db: db.execute(\"UPDATE study SET title = 'other'\")",
    )
    log = path.with_name(path.name + "-wal")
    content, logged = path.read_bytes(), log.read_bytes()
    outcomes = []
    for lost in (0, 5000, *range(4096, len(content), 4096)):
        left = content[: len(content) - lost]
        path.write_bytes(left)
        log.write_bytes(logged)
        try:
            again = Study.open(path)
        except StoreError:
            assert (path.read_bytes(), log.read_bytes()) == (left, logged)
            outcomes.append("refused")
            continue
        with again:
            (summary,) = again.runs()
            outcomes.append("told" if summary.damage else "whole")
            if not summary.damage:
                assert_same(again.result(summary.key), run)
    assert (outcomes[0], outcomes[-1]) == ("whole", "refused")
    assert outcomes[2:] == sorted(outcomes[2:], key=["whole", "told", "refused"].index)


def test_what_is_no_file_is_refused(path: Path) -> None:
    with pytest.raises(StoreError, match=naming("study")):
        Study.open(path)
    with pytest.raises(StoreError, match=naming("folder study")):
        Study.open(path.parent)
    with pytest.raises(StoreError, match=naming("No such file or directory")):
        Study.create(path.parent / "none" / path.name)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "tables",
    ["CREATE TABLE t (x)", "CREATE TABLE run (id); CREATE TABLE study (title)"],
)
def test_a_foreign_database_with_our_number_is_refused_and_untouched(
    path: Path, tables: str
) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {tables}"
        )
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Study.open(path)
    assert str(caught.value) == f"{path}: not a RankStudio study."
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_study_that_does_something_by_itself_is_refused(path: Path) -> None:
    Study.create(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON unit BEGIN DELETE FROM run; END")
        db.commit()
    with pytest.raises(StoreError, match=naming("RankStudio")):
        Study.open(path)


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_too_long_is_refused_before_anything_is_written(
    path: Path, length: int
) -> None:
    long = path.with_name("s" * length)
    for refused in (Study.create, Study.open):
        with pytest.raises(StoreError, match="use a shorter name"):
            refused(long)
    with Study.create(path) as study:
        with pytest.raises(StoreError, match="use a shorter name"):
            study.save_as(long)
        assert study.begin(PLAN, dataset()).id == 1
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(
    sys.platform == "win32", reason="permissions are another matter there"
)
@pytest.mark.parametrize("what", ["folder", "file"])
def test_without_permission_to_write_it_is_refused_and_untouched(what: str) -> None:
    # root may write anywhere, so the other process is of somebody who may not; he may not enter pytest's
    # own folders, though.
    user = () if os.getuid() else (65534,)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "study.rankstudio"
        fill(path)[1].close()
        before = path.read_bytes()
        path.parent.chmod(0o555 if what == "folder" else 0o777)
        path.chmod(0o644 if what == "folder" else 0o444)
        try:
            refusal = f"{path}: no permission to write this file or its folder."
            assert open_elsewhere(path, *user) == refusal
            assert path.read_bytes() == before
            assert list(path.parent.iterdir()) == [path]
        finally:
            path.parent.chmod(0o755)


@pytest.mark.parametrize("log", [False, True])
def test_without_permission_to_write_it_can_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, log: bool
) -> None:
    result, study = fill(path)
    if log:  # as a process leaves it that was killed
        content = {end: Path(f"{path}{end}").read_bytes() for end in ("", "-wal")}
    study.close()
    for end, raw in content.items() if log else ():
        Path(f"{path}{end}").write_bytes(raw)
    # root may write anywhere, so that the answer is made up here
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    with pytest.raises(StoreError, match=naming("permission")):
        Study.open(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with Study.open(path, reading=True) as study:
        (run,) = study.finished(study.runs())
        assert results_as_dict(run) == results_as_dict(result)
        with pytest.raises(StoreError, match=naming("permission")):
            study.begin(PLAN, dataset(), anew=True)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_what_cannot_be_written_and_is_no_study_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"text" * 2000)
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    with pytest.raises(StoreError) as caught:
        Study.open(path, reading=True)
    assert str(caught.value) == f"{path}: not a RankStudio study."


def test_a_full_disk_is_told_and_takes_nothing(path: Path) -> None:
    result, folds = finished()
    with Study.create(path) as study:
        key = study.begin(PLAN, dataset())
        db = study._file._db
        db.execute(
            f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0] + 2}"
        )
        stored = []
        with pytest.raises(StoreError) as caught:
            for unit in folds[0].paths + folds[1].paths:
                study.save_unit(key, unit, 0.25)
                stored.append((unit.unit.fold, unit.unit.position))
        assert (
            str(caught.value)
            == f"{path}: the disk is full; data stored before are safe."
        )
        assert list(study.finished_units(key)) == stored
        assert stored
        db.execute("PRAGMA max_page_count = 1000000")  # somebody made room
        for fold in folds:
            for unit in fold.paths:
                if (unit.unit.fold, unit.unit.position) not in stored:
                    study.save_unit(key, unit, 0.25)
            study.save_fold(key, fold)
        assert results_as_dict(study.result(key)) == results_as_dict(result)


def test_a_full_disk_makes_no_study(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=naming("No space left on device")):
        Study.create(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(
    sys.platform == "win32", reason="there nobody can remove an open file"
)
@pytest.mark.parametrize("what", ["file", "folder", "replaced"])
def test_a_study_removed_while_it_is_open_is_told_at_the_next_unit(
    tmp_path: Path, what: str
) -> None:
    path = tmp_path / "studies" / "study.rankstudio"
    path.parent.mkdir()
    _, folds = finished()
    with Study.create(path) as study:
        key = study.begin(PLAN, dataset())
        study.save_unit(key, folds[0].paths[0], 0.25)
        if what == "folder":
            shutil.rmtree(path.parent)
        else:
            path.unlink()
        if what == "replaced":
            path.write_bytes(b"of somebody else")
        with pytest.raises(StoreError, match=naming("removed open")):
            study.save_unit(key, folds[0].paths[1], 0.25)
    assert what != "replaced" or path.read_bytes() == b"of somebody else"


@pytest.mark.parametrize(
    "versions",
    [
        '{"rankstudio": "1\\nimport os\\nos.system(\\"id\\")"}',
        '{"rankstudio\\n": "1"}',
        '{"coding: utf-7": "1"}',
        '{"numpy": "<script>"}',
        '{"numpy": ""}',
        '["numpy"]',
    ],
)
def test_a_version_that_is_none_is_damage_although_its_digest_fits(
    path: Path, versions: str
) -> None:
    """It was written into a program by ``plan --to python``, where its second line ran."""
    fill(path)[1].close()
    with closing(sqlite3.connect(path)) as db, db:
        row = row_of("run", db.execute(select("run", "")).fetchone())
        write(db, "run", **{**row.values, "versions": versions})
    with Study.open(path, reading=True) as study:
        assert not study.runs()
        assert len(study.damage()) == 1
