"""Descriptions of the published averages of papers that plug-ins add."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of

_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class PrintedResults:
    """Published averages, which are shown beside the averages of runs.

    Attributes
    ----------
    key : str
        Key, unique among the printed results.
    label : str
        Name of the published results.
    numbers : str
        ``"module:function"``: returns a tuple of
        :class:`~rankstudio.engine.analysis.comparisons.published.Published`.
    """

    key: str
    label: str
    numbers: str


def printed_results() -> list[PrintedResults]:
    """Return the averages published in papers that built-in plug-ins provide.

    Printed results of other packages are left out with a warning.
    """
    # Texts of the warnings.
    exists = tr("Printed results with the key {key} exist already. Choose another key.")
    unusable = tr("Printed results of the plug-in {name} cannot be used: {reason}")
    return [
        entry
        for _, entry in entries_of("printed_results", _refuse_invalid, exists, unusable)
    ]


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for any published averages that a package's plug-in adds.

    Only the built-in published averages have been checked against their papers.
    """
    text = tr("only RankStudio itself has printed results, got {value}.")
    raise PlanError(text.format(value=shown(entry)))
