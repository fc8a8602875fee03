"""Work with progress: a generator that yields it and returns its value."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeVar

Value = TypeVar("Value")
Told = TypeVar("Told")


Waiting = Generator["WorkProgress", None, Value]
"""Yields progress before it returns a value."""


def finish(work: Generator[object, None, Value]) -> Value:
    """Run a generator to its end, ignoring what it yields, and return its value.

    Examples
    --------
    >>> def work():
    ...     yield WorkProgress("counting", 0.5)
    ...     return 42
    >>> finish(work())
    42
    """
    return followed(work, lambda _: None)


def followed(
    work: Generator[Told, None, Value], follow: Callable[[Told], None]
) -> Value:
    """Run a generator to its end, and return its value.

    Parameters
    ----------
    work : generator
        The generator to run.
    follow : callable
        Called with each item that the generator yields, such as an
        event of progress.
    """
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        follow(event)


@dataclass(frozen=True)
class WorkProgress:
    """Progress between two slow steps of a method.

    Attributes
    ----------
    what : str
        Name of the work for users, such as "comparing features".
    share : float
        Share done, 0 to 1.

    Examples
    --------
    >>> WorkProgress("comparing features", 0.25).share
    0.25
    """

    what: str
    share: float


@dataclass(frozen=True)
class Note(WorkProgress):
    """A note of a method on its training that belongs to the results.

    Attributes
    ----------
    kind : type of Warning
        Class of the warning that ``fit`` issues for the note; of
        several notes with one class the first is shown.

    Examples
    --------
    >>> Note("one feature was left out").what
    'one feature was left out'
    """

    share: float = 0.0
    kind: type[Warning] = UserWarning


def told_as(
    work: Generator[Told, None, Value], change: Callable[[Told], WorkProgress | None]
) -> Generator[WorkProgress, None, Value]:
    """Convert the events that a generator yields to events of progress.

    ``change`` converts an event, or returns None to drop it. The result
    is a generator of the converted events that returns the value of
    ``work``.

    Examples
    --------
    >>> from rankstudio.api import WorkProgress, finish, told_as
    >>> def work():
    ...     yield 1
    ...     return "done"
    >>> finish(told_as(work(), lambda number: WorkProgress("counting", number / 2)))
    'done'
    """
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        changed = change(event)
        if changed is not None:
            yield changed


def part_of(work: Waiting[Value], first: float, last: float) -> Waiting[Value]:
    """Scale the progress of a work to the shares from ``first`` to ``last``.

    The result is a generator of the scaled progress that returns the
    value of ``work``.

    Examples
    --------
    >>> from rankstudio.api import WorkProgress, part_of
    >>> def work():
    ...     yield WorkProgress("counting", 0.5)
    >>> [progress.share for progress in part_of(work(), 0.0, 0.5)]
    [0.25]
    """
    return told_as(
        work, lambda event: replace(event, share=first + (last - first) * event.share)
    )


def without_notes(work: Waiting[Value]) -> Waiting[Value]:
    """Drop the notes among the progress of a work.

    The result is a generator of the other progress that returns the
    value of ``work``.

    Examples
    --------
    >>> from rankstudio.api import Note, WorkProgress, without_notes
    >>> def work():
    ...     yield Note("one feature was left out")
    ...     yield WorkProgress("counting", 1.0)
    >>> [type(event).__name__ for event in without_notes(work())]
    ['WorkProgress']
    """
    return told_as(work, lambda event: None if isinstance(event, Note) else event)


def telling(
    work: Generator[object, None, Value], what: str, most: int
) -> Waiting[Value]:
    """Yield progress whenever a generator yields, and return the value of the generator.

    The n-th item that ``work`` yields becomes the share n / ``most`` of
    the progress. Progress events of the generator itself are passed on,
    and do not count.

    Parameters
    ----------
    work : generator
        The generator to run.
    what : str
        Name of the work, for users.
    most : int
        Expected number of items.
    """
    steps = count()  # 0, 1, 2 …, the next one at each item
    return told_as(
        work,
        lambda event: (
            event
            if isinstance(event, WorkProgress)
            else WorkProgress(what, min(1.0, next(steps) / most))
        ),
    )
