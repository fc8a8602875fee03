"""The check of a value of a plan, with the error for a wrong one."""

from __future__ import annotations

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr


def check_field(name: str, value: object, expected: str, met: bool) -> None:
    """Raise a PlanError with a field, its value and what is expected, unless `met` is True."""
    if not met:
        text = tr("{name}: expected {expected}, got {value}.")
        raise PlanError(text.format(name=name, expected=expected, value=shown(value)))
