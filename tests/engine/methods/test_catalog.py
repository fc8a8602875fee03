"""The catalog: every entry can be loaded, its parameters are the estimator's, values are checked by name."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest

from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import CATALOG, Kind, Method, Parameter, method, method_of
from rankstudio.engine.methods.catalog.method import StepKind


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_an_entry_and_its_estimator_have_the_same_parameters(entry: Method) -> None:
    estimator = entry.load()
    assert issubclass(estimator, LinearRanker)
    asked = {p.name for p in entry.parameters}
    assert asked.isdisjoint(entry.takes)
    assert set(inspect.signature(estimator).parameters) == asked | set(entry.takes)
    assert set(entry.takes) <= {f.name for f in fields(Plan)}


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_an_entry_and_its_estimator_have_the_same_defaults(entry: Method) -> None:
    estimator = entry.load()
    assert method_of(estimator) is entry
    arguments = inspect.signature(estimator).parameters
    for p in entry.parameters:
        default = arguments[p.name].default
        if p.kind is Kind.GRID:  # whose estimator takes one of its values
            assert p.check(default) == default
        elif p.kind is Kind.COSTS:
            assert (default, p.default) == (None, ())
        else:
            assert (default, type(default)) == (p.default, type(p.default))


def outside(p: Parameter) -> list[object]:
    """Values that are no values of a parameter."""
    match p.kind:
        case Kind.GRID | Kind.NUMBER | Kind.INTEGER:
            least = p.low if p.open_low else p.low - 1
            return [least, "1", True, float("nan"), *([p.high * 2] if p.high < float("inf") else [])]
        case Kind.FEATURES:
            return [(-1,), (0, 0)]
        case Kind.COSTS:
            return [[0.0, 1.0], [1.0]]
        case _:
            return ["neither"]


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_an_estimator_refuses_what_its_entry_refuses_by_its_own_name_for_it(entry: Method) -> None:
    X, y, qid = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0]], [0.0, 1.0, 2.0], [1, 1, 1]
    for p in entry.parameters:
        for value in outside(p):
            with pytest.raises(ParameterError) as caught:
                entry.load()(**{p.name: value}).fit(X, y, qid=qid)
            assert caught.value.name == p.name


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_every_parameter_explains_itself_and_accepts_its_default(entry: Method) -> None:
    assert entry.summary.endswith(".")
    for attribute in ("name", "label", "option"):
        assert len({getattr(p, attribute) for p in entry.parameters}) == len(entry.parameters)
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
        ("pinned", [2**63], "pinned: expected feature ids"),
        ("n_features_to_select", 2**63, "features k: expected a whole number from 1 up"),
        ("regularization", [10**400], "λ: expected numbers greater than 0, .* got .10{100,}…"),
        (
            "algorithm",
            "fast",
            "algorithm: expected one of auto, statistics, rows, algorithm1, columns, got 'fast'",
        ),
    ],
)
def test_other_values_are_refused_with_name_range_and_value(name: str, value: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parameter(name).validate(value)


NUMBER = Parameter("step", "step", Kind.NUMBER, 0.5, "A number.", option="--step", low=0.0, high=2.0)
POSITIVE = Parameter("tol", "tolerance", Kind.NUMBER, 1e-6, "A number.", low=0.0, open_low=True)
MAYBE = Parameter("depth", "depth", Kind.NUMBER, None, "A number.", low=1.0, none_label="no limit")
SWITCH = Parameter("project", "make convex", Kind.SWITCH, False, "Yes or no.", option="--project")
MEASURE = Parameter("measure", "measure", Kind.MEASURE, "NDCG@10", "A measure.", option="--measure")
COSTS = Parameter("costs", "costs", Kind.COSTS, (), "Costs.", option="--costs")
_COSTS = "costs: expected costs greater than 0 by feature id, such as 25: 3, 39: 0.5"


@pytest.mark.parametrize(
    ("parameter", "value", "canonical", "text"),
    [
        (NUMBER, 2, 2.0, "2"),
        (NUMBER, "0", 0.0, "0"),
        (NUMBER, " 2^-3 ", 0.125, "0.125"),
        (NUMBER, "1e-3", 0.001, "0.001"),
        (POSITIVE, 1e-300, 1e-300, "1e-300"),
        (MAYBE, "", None, ""),
        (MAYBE, None, None, ""),
        (MAYBE, "7", 7.0, "7"),
        *((SWITCH, word, True, "yes") for word in (True, "yes", "Yes ", "true", "on", "1", 1)),
        *((SWITCH, word, False, "no") for word in (False, "no", "NO", "false", "off", "0", 0)),
        (MEASURE, "ndcg@5", "NDCG@5", "NDCG@5"),
        (MEASURE, "map", "MAP", "MAP"),
        (MEASURE, "P@3", "P@3", "P@3"),
        (COSTS, "", (), ""),
        (COSTS, "39: 0.5, 25:3", ((25, 3.0), (39, 0.5)), "25: 3, 39: 0.5"),
        (COSTS, [[25, 3]], ((25, 3.0),), "25: 3"),
        (COSTS, {"7": 2.5}, ((7, 2.5),), "7: 2.5"),
    ],
)
def test_numbers_switches_and_measures_come_out_canonical_and_go_back(
    parameter: Parameter, value: object, canonical: object, text: str
) -> None:
    found = parameter.validate(value)
    assert found == canonical
    assert type(found) is type(canonical)
    assert parameter.format(found) == text
    assert parameter.validate(text) == canonical


@pytest.mark.parametrize(
    ("parameter", "value", "sentence"),
    [
        (NUMBER, "2.5", "step: expected a number from 0 to 2, got '2.5'."),
        (NUMBER, -0.1, "step: expected a number from 0 to 2, got -0.1."),
        (NUMBER, "", "step: expected a number from 0 to 2, got ''."),
        (NUMBER, None, "step: expected a number from 0 to 2, got None."),
        (NUMBER, True, "step: expected a number from 0 to 2, got True."),
        (NUMBER, "1 2", "step: expected a number from 0 to 2, got '1 2'."),
        (POSITIVE, 0, "tolerance: expected a number greater than 0, got 0."),
        (POSITIVE, float("inf"), "tolerance: expected a number greater than 0, got inf."),
        (POSITIVE, float("nan"), "tolerance: expected a number greater than 0, got nan."),
        (POSITIVE, "tight", "tolerance: expected a number greater than 0, got 'tight'."),
        (MAYBE, 0.5, "depth: expected a number from 1 up, or nothing for no limit, got 0.5."),
        (SWITCH, "perhaps", "make convex: expected yes or no, got 'perhaps'."),
        (SWITCH, 2, "make convex: expected yes or no, got 2."),
        (SWITCH, None, "make convex: expected yes or no, got None."),
        (COSTS, "25", f"{_COSTS}, got '25'."),
        (COSTS, "25: dear", f"{_COSTS}, got '25: dear'."),
        (COSTS, 3, f"{_COSTS}, got 3."),
        (COSTS, "25: 0", f"{_COSTS}, each once and from id 1 up, got '25: 0'."),
        (COSTS, "0: 1", f"{_COSTS}, each once and from id 1 up, got '0: 1'."),
        (COSTS, "1: 1, 1: 2", f"{_COSTS}, each once and from id 1 up, got '1: 1, 1: 2'."),
        (COSTS, "1: inf", f"{_COSTS}, each once and from id 1 up, got '1: inf'."),
    ],
)
def test_other_numbers_and_switches_are_refused_with_the_whole_sentence(
    parameter: Parameter, value: object, sentence: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        parameter.validate(value)
    assert str(caught.value) == sentence


ROUNDS = Parameter("n_rounds", "rounds", Kind.INTEGER, 100, "A number.", low=1.0, high=1000.0)
SIZE = Parameter("k", "k", Kind.INTEGER, None, "A number.", low=1.0, none_label="all")
LOSS = Parameter(
    "loss",
    "loss",
    Kind.CHOICE,
    "squared",
    "A loss.",
    choices=(("squared", "Squared one"), ("hinge", "Hinge")),
)
PINNED = Parameter("pinned", "pinned", Kind.FEATURES, (), "Features.")


@pytest.mark.parametrize(
    ("parameter", "value", "canonical", "written"),
    [
        (ROUNDS, [100, 50], (100, 50), "100, 50"),
        (ROUNDS, "50,100", (50, 100), "50, 100"),
        (ROUNDS, "1..3, 10", (1, 2, 3, 10), "1, 2, 3, 10"),
        (ROUNDS, "2^3..2^5", (8, 16, 32), "8, 16, 32"),
        (ROUNDS, [50], 50, "50"),
        (SIZE, [10, "all"], (10, None), "10, all"),
        (SIZE, (None, 5), (None, 5), "all, 5"),
        (NUMBER, "0.5, 2^-3", (0.5, 0.125), "0.5, 0.125"),
        (LOSS, ["hinge", "squared"], ("hinge", "squared"), "hinge, squared"),
        (LOSS, "hinge,squared", ("hinge", "squared"), "hinge, squared"),
        (LOSS, ["hinge"], "hinge", "hinge"),
        (SWITCH, [True, False], (True, False), "yes, no"),
        (SWITCH, "no, yes", (False, True), "no, yes"),
        (MEASURE, ["map", "NDCG@5"], ("MAP", "NDCG@5"), "MAP, NDCG@5"),
        (PINNED, [[25, 39], [7]], ((25, 39), (7,)), "25, 39 | 7"),
        (PINNED, "25, 39 | ", ((25, 39), ()), "25, 39 | "),
        (PINNED, [[25]], (25,), "25"),
        (COSTS, [[[25, 3]], []], (((25, 3.0),), ()), "25: 3 | "),
        (COSTS, [{"25": 3}, {"7": 1}], (((25, 3.0),), ((7, 1.0),)), "25: 3 | 7: 1"),
    ],
)
def test_several_values_come_out_canonical_in_their_order_and_go_back(
    parameter: Parameter, value: object, canonical: object, written: str
) -> None:
    found = parameter.validate(value)
    assert (found, type(found)) == (canonical, type(canonical))
    values = parameter.values(found)
    assert tuple(parameter.validate(one) for one in values) == values
    assert parameter.validate(found) == canonical
    assert parameter.written(found) == written
    assert parameter.validate(written) == canonical


@pytest.mark.parametrize(
    ("parameter", "value", "sentence"),
    [
        (ROUNDS, [], "rounds: expected at least one value: a whole number from 1 to 1000, got []."),
        (ROUNDS, ",", "rounds: expected at least one value: a whole number from 1 to 1000, got ','."),
        (ROUNDS, [50, 0, 100], "rounds: expected a whole number from 1 to 1000, got 0."),
        (ROUNDS, "50, many", "rounds: expected a whole number from 1 to 1000, got 'many'."),
        (ROUNDS, "2^-1..2^1", "rounds: expected a whole number from 1 to 1000, got 0.5."),
        (ROUNDS, [50, 100, 50], "rounds: expected each value once, found 50 twice, got [50, 100, 50]."),
        (ROUNDS, [50, [100]], "rounds: expected a whole number from 1 to 1000, got [100]."),
        (LOSS, ["squared", "log"], "loss: expected one of squared, hinge, got 'log'."),
        (LOSS, "hinge, hinge", "loss: expected each value once, found Hinge twice, got 'hinge, hinge'."),
        (SWITCH, "yes, no, perhaps", "make convex: expected yes or no, got 'perhaps'."),
        (PINNED, [[25], 7], "pinned: expected feature ids, such as 25, 39, got 7."),
        (PINNED, "25 | a", "pinned: expected feature ids, such as 25, 39, got ' a'."),
        (COSTS, [[[1, 2]], [[1, 0]]], f"{_COSTS}, each once and from id 1 up, got [[1, 0]]."),
    ],
)
def test_several_values_are_refused_by_the_first_that_is_none(
    parameter: Parameter, value: object, sentence: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        parameter.validate(value)
    assert str(caught.value) == sentence


def test_choices_are_read_by_their_labels_and_typed_by_their_keys() -> None:
    assert LOSS.format(("hinge", "squared")) == "Hinge, Squared one"
    assert (LOSS.format("hinge"), LOSS.written("hinge")) == ("Hinge", "hinge")
    named = [
        (SIZE, None),
        (PINNED, ()),
        (SWITCH, False),
        (method("rankrls").parameter("regularization"), 8.0),
    ]
    assert [p.name_of(one) for p, one in named] == ["all", "none", "no", "2^3"]


@pytest.mark.parametrize("value", ["NDCG@0", "MAPS", "", "P", 3])
def test_what_is_no_measure_is_refused_by_the_parameters_name(value: object) -> None:
    with pytest.raises(ParameterError) as caught:
        MEASURE.validate(value)
    assert str(caught.value).startswith("measure: expected ")
    assert str(caught.value).endswith(f", got {value!r}.")


def test_options_of_one_name_are_parameters_of_one_name() -> None:
    """The terminal has each option once, whichever method it is for."""
    names: dict[str, set[str]] = {}
    for entry in CATALOG:
        for p in entry.parameters:
            names.setdefault(p.option, set()).add(p.name)
    assert {option: found for option, found in names.items() if len(found) > 1} == {}


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_an_entry_says_where_it_comes_from_and_what_its_steps_are(entry: Method) -> None:
    assert entry.citation
    assert entry.title
    assert entry.family in ("selector", "ranker")
    assert bool(entry.module) == bool(entry.extra)
    ranking = [p for p in entry.parameters if p.ranks]
    assert entry.selects or not ranking
    assert all(p.kind is Kind.GRID for p in ranking)


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.key)
def test_what_limits_the_steps_is_a_parameter_of_the_method(entry: Method) -> None:
    if entry.selects or entry.step_kind is not StepKind.FEATURES:
        assert entry.step_kind.limit in entry.defaults


def test_a_method_says_what_it_lacks_and_how_to_get_it() -> None:
    there = method("rankrls")
    sentence = 'RankRLS needs no_such_module, which is not installed: pip install "rankstudio[boosting]".'
    lacking = replace(there, module="no_such_module", extra="boosting")
    assert there.lacking == replace(there, module="json", extra="boosting").lacking == ""
    assert lacking.lacking == sentence
    with pytest.raises(PlanError) as caught:
        lacking.load()
    assert str(caught.value) == sentence
    assert replace(there, module="json", extra="boosting").load() is there.load()


def test_unknown_methods_and_parameters_name_the_known_ones() -> None:
    known = ", ".join(entry.key for entry in CATALOG)
    with pytest.raises(PlanError, match=f"There is no method 'x'; the catalog has {known}"):
        method("x")
    with pytest.raises(PlanError, match="RankRLS has no parameter 'k'; it has regularization"):
        method("rankrls").validate({"k": 3})


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (NUMBER, 2.5, "a number from 0 to 2"),
        (POSITIVE, 0, "a finite number greater than 0"),
        (POSITIVE, float("inf"), "a finite number greater than 0"),
        (replace(POSITIVE, high=1.0), 1.5, "a number greater than 0, up to 1"),
        (ROUNDS, 1.0, "a whole number from 1 to 1000"),
        (replace(ROUNDS, high=float("inf")), None, "a whole number from 1 up"),
        (SWITCH, 1, "True or False"),
        (LOSS, "log", "squared or hinge"),
    ],
)
def test_a_program_gives_single_numbers_and_no_texts(
    parameter: Parameter, value: object, expected: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        parameter.check(value)
    assert str(caught.value) == f"{parameter.name}: expected {expected}, got {value!r}."


def test_what_a_program_gives_comes_out_as_a_plain_number() -> None:
    given = [
        (ROUNDS, np.int64(3)),
        (NUMBER, np.float32(0.5)),
        (SWITCH, np.True_),
        (SIZE, None),
        (LOSS, "hinge"),
    ]
    found = [p.check(value) for p, value in given]
    assert found == [3, 0.5, True, None, "hinge"]
    assert [type(value) for value in found[:3]] == [int, float, bool]


def test_a_class_that_is_no_method_of_the_catalog_is_refused_by_name() -> None:
    with pytest.raises(PlanError, match="dict is not the estimator of a method of the catalog"):
        method_of(dict)


def test_reading_the_catalog_imports_nothing_heavy() -> None:
    code = (
        "import sys, rankstudio.engine.methods.catalog, rankstudio.engine.experiment.plan.plan;"
        "heavy = {'numba', 'scipy', 'sklearn', 'pandas', 'PySide6'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) or 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_everything_public_comes_with_a_star_and_is_listed() -> None:
    names: dict[str, object] = {}
    exec("from rankstudio.engine import *", names)
    assert {"GAS", "GreedyRankRLS", "RankingDataset", "evaluate", "open_dataset"} <= set(names)
    assert {entry.estimator.partition(":")[2] for entry in CATALOG} <= set(names)
