"""Questions before something is lost, with buttons that say what they do."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import plain


class Question:
    """Asks whether something may be done."""

    @staticmethod
    def ask(parent: QWidget, title: str, text: str, do: str, leave: str = "") -> bool:
        """Ask, and wait for the answer.

        Parameters
        ----------
        parent : QWidget
        title, text : str
            The question.
        do, leave : str
            The buttons: "Discard results" and "Keep running"; *Cancel* where the second is not given. The
            second one has the keyboard, and Esc stands for it.

        Returns
        -------
        bool
            Whether the first was pressed.
        """
        box = QMessageBox(QMessageBox.Icon.Question, title, plain(text), parent=parent)
        act = box.addButton(do, QMessageBox.ButtonRole.AcceptRole)
        act.setObjectName("question-do")
        other = box.addButton(leave or tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(other)
        box.setEscapeButton(other)
        box.exec()
        return box.clickedButton() is act
