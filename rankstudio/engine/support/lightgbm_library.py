"""LightGBM, XGBoost and CatBoost, imported at first use, because each import takes a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.language import tr


def lightgbm_library(needed_by: str) -> Any:
    """Import LightGBM and return its Python package.

    ``needed_by`` is the name of the method that needs it, for the
    message of MissingExtraError, which is raised without LightGBM.
    """
    return boosting_library("LightGBM", needed_by, extra="")


def boosting_library(name: str, needed_by: str, extra: str | None = None) -> Any:
    """Import a library of boosted trees and return its Python package.

    Parameters
    ----------
    name : str
        "LightGBM", "XGBoost" or "CatBoost".
    needed_by : str
        Name of the method that needs it.
    extra : str, optional
        Extra that installs it, by default the package's name; "" if
        every installation contains it.

    Raises
    ------
    MissingExtraError
        If it is not installed, or its compiled part cannot be loaded;
        the message states what to install.
    """
    extra = name.lower() if extra is None else extra
    try:
        return import_module(name.lower())
    except ImportError as error:
        raise MissingExtraError(needed_by, name, extra) from error
    except (OSError, ValueError) as error:
        # XGBoost raises a ValueError if it does not find its library.
        raise MissingExtraError(needed_by, name, extra, _reason(error)) from error


def _reason(error: Exception) -> str:
    """Return why the compiled part of a library cannot be loaded, for a message.

    Nearly always, the system library OpenMP is missing: then the text
    says how to install it.
    """
    if "omp" not in str(error):
        return str(error)
    return tr(
        "the system library OpenMP is missing. Install libgomp1 (Debian, Ubuntu), libgomp (Fedora) or "
        "libomp (macOS)."
    )
