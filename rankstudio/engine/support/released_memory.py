"""Memory that this process holds and nobody uses, given back to the system."""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

_DONTNEED = 4  # MADV_DONTNEED of Linux
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$")
_LLVM = "libllvmlite"


def release() -> None:
    """Give back what was freed, and the code of LLVM, of which loading and compiling kernels alone has use.

    Freed memory stays with the allocator otherwise, where a few small objects lie in between. The code is
    a file's, unchanged: where it is used again, its pages are still in the system's cache. Takes some
    hundredths of a second; nothing is done on systems other than Linux.
    """
    libc = _libc()
    if libc is None:
        return
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
    if "llvmlite.binding" in sys.modules:
        for begin, size in _code_of_llvm():
            libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), _DONTNEED)


@cache
def _libc() -> Any:
    """Return the C library of Linux, None elsewhere."""
    return ctypes.CDLL(None) if sys.platform.startswith("linux") else None


@cache
def _code_of_llvm() -> tuple[tuple[int, int], ...]:
    """Return begins and sizes of the mappings of LLVM's file that are only read and were never written."""
    try:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    found, place = [], None
    for line in lines:
        mapping = _MAPPING.match(line)
        if mapping:
            begin, end, rights, name = mapping.groups()
            read_only = Path(name).name.startswith(_LLVM) and "w" not in rights
            place = (int(begin, 16), int(end, 16) - int(begin, 16)) if read_only else None
        elif place and line.startswith("Anonymous:") and line.split()[1] == "0":
            found.append(place)
    return tuple(found)
