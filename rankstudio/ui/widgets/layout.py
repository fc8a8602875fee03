"""Functions that fill a layout with widgets, and give a widget its names and roles, in one call."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QBoxLayout,
    QLayout,
    QScrollArea,
    QWidget,
)

from rankstudio.ui.style.plain_text import plain

Box = TypeVar("Box", bound=QBoxLayout)
SpinBox = TypeVar("SpinBox", bound=QAbstractSpinBox)
Widget = TypeVar("Widget", bound=QWidget)
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int]


def fill(
    box: Box,
    *items: Item,
    margins: tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> Box:
    """Add items to a row or a column, and return the row or column.

    Parameters
    ----------
    box : QBoxLayout
        A QHBoxLayout is a row, a QVBoxLayout a column.
    *items : QWidget, QLayout, int or tuple
        Widgets and layouts, each alone or in a tuple with its stretch
        factor; a number alone is an empty space with this stretch
        factor.
    margins : tuple of int, optional
        Left, top, right and bottom margin in pixels.
    spacing : int, optional
        Pixels between two items.
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
    """Delete all widgets and spaces of a row or a column, and return the empty row or column."""
    while (item := box.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.setParent(None)
            widget.deleteLater()
    return box


def show_in(area: QScrollArea, page: QWidget) -> None:
    """Show another widget in a scrolling area, and delete the widget that it replaces.

    ``page`` is the new widget of ``area``. Adding labels to the visible
    widget would flicker: Qt paints them once in the old height, and the
    area gets the new height only afterwards.
    """
    replaced = area.takeWidget()
    area.setWidget(page)
    area.updateGeometry()
    if replaced is not None:
        replaced.deleteLater()


def spaced(box: SpinBox) -> SpinBox:
    """Add a left margin to the text of a spin box, which style sheets cannot do, and return the box."""
    box.lineEdit().setTextMargins(9, 0, 0, 0)
    return box


def named(
    widget: Widget,
    name: str = "",
    accessible_name: str = "",
    tip: str = "",
    role: str = "",
) -> Widget:
    """Give a new widget its names, tooltip and role, and return the widget.

    Parameters
    ----------
    widget : QWidget
    name : str
        Object name, for the program and its tests.
    accessible_name : str
        Name for screen readers.
    tip : str
        Tooltip.
    role : str
        Variant of the widget in the style sheet, such as "muted".
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
    """Give a widget another role: the variant of the widget in the style sheet."""
    if widget.property("role") != role:
        widget.setProperty("role", role)

        # Qt reads the properties that a style sheet selects by only
        # when it polishes a widget.
        widget.style().unpolish(widget)
        widget.style().polish(widget)
