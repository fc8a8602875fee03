"""The formats of tables, and functions that return how likely it is that a file has one of them."""

from __future__ import annotations

from rankstudio.engine.data.data_format import Beginning, DataFormat, FormatCode
from rankstudio.engine.data.file_access import ARROW, PARQUET
from rankstudio.engine.data.formats.format_catalog import format_of_name
from rankstudio.engine.data.formats.recognition import CERTAIN, RECORDS
from rankstudio.plugins.tables.json_records import is_records

_PACKAGE = "rankstudio.plugins.tables"
_ARROW_CODE = FormatCode(
    confidence=f"{_PACKAGE}.data_formats:arrow_confidence",
    read=f"{_PACKAGE}.arrow:read_arrow",
    need=f"{_PACKAGE}.arrow:arrow_need",
    preview=f"{_PACKAGE}.arrow:preview",
    write=f"{_PACKAGE}.arrow:write_arrow",
)


def arrow_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return the confidence that a file has this format, Parquet or Arrow.

    ``beginning`` has the name and the first bytes of the file. Both
    formats are read by the same code. A file is taken for Arrow only if
    its name says so.
    """
    if not beginning.is_arrow:
        return 0.0
    is_named_arrow = format_of_name(beginning.path.name).key == "arrow"
    recognized_key = "arrow" if is_named_arrow else "parquet"
    return CERTAIN if form.key == recognized_key else 0.0


def records_confidence(_: DataFormat, beginning: Beginning) -> float:
    """Return the confidence that a file has JSON records."""
    return RECORDS if is_records(beginning.head) else 0.0


FORMATS = (
    DataFormat(
        "parquet",
        "Parquet",
        (".parquet", ".pq"),
        "a table with a query column",
        magic=PARQUET,
        loses=("ids of features",),
        extra="parquet",
        is_table=True,
        several_files=True,
        parsed_as="arrow",
        code=_ARROW_CODE,
    ),
    DataFormat(
        "arrow",
        "Arrow (Feather)",
        (".feather", ".arrow", ".ipc"),
        "the same as Parquet",
        magic=ARROW,
        loses=("ids of features",),
        extra="parquet",
        is_table=True,
        several_files=True,
        parsed_as="arrow",
        code=_ARROW_CODE,
    ),
    DataFormat(
        "records",
        "JSON Lines",
        (".jsonl", ".ndjson", ".json"),
        "an object per document, with the query, the label, and features by name or in a list; read only",
        loses=("ids of features",),
        is_table=True,
        parsed_as="records",
        code=FormatCode(
            confidence=f"{_PACKAGE}.data_formats:records_confidence",
            read=f"{_PACKAGE}.json_records:read_records",
            need="rankstudio.engine.data.formats.memory_needs:json_need",
            preview=f"{_PACKAGE}.json_records:preview",
            write="",
        ),
    ),
)
