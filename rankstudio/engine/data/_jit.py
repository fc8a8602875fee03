"""The one way in which the kernels of this package are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with numba: kept on disk, and without the GIL, so that the window stays alive."""
    compiled: Callable[P, R] = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like `kernel`, and have LLVM put it into its callers."""
    compiled: Callable[P, R] = njit(cache=True, nogil=True, forceinline=True, error_model="numpy")(function)
    return compiled
