"""The catalog: every entry can be loaded, its parameters are the estimator's, values are checked by name."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from rankstudio.engine.catalog import CATALOG, Kind, Method, Parameter, method
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.estimator import LinearRanker


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_an_entry_and_its_estimator_have_the_same_parameters(entry: Method) -> None:
    estimator = entry.load()
    assert issubclass(estimator, LinearRanker)
    assert set(inspect.signature(estimator).parameters) == {p.name for p in entry.parameters}


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_every_parameter_explains_itself_and_accepts_its_default(entry: Method) -> None:
    assert entry.summary.endswith(".")
    assert len({p.option for p in entry.parameters}) == len(entry.parameters)
    for p in entry.parameters:
        assert p.help.endswith(".")
        assert p.option.startswith("--")
        assert p.validate(p.default) == p.default
        assert p.validate(p.format(p.default) if p.kind is not Kind.CHOICE else p.default) == p.default


def parameter(name: str) -> Parameter:
    return method("greedy-rankrls").parameter(name)


@pytest.mark.parametrize(
    ("name", "value", "canonical"),
    [
        ("regularization", "2^1, 2^0 2", (1.0, 2.0)),
        ("regularization", 3, (3.0,)),
        ("regularization", [4, 2.0], (2.0, 4.0)),
        ("n_features_to_select", " 7 ", 7),
        ("n_features_to_select", "", None),
        ("pinned", "39, 25", (39, 25)),
        ("pinned", [3], (3,)),
        ("algorithm", "algorithm1", "algorithm1"),
    ],
)
def test_values_come_out_canonical(name: str, value: object, canonical: object) -> None:
    assert parameter(name).validate(value) == canonical


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "regularization",
            "0",
            r"λ: expected numbers greater than 0, such as 2\^0\.\.2\^10 or 0\.1, 1, 10, got 0\.0\.",
        ),
        ("regularization", [], r"λ: expected numbers greater than 0, .* got \[\]"),
        ("regularization", ["a"], "λ: expected numbers greater than 0"),
        ("regularization", None, "λ: expected numbers greater than 0"),
        ("regularization", [float("inf")], "λ: expected .* got inf"),
        ("regularization", [float("nan")], "λ: expected .* got nan"),
        (
            "n_features_to_select",
            "2.5",
            "features k: expected a whole number from 1 up, or nothing for all, got '2.5'",
        ),
        ("n_features_to_select", 0, "features k: expected a whole number from 1 up"),
        ("n_features_to_select", True, "features k: expected a whole number from 1 up"),
        ("pinned", "a", "pinned: expected feature ids, such as 25, 39, got 'a'"),
        ("pinned", [0], "pinned: expected feature ids"),
        ("pinned", [3, 3], "each once"),
        ("pinned", 3, "pinned: expected feature ids"),
        ("algorithm", "fast", "algorithm: expected one of auto, statistics, algorithm1, got 'fast'"),
    ],
)
def test_other_values_are_refused_with_name_range_and_value(name: str, value: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parameter(name).validate(value)


def test_unknown_methods_and_parameters_name_the_known_ones() -> None:
    with pytest.raises(PlanError, match="There is no method 'x'; the catalog has greedy-rankrls, rankrls"):
        method("x")
    with pytest.raises(PlanError, match="RankRLS has no parameter 'k'; it has regularization"):
        method("rankrls").validate({"k": 3})


def test_reading_the_catalog_imports_nothing_heavy() -> None:
    code = (
        "import sys, rankstudio.engine.catalog, rankstudio.engine.experiment.plan;"
        "heavy = {'numba', 'scipy', 'sklearn', 'pandas', 'PySide6'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) or 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
