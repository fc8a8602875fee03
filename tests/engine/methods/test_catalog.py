"""The catalog: every entry can be loaded, its parameters are the estimator's."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import fields, replace

import pytest

from rankstudio import engine
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import WORDS
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import Kind, Method, Parameter, method, methods
from rankstudio.engine.methods.catalog.method import Requirement, StepKind


@pytest.mark.parametrize("entry", methods(), ids=lambda e: e.key)
def test_an_entry_and_its_estimator_have_the_same_parameters(entry: Method) -> None:
    estimator = entry.load()
    assert issubclass(estimator, LinearRanker)
    asked = {p.name for p in entry.parameters}
    assert asked.isdisjoint(entry.takes)
    assert (asked | set(entry.takes)).isdisjoint(entry.library)
    assert set(inspect.signature(estimator).parameters) == asked | set(
        entry.takes
    ) | set(entry.library)
    of_plans = {*WORDS, "groups"}  # groups are an extension of a plan
    assert set(entry.takes) <= of_plans


@pytest.mark.parametrize("entry", methods(), ids=lambda e: e.key)
def test_an_entry_and_its_estimator_have_the_same_defaults(entry: Method) -> None:
    estimator = entry.load()
    assert estimator.entry is entry
    arguments = inspect.signature(estimator).parameters
    for p in entry.parameters:
        default = arguments[p.name].default
        if p.kind is Kind.GRID:  # whose estimator takes one of its values
            assert p.check(default) == default
        elif p.kind is Kind.COSTS:
            assert (default, p.default) == (None, ())
        elif (
            p.name == "n_basis"
        ):  # a program is exact where it says nothing, a form done in seconds
            assert (default, p.default) == (None, 300)
        elif p.name == "ties":  # where it does not count, a plan leaves it out
            assert default is None
        else:
            assert (default, type(default)) == (p.default, type(p.default))


def outside(p: Parameter) -> list[object]:
    """Values that are no values of a parameter."""
    match p.kind:
        case Kind.GRID | Kind.NUMBER | Kind.INTEGER:
            least = p.low if p.open_low else p.low - 1
            fraction = [2.5] if p.kind is Kind.INTEGER else []
            beyond = [p.high * 2] if p.high < float("inf") else []
            return [least, "1", True, float("nan"), float("inf"), *fraction, *beyond]
        case Kind.FEATURES:
            return [(-1,), (0, 0)]
        case Kind.COSTS:
            return [[0.0, 1.0], [1.0]]
        case _:
            return ["neither"]


@pytest.mark.parametrize("entry", methods(), ids=lambda e: e.key)
def test_an_estimator_refuses_what_its_entry_refuses_by_its_own_name_for_it(
    entry: Method,
) -> None:
    X, y, qid = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0]], [0.0, 1.0, 2.0], [1, 1, 1]
    for p in entry.parameters:
        for value in outside(p):
            with pytest.raises(ParameterError) as caught:
                entry.load()(**{p.name: value}).fit(X, y, qid=qid)
            assert caught.value.name == p.name


def test_every_parameter_explains_itself_and_accepts_its_default() -> None:
    for entry in methods():
        assert entry.description.summary.endswith("."), entry.key
        for attribute in ("name", "label", "option"):
            assert len({getattr(p, attribute) for p in entry.parameters}) == len(
                entry.parameters
            ), entry.key
        for p in entry.parameters:
            assert p.help.endswith("."), (entry.key, p.name)
            assert p.option.startswith("--"), (entry.key, p.name)
            for given in (
                p.default,
                p.default if p.kind is Kind.CHOICE else p.format(p.default),
            ):
                assert p.validate(given) == p.default, (entry.key, p.name)


def test_options_of_one_name_are_parameters_of_one_name() -> None:
    """The terminal has each option once, whichever method it is for."""
    names: dict[str, set[str]] = {}
    for entry in methods():
        for p in entry.parameters:
            names.setdefault(p.option, set()).add(p.name)
    assert {option: found for option, found in names.items() if len(found) > 1} == {}


def test_an_entry_says_where_it_comes_from_and_what_its_steps_are() -> None:
    for entry in methods():
        assert entry.description.citation and entry.description.title, entry.key
        assert entry.family in ("selector", "ranker"), entry.key
        assert entry.requires.module or not entry.requires.extra, entry.key
        ranking = [p for p in entry.parameters if p.ranks]
        assert entry.selects or not ranking, entry.key
        assert all(p.kind is Kind.GRID for p in ranking), entry.key


def test_what_limits_the_steps_is_a_parameter_of_the_method() -> None:
    for entry in methods():
        if entry.selects or entry.step_kind is not StepKind.FEATURES:
            assert entry.step_kind.limit in entry.defaults, entry.key


def test_an_entry_has_few_fields() -> None:
    assert len(fields(Method)) <= 18


def test_a_method_says_what_it_lacks_and_how_to_get_it() -> None:
    there = method("rankrls")
    sentence = 'RankRLS needs no_such_module: pip install "rankstudio[boosting]".'
    lacking = replace(there, requires=Requirement("no_such_module", "boosting"))
    assert (
        there.lacking
        == replace(there, requires=Requirement("json", "boosting")).lacking
        == ""
    )
    assert lacking.lacking == sentence
    assert replace(lacking, requires=Requirement("no_such_module")).lacking.endswith(
        "pip install no_such_module."
    )
    with pytest.raises(PlanError) as caught:
        lacking.load()
    assert str(caught.value) == sentence
    assert (
        replace(there, requires=Requirement("json", "boosting")).load() is there.load()
    )


def test_unknown_methods_and_parameters_name_the_known_ones() -> None:
    with pytest.raises(
        PlanError,
        match=r"There is no method 'x'. rankstudio methods lists the catalog\.",
    ):
        method("x")
    with pytest.raises(
        PlanError, match=r"'Greedy_rankrls'\. Did you mean greedy-rankrls\?"
    ):
        method("Greedy_rankrls")
    with pytest.raises(
        PlanError,
        match="RankRLS has no parameter 'k'; its parameters are regularization",
    ):
        method("rankrls").validate({"k": 3})


def test_reading_the_catalog_imports_nothing_heavy() -> None:
    code = (
        "import sys, rankstudio.engine.methods.catalog, rankstudio.engine.experiment.plan.plan;"
        "heavy = {'numba', 'scipy', 'sklearn', 'pandas', 'PySide6'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) or 0)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr


def test_everything_public_comes_with_a_star_and_is_listed() -> None:
    names: dict[str, object] = {}
    exec("from rankstudio.engine import *", names)
    assert {
        "GAS",
        "GreedyRankRLS",
        "RankingDataset",
        "evaluate",
        "open_dataset",
    } <= set(names)
    homes = [entry.estimator.partition(":") for entry in methods()]
    assert {name for _, _, name in homes} <= set(names)
    shown = set(re.findall(r"\w+ as (\w+)", inspect.getsource(engine)))
    core = {
        name for module, _, name in homes if module.startswith("rankstudio.engine.")
    }
    assert core - shown == set(), "type checkers see these only under TYPE_CHECKING"
