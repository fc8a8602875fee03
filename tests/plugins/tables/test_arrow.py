"""Parquet and Arrow files read some rows at a time are what they are read whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data.same_data import assert_same_part
from wording import naming

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.engine.errors import (
    ColumnValueError,
    DatasetError,
    FileAccessError,
    MissingValueError,
)
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.memory import within
from rankstudio.plugins.tables import arrow

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")


@pytest.fixture(autouse=True)
def _few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(arrow, "ROWS", 4)


def columns(seed: int = 0, rows: int = 40, queries: int = 6) -> dict[str, list[object]]:
    """Documents of queries that do not stand together, some of whose values are missing."""
    rng = np.random.default_rng(seed)
    numbers = [None if value < 0.2 else value for value in rng.random(rows).tolist()]
    return {
        "qid": rng.integers(0, queries, rows).tolist(),
        "label": rng.integers(0, 3, rows).tolist(),
        "docno": [f"D{i}" for i in range(rows)],
        "a": numbers,
        "b": rng.integers(0, 9, rows).tolist(),
    }


def write(path: Path, table: object, group: int = 7) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=group)
    else:
        feather.write_feather(table, path, chunksize=group, compression="uncompressed")
    return path


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
@pytest.mark.parametrize("missing", ["query_min", "zero"])
def test_rows_that_are_scattered_and_missing(
    tmp_path: Path, ending: str, missing: str
) -> None:
    path = write(tmp_path / f"data{ending}", pa.table(columns()))
    whole = open_dataset(path, missing=missing).folds[0].train  # type: ignore[arg-type]
    with within(3000):
        mapped = open_dataset(path, missing=missing).folds[0].train  # type: ignore[arg-type]
    assert in_file(mapped.X) and not in_file(whole.X)
    assert whole.file_rows is not None
    assert_same_part(mapped, whole)
    assert mapped.warnings[: len(whole.warnings)] == whole.warnings
    with within(3000), pytest.raises(MissingValueError) as found:
        open_dataset(path, missing="refuse")
    with pytest.raises(MissingValueError) as expected:
        open_dataset(path, missing="refuse")
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("budget", [1e9, 3000])
def test_features_as_one_list_of_fixed_size(tmp_path: Path, budget: float) -> None:
    numbers = np.arange(60.0)
    features = pa.FixedSizeListArray.from_arrays(pa.array(numbers), 3)
    table = pa.table(
        {
            "qid": [i // 4 for i in range(20)],
            "label": [i % 2 for i in range(20)],
            "x": features,
        }
    )
    path = write(tmp_path / "data.parquet", table)
    with within(budget):
        train = open_dataset(path).folds[0].train
    assert in_file(train.X) == (budget < 1e9)
    assert train.X.tolist() == numbers.reshape(20, 3).tolist()
    assert train.feature_names == ("feature 1", "feature 2", "feature 3")


def test_a_text_where_a_number_is_expected_names_its_row(tmp_path: Path) -> None:
    values = columns()
    path = write(
        tmp_path / "data.parquet", pa.table({**values, "label": ["1"] * 39 + ["x"]})
    )
    with pytest.raises(ColumnValueError) as expected:
        open_dataset(path)
    assert "row 1" in str(expected.value)
    with within(3000), pytest.raises(ColumnValueError) as found:
        open_dataset(path)
    assert str(found.value) == str(expected.value)
    labels = [1.0] * 39 + [float("inf")]
    path = write(tmp_path / "other.parquet", pa.table({**values, "label": labels}))
    with within(3000), pytest.raises(ColumnValueError, match="row 40"):
        open_dataset(path)


def test_other_columns_in_another_file_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "train-1.parquet", pa.table(columns()))
    other = columns()
    write(tmp_path / "train-2.parquet", pa.table({**other, "c": other.pop("b")}))
    with pytest.raises(DatasetError, match=naming("train-2.parquet 1")):
        open_dataset(tmp_path)


def test_a_column_of_parts_is_refused_where_the_file_is_too_large(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "data.parquet",
        pa.table({**columns(), "split": ["train", "test"] * 20}),
    )
    with within(3000), pytest.raises(DatasetError, match=naming("part file")):
        open_dataset(path)
    with within(3000):
        assert (
            open_dataset(path, columns=DataColumns(ignore=("split",)))
            .folds[0]
            .train.n_features
            == 2
        )


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "data.parquet", pa.table(columns()))
    content = bytearray(path.read_bytes())
    content[30:60] = bytes(30)
    path.write_bytes(content)
    with within(3000), pytest.raises(FileAccessError, match=naming("Parquet Arrow")):
        open_dataset(path)


def test_no_rows_are_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "data.parquet", pa.table({k: v[:0] for k, v in columns().items()})
    )
    with within(10), pytest.raises(DatasetError, match="found no rows"):
        open_dataset(path)


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_the_preview_reads_the_first_rows_alone(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / f"data{ending}", pa.table(columns(rows=4000)))
    read: list[int] = []
    batches = arrow._ArrowFile.batches

    def counted(file: arrow._ArrowFile):  # type: ignore[no-untyped-def]
        for batch in batches(file):
            read.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(arrow._ArrowFile, "batches", counted)
    monkeypatch.setattr(arrow, "ROWS", 100)
    preview = preview_table(path)
    assert preview.names == ("qid", "label", "docno", "a", "b")
    assert [row[2] for row in preview.rows] == ["D0", "D1", "D2", "D3", "D4", "D5"]
    assert sum(read) <= 100
