"""Controls with which the user chooses one of several values: segments, sliders, combo boxes, list menus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QColor,
    QCursor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QShowEvent,
    QStandardItemModel,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSlider,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionSlider,
    QStyleOptionViewItem,
    QWidget,
    QWidgetAction,
)

from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import BASE, LEFT, font
from rankstudio.ui.style.number_format import power, power_and_value
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.layout import fill, named

_STEPS_BY_KEY: dict[int, int] = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Down: 1,
}


class Segment(QPushButton):
    """A narrow button for a number or a short word."""

    def sizeHint(self) -> QSize:
        """Return room for the bold text of a chosen button, so that choosing does not move other buttons."""
        width = QFontMetrics(font(BASE, bold=True)).horizontalAdvance(self.text()) + 20
        return QSize(max(30, width), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the least width that still shows the text."""
        return QSize(self.sizeHint().width() - 8, super().minimumSizeHint().height())


class ButtonChoice(QWidget):
    """A group of buttons of which exactly one is chosen.

    The Tab key stops at the chosen button; arrow keys move to other buttons.
    """

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the next or previous visible button by the arrow keys.

        At the end of the row of buttons, the chosen button stays chosen.
        """
        # `step` is 1 or -1 for an arrow key, None for any other key.
        # The id of a button is its position, -1 for none; the group
        # returns None for a button beyond its ends.
        step = _STEPS_BY_KEY.get(event.key())
        checked_id = self._group.checkedId()
        button = (
            self._group.button(checked_id + step)
            if step is not None and checked_id >= 0
            else None
        )
        while button is not None and step is not None and button.isHidden():
            button = self._group.button(self._group.id(button) + step)
        if button is not None:
            button.setFocus(Qt.FocusReason.TabFocusReason)
            button.click()

        # Other keys are left to the widget around this one.
        event.setAccepted(step is not None and checked_id >= 0)

    def _keep_one_tab_stop(self) -> None:
        """Let Tab stop at the chosen button only, as it does for radio buttons."""
        for button in self._group.buttons():
            focusable = (
                Qt.FocusPolicy.TabFocus
                if button.isChecked()
                else Qt.FocusPolicy.NoFocus
            )
            button.setFocusPolicy(focusable)


class Segmented(ButtonChoice):
    """A row of buttons of which exactly one is chosen.

    Parameters
    ----------
    options : sequence of (object, str)
        Values and the texts of their buttons.
    name : str
        Name of the choice for screen readers: "fold".
    wide : bool
        Whether the row takes all available width.

    Attributes
    ----------
    chosen : Signal(object)
        The value that the user chose; not emitted by `select`.
    """

    chosen = Signal(object)

    def __init__(
        self,
        options: Sequence[tuple[object, str]] = (),
        name: str = "",
        *,
        wide: bool = False,
    ) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._values: list[object] = []
        self._group.buttonClicked.connect(self._on_clicked)
        self._row = fill(QHBoxLayout(self), margins=(0, 0, 0, 0), spacing=6)

        # A wide row takes all the width that there is.
        width = QSizePolicy.Policy.Expanding if wide else QSizePolicy.Policy.Maximum
        self.setSizePolicy(width, QSizePolicy.Policy.Fixed)

        # This chooses the first option.
        self.set_options(options)

    def set_options(self, options: Sequence[tuple[object, str]]) -> None:
        """Offer other values instead, each with the text of its button, and choose the first."""
        for button in self._buttons():
            self._group.removeButton(button)
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._values = [value for value, _ in options]
        for i, (_, text) in enumerate(options):
            self._group.addButton(self._button(text), i)
        self._keep_place_in_tab_order()
        if options:
            self.select(self._values[0])

    def options(self) -> list[tuple[object, str]]:
        """Return the options: values and the texts of their buttons."""
        texts = [button.text() for button in self._buttons()]
        return list(zip(self._values, texts, strict=True))

    def select(self, value: object) -> None:
        """Choose a value; a value that is not offered is ignored."""
        if value in self._values:
            button = self._group.button(self._values.index(value))
            button.setChecked(True)
            self._keep_one_tab_stop()

    def value(self) -> object:
        """Return the chosen value; None if no value is offered."""
        index = self._group.checkedId()
        return self._values[index] if index >= 0 else None

    def _button(self, text: str) -> QPushButton:
        """Make the button of an option, and add it to the row."""
        name = self.accessibleName()
        button = named(
            Segment(text, self),
            accessible_name=f"{name} {text}" if name else text,
            role="segment",
        )
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.installEventFilter(self)
        self._row.addWidget(button, 1)
        return button

    def eventFilter(self, watched: object, event: object) -> bool:
        """Handle the arrow keys instead of the buttons, which would move the focus out of the row.

        ``watched`` is a button of the row. Return True for the arrow
        keys; False leaves other events to the buttons.
        """
        if not isinstance(event, QKeyEvent) or event.type() != QKeyEvent.Type.KeyPress:
            return False
        if event.key() not in _STEPS_BY_KEY:
            return False
        self.keyPressEvent(event)
        return True

    def _buttons(self) -> list[QAbstractButton]:
        """Return the buttons in order."""
        return list(self._group.buttons())

    def _keep_place_in_tab_order(self) -> None:
        """Put the buttons into the tab order directly after this row.

        Qt puts new widgets at the end of the order.
        """
        previous: QWidget = self

        # setTabOrder needs a widget that can have the focus; the row
        # itself has none before and after.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for button in self._buttons():
            QWidget.setTabOrder(previous, button)
            previous = button
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        """Emit the user's choice."""
        self._keep_one_tab_stop()
        self.chosen.emit(self._values[self._group.id(button)])


