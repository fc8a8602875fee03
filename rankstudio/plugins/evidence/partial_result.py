"""Progress of long work that carries what has been found so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from rankstudio.engine.support.work import WorkProgress

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class PartialResult(WorkProgress, Generic[Value]):
    """Progress of work with the result so far, which is valid if the iteration stops here.

    Attributes
    ----------
    found : object
        Result so far, of the same type as the complete result.
    """

    found: Value
