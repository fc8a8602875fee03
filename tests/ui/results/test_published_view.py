import pytest
from experiment.runs import fold, result

from rankstudio.ui.results.published_view import PublishedView, published_rows

FIVE = [fold(i, [0.47, 0.48]) for i in range(1, 6)]


def test_printed_averages_stand_beside_ours():
    run = result(FIVE, "MQ2008", parameters={"pinned": (2,)})
    [row] = published_rows([(3, run)])
    assert (row.key, row.measure, row.printed) == (3, "MAP", 0.472)
    assert row.ours == pytest.approx(0.475)
    assert row.difference == pytest.approx(0.003)
    assert row.source == "Pahikkala et al. 2010, Tables 7-10"
    assert row.set == "pinned b", "what is not the method as it was printed is said"


def test_other_data_and_fewer_folds_have_none(theme, stage):
    assert published_rows([(1, result(FIVE, "Mine")), (2, result(FIVE[:2], "MQ2008"))]) == []
    view = PublishedView(theme)
    stage(view, 900, 240)
    view.show_runs([(1, result(FIVE, "MQ2008"))])
    assert len(view.table.rows()) == 1
    assert "0.472" in view.table.rows_as_csv()
    view.show_runs([])
    assert view.table.rows() == []
    assert view.caption() == ""
