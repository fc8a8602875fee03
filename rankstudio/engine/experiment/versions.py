"""Which versions computed a result."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from rankstudio import __version__

_COUNTED = ("numpy", "scipy", "numba", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of RankStudio, of Python and of what computes, by name."""
    found = {"rankstudio": __version__, "python": platform.python_version()}
    for name in _COUNTED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a frozen application carries no metadata
            found[name] = "unknown"
    return found
