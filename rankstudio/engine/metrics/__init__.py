"""Ranking measures under named conventions.

The names below are resolved when they are first used: the catalogues (``conventions``, ``names``) can be read
without importing the compiled kernels.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstudio.engine.metrics.conventions import CONVENTIONS, Convention, convention
    from rankstudio.engine.metrics.evaluation import Evaluation, evaluate
    from rankstudio.engine.metrics.evaluator import Evaluator
    from rankstudio.engine.metrics.names import FAMILIES, LETOR_MEASURES, Measure, measure

_HOMES = {
    "CONVENTIONS": "conventions",
    "Convention": "conventions",
    "Evaluation": "evaluation",
    "Evaluator": "evaluator",
    "FAMILIES": "names",
    "LETOR_MEASURES": "names",
    "Measure": "names",
    "convention": "conventions",
    "evaluate": "evaluation",
    "measure": "names",
}

__all__ = [
    "CONVENTIONS",
    "FAMILIES",
    "LETOR_MEASURES",
    "Convention",
    "Evaluation",
    "Evaluator",
    "Measure",
    "convention",
    "evaluate",
    "measure",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
