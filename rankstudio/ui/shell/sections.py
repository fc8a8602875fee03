"""The pages of the window: makes their controllers from entries, and connects the pages with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.plugins.entries import imported
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.export_item import ExportItem
from rankstudio.ui.page.model_chips import ChooseButtons
from rankstudio.ui.page.page import Page, Part
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.shell.contributed_parts import ContributedParts
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.plugin_parts import PluginParts
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import CoveredNumber


class Sections(QObject):
    """Makes the pages, and connects them with each other and with the parts of plug-ins.

    The controller of each page of the window itself is also an
    attribute, named by the key of the page.

    Parameters
    ----------
    theme : Theme
    models : Models
        The state that the pages show.
    window : QWidget

    Attributes
    ----------
    controllers : dict of str to PageController
        Controllers of the window's own pages, by the keys of the pages.
    pages : dict of str to Page
        The pages by their keys.
    workspace : Workspace
        The widget that shows one page at a time.
    """

    def __init__(self, theme: Theme, models: Models, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._models = models
        self.window = window
        self.controllers: dict[str, PageController] = {
            page.key: imported(page.controller)(theme, models, self) for page in PAGES
        }
        self.contributed = ContributedParts(theme, models, self, window)
        self.plugin_parts = PluginParts(theme, models, self)

        # Once all controllers exist, each is connected with those of other pages.
        for controller in self.controllers.values():
            controller.join(self)
        for command_controller in self.contributed.command_controllers:
            command_controller.join(self)

        # Some panels get a button that chooses the model which the user
        # inspects there. `choosing` returns these panels, and for each
        # a function that returns whether a model is inspected now. At
        # first there is none: ().
        self.choose_buttons = ChooseButtons(models.current, models.session, (), self)
        for controller in self.controllers.values():
            for panel, inspects in controller.choosing():
                self.choose_buttons.add(panel, inspects)
            controller.choiceMoved.connect(self.choose_buttons.show)
        self.pages = self._make_pages()
        self.workspace = Workspace(
            theme, self.pages, self.plugin_parts, self._plugin_page
        )

        # The workspace contains all pages; every controller is connected with it.
        for controller in self.controllers.values():
            controller.pageAsked.connect(self.workspace.show_page)
            controller.join_workspace(self.workspace)

        # Every page is connected with every controller. A page of a
        # plug-in may be made later, when it is first shown; then
        # `pageMade` announces it.
        for page in self.pages.values():
            self._connect_page(page)
        self.workspace.pageMade.connect(self._connect_page)

    @property
    def places(self) -> dict[str, str]:
        """Addresses in the guide, by the object names of the panels that they explain."""
        return {
            name: location
            for controller in self.controllers.values()
            for name, location in controller.places.items()
        }

    def commands(self) -> dict[str, Callable[[], object]]:
        """Return the functions of menu commands on pages, by their keys."""
        return {
            key: call
            for controller in self.controllers.values()
            for key, call in controller.commands().items()
        }

    def openers(self) -> dict[str, Callable[[str], object]]:
        """Return the functions that open files other than data, by the kind of file; each takes a path."""
        openers: dict[str, Callable[[str], object]] = {}
        for controller in self.controllers.values():
            openers |= controller.openers()
        for command_controller in self.contributed.command_controllers:
            openers |= command_controller.openers()
        return openers

    def matches_of_text(self, typed: str) -> list[PaletteEntry]:
        """Return the pages' palette entries for a typed text, which are too many to be listed without it."""
        return [
            entry
            for controller in self.controllers.values()
            for entry in controller.matches_of_text(typed)
        ]

    def export_items(self) -> list[ExportItem]:
        """Return the pages' entries for export that are neither tables nor plots."""
        return [
            item
            for controller in self.controllers.values()
            for item in controller.export_items()
        ]

    def show_runs(self) -> None:
        """Show the progress of the runs on all pages."""
        for controller in self.controllers.values():
            controller.show_runs()

    def find(self, key: str) -> Any:
        """Return the controller of a page of the window.

        ``key`` is the key of the page, such as "compare". Return None
        if there is no such page.
        """
        return self.controllers.get(key)

    def show_page(self, key: str) -> None:
        """Show a page."""
        self.workspace.show_page(key)

    def __getattr__(self, key: str) -> Any:
        """Return the controller of a page of the window."""
        controller = self.__dict__.get("controllers", {}).get(key)
        if controller is None:
            raise AttributeError(key)
        return controller

    @Slot(object)
    def _connect_page(self, page: Page) -> None:
        """Connect the parts that any page may have: links to sealed numbers, and services of other pages."""
        for number in page.findChildren(CoveredNumber):
            number.clicked.connect(self._models.session.unsealAsked)
        for controller in self.controllers.values():
            controller.serve(page)

    def _make_pages(self) -> dict[str, Page]:
        """Make the pages with their panels, and return them by their keys.

        A page of a plug-in is made now only if the rail, the column of
        buttons at the left, has a button for it. The others are made
        when first shown.
        """
        # Widgets above the contents, by the keys of the pages.
        heads = {
            key: head
            for controller in self.controllers.values()
            for key, head in controller.heads.items()
        }

        # `_panels_of` yields the panels that other pages and plug-ins
        # add. Heads are above the contents, and feet below.
        contents = {
            key: controller.lay_out(self._panels_of)
            for key, controller in self.controllers.items()
        }
        for key, content in contents.items():
            self.plugin_parts.add_panels(key, content)
        page_controllers = self._own_controllers()
        pages = {
            key: Page(
                key,
                content,
                page_controllers,
                head=heads.get(key),
                foot=self.controllers[key].foot,
            )
            for key, content in contents.items()
        }
        on_rail = (entry.key for entry in self.plugin_parts.entries if entry.on_rail)
        return pages | {key: self._plugin_page(key) for key in on_rail}

    def _panels_of(self, column: str) -> Iterator[Part]:
        """Yield the panels that other pages and plug-ins add at the end of a column or row."""
        for controller in self.controllers.values():
            yield from controller.panels_of(column)
        yield from self.contributed.panels_of(column)

    def _plugin_page(self, key: str) -> Page:
        """Make the page of a plug-in, by the page's key."""
        return self.plugin_parts.page(key, self.contributed, self._own_controllers())

    def _own_controllers(self) -> list[Controller]:
        """Return all controllers that this object owns: those of pages, and those inside of these."""
        return self.findChildren(
            Controller, options=Qt.FindChildOption.FindChildrenRecursively
        )
