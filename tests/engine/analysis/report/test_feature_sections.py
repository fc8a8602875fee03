"""What a report says of how close a choice was."""

from __future__ import annotations

import pytest

from rankstudio.engine.analysis.features.candidate_map import Margin
from rankstudio.engine.analysis.report.feature_sections import _margin_text
from rankstudio.engine.methods.catalog.method import CandidateScore, ScoreSource


@pytest.mark.parametrize(
    ("own", "rival", "expected"),
    [
        (-0.2, -0.4, "none lowered the error"),
        (0.2, -0.4, "no other lowered the error"),
        (-0.2, 0.4, "two would have lowered the error"),
        (0.4, 0.2, "50 % ahead of two (fold 3)"),
    ],
)
def test_a_lead_is_told_only_of_candidates_that_lower_the_criterion(
    own: float, rival: float, expected: str
) -> None:
    score = CandidateScore("drop in error", "", ScoreSource.CRITERION)
    margin = Margin(4, 0, own, 1, rival, 0.5)
    assert _margin_text(score, margin, ("one", "two"), 3 if "fold" in expected else 0) == expected
