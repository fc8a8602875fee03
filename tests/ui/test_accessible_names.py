"""A screen reader hears what everything is called, and what every plot shows."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget
from waiting import wait_until
from windows import finish, open_window, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots.base import Plot
from rankstudio.ui.shell.workspace import PAGES
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel


@pytest.fixture(scope="module")
def finished(theme: Theme, tmp_path_factory: pytest.TempPathFactory, folds: Path) -> Iterator[MainWindow]:
    with open_window(theme, tmp_path_factory.mktemp("config"), folds) as window:
        finish(window)
        window.session.look_at(1)
        settle(window)
        yield window


def called(widget: QWidget) -> str:
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


def test_everything_the_keyboard_reaches_and_every_panel_has_a_name(finished: MainWindow) -> None:
    nameless = set()
    for page in PAGES:
        finished.workspace.show_page(page.key)
        settle(finished)
        for widget in finished.findChildren(QWidget):
            reached = widget.focusPolicy() & Qt.FocusPolicy.TabFocus or isinstance(widget, Panel | Plot)
            # The ground of a plot passes the focus on to the plot.
            reached = reached and not isinstance(widget.parent(), Plot)
            if reached and widget.isVisible() and widget.isEnabled() and not called(widget):
                nameless.add((page.key, type(widget).__name__, widget.objectName()))
    assert not nameless


def test_every_plot_that_shows_something_says_it(finished: MainWindow) -> None:
    wait_until(lambda: not finished.sections.features.inspector.plot.is_empty())
    sections = finished.sections
    seen = set()
    for place, page in [(0, page) for page in PAGES] + [(1, PAGES[1])]:
        finished.workspace.show_page(page.key)
        for switch in (sections.select.curves.view, sections.features.inspector.switch):
            switch._buttons()[place].click()
        settle(finished)
        for plot in finished.workspace.findChildren(Plot):
            plot.flush()
            if plot.isVisible() and not plot.is_empty():
                seen.add(type(plot).__name__)
                assert plot.accessibleDescription() == plot.summary() != "", plot.objectName()
    assert {"CurvesPlot", "HeatMapPlot", "BarsPlot", "DensityPlot", "CandidateMapPlot"} <= seen


def test_curves_and_map_say_the_best_model(finished: MainWindow) -> None:
    record = finished.runs.shown
    assert record is not None
    paths = [path for (fold, _), path in record.paths.items() if fold == 1]
    best = max(float(np.max(path.validation["MAP"])) for path in paths)
    run = finished.sections.select
    run.curves.validation_plot.flush()
    assert run.curves.validation_plot.summary().startswith(f"validation MAP, best {best:.4f} at k = ")
    run.heat.plot.flush()
    assert run.heat.plot.summary().startswith(f"validation MAP, greatest {best:.4f} at k = ")
    least = min(float(np.min(path.criterion)) for path in paths)
    assert f"best {least:.4f} at k = " in run.curves.criterion_plot.summary()
