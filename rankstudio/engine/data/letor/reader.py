"""Read a LETOR file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.data.dataset import RankingDataset, Source, default_names
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.data.letor import cache as parsed_files
from rankstudio.engine.data.letor import file_access
from rankstudio.engine.data.letor.compression import decompress
from rankstudio.engine.data.letor.missing_values import (
    Missing,
    Normalize,
    check_options,
    fill_missing,
    normalize_queries,
    widen,
)
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import Progress, ReadProgress
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support import threads


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
    """Read a file in LETOR's format, which is that of SVM-light and of RankLib too.

    A line is ``label qid:id feature:value … # comment``. Dense or sparse (a feature left out is 0), with or
    without comments, any line ends; ids of queries need not be numbers; ``NULL`` and ``nan`` are missing
    values; a file may be compressed by gzip, bzip2, xz or Zstandard. Every number becomes the very double
    that ``float()`` makes of it.

    Parameters
    ----------
    path : str or path-like
        The file.
    missing : {"query_min", "zero", "refuse"}
        What a missing value becomes: the least value of that feature within its query, as in LETOR's "min"
        version of its data (0 where the query has no value at all); 0; or an error.
    n_features : int, optional
        Number of features; the greatest id in the file if left out. A greater id is an error.
    normalize : False or "query_minmax"
        Whether to scale every feature to [0, 1] within every query (LETOR's QueryLevelNorm).
    cache : bool
        Whether to look into the cache of parsed files, and to put this one into it.
    progress : callable, optional
        Called in this thread with (bytes done, bytes in total).
    cancelled : callable, optional
        Asked in this thread, every few milliseconds, whether to stop.

    Returns
    -------
    RankingDataset
        The documents, grouped by query in the order of first appearance.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first place that does not follow the format.
    MissingValueError
        At the first missing value, if these are to be refused.
    DatasetError
        If the features do not fit into memory.
    Cancelled
        If ``cancelled`` said so.
    ParameterError
        For an option that does not exist.

    Notes
    -----
    Time O(b / p) for b bytes on p processors; memory O(b + mn) for m documents and n features.
    """
    check_options(missing, normalize)
    if n_features is not None and n_features < 1:
        raise ParameterError("n_features", n_features, tr("a number of at least 1"))
    path = Path(path)
    reading = ReadProgress(progress, cancelled, file_access.regular_file_size(path))
    refuse = missing == "refuse"
    table, source = read_table(path, reading, n_features=n_features, refuse=refuse, cache=cache)
    dataset = make_dataset(table, source, missing=missing, n_features=n_features, normalize=normalize)
    return identify(path, dataset).name_features(dataset)


def read_table(
    path: Path,
    progress: ReadProgress,
    *,
    n_features: int | None = None,
    refuse: bool = False,
    cache: bool = True,
) -> tuple[Table, Source]:
    """Read a file, or find what was once read from the same bytes; see `load_letor` for the rest."""
    content = file_access.read_file(path, progress)

    def parse(pool: Executor) -> Table:
        return parse_letor(path, content, pool, progress, n_features=n_features, refuse=refuse)

    return table_of(path, content, progress, parse, n_features=n_features, refuse=refuse, cache=cache)


def table_of(
    path: Path,
    content: Bytes,
    progress: ReadProgress,
    parse: Callable[[Executor], Table],
    *,
    n_features: int | None = None,
    refuse: bool = False,
    cache: bool = True,
    variant: str = "",
    identity: str = "",
) -> tuple[Table, Source]:
    """Parse what is in a file, or find what was once parsed of the same bytes in the same way.

    Parameters
    ----------
    path : Path
    content : uint8 array
        As `file_access.read_file` returns it.
    progress : ReadProgress
    parse : callable
        Returns the table, with the threads of an executor; not called where the cache has it.
    n_features, refuse, cache
        As for `load_letor`.
    variant : str
        In which way the bytes are parsed; "" for LETOR text.
    identity : str
        What else than the bytes says what the data are; it goes into the checksum of the source.
    """
    progress.stopped = False  # by a reading before this one, that failed
    with ThreadPoolExecutor(threads.available(), thread_name_prefix="letor") as pool:
        try:
            checksum = pool.submit(file_access.checksum, content, progress)
            key = derived(progress.result(checksum), variant) if cache else ""
            table = _recall(key, progress, n_features, refuse) if cache else None
            size = len(content) - file_access.PADDING
            if table is not None:
                progress.advance(progress.total / 2)
            else:
                table = parse(pool)
                if cache:
                    parsed_files.store(key, table, progress, size)
            return table, Source(path, size, derived(progress.result(checksum), identity))
        except BaseException:
            progress.stopped = True
            raise


def derived(checksum: str, what: str) -> str:
    """Return the checksum of some bytes together with how they are read; the same where that is "".

    Examples
    --------
    >>> derived("sha256:00", "")
    'sha256:00'
    """
    return f"sha256:{hashlib.sha256(f'{checksum} {what}'.encode()).hexdigest()}" if what else checksum


def make_dataset(
    table: Table,
    source: Source | None,
    *,
    missing: str,
    n_features: int | None,
    normalize: str | bool,
) -> RankingDataset:
    """Make the dataset of a table, which is used up: its values are changed in place."""
    if missing != "refuse":
        fill_missing(table.X, table.query_ptr, table.missing, missing)
    X = widen(table.X, n_features or table.X.shape[1])
    if normalize:
        normalize_queries(X, table.query_ptr)
    n = X.shape[1]
    name = str(source.path) if source is not None else "The frame"
    feature_ids = np.arange(1, n + 1, dtype=np.int64)
    counts = np.zeros(n, dtype=np.int64)
    counts[: len(table.missing)] = table.missing
    for array in (X, table.y, table.query_ptr, feature_ids, counts):
        array.flags.writeable = False
    return RankingDataset(
        X=X,
        y=table.y,
        query_ptr=table.query_ptr,
        query_ids=table.query_ids,
        feature_ids=feature_ids,
        feature_names=_names(table.feature_names, feature_ids),
        comments=table.comments,
        source=source,
        missing=counts,
        warnings=table.notes(name),
        sparse=not table.dense,
        file_rows=None if table.scattered is None else table.file_rows,
    )


def _names(names: tuple[str, ...], feature_ids: Ints) -> tuple[str, ...]:
    """Return the names of the features; those of a file with ids from 0 go on where others are wider."""
    if not names:
        return default_names(feature_ids)
    return names + tuple(f"id {i - 1}" for i in feature_ids[len(names) :].tolist())


def _recall(checksum: str, progress: ReadProgress, n_features: int | None, refuse: bool) -> Table | None:
    """Return the table from the cache, unless the text is needed to say what is wrong with it."""
    table = parsed_files.load(checksum, progress)
    if table is None or (refuse and table.missing.any()):
        return None
    return None if n_features is not None and table.X.shape[1] > n_features else table


def parse_letor(
    path: Path,
    content: Bytes,
    pool: Executor,
    progress: ReadProgress,
    *,
    n_features: int | None = None,
    refuse: bool = False,
    first_id: int = 1,
    sizes: Ints | None = None,
) -> Table:
    """Parse LETOR text that may be compressed; see `parser.parse_text`."""
    # numba is imported only now: who opens what the cache knows does not wait for it.
    from rankstudio.engine.data.letor.parser import parse_text  # noqa: PLC0415

    text = decompress(path, content, progress)
    return parse_text(
        path, text, pool, progress, n_features=n_features, refuse=refuse, first_id=first_id, sizes=sizes
    )
