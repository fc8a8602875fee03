"""Judgments of documents: TREC's qrels, ratings in CSV as Quepid has them, judgment lists of OpenSearch."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstudio.engine.data.file_access import children, without_ending
from rankstudio.engine.data.formats.trec import grades_of, is_judgment
from rankstudio.engine.data.source_file import TextLines, number
from rankstudio.engine.errors import DatasetError, NoJudgmentsError
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.escaping import one_line

Grades = Mapping[str, Mapping[str, float]]
"""The grade of each document of each query, by their ids."""

EXPECTED = translatable(
    "judgments: TREC lines of query, iteration, document and grade; a CSV file with columns query, docid and "
    "rating; or JSON of OpenSearch with judgmentRatings"
)
_JUDGMENT_FILE_NAME = re.compile(r"qrel|judg|rating", re.IGNORECASE)
_ENDINGS = ("", ".txt", ".qrels", ".csv", ".tsv", ".json")
_COLUMNS = {
    "query": ("qid", "queryid", "query", "querytext", "keywords"),
    "document": ("docid", "documentid", "doc", "document", "id"),
    "grade": ("rating", "grade", "label", "relevance", "judgment", "judgement"),
}


def read_judgments(text: TextLines) -> Grades:
    """Read the judgments in a file as a mapping: query -> document -> grade.

    The format is recognised by the first line: JSON of OpenSearch,
    lines of TREC, or a table with a header. A document without a rating
    is not judged.

    Raises
    ------
    FormatError, DatasetError
        If a line is no judgment, the file has no judgments, or a
        document of a query has two different grades.
    """
    # The first line that is not blank.
    first_line = next((line.strip() for line in text.lines if line.strip()), "")
    if first_line[:1] in ("{", "["):
        grades = _grades_by_query(text, _judgments_in_json(text))
    elif is_judgment(first_line):
        grades = grades_of(text)
    else:
        grades = _grades_by_query(text, _judgments_in_table(text))
    if not any(grades.values()):
        raise DatasetError(
            tr("{path}: found no judgments, expected {expected}.").format(
                path=text.path, expected=tr(EXPECTED)
            )
        )
    return grades


def judgments_beside(logs: Path) -> Path:
    """Return the file of judgments beside feature logs, by its name.

    Raises
    ------
    NoJudgmentsError
        If there is no such file, or there are several.
    """
    files = judgment_files(logs.parent)
    if len(files) != 1:
        text = (
            tr(
                "{path}: found feature logs without judgments; expected one file in the same folder with "
                "qrel, judgment or rating in its name."
            )
            if not files
            else tr(
                "{path}: found {files} beside the feature logs, expected one file of judgments."
            )
        )
        raise NoJudgmentsError(
            text.format(path=logs, files=", ".join(path.name for path in files))
        )
    return files[0]


def judged_by_any(judges: Sequence[Grades]) -> Grades:
    """Combine the judgments of several judges into one mapping: query -> document -> grade.

    A document has the grade of the first judge who judged it.
    """
    judged: dict[str, dict[str, float]] = {}
    for query, documents in (item for grades in judges for item in grades.items()):
        # Add the documents that no earlier judge has judged.
        judged_documents = judged.setdefault(query, {})
        judged_documents.update(
            {
                document: grade
                for document, grade in documents.items()
                if document not in judged_documents
            }
        )
    return judged


def judgment_files(folder: Path) -> list[Path]:
    """Return the files of a folder with names of judgments, such as qrels.txt."""
    return [
        path
        for path in children(folder)
        if _JUDGMENT_FILE_NAME.search(path.name)
        and Path(without_ending(path.name.lower())).suffix in _ENDINGS
        and path.is_file()
    ]


def _grades_by_query(
    text: TextLines, rows: Iterator[tuple[int, str, str, str]]
) -> dict[str, dict[str, float]]:
    """Return the grades as a mapping: query -> document -> grade.

    ``rows`` has (line, query, document, rating); ``text`` is for
    messages. Raise FormatError for a rating that is no number, or two
    different ratings of a document.
    """
    grades: dict[str, dict[str, float]] = {}
    for line, *ids, rating in rows:
        query, document = map(one_line, ids)
        grade = number(rating)
        if grade is None or math.isinf(grade):
            raise text.error(line, rating, tr("a number as the rating"))
        # The same rating may occur again.
        if grades.setdefault(query, {}).setdefault(document, grade) != grade:
            raise text.error(
                line,
                f"{query} {document}",
                tr("one rating for each document of a query"),
            )
    return grades


def _judgments_in_table(text: TextLines) -> Iterator[tuple[int, str, str, str]]:
    """Yield (line, query, document, rating) for each judgment in a table with a header.

    Raise FormatError if a column is missing, or a line is too short.
    """
    header = text.lines[0] if text.lines else ""
    # The separator is the one that occurs most often in the header.
    separator = max(",;\t", key=header.count)
    rows = csv.reader(io.StringIO("\n".join(text.lines)), delimiter=separator)
    try:
        # Find the column of each role by its common names.
        names = [re.sub(r"[\W_]+", "", cell).lower() for cell in next(rows, [])]
        # -1 is no such column.
        column_of_role = {
            role: next(
                (names.index(name) for name in common_names if name in names), -1
            )
            for role, common_names in _COLUMNS.items()
        }
        if min(column_of_role.values()) < 0:
            raise text.error(1, header, tr(EXPECTED))
        last_column = max(column_of_role.values())
        # Blank lines are skipped, and so are documents without a rating.
        for row in rows:
            if not any(row):
                continue
            if len(row) <= last_column:
                raise text.error(
                    rows.line_num,
                    separator.join(row),
                    tr("as many cells as in the first line"),
                )
            query, document, rating = (
                row[column_of_role[role]].strip() for role in _COLUMNS
            )
            if rating:
                yield rows.line_num, query, document, rating
    except csv.Error:
        raise text.error(
            rows.line_num, text.lines[rows.line_num - 1], tr(EXPECTED)
        ) from None


def _judgments_in_json(text: TextLines) -> Iterator[tuple[int, str, str, str]]:
    """Yield (line, query, document, rating) for each judgment in JSON of OpenSearch.

    The JSON has judgment lists, perhaps within responses of the engine.
    Raise FormatError if there is no such list, or a judgment is
    invalid.
    """
    # NaN and Infinity become texts, which are checked as ratings later.
    try:
        parsed = json.loads("\n".join(text.lines), parse_constant=str)
    except (ValueError, RecursionError):
        parsed = None
    lists = list(_judgment_lists(parsed))
    if not lists:
        raise text.error(1, text.lines[0], tr(EXPECTED))
    # Each entry rates documents for one query. Lines are not known
    # after parsing: all judgments get line 1.
    for entry in (entry for judgments in lists for entry in judgments):
        ratings = entry.get("ratings") if isinstance(entry, dict) else None
        query = entry.get("query") if isinstance(entry, dict) else None
        if not isinstance(ratings, list) or not isinstance(query, str):
            raise text.error(1, json.dumps(entry), tr(EXPECTED))
        for rated in ratings:
            document = rated.get("docId") if isinstance(rated, dict) else None
            if not isinstance(document, str | int):
                raise text.error(1, json.dumps(rated), tr(EXPECTED))
            yield 1, query, str(document), str(rated.get("rating", ""))


def _judgment_lists(node: Any) -> Iterator[list[Any]]:
    """Yield the judgment lists in parsed JSON, also those within a response."""
    if isinstance(node, list):
        for child in node:
            yield from _judgment_lists(child)
    elif isinstance(node, dict):
        ratings = node.get("judgmentRatings")
        if isinstance(ratings, list):
            yield ratings
        # A response has hits, each with the stored object as its source.
        for key in ("hits", "_source"):
            yield from _judgment_lists(node.get(key))
