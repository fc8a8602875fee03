"""A study: what comes back, who may open it, its versions, and data that change."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, part
from experiment.stored import PLAN, die_with, fill, finished, killed, open_elsewhere
from wording import naming

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.feature_names import with_feature_set
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import features_table, results_as_dict
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.storage import sqlite_file as study_file
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.engine.experiment.versions import versions

OF_THE_PROGRAM = study_file._SYNCHRONOUS
"""As it is outside of the tests, which wait for no disk."""


def assert_same_path(one: PathResult, other: PathResult) -> None:
    assert one.unit == other.unit
    assert list(one.validation) == list(other.validation)
    for name, values in one.validation.items():
        assert values.tobytes() == other.validation[name].tobytes()
    assert one.criterion.tobytes() == other.criterion.tobytes()
    for a, b in zip(one.steps, other.steps, strict=True):
        assert (a.number, a.selected, a.coef.tobytes()) == (
            b.number,
            b.selected,
            b.coef.tobytes(),
        )


def test_a_run_comes_back_with_the_same_bits(path: Path) -> None:
    result, study = fill(path)
    study.close()
    with Study.open(path) as study:
        assert study.title == "Small things"
        (summary,) = study.runs()
        assert summary.key.plan == PLAN
        assert (summary.data_name, summary.n_finished, summary.n_units) == (
            "Small",
            6,
            6,
        )
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
        Plan(
            "small",
            parameters={"pinned": (2, 1), "costs": ((1, 2.5), (3, 0.1)), "budget": 4.0},
        ),
        Plan(
            "small",
            "gas",
            ranker="ranksvm",
            ranker_parameters={"C": (0.1, 1 / 3)},
            folds=(2,),
        ),
        Plan(
            "small",
            "rankboost",
            select_by="criterion",
            measures=("P@3",),
            normalize="query_minmax",
        ),
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
            "rankstudio.engine.experiment.storage.study.versions",
            lambda *_: {"rankstudio": "9"},
        )
        assert study.begin(PLAN, dataset()).id != first.id


def test_the_disk_has_what_is_stored_before_anything_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_file, "_SYNCHRONOUS", OF_THE_PROGRAM)
    with Study.create(path):
        pass
    with Study.open(path) as study:
        assert study._file.rows("PRAGMA synchronous") == [(2,)]  # FULL


def test_evidence_of_a_closed_study_is_none(path: Path) -> None:
    """A page asks for it on another thread, which comes to it when the study was exchanged."""
    with Study.create(path) as study:
        key = study.begin(PLAN, dataset())
        study.save_evidence(key, 1, "place", b"evidence")
        assert study.evidence(key, 1, "place") == b"evidence"
        assert study.evidence_of_run(key) == [(1, b"evidence")]
    assert study.evidence(key, 1, "place") is None
    assert study.evidence_of_run(key) == []


def test_a_long_label_is_read_in_part(path: Path) -> None:
    """A name of 100,000 characters made a figure of 3.6 GB."""
    with Study.create(path) as study:
        key = study.begin(PLAN, dataset())
        study.set_label(key, RunLabel("n" * 100_000, "note", ("t" * 1000,) * 1000))
        label = study.label(key)
        assert (label.name, label.note) == ("n" * 200, "note")
        assert label.tags == ("t" * 200,) * 100


# Who may open it


def test_a_second_process_is_refused_at_once_and_told_who_is_first(path: Path) -> None:
    with Study.create(path) as study:
        refusal = f"{path}: the study is in use by process {os.getpid()}. Close it there first."
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
        with pytest.raises(StoreError, match=naming("program")):
            Study.open(path)


def test_closing_twice_does_not_remove_the_next_owners_name(path: Path) -> None:
    first = Study.create(path)
    first.close()
    with Study.open(path):
        first.close()
        with pytest.raises(StoreError, match=f"process {os.getpid()}"):
            Study.open(path)


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


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_kill_in_the_middle_of_making_it_leaves_no_half_study(path: Path) -> None:
    statements = (
        "import resource\nfrom rankstudio.engine.experiment.storage.study import Study\n"
        # which the first byte beyond so many sends
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "Study.create(Path(sys.argv[1]))"
    )
    killed(path, statements, signal.SIGXFSZ)
    Study.create(path, "Whole").close()
    with Study.open(path) as study:
        assert study.title == "Whole"


def test_a_study_has_its_title_from_its_first_moment_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        "db.execute('BEGIN'); db.execute('UPDATE study SET title = hex(zeroblob(100000))')"
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
                    assert unit.unit.position in [
                        p for _, p in study.finished_units(key)
                    ]

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert [s.n_finished for s in study.runs()] == [6] * 4


# Data that change


def files(folder: Path, seed: int = 1) -> FoldedDataset:
    folder.mkdir(exist_ok=True)
    for name, drawn in (("train", 2), ("vali", 3), ("test", seed)):
        save_letor(part(drawn), folder / f"{name}.txt", comments=False)
    return open_dataset(folder)


def test_a_file_that_changed_is_named_with_what_was_recorded_and_what_was_found(
    path: Path,
) -> None:
    folder = path.parent / "data"
    with Study.create(path) as study:
        old = files(folder)
        key = study.begin(PLAN, old)
        new = files(folder, seed=7)
        was, now = (d.folds[0].test.source for d in (old, new) if d.folds[0].test)
        assert was is not None
        assert now is not None
        found = f"{now.size:,} bytes" if now.size != was.size else "the same size"
        with pytest.raises(StoreError) as caught:
            study.begin(PLAN, new)
        assert str(caught.value).startswith(
            f"{folder / 'test.txt'}: the file changed: expected {was.size:,} bytes, found {found}"
        )
        assert str(path) in str(caught.value)
        assert study.begin(PLAN, files(folder)) == key
        assert study.begin(PLAN, files(path.parent / "copy")) == key


def test_data_in_memory_are_told_apart_by_their_numbers(path: Path) -> None:
    data = dataset(1)
    train = data.folds[0].train
    X = train.X.copy()
    X[0, 0] = np.nextafter(X[0, 0], 1)
    other = replace(
        data,
        folds=(Fold(1, replace(train, X=X), data.folds[0].vali, data.folds[0].test),),
    )
    with Study.create(path) as study:
        key = study.begin(PLAN, data)
        assert study.begin(PLAN, dataset(1)) == key
        assert study.begin(PLAN, other) != key


def test_a_new_study_needs_no_journal_that_an_end_in_the_middle_would_leave(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, seen = study_file._take_ownership, set()

    def owned(db: sqlite3.Connection, place: Path) -> None:
        # What is on the disk at every step of SQLite while the study is taken.
        db.set_progress_handler(
            lambda: seen.update(p.name for p in place.parent.iterdir()), 1
        )
        db.set_trace_callback(
            lambda _: seen.update(p.name for p in place.parent.iterdir())
        )
        own(db, place)
        db.set_progress_handler(None, 0)

    monkeypatch.setattr(study_file, "_take_ownership", owned)
    Study.create(path).close()
    assert path.name in seen
    assert not any(name.endswith("-journal") for name in seen)
    assert path.read_bytes()[18:20] == b"\2\2"


def test_the_feature_set_of_the_data_comes_back_and_a_damaged_one_is_none(
    path: Path,
) -> None:
    made = dataset()
    names = {f"bm25(f{i})": f"bm25(f{i})" for i in range(1, made.n_features + 1)}
    known = with_feature_set(made, FeatureSet("vespa", "", names, "set.profile"))
    with Study.create(path) as study:
        study.begin(PLAN, made)
        assert study.data(study.runs()[0].key).feature_set is None
        run = study.begin(PLAN, known)
        found = study.data(run).feature_set
        matched = known.extension(FeatureSet)
        assert found is not None and matched is not None
        assert (found.engine, found.definitions, found.ids) == (
            "vespa",
            names,
            matched.ids,
        )
        assert study.data(run).without_documents().extension(FeatureSet) == found
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE feature_set SET payload = replace(payload, 'bm25', 'bm52')")
    with Study.open(path) as study:
        assert study.data(study.runs()[0].key).feature_set is None


def test_the_choice_of_a_model_comes_back_and_a_damaged_one_is_none(path: Path) -> None:
    with Study.create(path) as study:
        run = study.begin(PLAN, dataset())
        assert study.choice(run) == (None, None)
        for choice in ((None, 3), ((0.1, (3, 7), "forward"), None), ((1 / 3,), 12)):
            study.set_choice(run, *choice)
            assert study.choice(run) == choice
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE choice SET payload = replace(payload, '12', '13')")
    with Study.open(path) as study:
        assert study.choice(run) == (None, None)
