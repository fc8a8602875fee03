"""Scores of another program for the parts of a dataset: files with one score per line, or TREC runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.file_access import children
from rankstudio.engine.data.formats.trec import RunScores, is_run, run_scores
from rankstudio.engine.data.source_file import TextLines, number, read_lines
from rankstudio.engine.data.splitting.leave_query_out import LeftOut
from rankstudio.engine.errors import DatasetError, FileAccessError
from rankstudio.engine.language import tr, translatable, trn

_FOLD = re.compile(r"(?:fold|f|s)[ ._-]?([0-9]{1,4})", re.IGNORECASE)
_PARTS = {
    "vali": re.compile("vali(d|dation)?|dev", re.IGNORECASE),
    "test": re.compile("test", re.IGNORECASE),
}
# a user may choose the home folder: listing it completely would take minutes
_MAX_FILES = 20_000

_OfFold = TypeVar("_OfFold")

_PartScores = Mapping[str, Floats]
"""One score per document, in the order of the rows, by the name of the part."""


@dataclass(frozen=True, eq=False)
class GivenFiles(Generic[_OfFold]):
    """Models, or scores of documents, that were read from files for the folds of a dataset.

    Attributes
    ----------
    of_folds : Mapping of int to object
        By fold number: the model of the fold, or the scores of its
        parts by the part's name.
    checksums : Mapping of str to str
        SHA-256 of each file, by its path in the folder, or by its name.
    left_out : tuple of int
        Folds without a file.
    """

    of_folds: Mapping[int, _OfFold]
    checksums: Mapping[str, str]
    left_out: tuple[int, ...]


def find_scores(path: Path, dataset: FoldedDataset) -> GivenFiles[_PartScores]:
    """Read the scores of another program for the documents of a dataset.

    Parameters
    ----------
    path : Path
        A folder in which names identify fold and part
        (``Fold1/test.scores``, ``fold1-test.txt``; for one fold
        ``test.scores``), or one file: a TREC run, for all parts whose
        queries it contains, or one score per line for the test part,
        with the folds in order.
    dataset : FoldedDataset
        Dataset with documents.

    Returns
    -------
    GivenFiles
        Scores of each fold that has scores for the part that is
        measured: test, or vali without a test part.

    Raises
    ------
    DataError
        If a file cannot be read, or does not match the documents.
    """
    if not path.exists():
        raise FileAccessError(path, tr("file or folder not found."))
    # A folder has files for folds and parts. The result is, by number
    # of the fold, its scores by part.
    read = _scores_in_folder if path.is_dir() else _scores_in_file
    scores_of_fold, checksums = read(path, dataset)
    # Keep the folds with scores for the part that is measured, test or vali.
    usable = {
        number: fold_scores
        for number, fold_scores in scores_of_fold.items()
        if fold_scores
    }
    measured = {fold.number: _measured_part(fold) for fold in dataset.folds}
    usable = {
        number: fold_scores
        for number, fold_scores in usable.items()
        if measured[number] in fold_scores
    }
    if not usable:
        raise DatasetError(
            tr(
                "{place}: found no scores for {data}; expected a file for each fold and part, "
                "such as Fold1/test.scores, or one file for the test part."
            ).format(place=path, data=dataset.name)
        )
    # The last field names the folds without scores.
    return GivenFiles(
        usable, checksums, tuple(number for number in measured if number not in usable)
    )


def _measured_part(fold: Fold) -> str:
    """Return the name of the part on which a fold is measured: test, or vali without one."""
    return "test" if fold.test is not None else "vali"


def _scores_in_file(
    path: Path, dataset: FoldedDataset
) -> tuple[Mapping[int, _PartScores], dict[str, str]]:
    """Read one file of scores for the folds of a dataset.

    Return (scores, checksum). The scores are a mapping: fold number
    -> name of the part -> array of one score per document. The second
    mapping has the checksum of the file, by its name.
    """
    file = read_score_file(path)
    # Only folds with a test or validation part can be measured.
    folds = [fold for fold in dataset.folds if _measured_part(fold) in fold.parts]
    if not folds:
        raise DatasetError(
            tr(
                "{data} has neither a test nor a validation part to measure scores on. Choose folds that "
                "create them, such as 5-fold (in the terminal --protocol 5-fold)."
            ).format(data=dataset.name)
        )
    # Scores by line are in the order of the measured documents.
    if file.run is None:
        # Folds that the program made are not in the order of the file,
        # except those that leave out one query after the other.
        if dataset.divided_by and not isinstance(folds[0].train, LeftOut):
            raise DatasetError(
                tr(
                    "{path} has one score per line, but the folds of {data} were created by "
                    "{how}, so the order of the documents differs. Use a TREC run with "
                    "document ids."
                ).format(path=path, data=dataset.name, how=dataset.divided_by)
            )
        # An array for each of these parts, in order.
        scores = file.of_parts([fold.parts[_measured_part(fold)] for fold in folds])
        measured_scores = {
            f.number: {_measured_part(f): values}
            for f, values in zip(folds, scores, strict=True)
        }
        return measured_scores, {path.name: file.checksum}
    # A run may contain scores of every part; ``knows`` is whether it
    # has documents of one.
    scores_of_fold = {
        fold.number: {
            name: file.of_parts([fold.parts[name]])[0]
            for name in _PARTS
            if name in fold.parts and file.knows(fold.parts[name])
        }
        for fold in folds
    }
    return scores_of_fold, {path.name: file.checksum}


def _scores_in_folder(
    folder: Path, dataset: FoldedDataset
) -> tuple[Mapping[int, _PartScores], dict[str, str]]:
    """Read the files of scores in a folder, whose names contain fold and part.

    Return (scores, checksums). The scores are a mapping: fold number
    -> name of the part -> array of one score per document. The
    checksums are by the path in the folder.
    """
    # Find the file of each fold and part; ignore other files.
    path_of_part: dict[tuple[int, str], Path] = {}
    folds = {fold.number: fold for fold in dataset.folds}
    for path in _visible_files(folder):
        number, part = _fold_and_part(path.relative_to(folder), dataset)
        if part not in _PARTS or number not in folds or part not in folds[number].parts:
            continue
        if (number, part) in path_of_part:
            raise DatasetError(
                tr(
                    "{folder}: found {a} and {b} for the {part} part of fold {fold}, expected one file."
                ).format(
                    folder=folder,
                    a=path_of_part[number, part].name,
                    b=path.name,
                    part=part,
                    fold=number,
                )
            )
        path_of_part[number, part] = path
    # Read the scores of the documents of each part.
    scores_of_fold: dict[int, dict[str, Floats]] = {}
    checksums: dict[str, str] = {}
    for (number, part), path in sorted(path_of_part.items()):
        file: ScoreFile = read_score_file(path)
        (scores,) = file.of_parts([folds[number].parts[part]])
        scores_of_fold.setdefault(number, {})[part] = scores
        checksums[path.relative_to(folder).as_posix()] = file.checksum
    return scores_of_fold, checksums


def _visible_files(folder: Path) -> list[Path]:
    """Return the files in a folder and in its direct subfolders, except hidden ones."""
    visible = [child for child in children(folder) if not child.name.startswith(".")]
    # A home folder may have very many files: only the first ones count.
    files_of_children = [
        children(child) if child.is_dir() else [child] for child in visible[:_MAX_FILES]
    ]
    return [
        path
        for paths in files_of_children
        for path in paths
        if path.is_file() and not path.name.startswith(".")
    ]


def _fold_and_part(path: Path, dataset: FoldedDataset) -> tuple[int | None, str]:
    """Return the number of the fold and the name of the part in a path.

    The name is "vali" or "test", or "" if the path names no part. A
    path without a fold belongs to the only fold of the dataset; of
    several folds, the number is None.
    """
    # Words of the names of folders and file; the first number with a fold counts.
    words = [word for piece in path.parts for word in re.split("[ ._-]+", piece)]
    fold_matches = map(_fold_match, path.parts)
    numbers = [int(match[1]) for match in fold_matches if match is not None]
    part = next(
        (
            name
            for name, pattern in _PARTS.items()
            if any(pattern.fullmatch(w) for w in words)
        ),
        "",
    )
    only_fold = dataset.folds[0].number if len(dataset.folds) == 1 else None
    return (numbers[0] if numbers else only_fold), part


def _fold_match(piece: str) -> re.Match[str] | None:
    """Return the match of a fold in a piece of a path, such as "Fold1" or "s2", or None.

    Group 1 of the match is the number of the fold. The word must not
    follow a letter or digit: the "s2" in "ranks2" is no fold.
    """
    return next(
        (
            match
            for match in _FOLD.finditer(piece)
            if match.start() == 0 or not piece[match.start() - 1].isalnum()
        ),
        None,
    )


_EXPECTED = translatable("one number per line, the score")


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """Contents of a file with scores of documents.

    Attributes
    ----------
    path : Path
        The file.
    checksum : str
        SHA-256 of the file's bytes.
    values : ndarray of shape (m,)
        Scores, one per line; of size 0 for a TREC run.
    run : RunScores or None
        Scores by query and document, for a TREC run; otherwise None.
    """

    path: Path
    checksum: str
    values: Floats
    run: RunScores | None = None

    def knows(self, part: RankingDataset) -> bool:
        """Return whether the file, a TREC run, has scores of documents of a part.

        If some documents have no id, the file must have only a query of
        the part.
        """
        # query -> document -> score; a file with a score per line is no run
        run = self.run or {}
        if not all(part.document_ids):
            return any(query in run for query in part.query_ids)
        rows = zip(part.query_index.tolist(), part.document_ids, strict=True)
        return any(
            document in run.get(part.query_ids[query], ()) for query, document in rows
        )

    def of_parts(self, parts: Sequence[RankingDataset]) -> list[Floats]:
        """Return the scores in the file for the documents of some parts, in row order: an array per part.

        In a file with one score per line, the parts' documents are in
        sequence. In a run, missing documents rank last with the score
        -inf, and documents that are not in the data are ignored.

        Raises
        ------
        DatasetError
            If there is not one score per document, or a run is used for
            documents without ids.
        """
        if self.run is not None:
            return [self._of_run(part) for part in parts]
        # Scores by line: one for each document of the parts.
        m = sum(part.n_documents for part in parts)
        if self.values.size != m:
            first = parts[0].source.path if parts[0].source else parts[0]
            n_others = len(parts) - 1
            if n_others:
                text = trn(
                    "{where} and {others} other part have {m} documents in total, but {path} has {n} "
                    "scores; expected one score per document.",
                    "{where} and {others} other parts have {m} documents in total, but {path} has {n} "
                    "scores; expected one score per document.",
                    n_others,
                )
            else:
                text = tr(
                    "{where} has {m} documents, but {path} has {n} scores; expected one score per document."
                )
            raise DatasetError(
                text.format(
                    where=first,
                    others=n_others,
                    m=m,
                    path=self.path,
                    n=self.values.size,
                )
            )
        # Cut the scores by part, and sort them as the rows of the part:
        # file_rows has the position of each row in the file, None if
        # they are in its order.
        ends = np.cumsum([part.n_documents for part in parts])[:-1]
        scores_of_parts = []
        for scores, part in zip(np.split(self.values, ends), parts, strict=True):
            rows = part.file_rows
            scores_of_parts.append(scores if rows is None else scores[rows])
        return scores_of_parts

    def _of_run(self, part: RankingDataset) -> Floats:
        """Return the scores of the file, a TREC run, for the m documents of a part.

        The result has shape (m,), with -inf for documents that the run
        lacks. Raise DatasetError if documents have no ids, or the run
        has no document of the part.
        """
        run = self.run or {}
        if not all(part.document_ids):
            raise DatasetError(
                tr(
                    "{path} is a TREC run, but some documents of {part} have no id. Add docid "
                    "= … to their comments, or use a file with one score per line in document "
                    "order."
                ).format(path=self.path, part=part.source.path if part.source else part)
            )
        # Look up each document by its query and id.
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
    """Read a file with scores of documents: a TREC run, or one number per line.

    The first line decides which.

    Parameters
    ----------
    path : Path
        File with one number per line, as written by SVM-rank, LETOR's
        tools and most others, or a run; may be compressed. ``inf`` is
        accepted, ``nan`` is not. Empty lines may follow the last score.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError, DatasetError
        At the first line that differs in form from the first one.
    """
    text = read_lines(path)
    if is_run(text):
        return ScoreFile(path, text.checksum, np.empty(0), run_scores(text))
    return ScoreFile(path, text.checksum, _parsed_scores(text))


def _parsed_scores(text: TextLines) -> Floats:
    """Return the scores in a file with one number per line, shape (lines,).

    Raise FormatError for any other line.
    """
    # An empty file counts as one empty line, which is an error.
    lines = text.lines or ("",)
    scores = np.empty(len(lines))
    for row, line in enumerate(lines):
        score = number(line)
        if score is None:
            raise text.error(row + 1, line, tr(_EXPECTED))
        scores[row] = score
    return scores
