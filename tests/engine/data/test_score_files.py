"""Files of scores."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.data.given_scores import read_score_file
from rankstudio.engine.errors import FileAccessError, FormatError


@given(
    st.lists(st.floats(allow_nan=False), min_size=1),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_every_number_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    numbers: list[float],
    line_end: str,
    end: str,
) -> None:
    path = tmp_path_factory.mktemp("scores") / "scores.txt"
    path.write_bytes((line_end.join(repr(x) for x in numbers) + end).encode())
    assert read_score_file(path).values.tolist() == numbers


def test_forms_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    path.write_bytes(b"\xef\xbb\xbf 1\n-2.5e-3 \n+3\ninf\n.5\n")
    assert read_score_file(path).values.tolist() == [1.0, -0.0025, 3.0, np.inf, 0.5]


def test_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.gz"
    path.write_bytes(gzip.compress(b"1\n2\n"))
    assert read_score_file(path).values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("1\n2 3\n", 2, "'2 3'"),
        ("1\n\n3\n", 2, "nothing"),
        ("1\nnan\n", 2, "'nan'"),
        ("1_000\n", 1, "'1_000'"),
        ("0 qid:1 1:0.5\n", 1, "'0 qid:1 1:0.5'"),
        ("", 1, "nothing"),
        ("x" * 50, 1, "'" + "x" * 40 + "…'"),
        ("1\n\xff\xfe", 2, "'ÿþ'"),
    ],
)
def test_the_first_line_that_is_no_score_is_named(
    tmp_path: Path, text: str, line: int, found: str
) -> None:
    path = tmp_path / "scores.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_score_file(path)
    assert (caught.value.line, caught.value.found) == (line, found)
    assert str(caught.value).startswith(f"{path}, line {line}: found ")


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="folder"):
        read_score_file(tmp_path)
    with pytest.raises(FileAccessError, match="none"):
        read_score_file(tmp_path / "none")
