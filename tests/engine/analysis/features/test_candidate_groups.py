"""Groups as candidates: one row, one rank and one name each, whatever their features are."""

from __future__ import annotations

import numpy as np
from candidate_paths import DROP, UNIT

from rankstudio.engine.analysis.features.candidate_groups import CandidateGroups
from rankstudio.engine.analysis.features.candidate_map import candidate_map, margins
from rankstudio.engine.analysis.features.choice_context import Alternative, ChoiceContext
from rankstudio.engine.analysis.features.choice_explanation import explain
from rankstudio.engine.data.feature_groups import checked_groups
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.steps import Step

NAMES = ("a", "b", "c", "d", "e")
GROUPS = CandidateGroups.of([11, 12, 13, 14, 15], NAMES, checked_groups({"B": (12, 14), "A": (11, 13)}))


def path() -> PathResult:
    """Takes B, 25 % ahead of A and then e; then e, far ahead of A."""
    nan = float("nan")
    first = Step(1, (1, 3), np.zeros(5), 6.0, np.array([7.0, 6.0, 7.0, 6.0, 8.0]), before=10.0)
    second = Step(2, (1, 3, 4), np.zeros(5), 5.0, np.array([5.9, nan, 5.9, nan, 5.0]), before=6.0)
    return PathResult(UNIT, HeldSteps((first, second)), {}, 1.0)


def context(position: int) -> ChoiceContext:
    return ChoiceContext(path(), position, DROP, NAMES, "λ", groups=GROUPS)


def test_a_group_has_one_row_and_one_rank():
    found = candidate_map(path(), DROP, GROUPS)
    assert found is not None
    assert [GROUPS.names[column] for column in found.features] == ["B", "e", "A"]
    assert found.n_features == 3
    assert found.n_candidates.tolist() == [3, 2]
    assert found.ranks[:, 0].tolist() == [1, 3, 2]
    assert found.taken.tolist() == [[True, False], [False, True], [False, False]]


def test_the_margin_is_to_the_next_group():
    found = margins(GROUPS.path(path()), DROP)
    assert {GROUPS.names[column]: GROUPS.names[lead.rival] for column, lead in found.items()} == {
        "B": "A",
        "e": "A",
    }
    assert found[1].share == 0.25


def test_sentences_count_and_name_groups():
    taken = explain(context(1), 3)
    assert taken.title == "Why it was selected at step 1"
    assert taken.sentences == (
        "All 2 features of B are taken or left together.",
        "Lowered the error per document by 4, ahead of A (3) by 25 %.",
    )
    left = explain(context(1), 2)
    assert left.title == "Why it is not in the model with k = 2"
    assert left.sentences[2] == "It came closest at step 1: 2nd of 3, 25 % behind the selected B."
    assert explain(context(1), 4).sentences[1] == "At step 1 it was 3rd of 3."


def test_another_path_has_a_group_where_it_has_its_features():
    whole = [Alternative("1", path()), Alternative("2", path())]
    found = explain(ChoiceContext(path(), 0, DROP, NAMES, "λ", whole, whole, GROUPS), 3)
    assert found.sentences[-1] == "It is among the first 1 on every path of the run."


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
