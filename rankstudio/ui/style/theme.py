"""The theme: which colours are in force, and how the whole application takes them on.

The palette is ours (Fusion, a QPalette and a style sheet) because ``QStyleHints.setColorScheme`` does nothing
where no desktop answers: offscreen, and on a bare X server. What draws itself listens to `Theme.changed`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol, TypeVar
from weakref import WeakSet

from PySide6.QtCore import QEvent, QObject, Qt, QTemporaryDir, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget
from shiboken6 import isValid

from rankstudio.ui.style import fonts
from rankstudio.ui.style.colors import DARK, LIGHT, Colors
from rankstudio.ui.style.drawings import svg
from rankstudio.ui.style.stylesheet import style_sheet

Mode = Literal["system", "light", "dark"]

# The pictures that the style sheet refers to: name there, icon, colour role, size.
_STYLE_IMAGES = (
    ("chevron", "chevron-down", "muted"),
    ("chevron_faint", "chevron-down", "faint"),
    ("chevron_up", "chevron-up", "muted"),
    ("chevron_right", "chevron-right", "muted"),
    ("check", "check", "on_accent"),
    ("check_text", "check", "text"),
)


_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_NO_STYLE_EVENTS = (
    Qt.WidgetAttribute.WA_SetStyle
)  # Qt tells a widget with it of no change of the application's style

PER_TURN = 40
"""Widgets, and icons, that are styled in one turn of the event loop: about 20 ms of a slow computer."""


_T = TypeVar("_T")


class Restyled(Protocol):
    """An icon that is drawn in other colours."""

    def apply(self) -> None:
        """Draw it in the present ones."""


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
        After colours or size of the text have changed; for whatever draws itself. Widgets that Qt styles
        follow, some in each turn of the event loop.
    restyled : Signal()
        After widgets have taken the present style on: those that are seen, and later the other ones. For
        whatever measures a widget.
    """

    changed = Signal()
    restyled = Signal()

    def __init__(self, mode: Mode = "system", text_size: int = fonts.BASE) -> None:
        super().__init__()
        self._text_size = text_size
        self._mode: Mode = mode
        self._app: QApplication | None = None
        self._folder = QTemporaryDir()
        self._icons: WeakSet[Restyled] = WeakSet()
        self._late: dict[
            QWidget, bool
        ] = {}  # who waits for the sheet, parents first; whether with an old one
        self._unseen: dict[QWidget, None] = {}  # pages of windows being built that have not been shown yet
        self._jobs: deque[Callable[[], None]] = deque()  # for the turns until all that is seen is styled
        self._held: list[QWidget] = []  # windows that are drawn again when it is
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._turn)
        self._colors = self._resolve()

    @property
    def mode(self) -> Mode:
        """The mode that was asked for: system, light or dark."""
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
            self._restyle()

    def apply(self, app: QApplication) -> None:
        """Make the application look like this theme, now and whenever the theme changes."""
        self._app = app
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._follow)
        app.screenAdded.connect(self._fit_icons)
        self._exchange_sheet(app)
        self.finish()

    @contextmanager
    def building(self) -> Iterator[None]:
        """Take the style sheet away while a window is built.

        Qt resolves a sheet for a widget and all that is inside whenever a layout takes it up: for what is
        deep inside, once a level. Put on at the end it takes a third of the time, and pages that are not
        seen wait for it until they are: three quarters of the widgets.
        """
        sheet = self._app.styleSheet() if self._app else ""
        self._unseen.clear()  # of what was built without this
        self._late = {
            widget: has_old_sheet for widget, has_old_sheet in self._late.items() if isValid(widget)
        }
        if self._app:
            self._app.setStyleSheet("")
        try:
            yield
        finally:
            if self._app:
                pages = filter(isValid, self._unseen)
                unstyled = [widget for page in pages for widget in (page, *page.findChildren(QWidget))]
                with _without_style_events(unstyled):
                    self._app.setStyleSheet(sheet)
                self._late |= dict.fromkeys(unstyled, False)
            self._unseen.clear()

    @property
    def waits(self) -> bool:
        """Whether widgets have not taken on the present style yet."""
        return bool(self._jobs or self._late)

    def finish(self) -> None:
        """Style at once what waits for a turn of the event loop."""
        while self.waits:
            self._turn()

    def style_later(self, page: QWidget) -> None:
        """Let a page of what is being built wait for `style_page`."""
        self._unseen[page] = None

    def style_page(self, page: QWidget) -> None:
        """Style at once a page that is going to be seen."""
        self._unseen.pop(page, None)
        self._style([widget for widget in (page, *page.findChildren(QWidget)) if widget in self._late])

    def add_icon(self, icon: Restyled) -> None:
        """Have an icon drawn again whenever the theme changes, for as long as it lives."""
        self._icons.add(icon)

    def drop_icon(self, icon: Restyled) -> None:
        """Forget an icon that another one replaces."""
        self._icons.discard(icon)

    @Slot()
    def _turn(self) -> None:
        """Do the work of one turn of the event loop, and go on in the next one."""
        if self._jobs:
            self._jobs.popleft()()
        elif self._late:
            self._style(list(islice(self._late, PER_TURN)))
            if not self._late:
                self.restyled.emit()
        if self.waits:
            self._next.start(0)
        else:
            self._next.stop()

    def _style(self, widgets: Iterable[QWidget]) -> None:
        """Let widgets take on the present sheet, parents first."""
        for widget in widgets:
            has_old_sheet = self._late.pop(widget, None)
            if has_old_sheet is not None and isValid(widget):
                style = widget.style()
                if has_old_sheet:
                    style.unpolish(widget)  # forgets the rules of the sheet before
                style.polish(widget)
                QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
                widget.setAttribute(_POLISHED, True)

    @Slot()
    def _fit_icons(self) -> None:
        """Draw all icons again, for a screen whose pixels may be smaller."""
        self._draw_icons(list(self._icons))

    def _draw_icons(self, icons: Iterable[Restyled]) -> None:
        for icon in icons:
            if icon in self._icons and isValid(icon):  # no other one has taken its place since
                icon.apply()

    def _show(self) -> None:
        """Draw the windows again: all that is seen has its style."""
        windows = self._held
        self._held = []
        for window in filter(isValid, windows):
            window.setUpdatesEnabled(True)
            # Qt drops a request to draw that comes while updates are off, and believes it under way from
            # then on: what is only updated stays as it was until the next click.
            window.repaint()

    @Slot()
    def _follow(self) -> None:
        """Take on the colours that the mode and the desktop now ask for."""
        colors = self._resolve()
        if colors is self._colors:
            return
        self._colors = colors
        self._restyle()

    def _resolve(self) -> Colors:
        """Return the colours that the mode stands for at this moment."""
        if self._mode != "system":
            return DARK if self._mode == "dark" else LIGHT
        hints = QGuiApplication.styleHints() if QGuiApplication.instance() else None
        dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT

    def _restyle(self) -> None:
        """Take on other colours or another size of the text: visible widgets first, some in each turn.

        Qt gives a sheet to all widgets of the process at once, which takes a second for a window of 1,500.
        Few of them are seen. Until those are styled the windows keep their picture.
        """
        visible = self._exchange_sheet(self._app) if self._app is not None else []
        self.changed.emit()
        jobs: list[Callable[[], None]] = [partial(self._style, part) for part in _widgets_by_turn(visible)]
        jobs += [partial(self._draw_icons, part) for part in _widgets_by_turn(list(self._icons))]
        self._jobs = deque([*jobs, self.restyled.emit, self._show])
        if len(visible) <= PER_TURN:
            while self._jobs:
                self._jobs.popleft()()
        else:
            windows = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
            self._held += [window for window in windows if window.updatesEnabled()]
            for window in windows:
                window.setUpdatesEnabled(False)
        if self.waits:
            self._next.start(0)

    def _exchange_sheet(self, app: QApplication) -> list[QWidget]:
        """Exchange the sheet, and let all widgets that have it wait; return those of them that are seen."""
        _set_attribute(
            filter(isValid, self._late), _POLISHED, True
        )  # what still waits since the change before
        widgets = _all_widgets(app)
        polished = [widget for widget in widgets if widget.testAttribute(_POLISHED)]
        visible = [widget for widget in polished if widget.isVisible()]
        self._late = dict.fromkeys([*visible, *polished], True)
        # To exchange a sheet, Qt takes five times as long as to take one away and to put another one on. Of
        # the moment between the two no widget needs to know.
        with _without_style_events(widgets):
            app.setStyleSheet("")
            font = fonts.font()
            font.setPixelSize(self._text_size)
            app.setFont(font)
            app.setPalette(palette(self._colors))
            app.setStyleSheet(style_sheet(self._colors, self._write_images()))
        return visible

    def _write_images(self) -> dict[str, str]:
        """Write the style sheet's pictures in the present colours; return their paths.

        Qt keeps pictures by path, so each ground has its own files.
        """
        ground = "dark" if self.dark else "light"
        paths = {}
        for name, drawing, role in _STYLE_IMAGES:
            path = Path(self._folder.path()) / f"{name}-{ground}.svg"
            path.write_bytes(svg(drawing, self._colors.role(role)))
            paths[name] = path.as_posix()
        return paths


