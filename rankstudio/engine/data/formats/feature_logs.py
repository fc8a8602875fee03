"""Feature values that search engines logged, joined with judgments.

The reader takes the ``_ltrlog`` of hits of Elasticsearch and OpenSearch, Solr's documents with
``[features]``, and the ``matchfeatures`` of Vespa's hits: in whole responses, in a list of responses, or one
on each line.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.file_access import children, read_beginning
from rankstudio.engine.data.formats.judgments import Grades, judged_by_any
from rankstudio.engine.data.source_file import TextLines, number, quoted
from rankstudio.engine.data.table import MOST_FEATURES, Table
from rankstudio.engine.errors import DatasetError, FileAccessError, MissingExtraError, MissingValueError
from rankstudio.engine.language import tr, translatable, trn
from rankstudio.engine.support.escaping import one_line

EXPECTED = translatable(
    "a response with _ltrlog (Elasticsearch, OpenSearch), [features] (Solr) or matchfeatures (Vespa), or one "
    "on each line"
)
_MARKS = (b'"_ltrlog"', b'"[features]"', b'"matchfeatures"', b'"summaryfeatures"', b'"rankfeatures"')
_OF_VESPA = ("matchfeatures", "summaryfeatures", "rankfeatures")
_CACHED = "vespa.summaryFeatures.cached"
_QUERY_IDS = ("qid", "query_id", "queryId")
_QUERIES = (*_QUERY_IDS, "query_text", "keywords", "query", "q")
_DOCUMENTS = ("id", "docid", "doc_id", "document_id", "_id")
_ENDINGS = (".json", ".ndjson", ".jsonl")
_HEAD = 1 << 16
_LISTED = 10  # ids in a sentence
_TENSOR = math.inf  # stands for a value that is no number, which no number in a log is


@dataclass(frozen=True)
class LoggedDocument:
    """The values of a document for a query.

    Attributes
    ----------
    queries, documents : tuple of str
        What they may be called in judgments, the usual name first.
    values : Mapping of str to float
        By the name of the feature; NaN where the engine had no value.
    absent : float
        What a feature is that is not there: 0 in Solr, which leaves zeros out, NaN otherwise.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    values: Mapping[str, float]
    absent: float = math.nan


def is_log(beginning: bytes) -> bool:
    """Return whether a text that begins so is a log of features."""
    return beginning.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and any(
        m in beginning for m in _MARKS
    )


def holds_logs(path: Path) -> bool:
    """Return whether a file is a log of features, as its name and its beginning tell."""
    try:
        return _may_be_log(path) and path.is_file() and is_log(read_beginning(path, _HEAD))
    except (FileAccessError, MissingExtraError, OSError):
        return False


def logs_in(folder: Path) -> tuple[Path, ...]:
    """Return the logs of features in a folder, in the order of their names."""
    return tuple(path for path in children(folder) if not path.name.startswith(".") and holds_logs(path))


def _may_be_log(path: Path) -> bool:
    return any(path.name.lower().removesuffix(packed).endswith(_ENDINGS) for packed in ("", ".gz", ".zst"))


def logged_documents(text: TextLines) -> list[LoggedDocument]:
    """Return the documents in a log.

    Raises
    ------
    FormatError
        At the first line that is no JSON, or has a document without an id or a value that is no number.
    DatasetError
        Where there is no document.
    """
    found: list[LoggedDocument] = []
    for line, value in _values(text):
        try:
            found += _in_response(value, (), text.path)
        except _UnreadableError as error:
            raise text.error(line, error.found, error.expected) from None
    if not found:
        raise DatasetError(
            tr("{path}: found no logged features, expected {expected}.").format(
                path=text.path, expected=tr(EXPECTED)
            )
        )
    return found


class _UnreadableError(Exception):
    """Something in a log that cannot be read: what was found, and what was expected."""

    def __init__(self, found: object, expected: str) -> None:
        super().__init__(expected)
        self.found = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=str)
        self.expected = expected


