"""Safe printing of commands.

Names of files, data, studies, runs and features come from other people.
On a terminal, an escape sequence in a name would move the cursor or set
the title, a bidirectional override would reverse a line, and a line
break would begin a new line. All output goes through `tell`, which
escapes these characters.
"""

from __future__ import annotations

import sys
from typing import TextIO

from rankstudio.engine.errors import one_line


class Block(str):
    """A text of several lines: :func:`tell` keeps its line breaks, which come from the program itself."""

    __slots__ = ()


def tell(
    *lines: str, file: TextIO | None = None, end: str = "\n", flush: bool = False
) -> None:
    """Print lines one below the other, with escapes for the characters that control a terminal.

    Parameters
    ----------
    lines : str
        Each text is printed as one line, a `Block` as its lines.
    file : text stream, optional
        The standard output by default.
    end : str
        Text after the last line.
    flush : bool
        Whether the lines appear at once.
    """
    # Without lines, this prints an empty line.
    print(
        *map(printable, lines),
        sep="\n",
        end=end,
        file=sys.stdout if file is None else file,
        flush=flush,
    )


def printable(line: str) -> str:
    """Return a line, or the lines of a block, with escapes in place of characters that control a terminal."""
    parts = line.split("\n") if isinstance(line, Block) else [line]
    return "\n".join(map(one_line, parts))


def tell_in_place(line: str, stream: TextIO) -> None:
    """Print a line in place of the previous one, on a terminal.

    ``stream`` is the terminal's standard output or error stream.
    """
    print(f"\r\x1b[K{printable(line)}", end="", file=stream, flush=True)
