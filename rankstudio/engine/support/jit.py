"""The ways in which functions are compiled here, with their types kept for the type checker.

Compiled code is kept on disk and runs without the GIL, because the window lives in the same process and has
to go on while a kernel works. It is compiled anew where the file of a kernel has changed, or that of a kernel
that it has from another module; a constant from a module without kernels is not noticed.

The first run on a computer waits for the compiler. What is called by kernels alone is neither wrapped for
Python nor kept on disk, which halves the time it takes; slices that are assigned to, ``reshape`` and messages
of errors each bring seconds of numba's own library along, and loops do not.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, Protocol, TypeVar

from numba import njit
from numba.core import event

from rankstudio.engine.support.compilation import announce
from rankstudio.engine.support.kernel_cache import kernel_cache

_LINEAR_ALGEBRA = ("scipy.linalg", "scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")


def _load_linear_algebra() -> None:
    """Load numba's linear algebra, which no kernel here has use of, without that of SciPy: 20 MB less.

    numba imports it only to see whether it is there, and a kernel that called it would import it once more.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules.update({name: ModuleType(name) for name in _LINEAR_ALGEBRA})
    try:
        import numba.np.arraymath  # noqa: F401, PLC0415 - the first kernel would
    finally:
        for name in _LINEAR_ALGEBRA:
            del sys.modules[name]


_load_linear_algebra()

P = ParamSpec("P")
R = TypeVar("R")

_KEPT: dict[str, Any] = {"kept": True}
_INSIDE = {"no_cpython_wrapper": True}
_INLINED = {"no_cpython_wrapper": True, "forceinline": True}
_FUSED: dict[str, Any] = {"fastmath": {"contract"}}
_REORDERED: dict[str, Any] = {"fastmath": {"contract", "reassoc"}}


class _Compilations(event.Listener):  # type: ignore[misc]
    """Announces the kernels that numba compiles, and keeps the search for garbage out of its way.

    A kernel and what it brings along make hundreds of thousands of objects. Searching all there are again and
    again took a sixth of the time, and held the window up for 100 ms each time.
    """

    def __init__(self) -> None:
        self._open = 0
        self._collected = False

    def on_start(self, event: event.Event) -> None:
        if self._open == 0:
            self._collected = gc.isenabled()
            gc.disable()
        self._open += 1
        dispatcher = event.data["dispatcher"]
        own = dispatcher.py_func.__module__.startswith("rankstudio.")
        if own and "no_cpython_wrapper" not in dispatcher.targetoptions:
            announce(dispatcher.py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        self._open -= 1
        if self._open == 0 and self._collected:
            gc.enable()


event.register("numba:compile", _Compilations())


class _Compiler(Protocol):
    """A decorator that keeps the type of what it decorates."""

    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]: ...


def _compiler(kept: bool = False, **options: Any) -> _Compiler:
    """Return a decorator that compiles with some options; division by zero follows IEEE, as in NumPy."""
    compiler = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)

    def compile_kept(function: Any) -> Any:
        dispatcher = compiler(function)
        dispatcher._cache = kernel_cache(function)
        return dispatcher

    return compile_kept if kept else compiler


kernel = _compiler(**_KEPT)
"""Compile a function that Python calls."""

subroutine = _compiler(**_INSIDE)
"""Compile a function that kernels alone call; a call from Python would end the process."""

inlined = _compiler(**_INLINED)
"""Compile a function like :func:`subroutine`, and have LLVM put it into its callers."""

fused = _compiler(**_KEPT, **_FUSED)
"""Compile a function like :func:`kernel`, with a multiplication and an addition rounded as one.

Sums keep their order: results do not depend on how the loops are cut.
"""

fused_inlined = _compiler(**_INLINED, **_FUSED)
"""Compile a function like :func:`fused`, and have LLVM put it into its callers."""

reordered = _compiler(**_KEPT, **_REORDERED)
"""Compile a function like :func:`fused`, with sums in whatever order suits the processor's vectors.

The order depends on the length of a sum alone: equal calls give equal results.
"""
