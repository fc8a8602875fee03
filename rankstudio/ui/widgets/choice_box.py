"""A combo box that fits into a narrow column, however long its choices are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QSizePolicy, QStyle, QStyleOptionComboBox

from rankstudio.ui.style.plain_text import plain

_INSET = 2  # of a box's text in its field
_LIST_MARGIN = 28  # of a list beside its longest text: scroll bar and padding


class _CalmComboBox(QComboBox):
    """A combo box that scrolls the form past it, and not its own value, under the mouse's wheel.

    Its list is as wide as its longest text, however narrow the form is; where the text of the box itself is
    cut, there is an ellipsis.
    """

    cut = Qt.TextElideMode.ElideRight

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Cut the text where it has no room."""
        super().initStyleOption(option)
        box, text = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(box, option, text, self).width() - _INSET
        option.currentText = self.fontMetrics().elidedText(self.currentText(), self.cut, room)

    def showPopup(self) -> None:
        """Open the list, wide enough for what is in it."""
        view = self.view()
        view.setTextElideMode(Qt.TextElideMode.ElideNone)
        view.setMinimumWidth(max(self.width(), view.sizeHintForColumn(0) + _LIST_MARGIN))
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the form."""
        event.ignore()


def choice_box(
    choices: tuple[tuple[str, str], ...],
    lacking: Mapping[str, str] = MappingProxyType({}),
    cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> QComboBox:
    """Return a combo box over (key, label) pairs that fits into a narrow column.

    Parameters
    ----------
    choices : tuple of (key, label)
    lacking : Mapping of str to str
        Why some keys cannot be chosen, as sentences: they are shown disabled, with the reason.
    cut : Qt.TextElideMode
        Where a text gives way that has no room; in the middle for names, which begin alike.
    """
    box = _CalmComboBox()
    box.cut = cut
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(6)
    box.setMaxVisibleItems(24)
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    for key, label in choices:
        box.addItem(label, key)
        if key in lacking:
            item = box.model().item(box.count() - 1)  # type: ignore[attr-defined]
            item.setEnabled(False)
            item.setToolTip(plain(lacking[key]))
    return box
