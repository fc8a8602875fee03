"""The files shipped with RankStudio: feature names, the sample, example plans, icons, the guide."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[2]


@cache
def _shipped_folder(name: str) -> Path:
    """Return the shipped folder: inside an installed package, beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder.

    Parameters
    ----------
    *parts : str
        Path below ``resources/``.

    Returns
    -------
    Path
        The path, whether or not it exists.
    """
    return _shipped_folder("resources").joinpath(*parts)


def table(*parts: str) -> dict[str, Any]:
    """Return the contents of a shipped TOML file by its path below ``resources/``."""
    return tomllib.loads(resource(*parts).read_text(encoding="utf-8"))


def guide(*parts: str) -> Path:
    """Return the path of a page of the user guide, below ``docs/``."""
    return _shipped_folder("docs").joinpath(*parts)
