"""Edited cells and cut contents of a study: never other numbers, never a raw error.

``tests/fuzz`` flips bits anywhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from experiment.small import assert_same, dataset, ended
from wording import naming

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import StepDone
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage import study_rows
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import (
    ReportSettings,
    RunLabel,
    SealMark,
)
from rankstudio.engine.experiment.storage.study_rows import COLUMNS, write

PLAN = Plan("small", parameters={"regularization": (0.5, 1.0)}, rule="one-se")
OTHER = PLAN.changed(convention="letor4", parameters={"regularization": (4.0,)})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two finished runs on two datasets."""
    path = tmp_path_factory.mktemp("sound") / "study.rankstudio"
    with Study.create(path, "Two runs") as study:
        list(run_stored(PLAN, dataset(), study))
        list(run_stored(OTHER, dataset(3), study))
    return path


@pytest.fixture(scope="module")
def expected() -> tuple[RunResult, RunResult]:
    return run_plan(PLAN, dataset()), run_plan(OTHER, dataset(3))


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    path = tmp_path / "a study.rankstudio"
    path.write_bytes(sound.read_bytes())
    return path


def damage(path: Path, statement: str) -> None:
    """Change the file as anybody could who has an editor for SQLite."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute(statement).rowcount > 0
        db.commit()


def computed(
    path: Path, plan: Plan = PLAN, folds: int = 2
) -> tuple[RunResult, list[tuple[int, int]]]:
    """What a plan comes to in a study, and which units had to be computed."""
    with Study.open(path) as study:
        events = list(run_stored(plan, dataset(folds), study))
    units = dict.fromkeys(
        (e.unit.fold, e.unit.position) for e in events if isinstance(e, StepDone)
    )
    return ended(iter(events)), list(units)


@pytest.mark.parametrize(
    ("statement", "named", "again"),
    [
        (
            """UPDATE fold SET payload = replace(payload, '"MAP": 0.', '"MAP": 0.9') WHERE run = 1""",
            "1 2 fold",
            [],
        ),
        (
            "UPDATE fold SET payload = substr(payload, 1, 99) WHERE run = 1",
            "2 fold",
            [],
        ),
        ("UPDATE fold SET fold = 7 WHERE run = 1 AND fold = 2", "7 fold", []),
        ("DELETE FROM fold WHERE run = 1 AND fold = 2", "1 parts", []),
        (
            "UPDATE unit SET payload = substr(payload, 1, 300) WHERE run = 1 AND fold = 2 AND position = 1",
            "2 fold",
            [(2, 1)],
        ),
        (
            "UPDATE unit SET payload = 5 WHERE run = 1 AND fold = 1",
            "1 fold",
            [(1, 0), (1, 1)],
        ),
        (
            "UPDATE unit SET seconds = 5 WHERE run = 1 AND position = 0",
            "2 1 fold",
            [(1, 0), (2, 0)],
        ),
        (
            "UPDATE unit SET setting = '[9.0]' WHERE run = 1 AND fold = 2",
            "2 fold",
            [(2, 0), (2, 1)],
        ),
        (
            "UPDATE unit SET position = 'x' WHERE run = 1 AND fold = 2 AND position = 1",
            "combination",
            [(2, 1)],
        ),
        (
            "DELETE FROM unit WHERE run = 1 AND fold = 2 AND position = 1",
            "1 parts",
            [(2, 1)],
        ),
    ],
)
def test_what_is_damaged_of_a_run_is_named_and_computed_again(
    path: Path,
    expected: tuple[RunResult, RunResult],
    statement: str,
    named: str,
    again: list[tuple[int, int]],
) -> None:
    damage(path, statement)
    with Study.open(path) as study:
        first, second = study.runs()
        assert first.damage.startswith(f"{path}: run 1 is damaged (")
        assert naming(named).search(first.damage)
        assert (second.damage, study.damage()) == ("", ())
        with pytest.raises(StoreError, match=r"run 1 is damaged \("):
            study.result(first.key)
        assert_same(study.result(second.key), expected[1])
    result, units = computed(path)
    assert_same(result, expected[0])
    assert units == again
    with Study.open(path) as study:
        assert [(s.damage, bool(s.finished)) for s in study.runs()] == [("", True)] * 2
        assert_same(study.result(study.runs()[0].key), expected[0])


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE run SET plan = replace(plan, '0.5', '0.25') WHERE id = 1", "1 run"),
        ("UPDATE run SET plan = substr(plan, 1, 50) WHERE id = 1", "1 run"),
        ("UPDATE run SET versions = '{}' WHERE id = 1", "1 run"),
        ("UPDATE run SET same = x'ff' WHERE id = 1", "1 run"),
        ("UPDATE run SET finished = NULL WHERE id = 1", "1 run"),
        ("UPDATE run SET seconds = 1e9 WHERE id = 1", "1 run"),
        ("UPDATE run SET dataset = 2 WHERE id = 1", "1 run"),
        (
            "UPDATE dataset SET feature_ids = '[3, 2, 1, 4, 5, 6]' WHERE id = 1",
            "1 data run",
        ),
        (
            "UPDATE dataset SET feature_names = substr(feature_names, 9) WHERE id = 1",
            "1 data run",
        ),
        ("UPDATE dataset SET checksum = 'sha256:0' WHERE id = 1", "1 data run"),
        (
            "UPDATE dataset SET folds = CAST(x'5b31ff' AS TEXT) WHERE id = 1",
            "1 data run",
        ),
        ("DELETE FROM dataset WHERE id = 1", "1 data run"),
    ],
)
def test_a_run_whose_plan_or_data_are_damaged_is_named_and_the_others_are_listed(
    path: Path, expected: tuple[RunResult, RunResult], statement: str, sentence: str
) -> None:
    damage(path, statement)
    with Study.open(path) as study:
        (other,) = study.runs()
        assert other.key.plan == OTHER
        assert_same(study.result(other.key), expected[1])
        (told,) = study.damage()
        assert told.startswith(f"{path}: ")
        assert naming(sentence).search(told)
    assert_same(computed(path)[0], expected[0])
    assert computed(path, OTHER, 3)[1] == []


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("DELETE FROM run WHERE id = 1", "run 1"),
        ("DELETE FROM run", "run 2"),
        ("UPDATE run SET id = 9223372036854775807 WHERE id = 1", "run 1"),
    ],
)
def test_a_run_that_is_not_there_any_more_is_told(
    path: Path, expected: tuple[RunResult, RunResult], statement: str, lost: str
) -> None:
    damage(path, statement)
    assert any(naming(f"{lost}").search(sentence) for sentence in told(path))
    assert_same(computed(path)[0], expected[0])


def test_a_new_run_does_not_bear_the_number_of_a_lost_one(path: Path) -> None:
    with Study.open(path) as study:
        study.remove(study.runs()[1].key)
    damage(path, "DELETE FROM run WHERE id = 2")
    computed(path, OTHER, 3)
    with Study.open(path) as study:
        assert [run.key.id for run in study.runs()] == [1, 3]


def test_results_of_another_study_are_damage_in_this_one(
    path: Path, expected: tuple[RunResult, RunResult]
) -> None:
    other = path.with_name("other.rankstudio")
    with Study.create(other) as study:
        list(run_stored(PLAN.changed(convention="mslr"), dataset(), study))
    with closing(sqlite3.connect(path)) as db:
        db.execute("ATTACH ? AS other", (str(other),))
        for table in ("unit", "fold"):
            assert (
                db.execute(
                    f"REPLACE INTO {table} SELECT * FROM other.{table} WHERE fold = 2"
                ).rowcount
                > 0
            )
        db.commit()
    with Study.open(path) as study:
        assert "fold 2 with combination 1" in study.runs()[0].damage
        assert naming("2 fold").search(study.runs()[0].damage)
    assert_same(computed(path)[0], expected[0])


def test_a_row_without_a_key_is_none_of_a_study(path: Path) -> None:
    columns = "run, fold, payload, digest"
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE fold RENAME TO other")
        db.execute(f"CREATE TABLE fold ({columns})")
        db.execute(f"INSERT INTO fold SELECT {columns} FROM other")
        db.execute("DROP TABLE other")
        db.commit()
    with pytest.raises(StoreError, match=naming("RankStudio")):
        Study.open(path)


def test_an_index_that_does_not_fit_its_table_is_damage(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute(
            "SELECT rootpage FROM sqlite_master WHERE name LIKE '%index_unit_1'"
        ).fetchone()
    content = bytearray(path.read_bytes())
    begin = 4096 * (page - 1)
    # of the first row
    entry = begin + int.from_bytes(content[begin + 8 : begin + 10], "big")
    content[entry + 6] ^= 4  # another fold
    path.write_bytes(content)
    with pytest.raises(StoreError, match=naming("damaged")):
        Study.open(path)


def test_what_is_impossible_is_damaged_whatever_its_digest(
    path: Path, expected: tuple[RunResult, RunResult]
) -> None:
    with Study.open(path) as study:
        first = study.runs()[0]
        fold, later = study._file.records("fold", "WHERE run = 1")
        unit = study._file.records("unit", "WHERE run = 2")[0]
        with study._file.transaction() as db:
            write(db, "fold", **{**fold.values, "payload": '{"chosen": []}'})
            write(
                db,
                "fold",
                **{
                    **later.values,
                    "payload": later["payload"].replace("true", '"yes"', 1),
                },
            )
            write(db, "unit", **{**unit.values, "position": 7})
        with pytest.raises(StoreError, match=naming("1 run")):
            study.result(first.key)
        assert "combination 8" in study.runs()[1].damage
    assert_same(computed(path)[0], expected[0])
    assert_same(computed(path, OTHER, 3)[0], expected[1])
    with Study.open(path) as study:
        assert [run.damage for run in study.runs()] == ["", ""]


_SALTS = 17, 21
"""Bytes of the two numbers that say to which round of the log a commit belongs."""


@pytest.mark.parametrize("at", [24, 60, 3000, *_SALTS])
def test_a_damaged_log_is_told_and_the_file_without_it_opens(
    path: Path, at: int
) -> None:
    kept = path.with_name("kept.rankstudio")
    with Study.open(path) as study:
        for run in study.runs():
            study.remove(run.key)
        for end in ("", "-wal"):
            Path(f"{kept}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    log = Path(f"{kept}-wal")
    whole = log.read_bytes()
    content = bytearray(whole)
    content[at] ^= 1
    # the header's two sums are to fit, as they do by chance where the fuzz tries for long
    if at in _SALTS:
        added = (content[at] - whole[at]) << (8 if whole[3] % 2 == 0 else 16)
        for sum_at in (24, 28)[_SALTS.index(at) :]:
            summed = int.from_bytes(whole[sum_at : sum_at + 4], "big") + added
            content[sum_at : sum_at + 4] = (summed % 2**32).to_bytes(4, "big")
    log.write_bytes(content)
    with pytest.raises(StoreError, match=naming(f"{log}")):
        Study.open(kept)
    assert log.read_bytes() == content
    log.write_bytes(whole)
    with Study.open(kept) as study:
        assert study.runs() == []


def test_a_record_of_data_that_can_be_mended_is_and_nothing_is_computed_again(
    path: Path, expected: tuple[RunResult, RunResult]
) -> None:
    damage(path, "UPDATE dataset SET name = 'Tall', feature_names = '[]' WHERE id = 1")
    result, units = computed(path)
    assert_same(result, expected[0])
    assert units == []
    with Study.open(path) as study:
        assert study.damage() == ()
        assert [s.data_name for s in study.runs()] == ["Small", "Small"]


def test_a_damaged_title_is_told_and_the_file_lends_its_name(path: Path) -> None:
    damage(path, "UPDATE study SET title = 'Too runs'")
    with Study.open(path) as study:
        assert study.title == "a study"
        assert study.damage() == (f"{path}: the study's title is damaged.",)
        assert len(study.runs()) == 2


def told(path: Path) -> Iterator[str]:
    """All that a study says is wrong with it."""
    with Study.open(path) as study:
        yield from study.damage()
        yield from (run.damage for run in study.runs() if run.damage)


def test_every_cell_counts(path: Path) -> None:
    with Study.open(path) as study:
        study.set_label(study.runs()[-1].key, RunLabel("mine", "a note", ("tag",)))
        study.remove(study.runs()[0].key)
        study.note_seal(SealMark.now(sealed=True))
        study.set_report_settings(ReportSettings("why?", "so", (("data", True),)))
    content = path.read_bytes()
    for table, columns in COLUMNS.items():
        for column in set(columns) - {"id"}:
            # A key that is a whole number: nothing else can be written.
            more = "1" if column == "run" and table in ("removed", "label") else "x"
            path.write_bytes(content)
            where = f"WHERE rowid = (SELECT max(rowid) FROM {table})"
            damage(
                path,
                f"UPDATE {table} SET {column} = CAST(ifnull({column}, '') AS TEXT) || '{more}' {where}",
            )
            assert list(told(path)), (table, column)


def make_digest(path: Path, table: str) -> None:
    """Give the first row of a table the digest of what it says now."""
    with closing(sqlite3.connect(path)) as db, db:
        db.text_factory = study_rows.as_text
        _, _, origin, *cells = db.execute(
            study_rows.select(table, "WHERE rowid = 1")
        ).fetchone()
        values = {**dict(zip(COLUMNS[table], cells, strict=True)), "": origin}
        db.execute(
            f"UPDATE {table} SET digest = ? WHERE rowid = 1",
            (study_rows._digest(values),),
        )


@pytest.mark.parametrize(
    "cut", ["''", "substr({0}, 1, length({0}) / 2)", "'{{}}'", "x'ff'"]
)
def test_what_was_cut_before_its_digest_was_made_ends_in_sentences_too(
    tmp_path: Path, cut: str
) -> None:
    whole, path = (
        Path(__file__).parents[3] / "data" / "study-0.1.rankstudio",
        tmp_path / "cut.rankstudio",
    )
    own, empty = (
        {"id", "run", "fold", "position"},
        {"removed", "label", "seal", "report"},
    )
    cells = {
        table: set(columns) - own
        for table, columns in COLUMNS.items()
        if table not in empty
    }
    for table, columns in cells.items():
        for column in sorted(columns):
            path.write_bytes(whole.read_bytes())
            with closing(sqlite3.connect(path)) as db, db:
                study_rows.add_columns(db)
                db.execute("UPDATE dataset SET first_file = checksum")
            damage(
                path,
                f"UPDATE {table} SET {column} = {cut.format(column)} WHERE rowid = 1",
            )
            make_digest(path, table)
            try:
                list(told(path))
                with Study.open(path) as study:
                    for summary in study.runs():
                        study.finished_units(summary.key)
                        study.discard_damaged(summary.key)
                        study.result(summary.key)
                    study.begin(PLAN, dataset())
            except StoreError as error:
                assert str(error).startswith(f"{path}: "), (table, column)
