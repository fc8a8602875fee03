"""CSV as people have it, odd text as Python's own reader has it, and a sentence for what is none."""

from __future__ import annotations

import csv
import io
import shlex
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.formats import csv_text
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.formats.part_reader import part_of, read_files, read_to_disk
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.table import Table
from rankstudio.engine.data.table_builder import Treatment
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.engine.data.tabular.recognition import clean_name
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    DatasetError,
    MissingValueError,
)
from rankstudio.engine.support.name_lists import split_names


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
        'the column "query" is not numeric and was left out.',
        "the documents of 1 query are not contiguous (query 007 appears again on line 5). They were grouped, "
        "in document order.",
    ]


def test_common_names_are_known_with_blanks_and_nameless_columns_by_their_place(
    tmp_path: Path,
) -> None:
    data = read(tmp_path, ",Query ID,relevance-label,,x,\n0,7,1,5,2,\n1,7,0,6,3,\n")
    assert data.query_ids == ("7",) and data.y.tolist() == [1, 0]
    assert data.feature_names == ("column 4", "x") and data.X.tolist() == [
        [5, 2],
        [6, 3],
    ]


def test_a_table_is_known_by_its_header_whatever_its_name(tmp_path: Path) -> None:
    assert read(tmp_path, "qid\tlabel\tx\n1\t0\t5\n", "train.txt").X.tolist() == [[5]]
    assert read(
        tmp_path, "a,b,x\n1,0,5\n", "train.dat", qid="a", label="b"
    ).X.tolist() == [[5]]


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
        ("qid,label\n1,2\n", {}, "found only query and label columns"),
        (
            'qid,label,x\n1,2,"1,784.70"\n',
            {},
            "expected a number with a decimal point and without commas",
        ),
        ('qid,label,x\n1,2,"a,b"\n', {}, 'expected a number (ignore the column "x"'),
        (
            "qid,label,x,label\n1,2,3,2\n",
            {},
            'found two columns named "label", expected one',
        ),
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
        (
            "qid,label,x\n1,,3\n",
            {},
            'found nothing in column "label", expected a number as the relevance label',
        ),
        ("qid,label,x\n1,inf,3\n", {}, 'line 2: found inf in column "label"'),
        ("qid,label,x\n1,1,1e999\n", {}, 'line 2: found inf in column "x"'),
        ("qid,label,x\n1,1,1_000\n", {}, 'line 2: found "1_000" in column "x"'),
        ("qid,label,x\n1,1,١\n", {}, 'line 2: found "١" in column "x"'),
        (
            "qid,label,x\n,1,1\n",
            {},
            'line 2: found nothing in column "qid", expected the id of a query.',
        ),
        (
            "qid;label;x;y\n1;1;0,5;1.5\n",
            {},
            'line 2: found "0,5" in column "x", expected a number with a decimal point',
        ),
        (
            "qid,label,x\n1,1,\0\n",
            {},
            "found binary data (a zero byte), expected text.",
        ),
        (b"\xff\xfeq\0i\0d\0", {}, "found text in UTF-16, expected UTF-8"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    tmp_path: Path, text: str | bytes, told: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, text, **told)
    assert sentence in str(error.value) and str(tmp_path / "some.csv") in str(
        error.value
    )


@pytest.mark.parametrize("name", ["some.xlsx", "some.txt", "some.csv"])
@pytest.mark.parametrize(
    "begin", [b"PK\3\4\x14\0\6\0", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]
)
def test_a_workbook_is_refused_whatever_its_name(
    tmp_path: Path, begin: bytes, name: str
) -> None:
    with pytest.raises(DataError, match="Save the sheet as CSV"):
        read(tmp_path, begin + b"rest", name)


def test_text_that_is_named_as_a_workbook_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, "qid\tlabel\tx\n1\t0\t5\n", "some.xls").X.tolist() == [[5]]


def test_parts_need_the_same_columns(tmp_path: Path) -> None:
    from rankstudio.engine.data.folders import open_dataset  # noqa: PLC0415

    (tmp_path / "train.csv").write_text("qid,label,x,z\n1,0,1,2\n")
    (tmp_path / "test.csv").write_text("qid,label,z,x\n1,0,1,2\n")
    with pytest.raises(DatasetError, match=naming("test.csv z train.csv x")):
        open_dataset(tmp_path)
    (tmp_path / "test.csv").write_text("qid,label,x,z\n1,0,1,2\n")
    data = open_dataset(tmp_path)
    read_as = data.origin.read_as
    assert (read_as.format, read_as.qid, read_as.label) == (
        "csv",
        "qid",
        "label",
    )
    again = open_dataset(tmp_path)  # from the cache
    assert again.origin.read_as == read_as and again.feature_names == ("x", "z")


