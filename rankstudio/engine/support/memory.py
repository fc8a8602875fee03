"""The available memory: of the machine, of the control group, and within the process's own limit.

The module also returns unused memory of this process to the system.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.language import tr

_CGROUP = "sys/fs/cgroup"
_V2 = (_CGROUP, "memory.max", "memory.current")
_V1 = (f"{_CGROUP}/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")

_budget: ContextVar[float | None] = ContextVar("budget", default=None)

VARIABLE = "RANKSTUDIO_MEMORY"
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([MGT])(i?)B", re.IGNORECASE)
_POWERS = {"m": 2, "g": 3, "t": 4}
_MIN_LIMIT = 1e6  # bytes: for a limit below 1 MB, the unit was probably forgotten

# address space of the program and its libraries, on one processor
_ADDRESS_BYTES = 900e6
_STACK_BYTES = 8.4e6  # address space of each thread of a library
_N_LIBRARIES = 2  # with a thread for each processor: the BLAS of numpy and of scipy


def available() -> float:
    """Return the number of bytes still available to this process; infinity if unknown.

    Called before large allocations, because Linux grants any of them
    and kills the program later.
    """
    return max(0.0, min(total - used for total, used in _totals_and_usage()))


def budget() -> float:
    """Return the memory limit of a run in bytes: from `within`, RANKSTUDIO_MEMORY, or half the free memory.

    Raises
    ------
    ParameterError
        If the environment variable RANKSTUDIO_MEMORY is not a size.

    Examples
    --------
    >>> from rankstudio.api import memory_budget
    >>> memory_budget() > 0
    True
    """
    setting = os.environ.get(VARIABLE, "")
    return _budget.get() or (n_bytes(setting) if setting else available() / 2)


def is_asked() -> bool:
    """Return whether the user has specified a memory limit."""
    return _budget.get() is not None or bool(os.environ.get(VARIABLE))


def n_bytes(text: str) -> float:
    """Parse a size such as "4GB" into bytes.

    Raises
    ------
    ParameterError
        If the text is not a size, or the size is less than a megabyte.

    Examples
    --------
    >>> n_bytes("4GB"), n_bytes("1.5 GiB"), n_bytes("700 MB")
    (4000000000.0, 1610612736.0, 700000000.0)
    """
    # The groups are the number, the prefix (k, M, G …) and the "i" of powers of 1024.
    match = _SIZE.fullmatch(text.strip())
    value = 0.0
    if match:
        base = 1024.0 if match[3] else 1000.0
        value = float(match[1]) * base ** _POWERS[match[2].lower()]
    if value < _MIN_LIMIT:
        raise ParameterError(
            VARIABLE, text, "a size of at least 1MB, such as 4GB or 500MB"
        )
    return value


@contextmanager
def within(n_bytes: float | None) -> Iterator[None]:
    """Apply a memory limit in bytes within the block; None leaves it unchanged."""
    token = _budget.set(n_bytes or _budget.get())
    try:
        yield
    finally:
        _budget.reset(token)


def size(n_bytes: float) -> str:
    """Return a number of bytes for display: "18.6 GB"."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def refuse_small_limit() -> None:
    """Raise OutOfMemoryError if ``ulimit -v`` leaves no memory for the libraries.

    Without this check they would end the process. Each library reserves
    a stack for each processor but one.

    Raises
    ------
    OutOfMemoryError
        If the limit is too small.
    """
    # The program itself, and a stack for each thread of the libraries.
    limit = _address_space()
    least = _ADDRESS_BYTES + _N_LIBRARIES * ((os.cpu_count() or 1) - 1) * _STACK_BYTES
    if limit is not None and limit < least:
        text = tr(
            "The address space of the program is limited to {size} (ulimit -v); at least {size_2} is needed."
        )
        raise OutOfMemoryError(text.format(size=size(limit), size_2=size(least)))


@contextmanager
def sufficient(operation: str) -> Iterator[None]:
    """Convert a MemoryError within a with statement to an OutOfMemoryError.

    The message starts with the operation, a text for users.

    Raises
    ------
    OutOfMemoryError
    """
    try:
        yield
    except MemoryError as error:
        reason = str(error).rstrip(".")
        text = tr(
            "{what}: not enough memory; {size} are free. Use fewer workers, features or documents, or a "
            "method that needs less."
        )
        if reason:
            text = tr(
                "{what}: not enough memory: {asked}; {size} are free. Use fewer workers, features or "
                "documents, or a method that needs less."
            )
        raise OutOfMemoryError(
            text.format(what=operation, asked=reason, size=size(available()))
        ) from None


