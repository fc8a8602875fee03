"""A process that compiles kernels for this one, into the cache on the disk from which both read.

numba's compiler is Python: it holds the interpreter for tenths of a
second at a time, and a window in the same process would freeze. A
process without a window compiles for itself.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from operator import attrgetter
from typing import Any, BinaryIO

from rankstudio.engine.support.compilation import announce


class CompilerProcess:
    """Compiles kernels in another process, which starts with the first kernel that is not in the cache.

    The process ends with the calling one. Only one thread calls at a
    time, because it holds numba's compiler lock.

    Attributes
    ----------
    wanted : bool
        Whether kernels are compiled in the other process instead of this one.
    compiling : bool
        Whether the other process is compiling.
    """

    def __init__(self) -> None:
        self.wanted = self.compiling = False
        self._process: subprocess.Popen[bytes] | None = None

    def compile(self, function: Callable[..., Any], signature: Any) -> bool:
        """Compile a function for some types of arguments in the other process.

        ``signature`` has the types. Return True if the code is in the
        cache of kernels, and False if it could not be compiled. If the
        process cannot be used, set ``wanted`` to False, so that later
        kernels are compiled in this process.
        """
        if not self.wanted:  # kernels are compiled in this process
            return False
        announce(function.__name__)
        # A function that cannot be found by its name cannot be sent.
        try:
            request = pickle.dumps(
                (function.__module__, function.__qualname__, signature)
            )
        except (pickle.PicklingError, TypeError, AttributeError):
            return False
        self.compiling = True
        try:
            return self._ask(request)
        except (OSError, EOFError, pickle.UnpicklingError):
            # the process could not be started, or was ended from outside
            self.wanted = False
            return False
        finally:
            self.compiling = False

    def _ask(self, request: bytes) -> bool:
        """Send a request to the other process; return whether it compiled the requested kernel.

        The process is started if needed. ``request`` is pickled.
        """
        if self._process is None:
            self._process = _start_process()
        writer = self._process.stdin
        reader = self._process.stdout
        assert writer is not None
        assert reader is not None
        # The answer of the process is whether it compiled the function.
        writer.write(request)
        writer.flush()
        return bool(pickle.load(reader))


@cache
def compiler_process() -> CompilerProcess:
    """Return the process that compiles for this one."""
    return CompilerProcess()


def _start_process() -> subprocess.Popen[bytes]:
    """Start a process that runs this module, connected by its input and output.

    It ends when its input is closed, that is, with this process. In a
    session of its own, Ctrl+C does not reach it.
    """
    # The process finds the same modules as this one. An entry "" of the
    # path is the current folder, ".".
    path = os.pathsep.join(folder or "." for folder in sys.path)
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,
    )


def _serve(reader: BinaryIO, writer: BinaryIO) -> None:
    """Compile the kernels that ``reader`` requests, until it ends.

    A request is a pickled (module, name, signature). ``writer`` gets a
    pickled bool for each: whether the kernel was compiled.
    """
    with suppress(EOFError, BrokenPipeError):
        while True:
            module, name, signature = pickle.load(reader)
            writer.write(pickle.dumps(_compile_kernel(module, name, signature)))


def _compile_kernel(module: str, name: str, signature: Any) -> bool:
    """Compile a kernel of a module for some types of arguments into the cache of kernels.

    ``module`` and ``name`` say where the kernel is, and ``signature``
    has the types. Return whether that succeeded; if not, the calling
    process compiles the kernel itself and reports the error.
    """
    try:
        attrgetter(name)(importlib.import_module(module)).compile(signature)
    except Exception:  # the caller reports it: it compiles the kernel itself
        return False
    return True


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    # output of libraries goes to stderr, so that it is not read as an answer
    os.dup2(2, 1)
    _serve(sys.stdin.buffer, answers)
