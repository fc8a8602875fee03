"""Files of preferences: by number and by id; whole arrays say what a simple reader says, row by row."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.data.source_file import quoted, read_text
from rankstudio.engine.errors import DatasetError, FileAccessError, FormatError
from rankstudio.plugins.preferences.preference_files import (
    columns_of_bytes,
    holds_preferences,
    read_preference_file,
    read_preferences,
)


def make(comments: bool = False) -> RankingDataset:
    """Two queries of three and two documents."""
    told = (
        ["docid = A", "docid = B", "docid = 1", "docid = A", "docid = A"]
        if comments
        else None
    )
    return RankingDataset.from_arrays(
        np.eye(5), np.arange(5), [7, 7, 7, 8, 8], comments=told
    )


def written(folder: Path, text: str) -> Path:
    path = folder / "some.csv"
    path.write_text(text, encoding="utf-8")
    return path


def values(preferences: Preferences) -> list[tuple[float, ...]]:
    columns = (
        preferences.winner,
        preferences.loser,
        preferences.magnitude,
        preferences.weight,
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "qid,winner,loser,magnitude,weight\n7,1,3\n8,2,1,0.5\n7,2,1,,3\n",
        "7,1,3,1,1\r\n\r\n8,2,1,0.5,1\r\n7,02,1,1,3\r\n",
        "\ufeffQID;Winner;Loser\n7;1;3\n8;2;1;0.5\n7;2;1;1;3",
        '7\t"1"\t3\n8\t2\t1\t5e-1\n7\t 2 \t1\t1.0\t3.0\n',
    ],
)
def test_documents_are_numbered_within_their_query(tmp_path: Path, text: str) -> None:
    expected = [(0, 2, 1.0, 1.0), (4, 3, 0.5, 1.0), (1, 0, 1.0, 3.0)]
    assert values(read_preferences(written(tmp_path, text), make())) == expected


def test_an_id_comes_before_a_number(tmp_path: Path) -> None:
    path = written(tmp_path, "7,A,B\n7,1,2\n7,3,A\n")
    assert values(read_preferences(path, make(comments=True))) == [
        (0, 1, 1.0, 1.0),
        (2, 1, 1.0, 1.0),
        (2, 0, 1.0, 1.0),
    ]


def test_queries_of_other_parts_are_passed_over(tmp_path: Path) -> None:
    file = read_preference_file(written(tmp_path, "9,1,2\n7,1,2\n"))
    assert file.queries == {"7", "9"}
    assert len(file.checksum) == 64
    assert values(file.of_part(make(), elsewhere={"9"})) == [(0, 1, 1.0, 1.0)]
    with pytest.raises(FormatError, match=naming("1 9 7 query data")):
        file.of_part(make())
    other = read_preference_file(written(tmp_path, "9,1,2\n"))
    with pytest.raises(DatasetError, match=naming("preference documents")):
        other.of_part(make(), elsewhere={"9"})


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("7,1\n", 1, "7,1 qid,winner,loser"),
        ("7,1,2\n7,1,2,1,1,1\n", 2, "7,1,2,1,1,1 qid,winner,loser"),
        ("7,,2\n", 1, "7,,2 qid,winner,loser"),
        ('7,1,"2\n', 1, "qid,winner,loser"),
        ("qid,winner,loser\n7,4,2\n", 2, "4 7 document query"),
        ("7,1,0\n", 1, "0 7 1 3"),
        ("7,1,X\n", 1, "X 7 1 3"),
        ("7,2,2\n", 1, "2 document"),
        ("7,1,2,0\n", 1, "0 1e-30 1e+30"),
        ("7,1,2,1,-1\n", 1, "-1 0"),
        ("7,1,2,many\n", 1, "many"),
        ("7,1,2,nan\n", 1, "nan"),
    ],
)
def test_a_line_that_says_nothing_is_named(
    tmp_path: Path, text: str, line: int, sentence: str
) -> None:
    with pytest.raises(FormatError) as refused:
        read_preferences(written(tmp_path, text), make())
    assert refused.value.line == line
    assert naming(sentence).search(str(refused.value))


def test_an_id_of_several_documents_names_none(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=naming("A id unique")):
        read_preferences(written(tmp_path, "8,A,2\n"), make(comments=True))


@pytest.mark.parametrize("text", ["", "\n\n", "qid,winner,loser\n"])
def test_a_file_without_preferences_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DatasetError, match=naming("qid,winner,loser")):
        read_preferences(written(tmp_path, text), make())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"nothing\.csv"):
        read_preferences(tmp_path / "nothing.csv", make())


def test_a_table_is_known_by_its_header(tmp_path: Path) -> None:
    for name, text, known in (
        ("a.csv", "qid,winner,loser\n1,2,3\n", True),
        ("b.tsv", "\n QID\twinner\tloser\tmagnitude\n", True),
        ("c.csv", '\ufeff"qid";"winner";"loser";"odd"\n', True),
        ("d.csv", "qid,label,loser\n", False),
        ("e.csv", "", False),
        ("f.txt", "qid,winner,loser\n", False),
    ):
        path = tmp_path / name
        path.write_text(text)
        assert holds_preferences(path) == known, name
    packed = tmp_path / "g.csv.gz"
    packed.write_bytes(gzip.compress(b"qid,winner,loser\n1,2,3\n"))
    assert holds_preferences(packed)
    (tmp_path / "h.csv").mkdir()
    assert not holds_preferences(tmp_path / "h.csv") and not holds_preferences(
        tmp_path / "none.csv"
    )


EXPECTED = "qid,winner,loser and optionally magnitude,weight"
DATA = RankingDataset.from_arrays(
    np.eye(8),
    np.arange(8),
    ["7", "7", "7", "8", "8", "8", "longer-than-8", "longer-than-8"],
    comments=[
        f"docid = {name}" if name else ""
        for name in ("A", "B", "1", "A", "A", "", "GX008-86-4444840", "B")
    ],
)
Row = tuple[int, int, float, float]

names = st.sampled_from(["7", "8", "longer-than-8", "9", "elsewhere"])
documents = st.sampled_from(
    ["1", "2", "3", "02", "A", "B", "GX008-86-4444840", "X", "", "0", "4", "1" * 10]
)
numbers = st.sampled_from(
    ["", "1", "0.5", "2e3", "1_0", "0", "nan", "-1", "1e31", "inf", " 3 ", "x"]
)
blanks = st.sampled_from(["", "", "", " ", "\t", "  "])


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line, most of them a preference."""
    kind = draw(st.integers(0, 30))
    if kind == 0:
        return draw(
            st.sampled_from(
                [
                    "",
                    "  ",
                    "\t",
                    "7,1",
                    "7,1,2,1,1,1",
                    '"7",1,2',
                    "'7,1,2",
                    "ü,1,2",
                    "\x0c",
                ]
            )
        )
    good = kind > 4
    query = draw(st.sampled_from(["7", "8"]) if good else names)
    pair = (
        ["1", "2"]
        if good and draw(st.booleans())
        else [draw(documents), draw(documents)]
    )
    sizes = draw(
        st.lists(
            st.sampled_from(["1", "0.25", "", "3"]) if good else numbers, max_size=2
        )
    )
    return ",".join(
        draw(blanks) + cell + draw(blanks) for cell in (query, *pair, *sizes)
    )


