"""CSV files read some lines at a time are what they are read whole, errors too."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from data.same_data import assert_same_part
from wording import naming

from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import csv_text
from rankstudio.engine.errors import DataError, DatasetError, FormatError
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.memory import within


@pytest.fixture(autouse=True)
def _small_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(csv_text, "CHUNK", 60)
    monkeypatch.setattr("rankstudio.engine.data.source_file._PIECE_BYTES", 50)


def lines(seed: int = 0, rows: int = 60, delimiter: str = ",") -> list[str]:
    """Documents of queries that do not stand together, some of whose values are missing, and a blank line."""
    rng = np.random.default_rng(seed)
    found = [delimiter.join(("docno", "qid", "label", "a", "b", "note"))]
    for row in range(rows):
        a = "" if rng.random() < 0.2 else repr(rng.standard_normal())
        note = ("plain", '"in, quotes"', '"on two\nlines"', '"a ""word"""')[row % 4]
        cells = (
            f"D{row}",
            f"q {rng.integers(0, 6)}",
            str(rng.integers(0, 3)),
            a,
            repr(rng.random()),
            note,
        )
        found.append(delimiter.join(cells))
    return [*found[:9], "", *found[9:]]


COLUMNS = {"ignore": ["note"]}


@pytest.mark.parametrize("missing", ["query_min", "zero"])
@pytest.mark.parametrize(
    ("name", "delimiter"), [("data.csv", ","), ("data.tsv.gz", "\t"), ("data.csv", ";")]
)
def test_lines_that_are_scattered_quoted_and_missing(
    tmp_path: Path, name: str, delimiter: str, missing: str
) -> None:
    content = ("\ufeff" + "\r\n".join(lines(delimiter=delimiter))).encode()
    (tmp_path / name).write_bytes(
        gzip.compress(content) if name.endswith("gz") else content
    )
    whole = open_dataset(tmp_path / name, missing=missing, columns=COLUMNS)  # type: ignore[arg-type]
    with within(2900):
        mapped = open_dataset(tmp_path / name, missing=missing, columns=COLUMNS)  # type: ignore[arg-type]
        again = open_dataset(tmp_path / name, missing=missing, columns=COLUMNS)  # type: ignore[arg-type]
    here = whole.folds[0].train
    assert not in_file(here.X)
    for opened in (mapped, again):
        there = opened.folds[0].train
        assert in_file(there.X)
        assert_same_part(there, here)
        assert opened.origin.read_as == whole.origin.read_as
        assert set(whole.warnings) < set(opened.warnings)


def test_lines_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(
        "".join(f"{i // 5},{i % 2},{i}.5,{-i}\n" for i in range(40))
    )
    told = {"qid": "column 1", "label": "column 2"}
    whole = open_dataset(tmp_path / "data.csv", columns=told).folds[0].train
    with within(2900):
        mapped = open_dataset(tmp_path / "data.csv", columns=told).folds[0].train
    assert in_file(mapped.X)
    assert_same_part(mapped, whole)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (40, "D,q 1,1,2,3"),
        (33, "D,q 1,one,2,3,x"),
        (25, "D,q 1,1,2,three,x"),
        (44, "D,,1,2,3,x"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, place: int, wrong: str
) -> None:
    found = [line.replace("\n", " ") for line in lines()]
    found.insert(place, wrong)
    (tmp_path / "data.csv").write_text("\n".join(found))
    with pytest.raises(DataError) as whole:
        open_dataset(
            tmp_path / "data.csv", columns={"ignore": ["note"], "features": ["a", "b"]}
        )
    with within(2900), pytest.raises(DataError) as mapped:
        open_dataset(
            tmp_path / "data.csv", columns={"ignore": ["note"], "features": ["a", "b"]}
        )
    assert str(mapped.value) == str(whole.value)
    assert f"{place + 1}" in str(mapped.value)


def test_a_column_of_parts_and_other_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(
        "qid,label,a,part\n" + "1,1,1,train\n2,1,1,test\n" * 30
    )
    with within(2900), pytest.raises(DatasetError, match=naming("part")):
        open_dataset(tmp_path / "data.csv")
    (tmp_path / "text.csv").write_text(
        "qid,label,a,b\n" + "1,1,1,1\n" * 30 + "1,1,1,word\n" * 30
    )
    found = (
        r"the features change from row \d+ on|line 32: found \"word\" in column \"b\""
    )
    with within(2900), pytest.raises(DataError, match=found):
        open_dataset(tmp_path / "text.csv")


@pytest.mark.parametrize("rows", [90, 30_000])
def test_a_quotation_mark_that_is_not_closed_is_told(tmp_path: Path, rows: int) -> None:
    (tmp_path / "data.csv").write_text(
        'qid,label,a,note\n1,1,1,"open\n' + "1,1,1,x\n" * rows
    )
    with pytest.raises(FormatError) as whole:
        open_dataset(tmp_path / "data.csv")
    with within(2900), pytest.raises(FormatError) as mapped:
        open_dataset(tmp_path / "data.csv")
    assert str(mapped.value) == str(whole.value) and mapped.value.line > 2


@pytest.mark.parametrize("texts", ["late", "early", "in between"])
def test_a_column_that_is_text_somewhere_is_no_feature_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: str
) -> None:
    """As its name is that of a query it may be left out; that is known where its first text stands."""
    words = {"late": range(50, 60), "early": range(10), "in between": range(20, 40)}[
        texts
    ]
    rows = [
        f"{i // 4},{i % 3},{i}.5,{'word' if i in words else i},{-i}\n"
        for i in range(60)
    ]
    path = tmp_path / "data.csv"
    path.write_text("qid,label,a,topic,b\n" + "".join(rows))
    opened = {}
    for name, chunk, budget in (
        ("whole", 1 << 20, 1e12),
        ("pieces", 60, 1e12),
        ("disk", 60, 2900.0),
    ):
        monkeypatch.setattr(csv_text, "CHUNK", chunk)
        with within(budget):
            opened[name] = open_dataset(path, cache=False).folds[0].train
    whole = opened["whole"]
    assert whole.feature_names == ("a", "b")
    assert [in_file(data.X) for data in opened.values()] == [False, False, True]
    for data in opened.values():
        assert_same_part(data, whole)
        assert data.warnings[0] == whole.warnings[0]


def test_queries_told_by_a_file_of_sizes(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text(
        "label,a\n" + "".join(f"{i % 2},{i}.5\n" for i in range(60))
    )
    (tmp_path / "train.csv.group").write_text("20\n0\n40\n")
    whole = open_dataset(tmp_path / "train.csv").folds[0].train
    with within(500.0):
        mapped = open_dataset(tmp_path / "train.csv").folds[0].train
    assert in_file(mapped.X) and not in_file(whole.X)
    assert whole.query_ids == ("1", "3") and whole.query_ptr.tolist() == [0, 20, 60]
    assert_same_part(mapped, whole)
