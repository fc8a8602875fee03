"""Versions of the packages that computed a result."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from rankstudio import __version__
from rankstudio.engine.plugins.origin import CodeSource, OriginKind

_COUNTED = ("numpy", "scipy", "numba", "scikit-learn")


def versions(entries: Iterable[CodeSource] = ()) -> dict[str, str]:
    """Return the versions of RankStudio, Python and the numerical libraries, by name.

    Parameters
    ----------
    entries : iterable of CodeSource
        Methods, measures and data format of a run: the packages that they come from are added. A file is part
        of its method's key.
    """
    package_versions = dict(_looked_up())
    for entry in entries:
        origin = entry.origin
        if origin is not None and origin.kind is not OriginKind.FILE and origin.version:
            package_versions.setdefault(origin.name, origin.version)
    return package_versions


@cache
def _looked_up() -> dict[str, str]:
    """Look for what is installed, which takes a while, and cannot change while it is in use."""
    package_versions = {"rankstudio": __version__, "python": platform.python_version()}
    for name in _COUNTED:
        try:
            package_versions[name] = version(name)
        except PackageNotFoundError:  # a frozen application carries no metadata
            package_versions[name] = "unknown"
    return package_versions
