"""The examples of the engine's docstrings print what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import rankstudio.engine

ROOT = Path(rankstudio.engine.__file__).parent
EXAMPLES = [path for path in sorted(ROOT.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def module(path: Path) -> ModuleType:
    return import_module(".".join(("rankstudio", "engine", *path.relative_to(ROOT).with_suffix("").parts)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_a_module_are_true(path: Path) -> None:
    result = doctest.testmod(module(path))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_estimator_has_an_example() -> None:
    estimators = [
        found
        for found in (getattr(rankstudio.engine, name) for name in rankstudio.engine.__all__)
        if hasattr(found, "predict")
    ]
    assert len(estimators) > 10
    for kind in estimators:
        examples = doctest.DocTestFinder(recurse=False).find(kind)[0].examples
        assert any(f"{kind.__name__}(" in example.source for example in examples), kind
        assert kind.__doc__.splitlines()[0].endswith("."), kind
