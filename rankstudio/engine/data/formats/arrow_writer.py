"""Tables of Apache Arrow, as Parquet or Feather files, made of a dataset piece by piece."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.support.file_pages import release

_VALUES = 1 << 23  # of features in a row group, or in a batch of records


def arrow_pieces(
    dataset: RankingDataset, path: Path, key: str, names: Sequence[str], comments: str
) -> Iterator[bytes]:
    """Yield the bytes of a file, of which some megabytes are in memory at a time.

    Parameters
    ----------
    dataset : RankingDataset
    path : Path
        The file, for sentences.
    key : {"parquet", "arrow"}
    names : sequence of str
        Of the features' columns.
    comments : str
        Name of the column of the comments, "" for none.

    Raises
    ------
    MissingExtraError
        Where pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(path.name, "pyarrow", "parquet") from None
    out = _Pieces()
    writer: Any = None
    step = max(1, _VALUES // max(1, dataset.n_features))
    for first in range(0, dataset.n_documents, step):
        rows = slice(first, min(first + step, dataset.n_documents))
        columns: dict[str, Any] = {
            "qid": pa.array(dataset.query_keys[dataset.query_index[rows]]),
            "label": pa.array(dataset.y[rows]),
        }
        for i, name in enumerate(names):
            columns[name] = pa.array(np.ascontiguousarray(dataset.X[rows, i]))
        if comments:
            columns[comments] = pa.array([dataset.comments[row] for row in range(rows.start, rows.stop)])
        table = pa.table(columns)
        if writer is None:
            make = pq.ParquetWriter if key == "parquet" else pa.ipc.new_file
            writer = make(out, table.schema)
        writer.write_table(table)
        release(dataset.X[rows])
        yield from out.drained()
    writer.close()
    yield from out.drained()


class _Pieces(io.RawIOBase):
    """A file that keeps what is written until somebody asks for it."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._kept.append(bytes(content))
        return len(self._kept[-1])

    def drained(self) -> Iterator[bytes]:
        """Yield what was written since the last time."""
        kept, self._kept = self._kept, []
        yield from kept
