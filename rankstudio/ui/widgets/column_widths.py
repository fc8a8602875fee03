"""Widths of columns that the user dragged, which outlive new rows and the next start."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHeaderView

from rankstudio.ui.style.fonts import SMALL, font, scaled
from rankstudio.ui.widgets.columns import PAD, Column

_BOUNDS = (16, 4000)  # pixels: what is beyond was damaged


class ColumnWidths(QObject):
    """Remembers which columns of a table the user gave another width.

    Parameters
    ----------
    header : QHeaderView
    key_of : callable
        Key of the column in a section.
    """

    def __init__(self, header: QHeaderView, key_of: Callable[[int], str]) -> None:
        super().__init__(header)
        self._key_of = key_of
        self._dragging = False
        self._widths: dict[str, int] = {}
        header.viewport().installEventFilter(self)
        header.sectionResized.connect(self._note)

    def of(self, key: str) -> int:
        """Return the width that the user gave a column, 0 for none."""
        return self._widths.get(key, 0)

    def as_text(self) -> str:
        """Return the widths for the settings, "" where none was changed."""
        return json.dumps(self._widths) if self._widths else ""

    def restore(self, text: str) -> None:
        """Take widths from the settings; what is damaged is left out."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = {}
        items = found.items() if isinstance(found, dict) else ()
        self._widths = {
            key: width for key, width in items if isinstance(width, int) and _BOUNDS[0] <= width <= _BOUNDS[1]
        }

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See whether the mouse is pressed on the header: only then a new width is the user's."""
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            self._dragging = True
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._dragging = False
        return False

    @Slot(int, int, int)
    def _note(self, section: int, before: int, width: int) -> None:
        if self._dragging and before and width:
            self._widths[self._key_of(section)] = max(_BOUNDS[0], width)


def given_width(column: Column) -> int:
    """Return the width that a column has by itself, enough for its title in any language; 0 for none."""
    return max(scaled(column.width), title_width(column.title)) if column.width else 0


def title_width(title: str) -> int:
    """Return the width of a header with a title, beside which the arrow of a sorted column needs no room."""
    return QFontMetrics(font(SMALL)).horizontalAdvance(title) + 2 * PAD + 2