@st.composite
def files(draw: st.DrawFn) -> str:
    """A text of such lines."""
    found = draw(st.lists(lines(), max_size=12))
    header = draw(
        st.sampled_from(
            [[], [], ["qid,winner,loser"], ["QID, winner ,loser,magnitude,weight"]]
        )
    )
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    delimiter = draw(st.sampled_from([",", ",", ";", "\t"]))
    text = end.join([*draw(st.sampled_from([[], [""]])), *header, *found])
    return (
        draw(st.sampled_from(["", "\ufeff"]))
        + text.replace(",", delimiter)
        + draw(st.sampled_from(["", end]))
    )


def simply_read(
    path: Path, text: str, data: RankingDataset, elsewhere: set[str]
) -> list[Row] | str:
    """Read a file line by line, as the documentation says it; what is wrong with it as a sentence."""

    def wrong(place: int, found: str, expected: str) -> str:
        return str(FormatError(path, place, 0, quoted(found), expected))

    text = text.removeprefix("\ufeff").rstrip()
    filled = [
        (n, line)
        for n, line in enumerate(
            text.splitlines() if "\r" in text else text.split("\n"), 1
        )
    ]
    filled = [(n, line) for n, line in filled if line.strip()]
    delimiter = max(",;\t", key=filled[0][1].count) if filled else ","
    cells = [
        (n, line, [cell.strip() for cell in line.split(delimiter)])
        for n, line in filled
    ]
    columns = ["qid", "winner", "loser", "magnitude", "weight"]
    if (
        cells
        and len(cells[0][2]) >= 3
        and [c.lower() for c in cells[0][2]] == columns[: len(cells[0][2])]
    ):
        del cells[0]
    if not cells:
        return f"{path}: found no preference; expected on each line {EXPECTED}."
    sizes = []
    for n, line, (*found,) in cells:
        if not 3 <= len(found) <= 5 or "" in found[:3]:
            return wrong(n, line, EXPECTED)
        sizes.append([1.0, 1.0])
        for at, cell in enumerate(found[3:]):
            try:
                sizes[-1][at] = float(cell.replace("_", "x")) if cell else 1.0
            except ValueError:
                sizes[-1][at] = np.nan
            if not 1e-30 <= sizes[-1][at] <= 1e30:
                return wrong(
                    n, cell, f"a {columns[3 + at]} greater than 0, from 1e-30 to 1e+30"
                )
    rows: list[Row] = []
    for (n, _, found), numbers_ in zip(cells, sizes, strict=True):
        if found[0] not in data.query_ids:
            if found[0] in elsewhere:
                continue
            return wrong(n, found[0], "a query of the data, such as '7'")
        q = data.query_ids.index(found[0])
        first, last = data.query_ptr[q : q + 2]
        ids = data.document_ids[first:last]
        numbers = {document: number for number, document in enumerate(ids, start=1)}
        pair = []
        for name in found[1:3]:
            if Counter(ids)[name] > 1:
                return wrong(n, name, "an id that is unique within the query")
            number = int(name) if len(name) < 10 and name.isdigit() else 0
            number = numbers.get(name, number)
            if not 1 <= number <= last - first:
                most = f"its id, or a number from 1 to {last - first}"
                return wrong(n, name, f"a document of query {found[0]!r}: {most}")
            pair.append(int(first) + number - 1)
        if pair[0] == pair[1]:
            return wrong(n, found[2], "a document other than the winner")
        rows.append((*pair, *numbers_))
    return (
        rows
        or f"{path}: found no preference between documents of the data; expected at least one."
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(), st.booleans())
@example("7,1,2,1,1,", True)
@example("7\t1\t2\t\t\t\t", True)
@example("8,3,1\n7,1,2\r\n", True)
@example("\n\n qid,winner,loser\n7,1,2", False)
def test_arrays_say_what_a_simple_reader_says(
    tmp_path: Path, text: str, passed: bool
) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(text.encode())
    elsewhere = {"9", "elsewhere"} if passed else set[str]()
    try:
        found = read_preference_file(path).of_part(DATA, elsewhere)
    except (DatasetError, FormatError) as error:
        outcome: list[Row] | str = str(error)
    else:
        columns = found.winner, found.loser, found.magnitude, found.weight
        outcome = list(zip(*(column.tolist() for column in columns), strict=True))
    if not set("\"'\x0c").intersection(text):  # quoting is csv's, and told of elsewhere
        assert outcome == simply_read(path, text, DATA, elsewhere)


@pytest.mark.parametrize(
    ("text", "by_arrays"),
    [
        ("7,1,2\n8,2,1\n", True),
        ("qid,winner,loser\r\n7,1,GX008-86-4444840\r\n", True),
        ("7;1;2;0.5;3\n\n \n8;1;2;;2", True),
        ("7,1," + "x" * 128, True),
        ("7,1," + "x" * 129, False),
        ('"7",1,2\n', False),
        ("7,1,\u00fc\n", False),
        ("7,1,2\r7,2,1\n", False),
        ("7,1,2\n7,2\n", False),
        ("7,1,2,0\n", False),
        ("", False),
    ],
)
def test_plain_files_are_read_by_arrays(
    tmp_path: Path, text: str, by_arrays: bool
) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(text.encode())
    assert (columns_of_bytes(read_text(path).content) is not None) is by_arrays
