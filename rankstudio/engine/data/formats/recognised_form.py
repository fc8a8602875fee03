"""As what a data file is read: told by its first bytes, its name, and what is beside it."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.file_access import (
    ARROW,
    PARQUET,
    is_packed,
    read_beginning,
    refusal,
    without_ending,
)
from rankstudio.engine.data.formats.data_format import format_of_name
from rankstudio.engine.data.formats.feature_logs import is_log
from rankstudio.engine.data.formats.json_records import is_records
from rankstudio.engine.data.formats.trec import is_judgment
from rankstudio.engine.data.table import SIZES_ENDINGS, ReadAs
from rankstudio.engine.data.table_builder import PartFiles
from rankstudio.engine.data.tabular.recognition import QUERY_NAMES
from rankstudio.engine.errors import DatasetError, FileAccessError, FormatError
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import read_text

HEAD = 1 << 16
"""Bytes of a file's text that are looked at."""

TABLE_FORMS = ("csv", "arrow", "records")
"""Formats with named columns, as `recognised_form` returns them."""

_FEATURE = re.compile(rb"[0-9]+:")

_WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # ZIP archives, as which most are stored, and old ones


def recognised_form(path: Path, told: DataColumns) -> str:
    """Return the format of a file.

    Parameters
    ----------
    path : Path
    told : DataColumns
        Specified columns.

    Returns
    -------
    str
        "letor", "sizes" (SVMlight text without queries, or with a file of query sizes), "csv", "arrow",
        "trec", "logs" or "records".

    Raises
    ------
    FileAccessError, MissingExtraError
        If the file cannot be read, or has the ending of a binary format that it does not have.
    """
    head = read_beginning(path, HEAD)
    begin = _first_bytes(path)
    if begin.startswith(PARQUET) or begin == ARROW:
        return "arrow"
    if is_log(head):
        return "logs"
    if is_records(head):
        return "records"
    lines = [line for line in head.split(b"\n") if line.strip(b"\0\r \t")]
    if lines and is_judgment(lines[0].decode("utf-8", "replace")):
        return "trec"
    if not is_packed(begin):
        refuse_other_binary(path, head)
    if format_of_name(path.name).key in ("csv", "tsv"):
        return "csv"
    texts = (line.strip() for line in head.splitlines())
    line = next((line for line in texts if line and not line.startswith(b"#")), b"")
    if b"qid:" in line:
        return "letor"
    if told.no_queries or sizes_file(path) is not None:
        words = line.split()
        return "sizes" if len(words) <= 1 or _FEATURE.match(words[1]) else "csv"
    return "csv" if told.qid or told.label or _names_a_query(line) else "letor"


def _names_a_query(line: bytes) -> bool:
    """Return whether a line is a table's header with a common name for the query."""
    names = re.split(rb'[",;|\t]+', line.lower())
    named = any(name.strip().decode("utf-8", "replace") in QUERY_NAMES for name in names)
    return named and len(names) > 2


def refuse_other_binary(path: Path, begin: bytes) -> None:
    """Reject a workbook, and a file with the ending of Parquet or Arrow that is neither that nor text.

    Raises
    ------
    FileAccessError
    """
    if begin.startswith(_WORKBOOKS):
        text = tr(
            "found a workbook or a ZIP archive. Save the sheet as CSV or Parquet, or unpack the archive."
        )
        raise FileAccessError(path, text)
    magic = {"parquet": PARQUET, "arrow": ARROW}.get(format_of_name(path.name).key)
    if magic is None or begin.startswith(magic) or is_packed(begin):
        return
    try:
        getincrementaldecoder("utf-8")().decode(begin.rstrip(b"\n"))
        binary = b"\0" in begin
    except UnicodeDecodeError:
        binary = True
    if binary:
        raise FileAccessError(
            path,
            tr("not a {format} file: it does not begin with {magic} and is not text.").format(
                format=format_of_name(path.name).label, magic=f'"{magic.rstrip(bytes(1)).decode()}"'
            ),
        )


def identity_of(part: PartFiles) -> str:
    """Return the specifications that determine the contents besides the bytes of the files; "" for none."""
    is_table = part.form in TABLE_FORMS
    told = part.told.as_dict()
    values = {name: value for name, value in told.items() if is_table != (name in ("ids_from", "no_queries"))}
    if part.told.labels:  # the labels of all judges are read, whichever is in use
        values.pop("label", None)
    if values.get("ids_from") == 1:  # as where nobody says so
        del values["ids_from"]
    if part.told.no_queries:
        values["no_queries"] = True
    if part.judgments:
        values = {"judgments": [text.checksum for text in part.judgments]}
    if part.sizes is not None:
        values["sizes"] = part.sizes.tolist()
    return json.dumps(values, sort_keys=True) if values else ""


def read_as(path: Path, form: str, told_by: tuple[str, ...], *, no_queries: bool = False) -> ReadAs:
    """Return the format of a file with the columns of query, label and part, if it has them."""
    if form == "letor" or (form == "sizes" and no_queries):
        return ReadAs()
    beside = None if no_queries else sizes_file(path)
    sizes = beside.name if beside is not None else ""
    if form == "sizes":
        return ReadAs("lightgbm" if sizes.endswith(".query") else "xgboost", sizes)
    qid, label, part = told_by
    key = format_of_name(path.name).key
    keys = {"arrow": ("parquet", "arrow"), "records": ("records",)}.get(form, ("csv", "tsv"))
    return ReadAs(key if key in keys else keys[0], qid or sizes, label, part)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(ARROW))
    except OSError as error:
        raise refusal(path, error) from None


_EXPECTED = "the number of documents of the next query, a whole number from 0 up"
_MOST_DIGITS = 9  # a query of a billion documents is no query


def sizes_file(path: Path) -> Path | None:
    """Return the file of query sizes next to data: train.txt.group, train.group, rank.train.query.

    Parameters
    ----------
    path : Path
        Path of the data.
    """
    name = without_ending(path.name)
    stems = dict.fromkeys((path.name, name, Path(name).stem))
    places = (path.with_name(stem + ending) for stem in stems for ending in SIZES_ENDINGS)
    return next((place for place in places if place != path and place.is_file()), None)


def read_sizes(path: Path) -> Ints:
    """Read the number of documents of each query.

    Parameters
    ----------
    path : Path
        File with one number per line, or several separated by blanks.

    Raises
    ------
    FileAccessError, FormatError
        If the file cannot be read, or contains something other than such numbers.
    DatasetError
        If it is empty.
    """
    try:
        text = read_text(path, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise FileAccessError(path, f"the file could not be read: {error.strerror}.") from None
    sizes: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for word in line.split():
            if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
                shown = word if len(word) <= 40 else word[:40] + "…"
                raise FormatError(path, number, 0, repr(shown), _EXPECTED)
            sizes.append(int(word))
    if not sum(sizes):
        raise DatasetError(f"{path}: found no query sizes; expected on each line {_EXPECTED}.")
    return np.array(sizes, dtype=np.int64)


def format_sizes(sizes: Ints) -> str:
    """Return the text of such a file."""
    return "".join(f"{size}\n" for size in sizes.tolist())
