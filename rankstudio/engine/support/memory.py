"""How much memory there is: of the machine, of the control group, and within the process's own limit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankstudio.engine.errors import OutOfMemoryError

_GROUPS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
    ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available() -> float:
    """Return how many bytes this process can still have now; infinity where that is unknown.

    Asked before large allocations, because Linux grants any of them and ends the program later.
    """
    return max(0.0, min(total - used for total, used in _bounds()))


def size(n_bytes: float) -> str:
    """Return a number of bytes for a sentence: "18.6 GB"."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


@contextmanager
def sufficient(what: str) -> Iterator[None]:
    """Turn a MemoryError into an OutOfMemoryError that begins with what was being done.

    Raises
    ------
    OutOfMemoryError
    """
    try:
        yield
    except MemoryError as error:
        asked = f": {str(error).rstrip('.')}" if str(error) else ""
        raise OutOfMemoryError(
            f"{what}: there is not enough memory{asked}. {size(available())} are free. Fewer workers, "
            "features or documents, or a method that keeps less, may fit."
        ) from None


def _bounds() -> Iterator[tuple[float, float]]:
    """Yield what there is of memory and what is taken of it, for everything that limits this process."""
    yield float("inf"), 0.0
    kilobytes = _kilobytes("proc/meminfo")
    if "MemTotal" in kilobytes and "MemAvailable" in kilobytes:
        yield kilobytes["MemTotal"], kilobytes["MemTotal"] - kilobytes["MemAvailable"]
    else:
        yield _physical(), 0.0
    for most, taken in _GROUPS:
        total = _text(most).strip()
        if total.isdecimal():
            # Pages of files count as taken, and are given up when they are needed.
            pages = re.search(r"^inactive_file (\d+)$", _text(str(Path(taken).parent / "memory.stat")), re.M)
            yield float(total), float(_text(taken) or 0) - (float(pages[1]) if pages else 0.0)
    own = _address_space()
    if own is not None:
        yield own, _kilobytes("proc/self/status").get("VmSize", 0.0)


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on Windows: there the allocation itself fails
        return float("inf")


def _address_space() -> float | None:
    """Return the limit of ``ulimit -v`` in bytes, None where there is none."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else float(soft)


def _kilobytes(file: str) -> dict[str, float]:
    """Return the lines "name: 123 kB" of a file of the system, in bytes."""
    found = re.findall(r"^(\w+):\s+(\d+) kB$", _text(file), re.M)
    return {name: 1024.0 * float(value) for name, value in found}


def _text(file: str) -> str:
    try:
        return (Path("/") / file).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
