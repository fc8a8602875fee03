"""Features as lists: frames of PyTerrier, lists of Arrow, records of JSON, all with the same data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    FormatError,
    UnknownColumnsError,
)

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

X = np.random.default_rng(0).random((12, 3))
ROWS = {
    "qid": [f"q{row // 4}" for row in range(12)],
    "docno": [f"d{row}" for row in range(12)],
    "label": [row % 3 for row in range(12)],
}
NAMES = ("feature 1", "feature 2", "feature 3")


def of_pandas(vectors: Any, folder: Path) -> RankingDataset:
    return RankingDataset.from_frame(
        pd.DataFrame({**ROWS, "features": pd.Series(list(vectors), dtype=object)})
    )


def of_polars(vectors: Any, folder: Path) -> RankingDataset:
    lists = [None if vector is None else list(vector) for vector in vectors]
    return RankingDataset.from_frame(polars.DataFrame({**ROWS, "features": lists}))


def of_arrow(vectors: Any, folder: Path) -> RankingDataset:
    lists = [None if vector is None else list(vector) for vector in vectors]
    path = folder / "documents.parquet"
    parquet.write_table(pyarrow.table({**ROWS, "features": pyarrow.array(lists)}), path)
    return load_data(path)


def of_json(vectors: Any, folder: Path) -> RankingDataset:
    path = folder / "documents.jsonl"
    lists = [None if vector is None else list(vector) for vector in vectors]
    rows = zip(*ROWS.values(), lists, strict=True)
    keys = (*ROWS, "features")
    path.write_text(
        "\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in rows)
    )
    return load_data(path)


EVERY = pytest.mark.parametrize("load", [of_pandas, of_polars, of_arrow, of_json])


@EVERY
def test_each_place_of_the_lists_is_a_feature(load: Any, tmp_path: Path) -> None:
    data = load(X, tmp_path)
    assert data.feature_names == NAMES
    assert (data.X == X).all() and data.y.tolist() == ROWS["label"]
    assert data.query_ids == ("q0", "q1", "q2")


@EVERY
def test_a_document_without_a_list_has_missing_values(
    load: Any, tmp_path: Path
) -> None:
    data = load([*X[:5], None, *X[6:]], tmp_path)
    assert (np.delete(data.X, 5, axis=0) == np.delete(X, 5, axis=0)).all()
    assert np.isfinite(data.X[5]).all()  # filled as other missing values are


@EVERY
def test_lists_of_different_lengths_are_refused_with_the_row(
    load: Any, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        load([*X[:11], X[11, :2]], tmp_path)
    assert "12" in str(caught.value) and "2 values" in str(caught.value)


def test_lists_of_fixed_size_and_arrays_are_read_as_lists(tmp_path: Path) -> None:
    frame = polars.DataFrame({**ROWS, "features": X.tolist()})
    array = frame.with_columns(polars.col("features").list.to_array(3))
    assert (RankingDataset.from_frame(array).X == X).all()
    for kind in (
        pyarrow.list_(pyarrow.float64(), 3),
        pyarrow.large_list(pyarrow.float32()),
    ):
        path = tmp_path / "documents.parquet"
        parquet.write_table(
            pyarrow.table({**ROWS, "v": pyarrow.array(X.tolist(), type=kind)}), path
        )
        assert np.allclose(load_data(path).X, X, rtol=1e-7)
        assert preview_table(path).names[-3:] == NAMES


def test_several_columns_of_lists_keep_their_names(tmp_path: Path) -> None:
    frame = pd.DataFrame({**ROWS, "a": list(X), "bm25": 0.5, "b": list(X[:, :1])})
    data = RankingDataset.from_frame(frame)
    assert data.feature_names == ("a 1", "a 2", "a 3", "bm25", "b 1")


@pytest.mark.parametrize(
    "vector", [["x", 2.0, 3.0], [[1], [2], [3]], [1, 2, float("inf")]]
)
def test_what_is_no_number_in_a_list_is_named(vector: list[Any]) -> None:
    with pytest.raises(DatasetError, match='column "feature'):
        of_pandas([vector] * 12, Path())


def records(folder: Path, text: str, name: str = "documents.json") -> RankingDataset:
    path = folder / name
    path.write_text(text)
    return load_data(path)


def test_records_open_in_lines_in_a_list_and_across_lines(tmp_path: Path) -> None:
    rows = [
        {"query_id": row // 3, "relevance": row % 2, "bm25": row / 7, "tf": row}
        for row in range(9)
    ]
    lines = records(tmp_path, "\n".join(map(json.dumps, rows)))
    listed = records(tmp_path, json.dumps(rows, indent=2))
    assert lines.feature_names == listed.feature_names == ("bm25", "tf")
    assert (lines.X == listed.X).all() and lines.X[:, 0].tolist() == [
        row["bm25"] for row in rows
    ]
    preview = preview_table(tmp_path / "documents.json")
    assert preview.format.key == "records" and preview.names == (
        "query_id",
        "relevance",
        "bm25",
        "tf",
    )
    assert preview.rows[0] == ("0", "0", "0.0", "0")


def test_large_query_ids_stay_apart(tmp_path: Path) -> None:
    """As floats 2^53 and 2^53 + 1 are one number."""
    data = records(
        tmp_path,
        "".join(f'{{"qid": {2**53 + i}, "label": {i}, "x": {i}}}\n' for i in (0, 1)),
    )
    assert data.query_ids == (str(2**53), str(2**53 + 1))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"qid": 1, "label": 1, "x": 1}\n[1, 2]', FormatError),
        ('{"qid": 1, "label": 1, "x": 1}\n{"qid": 1', FormatError),
        (
            '{"qid": 1, "label": 1, "x": 1}\n{"qid": 1, "label": "good", "x": 1}',
            FormatError,
        ),
        (
            '{"qid": 1, "label": 1, "x": 1}\n{"qid": 1, "label": null, "x": 1}',
            FormatError,
        ),
        ('{"qid": 1, "label": 1, "x": 1e999}', FormatError),
        ('{"qid": 1, "label": 1, "x": {"a": 1}}', FormatError),
        (
            '{"qid": 1, "label": 1, "x": [1, 2]}\n{"qid": 1, "label": 1, "x": 3}',
            FormatError,
        ),
        ("{}\n{}", UnknownColumnsError),
        ('{"qid": 1, "label": 1}', UnknownColumnsError),
        ('{"qid": 1, "label": 1, "x": "text"}', DataError),
    ],
)
def test_odd_records_are_refused_with_their_line(
    tmp_path: Path, text: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        records(tmp_path, text)


def test_a_key_that_comes_late_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = ['{"qid": 1, "label": 1, "x": 1}'] * 4096 + [
        '{"qid": 1, "label": 0, "x": 1, "late": 2}'
    ]
    with pytest.raises(FormatError) as caught:
        records(tmp_path, "\n".join(rows))
    assert caught.value.line == 4097 and "late" in str(caught.value)
