"""Estimators of abilities by their keys, for tests of the core: a test of one that is absent is skipped."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from rankstudio.engine.methods.catalog import method


class Absent:
    """Stands for an estimator whose ability has no folder."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __repr__(self) -> str:
        # without an address: all workers have the same cases
        return type(self).__name__

    def _skip(self, *_: Any, **__: Any) -> Any:
        pytest.skip(type(self).entry.lacking)  # type: ignore[attr-defined]

    fit = steps = work = get_params = memory_need = compared_by_query = why_no_error = (
        _skip
    )
    left_out = leave_pair_out = leave_query_out = _skip


def estimator_class(key: str) -> Any:
    """Return the class of a method, or one of which every case is skipped."""
    entry = method(key)
    if not entry.estimator:
        return type(entry.label, (Absent,), {"entry": entry})
    module, _, name = entry.estimator.partition(":")
    return getattr(import_module(module), name)