LEAST_WIDTH = 90
"""Least width of a slider in pixels, with which its ticks can be distinguished."""


class TickedSlider(QSlider):
    """A horizontal slider with ticks at some of its stops."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._ticks: tuple[int, ...] = ()

    def set_ticks(self, stops: Sequence[int]) -> None:
        """Draw ticks at some of the slider's stops."""
        self._ticks = tuple(stops)
        self.update()

    def ticks(self) -> tuple[int, ...]:
        """Return the stops that have a tick."""
        return self._ticks

    def tick_pixels(self) -> list[int]:
        """Return the horizontal pixel of each tick: the middle of the handle at that stop."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider,
            option,
            QStyle.SubControl.SC_SliderHandle,
            self,
        )

        # At the first stop, the middle of the handle is half its width
        # from the left end; at the last stop, half its width from the
        # right end.
        travel = self.width() - handle.width()  # pixels from the first to the last stop
        half_handle = handle.width() / 2
        n_steps = max(1, self.maximum() - self.minimum())
        return [
            round(half_handle + travel * (tick - self.minimum()) / n_steps)
            for tick in self._ticks
        ]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the slider, and the ticks below its groove."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        bottom = self.height() - 1
        for x in self.tick_pixels():
            # A tick is 3 pixels high.
            painter.drawLine(x, bottom - 3, x, bottom)


class LambdaSlider(QWidget):
    """A slider over given values, with the present value beside it as "2⁶", and as "2⁶ = 64" in the tooltip.

    Attributes
    ----------
    moved : Signal(float)
        The value that the user moved to; not emitted by `select`.
    """

    moved = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._values: tuple[float, ...] = ()
        self._symbol = named(PlainLabel("λ"), role="muted")
        self._slider = named(TickedSlider(), "lambda-slider", "λ")
        self._slider.setMinimumWidth(LEAST_WIDTH)

        # The letter is linked to its entry in the glossary.
        self._symbol.setBuddy(self._slider)
        self._symbol.set_term("λ (lambda)", "λ")
        self._slider.valueChanged.connect(self._on_value)
        self._label = named(PlainLabel(), role="title")
        fill(
            QHBoxLayout(self),
            self._symbol,
            (self._slider, 1),
            self._label,
            margins=(0, 0, 0, 0),
            spacing=10,
        )
        self.setFocusProxy(self._slider)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_values((1.0,))

    def set_values(
        self,
        values: Sequence[float],
        symbol: str = "",
        marked: Sequence[float] | None = None,
    ) -> None:
        """Offer other values in this order, and move to the one nearest to the present value.

        Values in ``marked`` have ticks, by default all values. A
        ``symbol`` replaces the letter before the slider, which is "λ"
        at first; "" keeps it.
        """
        if symbol:
            self._symbol.setText(symbol)
            self._slider.setAccessibleName(symbol)

        # Stops of the slider are positions in the values. Its signal is
        # blocked, as only moves of the user are emitted. Without
        # earlier values there is no present one.
        old_value = self.value() if self._values else None
        self._values = tuple(values)
        with QSignalBlocker(self._slider):
            self._slider.setRange(0, max(0, len(values) - 1))
        marked_values = set(self._values if marked is None else marked)
        self._slider.set_ticks(
            [
                position
                for position, value in enumerate(self._values)
                if value in marked_values
            ]
        )

        # Page up and page down move by a fifth of the values.
        self._slider.setPageStep(max(1, len(values) // 5))
        self._slider.setEnabled(len(values) > 1)
        if old_value is not None and values:
            self.select(old_value)
        self._fit_label()

    def values(self) -> tuple[float, ...]:
        """Return the values that are offered."""
        return self._values

    def value(self) -> float:
        """Return the present value."""
        return self._values[self._slider.value()]

    def select(self, value: float) -> None:
        """Move to the stop whose value is nearest to ``value``, without emitting `moved`."""
        with QSignalBlocker(self._slider):
            stops = range(len(self._values))
            self._slider.setValue(
                min(stops, key=lambda i: abs(self._values[i] - value))
            )
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        """Make room for larger text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._values:
            self._fit_label()

    def _fit_label(self) -> None:
        """Give the label the width of the widest text, so that nothing moves with the slider."""
        metrics = QFontMetrics(font(BASE, bold=True))
        widest = max(
            (metrics.horizontalAdvance(power(v)) for v in self._values), default=0
        )
        self._label.setFixedWidth(widest + 4)  # some pixels to spare
        self._show()

    def _show(self) -> None:
        """Write the present value beside the slider."""
        text = power_and_value(self.value()) if self._values else ""
        self._label.setText(power(self.value()) if self._values else "")
        self._slider.setAccessibleDescription(text)
        self._slider.setToolTip(f"{self._symbol.text()} = {text}" if text else "")

    @Slot()
    def _on_value(self) -> None:
        """Show and emit the value that the user moved to."""
        self._show()
        self.moved.emit(self.value())


