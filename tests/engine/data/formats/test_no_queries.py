"""Files whose documents are one ranking: read by any format, whatever in them looks like a query."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from wording import naming

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.errors import (
    DataError,
    FormatError,
    ParameterError,
    UnknownColumnsError,
)
from rankstudio.engine.support import memory

ONE = {"no_queries": True}
PLAIN = "1 1:0.5 3:2\n0 2:1 # a comment\n\n2 1:3\n"
WITH_QUERIES = "1 qid:7 1:0.5 3:2\n0 qid:8 2:1 # a comment\n\n2 qid:7 1:3\n"
TABLE = "label,a,b,docid\n1,0.5,2,x\n0,1,,y\n2,3,0.25,z\n"
QUERY_TABLE = "qid,label,a,b,docid\n7,1,0.5,2,x\n8,0,1,,y\n7,2,3,0.25,z\n"


def check(data: RankingDataset, X: list[list[float]]) -> None:
    assert data.query_ids == ("1",)
    assert data.query_ptr.tolist() == [0, 3]
    assert data.y.tolist() == [1, 0, 2]
    assert data.X.tolist() == X
    assert not [warning for warning in data.warnings if "contiguous" in warning]


@pytest.mark.parametrize("text", [PLAIN, WITH_QUERIES])
@pytest.mark.parametrize("sizes", [False, True])
def test_text_is_one_ranking(tmp_path: Path, text: str, sizes: bool) -> None:
    (tmp_path / "docs.txt").write_text(text)
    if sizes:
        (tmp_path / "docs.txt.group").write_text("2\n1\n")
    for _ in range(2):  # the second time from the cache
        data = load_data(tmp_path / "docs.txt", columns=ONE)
        check(data, [[0.5, 0, 2], [0, 1, 0], [3, 0, 0]])
        assert list(data.comments) == ["", " a comment", ""]
    dataset = open_dataset(tmp_path / "docs.txt", columns=ONE)
    assert dataset.origin.columns.no_queries
    assert dataset.origin.read_as.qid == ""
    with_queries = load_data(tmp_path / "docs.txt") if sizes or "qid" in text else None
    # the cache keeps both readings apart
    assert with_queries is None or with_queries.n_queries == 2


@pytest.mark.parametrize("text", [TABLE, QUERY_TABLE])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_one_ranking(tmp_path: Path, text: str, suffix: str) -> None:
    path = tmp_path / f"docs.{suffix}"
    (tmp_path / "docs.csv").write_text(text)
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        pd.read_csv(tmp_path / "docs.csv").to_parquet(path)
    data = load_data(path, columns=ONE)
    # a missing value becomes the least of the ranking
    check(data, [[0.5, 2], [1, 0.25], [3, 0.25]])
    assert data.feature_names == ("a", "b")  # an id of queries is none
    assert data.document_ids == ("x", "y", "z")
    frame = pd.read_csv(tmp_path / "docs.csv")
    np.testing.assert_array_equal(
        RankingDataset.from_frame(frame, no_queries=True).X, data.X
    )


def test_a_large_file_is_one_ranking_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    for name, lines in (
        (
            "docs.txt",
            [f"{i % 3} 1:{rng.random():.3f} 2:{rng.random():.3f}" for i in range(4000)],
        ),
        (
            "docs.csv",
            [
                "y,a,b",
                *(
                    f"{i % 3},{rng.random():.3f},{rng.random():.3f}"
                    for i in range(4000)
                ),
            ],
        ),
    ):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        whole = load_data(tmp_path / name, columns=ONE)
        with monkeypatch.context() as patch:
            patch.setattr(
                "rankstudio.engine.data.formats.part_reader.exceeds_budget",
                lambda *_: True,
            )
            mapped = load_data(tmp_path / name, columns=ONE)
        assert mapped.from_disk
        assert mapped.query_ids == whole.query_ids == ("1",)
        np.testing.assert_array_equal(mapped.X, whole.X)
        np.testing.assert_array_equal(mapped.y, whole.y)
    assert memory.available() > 0


def test_parts_named_by_a_column_are_parts_of_the_ranking(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_text("label,split,a\n1,train,3\n0,test,2\n2,train,1\n")
    dataset = open_dataset(path, columns=ONE)
    fold = dataset.folds[0]
    assert fold.train.y.tolist() == [1, 2]
    assert fold.test.y.tolist() == [0]
    assert fold.train.query_ids == fold.test.query_ids == ("1",)
    assert not [
        warning for warning in dataset.warnings if "more than one part" in warning
    ]


def test_what_to_do_is_told_where_no_query_is_found(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text(TABLE)
    (tmp_path / "docs.txt").write_text(PLAIN)
    with pytest.raises(UnknownColumnsError, match=naming("no-queries")):
        load_data(tmp_path / "docs.csv")
    with pytest.raises(FormatError, match=naming("docs.txt 1")):
        load_data(tmp_path / "docs.txt")


def test_a_query_column_and_no_queries_contradict_each_other() -> None:
    with pytest.raises(ParameterError, match=naming("no_queries qid")):
        DataColumns.of({"qid": "qid", "no_queries": True})
    with pytest.raises(ParameterError):
        DataColumns.of({"no_queries": "yes"})
    assert DataColumns.of({"no_queries": False}).as_dict() == {}
    assert DataColumns.of(ONE).as_dict() == ONE


def test_text_that_is_no_document_is_still_refused(tmp_path: Path) -> None:
    (tmp_path / "docs.txt").write_text("1 1:0.5\n0 2:x\n")
    with pytest.raises(DataError, match=naming("docs.txt 2")):
        load_data(tmp_path / "docs.txt", columns=ONE)
