"""Feature values that search engines logged, joined with judgments.

The reader takes the ``_ltrlog`` of hits of Elasticsearch and
OpenSearch, Solr's documents with ``[features]``, and the
``matchfeatures`` of Vespa's hits: in whole responses, in a list of
responses, or one on each line.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.file_access import regular_file_size
from rankstudio.engine.data.formats.json_values import JsonValues
from rankstudio.engine.data.formats.judgments import (
    Grades,
    judged_by_any,
    read_judgments,
)
from rankstudio.engine.data.formats.trec import negative_grades
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import (
    SourceFile,
    StreamedFile,
    line_error,
    number,
    quoted,
    read_lines,
    unpacked_stream,
)
from rankstudio.engine.data.table import MOST_FEATURES
from rankstudio.engine.data.table_builder import (
    DocumentPiece,
    GatheredRows,
    PartFiles,
    TableBuilder,
    TableFacts,
)
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr, translatable, trn
from rankstudio.engine.support.escaping import one_line
from rankstudio.engine.support.number_format import count_text

Files = tuple[Path, ...]

EXPECTED = translatable(
    "a response with _ltrlog (Elasticsearch, OpenSearch), [features] (Solr) or matchfeatures (Vespa), or one "
    "on each line"
)
_VESPA_KEYS = ("matchfeatures", "summaryfeatures", "rankfeatures")
_CACHED = "vespa.summaryFeatures.cached"
_QUERY_ID_KEYS = ("qid", "query_id", "queryId")
_QUERY_KEYS = (*_QUERY_ID_KEYS, "query_text", "keywords", "query", "q")
_DOCUMENT_KEYS = ("id", "docid", "doc_id", "document_id", "_id")
_MAX_LISTED_IDS = 10  # ids in a sentence
_DOCUMENTS_PER_PIECE = 4096  # documents that are written at once
# floats represent all whole numbers up to this one exactly
_MAX_EXACT_INTEGER = 1 << 53
_VESPA_ID_BEGINNING = "id:"
_TENSOR_MARK = math.inf  # stands for a tensor; numbers in a log are finite


@dataclass(frozen=True)
class LoggedDocument:
    """The logged feature values of a document for a query.

    Attributes
    ----------
    queries, documents : tuple of str
        Ids that the query and the document may have in judgments, the usual id first.
    values : Mapping of str to float
        Values by the name of the feature; NaN if the engine had no value.
    absent : float
        Value of features that are not logged: 0 for Solr, which omits
        zeros, and NaN otherwise.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    values: Mapping[str, float]
    absent: float = math.nan


def logged_documents(file: SourceFile) -> Iterator[LoggedDocument]:
    """Yield the documents in a search engine's log of feature values.

    Raises
    ------
    FormatError
        At the first line that is not JSON, or that has a document
        without an id or a value that is not a number.
    DatasetError
        If the log has no document.
    """
    has_documents = False
    for line, value in JsonValues(file.path, unpacked_stream(file), tr(EXPECTED)):
        try:
            # () because no query is named yet
            for document in _documents_of_response(value, (), file.path):
                has_documents = True
                yield document
        except _UnreadableError as error:
            raise line_error(file.path, line, error.found, error.expected) from None
        except RecursionError:  # lists nested too deeply, quoted by brackets
            raise line_error(
                file.path, line, "[" * _MAX_LISTED_IDS, tr(EXPECTED)
            ) from None
    if not has_documents:
        raise DatasetError(
            tr("{path}: found no logged features, expected {expected}.").format(
                path=file.path, expected=tr(EXPECTED)
            )
        )


class _UnreadableError(Exception):
    """Unreadable content of a log: what was found, and what was expected."""

    def __init__(self, excerpt: object, expected: str) -> None:
        """Store an excerpt of the log, as a text, and what was expected instead."""
        super().__init__(expected)
        self.found = (
            excerpt
            if isinstance(excerpt, str)
            else json.dumps(excerpt, ensure_ascii=False, default=str)
        )
        self.expected = expected


