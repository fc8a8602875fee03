"""LETOR text read the slow and obvious way: a line, a token, a ``float()`` at a time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ABSENT = re.compile(rb"[+-]?nan|null", re.IGNORECASE)
TOKEN = re.compile(rb"[^ \t\r]+")
# a document behind the comment of the one before it
HIDDEN = re.compile(rb"\r[ \t]*[^\s:#]+[ \t]+qid:")


class Refused(Exception):  # noqa: N818 - a verdict
    """The text is not LETOR text, because of what stands in this line at this column (0: the whole file)."""

    def __init__(self, line: int = 0, column: int = 0) -> None:
        super().__init__(line, column)
        self.place = line, column


@dataclass
class Document:
    label: float
    query: str
    features: dict[int, float]
    comment: str


@dataclass
class Contents:
    documents: list[Document] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max(max(d.features, default=0) for d in self.documents)

    def grouped(self) -> list[Document]:
        order = {
            query: i
            for i, query in enumerate(dict.fromkeys(d.query for d in self.documents))
        }
        return sorted(self.documents, key=lambda d: order[d.query])


def number(token: bytes) -> float | None:
    """The value of a finite number, None for anything else."""
    value = float(token) if NUMBER.fullmatch(token) else math.inf
    return value if math.isfinite(value) else None


def read(content: bytes, *, repeats: bool = False) -> Contents:
    """Read a whole file, or raise `Refused` at the first place that is wrong; features may repeat or not."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Refused(1, 1)
    content = content.removeprefix(b"\xef\xbb\xbf")
    contents = Contents()
    hidden: list[Refused] = []
    if b"\0" in content:
        before = content[: content.index(b"\0")]
        raise Refused(
            before.count(b"\n") + 1,
            len(before.rpartition(b"\n")[2].decode(errors="replace")) + 1,
        )
    for number_of_line, line in enumerate(content.split(b"\n"), start=1):
        document = read_line(line, number_of_line, repeats=repeats)
        if document is not None:
            contents.documents.append(document)
            body, _, comment = line.partition(b"#")
            if found := HIDDEN.search(comment):
                hidden.append(
                    Refused(
                        number_of_line, _column(line, len(body) + 1 + found.start())
                    )
                )
    if not contents.documents or contents.width == 0:
        raise Refused
    if hidden:
        raise hidden[0]
    return contents


def _column(line: bytes, position: int) -> int:
    return len(line[:position].decode(errors="replace")) + 1


def read_line(
    line: bytes, line_number: int, *, repeats: bool = False
) -> Document | None:
    def refuse(position: int) -> Refused:
        return Refused(line_number, _column(line, position))

    body, _, comment = line.partition(b"#")
    tokens = [(m.start(), m.group()) for m in TOKEN.finditer(body)]
    if not tokens:
        return None
    at, label = tokens.pop(0)
    value = number(label)
    if value is None:
        raise refuse(at)
    at, query = tokens.pop(0) if tokens else (len(body), b"")
    if not query.startswith(b"qid:"):
        raise refuse(at)
    if query == b"qid:":
        raise refuse(at + 4)
    features: dict[int, float] = {}
    for at, token in tokens:
        name, colon, text = token.partition(b":")
        if not colon or not re.fullmatch(rb"[0-9]{1,18}", name):
            raise refuse(at)
        if not 1 <= int(name) <= 2**31 - 1 or (int(name) in features and not repeats):
            raise refuse(at)
        feature = math.nan if ABSENT.fullmatch(text) else number(text)
        if feature is None:
            raise refuse(at + len(name) + 1)
        features[int(name)] = feature
    shown = comment.rstrip(b" \t\r").decode(errors="replace")
    return Document(value, query[4:].decode(errors="backslashreplace"), features, shown)
