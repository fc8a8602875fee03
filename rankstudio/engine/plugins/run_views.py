"""Views of the shown run that plug-ins add to a tab of the page *Compare*, as data; without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class RunView:
    """A view of the shown run, among those of a tab.

    Attributes
    ----------
    key : str
        Key, unique among views.
    label, title : str
        What is chosen to see it, and the title of the panel meanwhile.
    tab : str
        Key of the tab in which it is the last part.
    view : str
        ``"module:Class"`` of a view that is called with the theme, and is asked for what it shows of a run.
    """

    key: str
    label: str
    title: str
    tab: str
    view: str


def run_views() -> list[RunView]:
    """Return the views that abilities add; those of other packages are refused with a warning."""
    exists = tr("A view of runs with the key {key} exists already. Choose another key.")
    unusable = tr("A view of the plug-in {name} cannot be used: {reason}")
    return [entry for _, entry in entries_of("run_views", _refuse_invalid, exists, unusable)]


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError: it would see what the window keeps sealed."""
    text = tr(
        "views of runs are reserved for RankStudio, because they see the test part. Use a WindowPanel "
        "instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
