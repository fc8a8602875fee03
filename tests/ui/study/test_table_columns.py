"""Tables in the window: what was recognised, and a dialog where that is not clear."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hands import drop, fact_texts
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox
from waiting import wait_until
from windows import finish, settle
from wording import naming

from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import CRITERION, USUAL_MEASURES
from rankstudio.engine.metrics.names import ONE_RANKING_MEASURES
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.study.dialogs import ColumnsDialog, kind_of


def write_table(path: Path, **renamed: str) -> Path:
    frame = (
        make_ranking(20, n_informative=3, documents=(4, 9)).folds[0].train.to_frame()
    )
    frame = frame.rename(columns=renamed)
    frame.insert(1, "url", "https://example.org")
    (frame.drop(columns="url") if not renamed else frame).to_csv(path, index=False)
    return path


def asked(window: MainWindow) -> ColumnsDialog:
    def found() -> list[ColumnsDialog]:
        return [d for d in window.findChildren(ColumnsDialog) if d.isVisible()]

    wait_until(found)
    return found()[0]


def box(dialog: ColumnsDialog, name: str) -> QComboBox:
    found = dialog.findChild(QComboBox, f"columns-{name}")
    assert isinstance(found, QComboBox)
    return found


def button(
    dialog: ColumnsDialog, kind: QDialogButtonBox.StandardButton
) -> Callable[[], object]:
    (buttons,) = dialog.findChildren(QDialogButtonBox)
    return buttons.button(kind).click


def test_what_was_recognised_is_said(empty: MainWindow, tmp_path: Path) -> None:
    path = write_table(tmp_path / "judged.csv")
    assert not empty.commands["columns"].isEnabled()
    empty.open_path(str(path))
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    facts = fact_texts(empty.sections.data.panel._facts)
    assert "CSV" in str(facts) and "query column" in str(facts) and "qid" in str(facts)
    assert empty.commands["columns"].isEnabled()
    assert empty.session.plan.columns == {}


def test_a_table_without_usual_names_is_asked_about(
    empty: MainWindow, tmp_path: Path
) -> None:
    path = write_table(tmp_path / "clicks.csv", qid="session", label="clicked")
    empty.open_path(str(path))
    dialog = asked(empty)
    opened = dialog.findChildren(QDialogButtonBox)[0].button(
        QDialogButtonBox.StandardButton.Open
    )
    assert not opened.isEnabled()
    assert naming("column query").search(dialog._problem.text())
    box(dialog, "qid").setCurrentText("session")
    box(dialog, "label").setCurrentText("clicked")
    assert opened.isEnabled()
    texts = [(row.name, row.role) for row in dialog._table.rows()[:3]]
    assert texts == [("session", "query"), ("url", "left out"), ("clicked", "label")]
    opened.click()
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    assert empty.session.plan.columns == {
        "qid": "session",
        "label": "clicked",
        "ignore": ("url",),
    }
    dataset = empty.session.dataset
    assert dataset is not None and "url" not in dataset.feature_names
    finish(empty)
    assert empty.runs.records[0].plan.columns == empty.session.plan.columns

    # Other data in between have other columns, and the table is opened again as it was.
    empty.open_path(str(write_table(tmp_path / "judged.csv")))
    wait_until(
        lambda: (
            empty.session.dataset is not None and empty.session.dataset.name == "judged"
        )
    )
    assert empty.session.plan.columns == {}
    empty.open_path(str(path))
    wait_until(
        lambda: (
            empty.session.dataset is not None and empty.session.dataset.name == "clicks"
        )
    )
    assert empty.session.plan.columns["qid"] == "session"
    settle(empty)


def test_a_query_is_chosen_where_only_the_label_has_no_usual_name(
    empty: MainWindow, tmp_path: Path
) -> None:
    empty.open_path(str(write_table(tmp_path / "clicks.csv", label="clicked")))
    dialog = asked(empty)
    assert (
        box(dialog, "qid").currentText() == "qid"
        and box(dialog, "label").currentData() == -1
    )
    dialog.reject()


def test_a_table_with_nameless_row_numbers_opens(
    empty: MainWindow, tmp_path: Path
) -> None:
    frame = (
        make_ranking(20, n_informative=3, documents=(4, 9)).folds[0].train.to_frame()
    )
    # pandas writes its index first
    frame.rename(columns={"qid": "session"}).to_csv(tmp_path / "frame.csv")
    empty.open_path(str(tmp_path / "frame.csv"))
    dialog = asked(empty)
    box(dialog, "qid").setCurrentText("session")
    dialog._mark_all()
    dialog._table.setFocus()
    dialog._table.selectRow(0)
    QTest.keyClick(dialog._table, Qt.Key.Key_Space)
    assert dialog._table.rows()[0].role == "left out"
    button(dialog, QDialogButtonBox.StandardButton.Open)()
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    dataset = empty.session.dataset
    assert dataset is not None and dataset.n_features == frame.shape[1] - 2
    assert empty.session.plan.columns == {"qid": "session", "label": "label"}


def test_columns_of_what_is_open_can_be_changed_by_keyboard(
    empty: MainWindow, tmp_path: Path
) -> None:
    path = write_table(tmp_path / "judged.csv")
    empty.open_path(str(path))
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    before = empty.session.dataset
    assert before is not None
    empty.commands["columns"].trigger()
    dialog = asked(empty)
    table = dialog._table
    assert [row.is_feature for row in table.rows()[:3]] == [False, False, True]
    table.setFocus()
    for place in (0, 2):  # the first one is the query, which stays that
        table.selectRow(place)
        QTest.keyClick(table, Qt.Key.Key_Space)
    assert [row.role for row in table.rows()[:3]] == ["query", "label", "left out"]
    button(dialog, QDialogButtonBox.StandardButton.Open)()
    wait_until(lambda: empty.session.dataset is not before)
    settle(empty)
    after = empty.session.dataset
    assert after is not None and after.n_features == before.n_features - 1
    assert empty.session.plan.columns["ignore"] == (before.feature_names[0],)


def test_a_column_tells_the_parts_and_can_be_mapped(
    empty: MainWindow, tmp_path: Path
) -> None:
    path = write_table(tmp_path / "judged.csv")
    frame = pd.read_csv(path)
    frame.insert(0, "split", ["train" if qid % 3 else "test" for qid in frame["qid"]])
    frame.to_csv(path, index=False)
    empty.open_path(str(path))
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    before = empty.session.dataset
    assert before is not None and list(before.folds[0].parts) == ["train", "test"]
    facts = str(fact_texts(empty.sections.data.panel._facts))
    assert (
        "part column" in facts and "split" in facts and empty.session.plan.columns == {}
    )
    empty.commands["columns"].trigger()
    dialog = asked(empty)
    assert box(dialog, "part").currentText() == "split"
    assert dialog._table.rows()[0].role == "part"
    box(dialog, "part").setCurrentText("none")
    assert dialog._table.rows()[0].role == "left out"
    button(dialog, QDialogButtonBox.StandardButton.Open)()
    wait_until(lambda: empty.session.dataset is not before)
    settle(empty)
    after = empty.session.dataset
    assert after is not None and list(after.folds[0].parts) == ["train"]
    assert empty.session.plan.columns["ignore"] == ("split",)

    # A column of another name is chosen in the dialog, and stays in the plan.
    frame.rename(columns={"split": "when"}).to_csv(tmp_path / "other.csv", index=False)
    empty.open_path(str(tmp_path / "other.csv"))
    dialog = asked(empty)
    box(dialog, "part").setCurrentText("when")
    button(dialog, QDialogButtonBox.StandardButton.Open)()
    wait_until(lambda: empty.session.dataset is not after)
    settle(empty)
    assert empty.session.plan.columns["part"] == "when"
    assert (
        empty.session.dataset is not None
        and empty.session.dataset.folds[0].test is not None
    )
    finish(empty)


def test_who_says_nothing_is_told_what_is_wrong(
    empty: MainWindow, tmp_path: Path
) -> None:
    path = write_table(tmp_path / "clicks.csv", qid="session", label="clicked")
    told: list[str] = []
    empty.open_controller.failed.connect(told.append)
    drop(empty, path)
    button(asked(empty), QDialogButtonBox.StandardButton.Cancel)()
    wait_until(lambda: told)
    assert naming("column query").search(told[0])
    assert empty.session.dataset is None
    settle(empty)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.parquet", "A.FEATHER"])
def test_tables_have_an_icon_of_their_own(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert kind_of(tmp_path / name) == "table"


def write_one_ranking(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(0, "label", (X[:, 0] + 0.3 * rng.normal(size=60) > 0.5).astype(int))
    path = folder / "objects.csv"
    frame.to_csv(path, index=False)
    return path


def test_one_click_reads_a_table_without_queries(
    empty: MainWindow, tmp_path: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    empty.open_path(str(write_one_ranking(tmp_path)))
    dialog = asked(empty)
    opened = dialog.findChildren(QDialogButtonBox)[0].button(
        QDialogButtonBox.StandardButton.Open
    )
    assert box(dialog, "label").currentText() == "label"  # told by its name already
    assert not opened.isEnabled()
    alone = dialog.findChild(QCheckBox, "columns-no-queries")
    assert isinstance(alone, QCheckBox)
    alone.click()
    assert opened.isEnabled()
    assert not box(dialog, "qid").isEnabled()
    opened.click()
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    session = empty.session
    assert session.plan.columns == {"no_queries": True}
    assert session.plan.measures == ONE_RANKING_MEASURES
    assert session.measure == session.plan.measures[0]
    assert session.plan.select_by == CRITERION
    # before a run, too, its column is that of the measure
    table = empty.sections.features.features.table
    assert table.rows_model.columns[-1].title == "AUC"
    facts = str(fact_texts(empty.sections.data.panel._facts))
    assert "one ranking" in facts
    assert "query column" not in facts

    session.change("folds", protocol="5-fold")
    wait_until(lambda: session.data_match_plan)
    assert session.dataset is not None
    assert [fold.test.n_documents for fold in session.dataset.folds] == [12] * 5
    assert {
        part.n_queries for fold in session.dataset.folds for part in fold.parts.values()
    } == {1}

    empty.open_path(str(write_table(tmp_path / "judged.csv")))
    wait_until(lambda: session.dataset is not None and session.dataset.name == "judged")
    assert session.plan.measures == USUAL_MEASURES
    assert session.measure == session.plan.measures[0]


@pytest.mark.parametrize("agrees", [True, False])
def test_text_without_queries_is_asked_about(
    empty: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool
) -> None:
    path = tmp_path / "objects.txt"
    path.write_text(
        "".join(f"{i % 2} 1:{i * 7 % 11} 2:{i * 5 % 13}\n" for i in range(30))
    )
    questions: list[tuple[str, ...]] = []

    def answer(parent: object, *texts: str) -> bool:
        questions.append(texts)
        return agrees

    monkeypatch.setattr("rankstudio.ui.study.open.Question.ask", answer)
    said: list[str] = []
    empty.open_controller.said.connect(
        lambda text: said.extend([text] * ("not opened" in text))
    )
    empty.open_path(str(path))
    wait_until(lambda: questions and (empty.session.dataset is not None or bool(said)))
    settle(empty)
    assert "objects.txt" in str(questions)
    assert (empty.session.dataset is not None) == agrees
    assert bool(said) != agrees
    if agrees:
        assert empty.session.plan.one_ranking
        assert empty.session.dataset.folds[0].train.query_ids == ("1",)


@pytest.mark.ability("search_engines")
@pytest.mark.parametrize("how", ["asked", "cancelled", "dropped"])
def test_judgments_of_logs_are_asked_for(
    empty: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    log, ratings = tmp_path / "logs" / "log.json", tmp_path / "mine.csv"
    log.parent.mkdir()
    hits = [
        {
            "_id": str(i),
            "fields": {"_ltrlog": [{"log": [{"name": "bm25", "value": i / 7}]}]},
        }
        for i in range(9)
    ]
    log.write_text(json.dumps({"qid": "1", "hits": {"hits": hits}}))
    ratings.write_text(
        "query,docid,rating\n" + "".join(f"1,{i},{i % 3}\n" for i in range(9))
    )
    chosen = [] if how == "cancelled" else [str(ratings)]
    monkeypatch.setattr(
        "rankstudio.ui.study.open.QFileDialog.getOpenFileNames", lambda *_: (chosen, "")
    )
    said: list[str] = []
    empty.open_controller.failed.connect(said.append)
    empty.open_controller.open_paths(
        [str(log), str(ratings)] if how == "dropped" else [str(log)]
    )
    wait_until(lambda: empty.session.dataset is not None or bool(said))
    settle(empty)
    assert bool(said) == (how == "cancelled")
    if not said:
        assert empty.session.plan.columns == {"judgments": str(ratings)}
        assert empty.session.dataset.folds[0].train.n_documents == 9


@pytest.mark.ability("search_engines")
def test_several_judgments_of_logs_are_judges(
    empty: MainWindow, tmp_path: Path
) -> None:
    hits = [
        {
            "_id": str(i),
            "fields": {"_ltrlog": [{"log": [{"name": "bm25", "value": i / 7}]}]},
        }
        for i in range(9)
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"qid": "1", "hits": {"hits": hits}}))
    files = [tmp_path / f"{judge}.csv" for judge in ("ann", "bob")]
    for place, file in enumerate(files):
        file.write_text(
            "query,docid,rating\n"
            + "".join(f"1,{i},{(i + place) % 3}\n" for i in range(9))
        )
    said: list[str] = []
    empty.open_controller.failed.connect(said.append)
    empty.open_controller.open_paths([str(log), *map(str, files)])
    wait_until(lambda: empty.session.dataset is not None or bool(said))
    settle(empty)
    assert not said and empty.session.dataset is not None
    assert (
        empty.session.dataset.name == "log (ann)"
        and not empty.commands["columns"].isEnabled()
    )
    empty.open_controller.use_label("bob")
    wait_until(
        lambda: (
            empty.session.dataset is not None
            and empty.session.dataset.name == "log (bob)"
        )
    )
    settle(empty)
    assert empty.session.dataset.folds[0].train.y.tolist() == [
        (i + 1) % 3 for i in range(9)
    ]
    empty.open_controller.open_paths([str(log), str(files[0]), str(files[0])])
    wait_until(lambda: bool(said))
    assert empty.session.dataset.name == "log (bob)" and "\n" not in said[0]


def test_a_text_among_numbers_is_read_as_missing_and_ids_may_have_any_name(
    empty: MainWindow, tmp_path: Path
) -> None:
    path = write_table(tmp_path / "prices.csv")
    frame = pd.read_csv(path)
    name = frame.columns[-1]
    frame[name] = frame[name].astype(object)
    frame.loc[1, name] = "n.v."
    frame.insert(2, "address", [f"a{row}" for row in range(len(frame))])
    frame.insert(3, name, 1.0, allow_duplicates=True)
    frame.to_csv(path, index=False)
    empty.open_path(str(path))
    dialog = asked(empty)
    missing = dialog.findChild(QCheckBox, "columns-missing")
    assert (
        isinstance(missing, QCheckBox)
        and missing.isVisible()
        and "n.v." in missing.text()
    )
    (row,) = (
        row
        for row in dialog._table.rows()
        if row.name == f"{name} (column {len(frame.columns)})"
    )
    assert not row.is_feature
    QTest.mouseClick(
        missing, Qt.MouseButton.LeftButton, pos=QPoint(8, missing.height() // 2)
    )
    box(dialog, "document").setCurrentText("address")
    roles = {row.name: row.role for row in dialog._table.rows()}
    assert (
        roles["address"] == "document id"
        and roles[row.name] == roles[name] == "feature"
    )
    button(dialog, QDialogButtonBox.StandardButton.Open)()
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    dataset = empty.session.dataset
    assert dataset is not None and dataset.folds[0].train.document_ids[1] == "a1"
    assert {name, row.name} <= set(dataset.folds[0].train.feature_names)
    assert empty.session.plan.columns["missing_texts"] == ("n.v.",)
