"""Types of the arrays that the program computes with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Indices = Int32s | Ints
"""Row or column numbers of a sparse matrix, which SciPy keeps in 32 bits where they fit."""
