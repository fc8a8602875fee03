"""Work with progress: a generator that yields it and returns its value."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TypeVar

Value = TypeVar("Value")
Told = TypeVar("Told")


Waiting = Generator["WorkProgress", None, Value]
"""Yields progress before it returns a value."""


def finish(work: Generator[object, None, Value]) -> Value:
    """Run a generator to its end, ignoring what it yields, and return its value."""
    return followed(work, lambda _: None)


def followed(work: Generator[Told, None, Value], follow: Callable[[Told], None]) -> Value:
    """Run a generator to its end, passing on what it yields, and return its value."""
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        follow(told)


@dataclass(frozen=True)
class WorkProgress:
    """Progress between two slow steps of a method.

    Attributes
    ----------
    what : str
        "comparing features".
    share : float
        Share done, 0 to 1.
    """

    what: str
    share: float


@dataclass(frozen=True)
class Note(WorkProgress):
    """A note of a method on its training that belongs to the results.

    Attributes
    ----------
    kind : type of Warning
        Warning class used by ``fit``; of several notes of one kind the first is shown.
    """

    share: float = 0.0
    kind: type[Warning] = UserWarning


def part_of(work: Waiting[Value], first: float, last: float) -> Waiting[Value]:
    """Yield the progress of a work as that of a part of another one, and return its value."""
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        yield replace(told, share=first + (last - first) * told.share)


def telling(
    work: Generator[object, None, Value], what: str, most: int
) -> Generator[WorkProgress, None, Value]:
    """Yield progress out of ``most`` whenever a generator yields, and return its value.

    Its own progress events are passed on, and do not count.
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
