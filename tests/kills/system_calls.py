"""A process followed through its system calls, all threads of it, so that it can be killed at one of them."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys

# Those that change what is on the disk or say something to another process, by their numbers.
_CHANGES = {
    "write": 1,
    "pwrite64": 18,
    "writev": 20,
    "fsync": 74,
    "fdatasync": 75,
    "ftruncate": 77,
    "rename": 82,
    "mkdir": 83,
    "rmdir": 84,
    "link": 86,
    "unlink": 87,
    "fchmod": 91,
    "openat": 257,
    "mkdirat": 258,
    "unlinkat": 263,
    "renameat": 264,
    "linkat": 265,
    "utimensat": 280,
    "fallocate": 285,
    "renameat2": 316,
}
_NUMBERS = frozenset(_CHANGES.values())

_TRACEME, _CONTINUE, _OPTIONS, _INFO = 0, 24, 0x4200, 0x420E
_MARK_CALLS, _FOLLOW_THREADS, _END_TOGETHER = 1, 8, 1 << 20
_WALL = 0x40000000  # threads, too
_ENTRY = 1


class _Call(ctypes.Structure):
    """What Linux tells of a call: see PTRACE_GET_SYSCALL_INFO."""

    _fields_ = (
        ("what", ctypes.c_uint8),
        ("_", ctypes.c_uint8 * 3),
        ("architecture", ctypes.c_uint32),
        ("at", ctypes.c_uint64 * 2),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
        ("more", ctypes.c_uint64),
    )

    @property
    def changes(self) -> bool:
        """Whether it is one of those that count: to open a file does where it may be made."""
        if self.what != _ENTRY or self.number not in _NUMBERS:
            return False
        return self.number != _CHANGES["openat"] or bool(self.arguments[2] & os.O_CREAT)


def can_be_followed() -> bool:
    """Tell whether processes of this machine can be followed."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    child = os.fork()
    if child == 0:
        os._exit(1 if _ptrace(_TRACEME, 0) else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def be_followed() -> None:
    """Have the process that started this one follow it, and wait for that."""
    _ptrace(_TRACEME, 0)
    os.kill(os.getpid(), signal.SIGSTOP)


def follow(child: int, at: int | None = None) -> tuple[int, int]:
    """Follow a process to its end, or kill it before the call of a number.

    Returns
    -------
    calls, status : int
        How many calls that count there were, and the status of its end as `os.waitpid` has it.
    """
    calls, call = 0, _Call()
    os.waitpid(child, _WALL)
    _ptrace(_OPTIONS, child, 0, _MARK_CALLS | _FOLLOW_THREADS | _END_TOGETHER)
    _ptrace(_CONTINUE, child)
    while True:
        task, status = os.waitpid(-1, _WALL)
        if not os.WIFSTOPPED(status):
            if task == child:
                return calls, status
            continue
        number, passed = os.WSTOPSIG(status), 0
        if number == signal.SIGTRAP | 0x80:
            _ptrace(_INFO, task, ctypes.sizeof(call), ctypes.addressof(call))
            calls += call.changes
            if calls == at and call.changes:
                os.kill(child, signal.SIGKILL)
                continue
        elif number not in (signal.SIGSTOP, signal.SIGTRAP):
            passed = number
        _ptrace(_CONTINUE, task, 0, passed)


_libc = ctypes.CDLL(None)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


def _ptrace(request: int, task: int, address: int = 0, data: int = 0) -> int:
    return int(_libc.ptrace(request, task, address, data))
