"""What stands in place of a number of the sealed test part."""

from __future__ import annotations

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtWidgets import QPushButton

from rankstudio.ui.language import tr
from rankstudio.ui.widgets.layout import named


class CoveredNumber(QPushButton):
    """A button that shows that a number is covered; one click uncovers the test part.

    Parameters
    ----------
    unseal : SignalInstance
        Emitted on a click.
    """

    def __init__(self, unseal: SignalInstance) -> None:
        super().__init__(tr("test: ••••  Show"))
        text = tr("Show the results of the sealed test part")
        tip = tr("The test part is sealed. Click to show its results; the study counts each look.")
        named(self, "covered-number", text, tip, role="link")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(unseal)
        self.hide()
