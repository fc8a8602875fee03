"""Descriptions of the functions of abilities that are also names of :mod:`rankstudio.engine`."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class EngineFunction:
    """A function of a plug-in that is also a name of :mod:`rankstudio.engine`.

    Attributes
    ----------
    key : str
        Name of the function.
    module : str
        Module of the function; imported when the name is first used.

    Examples
    --------
    >>> EngineFunction("best_subset", "rankstudio.plugins.evidence.best_subset").key
    'best_subset'
    """

    key: str
    module: str


def engine_functions() -> dict[str, str]:
    """Return the modules of the engine's functions that plug-ins add, by name.

    Only built-in plug-ins may add functions. Those of installed
    packages are left out with a warning.
    """
    exists = tr("A function {key} exists already. Choose another name.")
    unusable = tr("A function of the plug-in {name} cannot be used: {reason}")
    entries = entries_of("functions", _refuse_invalid, exists, unusable)
    return {entry.key: entry.module for _, entry in entries}


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError: names of the engine are RankStudio's own."""
    text = tr(
        "only RankStudio itself adds names to its engine; import {value} from your package."
    )
    raise PlanError(text.format(value=shown(entry)))
