"""What a user's hands do on the Lab page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until

from rankstudio.ui.lab.form import LabForm


def write(form: LabForm, **values: object) -> None:
    """Type into fields, by the names of their parameters."""
    for name, value in values.items():
        editor = form.field(name).editor
        editor.setFocus()
        editor.selectAll()
        QTest.keyClicks(editor, str(value))
        QTest.keyClick(editor, Qt.Key.Key_Return)


def press(button: object) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def simulate(form: LabForm, **values: object) -> None:
    """Type into fields, press Start, and wait until all is simulated and shown."""
    write(form, **values)
    press(form.start)
    wait_until(lambda: form.status.text() == "done")
