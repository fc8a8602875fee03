"""A combo box that fits into a narrow column, however long its choices are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPalette,
    QStandardItemModel,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
)

from rankstudio.ui.style.plain_text import plain

NOTE = Qt.ItemDataRole.UserRole + 1
"""Of an item of a box: what is to be known of the choice, shown below it."""

_INSET = 2  # of a box's text in its field
_LIST_MARGIN = 28  # of a list beside its longest text: scroll bar and padding
_KIND = Qt.ItemDataRole.AccessibleDescriptionRole  # Qt marks separators by it; a screen reader reads notes
_SEPARATOR, _SEPARATOR_HEIGHT = "separator", 9
_NOTE_WIDTH = 380  # pixels: a longer note ends in an ellipsis, and is whole in the tooltip
_NOTE_SCALE = 0.85  # of the text
_SIDE = 9  # beside a note, as the style sheet has it beside a choice
_MUTED = 0.65  # opacity of a note
_GAP = 5  # below a note


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


class _NotedDelegate(QStyledItemDelegate):
    """Draws what is to be known of a choice as a second, muted line."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the size of a choice, with its note."""
        size, note = super().sizeHint(option, index), index.data(NOTE)
        if index.data(_KIND) == _SEPARATOR:
            return QSize(0, _SEPARATOR_HEIGHT)
        if not note:
            return size
        metrics = QFontMetrics(_small(option.font))
        wide = min(metrics.horizontalAdvance(note), _NOTE_WIDTH) + 2 * _SIDE
        return QSize(max(size.width(), wide), size.height() + metrics.height() + _GAP)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the choice, and below it its note."""
        note = index.data(NOTE)
        if index.data(_KIND) == _SEPARATOR:
            y = option.rect.center().y()
            painter.setPen(option.palette.color(QPalette.ColorRole.Mid))
            painter.drawLine(option.rect.left() + _SIDE, y, option.rect.right() - _SIDE, y)
            return
        if not note:
            super().paint(painter, option, index)
            return
        item = QStyleOptionViewItem(option)
        self.initStyleOption(item, index)
        name, item.text = item.text, ""
        item.widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, item, painter, item.widget)
        small = _small(item.font)
        above = QRect(item.rect).adjusted(_SIDE, 0, -_SIDE, -QFontMetrics(small).height() - _GAP)
        below = QRect(above.left(), above.bottom(), above.width(), QFontMetrics(small).height())
        text = item.palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Text)
        muted = QColor(text)
        muted.setAlphaF(_MUTED)
        enabled = bool(item.state & QStyle.StateFlag.State_Enabled)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.save()
        painter.setFont(item.font)
        painter.setPen(text if enabled else muted)
        painter.drawText(above, left, name)
        painter.setFont(small)
        painter.setPen(muted)
        mode = Qt.TextElideMode.ElideRight
        painter.drawText(below, left, painter.fontMetrics().elidedText(note, mode, below.width()))
        painter.restore()


def _small(font: QFont) -> QFont:
    """Return the font of a note."""
    made = QFont(font)
    if font.pixelSize() > 0:
        made.setPixelSize(max(1, round(font.pixelSize() * _NOTE_SCALE)))
    else:
        made.setPointSizeF(font.pointSizeF() * _NOTE_SCALE)
    return made


def choice_box(
    choices: tuple[tuple[str, str], ...], cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight
) -> QComboBox:
    """Return a combo box over (key, label) pairs that fits into a narrow column.

    Parameters
    ----------
    choices : tuple of (key, label)
    cut : Qt.TextElideMode
        Where a text gives way that has no room; in the middle for names, which begin alike.
    """
    box = _CalmComboBox()
    box.cut = cut
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(6)
    box.setMaxVisibleItems(24)
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    set_choices(box, choices)
    return box


def set_choices(box: QComboBox, choices: tuple[tuple[str, str], ...]) -> None:
    """Offer (key, label) pairs instead of what a box offers."""
    box.clear()
    for key, label in choices:
        box.addItem(label, key)


def set_notes(
    box: QComboBox, lacking: Mapping[str, str], notes: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Say in the list what is to be known of some choices, below each.

    Parameters
    ----------
    box : QComboBox
        Of :func:`choice_box`.
    lacking : Mapping of str to str
        Why some keys cannot be chosen, as sentences: they are disabled.
    notes : Mapping of str to str
        What is to be known of keys that can.
    """
    if not isinstance(box.itemDelegate(), _NotedDelegate):
        box.setItemDelegate(_NotedDelegate(box))
    model = cast("QStandardItemModel", box.model())
    for place in range(box.count()):
        key, item = box.itemData(place), model.item(place)
        if key is None:  # a separator
            continue
        text = lacking.get(key) or notes.get(key, "")
        item.setEnabled(key not in lacking)
        item.setToolTip(plain(text) if text else "")
        for role in (NOTE, _KIND):
            item.setData(text or None, role)