NOTE = Qt.ItemDataRole.UserRole + 1
"""Role of the note on an entry of a combo box; the note is shown below the entry."""

_INSET = 2  # pixels between a combo box's text and its frame
_LIST_MARGIN = 28  # pixels beside the longest text of a list: scroll bar and padding
# In this role, Qt marks separators by the text below, and a screen
# reader finds the notes on entries.
_KIND_ROLE = Qt.ItemDataRole.AccessibleDescriptionRole
_SEPARATOR = "separator"
_SEPARATOR_HEIGHT = 9
# pixels; a longer note ends in an ellipsis, and its tooltip shows it in full
_NOTE_WIDTH = 380
_NOTE_SCALE = 0.85  # font size of a note, relative to the entry
# pixels beside a note, as many as the style sheet puts beside an entry
_NOTE_MARGIN = 9
_NOTE_OPACITY = 0.65
_SPACE_BELOW_NOTE = 5  # pixels


class _CalmComboBox(QComboBox):
    """A combo box that leaves the mouse wheel to the form around it, instead of changing its value.

    The list of the box is as wide as the longest entry, even in a
    narrow form. The text of the box itself is cut with an ellipsis.
    """

    cut = Qt.TextElideMode.ElideRight

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Set how Qt draws the box: its text is cut to the width beside the arrow.

        ``option`` receives the text. The attribute `cut` says where the
        text is cut, at its end or in the middle.
        """
        super().initStyleOption(option)
        text_rect = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        width = text_rect.width() - _INSET
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), self.cut, width
        )

    def showPopup(self) -> None:
        """Open the list of entries, wide enough to show all of them uncut."""
        view = self.view()
        view.setTextElideMode(Qt.TextElideMode.ElideNone)
        view.setMinimumWidth(
            max(self.width(), view.sizeHintForColumn(0) + _LIST_MARGIN)
        )
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the form."""
        event.ignore()


