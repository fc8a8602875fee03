"""What methods give to analyses, which ask for it and never for a class: anybody's method can have it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankstudio
from rankstudio import engine
from rankstudio.engine import (
    GAS,
    ExpectedDivergence,
    GreedyRankRLS,
    SingleFeatureRanking,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import Capabilities
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.catalog.method import CAPABILITIES
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.support.work import finish

PACKAGE = Path(rankstudio.__file__).parent
BUILT_IN = [one for one in methods() if one.origin is None]


class Delegate(GrowingSelector):
    """A foreign estimator that learns, and gives what it gives, by another one that it contains."""

    entry = GreedyRankRLS.entry

    def __init__(
        self, inner: LinearRanker, n_features_to_select: int | None = None
    ) -> None:
        self.inner = inner
        self.n_features_to_select = n_features_to_select

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"inner": self.inner, "n_features_to_select": self.n_features_to_select}

    @property
    def sized(self) -> Any:
        parameters = self.inner.get_params(deep=False)
        if self.n_features_to_select is not None:
            parameters["n_features_to_select"] = self.n_features_to_select
        return type(self.inner)(**parameters)

    def n_steps(self, n_features: int) -> int:
        return int(self.sized.n_steps(n_features))

    def work(self, data: GivenData) -> Iterator[Any]:
        yield from self.sized.work(data)

    def paths_from_sums(self, data: Any) -> Any:
        return self.sized.paths_from_sums(data)

    def step_test(self, data: Any) -> Any:
        return self.sized.step_test(data)

    def exact_exchange(self) -> Any:
        return self.sized.exact_exchange()

    def compared_by_query(self, data: Any, n_features: int) -> Any:
        return self.sized.compared_by_query(data, n_features)

    def paths_of_labels(self, data: Any) -> Any:
        return self.sized.paths_of_labels(data)

    def densities_of(self, data: Any, column: int) -> Any:
        return self.sized.densities_of(data, column)

    def weighed_features(self, data: Any, columns: Any, other_columns: Any) -> Any:
        return self.sized.weighed_features(data, columns, other_columns)


def planted() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    X, qid = rng.random((60, 5)), np.repeat(np.arange(10), 6)
    return {
        "X": X,
        "y": np.round(2 * X[:, 3] + X[:, 1] + 0.3 * rng.random(60)),
        "qid": qid,
    }


def same(one: object, other: object) -> bool:
    """Return whether two results are the same value, arrays bit for bit."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple):
        return (
            isinstance(other, list | tuple)
            and len(one) == len(other)
            and all(map(same, one, other))
        )
    if hasattr(one, "__dataclass_fields__"):
        names = [
            name
            for name in one.__dataclass_fields__
            if name not in ("seconds", "rules")
        ]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same(one[key], other[key]) for key in one
        )
    return repr(one) == repr(other)


def _permutation() -> Any:
    """Return a module of an ability, whose folder may be absent."""
    return import_module("rankstudio.plugins.permutation.label_permutation")


@pytest.mark.ability("evidence")
@pytest.mark.parametrize(
    "analysis",
    [
        lambda method, data: engine.stability_selection(method, **data, n_halves=3),
        lambda method, data: engine.deciding_queries(method, **data),
        lambda method, data: engine.repeated_left_out(method, **data),
        pytest.param(
            lambda method, data: engine.paths_by_queries(
                method, **data, marked=[0, 2, 5]
            ),
            marks=pytest.mark.ability("queries"),
        ),
        lambda method, data: engine.step_significance(method, **data, n_permutations=4),
        lambda method, data: engine.set_changes(method, **data, features=[1, 3]),
        lambda method, data: engine.shapley_shares(method, **data, features=[1, 3]),
        pytest.param(
            lambda method, data: _permutation().permutation_test(
                method, **data, n_permutations=3
            ),
            marks=pytest.mark.ability("permutation"),
        ),
        lambda method, data: engine.selection_evidence(
            method, **data, n_halves=2, n_permutations=3
        ),
    ],
)
def test_a_foreign_estimator_gives_what_greedy_rankrls_gives(analysis: Any) -> None:
    data = planted()
    assert same(
        analysis(Delegate(GreedyRankRLS(2)), data), analysis(GreedyRankRLS(2), data)
    )


