"""Versions of the packages that computed a result."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from rankstudio import __version__
from rankstudio.engine.plugins.origin import CodeSource, OriginKind

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def versions(entries: Iterable[CodeSource] = ()) -> dict[str, str]:
    """Return the versions of RankStudio, Python and the numerical libraries, by name.

    Parameters
    ----------
    entries : iterable of CodeSource
        Methods, measures and data format of a run: the packages that
        they come from are added. A Python file is not: the key of its
        method has its checksum.
    """
    package_versions = dict(_read_versions())
    for entry in entries:
        origin = entry.origin
        if (
            origin is not None
            and origin.kind is not OriginKind.FILE
            and origin.version_or_checksum
        ):
            # An existing name keeps its version: several methods may
            # come from one package.
            package_versions.setdefault(origin.name, origin.version_or_checksum)
    return package_versions


@cache
def _read_versions() -> dict[str, str]:
    """Return the installed versions of RankStudio, Python and libraries, by name.

    The versions are cached, because reading them takes long and they
    cannot change.
    """
    package_versions = {"rankstudio": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            package_versions[name] = version(name)
        except PackageNotFoundError:  # a frozen application carries no metadata
            package_versions[name] = "unknown"
    return package_versions
