"""What a user's hands do to the fields of the form, and what the eyes read."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from rankstudio.ui.widgets.panel import Disclosure


def type_into(field, text):
    """Write over what stands in a line, and press Enter."""
    field.editor.setFocus()
    field.editor.selectAll()
    QTest.keyClicks(field.editor, text)
    QTest.keyClick(field.editor, Qt.Key.Key_Return)


def unfold(form):
    """Open what is folded under "More options"."""
    for fold in form.findChildren(Disclosure):
        if fold.isVisible() and not fold.opened:
            QTest.mouseClick(fold.button, Qt.MouseButton.LeftButton)


def pick(form, name, key):
    """Choose as a user does, from the field's box."""
    box = form.field(name).editor
    box.setCurrentIndex(box.findData(key))
    box.activated.emit(box.currentIndex())


def write(field, text):
    """Write over what stands in a box that takes any text."""
    field.editor.setFocus()
    line = field.editor.lineEdit()
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


def fact_texts(facts):
    """Return keys and values of a grid of facts as they are shown, notes included."""
    grid = facts._grid
    cells = [[grid.itemAtPosition(i, column) for column in (0, 1)] for i in range(grid.rowCount())]
    rows = [[item.widget() for item in row] for row in cells if all(row)]
    return [(key.text(), "".join(part.text() for part in value.findChildren(QLabel))) for key, value in rows]