@pytest.mark.ability("evidence")
@pytest.mark.parametrize(
    "method", [GAS(2), SingleFeatureRanking(2), ExpectedDivergence(2)], ids=repr
)
def test_a_foreign_estimator_divides_its_scores_among_the_queries(
    method: LinearRanker,
) -> None:
    data = planted()
    assert same(
        engine.deciding_queries(Delegate(method, 2), **data),
        engine.deciding_queries(method, **data),
    )


def test_a_foreign_estimator_gives_densities_and_weights_of_features() -> None:
    data = planted()
    rows = group(data["X"], data["y"], data["qid"])
    given = Delegate(ExpectedDivergence(2)).densities_of(rows, 1)
    assert same(given, ExpectedDivergence(2).densities_of(rows, 1))
    columns = np.array([1, 3])
    weighed = [
        finish(one.weighed_features(training_data(rows), columns, columns))
        for one in (Delegate(GAS(2)), GAS(2))
    ]
    assert same(*weighed)


def test_a_subclass_that_learns_otherwise_inherits_no_shortcut() -> None:
    class Backwards(GreedyRankRLS):
        def work(self, data: GivenData) -> Iterator[Any]:
            raise NotImplementedError

    data = planted()
    rows = group(data["X"], data["y"], data["qid"])
    assert Backwards(2).paths_from_sums(training_data(rows)) is None
    assert Backwards(2).step_test(training_data(rows)) is None
    assert Backwards(2).paths_of_labels(rows) is None


@pytest.mark.parametrize(
    "entry", [one for one in BUILT_IN if not one.lacking], ids=lambda one: one.key
)
def test_entries_declare_what_their_estimators_give(entry: Method) -> None:
    data = planted()
    rows = group(data["X"], data["y"], data["qid"])
    method = entry.load()()
    exchange = method.exact_exchange()
    columns = np.array([1])
    given = {
        "paths_from_sums": method.paths_from_sums(training_data(rows)) is not None,
        "step_test": method.step_test(training_data(rows)) is not None,
        "exact_exchange": exchange is not None and exchange.is_criterion,
        "compared_by_query": method.compared_by_query(training_data(rows), 1)
        is not None,
        "paths_of_labels": method.paths_of_labels(rows) is not None,
        "densities_of": type(method).densities_of is not Capabilities.densities_of,
        "weighed_features": method.weighed_features(
            training_data(rows), columns, columns
        )
        is not None,
    }
    assert {name for name, there in given.items() if there} == set(entry.capabilities)
    assert set(given) == set(CAPABILITIES)


def test_entries_of_methods_that_weigh_features_take_own_weights() -> None:
    assert {one.key for one in BUILT_IN if one.weighs_features} == {
        one.key for one in BUILT_IN if any(p.own_file for p in one.parameters)
    }


def estimator_classes() -> set[str]:
    """Return the names of all estimators of built-in methods."""
    return {one.estimator.partition(":")[2] for one in BUILT_IN} - {""}


def asked_classes(text: str, names: set[str]) -> list[int]:
    """Return the lines of a module in which it asks a value for its class, one of some names."""

    def named(node: ast.AST) -> bool:
        return any(
            isinstance(part, ast.Name) and part.id in names for part in ast.walk(node)
        )

    lines = []
    for node in ast.walk(ast.parse(text)):
        called = (
            node.func.id
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            else ""
        )
        asks = called in ("isinstance", "issubclass") and named(node.args[1])  # type: ignore[attr-defined]
        compares = isinstance(node, ast.Compare) and any(
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id == "type"
            for part in ast.walk(node)
        )
        if (
            asks
            or (compares and named(node))
            or (isinstance(node, ast.MatchClass) and named(node.cls))
        ):
            lines.append(node.lineno)  # type: ignore[attr-defined]
    return lines


def test_nothing_outside_of_methods_asks_an_estimator_for_its_class() -> None:
    """A closed list of classes makes somebody's own method silently second class."""
    names = estimator_classes()
    assert {"GreedyRankRLS", "RankRLS", "GAS"} <= names
    asked = "isinstance(a, GAS)\ntype(a) in (GAS, RankRLS)\nmatch a:\n    case GAS():\n        pass\nGAS(1)"
    assert asked_classes(asked, names) == [1, 2, 4]
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(PACKAGE / "engine" / "methods")
    }
    imports = {
        path: text
        for path, text in texts.items()
        if any(name in text for name in names)
    }
    found = {str(path): asked_classes(text, names) for path, text in imports.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}
