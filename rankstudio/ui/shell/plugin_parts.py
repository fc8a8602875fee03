"""Pages and panels of plug-ins, which are made when they are first seen and cannot crash the window."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from rankstudio.engine.errors import one_line
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.engine.plugins.window_parts import WindowPage, WindowPanel, window_parts
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.page import Page, Splitter, row
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.contributed_parts import ContributedParts
from rankstudio.ui.shell.window_context import Background, WindowContext
from rankstudio.ui.style.drawings import svg
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import fill, named

_log = logging.getLogger(__name__)

_LIKE_PANELS = "QTableView, QTreeView, QListView { background: palette(base); }"
_WIDTH = 300  # pixels of a plug-in's panel on a page of the window
_STRETCH = 1


class PluginPanel(Panel):
    """A panel with the widget of a plug-in, or with a message while the widget loads or after it has failed.

    Parameters
    ----------
    theme : Theme
    models : Models
    entry : rankstudio.api.WindowPage or rankstudio.api.WindowPanel
        The page or panel, as the plug-in describes it.
    loaded : LoadedPlugin
        The plug-in of the entry.
    """

    def __init__(
        self,
        theme: Theme,
        models: Models,
        entry: WindowPage | WindowPanel,
        loaded: LoadedPlugin,
    ) -> None:
        # The caption of the panel is the name of the package. Without
        # padding (0), the widget fills the panel.
        super().__init__(
            theme, entry.label, loaded.package, 0, name=f"plugin-{entry.key}"
        )
        self._entry = entry
        self._loaded = loaded
        self._was_shown = False  # the widget is made when the panel is first shown
        self._has_failed = False  # whether an error is shown instead of the widget
        self.message = named(
            PlainLabel(wraps=True, selectable=True),
            f"plugin-{entry.key}-message",
            role="muted",
        )
        self.message.setContentsMargins(16, 12, 16, 12)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setStyleSheet(_LIKE_PANELS)

        # The stack shows either the message or the area with the widget.
        content = QWidget()
        self._stack = QStackedLayout(content)
        message_page = QWidget()
        fill(QVBoxLayout(message_page), self.message, 1, margins=(0, 0, 0, 0))
        self._stack.addWidget(message_page)
        self._stack.addWidget(self._area)
        self.set_content(content)
        self.context = WindowContext(models, theme, self, self)
        self._importing = Background(self)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the widget when the panel is first shown; later, let it catch up on missed changes.

        The plug-in's module is imported on another thread, as that may
        take long.
        """
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self._say(
                tr("{package} is being loaded.").format(package=self._loaded.package)
            )
            self._importing.compute(
                partial(imported, self._entry.build), self._build, self.show_problem
            )
        else:
            self.context.catch_up()

    def attempt(self, call: Callable[[], object]) -> None:
        """Call a function of the plug-in, which may fail.

        After a failure, show the error. After a success, show the
        widget again if there is one.
        """
        # Ctrl+C in the terminal is meant for the whole program.
        try:
            call()
        except KeyboardInterrupt:
            raise
        except (
            BaseException
        ) as error:  # code of a plug-in may raise anything, SystemExit included
            self.show_problem(error)
            return
        if self._area.widget() is not None:
            self._has_failed = False
            self._stack.setCurrentWidget(self._area)

    def show_problem(self, error: BaseException) -> None:
        """Show an error instead of the widget, and write it to the log."""
        text = tr(
            "{package} {version} failed with {name}: {error}. See the log for details."
        )
        kind = type(error).__name__
        reason = one_line(str(error)).rstrip(".")
        self._say(
            text.format(
                package=self._loaded.package,
                version=self._loaded.version,
                name=kind,
                error=reason,
            )
        )
        self._has_failed = True

        # `build` is the import path of the function that makes the widget.
        _log.warning("%s failed", self._entry.build, exc_info=error)

    def _say(self, text: str) -> None:
        """Show a message instead of the widget."""
        self.message.setText(text)
        self._stack.setCurrentIndex(0)

    def _build(self, function: Callable[[WindowContext], QWidget]) -> None:
        """Make the widget with the plug-in's function, and show it.

        The widget stays hidden if a callback has failed meanwhile.
        Callbacks are functions that the plug-in registered while it
        made the widget.
        """
        # A callback that fails while the widget is made sets `_has_failed` again.
        self._has_failed = False
        widgets: list[QWidget] = []  # the widget, or empty if making it failed

        def make() -> None:
            """Call `function`, and put its widget into `widgets`; raise TypeError for anything else."""
            widget = function(self.context)
            if not isinstance(widget, QWidget):
                text = tr("{build} returned {value}, not a QWidget")
                raise TypeError(
                    text.format(build=self._entry.build, value=type(widget).__name__)
                )
            widgets.append(widget)

        self.attempt(make)
        if widgets:
            self._area.setWidget(widgets[0])
            if not self._has_failed:
                self._stack.setCurrentWidget(self._area)


