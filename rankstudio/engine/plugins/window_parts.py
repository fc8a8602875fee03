"""Descriptions of the pages and panels that plug-ins add to the window.

Nothing of Qt is imported here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from rankstudio.engine.errors import PluginWarning, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.loader import plugins, plugins_with
from rankstudio.engine.plugins.plugin import LoadedPlugin

_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ICON = re.compile(r"[a-z-]{1,40}")
_BUILDER = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_MAX_PAGE_LABEL = 14
_MAX_PANEL_LABEL = 40
_MAX_SUMMARY_LENGTH = 200


@dataclass(frozen=True)
class WindowPage:
    """A page of the window, with a button in the rail.

    Attributes
    ----------
    key : str
        Key, unique among pages: lower-case letters, digits and hyphens.
    label : str
        Label under the icon, at most 14 characters.
    summary : str
        Contents of the page, in one sentence.
    build : str
        Function that makes the page's widget, as ``"module:name"``; it
        is imported when the page is first shown, and called with a
        :class:`rankstudio.api.window.WindowContext`. "" for a page with a
        controller.
    icon : str
        Name of an icon of the program.
    controller : str
        In place of ``build``, for pages of RankStudio itself,
        ``"module:Class"``: called with the theme, the models and a
        parent when the page is made. A controller of the window itself
        lays its page out after all controllers are made; a controller
        of an ability has the widget ``content`` of the page, and
        perhaps a widget ``head`` above it.
    shortcut : str
        Keys that show the page, such as "Ctrl+8"; "" for none.
    guide : str
        Place in the guide that F1 opens, such as "estimates.md#the-estimates-page".
    on_rail : bool
        Whether the page has a button in the rail from the start; otherwise
        *View, Pages* adds the button.

    Examples
    --------
    >>> WindowPage("words", "Words", "Words of the shown features", "my_package.window:build").icon
    'figure'
    """

    key: str
    label: str
    summary: str
    build: str = ""
    icon: str = "figure"
    controller: str = ""
    shortcut: str = ""
    guide: str = ""
    on_rail: bool = True


@dataclass(frozen=True)
class WindowPanel:
    """A panel that a plug-in adds to a page of the window.

    Attributes
    ----------
    key : str
        Key, unique among panels.
    label : str
        Title, at most 40 characters.
    summary : str
        Contents of the panel, in one sentence.
    page : str
        Key of the page: "data", "select", "features", "evidence",
        "compare", "queries" or "report".
    build : str
        Function that makes the panel's widget, as ``"module:name"``; see
        :class:`WindowPage`.

    Examples
    --------
    >>> WindowPanel("words", "Words", "Words of the run", "features", "my_package.window:build").page
    'features'
    """

    key: str
    label: str
    summary: str
    page: str
    build: str


@dataclass(frozen=True)
class WindowParts:
    """Pages and panels that plug-ins add to the window.

    Attributes
    ----------
    pages : tuple of (WindowPage, LoadedPlugin)
        Each page with its plug-in.
    panels : tuple of (WindowPanel, LoadedPlugin)
        Each panel with its plug-in.
    """

    pages: tuple[tuple[WindowPage, LoadedPlugin], ...] = ()
    panels: tuple[tuple[WindowPanel, LoadedPlugin], ...] = ()


OWN_PAGES = ("data", "select", "features", "evidence", "compare", "queries", "report")
"""Keys of the pages of the window itself, from top to bottom; some of these pages come from abilities."""


@cache
def own_pages() -> tuple[WindowPage, ...]:
    """Return RankStudio's own pages of the window, from top to bottom.

    Their texts are in English, to be translated when they are shown.
    """
    pages: list[WindowPage] = []
    for loaded in plugins_with("pages").loaded:
        pages += [
            page
            for page in loaded.plugin.pages
            if isinstance(page, WindowPage) and _is_page_of_window(page, loaded)
        ]
    return tuple(sorted(pages, key=lambda page: OWN_PAGES.index(page.key)))


def _is_page_of_window(page: object, loaded: LoadedPlugin) -> bool:
    """Return whether a page is one of the window's own pages.

    ``loaded`` is the plug-in that adds the page: some of the own pages
    are in the folders of abilities.
    """
    return loaded.built_in and isinstance(page, WindowPage) and page.key in OWN_PAGES


@cache
def window_parts() -> WindowParts:
    """Return the pages and panels that plug-ins add to RankStudio's own pages.

    Pages and panels that cannot be used are left out with a warning.
    """
    pages: dict[str, tuple[WindowPage, LoadedPlugin]] = {}
    panels: dict[str, tuple[WindowPanel, LoadedPlugin]] = {}
    for loaded in plugins().loaded:
        for page in loaded.plugin.pages:
            if _is_page_of_window(page, loaded):  # one of RankStudio's own pages
                continue
            problem = _problem_of_page(
                page, {*OWN_PAGES, *pages}, built_in=loaded.built_in
            )
            if problem:
                _warn(loaded, problem)
            elif isinstance(page, WindowPage):
                pages[page.key] = page, loaded
    for loaded in plugins().loaded:
        for panel in loaded.plugin.panels:
            problem = _problem_of_panel(panel, panels)
            if problem:
                _warn(loaded, problem)
            elif isinstance(panel, WindowPanel):
                panels[panel.key] = panel, loaded
    return WindowParts(tuple(pages.values()), tuple(panels.values()))


def _problem_of_page(page: object, used_keys: Iterable[str], *, built_in: bool) -> str:
    """Return why a plug-in's page cannot be used, as a sentence; "" if it can.

    ``used_keys`` are the keys of other pages, ``built_in`` is whether
    the plug-in is RankStudio's.
    """
    if not isinstance(page, WindowPage):
        return tr("expected a WindowPage, got {value}.").format(value=shown(page))
    # A controller sees what the window hides, such as test results that are sealed.
    if page.controller and not built_in:
        text = tr(
            "{key}: a controller is reserved for pages of RankStudio, because it sees what is sealed. "
            "Use build instead."
        )
        return text.format(key=shown(page.key))
    if not isinstance(page.icon, str) or not _ICON.fullmatch(page.icon):
        text = tr("{key}: icon: expected the name of an icon, got {icon}.")
        return text.format(key=shown(page.key), icon=shown(page.icon))
    return _problem_of_part(page, _MAX_PAGE_LABEL, used_keys)


def _problem_of_panel(panel: object, used_keys: Iterable[str]) -> str:
    """Return why a plug-in's panel cannot be used, as a sentence; "" if it can.

    ``used_keys`` are the keys of other panels.
    """
    if not isinstance(panel, WindowPanel):
        return tr("expected a WindowPanel, got {value}.").format(value=shown(panel))
    if panel.page not in OWN_PAGES:
        text = tr("{key}: page: expected one of {pages}, got {page}.")
        return text.format(
            key=shown(panel.key), pages=", ".join(OWN_PAGES), page=shown(panel.page)
        )
    # The page is RankStudio's, but its plug-in, which has the same name, is absent.
    if panel.page not in {page.key for page in own_pages()}:
        text = tr(
            "{key}: its page needs the plug-in {plugin}, which is absent or left out."
        )
        return text.format(key=shown(panel.key), plugin=panel.page)
    return _problem_of_part(panel, _MAX_PANEL_LABEL, used_keys)


def _problem_of_part(
    part: WindowPage | WindowPanel, max_label_length: int, used_keys: Iterable[str]
) -> str:
    """Return why the key or a text of a page or panel is invalid; "" if none is.

    Parameters
    ----------
    part : WindowPage or WindowPanel
        The page or panel.
    max_label_length : int
        Maximum number of characters of the label.
    used_keys : iterable of str
        Keys of other parts of the window.

    Returns
    -------
    str
        The reason as a sentence, or "".
    """
    if not isinstance(part.key, str) or not _KEY.fullmatch(part.key):
        text = tr("key: expected lower-case letters, digits and hyphens, got {key}.")
        return text.format(key=shown(part.key))
    if part.key in used_keys:
        text = tr(
            "a page or panel with the key {key} exists already. Choose another key."
        )
        return text.format(key=shown(part.key))
    # A page of RankStudio may have a controller in place of a builder.
    build = getattr(part, "controller", "") or part.build
    if not isinstance(build, str) or not _BUILDER.fullmatch(build):
        text = tr('{key}: build: expected "module:function", got {build}.')
        return text.format(key=part.key, build=shown(build))
    for name, max_length in (
        ("label", max_label_length),
        ("summary", _MAX_SUMMARY_LENGTH),
    ):
        value = getattr(part, name)
        is_line = isinstance(value, str) and one_line(value) == value
        if not is_line or not 0 < len(value.strip()) <= max_length:
            text = tr(
                "{key}: {field}: expected a line of at most {most} characters, got {value}."
            )
            return text.format(
                key=part.key, field=name, most=max_length, value=shown(value)
            )
    return ""


def _warn(loaded: LoadedPlugin, problem: str) -> None:
    """Warn of a page or panel that cannot be used."""
    text = tr("A page or panel of the plug-in {name} cannot be used: {reason}")
    message = text.format(name=one_line(loaded.plugin.name), reason=one_line(problem))
    warnings.warn(message, PluginWarning, stacklevel=3)
