"""The estimators of plug-ins' methods.

An estimator is imported on first use, and its steps are checked.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from typing import Any

from rankstudio.engine.errors import PlanError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.foreign.guard import guarded
from rankstudio.engine.plugins.guard import failure


@cache
def load(entry: Method) -> type[Any]:
    """Import the estimator of another package's method, and return a subclass that checks its steps.

    The class of a method is made once.

    Raises
    ------
    PlanError
        If the estimator cannot be imported, or is not a subclass of LinearRanker.
    """
    module, _, name = entry.estimator.partition(":")  # "module:name"
    try:
        # Texts that the package prints must not mix with the program's own output.
        with redirect_stdout(sys.stderr):
            cls = getattr(import_module(module), name)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # foreign code may raise anything
        text = tr("{label}: {estimator} cannot be imported: {error}.")
        reason = failure(error)
        raise PlanError(
            text.format(label=entry.label, estimator=entry.estimator, error=reason)
        ) from error
    if not isinstance(cls, type) or not issubclass(cls, LinearRanker):
        text = tr("{label}: {estimator} is no subclass of rankstudio.api.LinearRanker.")
        raise PlanError(text.format(label=entry.label, estimator=entry.estimator))
    return guarded(cls, entry)