def release_unused() -> None:
    """Return freed memory to the system, which otherwise stays with the allocator between small objects.

    The call takes a few hundredths of a second, and does nothing on
    systems other than Linux.
    """
    libc = _libc()
    if libc is not None and hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def _totals_and_usage() -> Iterator[tuple[float, float]]:
    """Yield (total, used) bytes of everything that limits this process's memory.

    Limits are those of the machine, of control groups (such as those of
    containers) and ``ulimit -v``. The first pair means no limit.
    """
    yield float("inf"), 0.0
    sizes = _sizes_in_file("proc/meminfo", "MemTotal", "MemAvailable")
    if "MemTotal" in sizes and "MemAvailable" in sizes:
        machine = sizes["MemTotal"]
        yield machine, machine - sizes["MemAvailable"]
    else:
        machine = _physical_memory()
        yield machine, 0.0
    for folder, limit_file, usage_file in _control_groups(
        _system_file("proc/self/cgroup")
    ):
        total = _system_file(f"{folder}/{limit_file}").strip()
        # A limit above the machine's memory has no effect; reading a
        # group's usage takes most of the time.
        if total.isdecimal() and float(total) < machine:
            # Cached pages of files count as used, although they are
            # freed when memory is needed.
            pages = re.findall(
                r"^(?:total_)?inactive_file (\d+)$",
                _system_file(f"{folder}/memory.stat"),
                re.M,
            )
            used = float(_system_file(f"{folder}/{usage_file}") or 0)
            yield float(total), used - max(map(float, pages), default=0.0)
    limit = _address_space()
    if limit is not None:
        yield limit, _sizes_in_file("proc/self/status", "VmSize").get("VmSize", 0.0)


@cache
def _control_groups(text: str) -> tuple[tuple[str, str, str], ...]:
    """Return (folder, name of its limit file, of its usage file) of each control group.

    These are the groups of Linux that limit the memory of a process. A
    group is also limited by the groups around it. A container may see
    its own group as the root.

    Parameters
    ----------
    text : str
        Content of ``/proc/self/cgroup``.
    """
    # A dict keeps the order and drops repetitions; the roots of both
    # versions of control groups come first.
    groups = dict.fromkeys([_V2, _V1])
    # A line is "4:memory:/user" in version 1, and "0::/user" in version 2.
    for kinds, path in re.findall(r"^\d+:([^:\n]*):/(.*)$", text, re.M):
        if not kinds or "memory" in kinds.split(","):
            root, limit_file, usage_file = _V1 if kinds else _V2
            # The last one of the parents is ".", the root itself.
            for group in (PurePosixPath(path), *PurePosixPath(path).parents):
                groups[f"{root}/{group}".removesuffix("/."), limit_file, usage_file] = (
                    None
                )
    return tuple(groups)


def _physical_memory() -> float:
    """Return the memory of the machine in bytes; infinity if it is unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        # Not on Windows: there the allocation itself fails.
        return float("inf")


def _address_space() -> float | None:
    """Return the limit of ``ulimit -v`` in bytes; None if there is none."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else float(soft)


def _sizes_in_file(file: str, *names: str) -> dict[str, float]:
    """Return the bytes in lines such as "MemTotal: 123 kB" of a file of the system, by name."""
    text = _system_file(file)
    lines = {name: re.search(rf"^{name}:\s+(\d+) kB$", text, re.M) for name in names}
    return {name: 1024.0 * float(line[1]) for name, line in lines.items() if line}


def _system_file(file: str) -> str:
    """Return the text of a file of the operating system, such as below ``/proc``, without buffering.

    Return "" if the file does not exist or cannot be read.
    """
    try:
        with open(f"/{file}", "rb", buffering=0) as stream:  # noqa: PTH123 - a path doubles the time
            return stream.read().decode("ascii", "replace")
    except OSError:
        return ""


@cache
def _libc() -> Any:
    """Return the C library of Linux, None elsewhere."""
    return ctypes.CDLL(None) if sys.platform.startswith("linux") else None
