"""Sentences on features: each number in them is that of the steps they are made of."""

from __future__ import annotations

import re

import numpy as np
import pytest
from candidate_paths import DROP, SCORE, UNIT, WEIGHT, growing, weights
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import CandidateScore
from rankstudio.engine.steps import Step
from rankstudio.engine.support.number_format import percent, significant
from rankstudio.plugins.features.choice_explanation import (
    Alternative,
    ChoiceContext,
    explain,
)

NAMES = tuple(f"feature {j}" for j in range(8))


def drops() -> PathResult:
    """Takes 1, which is 40 % ahead of 0, then 2; after 1 little is left of 0."""
    nan = float("nan")
    first = Step(1, (1,), np.zeros(4), 5.0, np.array([7.0, 5.0, 9.0, 9.5]), before=10.0)
    second = Step(
        2, (1, 2), np.zeros(4), 4.0, np.array([4.9, nan, 4.0, 4.2]), before=5.0
    )
    return PathResult(UNIT, HeldSteps((first, second)), {}, 2.0)


def other(*order: int) -> PathResult:
    steps = [
        Step(k, order[:k], np.zeros(4), 1.0, np.empty(0))
        for k in range(1, len(order) + 1)
    ]
    return PathResult(UNIT, HeldSteps(steps), {}, 2.0)


def context(position: int = 1) -> ChoiceContext:
    combinations = [
        Alternative("2⁻¹", other(1, 2)),
        Alternative("2⁰", drops()),
        Alternative("2¹", other(0, 1)),
        Alternative("2²", other(0, 3)),
        Alternative("2³", other(0, 3)),
    ]
    folds = [Alternative("2", other(1, 2)), Alternative("3", other(2, 3))]
    return ChoiceContext(drops(), position, DROP, NAMES[:4], "λ", combinations, folds)


def test_what_was_taken_says_its_drop_its_lead_and_where_it_would_not_be() -> None:
    found = explain(context(), 1)
    assert found.title == "Why it was selected at step 1"
    assert found.sentences == (
        "Lowered the error per document by 2.5. The next candidate, feature 0 (1.5), was 40 % behind.",
        "It would not be among the first 2 with λ = 2² or 2³ or in fold 3.",
    )


def test_what_made_the_criterion_worse_says_that_it_added_to_it() -> None:
    values = np.array([12.0, 11.0, 13.0, 14.0])
    path = PathResult(
        UNIT,
        HeldSteps((Step(1, (1,), np.zeros(4), 11.0, values, before=10.0),)),
        {},
        2.0,
    )
    said = explain(ChoiceContext(path, 0, DROP, NAMES[:4], "λ", [], []), 1).sentences
    assert naming("0.5 error document").search(said[0]) and naming(
        "0 1 feature"
    ).search(said[0])
    assert "ahead" not in said[0]


@given(
    st.lists(st.sampled_from([-0.5, -0.2, 0.0, 0.3, 0.9]), min_size=2, max_size=4),
    st.integers(0, 1),
)
def test_a_lead_in_percent_is_told_only_where_both_lower_the_error(
    drops_: list[float], taken: int
) -> None:
    n = len(drops_)
    values = 10.0 - 2.0 * np.array(drops_)  # divided by 2 documents
    path = PathResult(
        UNIT,
        HeldSteps((Step(1, (taken,), np.zeros(n), 1.0, values, before=10.0),)),
        {},
        2.0,
    )
    rival = max(drop for column, drop in enumerate(drops_) if column != taken)
    own = drops_[taken]
    said = explain(ChoiceContext(path, 0, DROP, NAMES[:n]), taken).sentences[0]
    assert ("%" in said) == (min(own, rival) > 0 and own != rival)
    assert said.startswith("Lowered" if own > 0 else "Raised" if own < 0 else "Left")
    assert bool(naming("pins costs limit").search(said)) == (own < rival and rival != 0)
    for column in (column for column in range(n) if column != taken):
        closest = explain(ChoiceContext(path, 0, DROP, NAMES[:n]), column).sentences[1]
        assert "%" not in closest or min(own, drops_[column]) > 0


def test_what_came_later_says_how_it_began() -> None:
    sentences = explain(context(), 2).sentences
    assert (
        sentences[0]
        == "Lowered the error per document by 0.5. The next candidate, feature 3 (0.4), was 20 % behind."
    )
    assert sentences[1] == "At step 1 it was 3rd of 4."
    assert sentences[2] == "It would not be among the first 2 with λ = 2¹ to 2³."


