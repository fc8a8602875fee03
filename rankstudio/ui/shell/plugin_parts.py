"""Pages and panels of plug-ins: made when they are first seen, and never in the way of the window."""

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
_WIDTH = 300  # of a panel on a page of the window
_STRETCH = 1


class PluginPanel(Panel):
    """The widget of a plug-in in a panel, or what keeps it from being there.

    Parameters
    ----------
    theme : Theme
    models : Models
    entry : rankstudio.api.WindowPage or rankstudio.api.WindowPanel
    loaded : LoadedPlugin
        Plug-in that it comes from.
    """

    def __init__(
        self, theme: Theme, models: Models, entry: WindowPage | WindowPanel, loaded: LoadedPlugin
    ) -> None:
        super().__init__(theme, entry.label, loaded.package, 0, name=f"plugin-{entry.key}")
        self._entry = entry
        self._loaded = loaded
        self._begun = False
        self._is_broken = False
        self.message = named(
            PlainLabel(wraps=True, selectable=True), f"plugin-{entry.key}-message", role="muted"
        )
        self.message.setContentsMargins(16, 12, 16, 12)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setStyleSheet(_LIKE_PANELS)
        places = QWidget()
        self._stack = QStackedLayout(places)
        texts = QWidget()
        fill(QVBoxLayout(texts), self.message, 1, margins=(0, 0, 0, 0))
        self._stack.addWidget(texts)
        self._stack.addWidget(self._area)
        self.set_content(places)
        self.context = WindowContext(models, theme, self, self)
        self._importing = Background(self)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the widget when it is first seen; later, show what changed while it was not."""
        super().showEvent(event)
        if not self._begun:
            self._begun = True
            self._say(tr("{package} is being loaded.").format(package=self._loaded.package))
            self._importing.compute(partial(imported, self._entry.build), self._build, self.show_problem)
        else:
            self.context.catch_up()

    def attempt(self, call: Callable[[], object]) -> None:
        """Call a function of the plug-in; show its error, or the widget again if there was one before."""
        try:
            call()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of the plug-in's code, SystemExit included
            self.show_problem(error)
            return
        if self._area.widget() is not None:
            self._is_broken = False
            self._stack.setCurrentWidget(self._area)

    def show_problem(self, error: BaseException) -> None:
        """Show an error in the place of the widget."""
        text = tr("{package} {version} failed with {name}: {error}. See the log for details.")
        kind = type(error).__name__
        reason = one_line(str(error)).rstrip(".")
        self._say(
            text.format(package=self._loaded.package, version=self._loaded.version, name=kind, error=reason)
        )
        self._is_broken = True
        _log.warning("%s failed", self._entry.build, exc_info=error)

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self._stack.setCurrentIndex(0)

    def _build(self, function: Callable[[WindowContext], QWidget]) -> None:
        """Make the widget and show it, unless what it has called meanwhile failed."""
        self._is_broken = False
        widgets: list[QWidget] = []

        def make() -> None:
            widget = function(self.context)
            if not isinstance(widget, QWidget):
                text = tr("{build} returned {value}, not a QWidget")
                raise TypeError(text.format(build=self._entry.build, value=type(widget).__name__))
            widgets.append(widget)

        self.attempt(make)
        if widgets:
            self._area.setWidget(widgets[0])
            if not self._is_broken:
                self._stack.setCurrentWidget(self._area)


def imported(builder: str) -> Callable[[WindowContext], QWidget]:
    """Return the function that makes a widget, from its module."""
    module, _, name = builder.partition(":")
    function: Callable[[WindowContext], QWidget] = getattr(import_module(module), name)
    return function


class PluginParts(QObject):
    """Makes the pages and panels that plug-ins add.

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
        Whether a panel is shown, as it was the last time.
    """

    restored = Signal(str, bool)

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._models = models
        self._parts = window_parts()
        self.entries = tuple(_drawable(entry) for entry, _ in self._parts.pages)
        self.panels: dict[str, PluginPanel] = {}

    def page(self, key: str, contributed: ContributedParts, controllers: Sequence[Controller]) -> Page:
        """Make the page of a plug-in.

        Parameters
        ----------
        key : str
            Of one of :attr:`entries`.
        contributed : ContributedParts
            What makes pages with a controller.
        controllers : sequence of Controller
            All of the window, of which those with panels on the page belong to it.
        """
        entry, loaded = next((entry, loaded) for entry, loaded in self._parts.pages if entry.key == key)
        page = contributed.page(entry, loaded, controllers) if entry.controller else None
        if page is not None:
            return page
        panel = PluginPanel(self._theme, self._models, entry, loaded)
        return Page(f"plugin-{entry.key}", row(f"plugin-{entry.key}", (panel, 1, 900)))

    def add_panels(self, page: str, content: Splitter) -> None:
        """Add the panels of plug-ins to the end of a page of the window."""
        for entry, loaded in self._parts.panels:
            if entry.page != page:
                continue
            panel = PluginPanel(self._theme, self._models, entry, loaded)
            self.panels[entry.key] = panel
            content.addWidget(panel)
            content.setStretchFactor(content.count() - 1, _STRETCH)
            content.setSizes([*content.sizes()[:-1], _WIDTH])

    def titles(self) -> dict[str, str]:
        """Return the titles of the panels on pages of the window, by their keys."""
        return {entry.key: entry.label for entry, _ in self._parts.panels if entry.key in self.panels}

    def save(self, settings: Settings) -> None:
        """Remember which panels are hidden."""
        hidden_keys = [key for key, panel in self.panels.items() if panel.isHidden()]
        settings.set("window/hidden-panels", " ".join(hidden_keys) or None)

    def restore(self, settings: Settings) -> None:
        """Hide the panels that were hidden the last time."""
        hidden_keys = settings.text("window/hidden-panels").split()
        for key, panel in self.panels.items():
            panel.setHidden(key in hidden_keys)
            self.restored.emit(key, key not in hidden_keys)


def _drawable(entry: WindowPage) -> WindowPage:
    """Return a page with its texts translated, and an icon that exists."""
    entry = replace(entry, label=tr(entry.label), summary=tr(entry.summary))
    try:
        svg(entry.icon, entry.icon)
    except OSError:
        return replace(entry, icon=WindowPage.icon)
    return entry
