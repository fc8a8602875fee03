"""The option ``--memory``, which limits the memory of a command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support import memory


def add_memory_option(parser: Any) -> None:
    """Add ``--memory``, which limits the memory for data and runs."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        type=_checked_size,
        help="memory limit for data and runs, such as 4GB, in addition to about 300 MB for the program; "
        f"default: the environment variable {memory.VARIABLE}, or half of the free memory. Larger data are "
        "read from disk as needed",
    )


@contextmanager
def within_memory(args: argparse.Namespace) -> Iterator[None]:
    """Limit the memory of a command, its threads and its worker processes as ``--memory`` says.

    The limit is in an environment variable, which worker processes inherit.
    """
    limit = getattr(args, "memory", None)
    if limit is None:
        yield
        return
    before = os.environ.get(memory.VARIABLE)
    os.environ[memory.VARIABLE] = limit
    try:
        yield
    finally:
        if before is None:
            del os.environ[memory.VARIABLE]
        else:
            os.environ[memory.VARIABLE] = before


def _checked_size(text: str) -> str:
    """Return a typed size of memory, such as "4GB", as it is.

    Raise an error for any other text.
    """
    try:
        memory.n_bytes(text)  # called for its error only
    except ParameterError as error:
        raise argparse.ArgumentTypeError(
            f"expected {error.expected}, got {text}"
        ) from None
    return text
