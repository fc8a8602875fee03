"""Features chosen by hand: what a plan says of them, and when it stops to say it."""

from __future__ import annotations

import pytest

from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.hand_choice import (
    HandChoice,
    HandChoices,
    parse_hand_choices,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_from_dict

PINNED = {"pinned": (1, 2)}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (" GIVEN :2,1, 1", "given: 1, 2"),
        ("given, train 20%: 1", "given: 1"),
        ("5-fold, seed 3: 2; given: 1;", "5-fold, seed 3: 2; given: 1"),
        ("5 folds, seed 0: 1; 5-fold, seed 0: 4", "5-fold, seed 0: 1, 4"),
        ("leave-query-out: 12", "leave-query-out: 12"),
        ("5-fold, nested 4-fold, seed 0: 1", "5-fold, nested 4-fold, seed 0: 1"),
    ],
)
def test_the_folds_are_kept_in_one_form(text: str, canonical: str) -> None:
    plan = Plan("x", parameters=PINNED, hand_chosen=text)
    known = plan.extension(HandChoices)
    assert (known.text if known is not None else "") == canonical
    assert plan_from_dict(plan_as_dict(plan)) == plan
    assert ("hand_chosen" in plan_as_dict(plan)) is bool(canonical)


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "given",
        "given:",
        "given: 0",
        "given: -1",
        "given: 1.5",
        "given: x",
        "5-fold: 1",
        ": 1",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(PlanError):
        Plan("x", hand_chosen=text)


@pytest.mark.parametrize(
    "text",
    ["given, seed 0: 1", "5-fold, seed x: 1", "7-fold, seed 1: 9999999999", "\0:1"],
)
def test_odd_texts_are_refused(text: str) -> None:
    with pytest.raises(PlanError):
        parse_hand_choices(text)


def test_something_else_than_a_text_is_refused() -> None:
    with pytest.raises(PlanError):
        Plan("x", hand_chosen=1)  # type: ignore[arg-type]


def test_the_fold_is_that_of_the_plan_whatever_share_of_queries_it_learns_from() -> (
    None
):
    plan = Plan(
        "x", protocol="5-fold, train 20%", seed=4, hand_chosen="5-fold, seed 4: 2"
    )
    assert plan.extension(HandChoices).choices == (HandChoice(plan.fold_origin, 2),)


def test_without_the_features_nothing_is_said_of_their_choice() -> None:
    plan = Plan("x", parameters=PINNED, hand_chosen="given: 1")
    assert plan.changed(rule="smallest").extension(HandChoices).text == "given: 1"
    assert (
        plan.changed(parameters={"pinned": (1, 2, 3)}).extension(HandChoices).text
        == "given: 1"
    )
    assert plan.changed(parameters={}).extension(HandChoices) is None
    assert plan.changed(method="gas", parameters={}).extension(HandChoices) is None
