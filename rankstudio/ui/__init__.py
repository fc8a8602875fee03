"""The window, written with Qt. It computes nothing itself; all that it shows comes from the engine."""

from __future__ import annotations

import sys
from typing import Any


def _ignore_features() -> None:
    """Make PySide assume that no module uses its optional features, ``snake_case`` and ``true_property``.

    To find out whether a module uses them, PySide reads the source of
    every imported module, also of NumPy and numba. Python caches the
    lines, which takes 30 MB of memory and a large part of the time of
    the imports.
    """
    try:
        import shiboken6  # noqa: F401, PLC0415 - it imports the module that is changed below
    except ImportError:
        return
    features: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(features, "_mod_uses_pyside"):
        features._mod_uses_pyside = lambda _: False


_ignore_features()  # before any module of Qt, or one that imports Qt, is imported
