"""Texts of a window that have less room than they need, and no tooltip with the whole text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import chain

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QTextDocument
from PySide6.QtGui import Qt as Text
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QRadioButton,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QTabBar,
    QTableWidget,
    QToolButton,
    QWidget,
)

from rankstudio.ui.plots import Plot
from rankstudio.ui.plots.axes import cut_texts
from rankstudio.ui.select.fields import FeatureChip
from rankstudio.ui.style.fonts import BASE, SMALL, font
from rankstudio.ui.widgets import ElidedLabel, TableView
from rankstudio.ui.widgets.columns import PAD, ProgressCell
from rankstudio.ui.widgets.table import title_width

_SLACK = 1  # pixels: text is measured in fractions of them
_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
_PADDING = {
    "segment": 10,
    "primary": 30,
    "quiet": 12,
    "link": 12,
    "chip-link": 12,
    "choose": 18,
    "disclosure": 7,
    "page-button": 2,
}
_ARROW = 14  # pixels of the arrow of a button with a menu, beside the padding
_INDICATOR = 24  # pixels of the box beside a text
_CHIP_PADDING = 8  # left of the id
_EDIT_INSET = 4  # of a text in its line, at both sides together


def clipped(window: QWidget) -> list[str]:
    """Return what is cut of the texts that a window shows, one description for each."""
    shown = [
        window,
        *(widget for widget in window.findChildren(QWidget) if widget.isVisible()),
    ]
    faults = (
        (widget, found)
        for widget in shown
        for found in chain(_outside(widget), _faults(widget))
    )
    return [f"{_where(widget)}: {found}" for widget, found in faults]


def _faults(widget: QWidget) -> Iterator[str]:
    match widget:
        case ElidedLabel():
            if widget.shown_text() != widget.text() and widget.text() not in _said(
                widget.toolTip()
            ):
                yield f"{widget.text()!r} is cut without a tooltip"
        case QLabel():
            yield from _label(widget)
        case QAbstractButton():
            yield from _button(widget)
        case QComboBox():
            yield from _combo(widget)
        case QAbstractSpinBox():
            yield from _compared(
                widget.text(),
                widget.fontMetrics(),
                widget.findChild(QLineEdit).width() - 2,
            )
        case QLineEdit():
            yield from _line(widget)
        case QGroupBox():
            yield from _compared(
                widget.title(), widget.fontMetrics(), widget.width() - 20
            )
        case QTabBar():
            yield from _tabs(widget)
        case TableView():
            yield from chain(_headers(widget), _cells(widget), _placeholder(widget))
        case QListWidget():
            yield from _items(widget)
        case QTableWidget():
            yield from _table(widget)
        case Plot():
            yield from _axes(widget)
        case FeatureChip():
            yield from _chip(widget)


def _label(label: QLabel) -> Iterator[str]:
    text, room = label.text(), label.contentsRect().size()
    text = _without_mnemonic(text) if label.buddy() is not None else text
    if not text or not label.pixmap().isNull():
        return
    if label.textFormat() == Qt.TextFormat.PlainText or not Text.mightBeRichText(text):
        metrics = label.fontMetrics()
        wraps = Qt.TextFlag.TextWordWrap.value if label.wordWrap() else 0
        needs = metrics.boundingRect(
            QRect(0, 0, room.width(), 1 << 15), wraps, text
        ).size()
    else:
        document = QTextDocument()
        document.setDefaultFont(label.font())
        document.setDocumentMargin(0)
        document.setHtml(text)
        document.setTextWidth(room.width() if label.wordWrap() else -1)
        needs = QSize(int(document.idealWidth()), int(document.size().height()))
    yield from _smaller(text, needs, room, label.toolTip())


def _button(button: QAbstractButton) -> Iterator[str]:
    text, role = _without_mnemonic(button.text()), button.property("role") or ""
    style = button.toolButtonStyle() if isinstance(button, QToolButton) else _BESIDE
    icon = not button.icon().isNull()
    if not text or (icon and style == Qt.ToolButtonStyle.ToolButtonIconOnly):
        return
    metrics = button.fontMetrics()
    if role == "primary" or (role in ("segment", "page-button") and button.isChecked()):
        metrics = QFontMetrics(
            font(SMALL if role == "page-button" else BASE, bold=True)
        )
    match button:
        case QCheckBox() | QRadioButton():
            beside = _INDICATOR
        case QPushButton() if button.menu() is not None:
            beside = _PADDING.get(role, 26 + _ARROW)
        case QToolButton() if (
            button.popupMode() == QToolButton.ToolButtonPopupMode.InstantPopup
        ):
            beside = _PADDING.get(role, 26 + _ARROW)
        case _:
            beside = _PADDING.get(role, 26)
    beside += button.iconSize().width() + 4 if icon and style == _BESIDE else 0
    lines = text.split("\n")
    needs = QSize(
        max(map(metrics.horizontalAdvance, lines)), metrics.height() * len(lines)
    )
    yield from _smaller(
        text, needs, QSize(button.width() - beside, button.height()), ""
    )
    if "…" in text.rstrip("…") and not _matches(text, button.toolTip()):
        yield f"{text!r} is cut without a tooltip"


def _combo(box: QComboBox) -> Iterator[str]:
    option = QStyleOptionComboBox()
    option.initFrom(box)
    option.editable = box.isEditable()
    part = QStyle.SubControl.SC_ComboBoxEditField
    room = (
        box.style()
        .subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, box)
        .width()
        - 2
    )
    yield from _compared(box.currentText(), box.fontMetrics(), room, box.toolTip())


def _line(line: QLineEdit) -> Iterator[str]:
    if isinstance(line.parent(), QComboBox | QAbstractSpinBox):
        return  # it is the box that is looked at
    room = line.width() - 20 - _EDIT_INSET
    if not line.text():
        yield from _compared(
            line.placeholderText(), line.fontMetrics(), room, line.toolTip()
        )


def _tabs(bar: QTabBar) -> Iterator[str]:
    for number in range(bar.count()):
        metrics = QFontMetrics(font(BASE, bold=number == bar.currentIndex()))
        text = _without_mnemonic(bar.tabText(number))
        yield from _compared(text, metrics, bar.tabRect(number).width() - 8)


def _headers(table: TableView) -> Iterator[str]:
    header = table.horizontalHeader()
    if header.isVisible():
        for number, column in enumerate(table.rows_model.columns):
            if header.isSectionHidden(number):
                continue
            if (room := header.sectionSize(number)) + _SLACK < (
                needs := title_width(column.title)
            ):
                yield f"header {column.title!r} needs {needs} and has {room}"
        if header.height() < QFontMetrics(font(SMALL)).height():
            yield "header is too low"


def _cells(table: TableView) -> Iterator[str]:
    image = QImage(8, 8, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    found = {}
    for number, column in enumerate(table.rows_model.columns):
        for place, row in enumerate(
            table.rows()[:60] if not table.isColumnHidden(number) else ()
        ):
            text, value = column.text(row), column.value_in(row)
            bold = column.bold is not None and column.bold(row)
            room = QRect(0, 0, table.columnWidth(number) - 2 * PAD, 29)
            if column.paint is not None:
                room = column.paint(painter, room, table._theme.colors, row)
                if room is None:
                    continue
            width = room.width() - (
                16 if column.mark is not None and column.mark(row) else 0
            )
            if isinstance(value, ProgressCell):
                width -= 34
            needs = QFontMetrics(font(BASE, bold)).horizontalAdvance(text)
            if needs <= width + _SLACK:
                continue
            option = QStyleOptionViewItem()
            option.font = font()
            option.fontMetrics = QFontMetrics(font())
            said = table.itemDelegate().tooltip(
                option, table.rows_model.index(place, number)
            )
            if (column.stretch or column.align == "left") and text in said:
                if width < 40:
                    found[column.key] = f"cell {column.key} {text!r} has {width} pixels"
                continue
            found[column.key] = (
                f"cell {column.key} {text!r} needs {needs} and has {width}"
            )
    painter.end()
    yield from found.values()


def _placeholder(table: TableView) -> Iterator[str]:
    if table.rows_model.rowCount() == 0 and table.placeholder:
        room = table.viewport().rect().adjusted(16, 12, -16, -12)
        metrics = QFontMetrics(font(SMALL))
        needs = metrics.boundingRect(
            room, Qt.TextFlag.TextWordWrap.value, table.placeholder
        ).size()
        table.grab()  # a tooltip is set where it is drawn
        yield from _smaller(table.placeholder, needs, room.size(), table.toolTip())


def _chip(chip: FeatureChip) -> Iterator[str]:
    number = f"{chip.feature_id}"
    yield from _compared(
        number, chip.fontMetrics(), chip.findChild(QToolButton).x() - _CHIP_PADDING
    )
    if chip.shown_name() != chip.name and chip.name not in _said(chip.toolTip()):
        yield f"{chip.name!r} is cut without a tooltip"
    if chip.height() < chip.fontMetrics().height():
        yield f"{number} needs {chip.fontMetrics().height()} of height and has {chip.height()}"


def _items(view: QListWidget) -> Iterator[str]:
    room = view.viewport().width()
    for number in range(view.count()):
        item, option = view.item(number), QStyleOptionViewItem()
        option.initFrom(view)
        needs = view.itemDelegate().sizeHint(option, view.indexFromItem(item)).width()
        if needs > room + _SLACK and item.text() not in _said(item.toolTip()):
            yield f"item {item.text()!r} needs {needs} and has {room}"


def _table(table: QTableWidget) -> Iterator[str]:
    option = QStyleOptionViewItem()
    option.initFrom(table)
    for column in range(table.columnCount()):
        title, width = table.horizontalHeaderItem(column), table.columnWidth(column)
        if title is not None:
            yield from _compared(
                title.text(), QFontMetrics(font(SMALL)), width - 8, title.toolTip()
            )
        for row in range(table.rowCount()):
            item = table.item(row, column)
            needs = (
                table.itemDelegate().sizeHint(option, table.indexFromItem(item)).width()
                if item
                else 0
            )
            if needs > width + _SLACK and item.text() not in _said(item.toolTip()):
                yield f"cell {item.text()!r} needs {needs} and has {width}"


def _axes(plot: Plot) -> Iterator[str]:
    plot.grab()  # a tooltip is set where it is drawn
    placeholder = plot.placeholder if plot.is_empty() else None
    frame = plot.frame()
    for text in cut_texts(plot.axes, frame, plot.beside_title(frame), placeholder):
        if text not in _said(plot.toolTip()):
            yield f"{text!r} has no room"


def _compared(
    text: str, metrics: QFontMetrics, room: int, tooltip: str = ""
) -> Iterator[str]:
    yield from _smaller(
        text, QSize(metrics.horizontalAdvance(text), 0), QSize(room, 0), tooltip
    )


def _smaller(text: str, needs: QSize, room: QSize, tooltip: str) -> Iterator[str]:
    """Yield by how much the room of a text is too small; none where a tooltip has it whole."""
    if not text or text in _said(tooltip):
        return
    for way, need, has in (
        ("width", needs.width(), room.width()),
        ("height", needs.height(), room.height()),
    ):
        if need > has + _SLACK:
            yield f"{text!r} needs {need} of {way} and has {has}"


def _outside(widget: QWidget) -> Iterator[str]:
    """Yield how much of a widget with a text its ancestors cut off, where nothing scrolls to it."""
    inside, ancestor = widget.rect(), widget
    while (
        _texts(widget)
        and (parent := ancestor.parentWidget()) is not None
        and not ancestor.isWindow()
    ):
        inside.translate(ancestor.pos())
        scrolls = parent.parentWidget()
        if isinstance(scrolls, QAbstractScrollArea) and scrolls.viewport() is parent:
            off = (
                scrolls.horizontalScrollBarPolicy()
                == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            )
            if off and (inside.right() > parent.width() or inside.left() < 0):
                yield f"{inside.getRect()} is not all in {parent.width()} pixels, to which nothing scrolls"
            return
        if (
            not parent.rect()
            .adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK)
            .contains(inside)
        ):
            yield f"{inside.getRect()} is not all in {_where(parent)} of {parent.size().toTuple()}"
            return
        ancestor = parent


def _texts(widget: QWidget) -> bool:
    return isinstance(widget, FeatureChip) or (
        isinstance(widget, QLabel | QAbstractButton | QComboBox | QLineEdit)
        and bool(
            widget.currentText() if isinstance(widget, QComboBox) else widget.text()
        )
        and not isinstance(widget.parent(), QHeaderView)
    )


def _said(tooltip: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", tooltip)) if "<" in tooltip else tooltip


def _without_mnemonic(text: str) -> str:
    return re.sub(r"&(.)", r"\1", text)


def _matches(cut: str, tooltip: str) -> bool:
    """Return whether a tooltip has the text that was cut in the middle."""
    begin, _, end = cut.partition("…")
    return (
        re.search(re.escape(begin) + ".*" + re.escape(end), _said(tooltip)) is not None
    )


def _where(widget: QWidget) -> str:
    names = []
    at: QWidget | None = widget
    while at is not None and len(names) < 2:
        if at.objectName():
            names.append(at.objectName())
        at = at.parentWidget()
    return f"{type(widget).__name__} {' in '.join(names)}"
