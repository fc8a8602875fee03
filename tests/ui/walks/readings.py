"""What a user reads in the window at the stations of a walk, and whether it is true."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication, QLabel, QWidget
from waiting import wait_until
from walks.user import found, in_sight

from rankstudio.plugins.features.window.substitutes_panel import SubstitutesPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots import Plot
from rankstudio.ui.widgets import Notice, TableView

METHODS = ("Greedy RankRLS", "Single features", "RankRLS")
"""What is compared, in the order of the dialog."""

SEALED = "test part sealed"
UNSEALED = "test part shown once"


def read(label: QWidget) -> str:
    """Return what a label says, which has to be in sight."""
    in_sight(label)
    assert isinstance(label, QLabel)
    return label.text()


def rest(window: MainWindow) -> None:
    """Wait until nothing runs, nothing is computed for what is seen, and all is laid out and drawn."""
    models = window.models
    workers = models.run_worker, models.task_worker
    wait_until(
        lambda: not (models.loader.busy or any(worker.jobs for worker in workers)),
        120.0,
    )
    wait_until(lambda: not window.loading.isVisible())
    wait_until(lambda: not window.refresh_timer.is_active)
    QApplication.processEvents()  # what came last is laid out in the next turn
    for plot in window.findChildren(Plot):
        plot.flush()


def is_open(window: MainWindow, data: Path) -> None:
    """Wait for data that were chosen."""
    wait_until(lambda: window.session.dataset is not None)
    wait_until(window.workspace.isVisible)
    rest(window)
    assert window.windowTitle().startswith(data.name)


def listed() -> list[tuple[int, str, str]]:
    """Return the runs that the table shows: number, name and state."""
    table = found(TableView, "runs-table")
    in_sight(table.viewport())
    return sorted((row.key, row.name, row.state) for row in table.rows())


def runs_are_there(window: MainWindow) -> None:
    """Wait for the three runs, and read that they are done."""
    wait_until(
        lambda: len(window.runs.records) == len(METHODS) and not window.runs.busy, 120.0
    )
    rest(window)
    assert listed() == [(at, name, "done") for at, name in enumerate(METHODS, start=1)]


def chosen_query(window: MainWindow) -> str:
    """Read which query is chosen: the one that is lost most, which is the first of the list."""
    table = found(TableView, "query-table")
    query = table.current()
    assert query == table.rows()[0]
    assert (
        query.difference
        == min(one.difference for one in window.sections.queries.queries)
        < 0
    )
    title = read(title_of(found(QWidget, "query-documents-panel")))
    assert title == f"Query {query.query_id}"
    return title


def why_first(window: MainWindow) -> str:
    """Read why the query's first document is first: whom it leads, by how much, by which feature."""
    sentence = read(found(QLabel, "query-sentence"))
    one, other = [
        row.document for row in found(TableView, "query-documents-table").rows()[:2]
    ]
    lead = f"In A, {one.name} is first, {one.score_a - other.score_a:.3g} ahead of {other.name}; "
    assert lead in sentence
    assert any(
        name in sentence.partition(lead)[2]
        for name in window.session.dataset.feature_names
    )
    return sentence


def substitute(window: MainWindow) -> str:
    """Read by which feature the first one of the path could be replaced, and what that would change."""
    rest(window)
    panel = found(SubstitutesPanel, "substitutes-panel")
    wait_until(panel.sentences)
    rest(window)
    first = found(TableView, "path-table").rows()[0]
    labels = panel.findChildren(QLabel)
    at = next(
        i
        for i, label in enumerate(labels)
        if label.text().startswith(f"{first.name} ({first.feature_id})")
    )
    read(labels[at])
    sentence = read(labels[at + 1])
    assert any(
        f"{name} ({number}) instead of {first.feature_id}" in sentence
        for number, name in zip(
            window.session.dataset.feature_ids,
            window.session.dataset.feature_names,
            strict=True,
        )
    )
    return sentence


def seal_says(window: MainWindow, text: str, part: str) -> None:
    """Read in the status bar how it is with the seal, and in the table of runs what its means are of."""
    rest(window)
    assert read(found(QLabel, "status-seal")) == text
    assert found(QWidget, "runs-panel").caption().startswith(part)


def runs_left(window: MainWindow, *numbers: int) -> None:
    """Read which runs are listed."""
    rest(window)
    assert [key for key, *_ in listed()] == list(numbers)


def undo_offered(number: int) -> Notice:
    """Read the message that offers to bring a run back."""
    notice = found(Notice, "notice")
    assert notice.text() == f"Run {number} is removed."
    return notice


def title_of(panel: QWidget) -> QLabel:
    """Return the label that names a panel."""
    return next(
        label
        for label in panel.findChildren(QLabel)
        if label.property("role") == "title"
    )
