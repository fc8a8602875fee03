"""What a person reads in the window and in the terminal's help has the words of the field."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QTableView,
    QWidget,
)

from rankstudio.cli import COMMANDS, main
from rankstudio.engine.methods.catalog import methods
from rankstudio.ui.main_window import MainWindow

OLD = re.compile(
    r"\b(judge[sd]?|judging|shel(f|ves)|desk|crew|bench|trade-?off|sign of life|settings?|agreement)\b",
    re.IGNORECASE,
)
"""Words that docs/architecture.md's table replaces, as a person might read them."""


def texts(window: QWidget) -> Iterator[str]:
    """Yield everything that the widgets of a window say."""
    for widget in (window, *window.findChildren(QWidget)):
        yield from (widget.toolTip(), widget.accessibleName(), widget.windowTitle(), widget.statusTip())
        match widget:
            case QLabel() | QAbstractButton():
                yield widget.text()
            case QGroupBox():
                yield widget.title()
            case QLineEdit():
                yield widget.placeholderText()
            case QComboBox():
                yield from (widget.itemText(i) for i in range(widget.count()))
            case QTableView() if widget.model() is not None:
                model = widget.model()
                for section in range(model.columnCount()):
                    for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                        yield str(model.headerData(section, Qt.Orientation.Horizontal, role) or "")
        if hasattr(widget, "placeholder"):
            yield str(widget.placeholder)
    for action in window.findChildren(QAction):
        yield from (action.text(), action.toolTip(), action.statusTip())


def test_the_pattern_finds_what_it_is_for() -> None:
    assert OLD.search("The judge ranks") and OLD.search("every setting")
    assert not OLD.search("Disagreement") and not OLD.search("the ranker's benchmark")


def test_no_old_word_is_seen_in_the_window(window: MainWindow) -> None:
    seen = list(texts(window))
    assert len(seen) > 200
    assert [text for text in seen if OLD.search(text)] == []


def test_no_old_word_is_seen_in_the_form_of_a_method(window: MainWindow) -> None:
    for entry in methods():
        window.session.change("trying", method=entry.key, parameters={}, ranker="", ranker_parameters={})
        found = [text for text in texts(window.sections.method.form) if OLD.search(text)]
        assert (entry.key, found) == (entry.key, [])


@pytest.mark.parametrize("command", COMMANDS)
def test_no_old_word_is_seen_in_the_help_of_a_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    help_text = capsys.readouterr().out
    assert command in help_text
    assert OLD.findall(help_text) == []
