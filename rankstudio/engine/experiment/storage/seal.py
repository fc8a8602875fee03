"""Whether the test part of a study is sealed, and how often it was looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_TIMES = {1: "once", 2: "twice"}


@dataclass(frozen=True)
class SealMark:
    """One click: the test part was sealed, or the seal was broken.

    Attributes
    ----------
    sealed : bool
    happened : str
        When, in UTC: "2026-11-22T02:30:00+00:00".
    """

    sealed: bool
    happened: str

    @classmethod
    def now(cls, *, sealed: bool) -> SealMark:
        """Return a mark of this moment."""
        return cls(sealed, datetime.now(UTC).isoformat(timespec="seconds"))


def is_sealed(marks: Sequence[SealMark]) -> bool:
    """Tell whether the test part is sealed after these clicks; at the beginning it is not."""
    return bool(marks) and marks[-1].sealed


def n_looks(marks: Sequence[SealMark]) -> int:
    """Return how often the seal was broken."""
    return sum(not mark.sealed for mark in marks)


def seal_text(marks: Sequence[SealMark]) -> str:
    """Return the state in a report: "test part sealed", "test part shown twice"; "" if never sealed."""
    looks = n_looks(marks)
    often = f"shown {_TIMES.get(looks, f'{looks} times')}" if looks else ""
    if is_sealed(marks):
        return f"test part sealed, {often} before" if often else "test part sealed"
    return f"test part {often}" if often else ""
