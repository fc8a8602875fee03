"""A study: what comes back, who may open it, what it refuses, and that a refusal changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, part

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.letor.writer import save_letor
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import features_table, results_as_dict
from rankstudio.engine.experiment.results.events import FoldFinished, RunFinished
from rankstudio.engine.experiment.results.results import FoldResult, PathResult, RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage import sqlite_file as study_file
from rankstudio.engine.experiment.storage.sqlite_file import APPLICATION_ID, MIGRATIONS, StudyFile
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.versions import versions

PLAN = Plan("small", parameters={"regularization": (0.5, 1.0, 2.0)})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a study.rankstudio"


def finished(plan: Plan = PLAN) -> tuple[RunResult, list[FoldResult]]:
    events = list(run(plan, dataset()))
    assert isinstance(events[-1], RunFinished)
    return events[-1].result, [e.result for e in events if isinstance(e, FoldFinished)]


def assert_same_path(one: PathResult, other: PathResult) -> None:
    assert one.unit == other.unit
    assert list(one.validation) == list(other.validation)
    for name, values in one.validation.items():
        assert values.tobytes() == other.validation[name].tobytes()
    assert one.criterion.tobytes() == other.criterion.tobytes()
    for a, b in zip(one.steps, other.steps, strict=True):
        assert (a.number, a.selected, a.coef.tobytes()) == (b.number, b.selected, b.coef.tobytes())


def fill(path: Path) -> tuple[RunResult, Study]:
    """A study with a finished run, still open."""
    result, folds = finished()
    study = Study.create(path, "Small things")
    key = study.begin(PLAN, dataset())
    for fold in folds:
        for unit in fold.paths:
            study.save_unit(key, unit, 0.25)
        study.save_fold(key, fold)
    study.finish(key, 3.5)
    return result, study


def test_a_run_comes_back_with_the_same_bits(path: Path) -> None:
    result, study = fill(path)
    study.close()
    with Study.open(path) as study:
        assert study.title == "Small things"
        (summary,) = study.runs()
        assert summary.key.plan == PLAN
        assert (summary.data_name, summary.n_finished, summary.n_units) == ("Small", 6, 6)
        assert summary.finished >= summary.created > "2000"
        assert summary.versions == versions()
        again = study.result(summary.key)
    # As texts, because NaN equals nothing, and the order of the measures is part of a file.
    assert json.dumps(results_as_dict(again)) == json.dumps(results_as_dict(result))
    assert features_table(again) == features_table(result)
    assert again.complete
    assert again.seconds == summary.seconds == 3.5
    for one, other in zip(result.folds, again.folds, strict=True):
        for a, b in zip(one.paths, other.paths, strict=True):
            assert_same_path(a, b)
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]


def test_the_latest_equal_run_is_gone_on_with(path: Path) -> None:
    _, folds = finished()
    with Study.create(path) as study:
        assert study.title == "a study"
        key = study.begin(PLAN, dataset())
        study.save_unit(key, folds[0].paths[1], 0.25)
        assert study.begin(PLAN, dataset()) == key
        # The place of the data is no part of what is computed.
        assert study.begin(PLAN.changed(data="elsewhere"), dataset()).id == key.id
        assert list(study.finished_units(key)) == [(1, 1)]
        assert study.seconds(key) == 0.25
        assert study.folds(key) == ()
        assert not study.result(key).complete
        assert study.begin(PLAN.changed(seed=1), dataset()).id != key.id
        assert study.begin(PLAN, dataset(3)).id != key.id
        study.finish(key, 1.0)
        study.finish(key, 2.0)
        assert study.seconds(key) == 1.0
        assert study.begin(PLAN, dataset()) == key
        again = study.begin(PLAN, dataset(), anew=True)
        assert again != key
        assert study.begin(PLAN, dataset()) == again
        assert [s.n_finished for s in study.runs()] == [1, 0, 0, 0]
        assert [s.n_units for s in study.runs()] == [6, 6, 9, 6]
        assert [bool(s.finished) for s in study.runs()] == [True, False, False, False]


@pytest.mark.parametrize(
    "plan",
    [
        Plan("small", parameters={"pinned": (2, 1), "costs": ((1, 2.5), (3, 0.1)), "budget": 4.0}),
        Plan("small", "gas", ranker="ranksvm", ranker_parameters={"C": (0.1, 1 / 3)}, folds=(2,)),
        Plan("small", "rankboost", select_by="criterion", measures=("P@3",), normalize="query_minmax"),
    ],
)
def test_a_plan_comes_back_as_it_was(path: Path, plan: Plan) -> None:
    with Study.create(path) as study:
        key = study.begin(plan, dataset())
        assert study.runs()[0].key == key
        assert study.begin(study.runs()[0].key.plan, dataset()) == key


def test_other_versions_begin_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Study.create(path) as study:
        first = study.begin(PLAN, dataset())
        monkeypatch.setattr(
            "rankstudio.engine.experiment.storage.study.versions", lambda: {"rankstudio": "9"}
        )
        assert study.begin(PLAN, dataset()).id != first.id


# Who may open it


OPEN = """
import os, sys
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
if len(sys.argv) > 2:
    os.setuid(int(sys.argv[2]))
