"""Names of others are shown as they are: no widget of the window takes them for rich text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QHelpEvent, QTextDocument
from PySide6.QtGui import Qt as Text
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QStyleOptionViewItem,
    QTableView,
    QToolTip,
    QWidget,
)
from waiting import wait_until
from windows import N_FEATURES, Opened, finish, settle, slowly, write_folds

import rankstudio.ui
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import BarRows, ElidedLabel, KeyValue, Notice
from rankstudio.ui.widgets.facts import Fact

EVIL = '<img src="no-such-picture">'
RICH = ("inspector-facts",)
"""Labels whose rich text is ours; what they say of others is escaped."""


def shown(text: str) -> str:
    """Return what Qt shows of a text whose format it finds out by itself, as it does in tooltips."""
    if not Text.mightBeRichText(text):
        return text
    document = QTextDocument()
    document.setHtml(text)
    return document.toPlainText()


def tips(window: QWidget) -> Iterator[tuple[str, str]]:
    """Yield whose tooltip it is, and the tooltip, for all widgets, actions, headers and cells."""
    for widget in (window, *window.findChildren(QWidget)):
        where = f"{type(widget).__name__} {widget.objectName()}"
        yield where, widget.toolTip()
        if isinstance(widget, QTableView) and (model := widget.model()) is not None:
            for section in range(model.columnCount()):
                tip = model.headerData(
                    section, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
                )
                yield f"header of {where}", tip or ""
                for row in range(model.rowCount()):
                    yield (
                        f"cell of {where}",
                        model.index(row, section).data(Qt.ItemDataRole.ToolTipRole)
                        or "",
                    )
    for action in window.findChildren(QAction):
        yield f"action {action.text()}", action.toolTip()


def check(window: QWidget) -> int:
    """Check all widgets; return how often the name is in a tooltip or a label."""
    seen = 0
    for where, tip in tips(window):
        if "no-such-picture" in tip:
            seen += 1
            assert EVIL in shown(tip), where
    for label in ([window] if isinstance(window, QLabel) else []) + window.findChildren(
        QLabel
    ):
        if label.objectName() in RICH:
            assert label.text().count(EVIL) == 0
        else:
            assert label.textFormat() == Qt.TextFormat.PlainText, (
                label.objectName(),
                label.text(),
            )
        seen += "no-such-picture" in label.text()
    return seen


@pytest.fixture(scope="module")
def named_folds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data whose folder and whose features have such a name."""
    folder = write_folds(tmp_path_factory.mktemp("data") / EVIL)
    lines = [
        f'{i},"{EVIL.replace(chr(34), chr(34) * 2)} {i}"'
        for i in range(1, N_FEATURES + 1)
    ]
    (folder / "features.csv").write_text("\n".join(["id,name", *lines]))
    return folder


def test_a_name_that_looks_like_a_picture_is_a_text_everywhere(
    opened: Opened, named_folds: Path
) -> None:
    with opened(named_folds) as window:
        settle(window)
        assert EVIL in window.session.dataset.name
        assert EVIL in window.session.dataset.folds[0].train.feature_names[0]
        parameters = window.session.plan.parameters
        window.session.change(
            "pinning", parameters={**parameters, "pinned": (2,), "banned": (8,)}
        )
        assert check(window) > 2
        finish(window)
        window.sections.compare.panel.selected.emit(1)
        settle(window)
        assert check(window) > 6


def test_the_statistics_and_the_documents_show_it_as_text(
    opened: Opened, named_folds: Path
) -> None:
    with opened(named_folds) as window:
        settle(window)
        panel = window.findChild(QWidget, "data-panel")
        wait_until(lambda: panel.has_summary(panel._fold))
        window.workspace.show_page("data")
        window.sections.data.statistics._tabs.setCurrentIndex(2)
        assert check(window.sections.data.statistics) > N_FEATURES


def test_text_stays_as_it_is_unless_it_looks_rich() -> None:
    for text in ("", "BM25 & title", "a < b", "two\nlines", "x>y"):
        assert plain(text) == text
    for text in (EVIL, f"best: {EVIL}\n<b>x</b>  y", "<b>&amp;</b>", "&lt;"):
        assert shown(plain(text)).replace("\u2028", "\n") == text


def _notice(theme: Theme) -> Notice:
    made = Notice(theme)
    made.say(EVIL)
    return made


def _bars(theme: Theme) -> BarRows:
    made = BarRows(theme)
    made.set_rows([(EVIL, 3)])
    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda theme: PlainLabel(EVIL),
        lambda theme: ElidedLabel(EVIL * 40),
        lambda theme: KeyValue([Fact(EVIL, EVIL, EVIL, tooltip=EVIL)]),
        _notice,
        _bars,
    ],
)
def test_a_control_shows_it_as_text(
    theme: Theme, stage: Callable[..., QWidget], make: Callable[[Theme], QWidget]
) -> None:
    assert check(stage(make(theme), 200, 60)) > 0


def test_a_cell_that_is_cut_off_tells_its_text(
    opened: Opened, named_folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(
        QToolTip, "showText", lambda _at, text, _view: said.append(text)
    )
    with opened(named_folds) as window:
        settle(window)
        panel = window.findChild(QWidget, "data-panel")
        wait_until(lambda: panel.has_summary(panel._fold))
        window.workspace.show_page("data")
        table = window.sections.data.statistics.table
        for column in range(table.model().columnCount()):
            table.horizontalHeader().setSectionResizeMode(
                column, QHeaderView.ResizeMode.Fixed
            )
            table.setColumnWidth(column, 20)
            index = table.model().index(0, column)
            event = QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(), QPoint())
            table.itemDelegate().helpEvent(event, table, QStyleOptionViewItem(), index)
    assert any("no-such-picture" in text for text in said)
    assert all(EVIL in shown(text) for text in said if "no-such-picture" in text)


def test_a_question_shows_it_as_text(
    opened: Opened, named_folds: Path, questions: list[str]
) -> None:
    with opened(named_folds, slowly) as window:
        window.commands["run"].trigger()
        window.sections.compare.changes.ask_removal(window.runs.records[0])
        settle(window)
    assert len(questions) == 1
    assert EVIL in shown(plain(questions[0]))


def test_labels_are_made_plain_in_one_place() -> None:
    package = Path(rankstudio.ui.__file__).parent
    made = {
        path.name
        for path in package.rglob("*.py")
        if re.search(r"\bQLabel\(", path.read_text("utf-8"))
    }
    assert made <= {"plain_text.py", "elided.py", "inspector_panel.py"}, (
        "PlainLabel shows names as they are"
    )
