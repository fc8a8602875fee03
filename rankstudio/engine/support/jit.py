"""The ways in which functions are compiled here, with their types kept for the type checker.

Compiled code is kept on disk and runs without the GIL, because the window lives in the same process and has
to go on while a kernel works. numba's cache notices a change only in the file of the function that is called
from Python: kernels that call each other belong in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function; division by zero follows IEEE, as in NumPy."""
    compiled: Callable[P, R] = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`kernel`, and have LLVM put it into its callers."""
    compiled: Callable[P, R] = njit(cache=True, nogil=True, forceinline=True, error_model="numpy")(function)
    return compiled


def fused(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`kernel`, with a multiplication and an addition rounded as one.

    Sums keep their order: results do not depend on how the loops are cut.
    """
    compiled: Callable[P, R] = njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")(
        function
    )
    return compiled


def fused_inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`fused`, and have LLVM put it into its callers."""
    compiled: Callable[P, R] = njit(
        cache=True, nogil=True, fastmath={"contract"}, forceinline=True, error_model="numpy"
    )(function)
    return compiled


def reordered(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`fused`, with sums in whatever order suits the processor's vectors.

    The order depends on the length of a sum alone: equal calls give equal results.
    """
    compiled: Callable[P, R] = njit(
        cache=True, nogil=True, fastmath={"contract", "reassoc"}, error_model="numpy"
    )(function)
    return compiled
