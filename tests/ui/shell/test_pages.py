"""The pages of the window: by the rail, by keys, remembered, and a panel alone on its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSplitter, QToolButton, QWidget
from waiting import wait_until
from windows import Opened, finish, pages_present, press_keys, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.page.page import Page, PanelWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.select.fields import Field
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.workspace import FIRST
from rankstudio.ui.widgets import Panel, TableView

_LEAST_MAP = 173  # pixels, with which the cells of a map can be told apart


prepare = settle


def page(window: MainWindow) -> Page:
    return window.findChild(Page, f"{window.workspace.page}-page")


def see_select(window: MainWindow) -> None:
    """Go to the Select page by its key."""
    press_keys(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    settle(window)


def double_click_header(panel: QWidget) -> None:
    header = panel.layout().itemAt(0).widget()
    QTest.mouseDClick(header, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))


def test_a_panel_has_a_window_of_its_own_and_comes_back_to_its_place(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    curves = window.sections.select.curves
    see_select(window)
    wait_until(window.loading.isHidden)
    QApplication.processEvents()
    before = {
        splitter.objectName(): splitter.sizes()
        for splitter in page(window).findChildren(QSplitter)
    }
    beside = window.sections.features.inspector
    page(window).pop_out(curves)
    out = panel_window(window, curves.objectName())
    assert out.isVisible()
    assert out.isAncestorOf(curves)
    assert curves.isVisible()
    assert beside.isVisible()
    settle(window)
    window.workspace.show_page("data")
    assert curves.isVisible(), "it stays where it is, whatever the page"
    window.workspace.show_page("select")
    QTest.keyClick(out, Qt.Key.Key_Escape)
    assert not out.isVisible()
    assert page(window).isAncestorOf(curves)
    assert curves.isVisible()
    settle(window)
    after = {
        splitter.objectName(): splitter.sizes()
        for splitter in page(window).findChildren(QSplitter)
    }
    assert after == before


def test_page_and_sizes_are_remembered_but_not_that_a_panel_was_alone(
    opened: Opened, folds: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(folds) as window:
        window.workspace.show_page("features")
        page(window).maximise(window.sections.features.profile)
        # as if it had been dragged
        page(window).findChildren(TableView)[0].restore_widths('{"id": 90}')
        settle(window)
    with opened(folds) as window:
        assert window.workspace.page == "features"
        assert window.sections.features.path.isVisible()
        assert page(window).findChildren(TableView)[0].widths.as_text() == '{"id": 90}'
        settle(window)


@pytest.mark.thorough
def test_panels_in_windows_are_there_again_at_the_next_start(
    opened: Opened, folds: Path
) -> None:
    with opened(folds) as window:
        panels = window.sections.select.curves, window.sections.data.statistics
        settle(window)
        wait_until(window.loading.isHidden)
        QApplication.processEvents()
        before = {
            each.objectName(): each.sizes()
            for each in page(window).findChildren(QSplitter)
        }
        for key, panel in zip(("select", "data"), panels, strict=True):
            window.workspace.show_page(key)
            page(window).pop_out(panel)
        panel_window(window, panels[0].objectName()).resize(777, 555)
        window.workspace.show_page("select")
    with opened():
        pass  # nothing was opened: they wait for the next time
    with opened(folds) as window:
        for panel in (window.sections.select.curves, window.sections.data.statistics):
            out = panel_window(window, panel.objectName())
            assert out.isVisible()
            assert out.isAncestorOf(panel)
        assert panel_window(window, "curves-panel").size().width() == 777
        page(window).bring_back()
        settle(window)
        wait_until(window.loading.isHidden)
        QApplication.processEvents()
        for splitter in page(window).findChildren(QSplitter):
            assert splitter.sizes() == pytest.approx(
                before[splitter.objectName()], abs=12
            )
    with opened(folds) as window:
        assert panel_window(window, "curves-panel") is None
        assert panel_window(
            window, window.sections.data.statistics.objectName()
        ).isVisible()


def test_panels_of_a_whole_column_leave_their_room_to_the_others(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    window.resize(1280, 760)
    shown = page(window)
    see_select(window)
    width = window.sections.select.curves.width()
    right = window.sections.features.features, window.sections.features.inspector
    for panel in right:
        shown.pop_out(panel)
    settle(window)
    assert window.sections.select.curves.width() > width
    window.close_unasked()
    assert all(shown.isAncestorOf(panel) for panel in right), (
        "closing the window brings them back"
    )


def test_a_layout_of_an_earlier_version_is_ignored_where_its_panels_are_gone(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    settings = Settings(tmp_path / "config")
    for name in ("middle", "below-curves", "paths", "data"):
        settings.set(f"sizes/{name}", "300 300")
    settings.set("sizes/features", "400 300 300")
    settings.set("windows/select-page", "candidates-panel heat-panel")
    settings.set("windows/features-page", "alone-panel")
    settings.sync()
    with opened(folds) as window:
        for key in pages_present(window, "select", "features", "data"):
            window.workspace.show_page(key)
            settle(window)
        assert not window.findChildren(PanelWindow)
        for panel in (
            window.sections.select.curves,
            window.sections.features.alone.panel,
            window.sections.features.path,
        ):
            assert panel.width() > 200 or not panel.isVisible()


def test_a_page_is_shown_by_its_key_and_by_its_button(ran: MainWindow) -> None:
    for number, shown in enumerate(PAGES, start=1):
        press_keys(
            ran, Qt.Key(Qt.Key.Key_0 + number), Qt.KeyboardModifier.ControlModifier
        )
        assert ran.workspace.page == shown.key
        button = ran.findChild(QToolButton, f"page-{shown.key}")
        assert button.isChecked()
        ran.workspace.show_page(FIRST)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert ran.workspace.page == shown.key
        assert page(ran).isVisible()
        settle(ran)


def test_run_and_its_neighbours_are_the_first_stops_of_tab(window: MainWindow) -> None:
    window.resize(1280, 760)  # in a narrow window Step is in the menu alone
    # which stops loading, too
    wait_until(lambda: not window.commands["stop"].isEnabled())
    stops = []
    for _ in range(3):
        at = QApplication.focusWidget() or window
        QTest.keyClick(at, Qt.Key.Key_Tab)
        stops.append(QApplication.focusWidget().objectName())
    # with no run, there is nothing to pause or stop
    assert stops == ["tool-run", "tool-step", "tool-open"]


def test_the_rail_is_one_stop_of_tab_and_arrows_walk_along_it(ran: MainWindow) -> None:
    first = ran.findChild(QToolButton, f"page-{PAGES[0].key}")
    ran.workspace.show_page(PAGES[0].key)
    first.setFocus()
    for wanted in PAGES[1:]:
        QTest.keyClick(ran.workspace.rail, Qt.Key.Key_Down)
        assert ran.workspace.page == wanted.key
    QTest.keyClick(ran.workspace.rail, Qt.Key.Key_Down)
    assert ran.workspace.page == PAGES[-1].key
    stops = [
        b
        for b in ran.workspace.rail.findChildren(QToolButton)
        if b.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert [stop.objectName() for stop in stops] == [f"page-{PAGES[-1].key}"]
    settle(ran)


def test_a_double_click_on_a_header_gives_a_panel_the_page_and_another_takes_it_back(
    ran: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    curves = ran.sections.select.curves
    others = [
        ran.sections.select.method.form,
        ran.sections.features.inspector,
        ran.sections.features.features,
    ]
    settle(ran)
    QApplication.processEvents()
    before = curves.size()
    double_click_header(curves)
    QApplication.processEvents()
    assert page(ran).maximised is curves
    assert not any(other.isVisible() for other in others)
    assert curves.width() > before.width()
    double_click_header(curves)
    QApplication.processEvents()
    assert all(other.isVisible() for other in others)
    assert curves.size() == before


def test_a_page_shows_what_was_chosen_while_another_one_was_seen(
    ran: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    ran.session.toggle("pinned", 2)
    settle(ran)
    ran.workspace.show_page("features")
    path = ran.sections.features.path
    assert path.table.rows()
    assert [row.feature_id for row in path.table.rows()] == [
        row.feature_id for row in ran.sections.features.features.table.rows()
    ]
    settle(ran)


def test_f1_opens_the_guide_where_it_tells_of_the_place(ran: MainWindow) -> None:

    def told() -> str:
        ran.commands["guide"].trigger()
        guide = ran.help.guide
        block = guide._browser.cursorForPosition(QPoint(40, 24)).block()
        while block.blockFormat().headingLevel() == 0:
            block = block.next()
        return str(block.text())

    ran.workspace.show_page("compare")
    ran.sections.compare.panel.table.setFocus()
    assert told() == "Runs"
    ran.workspace.show_page("select")
    ran.sections.select.curves.validation_plot.setFocus()
    assert told() == "Read the curves"
    ran.help.guide.close()
    settle(ran)


def panel_window(window: MainWindow, name: str) -> PanelWindow:
    return window.findChild(PanelWindow, f"{name}-window")


def test_the_window_of_a_panel_keeps_its_size_and_its_commands(ran: MainWindow) -> None:
    shown, panel = page(ran), ran.sections.select.curves
    see_select(ran)
    shown.pop_out(panel)
    out = panel_window(ran, panel.objectName())
    out.resize(777, 555)
    assert ran.commands["run"] in out.actions()
    double_click_header(panel)
    assert shown.isAncestorOf(panel)
    shown.save(Settings(Path(ran._settings.folder)))
    settle(ran)
    shown.pop_out(panel)
    assert panel_window(ran, panel.objectName()).size().width() == 777
    shown.bring_back()
    assert not shown._windows


def test_the_focused_panel_goes_out_by_key(ran: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    see_select(ran)
    table = ran.sections.features.features.table
    table.setFocus()
    ran.commands["pop_out"].trigger()
    assert panel_window(ran, ran.sections.features.features.objectName()).isVisible()
    page(ran).bring_back()


def test_the_focused_panel_has_the_whole_page_by_key(ran: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    see_select(ran)
    panel, beside = ran.sections.features.features, ran.sections.features.inspector
    panel.table.setFocus()
    wait_until(lambda: QApplication.focusWidget() is panel.table)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(ran, Qt.Key.Key_F, both)
    assert page(ran).maximised is panel
    assert not beside.isVisible()
    QTest.keyClick(ran, Qt.Key.Key_F, both)
    assert page(ran).maximised is None
    assert beside.isVisible()
    page(ran).pop_out(panel)
    panel_window(ran, panel.objectName()).activateWindow()
    panel.table.setFocus()
    wait_until(lambda: QApplication.focusWidget() is panel.table)
    QTest.keyClick(panel_window(ran, panel.objectName()), Qt.Key.Key_F, both)
    assert page(ran).isAncestorOf(panel), "from its window it comes back"


def test_no_title_of_select_is_cut_in_the_least_window(ran: MainWindow) -> None:
    ran.resize(1024, 700)
    ran.workspace.show_page("select")
    finish(ran)
    for panel in page(ran).findChildren(Panel):
        assert panel._title.shown_text() == panel._title.text()
        assert panel._title.text()
    candidates = ran.sections.select.candidates
    assert candidates.verdict.text().startswith("Step ")
    assert candidates.accessibleName().startswith("Candidates at step ")


@pytest.mark.thorough
def test_the_form_is_whole_beside_a_run_with_a_long_name_in_the_least_window(
    ran: MainWindow,
) -> None:
    ran.resize(1024, 700)
    ran.workspace.show_page("select")
    judge = {"n_basis": 8, "gamma": (0.5, 1.0), "regularization": (0.5, 1.0)}
    ran.session.change("the judge", ranker="kernel-rankrls", ranker_parameters=judge)
    finish(ran)
    ran.session.show_fold(1)
    settle(ran)
    form, run = ran.sections.select.method.form, ran.sections.select
    assert run.curves._title.text() == "Greedy RankRLS, then Kernel RankRLS"
    for view in (0, 1):
        run.curves.view._buttons()[view].click()
        editors = [
            field.editor for field in form.findChildren(Field) if field.isVisible()
        ]
        assert len(editors) > 5
        for editor in editors:
            assert form.width() > editor.mapTo(form, QPoint(editor.width(), 0)).x()
            seen = editor.visibleRegion().boundingRect()
            assert seen.width() in (editor.width(), 0)  # 0: below what is seen
    assert run.heat.isVisible() and run.heat.width() >= _LEAST_MAP
    columns = ran.findChild(QSplitter, "columns")
    assert columns.widget(2).geometry().right() < columns.width() <= ran.width()


@pytest.mark.ability("report")
def test_the_report_s_words_can_be_read_in_a_small_window(ran: MainWindow) -> None:
    ran.workspace.show_page("report")
    words = ran.sections.report.words
    for width, height in ((1024, 700), (960, 600)):
        ran.resize(width, height)
        settle(ran)
        for field in (words.question, words.notes):
            line = field.fontMetrics().lineSpacing()
            assert field.visibleRegion().boundingRect().height() >= 2 * line
            assert words.rect().contains(field.geometry())
