"""What a person wrote for the report of a study, and which of its sections are wanted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.experiment.storage.stored_values import exactly, sequence


@dataclass(frozen=True)
class ReportSettings:
    """What a report says besides what runs found.

    Attributes
    ----------
    question, notes : str
        In the user's words.
    sections : tuple of (str, bool)
        Keys of sections in their order, each with whether it is wanted; empty for all as they usually stand.
    """

    question: str = ""
    notes: str = ""
    sections: tuple[tuple[str, bool], ...] = ()


def settings_values(settings: ReportSettings) -> dict[str, Any]:
    """Return the cells of a row of a study."""
    sections = json.dumps([list(one) for one in settings.sections])
    return {"question": settings.question, "notes": settings.notes, "sections": sections}


def settings_from_values(question: str, notes: str, sections: str) -> ReportSettings:
    """Return what a row says; ValueError or the like where it is impossible."""
    pairs = json.loads(sections)
    keys = sequence([key for key, _ in pairs], str)
    wanted = (exactly(there, bool) for _, there in pairs)
    return ReportSettings(question, notes, tuple(zip(keys, wanted, strict=True)))