DELIMITERS = ",;|\t"
ODD = st.text(alphabet='ab"\n\r ,;|\tß', max_size=6)
NAMES = st.builds(lambda first, rest: first + rest, st.sampled_from("cdef"), ODD)


@dataclass(frozen=True)
class CsvFile:
    """A file, and what it is told of: the first column has the query, the second one the label."""

    content: bytes
    delimiter: str
    names: tuple[str, ...]

    @property
    def told(self) -> DataColumns:
        """Which columns are query and label; the last one is a text."""
        return DataColumns(
            clean_name(self.names[0]), clean_name(self.names[1]), ignore=("note",)
        )

    def documents(self) -> list[list[str]]:
        """Return the cells of each document by Python's reader; a line of blanks is none."""
        text = self.content.decode("utf-8-sig")
        rows = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            skipinitialspace=True,
        )
        return [row for row in rows if len(row) > 1][1:]


@st.composite
def csv_files(draw: st.DrawFn) -> CsvFile:
    """Draw a file with breaks, quotation marks, separators and blanks in its header and its cells."""
    delimiter = draw(st.sampled_from(DELIMITERS))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    names = (
        *draw(st.lists(NAMES, min_size=3, max_size=5, unique_by=clean_name)),
        "note",
    )
    blank = st.sampled_from(["", "", "", end, end + end, " " + end])

    def cell(value: str) -> str:
        needs = any(c in value for c in '"\r\n' + DELIMITERS) or value != value.strip()
        if needs or draw(st.booleans()):
            value = '"' + value.replace('"', '""') + '"'
        return draw(st.sampled_from(["", "", " "])) + value

    def number() -> str:
        return draw(st.sampled_from(["0", "1", "-2.5", "1e3", " 4 ", "7"]))

    rows = [names]
    for _ in range(draw(st.integers(1, 12))):
        query, label = (
            draw(st.sampled_from(["7", "q 8", "09"])),
            draw(st.sampled_from("0123")),
        )
        rows.append((query, label, *(number() for _ in names[3:]), draw(ODD)))
    text = draw(blank) + "".join(
        delimiter.join(map(cell, row)) + end + draw(blank) for row in rows
    )
    if draw(st.booleans()):
        text = text.removesuffix(end)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return CsvFile((mark + text).encode(), delimiter, names)


def read_file(file: CsvFile, *, on_disk: bool, chunk: int) -> Table:
    """Read a file, so many characters at a time, into memory or as one larger than the memory budget."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_CACHE_DIR", str(Path(folder) / "cache"))
        patch.setattr(csv_text, "CHUNK", chunk)
        path = Path(folder) / "some.csv"
        path.write_bytes(file.content)
        if on_disk:
            part = part_of((path,), format_of_key("csv"), file.told, refuse=False)
            return read_to_disk(part, ReadProgress(), Treatment("zero", False)).table
        return read_files(
            (path,), ReadProgress(), file.told, refuse=False, cache=False
        ).table


def hold(file: CsvFile, table: Table) -> None:
    """Hold what was read against Python's reader: counts, queries, labels, sums and every value."""
    rows = file.documents()
    ids = list(dict.fromkeys(row[0].strip() for row in rows))
    assert len(table.y) == len(rows) and list(table.query_ids) == ids
    by_query = sorted(rows, key=lambda row: ids.index(row[0].strip()))
    values: Floats = np.array([[float(cell) for cell in row[1:-1]] for row in by_query])
    assert np.asarray(table.y).tolist() == values[:, 0].tolist()
    assert np.diff(table.query_ptr).tolist() == [
        sum(row[0].strip() == name for row in rows) for name in ids
    ]
    assert table.X.sum() == pytest.approx(values[:, 1:].sum())
    assert np.asarray(table.X).tolist() == values[:, 1:].tolist()
    assert table.feature_names == tuple(map(clean_name, file.names[2:-1]))


def of(text: str) -> CsvFile:
    """Return a file with commas, four columns, and the names that its header has."""
    names = next(
        row for row in csv.reader(io.StringIO(text, newline="")) if len(row) > 1
    )
    return CsvFile(text.encode(), ",", tuple(names))


