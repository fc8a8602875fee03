"""Names, notes, costs and groups of features, written on the Data page or read from files, and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from described_rows import rows, show_data, write
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QInputDialog
from waiting import wait_until
from windows import finish, open_window, press_keys, settle
from wording import naming

from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.ui.data.panel import read_as_facts
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.table import TableView


def test_a_name_is_the_same_everywhere_and_at_the_next_start(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        show_data(window)
        record, given = window.runs.records[0], rows(window)[1].name
        report = rows(window)[1].quality
        write(window, 1, "name", "Clicks of last week")
        assert window.session.dataset.feature_names[1] == "Clicks of last week"
        assert record.dataset is window.session.dataset, "the run goes with its data"
        assert window.runs.shown is record
        wait_until(
            lambda: rows(window) and rows(window)[1].name == "Clicks of last week"
        )
        assert rows(window)[1].quality is report, "nothing is looked at again"
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        assert window.session.dataset.feature_names[1] == "Clicks of last week"
        show_data(window)
        write(window, 1, "name", "")
        assert window.session.dataset.feature_names[1] == given
        settle(window)


def test_names_come_from_a_file_and_what_is_none_is_refused(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    solr, other = tmp_path / "store.json", tmp_path / "other.csv"
    solr.write_text('[{"name": "first"}, {"name": "second"}]')
    other.write_text("id,name\n7777,far\n")
    with open_window(theme, tmp_path / "config", folds) as window:
        show_data(window)
        window.sections.data.names.read(other)
        assert "names 1 features" in window.notice.text()
        window.sections.data.names.read(folds)
        assert str(folds) in window.notice.text()
        window.sections.data.names.read(solr)
        assert window.session.dataset.feature_names[:2] == ("first", "second")
        settle(window)


def feature_set(n: int) -> dict[str, object]:
    features = [
        {
            "name": f"q{i}",
            "params": ["keywords"],
            "template": {"match": {"title": f"{{{{keywords}}}} </b> {i}"}},
        }
        for i in range(1, n + 1)
    ]
    return {"featureset": {"name": "movies", "features": features}}


@pytest.mark.ability("search_engines")
def test_a_feature_set_is_imported_shown_kept_and_exported_in_part(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        n = window.session.dataset.n_features
        path, other = tmp_path / "set.json", tmp_path / "other.json"
        path.write_text(json.dumps(feature_set(n)))
        other.write_text('{"featureset": {"features": []}}')
        window.sections.data.names.read_set(other)
        assert str(other) in window.notice.text()
        assert window.session.dataset.extension(FeatureSet) is None
        record = window.runs.records[0]
        window.open_path(str(path))  # as a drop does
        found = window.session.dataset.extension(FeatureSet)
        assert found.definitions.keys() == {f"q{i}" for i in range(1, n + 1)}
        assert record.dataset is window.session.dataset
        window._show_page("features")
        window.sections.features.inspect(3)
        brief = 'q3: {"match": {"title": "{{keywords}} </b> 3"}}'
        wait_until(
            lambda: window.sections.features.inspector.definition.text() == brief
        )
        shown = window.sections.features.profile.tables.texts()[-1]
        assert "Elasticsearch" in shown[0]
        assert json.loads(shown[1].replace("\N{NO-BREAK SPACE}", " ")) == json.loads(
            found.definitions["q3"]
        )
        items = {
            item.key: item for item in export_items(window.models, window.sections)
        }
        reduced = json.loads(items["feature-set"].text())["featureset"]["features"]
        chosen = sorted(window.current.model.step.selected)
        assert [json.dumps(f) for f in reduced] == [
            found.definitions[f"q{c + 1}"] for c in chosen
        ]
        item = items["model-formats"]
        place = [label for label, _ in item.formats].index("Elasticsearch LTR")
        said: list[str] = []
        item.writers[place].write(tmp_path / "model.json")
        item.writers[place].check(tmp_path / "model.json", said.append)
        wait_until(lambda: said)
        assert said[0].startswith("Identical ranking on ")
        written = json.loads((tmp_path / "model-featureset.json").read_text())[
            "featureset"
        ]["features"]
        assert written == reduced
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        again = window.session.dataset.extension(FeatureSet)
        assert again is not None and again.definitions == found.definitions, (
            "it is kept for the next start"
        )
        finish(window)
        settle(window)
    with open_window(theme, tmp_path / "config") as window:
        window.restore()
        wait_until(lambda: window.runs.shown is not None)
        assert [record.failure for record in window.runs.records] == [""]
        assert (
            window.runs.shown.dataset.extension(FeatureSet).definitions
            == found.definitions
        )
        settle(window)


def test_costs_are_imported_shown_kept_and_select(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    path, other = tmp_path / "prices.csv", tmp_path / "other.csv"
    other.write_text("feature,per_query\n1,2\n")
    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        ids = window.session.dataset.feature_ids.tolist()
        path.write_text(
            "feature,per_document,per_query\n"
            + "".join(f"{i},0.01,{i % 3}\n" for i in ids)
        )
        window.sections.data.names.read_costs(other)
        assert naming("other.csv 2").search(window.notice.text())
        assert window.session.dataset.extension(FeatureCosts) is None
        assert window.session.plan.extension(FeatureCosts) is None
        window.open_path(str(path))  # as a drop does
        plan = window.session.plan
        assert plan.parameters["costs"] == "milliseconds"
        assert plan.extension(FeatureCosts) == window.session.dataset.extension(
            FeatureCosts
        )
        settle(window)
        model = window.current.model
        assert model is not None, window.notice.text()
        assert model.plan.extension(FeatureCosts) == plan.extension(FeatureCosts)
        show_data(window)
        rows = window.sections.data.statistics.table.rows()
        assert [(row.per_document, row.per_query) for row in rows] == [
            (0.01, i % 3) for i in ids
        ]
        assert all(row.cost is None for row in rows)
        finish(window)
        assert window.runs.records[-1].plan.extension(FeatureCosts) == plan.extension(
            FeatureCosts
        )
        window._show_page("compare")
        pareto = window.sections.compare.views.pareto
        wait_until(lambda: not pareto.by.isHidden())
        pareto.by.select("cost")
        pareto.by.chosen.emit("cost")
        wait_until(
            lambda: "ms" in [column.title for column in pareto.table.rows_model.columns]
        )
        model = pareto.table.rows()[-1].model
        assert model.x == pytest.approx(model.x) and model.x != model.size
        assert "ms per query" in pareto.sentence.text()
        window.session.undo.undo()
        assert window.session.plan.extension(FeatureCosts) is None
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        kept = window.session.dataset.extension(FeatureCosts)
        assert kept == plan.extension(FeatureCosts), "they are kept for the next start"
        assert window.session.plan.extension(FeatureCosts) == plan.extension(
            FeatureCosts
        )
        assert window.session.plan.parameters["costs"] == (), (
            "what is kept changes no selection"
        )
        settle(window)


def test_a_feature_set_that_is_opened_before_the_data_says_so(
    theme: Theme, tmp_path: Path
) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps(feature_set(3)))
    with open_window(theme, tmp_path / "config") as window:
        window.open_path(str(path))
        assert naming("set.json data").search(window.notice.text())
        settle(window)


def shown_columns(table: TableView) -> list[str]:
    return [column.key for column in table.rows_model.columns]


@pytest.mark.thorough
def test_notes_are_marked_and_costs_go_into_the_plan(
    theme: Theme, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        show_data(window)
        monkeypatch.setattr(
            QInputDialog, "getText", lambda *_: ("Broken before May", True)
        )
        table = window.sections.data.statistics.table
        action = table.row_actions(rows(window)[2])[0]
        action.do()
        assert rows(window)[2].note == "Broken before May"
        assert "cost" not in shown_columns(table)
        monkeypatch.setattr(QInputDialog, "getText", lambda *_: ("2.5", True))
        next(
            one for one in table.row_actions(rows(window)[0]) if one.text == "Cost…"
        ).do()
        assert "cost" in shown_columns(table)
        assert dict(window.session.plan.parameters["costs"]) == {1: 2.5}
        assert rows(window)[0].cost == 2.5
        write(window, 0, "cost", "free")
        assert naming("0 number").search(window.notice.text())
        assert rows(window)[0].cost == 2.5
        window.session.undo.undo()
        assert rows(window)[0].cost == 1.0 and "cost" not in shown_columns(table)
        window.session.change("method", method="gas", parameters={})
        assert rows(window)[0].cost is None
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        show_data(window)
        assert rows(window)[2].note == "Broken before May"
        settle(window)


def select(window: MainWindow, *numbers: int) -> None:
    table = window.sections.data.statistics.table
    table.clearSelection()
    flags = QItemSelectionModel.SelectionFlag
    for number in numbers:
        table.selectionModel().select(
            table.rows_model.index(number, 0), flags.Select | flags.Rows
        )


def test_groups_are_written_asked_for_undone_run_and_restored(
    theme: Theme, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    answers = [("Clicks", True), ("unheard", False)]
    asked: list[list[str]] = []

    def answer(
        _parent: object, _title: str, label: str, items: list[str], *_: object
    ) -> tuple[str, bool]:
        asked.append([label, *items])
        return answers.pop(0)

    monkeypatch.setattr(QInputDialog, "getItem", answer)
    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        show_data(window)
        write(window, 0, "group", " Body ")
        write(window, 2, "group", "Body")
        assert dict(feature_groups_of(window.session.plan)) == {"Body": (1, 3)}
        assert [row.group for row in rows(window)[:4]] == ["Body", "", "Body", ""]
        select(window, 1, 3)
        window.commands["group"].trigger()
        assert asked[0] == [
            "Group for 2 features. Leave empty for no group:",
            "",
            "Body",
        ]
        assert dict(feature_groups_of(window.session.plan)) == {
            "Body": (1, 3),
            "Clicks": (2, 4),
        }
        note, group, *_ = window.sections.data.statistics.table.row_actions(
            rows(window)[0]
        )
        assert (note.text, group.text) == ("Note…", "Group…")
        select(window, 0)
        group.do()
        assert asked[1] == [
            f"Group for {rows(window)[0].name}. Leave empty for no group:",
            "Body",
            "",
            "Clicks",
        ]
        window.session.undo.undo()
        assert dict(feature_groups_of(window.session.plan)) == {"Body": (1, 3)}
        window.session.undo.redo()
        write(window, 3, "group", "")
        assert dict(feature_groups_of(window.session.plan)) == {
            "Body": (1, 3),
            "Clicks": (2,),
        }
        window.commands["run"].trigger()
        finish(window)
        record = window.runs.records[-1]
        for path in record.paths.values():
            for step in path.steps:
                assert (0 in step.selected) == (2 in step.selected)
        window.workspace.show_page("features")
        wait_until(window.sections.features.path.table.rows)
        named = {
            row.feature_id: row.group
            for row in window.sections.features.path.table.rows()
        }
        assert (named[1], named[3], named[2]) == ("Body", "Body", "Clicks")
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        assert dict(feature_groups_of(window.session.plan)) == {
            "Body": (1, 3),
            "Clicks": (2,),
        }
        settle(window)


@pytest.mark.thorough
def test_undone_groups_are_not_kept_and_those_of_a_run_are_its_own(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        show_data(window)
        write(window, 0, "group", "Body")
        write(window, 2, "group", "Body")
        write(window, 1, "group", "Clicks")
        window.session.undo.undo()
        window.session.undo.undo()
        window.session.undo.redo()
        window.session.go_back_to(
            window.session.plan.changed(groups={"Other": (4,)}), "a run"
        )
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        assert dict(feature_groups_of(window.session.plan)) == {"Body": (1, 3)}
        settle(window)


def test_without_a_selected_row_a_sentence_says_where_to_select(
    window: MainWindow,
) -> None:
    show_data(window)
    select(window)
    press_keys(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert naming("Data").search(window.status.text())
    settle(window)


def test_groups_come_from_files_with_names_or_without(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    both, alone, other = (
        tmp_path / "both.csv",
        tmp_path / "alone.csv",
        tmp_path / "other.csv",
    )
    both.write_text("id,name,group\n1,first,A\n2,second,A\n7777,far,B\n")
    alone.write_text("feature,group\n2,C\n3,C\n")
    other.write_text("feature,group\n7777,C\n")
    with open_window(theme, tmp_path / "config", folds) as window:
        show_data(window)
        window.sections.data.names.read(both)
        assert dict(feature_groups_of(window.session.plan)) == {"A": (1, 2)}
        assert window.session.dataset.feature_names[:2] == ("first", "second")
        window.sections.data.names.read(alone)
        assert dict(feature_groups_of(window.session.plan)) == {"C": (2, 3)}
        assert window.session.dataset.feature_names[:2] == ("first", "second"), (
            "groups are no names"
        )
        window.sections.data.names.read(other)
        assert str(other) in window.notice.text()
        settle(window)


def test_the_form_says_how_groups_are_taken_and_a_method_that_cannot_is_refused(
    window: MainWindow,
) -> None:
    finish(window)
    note = window.sections.select.method.form._groups
    assert note.isHidden()
    window.session.change("groups", groups={"Body": (1, 3)})
    assert not note.isHidden()
    assert note.text().startswith(
        "Groups: Body (2). A group of features is one step, compared by"
    )
    window.session.change("method", method="gas", parameters={})
    assert naming("GAS").search(note.text())
    n = len(window.runs.records)
    window.commands["run"].trigger()
    wait_until(lambda: naming("GAS").search(window.notice.text()))
    finish(window)
    assert not any(record.paths for record in window.runs.records[n:])
    settle(window)


def test_a_pin_is_of_the_group_and_goes_with_any_of_its_features(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    session = window.session
    session.change("groups", groups={"Body": (1, 3)})
    session.toggle("pinned", 3)
    assert session.plan.parameters["pinned"] == (3,)
    wait_until(
        lambda: (
            {1, 3}
            <= {
                row.feature_id
                for row in window.sections.features.features.table.rows()
                if row.pinned
            }
        )
    )
    session.toggle("pinned", 1)
    assert session.plan.parameters["pinned"] == ()
    session.toggle("pinned", 1)
    session.toggle("banned", 3)
    assert session.plan.parameters["pinned"] == ()
    assert session.plan.parameters["banned"] == (3,)
    session.open(session.dataset, "elsewhere")
    assert not feature_groups_of(session.plan)
    settle(window)


@pytest.mark.ability("search_engines")
def test_feature_logs_are_opened_with_the_judgments_beside_them(
    theme: Theme, tmp_path: Path
) -> None:
    hits = [
        {
            "_id": f"d{i}",
            "fields": {"_ltrlog": [{"log": [{"name": "bm25", "value": i / 4}]}]},
        }
        for i in range(5)
    ]
    log, ratings = tmp_path / "log.json", tmp_path / "ratings.csv"
    log.write_text(
        json.dumps([{"query": q, "hits": {"hits": hits}} for q in ("a b", "c")])
    )
    rows = "".join(f"{q},d{i},{i % 2}\n" for q in ("a b", "c") for i in range(4))
    ratings.write_text(f"query,docid,rating\n{rows}")
    with open_window(theme, tmp_path / "config") as window:
        for paths in ([str(log)], [str(ratings), str(log)], [str(tmp_path)]):
            window.open_controller.open_paths(paths)
            wait_until(
                lambda: (
                    window.session.dataset is not None and not window.models.loader.busy
                )
            )
            assert window.session.dataset.folds[0].train.n_documents == 8
            assert window.session.dataset.feature_names == ("bm25",)
            assert naming("2 logged documents judgment").search(window.notice.text())
            facts = {
                fact.key: fact.value for fact in read_as_facts(window.session.dataset)
            }
            assert facts["joined with"] == "ratings.csv"
        settle(window)
