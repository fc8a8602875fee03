"""Descriptions of views of runs that plug-ins add to a tab of the page *Compare*; without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class RunView:
    """A view of the shown run, or of the compared runs, in a tab of the page *Compare*.

    Attributes
    ----------
    key : str
        Key, unique among views.
    label, title : str
        Name of the view in the list of views, and title of the panel
        while the view is shown.
    tab : str
        Key of the tab to which the view is added as the last part.
    view : str
        ``"module:Class"`` of a view that is called with the theme. It
        shows a run, or compares runs.
    """

    key: str
    label: str
    title: str
    tab: str
    view: str


def run_views() -> list[RunView]:
    """Return the views of runs that abilities add.

    Abilities are RankStudio's own removable plug-ins. Views of other
    packages are left out with a warning.
    """
    exists = tr("A view of runs with the key {key} exists already. Choose another key.")
    unusable = tr("A view of the plug-in {name} cannot be used: {reason}")
    return [
        entry for _, entry in entries_of("run_views", _refuse_invalid, exists, unusable)
    ]


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError: the view would see what the window keeps sealed."""
    text = tr(
        "views of runs are reserved for RankStudio, because they see the test part. Use a WindowPanel "
        "instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