class _NotedDelegate(QStyledItemDelegate):
    """Draws the entries of a combo box's list: separators, and notes as a second, muted line of an entry."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the size of an entry with its note, or of a separator."""
        size = super().sizeHint(option, index)
        note = index.data(NOTE)
        if index.data(_KIND_ROLE) == _SEPARATOR:
            return QSize(0, _SEPARATOR_HEIGHT)  # it is as wide as the list
        if not note:
            return size
        metrics = QFontMetrics(_note_font(option.font))
        note_width = (
            min(metrics.horizontalAdvance(note), _NOTE_WIDTH) + 2 * _NOTE_MARGIN
        )
        return QSize(
            max(size.width(), note_width),
            size.height() + metrics.height() + _SPACE_BELOW_NOTE,
        )

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw a separator, or an entry with its note below."""
        note = index.data(NOTE)
        if index.data(_KIND_ROLE) == _SEPARATOR:
            y = option.rect.center().y()
            painter.setPen(option.palette.color(QPalette.ColorRole.Mid))
            painter.drawLine(
                option.rect.left() + _NOTE_MARGIN,
                y,
                option.rect.right() - _NOTE_MARGIN,
                y,
            )
            return
        if not note:
            super().paint(painter, option, index)
            return
        item = QStyleOptionViewItem(option)
        self.initStyleOption(item, index)

        # The style draws the background without the text, which is
        # drawn afterwards in the upper part.
        name = item.text
        item.text = ""
        item.widget.style().drawControl(
            QStyle.ControlElement.CE_ItemViewItem, item, painter, item.widget
        )
        note_font = _note_font(item.font)
        note_height = QFontMetrics(note_font).height()
        name_rect = QRect(item.rect).adjusted(
            _NOTE_MARGIN, 0, -_NOTE_MARGIN, -note_height - _SPACE_BELOW_NOTE
        )
        note_rect = QRect(
            name_rect.left(), name_rect.bottom(), name_rect.width(), note_height
        )

        # A note, and the name of an entry that cannot be chosen, are muted.
        text_color = item.palette.color(
            QPalette.ColorGroup.Active, QPalette.ColorRole.Text
        )
        muted_color = QColor(text_color)
        muted_color.setAlphaF(_NOTE_OPACITY)
        is_enabled = bool(item.state & QStyle.StateFlag.State_Enabled)
        painter.save()
        painter.setFont(item.font)
        painter.setPen(text_color if is_enabled else muted_color)
        painter.drawText(name_rect, LEFT, name)
        painter.setFont(note_font)
        painter.setPen(muted_color)
        mode = Qt.TextElideMode.ElideRight
        painter.drawText(
            note_rect,
            LEFT,
            painter.fontMetrics().elidedText(note, mode, note_rect.width()),
        )
        painter.restore()


def _note_font(font: QFont) -> QFont:
    """Return the font of the note on an entry: that of the entry, but smaller."""
    note_font = QFont(font)
    if font.pixelSize() > 0:  # the size is in pixels, not in points
        note_font.setPixelSize(max(1, round(font.pixelSize() * _NOTE_SCALE)))
    else:
        note_font.setPointSizeF(font.pointSizeF() * _NOTE_SCALE)
    return note_font


def choice_box(
    choices: tuple[tuple[str, str], ...],
    cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> QComboBox:
    """Return a combo box over (key, label) pairs that fits into a narrow column.

    Parameters
    ----------
    choices : tuple of (key, label)
        Key and text of each entry; the key is the entry's data in Qt.
    cut : Qt.TextElideMode
        Where to cut a text that has no room; in the middle for names
        with equal beginnings.
    """
    box = _CalmComboBox()
    box.cut = cut
    box.setSizeAdjustPolicy(
        QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
    )

    # The box is wide enough for 6 letters, its list is as high as 24 entries.
    box.setMinimumContentsLength(6)
    box.setMaxVisibleItems(24)
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    set_choices(box, choices)
    return box


def set_choices(box: QComboBox, choices: tuple[tuple[str, str], ...]) -> None:
    """Replace the entries of a combo box by (key, label) pairs."""
    box.clear()
    for key, label in choices:
        box.addItem(label, key)


def set_notes(
    box: QComboBox,
    disabled_reasons: Mapping[str, str],
    notes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Show notes below some entries in the list of a combo box, and disable entries that cannot be chosen.

    Parameters
    ----------
    box : QComboBox
        A box made by :func:`choice_box`.
    disabled_reasons : Mapping of str to str
        Keys of the entries to disable, with the reason as the note.
    notes : Mapping of str to str
        Notes on enabled entries, by their keys.
    """
    if not isinstance(box.itemDelegate(), _NotedDelegate):
        box.setItemDelegate(_NotedDelegate(box))
    model = cast("QStandardItemModel", box.model())
    for row in range(box.count()):
        key = box.itemData(row)
        item = model.item(row)
        if key is None:  # a separator
            continue

        # A reason replaces a note on the same entry.
        text = disabled_reasons.get(key) or notes.get(key, "")
        item.setEnabled(key not in disabled_reasons)
        item.setToolTip(plain(text) if text else "")

        # The list draws the note from the first role, and screen
        # readers read it from the second, which is Qt's own; None
        # removes an earlier note.
        for role in (NOTE, _KIND_ROLE):
            item.setData(text or None, role)


