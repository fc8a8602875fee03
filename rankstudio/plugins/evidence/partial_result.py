"""Progress of long work that carries what has been found so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from rankstudio.engine.support.work import WorkProgress

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class PartialResult(WorkProgress, Generic[Value]):
    """Progress with a valid partial result; stop iterating to keep it.

    Attributes
    ----------
    found : object
        Result so far, of the same type as the complete result.
    """

    found: Value
