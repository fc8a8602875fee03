"""The theme: the present colors and text size, and how they are applied to the whole application.

The theme sets its own palette (Fusion, a QPalette and a style sheet),
because ``QStyleHints.setColorScheme`` has no effect without a desktop:
offscreen, and on a bare X server. Widgets that draw themselves listen
to `Theme.changed`.
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

# The pictures of the style sheet: name there, icon and color role.
_STYLE_IMAGES = (
    ("chevron", "chevron-down", "muted"),
    ("chevron_faint", "chevron-down", "faint"),
    ("chevron_up", "chevron-up", "muted"),
    ("chevron_right", "chevron-right", "muted"),
    ("check", "check", "on_accent"),
    ("check_text", "check", "text"),
)


_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
# Qt sends a widget with this attribute no event when the style of the
# application changes.
_NO_STYLE_EVENTS = Qt.WidgetAttribute.WA_SetStyle

PER_TURN = 40
"""Widgets, or icons, that are styled in one turn of the event loop: about 20 ms on a slow computer."""


_T = TypeVar("_T")


class Restyled(Protocol):
    """An icon that can be drawn again in other colors."""

    def apply(self) -> None:
        """Draw the icon in the present colors."""


class Theme(QObject):
    """The present colors and text size of the application, which has one theme for all widgets.

    Parameters
    ----------
    mode : {"system", "light", "dark"}
        ``system`` follows the desktop, and is light if the desktop has no color scheme.
    text_size : int
        Size of ordinary text in logical pixels.

    Attributes
    ----------
    changed : Signal()
        The colors or the text size have changed: emitted for widgets
        that draw themselves. Widgets that Qt styles are styled
        afterwards, some in each turn of the event loop.
    restyled : Signal()
        Widgets have got the present style: emitted for code that
        measures widgets, once after the visible widgets are styled, and
        once after all are.
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

        # Widgets that wait for the present style sheet, parents first.
        # The value of each says whether it has the rules of an old
        # sheet.
        self._unstyled: dict[QWidget, bool] = {}

        # Pages of a window being built that are not shown yet: an ordered set.
        self._pages_to_style: dict[QWidget, None] = {}

        # Work on visible widgets, one job in each turn of the event loop.
        self._jobs: deque[Callable[[], None]] = deque()

        # Windows that are not drawn until these jobs are done.
        self._frozen_windows: list[QWidget] = []
        self._turn_timer = QTimer(self)
        self._turn_timer.setSingleShot(True)
        self._turn_timer.timeout.connect(self._turn)
        self._colors = self._resolve()

    @property
    def mode(self) -> Mode:
        """The chosen mode: system, light or dark."""
        return self._mode

    @property
    def colors(self) -> Colors:
        """The present colors."""
        return self._colors

    @property
    def dark(self) -> bool:
        """Whether the present colors are dark."""
        return self._colors.dark

    def set_mode(self, mode: Mode) -> None:
        """Choose light, dark, or the system's colors."""
        self._mode = mode
        self._follow()

    @property
    def text_size(self) -> int:
        """Size of ordinary text, in logical pixels."""
        return self._text_size

    def set_text_size(self, size: int) -> None:
        """Change the size of all text.

        ``size`` is that of ordinary text, in logical pixels. Sizes
        outside of `fonts.SIZES` are clipped.
        """
        size = min(max(size, fonts.SIZES[0]), fonts.SIZES[-1])
        if size != self._text_size:
            self._text_size = size
            self._restyle()

    def apply(self, app: QApplication) -> None:
        """Apply the theme to the application, and keep following changes of the system's theme and screens."""
        # Qt's style "Fusion" is drawn alike on all systems.
        self._app = app
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._follow)
        app.screenAdded.connect(self._fit_icons)
        self._exchange_sheet(app)
        self.finish()

    @contextmanager
    def building(self) -> Iterator[None]:
        """Remove the style sheet while a window is built, and set it again at the end.

        Qt resolves a style sheet for a widget and all widgets inside
        whenever the widget is added to a layout, and so several times
        for deeply nested widgets. Setting the sheet at the end takes a
        third of the time. Pages of `style_later`, with three quarters
        of all widgets, are only styled when they are shown.
        """
        sheet = self._app.styleSheet() if self._app else ""

        # Remove pages of windows that were built without this context.
        self._pages_to_style.clear()
        self._unstyled = {
            widget: has_old_sheet
            for widget, has_old_sheet in self._unstyled.items()
            if isValid(widget)
        }
        if self._app:
            self._app.setStyleSheet("")
        try:
            yield
        finally:
            # The sheet is set again for all widgets but those of the
            # hidden pages, which are noted as unstyled.
            if self._app:
                pages = filter(isValid, self._pages_to_style)
                unstyled = [
                    widget
                    for page in pages
                    for widget in (page, *page.findChildren(QWidget))
                ]
                with _without_style_events(unstyled):
                    self._app.setStyleSheet(sheet)

                # They have no rules of an old sheet: False.
                self._unstyled |= dict.fromkeys(unstyled, False)
            self._pages_to_style.clear()

    @property
    def waits(self) -> bool:
        """Whether some widgets do not have the present style yet."""
        return bool(self._jobs or self._unstyled)

    def finish(self) -> None:
        """Style all widgets at once that would be styled in later turns of the event loop."""
        while self.waits:
            self._turn()

    def style_later(self, page: QWidget) -> None:
        """Do not style a page of a window that is being built before `style_page` is called for it."""
        self._pages_to_style[page] = None

    def style_page(self, page: QWidget) -> None:
        """Style the widgets of a page that are not styled yet, as the page is about to be shown."""
        self._pages_to_style.pop(page, None)
        self._style(
            [
                widget
                for widget in (page, *page.findChildren(QWidget))
                if widget in self._unstyled
            ]
        )

    def add_icon(self, icon: Restyled) -> None:
        """Have an icon drawn again whenever the theme changes, as long as the icon lives."""
        self._icons.add(icon)

    def drop_icon(self, icon: Restyled) -> None:
        """Forget an icon that was replaced by another one."""
        self._icons.discard(icon)

    @Slot()
    def _turn(self) -> None:
        """Do the work of one turn of the event loop.

        The work is the next job or, after all jobs, to style some of
        the hidden widgets. Between two turns the window handles clicks
        and keys.
        """
        if self._jobs:
            job = self._jobs.popleft()
            job()
        elif self._unstyled:
            self._style(list(islice(self._unstyled, PER_TURN)))
            if not self._unstyled:
                self.restyled.emit()

        # More work remains.
        if self.waits:
            self._turn_timer.start(0)
        else:
            self._turn_timer.stop()

    def _style(self, widgets: Iterable[QWidget]) -> None:
        """Style those of some widgets that wait for the present style sheet.

        Parents must come before the widgets in them. The styled widgets
        do not wait any more, and get Qt's attribute "polished".
        """
        for widget in widgets:
            has_old_sheet = self._unstyled.pop(widget, None)
            if has_old_sheet is not None and isValid(widget):
                style = widget.style()
                if has_old_sheet:
                    style.unpolish(widget)  # removes the rules of the old sheet
                style.polish(widget)

                # Qt sends this event after it has styled a widget: many react to it.
                QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
                widget.setAttribute(_POLISHED, True)

    @Slot()
    def _fit_icons(self) -> None:
        """Draw all icons again, for a new screen, which may have another pixel ratio."""
        self._draw_icons(list(self._icons))

    def _draw_icons(self, icons: Iterable[Restyled]) -> None:
        """Draw some icons in the present colors."""
        for icon in icons:
            # It may have been replaced or deleted since.
            if icon in self._icons and isValid(icon):
                icon.apply()

    def _unfreeze_windows(self) -> None:
        """Let the windows be drawn again, after all their visible widgets are styled."""
        windows = self._frozen_windows
        self._frozen_windows = []
        for window in filter(isValid, windows):
            window.setUpdatesEnabled(True)

            # Qt drops a request to draw that comes while updates are
            # disabled, and takes it for pending from then on. After a
            # mere update(), the window would not be drawn until the
            # next click.
            window.repaint()

    @Slot()
    def _follow(self) -> None:
        """Change to the colors of the mode and the desktop's present color scheme."""
        colors = self._resolve()
        if colors is self._colors:
            return
        self._colors = colors
        self._restyle()

    def _resolve(self) -> Colors:
        """Return the colors of the mode.

        The mode is "light", "dark" or "system". For "system", return
        the colors of the desktop's present color scheme.
        """
        if self._mode != "system":
            return DARK if self._mode == "dark" else LIGHT
        hints = QGuiApplication.styleHints() if QGuiApplication.instance() else None
        is_dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
        return DARK if is_dark else LIGHT

    def _restyle(self) -> None:
        """Apply other colors or another text size to the widgets, some in each turn.

        Visible widgets come first. Qt would apply a style sheet to all
        widgets of the process at once, which takes a second for a
        window of 1,500 widgets, few of which are visible. The windows
        are not drawn until all visible widgets are styled.
        """
        visible = self._exchange_sheet(self._app) if self._app is not None else []
        self.changed.emit()

        # Hidden widgets are styled by `_turn` after all jobs.
        jobs: list[Callable[[], None]] = [
            partial(self._style, part) for part in _widgets_by_turn(visible)
        ]
        jobs += [
            partial(self._draw_icons, part)
            for part in _widgets_by_turn(list(self._icons))
        ]
        self._jobs = deque([*jobs, self.restyled.emit, self._unfreeze_windows])

        # A few widgets are styled at once; with more, the window is not
        # drawn meanwhile.
        if len(visible) <= PER_TURN:
            while self._jobs:
                job = self._jobs.popleft()
                job()
        else:
            windows = [
                widget
                for widget in QApplication.topLevelWidgets()
                if widget.isVisible()
            ]
            self._frozen_windows += [
                window for window in windows if window.updatesEnabled()
            ]
            for window in windows:
                window.setUpdatesEnabled(False)
        if self.waits:
            self._turn_timer.start(0)

    def _exchange_sheet(self, app: QApplication) -> list[QWidget]:
        """Exchange the style sheet, and return the visible widgets, which have to be styled anew.

        From then on, all styled widgets wait to be styled anew, visible
        widgets first, and have lost Qt's attribute "polished".
        """
        # Qt's attribute "polished" marks styled widgets, which are
        # collected below. Widgets that still wait since the last change
        # have lost it, and get it again here, so that they are among
        # the collected ones.
        _set_attribute(filter(isValid, self._unstyled), _POLISHED, True)
        widgets = _all_widgets(app)
        polished = [widget for widget in widgets if widget.testAttribute(_POLISHED)]
        visible = [widget for widget in polished if widget.isVisible()]
        self._unstyled = dict.fromkeys([*visible, *polished], True)

        # Qt takes five times as long to exchange a style sheet as to
        # remove one and to set another one. Widgets get no events of
        # the two changes.
        with _without_style_events(widgets):
            app.setStyleSheet("")
            font = fonts.font()
            font.setPixelSize(self._text_size)
            app.setFont(font)
            app.setPalette(palette(self._colors))
            app.setStyleSheet(style_sheet(self._colors, self._write_images()))
        return visible

    def _write_images(self) -> dict[str, str]:
        """Write the pictures of the style sheet in the present colors, and return their paths by name.

        Qt caches pictures by their paths, so that dark and light
        pictures need different files.
        """
        shade = "dark" if self.dark else "light"
        paths = {}
        for name, drawing, role in _STYLE_IMAGES:
            path = Path(self._folder.path()) / f"{name}-{shade}.svg"
            path.write_bytes(svg(drawing, self._colors.role(role)))
            paths[name] = path.as_posix()
        return paths