_MAX_VISIBLE_ROWS = 14  # a longer list scrolls
_ROW_HEIGHT = 28
_LIST_WIDTH_LIMITS = 180, 460


def look_for_mouse(button: QWidget) -> None:
    """Update whether a button is under the mouse, as Qt does not when its menu has been closed."""
    is_under_mouse = button.rect().contains(button.mapFromGlobal(QCursor.pos()))
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, is_under_mouse)
    button.update()


class PickMenu(QMenu):
    """A menu with a list of values.

    Arrow keys, Enter and first letters work as in any list.
    `set_entries` fills the list before the menu is shown.

    Parameters
    ----------
    name : str
        Name of the list for screen readers: "fold".

    Attributes
    ----------
    picked : Signal(object)
        The value that the user chose.
    """

    picked = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._list = named(QListWidget(), f"{name.replace(' ', '-')}-list", tr(name))
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setUniformItemSizes(True)
        action = QWidgetAction(self)
        action.setDefaultWidget(self._list)
        self.addAction(action)
        self._list.itemActivated.connect(self._on_item)
        self._list.itemClicked.connect(self._on_item)

    def set_entries(
        self, entries: Sequence[tuple[object, str]], chosen: object
    ) -> None:
        """Offer other values, each with its text, and mark the present one.

        ``chosen`` is the present value; it may be none of the values.
        """
        self._list.clear()
        for value, text in entries:
            item = QListWidgetItem(text)

            # In a tuple, Qt stores any value as it is, a tuple or None included.
            item.setData(Qt.ItemDataRole.UserRole, (value,))
            item.setToolTip(plain(text))
            self._list.addItem(item)
            if value == chosen:
                self._list.setCurrentItem(item)

        # The menu is as large as its list, which scrolls if there are
        # many entries. 8 pixels are the margins above and below the
        # entries.
        least_width, greatest_width = _LIST_WIDTH_LIMITS
        widest = max(self._list.sizeHintForColumn(0), least_width)
        n_visible = min(len(entries), _MAX_VISIBLE_ROWS)
        self._list.setFixedSize(
            min(widest + _LIST_MARGIN, greatest_width), n_visible * _ROW_HEIGHT + 8
        )

    def entries(self) -> list[tuple[object, str]]:
        """Return the values and texts that are offered."""
        items = [self._list.item(row) for row in range(self._list.count())]
        return [(item.data(Qt.ItemDataRole.UserRole)[0], item.text()) for item in items]

    def pick(self, value: object) -> None:
        """Choose a value as a click on it does."""
        for row, (offered_value, _) in enumerate(self.entries()):
            if offered_value == value:
                self._on_item(self._list.item(row))
                return

    def showEvent(self, event: QShowEvent) -> None:
        """Give the keyboard focus to the list, and scroll to the present value."""
        super().showEvent(event)
        self._list.setFocus(Qt.FocusReason.PopupFocusReason)
        current = self._list.currentItem()
        if current is not None:
            self._list.scrollToItem(current, QListWidget.ScrollHint.PositionAtCenter)

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        """Close the menu, and emit the value of the entry that was chosen."""
        self.close()
        self.picked.emit(item.data(Qt.ItemDataRole.UserRole)[0])