def _documents_of_response(
    response: Any,
    queries: tuple[str, ...],
    path: Path,
    keys: Sequence[str] = _QUERY_KEYS,
) -> Iterator[LoggedDocument]:
    """Yield the documents of a response, of a list of responses, or of a single hit.

    `queries` are the possible ids of the query that the response
    belongs to. The query is read from one of the ``keys``. In the hits
    of a response, only keys of query ids count, because a document may
    have its own field "keywords" or "query".
    """
    # A list of responses, each with a query of its own.
    if isinstance(response, list):
        for part in response:
            yield from _documents_of_response(part, queries, path, keys)
        return
    if not isinstance(response, dict):
        raise _UnreadableError(response, tr(EXPECTED))

    # The query of this object holds for the hits in it, unless they name their own.
    queries = (
        _texts_under_keys(response, keys) or _query_of_request(response) or queries
    )

    # Objects that contain the hits: "response" in Solr, "root" in
    # Vespa, "hits" in Elasticsearch.
    inner = [
        response[key]
        for key in ("response", "root", "hits")
        if isinstance(response.get(key), dict)
    ]
    inner += (
        [response["responses"]] if isinstance(response.get("responses"), list) else []
    )

    # A list of hits; it is empty, not None, for a response without any.
    hits = next(
        (
            response[key]
            for key in ("hits", "docs", "children")
            if isinstance(response.get(key), list)
        ),
        None,
    )
    for part in inner:
        yield from _documents_of_response(part, queries, path, keys)
    for part in hits or ():
        yield from _documents_of_response(part, queries, path, _QUERY_ID_KEYS)

    # An object that contains neither is a hit itself.
    if not inner and hits is None:
        logged = _logged_document(response, queries or (_query_of_file(path),))
        if logged is not None:
            yield logged


def _query_of_file(path: Path) -> str:
    """Return the id of the query for responses that do not name it: the name of their file."""
    return path.name.split(".")[0]


