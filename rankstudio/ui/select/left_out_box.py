"""The box that asks for the measures of left-out queries beside those of the validation part."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from rankstudio.ui.language import tr
from rankstudio.ui.widgets.layout import named


class LeftOutBox(QCheckBox):
    """A box to tick, which tells how far the measuring is."""

    def __init__(self) -> None:
        super().__init__(tr("Left-out queries"))
        named(self, "left-out-box")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumWidth(self.sizeHint().width())  # what is said while it works is shorter
        self.hide()

    def show_state(self, share: float | None, *, asked: bool, waiting: bool) -> None:
        """Show whether they are asked for, and how much of the path is measured; None where nothing is.

        ``waiting`` says that a run works, which comes first.
        """
        self.setChecked(asked)
        text = tr("Left-out queries")
        self.setAccessibleName(text)
        told = tr(
            "Measure the chosen models on the training queries too, each ranked by the model learned "
            "without it, and draw that beside the validation"
        )
        if waiting:
            told = tr("They are measured when the run is done")
            text = tr("Left-out: waiting")
        elif share is not None:
            text = tr("Left-out: {share:.0%}").format(share=share)
        self.setText(text)
        self.setToolTip(told)
