"""Write a dataset in any format, so that the same numbers are read back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rankstudio.engine.data.compression import packed_pieces, without_ending
from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.data.formats.arrow import arrow_pieces
from rankstudio.engine.data.formats.data_format import DataFormat
from rankstudio.engine.data.formats.group_sizes import format_sizes
from rankstudio.engine.data.formats.letor_writer import letor_pieces, save_letor, shortest
from rankstudio.engine.data.tabular.recognition import (
    COMMENT_NAME,
    DOCUMENT_NAMES,
    LABEL_NAMES,
    QUERY_NAMES,
    clean_name,
)
from rankstudio.engine.support.csv_cells import guarded
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import write_pieces, write_text

_PIECE = 4096  # documents
_RESERVED = frozenset((*QUERY_NAMES, *LABEL_NAMES, *DOCUMENT_NAMES, COMMENT_NAME, ""))


def save_dataset(
    dataset: RankingDataset, path: Path, form: DataFormat, *, comments: bool = True
) -> tuple[Path, ...]:
    """Write a dataset, each file whole or not at all.

    Parameters
    ----------
    dataset : RankingDataset
        Numbers are written so that the same double is read back. Missing values have been filled and are
        written so.
    path : Path
        The file; packed if its name ends with ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.
    form : DataFormat
    comments : bool
        Whether to write the comments, where the format can.

    Returns
    -------
    tuple of Path
        What was written: the file, and the sizes of the queries beside it where the format has them.

    Raises
    ------
    OutputError
        Where a file cannot be written, or the id of a query cannot be in LETOR text.
    MissingExtraError
        Where the library of the format is not installed.

    Notes
    -----
    O(mn), some megabytes of the documents in memory at a time.
    """
    files = written_files(path, form)
    match form.key:
        case "letor":
            save_letor(dataset, path, comments=comments)
        case "csv" | "tsv":
            text = _csv_pieces(dataset, "," if form.key == "csv" else "\t", comments)
            write_pieces(path, packed_pieces(path, text))
        case "parquet" | "arrow":
            kept = COMMENT_NAME if comments and any(dataset.comments) else ""
            table = arrow_pieces(dataset, path, form.key, column_names(dataset), kept)
            write_pieces(path, packed_pieces(path, table))
        case _:
            content = packed_pieces(path, letor_pieces(dataset, comments=False, queries=False))
            new = not files[1].exists()
            write_text(files[1], format_sizes(np.diff(dataset.query_ptr)))
            try:
                write_pieces(path, content)
            except BaseException:
                if new:
                    files[1].unlink(missing_ok=True)
                raise
    return files


def written_files(path: Path, form: DataFormat) -> tuple[Path, ...]:
    """Return the files that a dataset in a format is: a file, and that of sizes where the format has one."""
    return (path, path.with_name(without_ending(path.name) + form.sizes)) if form.sizes else (path,)


def losses(dataset: RankingDataset, form: DataFormat) -> tuple[str, ...]:
    """Return what of a dataset a format cannot keep, of what is there."""
    ids = dataset.feature_ids
    there = {
        "names of features": dataset.feature_names != default_names(ids),
        "ids of features": not np.array_equal(ids, np.arange(1, len(ids) + 1)),
        "ids of queries": dataset.query_ids != tuple(str(i + 1) for i in range(dataset.n_queries)),
        "comments": any(dataset.comments),
    }
    return tuple(what for what in form.loses if there[what])


def column_names(dataset: RankingDataset) -> tuple[str, ...]:
    """Return names of the features as columns of a table: each once, and none that means something else."""
    seen = set()
    names = []
    for i, name in zip(dataset.feature_ids.tolist(), dataset.feature_names, strict=True):
        plain = clean_name(name)
        own = (
            plain if plain.lower() not in _RESERVED and plain not in seen else f"feature {i} {plain}".strip()
        )
        while own in seen:
            own += " (again)"
        seen.add(own)
        names.append(own)
    return tuple(names)


def _csv_pieces(dataset: RankingDataset, delimiter: str, comments: bool) -> Iterator[bytes]:
    """Yield a header, then lines, one for each document."""

    def cell(text: str) -> str:
        text = str(guarded(text))
        plain = text == text.strip() and not any(c in text for c in f'{delimiter}"\r\n')
        return text if plain else '"' + text.replace('"', '""') + '"'

    kept = comments and any(dataset.comments)
    header = ["qid", "label", *column_names(dataset), *([COMMENT_NAME] if kept else [])]
    yield _encoded([delimiter.join(map(cell, header))])
    ids = [cell(query) for query in dataset.query_ids]
    texts = iter(dataset.comments)
    for first in range(0, dataset.n_documents, _PIECE):
        rows = slice(first, first + _PIECE)
        lines = []
        for query, label, values in zip(
            dataset.query_index[rows].tolist(), dataset.y[rows].tolist(), dataset.X[rows], strict=True
        ):
            numbers = map(shortest, (label, *values.tolist()))
            lines.append(delimiter.join([ids[query], *numbers, *([cell(next(texts))] if kept else [])]))
        yield _encoded(lines)
        release(dataset.X[rows])


def _encoded(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", errors="backslashreplace")
