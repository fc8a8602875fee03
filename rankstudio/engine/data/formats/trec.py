"""TREC judgments (qrels) with runs: the judged documents, with the score in each run as a feature.

Runs are ranked lists as lines ``qid Q0 docid rank score tag``.
Judgments are those of a file, or of a collection in the library
ir_datasets.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.file_access import without_ending
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import (
    TextLines,
    derived_checksum,
    number,
    read_lines,
)
from rankstudio.engine.data.table import ReadAs, Source, Table
from rankstudio.engine.data.tabular.recognition import short
from rankstudio.engine.errors import DatasetError, MissingExtraError, MissingValueError
from rankstudio.engine.language import tr, translatable, trn
from rankstudio.engine.support.number_format import count_text

EXPECTED = translatable("a line of a TREC run: query, Q0, document, rank, score, tag")
_MIN_WORDS = 5
_MAX_WORDS = 6  # some programs leave the tag out

RunScores = Mapping[str, Mapping[str, float]]
"""Score of each document of each query in a run, by their ids."""


def is_run(text: TextLines) -> bool:
    """Return whether the first line of a file belongs to a TREC run."""
    first = next((words for _, words in text.words()), [])
    return _MIN_WORDS <= len(first) <= _MAX_WORDS and number(first[4]) is not None


def run_scores(text: TextLines) -> RunScores:
    """Return the scores in a TREC run as a mapping: query -> document -> score.

    A run is the ranking of a search system: lines of query, Q0,
    document, rank, score and tag. Ranks are ignored, as in trec_eval.

    Raises
    ------
    FormatError
        At the first line that is not part of a run, or repeats a
        document of a query.
    DatasetError
        For an empty file.
    """
    # The score is the fifth word.
    return _values_by_query(
        text,
        lambda words: (
            number(words[4]) if _MIN_WORDS <= len(words) <= _MAX_WORDS else None
        ),
        EXPECTED,
    )


def _values_by_query(
    text: TextLines,
    value_of: Callable[[list[str]], float | None],
    expected: str,
    lines: dict[tuple[str, str], int] | None = None,
) -> dict[str, dict[str, float]]:
    """Read a value of each document from lines of text, as a mapping: query -> document -> value.

    Parameters
    ----------
    text : TextLines
        Lines with the words query, a word that is ignored, document, and more.
    value_of : callable
        Computes the value from the words of a line; None for an invalid line.
    expected : str
        Description of a valid line, for messages.
    lines : dict, optional
        Receives the number of each line by (query, document).

    Raises
    ------
    FormatError
        For an invalid line, or a document that occurs twice.
    DatasetError
        For an empty file.
    """
    values_of_query: dict[str, dict[str, float]] = {}
    for line, words in text.words():
        value = value_of(words)
        if value is None:
            raise text.error(line, " ".join(words), tr(expected))
        # The word between them is of no use: the iteration in judgments, Q0 in runs.
        query, _, document = words[:3]
        documents = values_of_query.setdefault(query, {})
        if document in documents:
            raise text.error(
                line, f"{query} {document}", tr("each document at most once per query")
            )
        documents[document] = value
        if lines is not None:
            lines[query, document] = line
    if not values_of_query:
        raise DatasetError(
            tr("{path}: found no lines, expected {expected}.").format(
                path=text.path, expected=tr(expected)
            )
        )
    return values_of_query


RUN_ENDINGS = (".run", ".trec", ".res")
"""Endings of names of runs, before an ending of compression.

