"""Datasets in memory, and their way from and to pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.synthetic import make_ranking


def test_a_frame_holds_the_documents_and_comes_back_as_they_were() -> None:
    data = make_ranking(n_queries=10, seed=0).folds[0].train
    frame = data.to_frame()
    assert frame.columns.tolist() == ["qid", "label", *data.feature_names]
    assert (frame["qid"].to_numpy() == data.qid).all()
    assert (frame["label"].to_numpy() == data.y).all()
    assert (frame.iloc[:, 2:].to_numpy() == data.X).all()
    again = RankingDataset.from_arrays(
        frame[list(data.feature_names)], frame["label"], frame["qid"]
    )
    assert (again.X == data.X).all()
    assert again.feature_names == data.feature_names
    assert again.query_ids == data.query_ids


def test_a_frame_is_a_copy() -> None:
    data = RankingDataset.from_arrays([[1.0, 2.0]], [0.0], ["a"])
    frame = data.to_frame()
    frame.loc[0, "feature 1"] = 7.0
    assert data.X.tolist() == [[1.0, 2.0]]
    assert frame["qid"].tolist() == ["a"]


def test_names_that_come_twice_or_are_taken_stay_as_they_are() -> None:
    names = ["qid", "tf", "tf", "label"]
    frame = RankingDataset.from_arrays(
        [[1.0, 2.0, 3.0, 4.0]], [0.5], [7], names
    ).to_frame()
    assert frame.columns.tolist() == ["qid", "label", *names]
    assert frame.iloc[0].tolist() == [7.0, 0.5, 1.0, 2.0, 3.0, 4.0]


def test_columns_of_a_frame_name_the_features_unless_names_are_given() -> None:
    frame = pd.DataFrame({"tf": [1.0, 2.0], 5: [3.0, 4.0]}, index=[9, 4])
    assert RankingDataset.from_arrays(frame, [0, 1]).feature_names == ("tf", "5")
    assert RankingDataset.from_arrays(
        frame, [0, 1], feature_names=["a", "b"]
    ).feature_names == ("a", "b")
    assert RankingDataset.from_arrays(
        frame, pd.Series([0, 1]), pd.Series([2, 1])
    ).query_ids == ("2", "1")


def test_a_column_is_named_by_its_id_and_its_name() -> None:
    data = RankingDataset.from_arrays(
        np.ones((1, 2)), [0], feature_names=["feature 1", "BM25 of title"]
    )
    assert [data.name_of(0), data.name_of(1)] == [
        "feature 1",
        "feature 2 (BM25 of title)",
    ]
