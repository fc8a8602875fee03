"""A table of results as a file of Parquet: a column of texts, all others of numbers."""

from __future__ import annotations

import io

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.export.result_table.table import ResultTable, TableStyle


def parquet_table(table: ResultTable, style: TableStyle) -> bytes:
    """Return the numbers of a table; caption and notes are in the file's metadata.

    Raises
    ------
    MissingExtraError
        Without pyarrow.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow.parquet import write_table  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("A table as Parquet", "pyarrow", "parquet") from None
    header, rows = table.numbers(style)
    columns = list(zip(*rows, strict=True)) or [() for _ in header]
    kinds = [pa.string(), *(pa.float64() for _ in header[1:])]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    said = {"caption": table.caption, "notes": "\n".join(table.notes_of(style))}
    fields = [pa.field(name, kind) for name, kind in zip(header, kinds, strict=True)]
    out = io.BytesIO()
    write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=said)), out)
    return out.getvalue()
