from experiment.runs import fold, result

from rankstudio.ui.results.run_columns import side_columns, side_rows


def runs(*columns):
    return {
        key: result([fold(i, [value]) for i, value in enumerate(column, 1)])
        for key, column in enumerate(columns, 1)
    }


def test_the_best_of_each_row_is_bold_unless_all_are_equal():
    made = runs([0.4, 0.5, 0.6], [0.4, 0.7, 0.5])
    rows = side_rows(made, "MAP")
    _, first, second, _ = side_columns(made, "MAP")
    assert [(first.bold(row), second.bold(row)) for row in rows] == [
        (False, False),
        (False, True),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert [first.text(row) for row in rows] == ["0.4000", "0.5000", "0.6000", "0.5000", "0.1000"]


def test_of_an_error_the_least_is_best():
    made = runs([0.4, 0.5], [0.3, 0.6])
    for run in made.values():
        for one in run.folds:
            one.test["Disagreement"] = one.test["MAP"]
    assert [row.best for row in side_rows(made, "Disagreement")][:2] == [0.3, 0.5]
    assert side_rows({}, "MAP") == []
