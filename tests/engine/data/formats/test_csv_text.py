"""CSV as people have it: delimiters, headers, quotes, and a sentence for what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from wording import naming

from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.errors import DataError, DatasetError, MissingValueError


def read(folder: Path, text: str | bytes, name: str = "some.csv", **told: Any) -> Any:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_data(path, columns=told, cache=False)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(tmp_path: Path, delimiter: str, end: str) -> None:
    rows = (["srch_id", "tf idf", "rel"], ["7", "0.1", "2"], ["8", "1e-3", "0"])
    data = read(tmp_path, end.join(delimiter.join(row) for row in rows) + end)
    assert data.query_ids == ("7", "8") and data.feature_names == ("tf idf",)
    assert data.X.tolist() == [[0.1], [1e-3]] and data.y.tolist() == [2, 0]


def test_what_people_have_in_such_files(tmp_path: Path) -> None:
    text = (
        '\ufeff,"query", qid ,label,"a ""b""",docno,flag,x\n'
        '0,"cheap, flights", 007 ,1,NULL,D-1,True,"2.5"\n'
        "\n"
        "1,x,008,0, 3 ,D-2,False,-0\n"
        "2,x,007,2,nan,D-3,True,+4e2\n"
    )
    data = read(tmp_path, text)
    assert data.query_ids == ("007", "008")
    assert data.feature_names == ('a "b"', "flag", "x")
    assert data.X.tolist() == [[0, 1, 2.5], [0, 1, 400], [3, 0, 0]]
    assert data.document_ids == ("D-1", "D-3", "D-2")
    assert data.missing.tolist() == [2, 0, 0]
    assert [w.partition(": ")[2] for w in data.warnings] == [
        'the column "without a name" is not numeric and was left out.',
        'the column "query" is not numeric and was left out.',
        "the documents of 1 query are not contiguous (query 007 appears again on line 5). They were grouped, "
        "in document order.",
    ]


def test_a_table_is_known_by_its_header_whatever_its_name(tmp_path: Path) -> None:
    assert read(tmp_path, "qid\tlabel\tx\n1\t0\t5\n", "train.txt").X.tolist() == [[5]]
    assert read(tmp_path, "a,b,x\n1,0,5\n", "train.dat", qid="a", label="b").X.tolist() == [[5]]


def test_without_a_header_columns_are_counted(tmp_path: Path) -> None:
    data = read(tmp_path, "2,10,0.5\n0,10,0.25\n", qid="column 2")
    assert data.y.tolist() == [2, 0] and data.feature_names == ("feature 1",)
    assert data.X.tolist() == [[0.5], [0.25]] and data.query_ids == ("10",)


def test_missing_values_can_be_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("qid,label,x,z\n1,0,1,1\n\n1,0,1,NA\n")
    with pytest.raises(MissingValueError, match=naming("some.csv 4 z")):
        load_data(path, missing="refuse")


@pytest.mark.parametrize(
    ("text", "told", "sentence"),
    [
        ("", {}, "found an empty file, expected a header and one line per document."),
        ("qid,label,x\n", {}, "found no rows, expected at least one document."),
        (
            "a,label,x\n1,2,3\n",
            {},
            'found no column for the query among "a", "label", "x"',
        ),
        ("qid,b,x\n1,2,3\n", {}, 'found no column for the label among "qid", "b", "x"'),
        ("qid,label\n1,2\n", {}, "found no feature column"),
        ("qid,label,x,x\n1,2,3,4\n", {}, 'found two columns named "x", expected each name once'),
        (
            "qid,label,x\n1,2,3\n",
            {"qid": "quid"},
            'qid: no column "quid"; expected one of "qid", "label"',
        ),
        ("qid,label,x\n1,2,3\n", {"ignore": ["y"]}, 'ignore: no column "y"'),
        (
            "qid,label,x\n1,2,3\n1,2\n",
            {},
            "line 3: found 2 cells, expected 3",
        ),
        ("qid,label,x\n1,2,3,4\n", {}, "line 2: found 4 cells, expected 3"),
        ('qid,label,x\n"1",2,3\n1,2,3,4\n', {}, "line 3: found 4 cells, expected 3"),
        (
            "qid,label,x\n1,2,http\n",
            {},
            'line 2: found "http" in column "x", expected a number',
        ),
        ("qid,label,x\n1,,3\n", {}, 'line 2: found nothing in column "label", expected a relevance label'),
        ("qid,label,x\n1,inf,3\n", {}, 'line 2: found inf in column "label"'),
        ("qid,label,x\n1,1,1e999\n", {}, 'line 2: found inf in column "x"'),
        ("qid,label,x\n1,1,1_000\n", {}, 'line 2: found "1_000" in column "x"'),
        ("qid,label,x\n1,1,١\n", {}, 'line 2: found "١" in column "x"'),
        ("qid,label,x\n,1,1\n", {}, 'line 2: found nothing in column "qid", expected the id of a query.'),
        ("qid;label;x\n1;1;0,5\n", {}, 'line 2: found "0,5" in column "x"'),
        ("qid,label,x\n1,1,\0\n", {}, "found binary data (a zero byte), expected text."),
        (b"\xff\xfeq\0i\0d\0", {}, "found text in UTF-16, expected text in UTF-8 or ASCII"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    tmp_path: Path, text: str | bytes, told: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, text, **told)
    assert sentence in str(error.value) and str(tmp_path / "some.csv") in str(error.value)


def test_parts_need_the_same_columns(tmp_path: Path) -> None:
    from rankstudio.engine.data.folders import open_dataset  # noqa: PLC0415

    (tmp_path / "train.csv").write_text("qid,label,x,z\n1,0,1,2\n")
    (tmp_path / "test.csv").write_text("qid,label,z,x\n1,0,1,2\n")
    with pytest.raises(DatasetError, match=naming("test.csv z train.csv x")):
        open_dataset(tmp_path)
    (tmp_path / "test.csv").write_text("qid,label,x,z\n1,0,1,2\n")
    data = open_dataset(tmp_path)
    assert (data.read_as.format, data.read_as.qid, data.read_as.label) == ("csv", "qid", "label")
    again = open_dataset(tmp_path)  # from the cache
    assert again.read_as == data.read_as and again.feature_names == ("x", "z")
