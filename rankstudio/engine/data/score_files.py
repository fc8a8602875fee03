"""Read files of scores: one a line in the order of the documents, or the lines of a TREC run."""

from __future__ import annotations

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

_EXPECTED = translatable("one number per line, the score")


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
                    "{where} and {others} other have {m} documents in total, but {path} has "
                    "{n} scores; expected one score per document.",
                    "{where} and {others} others have {m} documents in total, but {path} has "
                    "{n} scores; expected one score per document.",
                    n_others,
                )
                if n_others
                else tr(
                    "{where} has {m} documents, but {path} has {n} scores; expected one score per document."
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
                    "{path} is a TREC run, but some documents of {part} have no id. Add docid "
                    "= … to their comments, or use a file with one score per line in document "
                    "order."
                ).format(path=self.path, part=part.source.path if part.source else part)
            )
        scores = np.full(part.n_documents, -np.inf)
        ids = part.document_ids
        for row, query in enumerate(part.query_index.tolist()):
            scores[row] = run.get(part.query_ids[query], {}).get(ids[row], -np.inf)
        if np.isneginf(scores).all():
            raise DatasetError(
                tr(
                    "{path} contains none of the documents of {part}. "
                    "Check that both use the same query and document ids."
                ).format(path=self.path, part=part.source.path if part.source else part)
            )
        return scores


def read_score_file(path: Path) -> ScoreFile:
    """Read a file of scores of either kind: a run where its first line is one.

    Parameters
    ----------
    path : Path
        One number a line, as SVM-rank, LETOR's tools and most others write them, or a run; may be compressed.
        ``inf`` is a number, ``nan`` is none. Empty lines may follow the last score.

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


def _values(text: TextLines) -> Floats:
    lines = text.lines or ("",)
    scores = np.empty(len(lines))
    for row, line in enumerate(lines):
        score = number(line)
        if score is None:
            raise text.error(row + 1, line, tr(_EXPECTED))
        scores[row] = score
    return scores