def imported(builder: str) -> Callable[[WindowContext], QWidget]:
    """Import and return the function that makes a widget, given as "module:name"."""
    module, _, name = builder.partition(":")
    function: Callable[[WindowContext], QWidget] = getattr(import_module(module), name)
    return function


class PluginParts(QObject):
    """Makes the pages and panels that plug-ins add, and remembers which panels are hidden.

    Parameters
    ----------
    theme : Theme
    models : Models

    Attributes
    ----------
    entries : tuple of rankstudio.api.WindowPage
        Pages of plug-ins, in the order of the plug-ins.
    panels : Mapping of str to PluginPanel
        Panels on pages of the window, by their keys.
    restored : Signal(str, bool)
        Key of a panel, and whether it is shown, as it was in the last session.
    """

    restored = Signal(str, bool)

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._models = models

        # Pages and panels, each with the plug-in that adds it.
        self._parts = window_parts()
        self.entries = tuple(
            _with_existing_icon(entry) for entry, _ in self._parts.pages
        )
        self.panels: dict[str, PluginPanel] = {}

    def page(
        self, key: str, contributed: ContributedParts, controllers: Sequence[Controller]
    ) -> Page:
        """Make the page of a plug-in.

        Parameters
        ----------
        key : str
            Key of one of :attr:`entries`.
        contributed : ContributedParts
            Makes a page that has a controller.
        controllers : sequence of Controller
            All controllers of the window; the page uses those that have
            panels on it.
        """
        entry, loaded = next(
            (entry, loaded) for entry, loaded in self._parts.pages if entry.key == key
        )
        page = (
            contributed.page(entry, loaded, controllers) if entry.controller else None
        )
        if page is not None:
            return page

        # A page without a controller, or whose controller failed, is one panel.
        panel = PluginPanel(self._theme, self._models, entry, loaded)

        # The panel has stretch factor 1 and a width of 900 pixels at first.
        return Page(f"plugin-{entry.key}", row(f"plugin-{entry.key}", (panel, 1, 900)))

    def add_panels(self, page: str, content: Splitter) -> None:
        """Add the panels of plug-ins at the end of a page.

        ``page`` is the key of the page, and ``content`` the splitter
        with its panels.
        """
        for entry, loaded in self._parts.panels:
            if entry.page != page:
                continue
            panel = PluginPanel(self._theme, self._models, entry, loaded)
            self.panels[entry.key] = panel
            content.addWidget(panel)
            content.setStretchFactor(content.count() - 1, _STRETCH)

            # The other panels keep their widths.
            content.setSizes([*content.sizes()[:-1], _WIDTH])

    def titles(self) -> dict[str, str]:
        """Return the titles of the panels on pages of the window, by their keys."""
        return {
            entry.key: entry.label
            for entry, _ in self._parts.panels
            if entry.key in self.panels
        }

    def save(self, settings: Settings) -> None:
        """Store in the settings which panels are hidden."""
        hidden_keys = [key for key, panel in self.panels.items() if panel.isHidden()]
        settings.set("window/hidden-panels", " ".join(hidden_keys) or None)

    def restore(self, settings: Settings) -> None:
        """Hide the panels that were hidden in the last session."""
        hidden_keys = settings.text("window/hidden-panels").split()
        for key, panel in self.panels.items():
            panel.setHidden(key in hidden_keys)
            self.restored.emit(key, key not in hidden_keys)


def _with_existing_icon(entry: WindowPage) -> WindowPage:
    """Return a plug-in's page with translated texts, and with the default icon if its own does not exist."""
    entry = replace(entry, label=tr(entry.label), summary=tr(entry.summary))

    # The drawing is read for its error only: the second argument is a
    # color, and any text will do.
    try:
        svg(entry.icon, entry.icon)
    except OSError:
        # The class attribute is the default of the field.
        return replace(entry, icon=WindowPage.icon)
    return entry
