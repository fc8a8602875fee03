"""Bad input: the file, the line, the column, what was found, what was expected."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from wording import naming

from rankstudio.engine.data import source_file
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.errors import (
    FileAccessError,
    FormatError,
    MissingValueError,
    ParameterError,
)

GOOD = b"0 qid:1 1:0.5 2:1\n"
# without the time of day, which several processes do not share
PACKED = gzip.compress(GOOD, mtime=0)

CASES = {
    "a label that is a word": (GOOD + b"x qid:1 1:1", 2, 1, '"x"', "relevance label"),
    "a label that is missing": (
        GOOD + b"qid:1 1:1",
        2,
        1,
        '"qid:1"',
        "relevance label",
    ),
    "a label without a value": (b"nan qid:1 1:1", 1, 1, '"nan"', "finite number"),
    "a label too large": (
        b"1e999 qid:1 1:1",
        1,
        1,
        '"1e999"',
        "from -1.8e308 to 1.8e308",
    ),
    "no query": (GOOD + b"1 1:0.5", 2, 3, '"1:0.5"', '"qid:" and its id'),
    "no query and nothing else": (
        b"1",
        1,
        2,
        "the end of the line",
        '"qid:" and its id',
    ),
    "no query but a comment": (
        b"1 # 2",
        1,
        3,
        "the end of the line",
        '"qid:" and its id',
    ),
    "a query without an id": (GOOD + b"1 qid: 1:0.5", 2, 7, "nothing", 'after "qid:"'),
    "a feature without a colon": (b"1 qid:1 1:2 3", 1, 13, '"3"', "feature:value"),
    "a feature without an id": (b"1 qid:1 :2", 1, 9, '":2"', "feature:value"),
    "a negative id": (b"1 qid:1 -1:2", 1, 9, '"-1:2"', "feature:value"),
    "half a line at the end": (
        GOOD + b"1 qid:1 1:0.5 2:",
        2,
        17,
        "nothing",
        "the value of feature 2",
    ),
    "a blank behind the colon": (
        b"1 qid:1 1: 0.5",
        1,
        11,
        "nothing",
        "the value of feature 1",
    ),
    "a word for a number": (
        b"1 qid:1\t12:abc",
        1,
        12,
        '"abc"',
        "the value of feature 12",
    ),
    "two colons": (b"1 qid:1 1:2:3", 1, 11, '"2:3"', "the value of feature 1"),
    "an underscore, which Python would take": (
        b"1 qid:1 1:1_0",
        1,
        11,
        '"1_0"',
        "a number",
    ),
    "infinity by name": (b"1 qid:1 1:inf", 1, 11, '"inf"', "a number"),
    "infinity by size": (
        b"1 qid:1 1:0 2:-1e400",
        1,
        15,
        '"-1e400"',
        "from -1.8e308 to 1.8e308",
    ),
    "feature 0": (b"1 qid:1 0:2", 1, 9, '"0:2"', "at least 1"),
    "a repeated feature": (
        b"1 qid:1 1:2 1:2",
        1,
        13,
        "feature 1 again",
        "at most once in a line",
    ),
    "a feature repeated later": (
        b"1 qid:1 7:2 3:1 7:5",
        1,
        17,
        "feature 7 again",
        "at most once",
    ),
    "an enormous id": (
        b"1 qid:1 2147483648:2",
        1,
        9,
        '"2147483648:2"',
        "at most 2147483647",
    ),
    "a zero byte": (GOOD + b"PK\x03\x04\x00", 2, 5, "binary data", "text"),
    "UTF-16": ("1 qid:1 1:1".encode("utf-16"), 1, 1, "text in UTF-16", "UTF-8"),
    "an empty file": (b"", 0, 0, "an empty file", "at least one line"),
    "nothing but blank lines": (
        b"\n  \n# nothing\n",
        0,
        0,
        "no documents",
        "at least one line",
    ),
    "no feature at all": (
        b"1 qid:1\n2 qid:1\n",
        0,
        0,
        "no features",
        "at least one feature",
    ),
    "columns count letters, not bytes": (
        "1 qid:é 1:x".encode(),
        1,
        11,
        '"x"',
        "a number",
    ),
    "a byte order mark is no column": (
        b"\xef\xbb\xbfx qid:1 1:1",
        1,
        1,
        '"x"',
        "relevance label",
    ),
    "control characters are shown as such": (
        b"1 qid:1 1:\x1b[31m",
        1,
        11,
        '"\\x1b[31m"',
        "a number",
    ),
    "lines that end with carriage returns": (
        b"1 qid:1 1:0.5 # a\r0 qid:1 1:0.25 # b\r",
        *(1, 18, "a document after a carriage return", "a line feed"),
    ),
    "one such line among others": (
        b"3 qid:2 1:0 #\r\n1 qid:1 1:0.5 # a\r0 qid:1 1:0.25 # b\r\n2 qid:2 1:1 # c",
        *(2, 18, "a document after a carriage return", "a line feed"),
    ),
    "long tokens are cut": (
        b"1 qid:1 1:" + b"z" * 500,
        1,
        11,
        '"' + "z" * 40 + '…"',
        "a number",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_format_errors(tmp_path: Path, case: tuple[bytes, int, int, str, str]) -> None:
    content, line, column, found, expected = case
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(FormatError) as raised:
        load_letor(path)
    error = raised.value
    assert (error.path, error.line, error.column) == (path, line, column)
    assert found in error.found
    assert expected in error.expected
    text = str(error)
    assert str(path) in text and error.found in text and error.expected in text
    assert text.startswith(
        f"{path}, line {line}, column {column}: " if line else f"{path}: "
    )


def test_the_first_of_several_errors_is_the_one_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(
        b"0 qid:1 1:0.5\n" * 200_000
        + b"bad\n"
        + b"0 qid:1 1:0.5\n" * 200_000
        + b"worse\n"
    )
    with pytest.raises(FormatError) as raised:
        load_letor(path)
    assert raised.value.line == 200_001


def test_missing_values_can_be_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"0 qid:1 1:0.5 2:1\n0 qid:1 1:0.5 2:NULL\n0 qid:1 1:x 2:1\n")
    with pytest.raises(MissingValueError) as raised:
        load_letor(path, missing="refuse")
    assert (raised.value.line, raised.value.column, raised.value.found) == (
        2,
        17,
        '"NULL"',
    )


def test_missing_values_are_refused_even_if_the_file_is_in_the_cache(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"0 qid:1 1:0.5 2:1\n0 qid:1 1:0.5 2:NULL\n")
    assert load_letor(path).missing.tolist() == [0, 1]
    with pytest.raises(MissingValueError):
        load_letor(path, missing="refuse")


def test_a_feature_beyond_the_given_number(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"0 qid:1 1:0.5 3:1\n")
    assert load_letor(path, n_features=3).n_features == 3
    with pytest.raises(FormatError, match=naming("15 3:1 2")):
        load_letor(path, n_features=2)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=naming("file")):
        load_letor(tmp_path / "none.txt")
    with pytest.raises(FileAccessError, match=naming("folder file")):
        load_letor(tmp_path)
    with pytest.raises(FileAccessError, match=naming("device")):
        load_letor("/dev/null")
    with pytest.raises(FileAccessError, match="null"):
        load_letor("a\0b")


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_bytes(GOOD)
    path.chmod(0)
    with pytest.raises(FileAccessError, match="permission"):
        load_letor(path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "a.txt permission"),
        (FileNotFoundError(2, "No such file"), "file"),
        (OSError(5, "Input/output error"), "Input/output"),
    ],
)
def test_a_file_that_vanishes_or_breaks_while_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(GOOD)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(FileAccessError, match=naming(words)):
        load_letor(path, cache=False)


def test_a_file_that_shrinks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(GOOD)
    monkeypatch.setattr(source_file, "regular_file_size", lambda _: len(GOOD) + 5)
    with pytest.raises(FileAccessError, match="size of the file changed"):
        load_letor(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PACKED[:-6], "truncated"),
        (PACKED[:5], "truncated"),
        (b"\x1f\x8bnonsense, really", "damaged"),
        (PACKED + b"tail", "damaged"),
        (PACKED + bytes(600) + b"tail", "damaged"),
        (PACKED[:-8] + b"\0\0\0\0\0\0\0\0", "damaged"),
    ],
    ids=[
        "within the end",
        "within the head",
        "no gzip",
        "with a tail",
        "with a tail behind zeros",
        "with another checksum",
    ],
)
def test_compressed_files_that_are_not(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(content)
    with pytest.raises(FileAccessError, match=words):
        load_letor(path)


@pytest.mark.parametrize(
    "option", [{"missing": "mean"}, {"normalize": "zscore"}, {"n_features": 0}]
)
def test_options_that_do_not_exist(tmp_path: Path, option: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(option))):
        load_letor(tmp_path / "none.txt", **option)