def test_what_was_not_taken_says_when_it_was_closest_and_what_displaced_it() -> None:
    correlations = np.eye(4)
    correlations[0, 1] = correlations[1, 0] = -0.93
    found = explain(context(), 0, correlations)
    assert found.title == "Why it is not in the model with k = 2"
    assert found.sentences == (
        "It is in no model of the path.",
        "Closest at step 1: 2nd of 4, 40 % behind the selected feature 1 (r = −0.93 within queries).",
        "With feature 1 (r = −0.93 within queries) in the model it fell from 1.5 to 0.05.",
        "It would be among the first 2 with λ = 2¹ to 2³.",
    )
    correlations[0, 2] = -0.95
    assert explain(context(), 0, correlations).sentences[3] == (
        "The most similar feature in the model is feature 2 (r = −0.95 within queries)."
    )
    assert explain(context(position=0), 2).sentences[0] == "It is selected at step 2."


def test_close_calls_ties_pins_and_lonely_ones_are_said() -> None:
    def said(candidates: list[float], taken: int = 0) -> str:
        step = Step(1, (taken,), np.zeros(2), 1.0, np.array(candidates))
        path = PathResult(UNIT, HeldSteps((step,)), {}, 1.0)
        return explain(
            ChoiceContext(path, 0, CandidateScore("score", "in nats"), NAMES), taken
        ).sentences[0]

    nan = float("nan")
    assert said([1.0, 0.995]) == (
        "Score in nats: 1. The next candidate, feature 1 (0.995), was 0.5 % behind: a near tie."
    )
    assert (
        said([1.0, 1.0])
        == "Score in nats: 1. It was tied with feature 1 (1); the first one in the file was selected."
    )
    assert said([1.0, 2.0]).startswith(
        "Score in nats: 1. feature 1 (2) scored 50 % better"
    )
    assert said([1.0, nan]) == "Score in nats: 1. It was the only candidate left."
    assert said([nan, nan]).startswith("It was selected without a comparison")


def test_elimination_says_what_was_next_to_drop_out() -> None:
    step = Step(2, (0, 1), np.zeros(2), 1.0, np.array([4.0, 3.0]))
    path = PathResult(UNIT, HeldSteps((step,)), {}, 1.0)
    score = CandidateScore("absolute weight", "", least=True)
    assert explain(ChoiceContext(path, 0, score, NAMES), 1).sentences[0] == (
        "With 2 features left it was dropped next: its absolute weight, 3, was 25 % below "
        "that of feature 0 (4)."
    )


@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.integers(0, 4))
def test_every_feature_of_every_path_has_an_explanation(
    seed: int, feature: int, position: int
) -> None:
    path = growing(seed, low=-1.0)
    found = explain(ChoiceContext(path, position, SCORE, NAMES), feature, np.eye(8))
    place = (
        path.steps[-1].selected.index(feature)
        if feature in path.steps[-1].selected
        else None
    )
    if place is not None and place <= position:
        assert found.title == f"Why it was selected at step {place + 1}"
        value = significant(float(path.steps[place].candidates[feature]))
        assert value in found.sentences[0]
    else:
        assert found.title == f"Why it is not in the model with k = {position + 1}"
        closest = re.search(r"Closest at step (\d+): (\d+)", found.sentences[1])
        assert closest is not None
        values = path.steps[int(closest[1]) - 1].candidates
        assert int(closest[2]) == 1 + np.count_nonzero(values > values[feature])
    assert all(
        sentence.endswith(".") and "nan" not in sentence for sentence in found.sentences
    )


@pytest.mark.parametrize("seed", range(5))
def test_of_weights_size_and_rank_are_said(seed: int) -> None:
    path = weights(seed)
    where = ChoiceContext(
        path, 29, WEIGHT, NAMES, "λ", (), (Alternative("2", weights(seed + 1)),)
    )
    sizes = np.abs(path.steps[-1].coef)
    for feature in range(8):
        found = explain(where, feature, np.eye(8))
        if sizes[feature]:
            assert found.title == "Why it is in the model"
            assert significant(sizes[feature]) in found.sentences[0]
        else:
            assert found.title == "Why it is not in the model"
            assert found.sentences[0].startswith(
                "Its absolute weight is 0 at iteration 30; the maximum is "
            )


def test_shares_are_percents() -> None:
    assert [
        percent(v) for v in (0.41, 0.0951, 0.05, 0.0083, 0.00084, 0.00001, 0.0)
    ] == [
        "41 %",
        "10 %",
        "5 %",
        "0.83 %",
        "0.08 %",
        "less than 0.01 %",
        "0 %",
    ]
