"""Which magnitudes pass, and how the refusal of the others reads."""

import numpy as np
import pytest

from rankstudio.engine.arithmetic import magnitude
from rankstudio.engine.arithmetic.magnitude import GREATEST, LEAST_DIFFERENCE, check_rows
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support import blocks

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


def test_rows_are_read_in_blocks_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy keeps the interpreter while it reduces groups of rows: of 300,000 documents for half a second."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, 60)
    X, ptr = rng.random((sizes.sum(), 3)), np.append(0, np.cumsum(sizes))
    told: list[tuple[np.ndarray, ...]] = []
    monkeypatch.setattr(magnitude, "check_magnitudes", lambda *given: told.append(given[:3]))
    check_rows(X, ptr)
    monkeypatch.setattr(blocks, "VALUES", 30)
    assert len(list(blocks.group_blocks(ptr, 3))) > 10
    check_rows(X, ptr)
    monkeypatch.setattr(blocks, "VALUES", 1)  # less than a row, as of very many features
    check_rows(X, ptr)
    for whole, *cut in zip(*told, strict=True):
        for each in cut:
            np.testing.assert_array_equal(whole, each)
