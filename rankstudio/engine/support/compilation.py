"""Announcement of the compilation of kernels, which happens once on a computer and takes a while.

numba announces kernels that it compiles, but not kernels that it reads
from its cache on disk. A message on each kernel is logged. Window and
terminal listen to the log, and need not import numba for that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rankstudio.engine.language import in_english, tr

SAMPLE_KERNELS = (
    "parse",
    "gather",
    "centre_rows",
    "rank_all",
    "side_by_side",
    "start",
    "compare",
    "measure_all",
    "select",
    "accumulate",
    "extend",
    "bring_up",
)
"""Kernels that the sample's study compiles, in this order."""

_log = logging.getLogger(__name__)
_log.setLevel(logging.INFO)


class _Handler(logging.Handler):
    """Handler of a log that calls ``on_message`` with each message."""

    def __init__(self, on_message: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = on_message

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._tell(record.getMessage())
        except OSError:  # the reader of the stream is gone: the work goes on
            self.handleError(record)


@contextmanager
def announced(on_message: Callable[[str], None]) -> Iterator[None]:
    """Report every kernel whose compilation starts within a with statement.

    ``on_message`` gets the message, on the thread that compiles the kernel.
    """
    handler = _Handler(on_message)
    _log.addHandler(handler)
    try:
        yield
    finally:
        _log.removeHandler(handler)


def announce(kernel: str) -> None:
    """Log that the compilation of a kernel starts, in the language of the user.

    The message has the name ``kernel`` or, for a kernel that a
    study of the sample data compiles, its number, such as "3 of
    20".
    """
    label = kernel
    # Kernels of the sample's study are compiled in a known order.
    with in_english(False):  # also while a report is written, which is in English
        if kernel in SAMPLE_KERNELS:
            label = tr("{n} of {most}").format(
                n=SAMPLE_KERNELS.index(kernel) + 1, most=len(SAMPLE_KERNELS)
            )
        _log.info(
            tr("Compiling for this computer (first use only): kernel {which}").format(
                which=label
            )
        )
