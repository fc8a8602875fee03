"""Read files of scores: one a line in the order of the documents, or the lines of a TREC run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.trec import RunScores, is_run, run_scores
from rankstudio.engine.data.text_lines import TextLines, number, read_lines
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr, translatable, trn

_EXPECTED = translatable("one score, a number, on each line")


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """What a file of scores says.

    Attributes
    ----------
    path : Path
    checksum : str
        SHA-256 of its bytes.
    values : ndarray of shape (m,)
        One a line; of size 0 where the file is a run.
    run : RunScores or None
        By query and document, of a TREC run.
    """

    path: Path
    checksum: str
    values: Floats
    run: RunScores | None = None

    def knows(self, part: RankingDataset) -> bool:
        """Tell whether a run has any document of a part, or it is not to be told for want of ids."""
        run = self.run or {}
        if not all(part.document_ids):
            return any(query in run for query in part.query_ids)
        rows = zip(part.query_index.tolist(), part.document_ids, strict=True)
        return any(document in run.get(part.query_ids[query], ()) for query, document in rows)

    def of_parts(self, parts: Sequence[RankingDataset]) -> list[Floats]:
        """Return the scores of the documents of some parts, in the order of their rows.

        Of a file with a score a line the parts' documents follow each other. Of a run, documents that it
        has not rank after all that it has, by the score -inf, and those that the data have not are left out.

        Raises
        ------
        DatasetError
            Where there is not one score for each document, or the documents have no ids to find in a run.
        """
        if self.run is not None:
            return [self._of_run(part) for part in parts]
        m = sum(part.n_documents for part in parts)
        if self.values.size != m:
            first = parts[0].source.path if parts[0].source else parts[0]
            n_others = len(parts) - 1
            text = (
                trn(
                    "{where} and {others} other together have {m} documents and {path} has {n} scores; "
                    "expected one score for each document.",
                    "{where} and {others} others together have {m} documents and {path} has {n} scores; "
                    "expected one score for each document.",
                    n_others,
                )
                if n_others
                else tr(
                    "{where} has {m} documents and {path} has {n} scores; expected one score for each "
                    "document."
                )
            )
            raise DatasetError(
                text.format(where=first, others=n_others, m=m, path=self.path, n=self.values.size)
            )
        ends = np.cumsum([part.n_documents for part in parts])[:-1]
        pieces = zip(np.split(self.values, ends), parts, strict=True)
        return [piece if part.file_rows is None else piece[part.file_rows] for piece, part in pieces]

    def _of_run(self, part: RankingDataset) -> Floats:
        run = self.run or {}
        if not all(part.document_ids):
            raise DatasetError(
                tr(
                    "{path} is a TREC run, and not every document of {part} has an id; expected docid = … in "
                    "its comments, or a file with one score a line in the order of the documents."
                ).format(path=self.path, part=part.source.path if part.source else part)
            )
        scores = np.full(part.n_documents, -np.inf)
        ids = part.document_ids
        for row, query in enumerate(part.query_index.tolist()):
            scores[row] = run.get(part.query_ids[query], {}).get(ids[row], -np.inf)
        if np.isneginf(scores).all():
            raise DatasetError(
                tr(
                    "{path}: found none of the documents of {part}, expected their ids of queries "
                    "and documents."
                ).format(path=self.path, part=part.source.path if part.source else part)
            )
        return scores


def read_score_file(path: Path) -> ScoreFile:
    """Read a file of scores of either kind: a run where its first line is one.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError, DatasetError
        At the first line that is not as the first one tells.
    """
    text = read_lines(path)
    if is_run(text):
        return ScoreFile(path, text.checksum, np.empty(0), run_scores(text))
    return ScoreFile(path, text.checksum, _values(text))


def read_scores(path: str | os.PathLike[str]) -> Floats:
    """Read the scores that some program gave to documents.

    Parameters
    ----------
    path : str or path-like
        One number a line, as SVM-rank, LETOR's tools and most others write them; may be compressed.
        ``inf`` is a number, ``nan`` is none. Empty lines may follow the last score.

    Returns
    -------
    ndarray of shape (m,)
        In the order of the file.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first line that is not a number.
    """
    return _values(read_lines(Path(path)))


def _values(text: TextLines) -> Floats:
    lines = text.lines or ("",)
    scores = np.empty(len(lines))
    for row, line in enumerate(lines):
        score = number(line)
        if score is None:
            raise text.error(row + 1, line, tr(_EXPECTED))
        scores[row] = score
    return scores
