"""Read one data file, as one dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import RankingDataset, Source
from rankstudio.engine.data.file_access import regular_file_size
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.data.formats.joined_files import (
    holds_logs,
    joined_format,
    logs_in,
)
from rankstudio.engine.data.formats.judgments import judgments_beside
from rankstudio.engine.data.formats.part_reader import PartReader, read_into_memory
from rankstudio.engine.data.formats.trec import (
    collection_judgments,
    graded_documents,
    is_collection,
    run_scores,
)
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.data.read_progress import Progress, ReadProgress
from rankstudio.engine.data.source_file import read_lines
from rankstudio.engine.data.table import Missing, Normalize, check_options
from rankstudio.engine.data.table_builder import PartFiles
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import imported


def load_data(
    path: str | os.PathLike[str],
    *,
    columns: DataColumns | Mapping[str, Any] | None = None,
    missing: Missing = "query_min",
    normalize: Normalize = False,
    cache: bool = True,
    labels: bool = True,
) -> RankingDataset:
    """Read a data file of any supported format; see `open_dataset` for folds.

    Parameters
    ----------
    path : str or path-like
        A file.
    columns : DataColumns or Mapping, optional
        Columns of a table, if their names are not recognised.
    missing : {"query_min", "zero", "refuse"}
        Whether a missing value becomes the smallest value of the
        feature in its query, becomes 0, or is an error.
    normalize : False or "query_minmax"
        Whether to scale features to [0, 1] within each query.
    cache : bool
        Whether to read and write the cache of parsed files.
    labels : bool
        Whether labels are needed. If not, as for documents that a model
        only scores, a table needs no label column, feature logs need no
        judgments, and all labels are 0.

    Raises
    ------
    FileAccessError, FormatError, MissingValueError, DatasetError, ParameterError, MissingExtraError
        If the file cannot be read, or has the wrong format.
    """
    check_options(missing, normalize)
    specified = DataColumns.of(columns or {})
    specified = specified if labels else specified.without_labels()
    path = Path(path)
    # Progress is not shown, and reading is not cancelled.
    progress = ReadProgress(None, None, regular_file_size(path))
    # The file is read as a dataset of one part with one file.
    reader = PartReader(
        path, [(path,)], progress, specified, missing, normalize, cache=cache
    )
    (file_contents,) = reader.read().values()
    data = reader.dataset(file_contents, file_contents.table.X.shape[1])
    # A known public dataset, such as MQ2008, names its features.
    return identify(path, data).name_features(data)


def load_letor(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "query_min",
    n_features: int | None = None,
    normalize: Normalize = False,
    cache: bool = True,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> RankingDataset:
    """Read a file in LETOR format, which SVM-light and RankLib also use.

    A line is ``label qid:id feature:value … # comment``. Lines may be
    dense or sparse (omitted features are 0), with or without comments,
    and have any line ends; query ids need not be numbers; ``NULL`` and
    ``nan`` are missing values; files may be compressed by gzip, bzip2,
    xz or Zstandard. Every number becomes exactly the double returned by
    ``float()``.

    Parameters
    ----------
    path : str or path-like
        The file.
    missing : {"query_min", "zero", "refuse"}
        Treatment of missing values: the smallest value of that feature
        within its query, as in LETOR's "min" version (0 if the query
        has no value); 0; or an error.
    n_features : int, optional
        Number of features; by default the largest id in the file. A
        larger id is an error.
    normalize : False or "query_minmax"
        Whether to scale every feature to [0, 1] within every query
        (LETOR's QueryLevelNorm).
    cache : bool
        Whether to read and write the cache of parsed files.
    progress : callable, optional
        Called in the calling thread with (bytes done, total bytes).
    cancelled : callable, optional
        Called in the calling thread every few milliseconds; return True
        to stop.

    Returns
    -------
    RankingDataset
        Documents grouped by query, in order of first appearance.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first violation of the format.
    MissingValueError
        At the first missing value, with ``missing="refuse"``.
    DatasetError
        If the features do not fit into memory.
    Cancelled
        If ``cancelled`` returned True.
    ParameterError
        For an unknown option.

    Notes
    -----
    Time O(b / p) for b bytes on p processors; memory O(b + mn) for m documents and n features.
    """
    check_options(missing, normalize)
    if n_features is not None and n_features < 1:
        raise ParameterError("n_features", n_features, tr("a number of at least 1"))
    path = Path(path)
    reading = ReadProgress(progress, cancelled, regular_file_size(path))
    part = PartFiles(
        (path,), LETOR, refuse=missing == "refuse", most_features=n_features
    )
    file_contents = read_into_memory(part, reading, cache=cache)
    dataset = RankingDataset.of_table(
        file_contents.table,
        file_contents.source,
        missing=missing,
        n_features=n_features,
        normalize=normalize,
    )
    # A known public dataset, such as MQ2008, names its features.
    return identify(path, dataset).name_features(dataset)


def unmatched_documents(logs: Path, *judgments: str) -> list[tuple[str, str, str]]:
    """Return the documents that are only in feature logs, or only in their judgments.

    Parameters
    ----------
    logs : Path
        A file of logs, or a folder of such files.
    *judgments : str
        Files of judgments; by default the file next to the logs.

    Returns
    -------
    list of (str, str, str)
        Query, document, and "not judged" or "not logged"; in the order
        of the files.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
    paths = logs_in(logs) if logs.is_dir() else (logs,)
    if not paths or not holds_logs(paths[0]):
        raise DatasetError(tr("{path}: found no feature logs.").format(path=logs))
    files = tuple(map(Path, judgments)) or (judgments_beside(paths[0]),)
    # The format of the logs has a function for this, imported by its location.
    rows: list[tuple[str, str, str]] = imported(joined_format(paths[0]).code.unmatched)(
        paths, files
    )
    return rows


def load_trec(
    qrels: Path,
    runs: Mapping[str, Path],
    *,
    missing: Missing = "query_min",
    normalize: Normalize = False,
) -> RankingDataset:
    """Read TREC judgments, with the score of each run as a feature.

    A run is a file with the ranking of a search system. Each judged
    document is a row whose label is its grade.

    Parameters
    ----------
    qrels : Path
        File of judgments, or ``ir_datasets:`` followed by the id of a
        collection in the library ir_datasets.
    runs : Mapping of str to Path
        Files of runs by the name of the feature that each becomes.
    missing : {"query_min", "zero", "refuse"}
        Whether a missing value becomes the smallest value of the
        feature in its query, becomes 0, or is an error.
    normalize : False or "query_minmax"
        Whether to scale features to [0, 1] within each query.

    Raises
    ------
    DataError
        If a file cannot be read, or has the wrong format.
    MissingExtraError
        If ir_datasets is needed but not installed.
    """
    check_options(missing, normalize)
    # run -> query -> document -> score
    scores_of_run = {name: run_scores(read_lines(path)) for name, path in runs.items()}
    text = collection_judgments(qrels) if is_collection(qrels) else read_lines(qrels)
    table = graded_documents(text, scores_of_run, refuse=missing == "refuse")
    source = Source(text.path, text.size, f"sha256:{text.checksum}")
    return RankingDataset.of_table(
        table, source, missing=missing, n_features=None, normalize=normalize
    )
