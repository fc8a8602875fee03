"""Data larger than the memory limit in the window: opened, looked at on every page, run, stopped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hands import fact_texts
from PySide6.QtWidgets import QInputDialog
from waiting import wait_until
from windows import Opened, finish, pages_present, settle, slowly
from wording import naming

from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.reports import metrics_table
from rankstudio.engine.support import memory
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.execution import MemoryBudget
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.process.settings import Settings

PAGES = ("data", "select", "features", "queries", "compare", "report")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write data of more than a megabyte, one fold."""
    folder = tmp_path_factory.mktemp("large")
    for name, part in make_ranking(300, documents=(10, 12)).folds[0].parts.items():
        save_letor(part, folder / f"{name}.txt")
    return folder


@pytest.fixture(autouse=True)
def _no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)


def walk(window: MainWindow) -> None:
    """Go to every page, and wait for what is shown there."""
    for page in pages_present(window, *PAGES):
        window.workspace.show_page(page)
        settle(window)
    assert not window.notice.text()


def open_data(window: MainWindow, path: Path) -> None:
    """Open data as a user does, and stay on the page that is shown then."""
    window.open_path(str(path))
    wait_until(lambda: window.session.dataset is not None)
    window.session.change(
        "editing",
        method="greedy-rankrls",
        parameters={"regularization": (0.25, 1.0, 4.0)},
    )


def test_all_pages_show_data_that_are_read_from_the_disk(
    opened: Opened, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(large) as window:
        walk(window)
        assert not any(
            "disk" in name for name, _ in fact_texts(window.sections.data.panel._facts)
        )
        finish(window)
        inside = window.runs.records[-1]
    monkeypatch.setenv(memory.VARIABLE, "1MB")
    with opened(config="other") as window:
        open_data(window, large)
        assert window.session.dataset.from_disk
        assert naming("disk").search(window.notice.text())
        walk(window)  # where it goes by itself
        facts = dict(fact_texts(window.sections.data.panel._facts))
        assert facts["read from disk"] == "as needed"
        assert facts["memory limit"] == "1.0 MB"
        finish(window)
        record = window.runs.records[-1]
        assert record.remark == "data read from disk"
        assert record.result is not None
        assert inside.result is not None
        assert metrics_table(record.result) == metrics_table(inside.result)
        walk(window)
        window.sections.features.inspect(3)
        settle(window)
        assert not window.notice.text()


def test_a_run_on_data_from_the_disk_stops(
    opened: Opened, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.VARIABLE, "1MB")
    with opened(large, slowly) as window:
        window.commands["run"].trigger()
        record = window.runs.records[-1]
        wait_until(lambda: any(record.growing.values()))
        window.commands["stop"].trigger()
        wait_until(lambda: record.state.ended)
        assert record.state is RunState.CANCELLED
        settle(window)


def test_the_note_of_the_disk_goes_when_a_run_begins_and_the_strip_says_it_then(
    opened: Opened, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.VARIABLE, "1MB")
    with opened() as window:
        open_data(window, large)
        assert naming("disk").search(window.notice.text())
        finish(window)
        assert not window.notice.text()
        assert window.sections.select.strip._state.text().endswith(" · read from disk")


def test_how_the_next_run_goes_is_said_as_its_plan_changes(
    opened: Opened, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(large) as window:
        # they are small, and in memory
        assert window.sections.select.forecast.label.isHidden()
    monkeypatch.setenv(memory.VARIABLE, "1MB")
    with opened(large, config="other") as window:
        label = window.sections.select.forecast.label
        wait_until(lambda: naming("documents disk").search(label.text()))
        assert label.text().endswith("limit 1.0 MB.")
        assert not window.sections.select.forecast.refusal
        window.models.memory_budget.ask("3MB")
        wait_until(lambda: label.text().endswith("limit 3.0 MB."))
        window.session.change(
            "kernel", method="kernel-rankrls", parameters={"n_basis": None}
        )
        wait_until(lambda: "Kernel RankRLS needs" in label.text())
        assert label.property("role") == "error"
        window.commands["run"].trigger()
        assert window.notice.text() == window.sections.select.forecast.refusal
        assert window.notice.text().endswith("fewer documents or features.")
        assert not window.runs.records
        window.session.undo.undo()
        wait_until(lambda: "all at once" in label.text())
        assert label.property("role") == "muted"
        finish(window)


def test_the_budget_is_asked_for_kept_and_in_force(
    opened: Opened, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [("much", True), ("1MB", True), ("2GB", False)]
    asked = []

    def answer(dialog: QInputDialog) -> bool:
        text, accepted = answers.pop(0)
        asked.append(dialog.labelText())
        dialog.setTextValue(text)
        return accepted

    monkeypatch.setattr(QInputDialog, "exec", answer)
    with opened() as window:
        action = window.commands.submenus["backend"].actions()[-1]
        assert action.text() == "&Memory limit: half of the free memory…"
        action.trigger()
        assert asked[1].endswith(
            "Expected a size of at least 1MB, such as 4GB or 500MB, got much."
        )
        assert action.text() == "&Memory limit: 1MB…"
        action.trigger()
        assert window.models.memory_budget.asked == "1MB"
        window.open_path(str(large))
        wait_until(lambda: window.session.dataset is not None)
        assert window.session.dataset.from_disk
        settle(window)
    assert memory.VARIABLE not in os.environ


def test_the_budget_comes_back_and_the_environment_goes_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(tmp_path)
    first = MemoryBudget(settings)
    first.ask("3GB")
    first.close()
    again = MemoryBudget(settings)
    assert (again.asked, memory.budget()) == ("3GB", 3e9)
    again.close()
    monkeypatch.setenv(memory.VARIABLE, "5MB")
    assert MemoryBudget(settings).asked == "5MB"
    monkeypatch.delenv(memory.VARIABLE)
    settings.set("run/memory", "nonsense")
    assert MemoryBudget(settings).asked == ""
