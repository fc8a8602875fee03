"""What a study tells without its data: runs, labels, the seal, the report; going on in another file."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset
from experiment.stored import PLAN, fill, finished
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.splitting.splits import k_fold
from rankstudio.engine.errors import ChangedDataError, StoreError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.results.events import RunFinished, StepDone
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage import study as store
from rankstudio.engine.experiment.storage import study_rows
from rankstudio.engine.experiment.storage.study import RunKey, Study
from rankstudio.engine.experiment.storage.study_contents import (
    ReportSettings,
    RunLabel,
    SealMark,
    is_sealed,
    n_looks,
    seal_text,
)
from rankstudio.engine.experiment.storage.study_rows import row_of, select, write


def test_the_data_of_a_run_are_known_without_them(path: Path) -> None:
    result, study = fill(path)
    with study:
        (summary,) = study.runs()
        recorded = study.data(summary.key)
        assert (
            study.result(summary.key, study.finished_units(summary.key)).folds[0].fold
            == 1
        )
    assert (recorded.name, recorded.place, recorded.folds) == ("Small", "", (1, 2))
    assert recorded.feature_ids == tuple(result.feature_ids.tolist())
    assert recorded.difference(dataset()) == ""
    assert (
        recorded.difference(dataset(3))
        == "Small: these are other data than those of the run."
    )
    assert recorded.path_to_open(PLAN) == PLAN.data
    there = recorded.without_documents(tested=False)
    assert [fold.number for fold in there.folds] == [1, 2]
    assert list(there.folds[0].parts) == ["train", "vali"]
    assert there.feature_names == dataset().feature_names
    assert there.folds[0].train.n_documents == 0


def test_data_of_a_folder_are_opened_from_where_they_were(
    path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "Made" / "Fold1"
    folder.mkdir(parents=True)
    for name, part in dataset().folds[0].parts.items():
        save_letor(part, folder / f"{name}.txt", comments=False)
    data = open_dataset(tmp_path / "Made")
    with Study.create(path) as study:
        recorded = study.data(study.begin(PLAN.changed(data="Made"), data))
    assert recorded.path_to_open(PLAN.changed(data="Made")) == str(tmp_path / "Made")
    assert recorded.path_to_open(PLAN.changed(data=SAMPLE)) == SAMPLE
    file = folder / "test.txt"
    file.write_text(file.read_text().replace("qid:1 ", "qid:99 "))
    assert recorded.difference(open_dataset(tmp_path / "Made")).startswith(
        f"{file}: the file changed"
    )


def test_a_named_run_is_gone_on_with_where_a_later_one_is_equal(path: Path) -> None:
    with Study.create(path) as study:
        first = study.begin(PLAN, dataset())
        study.save_unit(first, finished()[1][0].paths[0], 0.25)
        *_, last = run_stored(PLAN, dataset(), study, anew=True)
        assert isinstance(last, RunFinished)
        events = list(run_stored(PLAN, dataset(), study, key=first))
        assert (1, 0) not in {
            (e.unit.fold, e.unit.position) for e in events if isinstance(e, StepDone)
        }
        assert (
            results_as_dict(events[-1].result)["folds"]
            == results_as_dict(last.result)["folds"]
        )
        assert [bool(s.finished) for s in study.runs()] == [True, True]
        with pytest.raises(ChangedDataError, match=naming("data")):
            next(run_stored(PLAN, dataset(3), study, key=first))


def test_a_run_of_other_versions_is_not_gone_on_with(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Study.create(path) as study:
        monkeypatch.setattr(store, "versions", lambda *_: {"rankstudio": "0.0.1"})
        key = study.begin(PLAN, dataset())
        monkeypatch.undo()
        with pytest.raises(StoreError, match=naming("1 0.0.1")):
            study.check(key, dataset())


def test_a_removed_run_is_not_listed_and_comes_back_with_all_it_had(path: Path) -> None:
    result, study = fill(path)
    with study:
        (first,) = study.runs()
        study.remove(first.key)
        study.remove(first.key)  # as where it is asked for twice
        assert study.runs() == []
        # rather than go on with the removed one
        assert study.begin(PLAN, dataset()).id == 2
    with Study.open(path) as study:
        assert [s.key.id for s in study.runs()] == [2]
        assert study.last_id == 2
        study.restore(first.key)
        assert study.runs()[0] == first
        assert results_as_dict(study.result(first.key)) == results_as_dict(result)


def test_a_study_knows_how_often_the_test_part_of_each_dataset_was_looked_at(
    path: Path,
) -> None:
    data, other = dataset(), dataset(3)
    marks = [SealMark.now(sealed=True)]
    marks += [SealMark.now(sealed=sealed, data=data) for sealed in (False, True, False)]
    texts = []
    with Study.create(path) as study:
        assert (study.seal_marks, seal_text(study.seal_marks, data)) == ((), "")
        for mark in marks:
            study.note_seal(mark)
            texts.append(seal_text(study.seal_marks, data))
            assert seal_text(study.seal_marks, other) == "test part sealed"
        study.save_as(path.with_name("copy.rankstudio"))
    assert texts == [
        "test part sealed",
        "test part shown once",
        "test part sealed, shown once before",
        "test part shown twice",
    ]
    with Study.open(path.with_name("copy.rankstudio")) as study:
        assert list(study.seal_marks) == marks
        assert not is_sealed(study.seal_marks, data)
        assert is_sealed(study.seal_marks, other)
        assert study.damage() == ()


def test_the_same_files_have_one_seal_whatever_the_protocol_and_the_place(
    path: Path, tmp_path: Path
) -> None:
    files = [tmp_path / folder / "Made.txt" for folder in ("here", "there", "third")]
    for number, file in enumerate(files):
        file.parent.mkdir()
        save_letor(dataset().folds[number // 2].train, file, comments=False)
    given, elsewhere, third = map(open_dataset, files)
    divided = k_fold(elsewhere, 3)
    with Study.create(path) as study:
        keys = [study.begin(PLAN, data) for data in (given, divided, third)]
        study.note_seal(SealMark.now(sealed=True))
        study.note_seal(SealMark.now(sealed=False, data=divided))
        marks, recorded = study.seal_marks, [study.data(key) for key in keys]
    opened = [given, elsewhere, divided, *recorded[:2], recorded[1].without_documents()]
    assert [n_looks(marks, data) for data in opened] == [1] * len(opened)
    assert not any(is_sealed(marks, data) for data in opened)
    assert is_sealed(marks, third) and is_sealed(marks, recorded[2])


def old_study(path: Path, *, shown: bool) -> list[RunKey]:
    """Write a study as one with a single seal for all its datasets was written: two runs, two datasets."""
    with Study.create(path) as study:
        keys = [study.begin(PLAN, dataset(n_folds)) for n_folds in (2, 3)]
    with closing(sqlite3.connect(path)) as db, db:
        db.text_factory = study_rows.as_text
        for values in [
            row_of("dataset", row).values for row in db.execute(select("dataset", ""))
        ]:
            write(db, "dataset", **{**values, "first_file": None})
        for table, column in study_rows.added_columns():
            db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for number, sealed in enumerate((True, not shown), start=1):
            write(
                db,
                "seal",
                id=number,
                sealed=int(sealed),
                happened="2026-11-22T02:30:00+00:00",
            )
    return keys


@pytest.mark.parametrize("reading", [False, True])
def test_the_seal_of_an_old_study_is_that_of_each_dataset_in_it(
    path: Path, reading: bool
) -> None:
    keys = old_study(path, shown=True)
    content = path.read_bytes()
    path.chmod(0o400 if reading else 0o600)
    with Study.open(path, reading=reading) as study:
        marks, recorded = study.seal_marks, [study.data(key) for key in keys]
        assert study.damage() == ()
    assert path.read_bytes() == content  # until something is stored
    for data in (dataset(), dataset(3), *recorded, recorded[0].without_documents()):
        assert seal_text(marks, data) == "test part shown once"
    assert seal_text(marks, dataset(5)) == "test part sealed"


def test_an_old_study_goes_on_with_a_seal_for_each_dataset(path: Path) -> None:
    old_study(path, shown=True)
    with Study.open(path) as study:
        # nothing changes for data that it had
        study.begin(PLAN.changed(seed=1), dataset())
        assert study.data(study.begin(PLAN, dataset(5))).first_file is not None
        study.note_seal(SealMark.now(sealed=True, data=dataset(3)))
        texts = [seal_text(study.seal_marks, dataset(n_folds)) for n_folds in (2, 3, 5)]
        assert texts == [
            "test part shown once",
            "test part sealed, shown once before",
            "test part sealed",
        ]
    with Study.open(path) as study:
        assert [
            seal_text(study.seal_marks, dataset(n_folds)) for n_folds in (2, 3, 5)
        ] == texts
        assert study.damage() == ()


def test_a_damaged_mark_unseals_nothing_else(path: Path) -> None:
    with Study.create(path) as study:
        study.note_seal(SealMark.now(sealed=True))
        study.note_seal(SealMark.now(sealed=False, data=dataset()))
        study.note_seal(SealMark.now(sealed=True, data=dataset()))
    for change in (
        "datasets = NULL",
        "datasets = '[1]'",
        "datasets = x'ff'",
        "sealed = 0, datasets = NULL",
    ):
        for number in (2, 3):
            with closing(sqlite3.connect(path)) as db, db:
                before = db.execute("SELECT * FROM seal").fetchall()
                db.execute(f"UPDATE seal SET {change} WHERE id = {number}")
            with Study.open(path) as study:
                assert study.damage()
                assert is_sealed(study.seal_marks, dataset(3)), (change, number)
                assert is_sealed(study.seal_marks, dataset()), (change, number)
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM seal")
                db.executemany(
                    f"INSERT INTO seal VALUES ({', '.join('?' * len(before[0]))})",
                    before,
                )


def test_files_of_removed_runs_alone_may_change(path: Path, tmp_path: Path) -> None:
    save_letor(dataset().folds[0].train, tmp_path / "train.txt", comments=False)
    with Study.create(path) as study:
        key = study.begin(PLAN, open_dataset(tmp_path / "train.txt"))
        save_letor(dataset().folds[1].train, tmp_path / "train.txt", comments=False)
        changed = open_dataset(tmp_path / "train.txt")
        with pytest.raises(ChangedDataError, match="the file changed"):
            study.begin(PLAN, changed)
        study.remove(key)
        study.begin(PLAN, changed)


def test_a_changed_file_is_refused_where_a_protocol_divides_it(
    path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "train.txt"
    save_letor(dataset().folds[0].train, file, comments=False)

    def divided(protocol: str) -> FoldedDataset:
        return parse_protocol(protocol).divide(open_dataset(file), 0)

    plan = PLAN.changed(data=str(file), protocol="3-fold")
    with Study.create(path) as study:
        key = study.begin(plan, divided("3-fold"))
        assert study.begin(plan, divided("3-fold")).id == key.id
        # Another protocol, or other queries for training, are no change.
        study.begin(plan.changed(protocol="2-fold"), divided("2-fold"))
        study.begin(plan.changed(protocol="given"), open_dataset(file))
        save_letor(dataset().folds[1].train, file, comments=False)
        for protocol in ("3-fold", "2-fold"):
            with pytest.raises(ChangedDataError, match="the file changed"):
                study.begin(plan.changed(protocol=protocol), divided(protocol))


def test_a_table_is_not_changed_by_other_columns_or_another_judge(
    path: Path, tmp_path: Path
) -> None:
    frame = dataset().folds[0].train.to_frame()
    frame["model"] = frame["label"].iloc[::-1].to_numpy()
    frame.to_csv(tmp_path / "people.csv", index=False)
    told = [
        {"ignore": ["model"]},
        {"ignore": ["model", "feature 2"]},
        *(
            {"labels": ["label", "model"], "label": judge}
            for judge in ("label", "model")
        ),
    ]
    with Study.create(path) as study:
        for columns in told:
            plan = PLAN.changed(data=str(tmp_path / "people.csv"), columns=columns)
            study.begin(plan, open_dataset(tmp_path / "people.csv", columns=columns))
        frame.iloc[::-1].to_csv(tmp_path / "people.csv", index=False)
        with pytest.raises(ChangedDataError, match="the file changed"):
            study.begin(plan, open_dataset(tmp_path / "people.csv", columns=columns))


def test_a_study_goes_on_in_another_file(path: Path, tmp_path: Path) -> None:
    _, study = fill(path)
    other = tmp_path / "kept" / "other.rankstudio"
    other.parent.mkdir()
    study.save_as(other)
    assert study.path == other
    study.begin(PLAN, dataset(3))
    theirs = tmp_path / "theirs.rankstudio"
    with Study.create(theirs), pytest.raises(StoreError, match=naming("process")):
        study.save_as(theirs)
    assert study.path == other
    study.close()
    with Study.open(path) as old, Study.open(other) as new:
        assert len(old.runs()) == 1
        assert len(new.runs()) == 2
        before, after = old.result(old.runs()[0].key), new.result(new.runs()[0].key)
        assert results_as_dict(before) == results_as_dict(after)
    assert [p.name for p in other.parent.iterdir()] == [other.name]


def test_it_takes_the_place_of_a_study_and_of_nothing_else(
    path: Path, tmp_path: Path
) -> None:
    _, study = fill(path)
    there, foreign = tmp_path / "there.rankstudio", tmp_path / "notes.txt"
    Study.create(there, "The old one").close()
    foreign.write_text("not a RankStudio study, but it could be anybody's thesis")
    before = foreign.read_bytes()
    with study:
        with pytest.raises(StoreError, match="not a RankStudio study"):
            study.save_as(foreign)
        with pytest.raises(StoreError, match=r"nowhere/a\.rankstudio: "):
            study.save_as(tmp_path / "nowhere" / "a.rankstudio")
        assert study.path == path
        assert foreign.read_bytes() == before
        study.save_as(there)
        assert study.title == "Small things"
        study.save_as(there)  # to itself: nothing to do
    assert not list(tmp_path.glob("*.part"))


def test_a_run_goes_on_while_its_study_moves(path: Path, tmp_path: Path) -> None:
    """The thread of a run writes on, and every unit is in the new file."""
    study, moved = Study.create(path), threading.Event()

    def work() -> None:
        for event in run_stored(PLAN, dataset(), study):
            if isinstance(event, StepDone) and event.unit.fold == 2:
                moved.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    study.save_as(tmp_path / "other.rankstudio")
    moved.set()
    thread.join()
    (summary,) = study.runs()
    result = study.result(summary.key)
    study.close()
    assert (
        results_as_dict(result)["folds"]
        == results_as_dict(run_plan(PLAN, dataset()))["folds"]
    )
    assert np.isfinite(summary.seconds)


LABEL = RunLabel(
    "for the paper", "λ is at its end, look again", ("paper", "ü, with a comma"), True
)


def test_what_is_said_of_a_run_is_there_when_the_study_is_opened_again(
    path: Path,
) -> None:
    with Study.create(path) as study:
        first = study.begin(Plan("small"), dataset())
        second = study.begin(Plan("small", "gas"), dataset())
        assert study.label(first) == RunLabel()
        study.set_label(first, RunLabel("first of all"))
        study.set_label(first, LABEL)
    with Study.open(path) as study:
        assert (study.label(first), study.label(second)) == (LABEL, RunLabel())
        assert study.damage() == ()


WRITTEN = ReportSettings(
    "Which features?", "λ at its end.\n\nAgain.", (("results", True), ("data", False))
)


def test_what_is_written_for_the_report_is_there_when_the_study_is_opened_again(
    path: Path,
) -> None:
    with Study.create(path) as study:
        assert study.report_settings == ReportSettings()
        study.set_report_settings(ReportSettings("first"))
        study.set_report_settings(WRITTEN)
    with Study.open(path) as study:
        assert study.report_settings == WRITTEN
        assert study.damage() == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        *(
            (
                f"label SET {change}",
                "the name and notes of a run are damaged and left out.",
            )
            for change in ("name = 'forged'", "tags = 'no json'", "hidden = 0")
        ),
        *(
            (
                f"report SET {change}",
                "the texts for the report are damaged and left out.",
            )
            for change in ("question = 'forged'", "sections = 'no json'")
        ),
    ],
)
def test_what_is_damaged_is_left_out_and_told_and_the_run_is_sound(
    path: Path, change: str, told: str
) -> None:
    with Study.create(path) as study:
        run = study.begin(PLAN, dataset())
        study.set_label(run, LABEL)
        study.set_report_settings(WRITTEN)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"UPDATE {change}")
    with Study.open(path) as study:
        of_label = change.startswith("label")
        assert study.label(run) == (RunLabel() if of_label else LABEL)
        assert study.report_settings == (WRITTEN if of_label else ReportSettings())
        assert study.damage() == (f"{study.path}: {told}",)
        assert [summary.damage for summary in study.runs()] == [""]
