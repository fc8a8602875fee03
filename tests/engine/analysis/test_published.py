"""What was printed of a method, beside what a run of it gives."""

from __future__ import annotations

import pytest
from experiment.runs import fold, result

from rankstudio.engine.analysis.published import published_rows

FIVE = [fold(i, [0.47, 0.48]) for i in range(1, 6)]


def test_printed_averages_stand_beside_ours() -> None:
    run = result(FIVE, "MQ2008", parameters={"pinned": (2,)})
    [row] = published_rows([(3, run)])
    assert (row.key, row.measure, row.printed.value) == (3, "MAP", 0.472)
    assert row.ours == pytest.approx(0.475)
    assert row.difference == pytest.approx(0.003)
    assert row.printed.source == "Pahikkala et al. 2010, Tables 7-10"
    assert row.set == "pinned b", "what is not the method as it was printed is said"


def test_other_data_and_fewer_folds_have_none() -> None:
    assert published_rows([(1, result(FIVE, "Mine")), (2, result(FIVE[:2], "MQ2008"))]) == []
