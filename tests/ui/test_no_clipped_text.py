"""No text of the window and its dialogs is cut: labels, headers, cells and buttons have their room."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from clipped_text import clipped
from processes import started
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QVBoxLayout, QWidget

from rankstudio.ui.select.fields import FeatureChip
from rankstudio.ui.style.fonts import BASE
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, ElidedLabel, TableView

UI_TESTS = Path(__file__).resolve().parent

PROGRAM = """
import json, sys
from pathlib import Path
from rankstudio.ui import language
language.install("system")
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QTabWidget
from clipped_text import clipped
from dialogs import look_at_dialogs
from rankstudio.ui.app import application
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.style.theme import Theme
from waiting import wait_until
from windows import open_window, settle

data, config, runs, sizes = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
app = application()
theme = Theme("light")
theme.apply(app)
found = {}

def kinds(base):
    return [one for kind in base.__subclasses__() for one in (kind, *kinds(kind))]

def look(*where):
    theme.finish()
    for _ in range(2):  # what waits for a turn of the event loop, and what that sets off
        settle(window)
        QApplication.processEvents()
    for text in clipped(window):
        found.setdefault(text, " ".join(map(str, where)))
    if window.size().toTuple() != (width, height):
        found.setdefault(f"the window is {window.size().toTuple()}", " ".join(map(str, where)))

with open_window(theme, config) as window:
    window.open_path(data)
    wait_until(lambda: window.session.dataset is not None)
    for run in runs:
        given = {name: tuple(values) for name, values in run.pop("parameters", {}).items()}
        ranker = {name: tuple(values) for name, values in run.pop("ranker_parameters", {}).items()}
        plan = {"folds": (1, 2), "ranker": "", "parameters": given, "ranker_parameters": ranker, **run}
        window.session.change("run", **plan)
        window.commands["run"].trigger()
        wait_until(lambda: not (window.runs.busy or window.models.run_worker.jobs), 150)
    wait_until(lambda: not window.models.task_worker.jobs, 60)
    sections, workspace = window.sections, window.workspace
    for width, height, text_size in sizes:
        theme.set_text_size(text_size)
        theme.finish()
        window.resize(width, height)
        for page in (page.key for page in window.workspace.entries):
            workspace.show_page(page)
            where = f"{width}x{height}", text_size, page
            if page == "data":
                tabs = window.findChild(QTabWidget, "statistics-tabs")
                for tab in range(tabs.count()):
                    tabs.setCurrentIndex(tab)
                    look(*where, tab)
            elif page == "compare":
                for view in ("tests", "folds", "stability", "published", "conventions", "pareto"):
                    sections.compare.views.show_view(view)
                    look(*where, view)
            elif page == "evidence":
                for record in window.runs.records:
                    sections.compare.panel.selected.emit(record.key)
                    look(*where, record.plan.title)
            elif page == "lab":
                for tab in sections.contributed.controllers["lab"].tabs.keys:
                    sections.contributed.controllers["lab"].tabs.select(tab)
                    look(*where, tab)
            elif page in ("select", "features"):
                for record in window.runs.records:
                    sections.compare.panel.selected.emit(record.key)
                    look(*where, record.plan.title)
            else:
                look(*where)

        def look_at(name, dialog):
            theme.finish()
            QApplication.processEvents()
            for text in clipped(dialog):
                found.setdefault(text, f"{name}, {text_size}")

        seen = look_at_dialogs(window, config, look_at)
        for one in kinds(QDialog):
            if one.__module__.startswith("rankstudio") and not one.__subclasses__() and one not in seen:
                found[one.__name__] = "was not opened"
