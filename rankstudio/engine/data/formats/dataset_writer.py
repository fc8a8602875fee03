"""Write a dataset in any format, so that the same numbers are read back."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.data.formats.data_format import DataFormat
from rankstudio.engine.data.formats.group_sizes import format_sizes
from rankstudio.engine.data.letor.compression import compress, without_ending
from rankstudio.engine.data.letor.writer import letor_text, save_letor, shortest
from rankstudio.engine.data.tabular.recognition import (
    COMMENT_NAME,
    DOCUMENT_NAMES,
    LABEL_NAMES,
    QUERY_NAMES,
    clean_name,
)
from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.support.csv_cells import guarded
from rankstudio.engine.support.files import write_bytes, write_text

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
    O(mn).
    """
    files = written_files(path, form)
    match form.key:
        case "letor":
            save_letor(dataset, path, comments=comments)
        case "csv" | "tsv":
            text = "".join(_csv_lines(dataset, "," if form.key == "csv" else "\t", comments))
            write_bytes(path, compress(path, text.encode("utf-8", errors="backslashreplace")))
        case "parquet" | "arrow":
            write_bytes(path, compress(path, _arrow(dataset, path, form.key, comments)))
        case _:
            content = compress(path, letor_text(dataset, comments=False, queries=False))
            new = not files[1].exists()
            write_text(files[1], format_sizes(np.diff(dataset.query_ptr)))
            try:
                write_bytes(path, content)
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


def _csv_lines(dataset: RankingDataset, delimiter: str, comments: bool) -> Iterator[str]:
    """Yield a header, and a line for each document."""

    def cell(text: str) -> str:
        text = str(guarded(text))
        plain = text == text.strip() and not any(c in text for c in f'{delimiter}"\r\n')
        return text if plain else '"' + text.replace('"', '""') + '"'

    kept = comments and any(dataset.comments)
    header = ["qid", "label", *column_names(dataset), *([COMMENT_NAME] if kept else [])]
    yield delimiter.join(map(cell, header)) + "\n"
    ids = [cell(query) for query in dataset.query_ids]
    texts = iter(dataset.comments)
    for row, query in enumerate(dataset.query_index.tolist()):
        numbers = (shortest(v) for v in (dataset.y[row].item(), *dataset.X[row].tolist()))
        yield delimiter.join([ids[query], *numbers, *([cell(next(texts))] if kept else [])]) + "\n"


def _arrow(dataset: RankingDataset, path: Path, key: str, comments: bool) -> bytes:
    """Return the bytes of a Parquet or a Feather file."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
        from pyarrow import feather  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(path.name, "pyarrow", "parquet") from None
    columns: dict[str, Any] = {"qid": pa.array(dataset.qid), "label": pa.array(dataset.y)}
    for i, name in enumerate(column_names(dataset)):
        columns[name] = pa.array(np.ascontiguousarray(dataset.X[:, i]))
    if comments and any(dataset.comments):
        columns[COMMENT_NAME] = pa.array(list(dataset.comments))
    table = pa.table(columns)
    out = io.BytesIO()
    if key == "parquet":
        pq.write_table(table, out)
    else:
        feather.write_feather(table, out, compression="uncompressed")
    return out.getvalue()
