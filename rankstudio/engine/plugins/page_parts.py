"""Descriptions of panels, each with a controller, that plug-ins add to pages of the window; without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.plugin import LoadedPlugin


@dataclass(frozen=True)
class PartCommand:
    """A command of a menu of the window, which the controller of a plug-in's panel carries out.

    Attributes
    ----------
    key : str
        Name of the action.
    text, help : str
        Text in the menu, with ``&`` before its mnemonic, and what it
        does, as a sentence.
    menu, after : str
        Menu, and key of the command that this command follows.
    slot : str
        Name of the controller's method; its page is shown before it is called.
    possible : str
        Name of the controller's property that says whether the command
        can be carried out.
    """

    key: str
    text: str
    help: str
    menu: str
    after: str
    slot: str
    possible: str = "possible"


@dataclass(frozen=True)
class PagePart:
    """A panel that a plug-in adds to a page of the window, with the controller that fills it.

    Attributes
    ----------
    key : str
        Key, unique among the parts of pages.
    label : str
        Title of the panel.
    page, column : str
        Key of the page, and name of the column or row at whose end the
        panel is added.
    controller : str
        ``"module:Class"``: called with the theme, the models and a
        parent, it has a ``panel``.
    stretch, size : int
        Share of the space, and initial height or width in pixels.
    commands : tuple of PartCommand
        Commands of menus that the controller carries out.
    """

    key: str
    label: str
    page: str
    column: str
    controller: str
    stretch: int = 1
    size: int = 300
    commands: tuple[PartCommand, ...] = ()


def page_parts() -> list[tuple[LoadedPlugin, PagePart]]:
    """Return (plug-in, part) for each panel that an ability adds to a page of the window.

    Abilities are RankStudio's own removable plug-ins. Parts of other
    packages are refused with a warning.
    """
    exists = tr(
        "A part of a page with the key {key} exists already. Choose another key."
    )
    unusable = tr("A page or panel of the plug-in {name} cannot be used: {reason}")
    return entries_of("parts", _refuse_invalid, exists, unusable)


def _refuse_invalid(entry: object) -> None:
    """Raise PlanError for every part of a page of the window that a package's plug-in adds.

    The controller of such a part would have access to sealed data.
    """
    text = tr(
        "only RankStudio itself has parts of pages; use a WindowPanel instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
