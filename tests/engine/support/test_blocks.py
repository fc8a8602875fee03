"""Work in blocks is the work at once, and no call sees more than a block."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from rankstudio.engine.support import blocks
from rankstudio.engine.support.blocks import group_blocks, solve_lower


@pytest.mark.parametrize("sizes", [(3,), (1, 1, 1, 1), (2, 7, 1, 1, 5, 3), (40, 1, 40)])
@pytest.mark.parametrize("width", [1, 4, 1000])
def test_blocks_are_whole_groups_one_after_the_other(
    sizes: tuple[int, ...], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "VALUES", 16)
    ptr = np.append(0, np.cumsum(sizes))
    found = list(group_blocks(ptr, width))
    assert [first for first, _ in found] == [0, *(last for _, last in found[:-1])]
    assert found[-1][1] == len(sizes)
    assert all(first < last for first, last in found), (
        "a last group of more than a block is no second one"
    )
    rows = max(1, 16 // width)
    assert all(ptr[last - 1] - ptr[first] < rows for first, last in found)


def test_a_triangle_is_solved_for_some_columns_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    factor, right = np.tril(rng.random((9, 9))) + 3 * np.eye(9), rng.random((50, 9)).T
    whole = scipy.linalg.solve_triangular(factor, right, lower=True)
    widths: list[int] = []
    own = scipy.linalg.solve_triangular

    def noted(left: np.ndarray, part: np.ndarray, **how: bool) -> np.ndarray:
        widths.append(part.shape[1])
        return own(left, part, **how)

    monkeypatch.setattr(scipy.linalg, "solve_triangular", noted)
    monkeypatch.setattr(blocks, "_MAX_PRODUCTS", 1)
    solved = solve_lower(factor, right)
    np.testing.assert_allclose(solved, whole, rtol=1e-13)
    assert widths == [16, 16, 16, 2]
    assert solved.flags.f_contiguous
