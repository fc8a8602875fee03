"""Work with progress: a generator that yields it and returns its value."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")
Told = TypeVar("Told")


Waiting = Generator["WorkProgress", None, Value]
"""Yields progress before it returns a value."""


def finish(work: Generator[object, None, Value]) -> Value:
    """Run a generator to its end, whatever it yields, and return its value."""
    return followed(work, lambda _: None)


def followed(work: Generator[Told, None, Value], follow: Callable[[Told], None]) -> Value:
    """Run a generator to its end, telling what it yields, and return its value."""
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        follow(told)


@dataclass(frozen=True)
class WorkProgress:
    """Progress between two steps, from a method whose next step takes long.

    Attributes
    ----------
    what : str
        "comparing features".
    share : float
        How much of that is done, 0 to 1.
    """

    what: str
    share: float


@dataclass(frozen=True)
class Note(WorkProgress):
    """A sentence that a method says of what it learns, and that belongs to the results.

    Attributes
    ----------
    kind : type of Warning
        As which ``fit`` gives it; of several of one kind the first is shown.
    """

    share: float = 0.0
    kind: type[Warning] = UserWarning


def telling(
    work: Generator[object, None, Value], what: str, most: int
) -> Generator[WorkProgress, None, Value]:
    """Yield progress whenever a generator yields, of ``most`` times, and return its value.

    Progress events of its own pass, and do not count.
    """
    done = 0
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        if isinstance(told, WorkProgress):
            yield told
        else:
            yield WorkProgress(what, min(1.0, done / most))
            done += 1
