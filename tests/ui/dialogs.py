"""Every dialog of a window, opened one after the other: for tests of what all of them have to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QListWidget, QWidget
from waiting import turn, wait_until

from rankstudio.api import Analysis, Kind, Parameter
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.select.given_runs import GivenDialog
from rankstudio.ui.shell.analysis_dialog import AnalysisDialog
from rankstudio.ui.study.dialogs import ColumnsDialog

Look = Callable[[str, QWidget], None]
"""Looks at a dialog, which has a name here."""

DIGITS = Parameter(
    "digits", "decimals", Kind.INTEGER, 2, "Decimals of each mean.", low=0, high=9
)
ANALYSES = {
    "means": Analysis(
        "means",
        "Means of features",
        "List the mean of each feature",
        "none:means",
        (DIGITS,),
    )
}
"""Of a package that is not installed: the dialog is made without carrying them out."""

_TABLE = "number,document,label,BM25 of the whole document,clicks\n1,a,2,0.5,3\n1,b,0,0.25,0\n2,c,1,0.75,1\n"
_LISTS = ("export-items", "export-format", "figure-choice", "figure-format")
"""What is chosen in them changes the rest of their dialog."""


def look_at_dialogs(window: MainWindow, folder: Path, look: Look) -> set[type]:
    """Show each dialog that a window with data and finished runs can open, and every page of it.

    Parameters
    ----------
    window : MainWindow
    folder : Path
        Where files are written that a dialog is about.
    look : callable

    Returns
    -------
    set of type
        The classes of the dialogs.
    """
    classes = set()

    def seen(name: str, dialog: QWidget) -> None:
        classes.add(type(dialog))
        for page in _pages(dialog):
            turn(0.02)
            look(f"{name} {page}".strip(), dialog)

    for name, act in _asking(window).items():
        _ask(act, lambda dialog, name=name: seen(name, dialog))
    for name, dialog in _made(window, folder):
        dialog.show()
        seen(name, dialog)
        dialog.close()
        dialog.deleteLater()
    window.help.guide = None
    return classes


def _pages(dialog: QWidget) -> Iterator[str]:
    """Choose each entry of the lists that change a dialog, and return what is chosen."""
    yield ""
    for name in _LISTS:
        found = dialog.findChild(QWidget, name)
        for row in range(
            found.count() if isinstance(found, QListWidget | QComboBox) else 0
        ):
            (
                found.setCurrentRow
                if isinstance(found, QListWidget)
                else found.setCurrentIndex
            )(row)
            if isinstance(found, QComboBox):
                found.activated.emit(row)
            yield f"{name} {row}"


def _ask(act: Callable[[], object], look: Callable[[QDialog], None]) -> None:
    """Open a dialog by what may wait for its end; look at it, and close it."""
    looked: list[bool] = []

    def poll() -> None:
        dialog = QApplication.activeModalWidget() or QApplication.activePopupWidget()
        if not isinstance(dialog, QDialog):
            timer.start(10)
            return
        try:
            turn(0.2)
            look(dialog)
        finally:
            looked.append(True)
            dialog.reject()

    timer = QTimer()
    timer.setSingleShot(True)
    timer.timeout.connect(poll)
    timer.start(10)
    act()
    wait_until(lambda: looked)
    turn(0.02)


def _asking(window: MainWindow) -> dict[str, Callable[[], object]]:
    """Return what opens dialogs, and may wait for their end."""
    backend = window.commands.submenus["backend"].actions()
    # one that has ended is removed unasked
    waiting = replace(window.runs.records[0], state=RunState.QUEUED)

    def ask_sizes() -> None:
        window.sections.compare.panel.selected.emit(1)  # of greedy RankRLS
        wait_until(lambda: window.sections.evidence.evidence.search_request is not None)
        window.sections.evidence.show_sizes()

    def select_for_queries() -> None:
        window.session.show_fold(1)
        window.workspace.show_page("queries")
        queries = window.sections.queries
        queries.bar.scope._buttons()[-1].click()
        wait_until(lambda: {query.fold for query in queries.queries} == {1})
        queries.list.brush(tuple(range(len(queries.queries) // 2)))
        queries.list.select_for.click()

    return {
        "sizes": ask_sizes,
        "query paths": select_for_queries,
        "open": window.open_controller.ask,
        "table": window.sections.compare.table.open,
        "palette": window._open_palette,
        "sources": window._show_sources,
        "memory": next(
            one for one in backend if one.objectName() == "memory-budget"
        ).trigger,
        "cluster": [one for one in backend if one.isCheckable()][-1].trigger,
        "about": window.help.about,
        "plug-ins": window.help.show_plugins,
        "cite": window.commands["cite"].trigger,
        "measure": window.measurement.ask_measure,
        "removal": lambda: window.sections.compare.changes.ask_removal(waiting),
    }


def _made(window: MainWindow, folder: Path) -> Iterator[tuple[str, QWidget]]:
    """Return the dialogs that can be had before they are shown, and the guide."""
    table = folder / "judgments-of-the-whole-collection.csv"
    table.write_text(_TABLE, encoding="utf-8")
    yield "export", window.export_controller.dialog()
    figures = window.export_controller.figure_dialog()
    assert figures is not None
    yield "figure", figures
    yield "comparison", window.comparison.dialog()
    yield "analyses", AnalysisDialog(window._theme, window.models, ANALYSES, window)
    problem = f"{table.name}: the column of the query is unknown."
    yield (
        "columns",
        ColumnsDialog(
            window._theme, preview_table(table), DataColumns(), problem, window
        ),
    )
    yield "scores", GivenDialog("Add scores", "&Add", [(table, table.name)], window)
    places = [(table, "this model"), (table.parent, "one model per fold")]
    yield "models", GivenDialog("Open model as ranker", "&Open", places, window)
    window.help.open_guide("glossary.md")
    assert window.help.guide is not None
    yield "guide", window.help.guide
