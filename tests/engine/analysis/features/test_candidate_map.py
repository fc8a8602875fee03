"""Maps and margins of candidates, against plain loops over the steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from candidate_paths import DROP, SCORE, UNIT, WEIGHT, growing, weights
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.analysis.features.candidate_map import (
    CandidateGroups,
    CandidateMap,
    candidate_map,
    margins,
    shares,
    step_margin,
)
from rankstudio.engine.data.feature_groups import checked_groups
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import CandidateScore, StepKind
from rankstudio.engine.steps import Step

NAMES = ("a", "b", "c", "d", "e")
GROUPS = CandidateGroups.of(
    [11, 12, 13, 14, 15], NAMES, checked_groups({"B": (12, 14), "A": (11, 13)})
)


def path() -> PathResult:
    """Takes B, 25 % ahead of A and then e; then e, far ahead of A."""
    nan = float("nan")
    first = Step(
        1, (1, 3), np.zeros(5), 6.0, np.array([7.0, 6.0, 7.0, 6.0, 8.0]), before=10.0
    )
    second = Step(
        2, (1, 3, 4), np.zeros(5), 5.0, np.array([5.9, nan, 5.9, nan, 5.0]), before=6.0
    )
    return PathResult(UNIT, HeldSteps((first, second)), {}, 1.0)


def test_a_group_has_one_row_and_one_rank():
    found = candidate_map(path(), DROP, GROUPS)
    assert found is not None
    assert [GROUPS.names[column] for column in found.features] == ["B", "e", "A"]
    assert found.n_features == 3
    assert found.n_candidates.tolist() == [3, 2]
    assert found.ranks[:, 0].tolist() == [1, 3, 2]
    assert found.is_selected.tolist() == [[True, False], [False, True], [False, False]]


def test_the_margin_is_to_the_next_group():
    found = margins(GROUPS.path(path()), DROP)
    assert {
        GROUPS.names[column]: GROUPS.names[lead.rival] for column, lead in found.items()
    } == {
        "B": "A",
        "e": "A",
    }
    assert found[1].share == 0.25


def test_the_likeness_of_two_groups_is_that_of_their_most_alike_features():
    rng = np.random.default_rng(4)
    r = np.corrcoef(rng.normal(size=(9, 5)), rowvar=False)
    found = GROUPS.correlations(r)
    pairs = r[np.ix_([0, 2], [1, 3])].ravel()
    assert found[0, 1] == found[1, 0] == pairs[np.abs(pairs).argmax()]
    alone = r[[1, 3], 4]
    assert found[1, 4] == alone[np.abs(alone).argmax()]


def test_without_groups_a_path_is_what_it_was():
    groups = CandidateGroups.of([1, 2, 3, 4, 5], NAMES, {})
    whole = path()
    assert groups.path(whole) is whole
    assert groups.names == NAMES


def made(path: PathResult, score: CandidateScore = SCORE) -> CandidateMap:
    found = candidate_map(path, score)
    assert found is not None
    return found


@given(st.integers(0, 2**32 - 1))
def test_the_map_has_score_share_and_rank_of_every_candidate(seed: int) -> None:
    path = growing(seed)
    found = made(path)
    assert found.features[:5] == path.steps[-1].selected
    assert sorted(found.features) == list(range(8))
    assert (found.n_features, found.n_steps) == (8, 5)
    for column, step in enumerate(path.steps):
        known = [v for v in step.candidates.tolist() if np.isfinite(v)]
        assert found.n_candidates[column] == len(known)
        for row, feature in enumerate(found.features):
            value = step.candidates[feature]
            assert found.is_selected[row, column] == (step.selected[-1] == feature)
            if np.isnan(value):
                assert np.isnan(
                    [
                        found.scores[row, column],
                        found.shares[row, column],
                        found.ranks[row, column],
                    ]
                ).all()
                continue
            assert found.scores[row, column] == value
            assert found.shares[row, column] == pytest.approx(value / max(known))
            assert found.ranks[row, column] == 1 + sum(other > value for other in known)
        assert found.shares[found.is_selected[:, column], column] == 1.0


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(1, 6),
    st.integers(0, 4),
    st.integers(0, 7),
)
def test_a_view_has_the_step_and_the_feature_that_are_wanted(
    seed: int, rows: int, columns: int, place: int, feature: int
) -> None:
    whole = made(growing(seed))
    part = whole.view(rows, columns, place, feature)
    assert (
        part.scores.shape
        == (len(part.features), len(part.step_positions))
        == part.is_selected.shape
    )
    assert len(part.features) <= rows
    assert len(part.step_positions) == min(columns, 5)
    assert place in part.step_positions
    assert list(part.step_positions) == list(
        range(part.step_positions[0], part.step_positions[0] + len(part.step_positions))
    )
    assert feature in part.features
    for i, f in enumerate(part.features):
        for j, p in enumerate(part.step_positions):
            expected = whole.scores[whole.features.index(f), p]
            assert part.scores[i, j] == expected or np.isnan(expected)
    order = [f for f in part.features if f != feature]
    came = [
        f
        for f in whole.features[part.step_positions[0] : part.step_positions[-1] + 1]
        if f in order
    ]
    assert order[: len(came)] == came


def test_of_iterations_the_first_and_the_last_are_seen() -> None:
    whole = made(weights(3), WEIGHT)
    part = whole.view(4, 5)
    assert part.step_positions[0] == 0
    assert part.step_positions[-1] == 29
    assert np.diff(part.step_positions).argmax() == len(part.step_positions) - 2
    assert list(part.features) == list(weights(3).steps[-1].selected[:4])
    for column, place in enumerate(whole.step_positions):
        best = int(np.abs(weights(3).steps[place].coef).argmax())
        assert [
            f
            for f, new in zip(whole.features, whole.is_selected[:, column], strict=True)
            if new
        ] == [best]


@pytest.mark.parametrize("columns", range(1, 8))
def test_of_iterations_the_one_that_is_looked_at_is_seen(columns: int) -> None:
    whole = made(weights(3), WEIGHT)
    for place in range(30):
        part = whole.view(4, columns, place)
        assert place in part.step_positions
        assert list(part.step_positions) == sorted(set(part.step_positions))
        assert len(part.step_positions) <= columns
        if columns > 2:
            assert (part.step_positions[0], part.step_positions[-1]) == (0, 29)


def test_scores_without_a_zero_are_shares_of_the_way_from_the_worst() -> None:
    found = made(growing(1, low=-1.0), CandidateScore("score", "", from_zero=False))
    for column in range(5):
        values, of = found.scores[:, column], found.shares[:, column]
        expected = (values - np.nanmin(values)) / (
            np.nanmax(values) - np.nanmin(values)
        )
        np.testing.assert_allclose(of, expected)


def test_shares_of_drops_and_of_the_least() -> None:
    nan = float("nan")
    assert shares(SCORE, np.array([2.0, 1.0, -1.0])).tolist() == [1.0, 0.5, 0.0]
    assert shares(DROP, np.array([-1.0, -3.0, -2.0])).tolist() == [1.0, 0.0, 0.5]
    least = CandidateScore("weight", "", least=True)
    np.testing.assert_array_equal(
        shares(least, np.array([4.0, 2.0, nan])), [0.5, 1.0, nan]
    )
    assert np.isnan(shares(SCORE, np.array([nan, nan]))).all()
    assert shares(SCORE, np.zeros(2)).tolist() == [1.0, 1.0]


def test_a_path_that_compares_nothing_has_no_map() -> None:
    step = Step(1, (0,), np.ones(1), 1.0, np.empty(0))
    path = PathResult(UNIT, HeldSteps((step,)), {}, 1.0)
    assert candidate_map(path, SCORE) is None
    assert margins(path, SCORE)[0].rival is None


@given(st.integers(0, 2**32 - 1))
def test_margins_are_to_the_best_of_the_others(seed: int) -> None:
    path = growing(seed)
    found = margins(path, SCORE)
    assert list(found) == list(path.steps[-1].selected)
    for step in path.steps:
        is_selected = step.selected[-1]
        others = {
            j: v
            for j, v in enumerate(step.candidates.tolist())
            if np.isfinite(v) and j != is_selected
        }
        rival = max(others, key=lambda j: (others[j], -j))
        margin = found[is_selected]
        assert (margin.number, margin.score, margin.rival) == (
            step.number,
            step.candidates[is_selected],
            rival,
        )
        assert margin.share == pytest.approx(
            1 - others[rival] / step.candidates[is_selected]
        )


def test_margins_of_iterations_are_to_the_next_weight_and_rounds_have_none() -> None:
    path = weights(5)
    order = path.steps[-1].selected
    found = margins(path, WEIGHT)
    sizes = np.abs(path.steps[-1].coef)
    for one, other in pairwise(order):
        assert found[one].rival == other
        assert found[one].share == pytest.approx(1 - sizes[other] / sizes[one])
    assert found[order[-1]].rival is None
    assert margins(weights(5, StepKind.ROUNDS), WEIGHT) == {}
    nothing = replace(path.steps[-1], selected=(), coef=np.zeros(sizes.size))
    assert margins(replace(path, steps=HeldSteps((nothing,))), WEIGHT) == {}


def test_a_pinned_feature_is_behind_and_what_came_with_it_is_no_rival() -> None:
    candidates = np.array([6.0, 8.0, 9.0])
    step = Step(1, (1,), np.zeros(3), 8.0, candidates, before=10.0)
    margin = step_margin(DROP, step, divisor=2.0)
    assert (margin.feature, margin.rival, margin.score, margin.rival_score) == (
        1,
        0,
        1.0,
        2.0,
    )
    assert margin.share == pytest.approx(-0.5)
    both = Step(1, (0, 2), np.zeros(3), 1.0, np.array([0.9, 0.6, 0.9]))
    assert step_margin(SCORE, both, 0).rival == 1
