"""Every estimator has an example; `tests/docs/test_docstring_examples.py` runs them."""

from __future__ import annotations

import doctest

import rankstudio.engine


def test_every_estimator_has_an_example() -> None:
    estimators = [
        found
        for found in (
            getattr(rankstudio.engine, name) for name in rankstudio.engine.__all__
        )
        if hasattr(found, "predict")
    ]
    assert len(estimators) > 10
    for kind in estimators:
        examples = doctest.DocTestFinder(recurse=False).find(kind)[0].examples
        assert any(f"{kind.__name__}(" in example.source for example in examples), kind
        assert kind.__doc__.splitlines()[0].endswith("."), kind