BREAK_IN_HEADER = of('c,d,"e\ne\ne",note\n1,1,1,\n1,0,2,\n2,1,3,\n2,0,4,\n')
CARRIAGE_RETURNS = of('\rc,d,e,note\r1,1,1,\r1,0,"2",\r2,1,3,\r2,0,4,\r')
SEPARATORS_IN_HEADER = of('c,d,"e;;;;;;",note\n1,1,1,\n1,0,2,\n')
MARK_IN_CELL = of('c,d,e,note\n1,1,1,12" pipe\n1,0,2,"a\nb"\n2,1,3,\n2,0,4,""\n')


@pytest.mark.parametrize(
    ("on_disk", "chunk"), [(False, 1 << 20), (False, 30), (True, 30)]
)
@given(file=csv_files())
@example(file=BREAK_IN_HEADER)
@example(file=CARRIAGE_RETURNS)
@example(file=SEPARATORS_IN_HEADER)
@example(file=MARK_IN_CELL)
def test_every_document_is_read(on_disk: bool, chunk: int, file: CsvFile) -> None:
    hold(file, read_file(file, on_disk=on_disk, chunk=chunk))


def test_the_preview_shows_the_documents_below_a_header_of_several_lines(
    tmp_path: Path,
) -> None:
    (tmp_path / "some.csv").write_bytes(BREAK_IN_HEADER.content)
    preview = preview_table(tmp_path / "some.csv")
    assert preview.names == ("c", "d", "e e e", "note")
    assert [row[2] for row in preview.rows] == ["1", "2", "3", "4"]


def test_a_header_longer_than_what_is_looked_at_first(tmp_path: Path) -> None:
    names = [f"a feature with a very long name {i:06d}" for i in range(2000)]
    rows = [["qid", "label", *names], ["1", "2", *map(str, range(2000))]]
    (tmp_path / "some.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    data = load_data(tmp_path / "some.csv", cache=False)
    assert data.feature_names == tuple(names) and data.X.tolist() == [list(range(2000))]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@given(values=st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=20))
def test_decimal_commas_are_the_numbers_that_decimal_points_are(
    tmp_path_factory: pytest.TempPathFactory, delimiter: str, values: list[Decimal]
) -> None:
    folder = tmp_path_factory.mktemp("decimal")
    rows = [f"1{delimiter}1{delimiter}{value:f}" for value in values]
    points = read(folder, "\n".join([delimiter.join(("qid", "label", "x")), *rows]))
    commas = read(
        folder,
        "\n".join([delimiter.join(("qid", "label", "x")), *rows]).replace(".", ","),
    )
    assert (
        commas.X.tolist() == points.X.tolist() == [[float(value)] for value in values]
    )
    assert len(commas.warnings) == len(points.warnings) + 1


def test_a_table_without_a_header_may_have_decimal_commas(tmp_path: Path) -> None:
    data = read(tmp_path, "2;10;0,5\n0;10;0,25\n", qid="column 2")
    assert data.X.tolist() == [[0.5], [0.25]] and data.y.tolist() == [2.0, 0.0]


def test_thousands_are_no_decimals(tmp_path: Path) -> None:
    with pytest.raises(ColumnValueError):
        read(tmp_path, "qid;label;x\n1;2;1,234\n1;0;12,500\n")


def test_all_columns_that_are_no_numbers_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ColumnValueError) as caught:
        read(tmp_path, 'qid,label,a,b,"c,d"\n1,1,n.v.,1,x\n1,0,2,2,y\n')
    assert caught.value.text_columns == ("a", "c,d") and caught.value.cell == "n.v."
    words = shlex.split(caught.value.terminal_text)
    assert split_names(words[words.index("--ignore") + 1]) == ["a", "c,d"]
    assert words[words.index("--missing-text") + 1] == "n.v."
    data = read(
        tmp_path, "qid,label,a,b\n1,1,n.v.,1\n1,0,2,2\n", missing_texts=["n.v."]
    )
    assert data.feature_names == ("a", "b") and data.X[1].tolist() == [2.0, 2.0]


def test_columns_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    text = "qid,label,tf,tf,tf (2)\n1,1,3,4,5\n"
    assert read(tmp_path, text).feature_names == ("tf", "tf (column 4)", "tf (2)")
    assert read(tmp_path, text, ignore=["tf"]).feature_names == ("tf (2)",)
    assert read(tmp_path, text, features=["tf (column 4)"]).X.tolist() == [[4.0]]


def test_the_document_id_may_have_any_name(tmp_path: Path) -> None:
    data = read(
        tmp_path,
        "qid,label,url,docid,x\n1,1,a.org,7,2\n1,0,b.org,8,3\n",
        document="url",
    )
    assert data.document_ids == ("a.org", "b.org") and data.feature_names == (
        "docid",
        "x",
    )
