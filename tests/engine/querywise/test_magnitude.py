"""Which magnitudes pass, and how the refusal of the others reads."""

import numpy as np
import pytest

from rankstudio.engine.errors import DatasetError
from rankstudio.engine.querywise.magnitude import GREATEST, LEAST_DIFFERENCE, check_rows

ONE_QUERY = np.array([0, 2])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([0.0, 2e30], "values from -1e+30 to 1e+30, found values from 0 to 2e+30"),
        ([-1.7e308, 1.7e308], "values from -1e+30 to 1e+30, found values from -1.7e+308 to 1.7e+308"),
        (
            [0.0, 1e-31],
            "differences of at least 1e-30 inside some query, or none at all, found",
        ),
    ],
)
def test_the_first_feature_beyond_is_named_with_what_was_expected_and_found(
    column: list[float], expected: str
) -> None:
    X = np.column_stack(([0.0, 1.0], column, [0.0, 9e99]))
    with pytest.raises(DatasetError) as refusal:
        check_rows(X, ONE_QUERY, lambda j: f"feature {j + 1}")
    assert str(refusal.value).startswith(f"Values of feature 2: expected {expected}")
    assert str(refusal.value).endswith("Scale the feature.")


def test_what_counts_is_the_difference_inside_the_query_where_it_is_greatest() -> None:
    ptr = np.array([0, 2, 4])
    check_rows(np.array([[0.0], [1e-40], [0.0], [1.0]]), ptr)
    with pytest.raises(DatasetError, match="column 0"):
        check_rows(np.array([[0.0], [1e-40], [1.0], [1.0]]), ptr)


def test_bounds_and_constant_features_pass() -> None:
    check_rows(np.array([[GREATEST, 1e-200, 0.0], [-GREATEST, 1e-200, LEAST_DIFFERENCE]]), ONE_QUERY)
