"""Files of preferences: documents by number and by id, and errors with their line."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences.csv_file import (
    holds_preferences,
    read_preference_file,
    read_preferences,
)
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import DatasetError, FileAccessError, FormatError


def make(comments: bool = False) -> RankingDataset:
    """Two queries of three and two documents."""
    told = ["docid = A", "docid = B", "docid = 1", "docid = A", "docid = A"] if comments else None
    return RankingDataset.from_arrays(np.eye(5), np.arange(5), [7, 7, 7, 8, 8], comments=told)


def written(folder: Path, text: str) -> Path:
    path = folder / "some.csv"
    path.write_text(text, encoding="utf-8")
    return path


def values(preferences: Preferences) -> list[tuple[float, ...]]:
    columns = preferences.winner, preferences.loser, preferences.magnitude, preferences.weight
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
def test_a_line_that_says_nothing_is_named(tmp_path: Path, text: str, line: int, sentence: str) -> None:
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
    assert not holds_preferences(tmp_path / "h.csv") and not holds_preferences(tmp_path / "none.csv")