try:
    StudyFile(sys.argv[1]).close()
except StoreError as error:
    sys.exit(str(error))
"""


def open_elsewhere(path: Path, *user: int) -> str:
    """What another process is told when it opens the study; "" where nothing speaks against it."""
    command = [sys.executable, "-c", OPEN, str(path), *map(str, user)]
    return subprocess.run(command, check=False, capture_output=True, text=True).stderr.strip()


def test_a_second_process_is_refused_at_once_and_told_who_is_first(path: Path) -> None:
    with Study.create(path) as study:
        refusal = f"{path}: the study is in use by process {os.getpid()}."
        assert open_elsewhere(path) == refusal
        with pytest.raises(StoreError) as caught:
            Study.open(path)  # nor does this process open it twice
        assert str(caught.value) == refusal
        assert study.begin(PLAN, dataset()).id == 1  # the first one is not disturbed
        assert open_elsewhere(path) == refusal
    assert open_elsewhere(path) == ""


def test_what_is_not_ours_to_lock_is_named_as_such(path: Path) -> None:
    Study.create(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="is in use by another program"):
            Study.open(path)


def test_closing_twice_does_not_remove_the_next_owners_name(path: Path) -> None:
    first = Study.create(path)
    first.close()
    with Study.open(path):
        first.close()
        with pytest.raises(StoreError, match=f"process {os.getpid()}"):
            Study.open(path)


def die_with(path: Path, statements: str) -> None:
    """Leave a database as a process does that is killed: the last commits are in the log beside it."""
    script = (
        "import os, signal, sqlite3, sys\n"
        "from rankstudio.engine.experiment.storage.sqlite_file import StudyFile\n"
        f"{statements}\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.with_name(path.name + "-wal").stat().st_size > 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_nothing_stale_remains_of_a_process_that_was_killed(path: Path) -> None:
    Study.create(path).close()
    owned = (
        "file = StudyFile(sys.argv[1])\n"
        "with file.transaction() as db: db.execute(\"UPDATE study SET title = 'committed'\")\n"
        "db.execute('BEGIN'); db.execute(\"UPDATE study SET title = 'in flight'\")"
    )
    die_with(path, owned)
    with Study.open(path) as study:
        assert study._file.rows("SELECT title FROM study") == [("committed",)]
        with pytest.raises(StoreError, match=f"process {os.getpid()}"):
            Study.open(path)
    assert list(path.parent.iterdir()) == [path]


def killed(path: Path, statements: str, number: signal.Signals = signal.SIGKILL) -> None:
    """Carry statements out in a process that does not survive them."""
    script = f"import os, resource, signal, sqlite3, sys\nfrom pathlib import Path\n{statements}"
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -number


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_kill_in_the_middle_of_making_it_leaves_no_half_study(path: Path) -> None:
    statements = (
        "from rankstudio.engine.experiment.storage.study import Study\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"  # which the first byte beyond so many sends
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "Study.create(Path(sys.argv[1]))"
    )
    killed(path, statements, signal.SIGXFSZ)
    Study.create(path, "Whole").close()
    with Study.open(path) as study:
        assert study.title == "Whole"


def test_a_study_has_its_title_from_its_first_moment_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("rankstudio.engine.experiment.storage.study.StudyFile", end)
        Study.create(path, "Called so")
    with Study.open(path) as study:
        assert (study.title, study.damage()) == ("Called so", ())


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("reading", [False, True])
def test_a_journal_that_was_left_is_rolled_back(
    path: Path, reading: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study.create(path, "Before").close()
    statements = (
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('PRAGMA journal_mode = DELETE'); db.execute('PRAGMA cache_size = 1')\n"
        "db.execute('BEGIN'); db.execute('UPDATE study SET title = hex(zeroblob(100000))')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed(path, statements)
    assert path.with_name(f"{path.name}-journal").stat().st_size > 0
    if reading:
        monkeypatch.setattr(study_file, "_writable", lambda _: False)
    with Study.open(path, reading=reading) as study:
        assert (study.title, study.damage()) == ("Before", ())


def test_threads_share_a_study(path: Path) -> None:
    _, folds = finished()
    with Study.create(path) as study:

        def work(seed: int) -> None:
            key = study.begin(PLAN.changed(seed=seed), dataset())
            for fold in folds:
                for unit in fold.paths:
                    study.save_unit(key, unit, 0.25)
                    assert unit.unit.position in [p for _, p in study.finished_units(key)]

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(8)))
        assert [s.n_finished for s in study.runs()] == [6] * 8


# What is refused, and stays as it is


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE theirs (value)")


def newer(path: Path) -> None:
    study_file.create(path, (*MIGRATIONS, "CREATE TABLE later (value)"))


def of_no_version(path: Path) -> None:
    study_file.create(path, ())


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
        (lambda path: path.write_text("method = 'gas'\n" * 100), "this is not a study written by RankStudio"),
        (lambda path: path.write_bytes(b""), "this is not a study written by RankStudio"),
        (foreign_database, "this is not a study written by RankStudio"),
        (of_no_version, "this is not a study written by RankStudio"),
        (newer, f"the study is of version {len(MIGRATIONS) + 1}, made by a newer RankStudio; expected"),
        (truncated, "the file is damaged or cut short; expected a complete study"),
        (overwritten, "the file is damaged or cut short; expected a complete study"),
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
    with pytest.raises(StoreError, match="there is a file of this name already"):
        Study.create(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) == before


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
        path.write_bytes(path.read_bytes()[:-5000])
    log = path.with_name(path.name + "-wal")
    before = path.read_bytes(), log.read_bytes()
    with pytest.raises(StoreError, match="this is not a study" if what == "foreign" else "is damaged or cut"):
        Study.open(path)
    assert (path.read_bytes(), log.read_bytes()) == before


def test_what_is_no_file_is_refused(path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such study"):
        Study.open(path)
    with pytest.raises(StoreError, match="found a folder, expected a study"):
        Study.open(path.parent)
    with pytest.raises(StoreError, match="could not be written: No such file or directory"):
        Study.create(path.parent / "none" / path.name)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
@pytest.mark.parametrize(
    "tables", ["CREATE TABLE t (x)", "CREATE TABLE run (id); CREATE TABLE study (title)"]
)
def test_a_foreign_database_with_our_number_is_refused_and_untouched(
    path: Path, version: int, tables: str
) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}; {tables}"
        )
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Study.open(path)
    assert str(caught.value) == f"{path}: this is not a study written by RankStudio."
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_study_that_does_something_by_itself_is_refused(path: Path) -> None:
    Study.create(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON unit BEGIN DELETE FROM run; END")
        db.commit()
    with pytest.raises(StoreError, match="this is not a study written by RankStudio"):
        Study.open(path)


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_too_long_is_refused_before_anything_is_written(path: Path, length: int) -> None:
    long = path.with_name("s" * length)
    for refused in (Study.create, Study.open):
        with pytest.raises(StoreError, match="expected a shorter name"):
            refused(long)
    with Study.create(path) as study:
        with pytest.raises(StoreError, match="expected a shorter name"):
            study.save_as(long)
        assert study.begin(PLAN, dataset()).id == 1
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
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
            refusal = f"{path}: there is no permission to write this file or its folder."
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
    with pytest.raises(StoreError, match="no permission to write"):
        Study.open(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with Study.open(path, reading=True) as study:
        (run,) = study.finished(study.runs())
        assert results_as_dict(run) == results_as_dict(result)
        with pytest.raises(StoreError, match="no permission to write"):
            study.begin(PLAN, dataset(), anew=True)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_what_cannot_be_written_and_is_no_study_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"text" * 2000)
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    with pytest.raises(StoreError) as caught:
        Study.open(path, reading=True)
    assert str(caught.value) == f"{path}: this is not a study written by RankStudio."


def test_a_full_disk_is_told_and_takes_nothing(path: Path) -> None:
    result, folds = finished()
    with Study.create(path) as study:
        key = study.begin(PLAN, dataset())
        db = study._file._db
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0] + 2}")
        stored = []
        with pytest.raises(StoreError) as caught:
            for unit in folds[0].paths + folds[1].paths:
                study.save_unit(key, unit, 0.25)
                stored.append((unit.unit.fold, unit.unit.position))
        assert str(caught.value) == f"{path}: the disk is full; what was stored before is safe."
        assert list(study.finished_units(key)) == stored
        assert stored
        db.execute("PRAGMA max_page_count = 1000000")  # somebody made room
        for fold in folds:
            for unit in fold.paths:
                if (unit.unit.fold, unit.unit.position) not in stored:
                    study.save_unit(key, unit, 0.25)
            study.save_fold(key, fold)
        assert results_as_dict(study.result(key)) == results_as_dict(result)


def test_a_full_disk_makes_no_study(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="could not be written: No space left on device"):
        Study.create(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there nobody can remove an open file")
@pytest.mark.parametrize("what", ["file", "folder", "replaced"])
def test_a_study_removed_while_it_is_open_is_told_at_the_next_unit(tmp_path: Path, what: str) -> None:
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
        with pytest.raises(StoreError, match="removed, moved or replaced while it was open"):
            study.save_unit(key, folds[0].paths[1], 0.25)
    assert what != "replaced" or path.read_bytes() == b"of somebody else"


# Versions


def test_an_older_study_is_brought_up_to_date_and_keeps_what_it_has(path: Path) -> None:
    result, study = fill(path)
    study.close()
    later = (*MIGRATIONS, "ALTER TABLE run ADD COLUMN note TEXT; CREATE TABLE later (value)")
    file = StudyFile(path, later)
    assert file.rows("PRAGMA user_version") == [(len(later),)]
    assert file.rows("SELECT note FROM run") == [(None,)]
    run_key = Study(file).runs()[0].key
    assert results_as_dict(Study(file).result(run_key)) == results_as_dict(result)
    file.close()
    with pytest.raises(StoreError, match="made by a newer RankStudio"):
        Study.open(path)


def test_a_migration_that_fails_leaves_the_study_as_it_was(path: Path) -> None:
    fill(path)[1].close()
    broken = (*MIGRATIONS, "CREATE TABLE later (value); CREATE TABLE run (again)")
    with pytest.raises(StoreError, match="already exists"):
        StudyFile(path, broken)
    with Study.open(path) as study:
        assert study._file.rows("SELECT name FROM sqlite_master WHERE name = 'later'") == []
        assert study.runs()[0].n_finished == 6


def test_the_file_says_what_it_is(path: Path) -> None:
    Study.create(path).close()
    assert path.read_bytes()[68:72] == APPLICATION_ID.to_bytes(4, "big") == b"RkSt"


# Data that change


def files(folder: Path, seed: int = 1) -> FoldedDataset:
    folder.mkdir(exist_ok=True)
    for name, drawn in (("train", 2), ("vali", 3), ("test", seed)):
        save_letor(part(drawn), folder / f"{name}.txt", comments=False)
    return open_dataset(folder)


def test_a_file_that_changed_is_named_with_what_was_recorded_and_what_was_found(path: Path) -> None:
    folder = path.parent / "data"
    with Study.create(path) as study:
        old = files(folder)
        key = study.begin(PLAN, old)
        new = files(folder, seed=7)
        was, now = (d.folds[0].test.source for d in (old, new) if d.folds[0].test)
        assert was is not None
        assert now is not None
        found = f"{now.size:,} bytes" if now.size != was.size else "as many, with other contents"
        with pytest.raises(StoreError) as caught:
            study.begin(PLAN, new)
        assert str(caught.value) == (
            f"{folder / 'test.txt'}: the file changed: recorded were {was.size:,} bytes, found were "
            f"{found}. The runs in {path} were computed from the old one: put it back, or begin another "
            "study."
        )
        assert study.begin(PLAN, files(folder)) == key
        assert study.begin(PLAN, files(path.parent / "copy")) == key


def test_data_in_memory_are_told_apart_by_their_numbers(path: Path) -> None:
    data = dataset(1)
    train = data.folds[0].train
    X = train.X.copy()
    X[0, 0] = np.nextafter(X[0, 0], 1)
    other = replace(data, folds=(Fold(1, replace(train, X=X), data.folds[0].vali, data.folds[0].test),))
    with Study.create(path) as study:
        key = study.begin(PLAN, data)
        assert study.begin(PLAN, dataset(1)) == key
        assert study.begin(PLAN, other) != key


def test_a_new_study_needs_no_journal_that_an_end_in_the_middle_would_leave(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, seen = study_file._own, set()

    def owned(db: sqlite3.Connection, place: Path) -> None:
        # What is on the disk at every step of SQLite while the study is taken.
        db.set_progress_handler(lambda: seen.update(p.name for p in place.parent.iterdir()), 1)
        db.set_trace_callback(lambda _: seen.update(p.name for p in place.parent.iterdir()))
        own(db, place)
        db.set_progress_handler(None, 0)

    monkeypatch.setattr(study_file, "_own", owned)
    Study.create(path).close()
    assert path.name in seen
    assert not any(name.endswith("-journal") for name in seen)
    assert path.read_bytes()[18:20] == b"\2\2"
