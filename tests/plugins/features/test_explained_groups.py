"""Why a group was selected: the sentences count and name groups."""

from __future__ import annotations

import numpy as np
from candidate_paths import DROP, UNIT

from rankstudio.engine.analysis.features.candidate_map import (
    CandidateGroups,
)
from rankstudio.engine.data.feature_groups import checked_groups
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.steps import Step
from rankstudio.plugins.features.choice_explanation import (
    Alternative,
    ChoiceContext,
    explain,
)

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


def context(position: int) -> ChoiceContext:
    return ChoiceContext(path(), position, DROP, NAMES, "λ", groups=GROUPS)


def test_sentences_count_and_name_groups():
    taken = explain(context(1), 3)
    assert taken.title == "Why it was selected at step 1"
    assert taken.sentences == (
        "All 2 features of B are taken or left together.",
        "Lowered the error per document by 4. The next candidate, A (3), was 25 % behind.",
    )
    left = explain(context(1), 2)
    assert left.title == "Why it is not in the model with k = 2"
    assert (
        left.sentences[2] == "Closest at step 1: 2nd of 3, 25 % behind the selected B."
    )
    assert explain(context(1), 4).sentences[1] == "At step 1 it was 3rd of 3."


def test_another_path_has_a_group_where_it_has_its_features():
    whole = [Alternative("1", path()), Alternative("2", path())]
    found = explain(ChoiceContext(path(), 0, DROP, NAMES, "λ", whole, whole, GROUPS), 3)
    assert found.sentences[-1] == "Every path of the run starts with it."
