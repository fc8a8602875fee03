from experiment.runs import fold, result

from rankstudio.ui.compare.published_view import PublishedView

FIVE = [fold(i, [0.47, 0.48]) for i in range(1, 6)]


def test_printed_averages_are_listed(theme, stage):
    view = PublishedView(theme)
    stage(view, 900, 240)
    view.show_runs([(1, result(FIVE, "MQ2008"))])
    assert len(view.table.rows()) == 1
    assert "0.472" in view.table.rows_as_csv()
    view.show_runs([])
    assert view.table.rows() == []
    assert view.caption() == ""
