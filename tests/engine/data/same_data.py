"""What is the same of two parts of datasets, however they were read."""

from __future__ import annotations

from rankstudio.engine.data.dataset import RankingDataset


def assert_same_part(found: RankingDataset, expected: RankingDataset) -> None:
    """Assert that two parts have the same bits, texts and source."""
    for name in ("X", "y", "query_ptr", "missing", "file_rows"):
        here, there = getattr(found, name), getattr(expected, name)
        assert (here is None) == (there is None), name
        assert here is None or (
            here.shape == there.shape and here.tobytes() == there.tobytes()
        ), name
    for name in ("query_ids", "feature_names", "source", "sparse"):
        assert getattr(found, name) == getattr(expected, name), name
    assert list(found.comments) == list(expected.comments)
