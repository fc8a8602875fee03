"""A screen reader hears what everything is called; it follows the theme, and the keyboard reaches it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QTableView, QWidget
from waiting import wait_until
from windows import finish, open_window, settle

from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.data.panel import DataPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots import Plot
from rankstudio.ui.select.candidates_view import CandidatesView
from rankstudio.ui.select.curves_panel import CurvesPanel
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.select.heat_map import HeatView
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.style.colors import DARK, LIGHT
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel


def of_features() -> tuple[type[Panel], ...]:
    """Return the panels of features, if the folder of that ability is there."""
    if find_spec("rankstudio.plugins.features") is None:
        return ()
    from rankstudio.plugins.features.window.features_panel import FeaturesPanel  # noqa: PLC0415
    from rankstudio.plugins.features.window.inspector_panel import InspectorPanel  # noqa: PLC0415

    return FeaturesPanel, InspectorPanel


def of_report() -> tuple[type[Panel], ...]:
    """Return the panels of the report, if the folder of that ability is there."""
    if find_spec("rankstudio.plugins.report") is None:
        return ()
    from rankstudio.plugins.report.window.panels import OutlinePanel, WordsPanel  # noqa: PLC0415

    return WordsPanel, OutlinePanel


PANELS = (
    DataPanel,
    MethodForm,
    CurvesPanel,
    *of_features(),
    ResultsPanel,
    *of_report(),
)
VIEWS = (CandidatesView, HeatView)
"""Parts of panels, which have no ground of their own."""
INTERACTIVE = (QAbstractButton, QComboBox, QLineEdit, QTableView, Plot)


@pytest.fixture(params=PANELS, ids=lambda panel: panel.__name__)
def panel(request, stage, theme):
    return stage(request.param(theme), 420, 320)


@pytest.fixture(params=(*PANELS, *VIEWS), ids=lambda place: place.__name__)
def place(request, stage, theme):
    return stage(request.param(theme), 420, 320)


def grounds(panel):
    """The colours inside the panel's lower left corner, which no contents reach."""
    image = panel.grab().toImage()
    return {QColor(image.pixel(x, image.height() - 4)).name() for x in (14, 15)}


def test_panels_follow_the_theme(panel, theme):
    assert grounds(panel) == {LIGHT.panel}
    theme.set_mode("dark")
    QCoreApplication.processEvents()
    assert grounds(panel) == {DARK.panel}


def test_everything_to_act_on_has_a_name_and_can_be_reached_by_keyboard(place):
    assert place.objectName()
    shown = [
        w
        for kind in INTERACTIVE
        for w in place.findChildren(kind)
        if w.isVisible() and w.isEnabled()
    ]
    for widget in shown:
        if widget.objectName().startswith("qt_"):
            continue
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        assert widget.accessibleName() or text, widget
        by_arrows = widget.property("role") == "segment" and not widget.isChecked()
        assert by_arrows or widget.focusPolicy() & Qt.FocusPolicy.TabFocus, widget


@pytest.fixture(scope="module")
def finished(
    theme: Theme, tmp_path_factory: pytest.TempPathFactory, folds: Path
) -> Iterator[MainWindow]:
    with open_window(theme, tmp_path_factory.mktemp("config"), folds) as window:
        finish(window)
        window.session.show_fold(1)
        settle(window)
        yield window


def called(widget: QWidget) -> str:
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


def test_everything_the_keyboard_reaches_and_every_panel_has_a_name(
    finished: MainWindow,
) -> None:
    nameless = set()
    for page in PAGES:
        finished.workspace.show_page(page.key)
        settle(finished)
        for widget in finished.findChildren(QWidget):
            reached = widget.focusPolicy() & Qt.FocusPolicy.TabFocus or isinstance(
                widget, Panel | Plot
            )
            # The ground of a plot passes the focus on to the plot.
            reached = reached and not isinstance(widget.parent(), Plot)
            if (
                reached
                and widget.isVisible()
                and widget.isEnabled()
                and not called(widget)
            ):
                nameless.add((page.key, type(widget).__name__, widget.objectName()))
    assert not nameless


def test_every_plot_that_shows_something_says_it(finished: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
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
                assert plot.accessibleDescription() == plot.summary() != "", (
                    plot.objectName()
                )
    assert {
        "CurvesPlot",
        "HeatMapPlot",
        "BarsPlot",
        "DensityPlot",
        "CandidateMapPlot",
    } <= seen


def test_curves_and_map_say_the_best_model(finished: MainWindow) -> None:
    record = finished.runs.shown
    paths = [path for (fold, _), path in record.paths.items() if fold == 1]
    best = max(float(np.max(path.validation["MAP"])) for path in paths)
    run = finished.sections.select
    run.curves.validation_plot.flush()
    assert run.curves.validation_plot.summary().startswith(
        f"validation MAP, best {best:.4f} at k = "
    )
    run.heat.plot.flush()
    assert run.heat.plot.summary().startswith(
        f"validation MAP, largest {best:.4f} at k = "
    )
    least = min(float(np.min(path.criterion)) for path in paths)
    assert f"best {least:.4f} at k = " in run.curves.criterion_plot.summary()
