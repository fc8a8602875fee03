"""The Compare page as its tests go about it: runs to compare, and a view chosen by its button."""

from __future__ import annotations

from windows import finish, settle

from rankstudio.engine.analysis.comparisons.significance import ComparedRun
from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.widgets import Segmented


def views(window: MainWindow) -> ResultsPanel:
    return window.sections.compare.views


def look(window: MainWindow, key: str) -> None:
    """Choose a view of the Compare page by its tab and button, and wait for what it has computed."""
    window.workspace.show_page("compare")
    tab, part = {
        "stability": ("folds", "stability"),
        "folds": ("folds", "models"),
        "published": ("literature", "published results"),
        "conventions": ("literature", "conventions"),
    }.get(key, (key, ""))
    press(views(window)._choice, tab)
    if part:
        press(views(window)._part, part)
    assert views(window).key() == key
    settle(window)


def press(choice: Segmented, text: str) -> None:
    [button] = [
        button for button in choice._group.buttons() if button.text().lower() == text
    ]
    button.click()


def run_with(window: MainWindow, **changes: object) -> RunRecord:
    window.session.change("editing", **changes)
    finish(window)
    return window.runs.records[-1]


def three_runs(window: MainWindow) -> list[RunRecord]:
    """Run with fewer features, with a pin, and another method."""
    parameters = window.session.plan.parameters
    return [
        run_with(window),
        run_with(window, parameters={**parameters, "pinned": (7,)}),
        run_with(window, method="rankrls", parameters={"regularization": (0.5, 2.0)}),
    ]


def paired(window: MainWindow) -> list[ComparedRun]:
    return views(window).tests.table.rows()
