"""Layouts that are filled in one call, and widgets that get their names in one."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QAbstractSpinBox, QBoxLayout, QLayout, QScrollArea, QWidget

from rankstudio.ui.style.plain_text import plain

Box = TypeVar("Box", bound=QBoxLayout)
SpinBox = TypeVar("SpinBox", bound=QAbstractSpinBox)
Widget = TypeVar("Widget", bound=QWidget)
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int]


def fill(
    box: Box, *items: Item, margins: tuple[int, int, int, int] | None = None, spacing: int | None = None
) -> Box:
    """Put items into a row or a column, and return it.

    Parameters
    ----------
    box : QBoxLayout
    *items : QWidget, QLayout, int or tuple
        An item with a number stretches by it; a number alone is a space that does.
    margins : tuple of int, optional
        In pixels: left, top, right and bottom.
    spacing : int, optional
        In pixels, between two items.
    """
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        part, stretch = item if isinstance(item, tuple) else (item, 0)
        if isinstance(part, int):
            box.addStretch(part)
        elif isinstance(part, QWidget):
            box.addWidget(part, stretch)
        else:
            box.addLayout(part, stretch)
    return box


def emptied(box: Box) -> Box:
    """Delete the widgets of a row or a column with its spaces, and return it."""
    while (item := box.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.setParent(None)
            widget.deleteLater()
    return box


def show_in(area: QScrollArea, page: QWidget) -> None:
    """Show another widget in a scrolling area, and delete the one before.

    Labels are not added to the visible one, since Qt then squeezes them into its old height and paints them
    like that once: it shows them a turn later, and only after that the area learns what height they need.
    """
    before = area.takeWidget()
    area.setWidget(page)
    area.updateGeometry()
    if before is not None:
        before.deleteLater()


def spaced(box: SpinBox) -> SpinBox:
    """Keep the number of a spin box off its frame, which no style sheet can, and return it."""
    box.lineEdit().setTextMargins(9, 0, 0, 0)
    return box


def named(widget: Widget, name: str = "", accessible_name: str = "", tip: str = "", role: str = "") -> Widget:
    """Give a new widget its names, and return it.

    Parameters
    ----------
    widget : QWidget
    name : str
        For the program and its tests.
    accessible_name : str
        For screen readers.
    tip : str
        Shown when the mouse is over it.
    role : str
        Its variant in the style sheet.
    """
    if name:
        widget.setObjectName(name)
    if accessible_name:
        widget.setAccessibleName(accessible_name)
    if tip:
        widget.setToolTip(plain(tip))
    if role:
        widget.setProperty("role", role)
    return widget


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget another variant in the style sheet."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        # Qt reads the properties that a sheet selects by when it polishes a widget, and not after that.
        widget.style().unpolish(widget)
        widget.style().polish(widget)
