"""Values of parameters: they come out canonical and go back, and others are refused by a whole sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.catalog import Kind, Parameter, method


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
            "features k: expected a whole number from 1 up, or empty for all, got '2.5'",
        ),
        ("n_features_to_select", 0, "features k: expected a whole number from 1 up"),
        ("n_features_to_select", True, "features k: expected a whole number from 1 up"),
        ("pinned", "a", "pinned: expected feature ids, such as 25, 39, got 'a'"),
        ("pinned", [0], "pinned: expected feature ids"),
        ("pinned", [3, 3], "given once"),
        ("pinned", 3, "pinned: expected feature ids"),
        ("pinned", [2**63], "pinned: expected feature ids"),
        (
            "n_features_to_select",
            2**63,
            "features k: expected a whole number from 1 up",
        ),
        (
            "regularization",
            [10**400],
            "λ: expected numbers greater than 0, .* got .10{100,}…",
        ),
        (
            "algorithm",
            "fast",
            "algorithm: expected one of auto, statistics, rows, algorithm1, columns, got 'fast'",
        ),
    ],
)
def test_other_values_are_refused_with_name_range_and_value(
    name: str, value: object, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        parameter(name).validate(value)


NUMBER = Parameter(
    "step", "step", Kind.NUMBER, 0.5, "A number.", option="--step", low=0.0, high=2.0
)
POSITIVE = Parameter(
    "tol", "tolerance", Kind.NUMBER, 1e-6, "A number.", low=0.0, open_low=True
)
MAYBE = Parameter(
    "depth", "depth", Kind.NUMBER, None, "A number.", low=1.0, none_label="no limit"
)
SWITCH = Parameter(
    "project", "make convex", Kind.SWITCH, False, "Yes or no.", option="--project"
)
MEASURE = Parameter(
    "measure", "measure", Kind.MEASURE, "NDCG@10", "A measure.", option="--measure"
)
COSTS = Parameter("costs", "costs", Kind.COSTS, (), "Costs.", option="--costs")
_COSTS = "costs: expected costs greater than 0 by feature id, such as 25: 3, 39: 0.5, or milliseconds"


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
        *(
            (SWITCH, word, True, "yes")
            for word in (True, "yes", "Yes ", "true", "on", "1", 1)
        ),
        *(
            (SWITCH, word, False, "no")
            for word in (False, "no", "NO", "false", "off", "0", 0)
        ),
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


ROUNDS = Parameter(
    "n_rounds", "rounds", Kind.INTEGER, 100, "A number.", low=1.0, high=1000.0
)
SIZE = Parameter("k", "k", Kind.INTEGER, None, "A number.", low=1.0, none_label="all")
LOSS = Parameter(
    "loss",
    "loss",
    Kind.CHOICE,
    "squared",
    "A loss.",
    choices=(("squared", "Squared one"), ("hinge", "Hinge")),
)
KERNEL = Parameter(
    "kernel",
    "kernel",
    Kind.CHOICE,
    "rbf",
    "A kernel.",
    choices=(("rbf", "Gaussian"), ("linear", "Linear one")),
    summed=True,
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
        (KERNEL, "rbf+2*linear", "rbf + 2 * linear", "rbf + 2 * linear"),
        (KERNEL, "rbf, 1*linear", ("rbf", "linear"), "rbf, linear"),
        (KERNEL, ["rbf*rbf", "rbf"], ("rbf * rbf", "rbf"), "rbf * rbf, rbf"),
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
        (NUMBER, "2.5", "step: expected a number from 0 to 2, got '2.5'."),
        (NUMBER, -0.1, "step: expected a number from 0 to 2, got -0.1."),
        (NUMBER, "", "step: expected a number from 0 to 2, got ''."),
        (NUMBER, None, "step: expected a number from 0 to 2, got None."),
        (NUMBER, True, "step: expected a number from 0 to 2, got True."),
        (NUMBER, "1 2", "step: expected a number from 0 to 2, got '1 2'."),
        (POSITIVE, 0, "tolerance: expected a number greater than 0, got 0."),
        (
            POSITIVE,
            float("inf"),
            "tolerance: expected a number greater than 0, got inf.",
        ),
        (
            POSITIVE,
            float("nan"),
            "tolerance: expected a number greater than 0, got nan.",
        ),
        (
            POSITIVE,
            "tight",
            "tolerance: expected a number greater than 0, got 'tight'.",
        ),
        (
            MAYBE,
            0.5,
            "depth: expected a number from 1 up, or empty for no limit, got 0.5.",
        ),
        (
            KERNEL,
            "cubic",
            "kernel: expected one of rbf, linear, or a sum or product such as rbf + 0.5 * linear, "
            "got 'cubic'.",
        ),
        (
            KERNEL,
            "rbf + cubic",
            "kernel: expected rbf, linear or a number greater than 0 at character 7, got 'rbf + cubic'.",
        ),
        (
            LOSS,
            "hinge + squared",
            "loss: expected one of squared, hinge, got 'hinge + squared'.",
        ),
        (SWITCH, "perhaps", "make convex: expected yes or no, got 'perhaps'."),
        (SWITCH, 2, "make convex: expected yes or no, got 2."),
        (SWITCH, None, "make convex: expected yes or no, got None."),
        (COSTS, "25", f"{_COSTS}, got '25'."),
        (COSTS, "25: dear", f"{_COSTS}, got '25: dear'."),
        (COSTS, 3, f"{_COSTS}, got 3."),
        (COSTS, "25: 0", f"{_COSTS}, each id once, 1 or larger, got '25: 0'."),
        (COSTS, "0: 1", f"{_COSTS}, each id once, 1 or larger, got '0: 1'."),
        (
            COSTS,
            "1: 1, 1: 2",
            f"{_COSTS}, each id once, 1 or larger, got '1: 1, 1: 2'.",
        ),
        (COSTS, "1: inf", f"{_COSTS}, each id once, 1 or larger, got '1: inf'."),
        (
            ROUNDS,
            [],
            "rounds: expected at least one value: a whole number from 1 to 1000, got [].",
        ),
        (
            ROUNDS,
            ",",
            "rounds: expected at least one value: a whole number from 1 to 1000, got ','.",
        ),
        (
            ROUNDS,
            [50, 0, 100],
            "rounds: expected a whole number from 1 to 1000, got 0.",
        ),
        (
            ROUNDS,
            "50, many",
            "rounds: expected a whole number from 1 to 1000, got 'many'.",
        ),
        (
            ROUNDS,
            "2^-1..2^1",
            "rounds: expected a whole number from 1 to 1000, got 0.5.",
        ),
        (
            ROUNDS,
            [50, 100, 50],
            "rounds: expected each value once, found 50 twice, got [50, 100, 50].",
        ),
        (
            ROUNDS,
            [50, [100]],
            "rounds: expected a whole number from 1 to 1000, got [100].",
        ),
        (LOSS, ["squared", "log"], "loss: expected one of squared, hinge, got 'log'."),
        (
            LOSS,
            "hinge, hinge",
            "loss: expected each value once, found Hinge twice, got 'hinge, hinge'.",
        ),
        (SWITCH, "yes, no, perhaps", "make convex: expected yes or no, got 'perhaps'."),
        (PINNED, [[25], 7], "pinned: expected feature ids, such as 25, 39, got 7."),
        (PINNED, "25 | a", "pinned: expected feature ids, such as 25, 39, got ' a'."),
        (
            COSTS,
            [[[1, 2]], [[1, 0]]],
            f"{_COSTS}, each id once, 1 or larger, got [[1, 0]].",
        ),
    ],
)
def test_one_value_and_several_are_refused_with_the_whole_sentence_by_the_first_that_is_none(
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
    assert f", got {value!r}." in str(caught.value)


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


def test_a_value_that_is_left_out_is_read_by_its_former_names_too() -> None:
    """Catches a renamed "no limit" that refuses plans and studies in which it stands in a list."""
    subsets = next(
        p for p in method("fs-bfs").parameters if p.name == "n_features_to_select"
    )
    for name in ("no limit", "until no feature is left", "no maximum", ""):
        assert subsets.validate([10, name]) == (10, None)
        assert subsets.validate(name) is None
