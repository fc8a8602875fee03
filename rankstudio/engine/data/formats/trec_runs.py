"""TREC runs: ranked lists as lines ``qid Q0 docid rank score tag``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rankstudio.engine.data.text_lines import TextLines, number, read_lines
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr, translatable

EXPECTED = translatable("a line of a TREC run: query, Q0, document, rank, score, tag")
_FEWEST, _MOST = 5, 6  # words: some programs leave the tag out

RunScores = Mapping[str, Mapping[str, float]]
"""Of a run: the score of each document of each query."""


def is_run(text: TextLines) -> bool:
    """Tell whether the first line of a file is one of a run."""
    first = next((words for _, words in text.words()), [])
    return _FEWEST <= len(first) <= _MOST and number(first[4]) is not None


def read_run(path: Path) -> RunScores:
    """Read a run; see `run_scores`."""
    return run_scores(read_lines(path))


def run_scores(text: TextLines) -> RunScores:
    """Return the scores of a run; the ranks that it names are not looked at, as trec_eval does not.

    Raises
    ------
    FormatError
        At the first line that is none of a run, or has a document of a query again.
    DatasetError
        For a file without lines.
    """
    found: dict[str, dict[str, float]] = {}
    for line, words in text.words():
        score = number(words[4]) if _FEWEST <= len(words) <= _MOST else None
        if score is None:
            raise text.error(line, " ".join(words), tr(EXPECTED))
        query, document = words[0], words[2]
        documents = found.setdefault(query, {})
        if document in documents:
            raise text.error(line, f"{query} {document}", tr("each document of a query once"))
        documents[document] = score
    if not found:
        raise DatasetError(
            tr("{path}: found no lines, expected {expected}.").format(path=text.path, expected=tr(EXPECTED))
        )
    return found
