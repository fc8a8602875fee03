"""Names, notes and costs written on the Data page: everywhere at once, and again at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from described_rows import rows, show_data, write
from PySide6.QtWidgets import QInputDialog
from waiting import wait_until
from windows import finish, open_window, settle
from wording import naming

from rankstudio.ui.style.theme import Theme


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
        assert window.sections.select._record is record or window.runs.shown is record
        wait_until(lambda: rows(window) and rows(window)[1].name == "Clicks of last week")
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
        window.names.read(other)
        assert naming("names features").search(window.notice.text())
        window.names.read(folds)
        assert str(folds) in window.notice.text()
        window.names.read(solr)
        assert window.session.dataset.feature_names[:2] == ("first", "second")
        settle(window)


def test_notes_are_marked_and_costs_go_into_the_plan(
    theme: Theme, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        show_data(window)
        monkeypatch.setattr(QInputDialog, "getText", lambda *_: ("Broken before May", True))
        table = window.sections.data.statistics.table
        action = table.row_actions(rows(window)[2])[0]
        action.trigger()
        assert rows(window)[2].note == "Broken before May"
        write(window, 0, "cost", "2.5")
        assert dict(window.session.plan.parameters["costs"]) == {1: 2.5}
        assert rows(window)[0].cost == 2.5
        write(window, 0, "cost", "free")
        assert naming("0 number").search(window.notice.text())
        assert rows(window)[0].cost == 2.5
        window.session.undo.undo()
        assert rows(window)[0].cost == 1.0
        window.session.change("method", method="gas", parameters={})
        assert rows(window)[0].cost is None
        settle(window)
    with open_window(theme, tmp_path / "config", folds) as window:
        show_data(window)
        assert rows(window)[2].note == "Broken before May"
        settle(window)
