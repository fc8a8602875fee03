"""Which versions computed a result."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from rankstudio import __version__

_COUNTED = ("numpy", "scipy", "numba", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of RankStudio, Python and the numerical libraries, by name."""
    return dict(_looked_up())


@cache
def _looked_up() -> dict[str, str]:
    """Look for what is installed, which takes a while, and cannot change while it is in use."""
    found = {"rankstudio": __version__, "python": platform.python_version()}
    for name in _COUNTED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a frozen application carries no metadata
            found[name] = "unknown"
    return found
