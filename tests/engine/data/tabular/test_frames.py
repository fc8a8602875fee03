"""Datasets of frames of pandas and polars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DatasetError, ParameterError

polars = pytest.importorskip("polars")

COLUMNS = {
    "srch_id": [7, 7, 9, 9],
    "tf": [0.1, 0.2, 0.3, 1 / 3],
    "clicks": [1, 2, 3, 4],
    "grade": [0, 2, 1, 0],
    "doc_id": ["a", "b", "c", "d e"],
}


@pytest.fixture(params=[pd.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
def make(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_columns_are_recognised_by_their_names(make: Any) -> None:
    data = RankingDataset.from_frame(make(COLUMNS))
    assert data.query_ids == ("7", "9") and data.query_ptr.tolist() == [0, 2, 4]
    assert data.y.tolist() == [0, 2, 1, 0]
    assert data.feature_names == ("tf", "clicks") and data.feature_ids.tolist() == [
        1,
        2,
    ]
    assert data.X.tolist() == [[0.1, 1], [0.2, 2], [0.3, 3], [1 / 3, 4]]
    # what a comment of LETOR's would give
    assert data.document_ids == ("a", "b", "c", "d")
    assert not data.X.flags.writeable and data.warnings == ()


def test_columns_are_as_they_are_told(make: Any) -> None:
    data = RankingDataset.from_frame(
        make({**COLUMNS, "qid": [1, 1, 2, 3]}),
        qid="srch_id",
        label="clicks",
        features=["grade", "tf"],
    )
    assert data.feature_names == ("grade", "tf")
    assert data.y.tolist() == [1, 2, 3, 4] and data.query_ids == ("7", "9")
    assert data.X[:, 0].tolist() == [0, 2, 1, 0]


def test_a_dataset_comes_back_from_its_frame(make: Any) -> None:
    data = make_ranking(n_queries=10, seed=0).folds[0].train
    frame = data.to_frame()
    again = RankingDataset.from_frame(
        make({name: frame[name].to_numpy() for name in frame.columns})
    )
    assert (again.X == data.X).all() and (again.y == data.y).all()
    assert (
        again.query_ids == data.query_ids and again.feature_names == data.feature_names
    )


def test_queries_that_do_not_stand_together_are_put_together(make: Any) -> None:
    frame = make(
        {"qid": ["b", "a", "b", "a"], "label": [1, 2, 3, 4], "x": [10, 20, 30, 40]}
    )
    data = RankingDataset.from_frame(frame)
    assert data.query_ids == ("b", "a") and data.y.tolist() == [1, 3, 2, 4]
    assert data.file_rows is not None and data.file_rows.tolist() == [0, 2, 1, 3]
    assert data.warnings == (
        "The frame: the documents of 2 queries are not contiguous (query b appears again on row 3). "
        "They were grouped, in document order.",
    )


def test_missing_values_become_what_is_asked_for(make: Any) -> None:
    frame = make(
        {
            "qid": [1, 1, 2],
            "label": [1, 0, 1],
            "x": [None, 3, None],
            "z": [1.5, float("nan"), 2.5],
        }
    )
    data = RankingDataset.from_frame(frame)
    assert data.X.tolist() == [[3, 1.5], [3, 1.5], [0, 2.5]]
    assert data.missing.tolist() == [2, 1]
    assert RankingDataset.from_frame(frame, missing="zero").X.tolist() == [
        [0, 1.5],
        [3, 0],
        [0, 2.5],
    ]
    with pytest.raises(DatasetError, match=naming("1 x column value")):
        RankingDataset.from_frame(frame, missing="refuse")


def test_query_ids_keep_their_text(make: Any) -> None:
    frame = make({"qid": ["007", "cheap flights"], "label": [1, 0], "x": [1, 2]})
    assert RankingDataset.from_frame(frame).query_ids == ("007", "cheap flights")


def test_an_integer_beside_a_missing_one_is_an_integer_still() -> None:
    frame = pd.DataFrame(
        {"qid": [7.0, 8.0], "label": [1, 0], "x": pd.array([1, None], dtype="Int64")}
    )
    data = RankingDataset.from_frame(frame)
    assert data.query_ids == ("7", "8") and data.missing.tolist() == [1]


@pytest.mark.parametrize(
    ("change", "told", "sentence"),
    [
        ({}, {"qid": "querry"}, "qid querry srch_id"),
        ({}, {"qid": "srch_idd"}, "srch_id"),
        ({"grade": [0, None, 1, 0]}, {}, "2 grade"),
        ({"tf": ["a", "b", "c", "d"]}, {}, "1 a tf"),
        ({"tf": ["1", "2", "3", "4"]}, {}, "1 tf"),
        ({"tf": [1.0, float("inf"), 2.0, 3.0]}, {}, "2 inf tf"),
        ({"srch_id": [None, "a", "b", "c"]}, {}, "1 srch_id"),
        ({}, {"label": "srch_id"}, "srch_id"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    make: Any, change: dict[str, Any], told: dict[str, str], sentence: str
) -> None:
    with pytest.raises(DatasetError) as error:
        RankingDataset.from_frame(make({**COLUMNS, **change}), **told)
    assert naming(sentence).search(str(error.value))


def test_without_a_query_column_the_sentence_says_how_to_name_one(make: Any) -> None:
    with pytest.raises(DatasetError, match=naming("a label qid")):
        RankingDataset.from_frame(make({"a": [1], "label": [1]}))


def test_columns_of_one_name_are_kept_apart_and_ignored_together() -> None:
    frame = pd.DataFrame(np.ones((2, 4)), columns=["qid", "label", "x", "x"])
    assert RankingDataset.from_frame(frame).feature_names == ("x", "x (column 4)")
    with pytest.raises(DatasetError, match=naming("label columns")):
        RankingDataset.from_frame(
            frame.set_axis(["qid", "label", "x", "label"], axis=1)
        )
    assert RankingDataset.from_frame(frame.assign(z=1), ignore=["x"]).feature_names == (
        "z",
    )


def test_the_number_of_the_row_and_text_of_another_name_are_no_features() -> None:
    frame = pd.DataFrame(
        {"": [0, 1], "qid": [1, 1], "query": ["a", "a"], "label": [0, 1], "x": [1, 2]}
    )
    data = RankingDataset.from_frame(frame)
    assert data.feature_names == ("x",)
    assert data.warnings == (
        'The frame: the column "query" is not numeric and was left out.',
    )


@pytest.mark.parametrize("frame", [3, [[1.0]], {"qid": [1]}, np.ones((2, 2))])
def test_what_is_no_frame_is_refused(frame: Any) -> None:
    with pytest.raises(ParameterError, match=naming("pandas polars")):
        RankingDataset.from_frame(frame)


def test_a_frame_without_rows_is_refused(make: Any) -> None:
    empty = make(pd.DataFrame({"qid": [1], "label": [0], "x": [0.5]}))[:0]
    with pytest.raises(DatasetError, match="no rows"):
        RankingDataset.from_frame(empty)


def test_columns_of_part_and_fold_make_folds(make: Any) -> None:
    folds = make_ranking(n_queries=20, seed=0).folds[:2]
    rows = [
        part.to_frame().assign(split=name.replace("vali", "Valid"), round=fold.number)
        for fold in folds
        for name, part in fold.parts.items()
    ]
    frame = pd.concat(rows).sample(frac=1.0, random_state=1)
    order = frame.sort_values(["round", "qid"], kind="stable")
    data = FoldedDataset.from_frame(
        make({name: order[name].to_numpy() for name in order.columns}),
        part="split",
        fold="round",
        name="Mine",
    )
    assert data.name == "Mine" and [fold.number for fold in data.folds] == [1, 2]
    for fold, expected in zip(data.folds, folds, strict=True):
        for name, part in expected.parts.items():
            found = fold.parts[name]
            assert found.feature_names == part.feature_names and sorted(
                found.query_ids
            ) == sorted(part.query_ids)
            assert np.sort(found.X[:, 0]).tolist() == np.sort(part.X[:, 0]).tolist()
    one = order[order["round"] == 1].drop(columns="round")
    assert (
        len(
            FoldedDataset.from_frame(
                make({n: one[n].to_numpy() for n in one.columns}), part="split"
            ).folds
        )
        == 1
    )


@pytest.mark.parametrize(
    ("parts", "told", "sentence"),
    [
        (["train", "holdout"], {"part": "split"}, "holdout split"),
        (["vali", "test"], {"part": "split"}, "1 training fold"),
        (["train", "test"], {"part": "part"}, "part qid"),
    ],
)
def test_parts_that_are_none_are_told(
    make: Any, parts: list[str], told: dict[str, str], sentence: str
) -> None:
    frame = make({"qid": [1, 2], "label": [0, 1], "x": [1.0, 2.0], "split": parts})
    with pytest.raises(DatasetError) as error:
        FoldedDataset.from_frame(frame, **told)
    assert naming(sentence).search(str(error.value))