def _widgets_by_turn(items: Sequence[_T]) -> list[Sequence[_T]]:
    """Divide widgets or icons into parts, one for each turn of the event loop."""
    return [items[start : start + PER_TURN] for start in range(0, len(items), PER_TURN)]


def _all_widgets(app: QApplication) -> list[QWidget]:
    """Return the widgets of all windows, parents first."""
    roots = [
        widget for widget in app.topLevelWidgets() if widget.parentWidget() is None
    ]
    return [widget for root in roots for widget in (root, *root.findChildren(QWidget))]


@contextmanager
def _without_style_events(widgets: Sequence[QWidget]) -> Iterator[None]:
    """Keep events of a change of the application's style from widgets.

    The style is changed in the ``with`` block; afterwards ``widgets``
    get events again. As the widgets are not styled in the block, they
    lose Qt's attribute "polished", which marks styled widgets.
    """
    # Widgets that have the attribute for another reason keep it.
    listeners = [
        widget for widget in widgets if not widget.testAttribute(_NO_STYLE_EVENTS)
    ]
    _set_attribute(listeners, _NO_STYLE_EVENTS, True)
    _set_attribute(widgets, _POLISHED, False)
    yield
    _set_attribute(listeners, _NO_STYLE_EVENTS, False)


def _set_attribute(
    widgets: Iterable[QWidget], attribute: Qt.WidgetAttribute, value: bool
) -> None:
    """Set an attribute of widgets to a value."""
    for widget in widgets:
        widget.setAttribute(attribute, value)


def palette(colors: Colors) -> QPalette:
    """Return the colors as a QPalette, for all parts of widgets that the style sheet does not define."""
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

    # Texts of disabled widgets are fainter.
    for color_role in (role.WindowText, role.Text, role.ButtonText):
        new_palette.setColor(
            QPalette.ColorGroup.Disabled, color_role, QColor(colors.faint)
        )
    return new_palette