def _values(text: TextLines) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON in a text, each with its line: one of all lines, or one on each."""
    try:
        whole = _parsed("\n".join(text.lines))
    except (ValueError, RecursionError):  # at the second line, where there is one value a line
        pass
    else:
        yield 1, whole
        return
    for line, content in enumerate(text.lines, start=1):
        if not content.strip():
            continue
        try:
            value = _parsed(content)
        except (ValueError, RecursionError):
            raise text.error(line, content, tr(EXPECTED)) from None
        yield line, value


def _parsed(text: str) -> Any:
    """Return a value of JSON; ValueError for half of a pair of UTF-16, which is no text."""
    value = json.loads(text)
    if "\\ud" in text.lower():
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _in_response(
    found: Any, queries: tuple[str, ...], path: Path, keys: Sequence[str] = _QUERIES
) -> Iterator[LoggedDocument]:
    """Yield the documents of a response, of a list of them, or of one hit alone.

    Under one of the keys is the query. Those of a hit in a response are ids alone: a document may well have
    keywords of its own.
    """
    if isinstance(found, list):
        for one in found:
            yield from _in_response(one, queries, path, keys)
        return
    if not isinstance(found, dict):
        raise _UnreadableError(found, tr(EXPECTED))
    queries = _named(found, keys) or _asked(found) or queries
    inner = [found[key] for key in ("response", "root", "hits") if isinstance(found.get(key), dict)]
    inner += [found["responses"]] if isinstance(found.get("responses"), list) else []
    hits = next(
        (found[key] for key in ("hits", "docs", "children") if isinstance(found.get(key), list)), None
    )
    for one in inner:
        yield from _in_response(one, queries, path, keys)
    for one in hits or ():
        yield from _in_response(one, queries, path, _QUERY_IDS)
    if not inner and hits is None:
        logged = _hit(found, queries or (_query_of(path),))
        if logged is not None:
            yield logged


def _query_of(path: Path) -> str:
    """Return the query of responses that name none: the name of their file."""
    return path.name.split(".")[0]


def _asked(response: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what Solr repeats of the request: the query."""
    header = response.get("responseHeader")
    parameters = header.get("params") if isinstance(header, dict) else None
    return _named(parameters, _QUERIES) if isinstance(parameters, dict) else ()


def _named(found: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...]:
    """Return what is under some keys, where that is a text or a number."""
    values = (found.get(key) for key in keys)
    texts = (str(v) for v in values if isinstance(v, str | int) and not isinstance(v, bool))
    return tuple(filter(None, map(one_line, texts)))


def _hit(found: Mapping[str, Any], queries: tuple[str, ...]) -> LoggedDocument | None:
    """Return the values of a hit; None where it has none."""
    fields = found.get("fields")
    fields = fields if isinstance(fields, dict) else {}
    of_vespa = next((fields[key] for key in _OF_VESPA if isinstance(fields.get(key), dict)), None)
    ids: tuple[str, ...]
    if isinstance(found.get("[features]"), str):
        ids = _named(found, _DOCUMENTS)
        logged = LoggedDocument(queries, ids, dict(_of_solr(found["[features]"])), 0.0)
    elif "_ltrlog" in fields:
        ids = _named(found, ("_id",))
        logged = LoggedDocument(queries, ids, dict(_of_elasticsearch(fields["_ltrlog"])))
    elif of_vespa is not None:
        ids = _named(fields, ("documentid",)) + _named(found, ("id",)) + _named(fields, _DOCUMENTS)
        ids += tuple(name.rpartition("::")[2] for name in ids if "::" in name)
        logged = LoggedDocument(queries, ids, dict(_of_vespa(of_vespa)))
    else:
        return None
    if not ids:
        raise _UnreadableError(found, tr("a document with an id"))
    return logged


def _of_elasticsearch(logged: Any) -> Iterator[tuple[str, float]]:
    """Yield what a log has: a list of objects with a list of names and values for each specification."""
    entries = logged if isinstance(logged, list) else []
    lists = [values for entry in entries if isinstance(entry, dict) for values in entry.values()]
    if not lists or not all(isinstance(values, list) for values in lists):
        raise _UnreadableError(logged, tr('a list of "name" and "value" in _ltrlog'))
    for one in (one for values in lists for one in values):
        name = one.get("name") if isinstance(one, dict) else None
        if not isinstance(name, str):
            raise _UnreadableError(one, tr('a list of "name" and "value" in _ltrlog'))
        yield name, _number(one["value"]) if "value" in one else math.nan  # a query that did not match


