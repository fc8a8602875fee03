"""The window. It knows Qt and computes nothing; what it shows comes from the engine."""

from __future__ import annotations

import sys
from typing import Any


def _ignore_features() -> None:
    """Have PySide take it that no module uses its other ways to write Qt: names in snake case and properties.

    To see whether a module uses them PySide has the source of each read that is imported, of NumPy and numba
    too, and Python keeps the lines: 30 MB, and a good part of the time that it takes to import them.
    """
    try:
        import shiboken6  # noqa: F401, PLC0415 - it brings the module along that is looked up
    except ImportError:
        return
    features: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(features, "_mod_uses_pyside"):
        features._mod_uses_pyside = lambda _: False


_ignore_features()  # before anything of Qt, and what it comes with, is imported
