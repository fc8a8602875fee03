"""Types of the arrays that the program computes with."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Indices = Int32s | Ints
"""Row or column numbers of a sparse matrix, which SciPy keeps in 32 bits where they fit."""

Scalar = TypeVar("Scalar", bound=np.generic)


def unwritable(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only view of an array.

    Kernels are compiled separately for writable arrays; read-only
    views, as of mapped files, avoid the second compilation.
    """
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
