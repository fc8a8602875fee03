"""The one way in which commands print.

Names of files, data, studies, runs and features are other people's. On a terminal an escape sequence in one
would move the cursor or set the title, a bidirectional override would turn a line around, and a line break
would make a line of its own. Whatever is printed goes through `tell`, which escapes these characters.
"""

from __future__ import annotations

import sys
from typing import TextIO

from rankstudio.engine.errors import one_line


class Block(str):
    """Lines that were put together here: their breaks are their own, all names in them are of one line."""

    __slots__ = ()


def tell(*lines: str, file: TextIO | None = None, end: str = "\n", flush: bool = False) -> None:
    """Print lines one under the other, without the characters that a terminal would act on.

    Parameters
    ----------
    lines : str
        Each is one line, or a `Block` of them.
    file : text stream, optional
        The standard output by default.
    end : str
    flush : bool
    """
    print(*map(printable, lines), sep="\n", end=end, file=sys.stdout if file is None else file, flush=flush)


def printable(line: str) -> str:
    """Return a line, or the lines of a block, with escapes in place of characters that control a terminal."""
    parts = line.split("\n") if isinstance(line, Block) else [line]
    return "\n".join(map(one_line, parts))


def tell_in_place(line: str, stream: TextIO) -> None:
    """Print a line in place of the previous one, on a terminal."""
    print(f"\r\x1b[K{printable(line)}", end="", file=stream, flush=True)
