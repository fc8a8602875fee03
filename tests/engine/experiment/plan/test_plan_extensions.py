"""What abilities add to plans: found by type, written as before, and gone when it no longer belongs."""

from __future__ import annotations

import pickle

import pytest

from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.hand_choice import HandChoice, HandChoices
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import (
    plan_as_dict,
    plan_as_toml,
    plan_from_dict,
)
from rankstudio.engine.methods.catalog import GIVEN_SCORES

COSTS = {"documents": 12.5, "features": [[1, 0.5, 2.0], [2, 1.0, 0.0]]}
PINNED = {"pinned": [3]}


def test_values_are_found_by_type_and_written_as_plans_of_before_have_them() -> None:
    plan = Plan(
        "x",
        parameters=PINNED,
        costs=COSTS,
        hand_chosen="given: 1",
        groups={"a": (1, 2)},
    )
    assert plan.extension(FeatureCosts) == FeatureCosts(
        ((1, 0.5, 2.0), (2, 1.0, 0.0)), 12.5
    )
    assert plan.extension(HandChoices) == HandChoices((HandChoice("given", 1),))
    assert plan.extension(GivenRanking) is None
    values = plan_as_dict(plan)
    assert (values["costs"], values["hand_chosen"]) == (COSTS, "given: 1")
    assert list(values)[-2:] == ["groups", "costs"] and "extensions" not in values
    assert plan_as_toml(plan).index('hand_chosen = "given: 1"') < plan_as_toml(
        plan
    ).index("[parameters]")
    for again in (
        plan_from_dict(values),
        pickle.loads(pickle.dumps(plan)),
        plan.changed(seed=0),
    ):
        assert again == plan and hash(again) == hash(plan)
    assert plan.changed(costs={}) != plan


def test_what_no_longer_belongs_goes_with_the_method_or_the_pins() -> None:
    files = {
        "name": " a  b ",
        "path": "scores",
        "files": {"Fold1/test.scores": "0" * 64},
    }
    given = Plan("x", GIVEN_SCORES.key, scores=files, costs=COSTS)
    assert given.extension(GivenRanking) == GivenRanking(
        "a b", "scores", files["files"]
    )
    learned = given.changed(method="gas")
    assert learned.extension(GivenRanking) is None
    assert learned.extension(FeatureCosts) == given.extension(FeatureCosts)
    assert given.changed(seed=3).extension(GivenRanking) == given.extension(
        GivenRanking
    )
    pinned = Plan("x", parameters=PINNED, hand_chosen="given: 1")
    assert pinned.changed(parameters={}).extension(HandChoices) is None


@pytest.mark.parametrize(
    "words",
    [
        {"costs": 7},
        {"costs": {"documents": 0, "features": []}},
        {"scores": [1]},
        {"scores": {"name": "a"}},
        {"scores": {"name": "a", "path": "b"}},
        {"hand_chosen": 5},
        {"hand_chosen": "given: x"},
    ],
)
def test_damaged_values_are_refused(words: dict[str, object]) -> None:
    with pytest.raises(RankStudioError):
        plan_from_dict({"data": "x", **words})


def test_unknown_words_are_refused() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        Plan("x", nonsense=1)
    for word in ("nonsense", "extensions"):
        with pytest.raises(RankStudioError):
            plan_from_dict({"data": "x", word: {}})
