"""The icons: one line-drawn family in ``resources/icons``, in colors of the theme."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QIcon,
    QPainter,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from rankstudio.ui.style.drawings import svg
from rankstudio.ui.style.theme import Theme

SIZE = 16
"""Size of an icon in a button or a menu, in logical pixels."""


def pixmap(name: str, color: str, size: int = SIZE, ratio: float = 1.0) -> QPixmap:
    """Return an icon as a picture of ``size`` logical pixels in a color such as "#2f6fde".

    ``ratio`` is the number of pixels of the screen per logical pixel;
    `name` is that of a drawing in ``resources/icons``.
    """
    side = round(size * ratio)
    key = f"{name}/{color}/{size}/{ratio}"
    picture = QPixmap()

    # Unlike a cache of our own, Qt's is emptied before the application ends.
    if QPixmapCache.find(key, picture):
        return picture
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(svg(name, color))).render(painter, QRectF(0, 0, side, side))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    QPixmapCache.insert(key, picture)
    return picture


def icon(theme: Theme, name: str, role: str = "text", size: int = SIZE) -> QIcon:
    """Return an icon in the theme's present color of a role, sharp on all present screens.

    For a screen that is added later, the theme draws the icons of
    :func:`set_icon` again.

    Parameters
    ----------
    theme : Theme
        The theme; use `set_icon` for an icon that follows changes of the theme.
    name : str
        File name in ``resources/icons`` without its suffix.
    role : str
        A role of `rankstudio.ui.style.colors.Colors`, or ``#rrggbb``.
    size : int
        Size in logical pixels.
    """
    # A picture for each different pixel ratio of the screens, which Qt chooses from.
    new_icon = QIcon()
    for ratio in sorted(
        {float(ceil(screen.devicePixelRatio())) for screen in QGuiApplication.screens()}
    ):
        new_icon.addPixmap(
            pixmap(name, theme.colors.role(role), size, ratio), QIcon.Mode.Normal
        )
        new_icon.addPixmap(
            pixmap(name, theme.colors.faint, size, ratio), QIcon.Mode.Disabled
        )
    return new_icon


def app_icon() -> QIcon:
    """Return the icon of the program, for the window and the dock."""
    new_icon = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256):
        new_icon.addPixmap(pixmap("app", "#ffffff", side))
    return new_icon


class _Binding(QObject):
    """Keeps the icon of a button or action in the theme's color, as long as the button or action lives."""

    def __init__(
        self,
        target: QAbstractButton | QAction,
        theme: Theme,
        name: str,
        role: str,
        size: int,
    ) -> None:
        # As a child of the target, it is deleted with it; `set_icon` finds it by name.
        super().__init__(target)
        self.setObjectName("icon-binding")
        self._theme = theme
        self._name = name
        self._role = role
        self._size = size
        theme.add_icon(self)
        self.apply()

    @Slot()
    def apply(self) -> None:
        """Draw the icon in the theme's present colors."""
        target = self.parent()
        assert isinstance(target, QAbstractButton | QAction)
        target.setIcon(icon(self._theme, self._name, self._role, self._size))
        if isinstance(target, QAbstractButton):
            target.setIconSize(QSize(self._size, self._size))


def set_icon(
    target: QAbstractButton | QAction,
    theme: Theme,
    name: str,
    role: str = "text",
    size: int = SIZE,
) -> None:
    """Put an icon on a button or action, and draw it again whenever the theme changes.

    A second call replaces the first icon. ``name`` is that of the
    drawing in ``resources/icons``, ``role`` its color in the theme, and
    ``size`` its size in logical pixels. ``target`` is the button or
    action.
    """
    old = target.findChild(
        QObject, "icon-binding", Qt.FindChildOption.FindDirectChildrenOnly
    )
    if isinstance(old, _Binding):
        theme.drop_icon(old)

        # Without a parent, it is deleted, and a later call does not find it.
        old.setParent(None)

    # It belongs to the target, and needs no other reference.
    _Binding(target, theme, name, role, size)
