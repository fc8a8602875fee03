"""LightGBM, imported where it is first needed: that takes a second, and needs a library of the system."""

from __future__ import annotations

from typing import Any

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.language import tr


def lightgbm_library(needed_by: str) -> Any:
    """Return LightGBM's package.

    Parameters
    ----------
    needed_by : str
        Name of the method that needs it.

    Raises
    ------
    MissingExtraError
        If it is not installed, or its compiled part cannot be loaded; the message states what to install.
    """
    try:
        import lightgbm  # noqa: PLC0415 - it takes a second
    except ImportError as error:
        raise MissingExtraError(needed_by, "LightGBM", "") from error
    except OSError as error:
        raise MissingExtraError(needed_by, "LightGBM", "", _reason(error)) from error
    return lightgbm


def _reason(error: OSError) -> str:
    """Return why the compiled part cannot be loaded: nearly always, OpenMP is missing."""
    if "omp" not in str(error):
        return str(error)
    return tr(
        "the system library OpenMP is missing. Install libgomp1 (Debian, Ubuntu), libgomp (Fedora) or "
        "libomp (macOS)."
    )