Other names of runs begin with ``run.``.
"""

_EXPECTED = translatable("a line of TREC judgments: query, iteration, document, grade")
_QRELS_WORDS = 4


def is_judgment(line: str) -> bool:
    """Return whether a line is a TREC judgment: query, iteration, document, grade."""
    words = line.split()
    # A colon in the second word would be that of a feature in LETOR text.
    return (
        len(words) == _QRELS_WORDS
        and words[3].removeprefix("-").isdecimal()
        and ":" not in words[1]
    )


def is_qrels_name(name: str) -> bool:
    """Return whether the name of a file is that of judgments."""
    return "qrel" in name.lower()


def runs_beside(qrels: Path) -> dict[str, Path]:
    """Return the TREC runs in the folder of a file of judgments, by their names.

    Runs are recognised by the names of their files, and sorted by name.
    Return {} if there is no run.

    Raises
    ------
    DatasetError
        If two runs have the same name.
    """
    runs: dict[str, Path] = {}
    for path in sorted(qrels.parent.iterdir()):
        plain = without_ending(path.name)
        ending = next(
            (
                name_ending
                for name_ending in RUN_ENDINGS
                if plain.lower().endswith(name_ending)
            ),
            "",
        )
        is_run_name = bool(ending) or plain.lower().startswith("run.")
        if not is_run_name or not path.is_file() or path == qrels:
            continue
        # The name of a run has neither the ending nor "run.".
        name = plain[: len(plain) - len(ending)] if ending else plain[len("run.") :]
        if name in runs:
            raise DatasetError(
                tr(
                    "{folder}: found {a} and {b}, expected different names for the runs."
                ).format(folder=qrels.parent, a=runs[name].name, b=path.name)
            )
        runs[name] = path
    return runs


def read_judged(
    path: Path, progress: ReadProgress, refuse: bool
) -> tuple[Table, Source, ReadAs]:
    """Read TREC judgments with the runs beside them, whose scores are the features.

    ``path`` is the file of judgments, ``refuse`` whether a missing
    score is an error.

    Raises
    ------
    DataError
        If there is no run, or a file cannot be read.
    """
    qrels = read_lines(path)
    texts = {name: read_lines(file) for name, file in runs_beside(path).items()}
    if not texts:
        raise DatasetError(
            tr(
                "{path}: found TREC judgments without a run; expected files ending in "
                "{endings} in the same folder, or feature logs of a search engine."
            ).format(path=path, endings=", ".join(RUN_ENDINGS))
        )
    # Reading and parsing are each half of the progress.
    progress.advance(qrels.size / 2)
    runs = {name: run_scores(text) for name, text in texts.items()}
    table = graded_documents(qrels, runs, refuse=refuse)
    progress.advance(qrels.size / 2)
    # The checksum depends on the judgments and on all runs.
    identity = json.dumps([[name, text.checksum] for name, text in texts.items()])
    source = Source(
        path, qrels.size, derived_checksum(f"sha256:{qrels.checksum}", identity)
    )
    return table, source, ReadAs("trec", ", ".join(texts))


def graded_documents(
    qrels: TextLines, runs: Mapping[str, RunScores], *, refuse: bool = False
) -> Table:
    """Return the judged documents, with their score in each run as features.

    The dataset contains exactly the judged documents. A judged document
    that a run did not retrieve has a missing value; retrieved documents
    without a judgment are left out and counted. Negative grades become
    0.

    Parameters
    ----------
    qrels : TextLines
        Judgments: lines of query, iteration, document and grade.
    runs : Mapping of str to RunScores
        Scores of each run, by its name, which names the feature.
    refuse : bool
        Whether a missing value is an error.

    Raises
    ------
    FormatError
        At the first line that is not a judgment, or judges a document
        of a query twice.
    MissingValueError
        At the first document missing from a run, if ``refuse`` is true.
    DatasetError
        For an empty file, or a score that is not finite.

    Notes
    -----
    O(mn) for m judged documents and n runs.
    """
    # Grades by query and document, and the line of each judgment, for messages.
    grades, lines = judgments(qrels)
    # The rows are the judged documents, query by query.
    n_negative = sum(
        grade < 0 for documents in grades.values() for grade in documents.values()
    )
    rows = [
        (query, document)
        for query, documents in grades.items()
        for document in documents
    ]
    # The columns are the runs, NaN for documents not retrieved.
    X = np.full((len(rows), len(runs)), np.nan)
    for column, (name, run) in enumerate(runs.items()):
        X[:, column] = [
            run.get(query, {}).get(document, np.nan) for query, document in rows
        ]
        _check_scores(name, X[:, column], rows)
    # Report the first missing value if missing values are refused.
    if refuse and np.isnan(X).any():
        row, column = (int(indices[0]) for indices in np.nonzero(np.isnan(X)))
        query, document = rows[row]
        raise MissingValueError(
            qrels.path,
            lines[query, document],
            0,
            f"{query} {document}, which {list(runs)[column]} did not retrieve",
            "a score in every run, because missing values are refused",
        )
    sizes = [len(documents) for documents in grades.values()]
    return Table(
        X=X,
        y=np.array([max(grades[query][document], 0.0) for query, document in rows]),
        query_ptr=np.cumsum([0, *sizes], dtype=np.int64),
        query_ids=tuple(grades),
        comments=TextComments.of(f"docid = {document}" for _, document in rows),
        missing=np.isnan(X).sum(axis=0).astype(np.int64),
        dense=True,
        feature_names=tuple(runs),
        remarks=_remarks(grades, runs, n_negative),
    )


def judgments(
    qrels: TextLines,
) -> tuple[dict[str, dict[str, float]], dict[tuple[str, str], int]]:
    """Return (grades, lines) of TREC judgments.

    The grades are a mapping query -> document -> grade. The lines have
    the line number of each judgment by (query, document).

    Raises
    ------
    FormatError
        At the first line that is not a judgment, or judges a document
        of a query twice.
    DatasetError
        For an empty file.
    """
    lines: dict[tuple[str, str], int] = {}
    return _values_by_query(qrels, _parsed_grade, _EXPECTED, lines), lines


def grades_of(qrels: TextLines) -> dict[str, dict[str, float]]:
    """Return the grades in TREC judgments as a mapping: query -> document -> grade.

    Raise FormatError at the first line that is not a judgment, or
    judges a document of a query twice; DatasetError for an empty file.
    """
    return _values_by_query(qrels, _parsed_grade, _EXPECTED)


def _parsed_grade(words: list[str]) -> float | None:
    """Return the grade in the words of a judgment; None if there is none."""
    grade = number(words[3]) if len(words) == _QRELS_WORDS else None
    return None if grade is None or math.isinf(grade) else grade


def _check_scores(name: str, values: Floats, rows: list[tuple[str, str]]) -> None:
    """Raise DatasetError if a score of the TREC run ``name`` is infinite.

    ``values`` has shape (m,), and ``rows`` has (query, document) for
    each value.
    """
    if np.isinf(values).any():
        query, document = rows[int(np.isinf(values).argmax())]
        raise DatasetError(
            tr(
                "{run}: expected a finite score of {document} in query {query}, got an infinite one."
            ).format(run=name, document=document, query=query)
        )


def _remarks(
    grades: Mapping[str, Mapping[str, float]],
    runs: Mapping[str, RunScores],
    n_negative: int,
) -> tuple[str, ...]:
    """Return remarks on TREC judgments and runs as sentences; () if there are none.

    The remarks count negative grades, and documents that a run
    retrieved but no one judged. ``grades`` is a mapping query ->
    document -> grade; ``runs`` is a mapping run name -> query ->
    document -> score; ``n_negative`` is the number of negative grades.
    """
    # Find the retrieved documents without a judgment, from pairs
    # (query, document -> score) of all runs.
    retrieved = [
        query_documents for run in runs.values() for query_documents in run.items()
    ]
    unjudged = {
        (query, document)
        for query, documents in retrieved
        for document in documents
        if document not in grades.get(query, ())
    }
    remarks = negative_grades(n_negative)
    if unjudged:
        text = trn(
            "{n} retrieved document without a judgment is left out.",
            "{n} retrieved documents without a judgment are left out.",
            len(unjudged),
        )
        remarks = (text.format(n=count_text(len(unjudged))), *remarks)
    return remarks


def negative_grades(n_negative: int) -> tuple[str, ...]:
    """Return the remark on negative grades, if there are any."""
    if not n_negative:
        return ()
    text = trn(
        "{n} negative judgment counts as 0.",
        "{n} negative judgments count as 0.",
        n_negative,
    )
    return (text.format(n=count_text(n_negative)),)


PREFIX = "ir_datasets:"
"""Prefix of the name of a collection instead of a file, as in ``ir_datasets:msmarco-passage/dev``."""

_MAX_REASON_LENGTH = 200


def is_collection(path: Path) -> bool:
    """Return whether the judgments are those of a collection, not a file."""
    return path.as_posix().startswith(PREFIX)


def collection_judgments(path: Path) -> TextLines:
    """Return the judgments of a collection in the library ir_datasets, as lines of a TREC file.

    Parameters
    ----------
    path : Path
        ``ir_datasets:`` and the id of the collection. The library
        downloads missing files of the collection.

    Raises
    ------
    MissingExtraError
        If the library is not installed.
    DatasetError
        If the collection is unknown, or has no judgments of whole documents.
    """
    name = path.as_posix().removeprefix(PREFIX)
    try:
        import ir_datasets  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            f"A name that begins with {PREFIX}", "ir_datasets", "ir-datasets"
        ) from None
    try:
        collection = ir_datasets.load(name)
    except KeyError:
        raise DatasetError(
            f"{path.as_posix()}: ir_datasets has no collection {short(name)!r}; expected an id such as "
            "msmarco-passage/dev."
        ) from None
    except Exception as error:
        raise _ir_datasets_error(path, error) from error
    # Some collections contain only documents and queries.
    iterator = getattr(collection, "qrels_iter", None)
    if iterator is None:
        raise DatasetError(
            f"{path.as_posix()}: the collection has no judgments; expected a subset with judgments, such "
            "as msmarco-passage/dev of msmarco-passage."
        )
    # The checksum is that of the same judgments in a TREC file.
    lines = tuple(_judgment_lines(path, iterator))
    content = "\n".join(lines).encode("utf-8", "replace")
    return TextLines(path, lines, hashlib.sha256(content).hexdigest(), len(content))


def _judgment_lines(path: Path, iterator: Callable[[], Iterable[Any]]) -> Iterable[str]:
    """Yield a line of TREC judgments for each judgment of a collection.

    ``iterator`` yields named tuples of query_id, doc_id, relevance and
    perhaps iteration. Raise DatasetError, which names ``path``, if the
    library ir_datasets cannot provide the judgments.
    """
    try:
        for judgment in iterator():
            words = (
                judgment.query_id,
                getattr(judgment, "iteration", "0") or "0",
                judgment.doc_id,
                judgment.relevance,
            )
            yield " ".join(map(_checked_word, words))
    except Exception as error:  # the collection is not available, or judges something other than documents
        raise _ir_datasets_error(path, error) from error


def _checked_word(value: object) -> str:
    """Return a value as text that is one word of a line.

    Raises
    ------
    ValueError
        If the text has blanks, which a word of a TREC file cannot have.
    """
    text = str(value)
    if text.split() != [text]:
        raise ValueError(f"expected an id without spaces, found {short(text)!r}")
    return text


def _ir_datasets_error(path: Path, error: Exception) -> DatasetError:
    """Return a DatasetError for an error of the library ir_datasets; its message names ``path``.

    The reason is the text of the error on one line, or else the name of
    its class, cut short.
    """
    reason = short(
        " ".join(str(error).split()) or type(error).__name__, _MAX_REASON_LENGTH
    ).rstrip(".")
    return DatasetError(
        f"{path.as_posix()}: ir_datasets could not provide the judgments: {reason}."
    )
