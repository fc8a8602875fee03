"""Cases of commands, without those of abilities whose folder is absent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankstudio.cli import known_commands


def of_commands_there(cases: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the cases whose first value, words or a text of words, begins with a command that there is."""
    return [case for case in cases if _first_word(case[0]) in known_commands()]


def _first_word(words: str | list[str]) -> str:
    return (words.split() if isinstance(words, str) else words)[0]
