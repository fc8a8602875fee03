"""A column of a table that says of each document in which part it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine import RankingDataset, open_dataset
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.errors import DataError

ROWS = """\
qid,label,split,tf,idf
1,2,train,0.5,1
2,1,test,0.25,2
1,0,Training,,3
3,0,dev,1,4
2,0,test,0.75,5
4,1,train,2,6
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clicks.csv"
    path.write_text(ROWS)
    return path


def test_one_file_opens_as_the_parts_that_its_column_names(file: Path) -> None:
    data = open_dataset(file)
    assert [fold.number for fold in data.folds] == [1] and list(
        data.folds[0].parts
    ) == [
        "train",
        "vali",
        "test",
    ]
    assert data.origin.read_as.part == "split" and data.feature_names == ("tf", "idf")
    train, vali, test = data.folds[0].parts.values()
    assert train.query_ids == ("1", "4") and train.y.tolist() == [2, 0, 1]
    assert train.X.tolist() == [
        [0.5, 1],
        [0.5, 3],
        [2, 6],
    ] and train.missing.tolist() == [1, 0]
    assert vali.X.tolist() == [[1, 4]] and test.X.tolist() == [[0.25, 2], [0.75, 5]]
    assert test.missing.tolist() == [0, 0]
    assert sum("not contiguous" in warning for warning in data.warnings) == 1


def test_the_cache_keeps_the_parts(file: Path) -> None:
    first, again = open_dataset(file), open_dataset(file)
    for name, part in first.folds[0].parts.items():
        np.testing.assert_array_equal(again.folds[0].parts[name].X, part.X)


def test_scores_a_line_go_to_the_documents_in_the_order_of_the_file(file: Path) -> None:
    test = open_dataset(file).folds[0].test
    assert (
        test is not None
        and test.file_rows is not None
        and test.file_rows.tolist() == [0, 1]
    )


def test_a_column_may_be_told_and_left_out(file: Path) -> None:
    file.write_text(ROWS.replace("split", "when"))
    assert open_dataset(file, columns={"part": "when"}).folds[0].test is not None
    with pytest.raises(DataError, match=naming("train when")):
        open_dataset(file)
    file.write_text(ROWS)
    data = open_dataset(file, columns={"ignore": ["split"]})
    assert (
        list(data.folds[0].parts) == ["train"] and data.folds[0].train.n_documents == 6
    )


def test_numbers_in_a_column_of_such_a_name_are_a_feature(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("qid,label,set,tf\n1,2,3,0.5\n1,0,4,1\n")
    data = open_dataset(tmp_path / "a.csv")
    assert data.feature_names == ("set", "tf") and data.origin.read_as.part == ""


def test_one_part_of_a_file_alone_is_all_of_it(file: Path) -> None:
    one = load_data(file)
    assert one.n_documents == 6 and one.feature_names == ("tf", "idf")
    assert naming("split").search("".join(one.warnings))


@pytest.mark.parametrize(
    ("content", "told", "sentence"),
    [
        (
            ROWS.replace("dev", "holdout"),
            {"part": "split"},
            r'line 5.*"holdout" in column "split", expected train',
        ),
        (
            ROWS.replace("train", "test").replace("Training", "test"),
            {},
            "expected documents of the training part, too",
        ),
        (ROWS, {"part": "label"}, '"label" is used twice'),
        (ROWS, {"part": "split", "ignore": ["split"]}, "each column"),
        (ROWS, {"part": "sport"}, 'part: no column "sport".*Did you mean'),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, content: str, told: dict[str, object], sentence: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(Exception, match=sentence):
        open_dataset(path, columns=told)


def test_files_of_a_folder_may_name_parts_too(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text(
        "qid,label,split,tf\n1,2,train,0.5\n2,0,vali,1\n"
    )
    (tmp_path / "test.csv").write_text("qid,label,tf\n7,2,0.25\n")
    assert list(open_dataset(tmp_path).folds[0].parts) == ["train", "vali", "test"]
    (tmp_path / "test.csv").write_text("qid,label,split,tf\n7,2,vali,0.25\n")
    with pytest.raises(DataError, match=naming("test.csv")):
        open_dataset(tmp_path)


def test_a_query_in_several_parts_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "qid,label,split,tf\n1,2,train,0.5\n1,0,test,1\n2,0,test,1\n"
    )
    data = open_dataset(tmp_path / "a.csv")
    assert naming("1 query documents").search("".join(data.warnings))
    assert data.folds[0].test is not None and data.folds[0].test.query_ids == ("1", "2")


@pytest.mark.parametrize("kind", ["object", "category", "polars"])
def test_parquet_and_frames_have_the_same_parts(
    tmp_path: Path, file: Path, kind: str
) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(file)
    path = tmp_path / "a.parquet"
    if kind == "polars":
        polars = pytest.importorskip("polars")
        polars.from_pandas(frame).with_columns(
            polars.col("split").cast(polars.Categorical)
        ).write_parquet(path)
    else:
        frame.astype({"split": kind}).to_parquet(path)
    expected = FoldedDataset.from_frame(frame, part="split")
    for data in (open_dataset(path), open_dataset(file)):
        for name, part in expected.folds[0].parts.items():
            np.testing.assert_array_equal(data.folds[0].parts[name].X, part.X)
            assert data.folds[0].parts[name].query_ids == part.query_ids
    assert RankingDataset.from_frame(frame).n_documents == 6


DOCUMENT = st.tuples(
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from(("train", "vali", "test")),
    st.integers(-9, 9),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(DOCUMENT, min_size=1, max_size=25))
def test_every_part_is_what_a_file_with_its_rows_alone_is(
    rows: list[tuple[int, int, str, int]], tmp_path: Path
) -> None:
    rows = [*rows, (0, 1, "train", 5)]
    whole = tmp_path / "whole.csv"
    whole.write_text(
        "qid,label,split,tf\n"
        + "".join(f"{q},{y},{part},{x}\n" for q, y, part, x in rows)
    )
    found = open_dataset(whole, cache=False).folds[0].parts
    assert set(found) == {part for _, _, part, _ in rows}
    for name, part in found.items():
        alone = tmp_path / "alone.csv"
        own = [(q, y, x) for q, y, kind, x in rows if kind == name]
        alone.write_text(
            "qid,label,tf\n" + "".join(f"{q},{y},{x}\n" for q, y, x in own)
        )
        expected = load_data(alone, cache=False)
        # queries stand in the order in which they first appear in the whole file
        values = {
            q: part.X[part.query_ptr[i] : part.query_ptr[i + 1]]
            for i, q in enumerate(part.query_ids)
        }
        assert set(values) == set(expected.query_ids) and len(part.query_ids) == len(
            values
        )
        for i, query in enumerate(expected.query_ids):
            rows_of = slice(expected.query_ptr[i], expected.query_ptr[i + 1])
            np.testing.assert_array_equal(values[query], expected.X[rows_of])
        if part.file_rows is not None:
            scores = np.array([x for *_, x in own])[part.file_rows]
            np.testing.assert_array_equal(scores, part.X[:, 0])