def _of_solr(text: str) -> Iterator[tuple[str, float]]:
    """Yield what Solr writes in a line: ``name=value,name=value``."""
    for item in filter(None, text.split(",")):
        name, apart, value = item.rpartition("=")
        if not apart:
            raise _UnreadableError(item, tr("name=value in [features]"))
        yield name, _number(value)


def _of_vespa(found: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield what Vespa lists; tensors are no numbers and left out, which `joined` says."""
    for name, value in found.items():
        if name != _CACHED:
            yield name, _TENSOR if isinstance(value, dict | list) else _number(value)


def _number(value: object) -> float:
    """Return a value as a finite number, NaN for null."""
    if value is None:
        return math.nan
    found = (
        number(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    )
    if found is None or math.isinf(found):
        raise _UnreadableError(value, tr("a finite number as the value of a feature"))
    return found


@dataclass(frozen=True)
class JudgedLogs:
    """Logged documents with the judgments that they have. A place is a query and a document in it.

    Attributes
    ----------
    matched : Mapping of (str, str) to LoggedDocument
        Documents that are judged and logged, in the order of the judgments.
    unjudged, unlogged : tuple of (str, str)
        Places that are only logged, or only judged.
    repeated : int
        Documents that were logged again with other values; the last ones count.
    """

    matched: Mapping[tuple[str, str], LoggedDocument]
    unjudged: tuple[tuple[str, str], ...]
    unlogged: tuple[tuple[str, str], ...]
    repeated: int


def judged_logs(documents: Sequence[LoggedDocument], grades: Grades) -> JudgedLogs:
    """Find the judgment of each logged document."""
    found: dict[tuple[str, str], LoggedDocument] = {}
    unjudged: list[tuple[str, str]] = []
    repeated = 0
    for document in documents:
        place = _place(document, grades)
        if place is None:
            unjudged.append((document.queries[0], document.documents[0]))
            continue
        repeated += place in found and found[place] != document
        found[place] = document
    judged = [(query, document) for query, of_query in grades.items() for document in of_query]
    matched = {place: found[place] for place in judged if place in found}
    unlogged = tuple(place for place in judged if place not in found)
    return JudgedLogs(matched, tuple(unjudged), unlogged, repeated)


def joined(
    logs: Sequence[TextLines],
    judgments: Sequence[TextLines],
    judges: Sequence[Grades],
    *,
    refuse: bool = False,
) -> Table:
    """Return the documents that are judged and logged, with the values as features.

    Documents that are only logged, or only judged, are left out, counted and listed.

    Parameters
    ----------
    logs : sequence of TextLines
    judgments : sequence of TextLines
        For sentences.
    judges : sequence of Grades
        What each says; a negative grade is 0. Of several judges, the labels have a column each.
    refuse : bool
        Whether a missing value is an error.

    Raises
    ------
    FormatError, DatasetError
        Where a log cannot be read, or no document is in both.
    MissingValueError
        At the first missing value, where that is refused.

    Notes
    -----
    O(mn) for m documents with n features.
    """
    every = [document for text in logs for document in logged_documents(text)]
    found = judged_logs(every, judged_by_any(judges))
    if not found.matched:
        raise _none_joined(logs[0].path, judgments[0].path, every[0], found.unlogged[0])
    names, X, tensors = _features(logs[0].path, found.matched)
    if refuse and np.isnan(X).any():
        raise _missing(logs[0].path, list(found.matched), names, X)
    sizes = Counter(query for query, _ in found.matched)
    graded = np.array(
        [[grades.get(q, {}).get(document, np.nan) for grades in judges] for q, document in found.matched]
    )
    y = np.maximum(graded, 0.0)
    return Table(
        X=X,
        y=y if len(judges) > 1 else y[:, 0],
        query_ptr=np.cumsum([0, *sizes.values()], dtype=np.int64),
        query_ids=tuple(sizes),
        comments=TextComments.of(_comment(query, document) for query, document in found.matched),
        missing=np.isnan(X).sum(axis=0).astype(np.int64),
        dense=True,
        feature_names=tuple(map(one_line, names)),
        said=_said(found, tensors, int((graded < 0).sum())),
    )


def _features(
    path: Path, matched: Mapping[tuple[str, str], LoggedDocument]
) -> tuple[list[str], Floats, list[str]]:
    """Return the names of features, their values (m, n), and the names of tensors, which are none."""
    documents = list(matched.values())
    tensors = {n for d in documents for n, value in d.values.items() if math.isinf(value)}
    names = list(dict.fromkeys(n for d in documents for n in d.values if n not in tensors))
    if not 0 < len(names) <= MOST_FEATURES:
        raise DatasetError(
            tr("{path}: found {n} features, expected at least one and at most {most}.").format(
                path=path, n=len(names), most=MOST_FEATURES
            )
        )
    return names, np.array([[d.values.get(n, d.absent) for n in names] for d in documents]), sorted(tensors)


def _missing(
    path: Path, places: Sequence[tuple[str, str]], names: Sequence[str], X: Floats
) -> MissingValueError:
    """Return the error of the first missing value."""
    row, column = (int(at[0]) for at in np.nonzero(np.isnan(X)))
    query, document = places[row]
    found = quoted(f"{query} {document}: {names[column]}")
    return MissingValueError(path, 0, 0, found, tr("a value of every feature"))


def _comment(query: str, document: str) -> str:
    """Return the comment of a document; LETOR text has numbers in place of queries with blanks."""
    return f"docid = {document} query = {query}" if len(query.split()) > 1 else f"docid = {document}"


def _place(document: LoggedDocument, grades: Grades) -> tuple[str, str] | None:
    """Return by which ids a document is judged; None where it is not."""
    for query in document.queries:
        for name in document.documents:
            if name in grades.get(query, ()):
                return query, name
    return None


def _none_joined(
    logs: Path, judgments: Path, logged: LoggedDocument, judged: tuple[str, str]
) -> DatasetError:
    text = tr(
        "{logs}: no logged document has a judgment in {judgments}. Logged is, for example, {document} for "
        "the query {query}; judged is {other_document} for the query {other_query}. Both need the same ids."
    )
    if logged.queries == (_query_of(logs),):
        text += " " + tr(
            'A response names its query in a field "query" or "qid" that you add; without it, the file name '
            "is the query."
        )
    return DatasetError(
        text.format(
            logs=logs,
            judgments=judgments.name,
            document=quoted(logged.documents[0]),
            query=quoted(logged.queries[0]),
            other_document=quoted(judged[1]),
            other_query=quoted(judged[0]),
        )
    )


def _said(found: JudgedLogs, tensors: Sequence[str], negative: int) -> tuple[str, ...]:
    """Return what is to be known of the rows, as sentences."""
    unjudged, unlogged, said = found.unjudged, found.unlogged, []
    if unjudged:
        text = trn(
            "{n} logged document without a judgment is left out: {ids}.",
            "{n} logged documents without a judgment are left out: {ids}.",
            len(unjudged),
        )
        said.append(text.format(n=f"{len(unjudged):,}", ids=_ids(unjudged)))
    if unlogged:
        text = trn(
            "{n} judged document is not in the logs and left out: {ids}.",
            "{n} judged documents are not in the logs and left out: {ids}.",
            len(unlogged),
        )
        said.append(text.format(n=f"{len(unlogged):,}", ids=_ids(unlogged)))
    if tensors:
        text = tr("Tensors are no numbers and left out: {names}.")
        said.append(text.format(names=", ".join(map(one_line, tensors[:_LISTED]))))
    if found.repeated:
        text = trn(
            "{n} document is logged again with other values; the last ones are used.",
            "{n} documents are logged again with other values; the last ones are used.",
            found.repeated,
        )
        said.append(text.format(n=f"{found.repeated:,}"))
    if negative:
        said.append(tr("{n} negative judgements count as 0.").format(n=f"{negative:,}"))
    return tuple(said)


def _ids(places: Sequence[tuple[str, str]]) -> str:
    """Return queries and documents in a sentence, the first of many."""
    listed = "; ".join(f"{query} {document}" for query, document in places[:_LISTED])
    return tr("{ids} and others").format(ids=listed) if len(places) > _LISTED else listed
