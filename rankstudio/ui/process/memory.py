"""How much memory the program takes, for the status bar."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def resident_bytes() -> int:
    """Return the memory the process holds now, in bytes; its peak where only that is known, else 0."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return _peak_bytes()


def _peak_bytes() -> int:
    try:
        import resource  # noqa: PLC0415 - Unix only
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def in_words(size: int) -> str:
    """Return a size as "412 MB", "" for 0."""
    return f"{size / 1e6:,.0f} MB" if size else ""