def _widgets_by_turn(items: Sequence[_T]) -> list[Sequence[_T]]:
    """Return the items for each of several turns."""
    return [items[start : start + PER_TURN] for start in range(0, len(items), PER_TURN)]


def _all_widgets(app: QApplication) -> list[QWidget]:
    """Return the widgets of all windows, parents first."""
    roots = [widget for widget in app.topLevelWidgets() if widget.parentWidget() is None]
    return [inside for root in roots for inside in (root, *root.findChildren(QWidget))]


@contextmanager
def _without_style_events(widgets: Sequence[QWidget]) -> Iterator[None]:
    """Keep a change of the application's style from widgets, which then count as not styled yet."""
    listeners = [widget for widget in widgets if not widget.testAttribute(_NO_STYLE_EVENTS)]
    _set_attribute(listeners, _NO_STYLE_EVENTS, True)
    _set_attribute(widgets, _POLISHED, False)
    yield
    _set_attribute(listeners, _NO_STYLE_EVENTS, False)


def _set_attribute(widgets: Iterable[QWidget], attribute: Qt.WidgetAttribute, value: bool) -> None:
    for widget in widgets:
        widget.setAttribute(attribute, value)


def palette(colors: Colors) -> QPalette:
    """Return the colours as a QPalette, for whatever the style sheet does not reach."""
    new_palette = QPalette()
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
    for color_role, color in active.items():
        new_palette.setColor(color_role, QColor(color))
    for color_role in (role.WindowText, role.Text, role.ButtonText):
        new_palette.setColor(QPalette.ColorGroup.Disabled, color_role, QColor(colors.faint))
    return new_palette
