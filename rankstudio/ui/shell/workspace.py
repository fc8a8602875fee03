"""The sections of the window, side by side: splitters between panels, their sizes remembered."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from rankstudio.ui.process.settings import Settings
from rankstudio.ui.widgets.layout import fill, named

GAP = 8

_SIZES = 12
"""Where the sizes begin in a splitter's state: behind a mark, a version and their number, 4 bytes each."""
_MOST = 1 << 16

_LEAST_RIGHT = 340  # pixels, with which the names of features can be read


class Workspace(QWidget):
    """Data and Method at the left, Run in the middle, Features at the right, Runs below.

    Parameters
    ----------
    left, right : sequence of QWidget
        From top to bottom.
    curves : QWidget
        Above in the middle.
    below : sequence of QWidget
        Under the curves, side by side.
    runs : QWidget
        Over the whole width at the bottom.
    """

    def __init__(
        self,
        left: Sequence[QWidget],
        curves: QWidget,
        below: Sequence[QWidget],
        right: Sequence[QWidget],
        runs: QWidget,
    ) -> None:
        super().__init__()
        named(self, "workspace", role="ground")
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        lower = _splitter("below-curves", horizontal, below, (1, 1), (390, 390))
        columns = (
            _splitter("left", vertical, left, (0, 1), (256, 336)),
            _splitter("middle", vertical, (curves, lower), (3, 2), (320, 240)),
            _splitter("right", vertical, right, (3, 2), (330, 240)),
        )
        columns[2].setMinimumWidth(_LEAST_RIGHT)
        upper = _splitter("columns", horizontal, columns, (0, 5, 1), (276, 730, 406))
        self._outer = _splitter("rows", vertical, (upper, runs), (12, 1), (610, 166))
        self._lent: int | None = None  # the height of the bottom before it was given more for a while
        fill(QVBoxLayout(self), self._outer, margins=(GAP, GAP, GAP, GAP))
        self._outer.splitterMoved.connect(self._keep_dragged)

    def raise_lowest(self, least: int) -> None:
        """Give what is at the bottom so many pixels or more; 0 gives it what it had before.

        The rest of the window gives way as far as it can. What the user has dragged since stays.
        """
        above, below = self._outer.sizes()
        if self._lent is not None:
            above, below = above + below - self._lent, self._lent
            self._lent = None
        if least > below:
            self._lent = below
            above, below = above + below - least, least
        self._outer.setSizes([above, below])

    def save(self, settings: Settings) -> None:
        """Remember the sizes."""
        for splitter in self._splitters():
            if splitter is not self._outer or self._lent is None:
                settings.set(f"splitters/{splitter.objectName()}", splitter.saveState())

    def restore(self, settings: Settings) -> None:
        """Take the sizes of the last time."""
        for splitter in self._splitters():
            state = settings.bytes(f"splitters/{splitter.objectName()}")
            if state is not None:
                splitter.restoreState(_with_sizes(bytes(splitter.saveState().data()), bytes(state.data())))

    @Slot()
    def _keep_dragged(self) -> None:
        self._lent = None

    def _splitters(self) -> list[QSplitter]:
        return [self._outer, *self._outer.findChildren(QSplitter)]


def _with_sizes(present: bytes, stored: bytes) -> bytes:
    """Return the state of a splitter with the sizes of a stored one, where that has as many possible ones.

    The rest of a state is how wide handles are and the like, which nobody changes: Qt believes whatever it
    finds, and what is damaged would make the window as wide as 16 million pixels.
    """
    begin, end = _SIZES, _SIZES + 4 * int.from_bytes(present[_SIZES - 4 : _SIZES], "big")
    if len(stored) != len(present) or stored[:begin] != present[:begin]:
        return present
    possible = all(0 <= size < _MOST for (size,) in struct.iter_unpack(">i", stored[begin:end]))
    return stored[:end] + present[end:] if possible else present


def _splitter(
    name: str,
    orientation: Qt.Orientation,
    widgets: Sequence[QWidget],
    stretch: Sequence[int],
    sizes: Sequence[int],
) -> QSplitter:
    splitter = QSplitter(orientation)
    splitter.setObjectName(name)
    splitter.setHandleWidth(GAP)
    splitter.setChildrenCollapsible(False)
    for position, widget in enumerate(widgets):
        splitter.addWidget(widget)
        splitter.setStretchFactor(position, stretch[position])
    splitter.setSizes(list(sizes))
    return splitter
