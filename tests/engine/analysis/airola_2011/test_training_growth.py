"""Times are there for every size, with the printed ones and their growth beside them."""

from wording import naming

from rankstudio.engine.analysis.airola_2011.training_growth import _exponent, training_growth

PRINTED = {"inputs": [60, 120, 750, 1500], "RankRLS": [1, 2, 3, 24], "RankSVM": [4, 8, 10]}


def test_a_row_a_size_with_what_is_printed() -> None:
    found = training_growth(PRINTED, (60, 90))
    assert [row[0] for row in found.rows] == [60, 90]
    assert [(row[2], row[4]) for row in found.rows] == [(1, 4), (None, None)]
    assert all(row[1] > 0 and row[3] > 0 for row in found.rows)
    assert naming("RankRLS 3.0").search(found.said[1])
    assert found.text_rows()[1][2] == ""


def test_growth_is_the_slope_between_large_sizes() -> None:
    assert _exponent({10: 5.0, 750: 1.0, 1500: 8.0, 3000: 64.0}) == "3.0"
    assert _exponent({750: 1.0}) == "too few sizes"
