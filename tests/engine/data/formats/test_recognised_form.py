"""Recognition of the built-in formats, against the chain of questions that it was before."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import pytest

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.file_access import ARROW, PARQUET, is_packed, read_beginning
from rankstudio.engine.data.formats.format_catalog import format_of_name
from rankstudio.engine.data.formats.joined_files import marked_formats
from rankstudio.engine.data.formats.query_sizes import sizes_file
from rankstudio.engine.data.formats.recognised_form import (
    recognised_form,
    refuse_other_binary,
)
from rankstudio.engine.data.formats.trec import is_judgment
from rankstudio.engine.data.tabular.recognition import QUERY_NAMES
from rankstudio.engine.errors import FileAccessError

LINES = [
    *(
        b"1 qid:1 1:0.5 2:3\n",
        b"1 1:0.5 2:3\n",
        b"qid,label,f1\n1,2,3\n",
        b"query_id;label;x;y\n",
    ),
    *(
        b"1 0 d1 2\n",
        b"# c\n",
        b"\n",
        b"PAR1xxxx\0\0",
        b"ARROW1\0\0aa",
        b"PK\x03\x04abc",
        b"\0\0\0",
    ),
    *(
        b'{"qid": 1, "label": 2}\n',
        b'[{"a":1}]',
        b'{"_ltrlog": [{}]}\n',
        b'{"hits": {}}\n',
        b' { "a" : 5\n',
    ),
    *(
        b"1\n",
        b"x y z\n",
        b"2 x qid:1 4\n",
        b"qid\tlabel\ttf\n",
        b"a,b,c\n",
        b"\xff\xfe",
    ),
]
NAMES = [
    *("x.txt", "x.csv", "x.tsv", "x.parquet", "x.feather", "x"),
    *("x.json", "x.txt.gz", "x.csv.gz", "qrels.txt"),
]
TOLD = [{}, {}, {"qid": "q"}, {"label": "l"}, {"no_queries": True}]


def as_before(path: Path, told: DataColumns) -> str:
    """Return the form as one chain of questions tells it."""
    head, begin = read_beginning(path, 1 << 16), path.read_bytes()[: len(ARROW)]
    if begin.startswith(PARQUET) or begin == ARROW:
        return "arrow"
    if any(form.is_begun_by(head) for form in marked_formats()):
        return "logs"
    from rankstudio.plugins.tables.json_records import is_records  # noqa: PLC0415 - may be absent

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
        return "sizes" if len(words) <= 1 or re.match(rb"[0-9]+:", words[1]) else "csv"
    names = re.split(rb'[",;|\t]+', line.lower())
    named = (
        any(name.strip().decode("utf-8", "replace") in QUERY_NAMES for name in names)
        and len(names) > 2
    )
    return "csv" if told.qid or told.label or named else "letor"


def answer(recognise: object, path: Path, told: DataColumns) -> str:
    """Return the form, or why there is none."""
    try:
        form = recognise(path, told)  # type: ignore[operator]
    except FileAccessError as error:
        return str(error)
    return str(getattr(form, "parsed_as", form))


@pytest.mark.ability("search_engines")
@pytest.mark.ability("tables")
@pytest.mark.parametrize("seed", range(3))
def test_the_same_bytes_have_the_same_form(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    answers = set()
    for number in range(60):
        folder = tmp_path / str(number)
        folder.mkdir()
        name = draw.choice(NAMES)
        text = b"".join(draw.choice(LINES) for _ in range(draw.randint(0, 3)))
        path = folder / name
        path.write_bytes(
            gzip.compress(text)
            if name.endswith(".gz") and draw.random() < 0.8
            else text
        )
        if draw.random() < 0.3:
            (folder / f"{name}{draw.choice(['.group', '.query'])}").write_text("1\n")
        told = DataColumns.of(draw.choice(TOLD))
        expected = answer(as_before, path, told)
        assert answer(recognised_form, path, told) == expected, (name, text, told)
        answers.add(expected)
    assert {"csv", "letor", "sizes"} < answers