def _query_of_request(response: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the possible ids of the query, from the parameters that Solr repeats in its response.

    Return () if the parameters have no query.
    """
    header = response.get("responseHeader")
    parameters = header.get("params") if isinstance(header, dict) else None
    return (
        _texts_under_keys(parameters, _QUERY_KEYS)
        if isinstance(parameters, dict)
        else ()
    )


def _texts_under_keys(
    fields: Mapping[str, Any], keys: Sequence[str]
) -> tuple[str, ...]:
    """Return the texts and numbers in a JSON object under some keys, as texts.

    The number 17.0 gives the texts "17" and "17.0", because the
    judgments may have either.
    """
    texts: list[str] = []
    for value in (fields.get(key) for key in keys):
        # For Python, True is an integer; it is no id, though.
        if isinstance(value, bool) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise _UnreadableError(value, tr("an id that is a text or a number"))
        if (
            isinstance(value, float)
            and value.is_integer()
            and abs(value) < _MAX_EXACT_INTEGER
        ):
            texts.append(str(int(value)))
        if isinstance(value, str | int | float):
            texts.append(str(value))
    return tuple(filter(None, map(one_line, texts)))


def _logged_document(
    hit: Mapping[str, Any], queries: tuple[str, ...]
) -> LoggedDocument | None:
    """Return the logged values of a hit of a search engine; None for a hit without any.

    A hit is a document in a response. `queries` are the possible ids of
    the query of the response.
    """
    # Vespa has the features in an object among the fields of a hit.
    fields = hit.get("fields")
    fields = fields if isinstance(fields, dict) else {}
    vespa_features = next(
        (fields[key] for key in _VESPA_KEYS if isinstance(fields.get(key), dict)), None
    )

    # Each program has the features in a form of its own; the keys
    # decide which one it is.
    ids: tuple[str, ...]
    if isinstance(hit.get("[features]"), str):  # a hit of Solr
        ids = _texts_under_keys(hit, _DOCUMENT_KEYS)
        logged = LoggedDocument(
            queries,
            ids,
            _values_by_name(_solr_values(hit["[features]"])),
            absent=0.0,  # Solr leaves out features that are 0
        )
    elif "_ltrlog" in fields:  # a hit of Elasticsearch
        ids = _texts_under_keys(hit, ("_id",))
        logged = LoggedDocument(
            queries, ids, _values_by_name(_elasticsearch_values(fields["_ltrlog"]))
        )
    elif vespa_features is not None:
        # Documents of Vespa have several ids, any of which may be that
        # of the judgments.
        ids = (
            _texts_under_keys(fields, ("documentid",))
            + _texts_under_keys(hit, ("id",))
            + _texts_under_keys(fields, _DOCUMENT_KEYS)
        )
        ids += tuple(filter(None, map(_user_part_of_id, ids)))
        logged = LoggedDocument(queries, ids, dict(_vespa_values(vespa_features)))
    else:
        return None
    if not ids:
        raise _UnreadableError(hit, tr("a document with an id"))
    return logged


def _user_part_of_id(name: str) -> str:
    """Return the user's part of an id of Vespa, ``id:namespace:type:key=value:part``.

    The user's part is the last one. Return "" for ids of another form.
    """
    parts = name.split(":", 4)
    return parts[4] if name.startswith(_VESPA_ID_BEGINNING) and len(parts) == 5 else ""


def _values_by_name(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the logged values of a hit by the names of the features.

    Raise an error for a feature that is logged twice with different values.
    """
    value_by_name: dict[str, float] = {}
    for name, value in values:
        earlier = value_by_name.get(name, value)
        is_same = earlier == value or (math.isnan(earlier) and math.isnan(value))
        if not is_same:
            raise _UnreadableError(
                name, tr("each feature of a hit once, or with the same value")
            )
        value_by_name[name] = value
    return value_by_name


def _elasticsearch_values(logged: Any) -> Iterator[tuple[str, float]]:
    """Yield name and value of the features in ``_ltrlog``, Elasticsearch's log in a hit.

    ``_ltrlog`` is a list of objects. The values of each object are
    lists of features with "name" and "value".
    """
    entries = logged if isinstance(logged, list) else []
    lists = [
        values
        for entry in entries
        if isinstance(entry, dict)
        for values in entry.values()
    ]
    if not lists or not all(isinstance(values, list) for values in lists):
        raise _UnreadableError(logged, tr('a list of "name" and "value" in _ltrlog'))
    for logged_feature in (feature for values in lists for feature in values):
        name = logged_feature.get("name") if isinstance(logged_feature, dict) else None
        if not isinstance(name, str):
            raise _UnreadableError(
                logged_feature, tr('a list of "name" and "value" in _ltrlog')
            )

        # A feature whose query did not match has no value.
        yield (
            name,
            _finite_or_nan(logged_feature["value"])
            if "value" in logged_feature
            else math.nan,
        )


def _solr_values(text: str) -> Iterator[tuple[str, float]]:
    """Yield name and value of the features in a text of Solr: ``name=value,name=value``."""
    for item in filter(None, text.split(",")):
        name, separator, value = item.rpartition("=")
        if not separator:
            raise _UnreadableError(item, tr("name=value in [features]"))
        yield name, _finite_or_nan(value)


def _vespa_values(features: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield name and value of the features that Vespa lists in a hit.

    The value of a tensor is `_TENSOR_MARK`, as tensors are left out.
    Vespa's entry `_CACHED` is no feature.
    """
    for name, value in features.items():
        if name != _CACHED:
            yield (
                name,
                _TENSOR_MARK
                if isinstance(value, dict | list)
                else _finite_or_nan(value),
            )


def _finite_or_nan(value: object) -> float:
    """Return a value as a finite number, NaN for null."""
    if type(value) is float and math.isfinite(value):  # the usual case, first for speed
        return value
    if value is None:
        return math.nan
    is_number_or_text = isinstance(value, str | int | float) and not isinstance(
        value, bool
    )
    parsed = number(str(value)) if is_number_or_text else None
    if parsed is None or math.isinf(parsed):
        raise _UnreadableError(value, tr("a finite number as the value of a feature"))
    return parsed


class JudgedDocuments:
    """Judged documents of queries, numbered in the order of the judgments.

    Parameters
    ----------
    judges : sequence of Grades
        The grades by each judge.

    Attributes
    ----------
    labels : ndarray of shape (D, J)
        The grade of each document by each judge; NaN for a document
        without a grade by a judge.
    query : ndarray of shape (D,)
        Number of the query of each document.
    """

    def __init__(self, judges: Sequence[Grades]) -> None:
        """Give a number to each document that a judge graded, and collect the labels.

        ``judges`` has the grades of each judge, by query and document.
        """
        # Every document that any judge graded gets a number, query by query.
        all_grades = judged_by_any(judges) if len(judges) > 1 else judges[0]
        number = count()
        self._numbers = {
            query: {document: next(number) for document in grade_by_document}
            for query, grade_by_document in all_grades.items()
            if grade_by_document
        }

        # One column of labels for each judge, with NaN where the judge gave none.
        n_documents = next(number)  # numbers begin at 0
        self.labels = np.full((n_documents, len(judges)), np.nan)
        for judge, grades in enumerate(judges):
            for query, grade_by_document in grades.items():
                rows = [
                    self._numbers[query][document] for document in grade_by_document
                ]
                self.labels[rows, judge] = [*grade_by_document.values()]

        # The number of the query of each document.
        sizes = [len(documents) for documents in self._numbers.values()]
        self.query = np.repeat(np.arange(len(sizes)), sizes)

    @property
    def queries(self) -> tuple[str, ...]:
        """Names of the queries."""
        return tuple(self._numbers)

    def find(self, document: LoggedDocument) -> tuple[str, str, int] | None:
        """Return under which query and document id a logged document is judged, and its number.

        The result is None if the document is not judged. A logged
        document may have several possible ids.
        """
        for query in document.queries:
            numbers = self._numbers.get(query, {})
            for name in document.documents if numbers else ():
                if name in numbers:
                    return query, name, numbers[name]
        return None

    def unlogged(self, rows: Ints) -> Iterator[tuple[str, str]]:
        """Yield query and document id of each judged document that is not in the logs.

        `rows` has the row of each judged document in the table,
        negative for a document that is not in the logs.
        """
        for query, documents in self._numbers.items():
            yield from (
                (query, document)
                for document, number in documents.items()
                if rows[number] < 0
            )


class _JoinedDocuments:
    """Joins logged documents with their judgments, and puts them into a table, one after the other.

    If a document is logged several times, its last values count: each
    time the document gets a new row, and `facts` says which rows are
    kept. Documents that are only logged or only judged are counted, and
    the first ones listed.
    """

    def __init__(self, judged: JudgedDocuments, builder: TableBuilder) -> None:
        """Start without documents; ``builder`` receives the rows of the table.

        `judged` are the documents that judges graded.
        """
        self._judged = judged
        self._builder = builder

        # Names of the features so far, and of those with tensors.
        self._columns: list[str] = []
        self._tensors: set[str] = set()

        # whether absent features are missing (else 0), in the documents so far
        self._absent: set[bool] = set()

        # last row of each judged document; -1 if it is not in the logs
        self._rows = np.full(len(judged.labels), -1, dtype=np.int64)

        # hash of the values in that row
        self._hashes = np.zeros(len(judged.labels), dtype=np.int64)

        # Documents to be written: ids under which they are judged, number, and values.
        self._waiting: list[tuple[str, str, int, LoggedDocument]] = []

        # Vespa's ids of documents that are judged by the user's part
        self._whole_ids: dict[int, str] = {}

        # For notes and errors: numbers of documents, and examples.
        self._n_unjudged = 0
        self._n_repeated = 0
        self._first_unjudged: list[tuple[str, str]] = []
        self._example: LoggedDocument | None = None

    def add(self, document: LoggedDocument, path: Path) -> bool:
        """Add a logged document if it is judged.

        Documents wait until they are written together. Return whether
        enough documents wait. ``path`` is the log, for errors.
        """
        # The first document is the example in the error if none is judged.
        self._example = self._example or document
        matched = self._judged.find(document)

        # Documents without a judgment are left out; a note names the first ones.
        if matched is None:
            self._n_unjudged += 1
            if len(self._first_unjudged) <= _MAX_LISTED_IDS:
                self._first_unjudged.append(
                    (document.queries[0], document.documents[0])
                )
            return False

        # The row that the document will have in the table.
        query, judged_as, number = matched
        row = self._builder.n_documents + len(self._waiting)
        self._check_id(document, judged_as, number, path)

        # A document that is logged again replaces the earlier row; it
        # is counted if its values differ.
        values_hash = hash(frozenset(document.values.items()))
        self._n_repeated += bool(
            self._rows[number] >= 0 and self._hashes[number] != values_hash
        )
        self._rows[number] = row
        self._hashes[number] = values_hash
        self._waiting.append((query, judged_as, number, document))
        return len(self._waiting) >= _DOCUMENTS_PER_PIECE

    def _check_id(
        self, document: LoggedDocument, judged_as: str, number: int, path: Path
    ) -> None:
        """Raise a DatasetError if one judgment fits two documents of Vespa.

        The two documents have different whole ids, but the same part
        that the user chose. ``judged_as`` is the id in the judgments,
        and ``number`` that of the judged document. ``path`` is the log,
        for the error.
        """
        full_id = next(
            (name for name in document.documents if _user_part_of_id(name)), judged_as
        )

        # The whole id of the first document with this judgment.
        first_id = (
            full_id
            if judged_as == full_id
            else self._whole_ids.setdefault(number, full_id)
        )
        if first_id != full_id:
            text = tr(
                "{path}: found the documents {first} and {second}, and one judgment of {document}. Name "
                "documents by their whole ids in the judgments."
            )
            names = {
                "first": quoted(first_id),
                "second": quoted(full_id),
                "document": quoted(judged_as),
            }
            raise DatasetError(text.format(path=path, **names))

    def write(self, path: Path, share: float) -> None:
        """Write the waiting documents to the table.

        ``share`` is the share of the logs that has been read, for the progress.
        """
        if not self._waiting:
            return

        # Features that occur for the first time become new columns.
        documents = [document for *_, document in self._waiting]
        self._add_columns(documents, path)

        # Values that a document lacks are 0 or missing, depending on
        # the program that logged it.
        self._absent |= {math.isnan(document.absent) for document in documents}
        self._builder.padding = math.nan if True in self._absent else 0.0

        # Columns with tensors are noted, and left out at the end.
        X = np.array(
            [
                [d.values.get(name, d.absent) for name in self._columns]
                for d in documents
            ]
        )
        has_tensor = np.isinf(X).any(axis=0)  # only `_TENSOR_MARK` is infinite
        self._tensors |= {self._columns[j] for j in np.flatnonzero(has_tensor).tolist()}

        # Labels of the documents; negative grades count as 0.
        numbers = [number for _, _, number, _ in self._waiting]
        y = np.maximum(self._judged.labels[numbers], 0.0)

        # Queries are known only when all documents are read, so the
        # piece has no runs of documents of a query; then `line_of_run`
        # is not called.
        piece = DocumentPiece(
            X=X,
            y=y if y.shape[1] > 1 else y[:, 0],
            comments=TextComments.of(
                _document_comment(query, name) for query, name, *_ in self._waiting
            ),
            missing=np.zeros(0, dtype=np.int64),
            runs=(),
            line_of_run=int,
        )
        self._builder.add(piece, share)
        self._waiting.clear()

    def _add_columns(self, documents: Sequence[LoggedDocument], path: Path) -> None:
        """Add a column for each feature that these documents are the first to have."""
        existing = set(self._columns)
        names = dict.fromkeys(
            name for document in documents for name in document.values
        )
        new = [name for name in names if name not in existing]
        self._columns += new
        if len(self._columns) > MOST_FEATURES:
            raise _feature_count_error(path, len(self._columns))

        # Earlier rows would need 0 from one engine, and no value from another.
        if new and len(self._absent) > 1:
            text = tr(
                "{path}: found the new feature {name}; logs of several engines must have the same features."
            )
            raise DatasetError(text.format(path=path, name=quoted(new[0])))

    def facts(self, path: Path, judgments: Path) -> TableFacts:
        """Return the names, sizes and order of the table, once all documents are written.

        Raises
        ------
        DatasetError
            If no document is both logged and judged, or no document has a feature.
        """
        # Without a common document, the error shows an example of each side.
        logged_rows = np.flatnonzero(self._rows >= 0)
        if not logged_rows.size:
            # a log without documents is refused earlier
            assert self._example is not None
            raise _nothing_joined_error(
                path,
                judgments,
                self._example,
                next(self._judged.unlogged(self._rows)),
            )

        # Columns with tensors are left out of the table.
        names = [name for name in self._columns if name not in self._tensors]
        if not names:
            raise _feature_count_error(path, 0)

        # Names are compared as they are shown, because different names
        # may look the same on one line.
        titles = list(map(one_line, names))
        if repeated := next(
            (name for name, n in Counter(titles).items() if n > 1), None
        ):
            text = tr(
                "{path}: found two features named {name}, expected different names."
            )
            raise DatasetError(text.format(path=path, name=quoted(repeated)))

        # The rows were written in the order of the logs; they are
        # gathered in the order of the judgments, by query.
        sizes = np.bincount(
            self._judged.query[logged_rows], minlength=len(self._judged.queries)
        )
        gathered = GatheredRows(
            order=self._rows[logged_rows],
            query_ptr=np.cumsum([0, *sizes[sizes > 0].tolist()], dtype=np.int64),
            query_ids=tuple(
                q
                for q, size in zip(self._judged.queries, sizes.tolist(), strict=True)
                if size
            ),
            without=tuple(
                j for j, name in enumerate(self._columns) if name in self._tensors
            ),
        )
        negative = int((self._judged.labels[logged_rows] < 0).sum())
        return TableFacts(
            n_features=len(names),
            dense=True,
            feature_names=tuple(titles),
            rows=gathered,
            remarks=self._notes(len(self._rows) - logged_rows.size, negative),
        )

    def _notes(self, n_unlogged: int, negative: int) -> tuple[str, ...]:
        """Return sentences on documents that were left out or repeated, and negative grades."""
        sentences = []

        # Documents that are not both logged and judged.
        if self._n_unjudged:
            text = trn(
                "{n} logged document without a judgment is left out: {ids}.",
                "{n} logged documents without a judgment are left out: {ids}.",
                self._n_unjudged,
            )
            sentences.append(
                text.format(
                    n=count_text(self._n_unjudged), ids=_ids_text(self._first_unjudged)
                )
            )
        if n_unlogged:
            text = trn(
                "{n} judged document is not in the logs and left out: {ids}.",
                "{n} judged documents are not in the logs and left out: {ids}.",
                n_unlogged,
            )
            first = [*islice(self._judged.unlogged(self._rows), _MAX_LISTED_IDS + 1)]
            sentences.append(
                text.format(n=count_text(n_unlogged), ids=_ids_text(first))
            )

        # Values that cannot be feature values, and documents that were
        # logged several times.
        if self._tensors:
            text = tr("Tensors are no numbers and left out: {names}.")
            listed_tensors = sorted(self._tensors)[:_MAX_LISTED_IDS]
            names = ", ".join(map(one_line, listed_tensors))
            sentences.append(text.format(names=names))
        if self._n_repeated:
            text = trn(
                "{n} document is logged again with other values; the last ones are used.",
                "{n} documents are logged again with other values; the last ones are used.",
                self._n_repeated,
            )
            sentences.append(text.format(n=count_text(self._n_repeated)))
        return (*sentences, *negative_grades(negative))


def read_logs(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read feature logs into a table, joined with the judgments of a part.

    Documents that are only logged, or only judged, are left out,
    counted and listed. A negative grade is 0. With several judges, the
    labels have a column for each judge.

    Notes
    -----
    O(mn) for m documents with n features; memory O(D) for D judged documents, and a piece of the log.
    """
    # Without judgments, every logged document has the grade 0.
    judges = [read_judgments(text.in_lines()) for text in part.judgments]
    judged = JudgedDocuments(judges or [_grades_of_logged(part.paths, progress)])
    joined = _JoinedDocuments(judged, builder)
    total = sum(map(regular_file_size, part.paths))
    finished = 0  # bytes of the files that are read completely
    for file in files:
        for document in logged_documents(file):
            if joined.add(document, file.path):
                progress.check()
                joined.write(file.path, (finished + file.done) / max(total, 1))
        finished += file.size
        joined.write(file.path, finished / max(total, 1))

    # The paths are for error messages.
    return joined.facts(
        part.paths[0], part.judgments[0].path if judges else part.paths[0]
    )


def _grades_of_logged(paths: Files, progress: ReadProgress) -> Grades:
    """Return the grade 0 for every logged document, by query and document.

    The grades are for logs without judgments, whose documents are only
    scored. Of several possible ids of a query or a document, the first
    one is used.
    """
    # The thread is for the checksum that a streamed file computes.
    grades: dict[str, dict[str, float]] = {}
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        for path in paths:
            for document in logged_documents(
                StreamedFile(path, progress.silent(), pool)
            ):
                grades.setdefault(document.queries[0], {})[document.documents[0]] = 0.0
    return grades


def unmatched_documents(logs: Files, judgments: Files) -> list[tuple[str, str, str]]:
    """Return the documents that are logged or judged, but not both.

    An entry of the result is the id of a query, the id of a document,
    and "not judged" or "not logged".
    """
    # A row is 0 if its document is logged, and -1 if not.
    judged = JudgedDocuments([read_judgments(read_lines(file)) for file in judgments])
    rows = np.full(len(judged.labels), -1, dtype=np.int64)

    # Read the logs once. A dict keeps the order of the documents, and
    # each of them once. The thread is for the checksum that a streamed
    # file computes.
    unjudged: dict[tuple[str, str], None] = {}
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        for path in logs:
            for document in logged_documents(StreamedFile(path, ReadProgress(), pool)):
                matched = judged.find(document)
                if matched is None:
                    # the first ones of its possible ids
                    unjudged[document.queries[0], document.documents[0]] = None
                else:
                    _, _, number = matched
                    rows[number] = 0

    # Both sides in the order of their files.
    return [
        *((*ids, "not judged") for ids in unjudged),
        *((*ids, "not logged") for ids in judged.unlogged(rows)),
    ]


def _feature_count_error(path: Path, n_features: int) -> DatasetError:
    text = tr("{path}: found {n} features, expected at least one and at most {most}.")
    return DatasetError(text.format(path=path, n=n_features, most=MOST_FEATURES))


def _document_comment(query: str, document: str) -> str:
    """Return the comment of a document in LETOR text: the id of the document.

    The comment includes the query if it has blanks, which LETOR text
    cannot contain in a query.
    """
    return (
        f"docid = {document} query = {query}"
        if len(query.split()) > 1
        else f"docid = {document}"
    )


def _nothing_joined_error(
    logs: Path, judgments: Path, logged: LoggedDocument, judged: tuple[str, str]
) -> DatasetError:
    """Return the error for logs and judgments without a common document."""
    judged_query, judged_document = judged
    text = tr(
        "{logs}: no logged document has a judgment in {judgments}. Logged is, for example, {document} for "
        "the query {query}; judged is {other_document} for the query {other_query}. Both need the same ids."
    )

    # If the query was named after the file, the response may only lack its query.
    if logged.queries == (_query_of_file(logs),):
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
            other_document=quoted(judged_document),
            other_query=quoted(judged_query),
        )
    )


def _ids_text(query_documents: Sequence[tuple[str, str]]) -> str:
    """Return a list of documents, each with its query, as text for a message.

    Of a long list, only the first documents are named.
    """
    ids_text = "; ".join(
        f"{query} {document}" for query, document in query_documents[:_MAX_LISTED_IDS]
    )
    return (
        tr("{ids} and others").format(ids=ids_text)
        if len(query_documents) > _MAX_LISTED_IDS
        else ids_text
    )
