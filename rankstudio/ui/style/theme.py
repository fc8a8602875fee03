"""The theme: which colours are in force, and how the whole application takes them on.

The palette is ours (Fusion, a QPalette and a style sheet) because ``QStyleHints.setColorScheme`` does nothing
where no desktop answers: offscreen, and on a bare X server. What draws itself listens to `Theme.changed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

from PySide6.QtCore import QEvent, QObject, Qt, QTemporaryDir, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget
from shiboken6 import isValid

from rankstudio.ui.style import fonts, icons
from rankstudio.ui.style.colors import DARK, LIGHT, Colors
from rankstudio.ui.style.stylesheet import style_sheet

Mode = Literal["system", "light", "dark"]
MODES: tuple[Mode, ...] = get_args(Mode)

# The pictures that the style sheet refers to: name there, icon, colour role, size.
_IMAGES = (
    ("chevron", "chevron-down", "muted"),
    ("chevron_faint", "chevron-down", "faint"),
    ("chevron_up", "chevron-up", "muted"),
    ("chevron_right", "chevron-right", "muted"),
    ("check", "check", "on_accent"),
    ("check_text", "check", "text"),
)


_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_UNTOLD = Qt.WidgetAttribute.WA_SetStyle  # Qt tells a widget with it of no change of the application's style


class Theme(QObject):
    """The colours in force; created once by the application and handed to whatever draws.

    Parameters
    ----------
    mode : {"system", "light", "dark"}
        ``system`` follows the desktop where it tells, and is light where it does not.
    text_size : int
        Of ordinary text, in logical pixels.

    Attributes
    ----------
    changed : Signal()
        After colours or size of the text have changed and the application has taken them on.
    """

    changed = Signal()

    def __init__(self, mode: Mode = "system", text_size: int = fonts.BASE) -> None:
        super().__init__()
        self._text_size = text_size
        self._mode: Mode = mode
        self._app: QApplication | None = None
        self._folder = QTemporaryDir()
        self._pages: list[QWidget] = []
        self._late: dict[QWidget, list[QWidget]] = {}  # pages that wait for the sheet, and what is in them
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._style_next)
        self._colors = self._resolve()

    @property
    def mode(self) -> Mode:
        """What was asked for: system, light or dark."""
        return self._mode

    @property
    def colors(self) -> Colors:
        """The colours in force."""
        return self._colors

    @property
    def dark(self) -> bool:
        """Whether the dark colours are in force."""
        return self._colors.dark

    def set_mode(self, mode: Mode) -> None:
        """Ask for light, dark or the system's choice."""
        self._mode = mode
        self._follow()

    @property
    def text_size(self) -> int:
        """Size of ordinary text, in logical pixels."""
        return self._text_size

    def set_text_size(self, size: int) -> None:
        """Make all text larger or smaller; what is beyond `fonts.SIZES` ends there."""
        size = min(max(size, fonts.SIZES[0]), fonts.SIZES[-1])
        if size != self._text_size:
            self._text_size = size
            self._paint_app(at_once=True)  # forms measure their labels when they are told of the change
            self.changed.emit()

    def apply(self, app: QApplication) -> None:
        """Make the application look like this theme, now and whenever the theme changes."""
        self._app = app
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._follow)
        self._paint_app()

    @contextmanager
    def building(self) -> Iterator[None]:
        """Take the style sheet away while a window is built.

        Qt resolves a sheet for a widget and all that is inside whenever a layout takes it up: for what is
        deep inside, once a level. Put on the whole window at its end it takes a third of the time.
        """
        sheet = self._app.styleSheet() if self._app else ""
        if self._app:
            self._app.setStyleSheet("")
        try:
            yield
        finally:
            if self._app:
                self._app.setStyleSheet(sheet)

    def add_page(self, page: QWidget) -> None:
        """Let a widget that is seen at times take other colours on only after those that are seen now.

        Qt gives a style sheet to all widgets of the process at once, which takes half a second, and three
        quarters of them are on other pages. Whoever shows the page calls :meth:`style_page` before.
        """
        self._pages.append(page)

    def style_page(self, page: QWidget) -> None:
        """Let a page take on what it has not taken on yet."""
        for widget in self._late.pop(page, ()):
            if isValid(widget):
                style = widget.style()
                style.unpolish(widget)  # forgets the rules of the sheet before
                style.polish(widget)
                QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
                widget.setAttribute(_POLISHED, True)

    @Slot()
    def _style_next(self) -> None:
        """Style one of the pages that wait, and the next one when there is nothing else to do."""
        if self._late:
            self.style_page(next(iter(self._late)))
        if self._late:
            self._next.start(0)

    @Slot()
    def _follow(self) -> None:
        """Take on the colours that the mode and the desktop now ask for."""
        colors = self._resolve()
        if colors is self._colors:
            return
        self._colors = colors
        self._paint_app()
        self.changed.emit()

    def _resolve(self) -> Colors:
        """Return the colours that the mode stands for at this moment."""
        if self._mode != "system":
            return DARK if self._mode == "dark" else LIGHT
        hints = QGuiApplication.styleHints() if QGuiApplication.instance() else None
        dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT

    def _paint_app(self, *, at_once: bool = False) -> None:
        """Give the application palette and style sheet, all of it at once or that which is seen first."""
        if self._app is None:
            return
        told = [widget for widget in self._app.allWidgets() if not widget.testAttribute(_UNTOLD)]
        hidden = self._polished_in_hidden_pages()
        self._late = {} if at_once else hidden
        late = [widget for widgets in self._late.values() for widget in widgets]
        # To exchange a sheet, Qt takes five times as long as to take one away and to put another one on. Of
        # the moment between the two nobody needs to be told.
        _set(told, _UNTOLD, True)
        _set(late, _POLISHED, False)
        self._app.setStyleSheet("")
        font = fonts.font()
        font.setPixelSize(self._text_size)
        self._app.setFont(font)
        self._app.setPalette(palette(self._colors))
        _set(set(told) - set(late), _UNTOLD, False)
        self._app.setStyleSheet(style_sheet(self._colors, self._write_images()))
        _set(late, _UNTOLD, False)
        if self._late:
            self._next.start(0)

    def _polished_in_hidden_pages(self) -> dict[QWidget, list[QWidget]]:
        """Return the pages that are not seen, and what has the present sheet in them, parents first."""
        self._pages = [page for page in self._pages if isValid(page)]
        for widgets in self._late.values():  # that still wait since the change before
            _set(filter(isValid, widgets), _POLISHED, True)
        hidden = (page for page in self._pages if not page.isVisible())
        inside = {page: [page, *page.findChildren(QWidget)] for page in hidden}
        return {
            page: polished
            for page, widgets in inside.items()
            if (polished := [widget for widget in widgets if widget.testAttribute(_POLISHED)])
        }

    def _write_images(self) -> dict[str, str]:
        """Write the style sheet's pictures in the present colours; return their paths.

        Qt keeps pictures by path, so each ground has its own files.
        """
        ground = "dark" if self.dark else "light"
        paths = {}
        for name, drawing, role in _IMAGES:
            path = Path(self._folder.path()) / f"{name}-{ground}.svg"
            path.write_bytes(icons.svg(drawing, self._colors.role(role)))
            paths[name] = path.as_posix()
        return paths


def _set(widgets: Iterable[QWidget], attribute: Qt.WidgetAttribute, value: bool) -> None:
    for widget in widgets:
        widget.setAttribute(attribute, value)


def palette(colors: Colors) -> QPalette:
    """Return the colours as a QPalette, for whatever the style sheet does not reach."""
    made = QPalette()
    role = QPalette.ColorRole
    active = {
        role.Window: colors.ground,
        role.WindowText: colors.text,
        role.Base: colors.panel,
        role.AlternateBase: colors.inset,
        role.Text: colors.text,
        role.PlaceholderText: colors.faint,
        role.Button: colors.panel,
        role.ButtonText: colors.text,
        role.BrightText: colors.error,
        role.ToolTipBase: colors.panel,
        role.ToolTipText: colors.text,
        role.Highlight: colors.accent,
        role.HighlightedText: colors.on_accent,
        role.Accent: colors.accent,
        role.Link: colors.accent,
        role.LinkVisited: colors.accent,
        role.Light: colors.inset,
        role.Midlight: colors.line_soft,
        role.Mid: colors.line,
        role.Dark: colors.line_hover,
        role.Shadow: colors.ground,
    }
    for which, color in active.items():
        made.setColor(which, QColor(color))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(colors.faint))
    return made
