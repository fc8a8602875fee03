"""Progress of long work that carries what has been found so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from rankstudio.engine.support.work import WorkProgress

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class PartialResult(WorkProgress, Generic[Value]):
    """Progress with a result that is valid as it is: to stop is not to ask for the next one.

    Attributes
    ----------
    found : object
        The result of what is done, of the same type as the whole.
    """

    found: Value