print(json.dumps(found))
"""

GREEDY = {"method": "greedy-rankrls", "parameters": {"regularization": (1.0, 32.0)}}
FSMRANK = {
    "method": "fsmrank",
    "parameters": {"lambda1": (0.01,), "lambda2": (0.001, 0.01)},
}
RANKER = {"method": "ranksvm", "parameters": {"C": (0.00390625, 0.0625)}}
TWO_STAGES = {
    "method": "gas",
    "ranker": "ranksvm",
    "ranker_parameters": {"C": (0.0625,)},
}
LARGEST = 18
"""Pixels of the text as View, Larger text makes it."""


def _cut(
    data: str,
    folder: Path,
    runs: list[dict[str, object]],
    sizes: list[tuple[int, ...]],
    language: str,
) -> object:
    """Return what is cut in a window, and where."""
    surroundings = {
        "LANGUAGE": language,
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([str(UI_TESTS), str(UI_TESTS.parent / "engine")]),
    }
    given = str(folder), json.dumps(runs), json.dumps(sizes)
    printed, _ = started(PROGRAM, folder, data, *given, **surroundings)
    return json.loads(printed.splitlines()[-1])


@pytest.mark.thorough
@pytest.mark.timeout(900)  # a minute of processor, of which a busy machine gives little
@pytest.mark.parametrize(
    # texts are longer in German: what has its room there has it in English
    ("language", "sizes"),
    [
        ("en", [(1280, 760, LARGEST)]),
        ("de_DE", [(1280, 760, BASE), (1024, 700, LARGEST)]),
    ],
    ids=["en", "de_DE"],
)
def test_nothing_is_cut_at_any_size(
    tmp_path: Path, language: str, sizes: list[tuple[int, ...]]
) -> None:
    runs = [GREEDY, FSMRANK, RANKER, TWO_STAGES]
    assert _cut("sample", tmp_path, runs, sizes, language) == {}


def _shown(stage: object, *widgets: QWidget) -> QWidget:
    made = QWidget()
    column = QVBoxLayout(made)
    for widget in widgets:
        column.addWidget(widget)
    return stage(made, 300, 200)


@pytest.mark.parametrize("kind", [QLabel, QPushButton])
def test_a_text_without_room_is_found(stage: object, kind: type[QWidget]) -> None:
    widget = kind("far too much for sixty pixels")
    widget.setMinimumWidth(60)
    widget.setMaximumWidth(60)
    assert len(clipped(_shown(stage, widget))) == 1
    widget.setMaximumWidth(400)
    widget.setMinimumWidth(260)
    widget.resize(260, widget.height())
    assert clipped(widget.window()) == []


def test_lines_without_room_are_found(stage: object) -> None:
    label = QLabel("many words " * 20)
    label.setWordWrap(True)
    label.setFixedSize(100, 20)
    assert "of height" in clipped(_shown(stage, label))[0]


def test_a_choice_without_room_is_found_unless_a_tooltip_has_it(stage: object) -> None:
    box = QComboBox()
    box.addItem("far too much for sixty pixels")
    box.setFixedWidth(60)
    shown = _shown(stage, box)
    assert len(clipped(shown)) == 1
    box.setToolTip(box.currentText())
    assert clipped(shown) == []


def test_what_is_cut_on_purpose_says_all_in_its_tooltip(stage: object) -> None:
    label = ElidedLabel("a name that is far too long for the room of sixty pixels")
    label.setFixedWidth(60)
    shown = _shown(stage, label)
    assert clipped(shown) == []
    label.setToolTip("")
    assert len(clipped(shown)) == 1


def test_a_cell_and_a_header_without_room_are_found(
    stage: object, theme: Theme
) -> None:
    columns = (
        Column("number", "a long title", "right"),
        Column("name", "name", stretch=True),
    )
    table = TableView(theme, columns, "cells")
    table.set_rows([{"number": "1234567890123", "name": "a name " * 20}])
    shown = _shown(stage, table)
    assert clipped(shown) == []
    table.setColumnWidth(0, 40)
    assert [text.split(": ")[1].split(" ")[0] for text in clipped(shown)] == [
        "header",
        "cell",
    ]


def test_a_chip_without_room_for_its_id_is_found(stage: object, theme: Theme) -> None:
    chip = FeatureChip(
        theme, 1234567, "a name that is far too long for the room beside the id"
    )
    chip.setFixedWidth(120)
    shown = _shown(stage, chip)
    assert clipped(shown) == []
    chip.setToolTip("")
    assert len(clipped(shown)) == 1
    chip.setFixedWidth(60)
    assert len(clipped(shown)) == 2


def test_a_widget_outside_of_its_parent_is_found(stage: object) -> None:
    inside = QWidget()
    label = QLabel("text", inside)
    label.move(500, 0)
    label.setAlignment(Qt.AlignmentFlag.AlignLeft)
    assert "is not all in" in clipped(_shown(stage, inside))[0]
