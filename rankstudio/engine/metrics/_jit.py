"""The one way in which functions are compiled here, with their types kept for the type checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function when it is first called, keep the machine code on disk, run it without the GIL.

    Without the GIL because the window lives in the same process and has to go on while a kernel works.
    """
    compiled: Callable[P, R] = njit(cache=True, nogil=True)(function)
    return compiled
