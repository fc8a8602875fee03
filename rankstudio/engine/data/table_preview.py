"""The first rows of a table, and what was recognised of its columns, before it is read."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.file_access import ARROW, PARQUET, read_beginning
from rankstudio.engine.data.fold_files import first_file
from rankstudio.engine.data.formats.arrow import first_rows
from rankstudio.engine.data.formats.csv_text import CsvText
from rankstudio.engine.data.formats.data_format import BY_KEY, DataFormat, format_of_name
from rankstudio.engine.data.formats.json_records import first_records, is_records
from rankstudio.engine.data.formats.recognised_form import refuse_other_binary, sizes_file
from rankstudio.engine.data.tabular.documents import is_numeral
from rankstudio.engine.data.tabular.recognition import (
    RecognisedColumns,
    column_names,
    part_code,
    recognise_columns,
    short,
)
from rankstudio.engine.errors import DataError, UnknownColumnsError
from rankstudio.engine.support.escaping import unguarded

_ROWS = 6
_LONGEST = 60


@dataclass(frozen=True)
class TablePreview:
    """The first rows of a table.

    Attributes
    ----------
    path : Path
        Path of the file; for a folder, of the first training part.
    format : DataFormat
    names : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        First documents, one text per column.
    has_header : bool
        Whether the table has a header.
    sizes : str
        Name of the file of query sizes next to it; "" if there is none.
    """

    path: Path
    format: DataFormat
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_header: bool = True
    sizes: str = ""

    def recognised(self, told: DataColumns) -> RecognisedColumns | None:
        """Return the recognised columns; None if they are ambiguous."""
        try:
            return recognise_columns(
                str(self.path),
                self.names,
                told,
                with_sizes=bool(self.sizes),
                has_header=self.has_header,
                says_parts=self.says_parts,
            )
        except UnknownColumnsError:
            return None

    def says_parts(self, position: int) -> bool:
        """Return whether the visible values of a column are names of parts."""
        return bool(self.rows) and all(part_code(row[position]) is not None for row in self.rows)

    def is_text(self, position: int, missing_texts: Collection[str] = ()) -> bool:
        """Return whether the visible values of a column are neither numeric nor missing."""
        texts = (row[position] for row in self.rows)
        return not all(is_numeral(text) or text in missing_texts for text in texts)


def preview_table(path: Path) -> TablePreview:
    """Return the first rows of a table, or of the tables of a folder.

    Parameters
    ----------
    path : Path

    Raises
    ------
    DataError, MissingExtraError
        If no table can be read.
    """
    file = first_file(path)
    beside = sizes_file(file)
    sizes = beside.name if beside else ""
    begin = read_beginning(file)
    if begin.startswith((PARQUET, ARROW)):
        table = first_rows(file, _ROWS)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        key = format_of_name(file.name).key
        form = BY_KEY[key if key in ("parquet", "arrow") else "parquet"]
        return TablePreview(file, form, column_names(table.column_names), _shown(rows), True, sizes)
    if is_records(begin):
        names, values = first_records(file, begin, _ROWS)
        return TablePreview(file, BY_KEY["records"], names, _shown(values), True, sizes)
    refuse_other_binary(file, begin)
    csv = CsvText(file, io.BytesIO(begin))
    head, found = csv.head, []
    with suppress(DataError):  # the reader tells where; the beginning may end within a document
        for _, cells in islice(csv.rows(), _ROWS):
            found.append([head.number_text(unguarded(cell)) for cell in cells])
    form = BY_KEY["tsv" if head.delimiter == "\t" else "csv"]
    return TablePreview(file, form, head.names, _shown(found), head.has_header, sizes)


def _shown(rows: Any) -> tuple[tuple[str, ...], ...]:
    """Return cells as texts of a length that can be shown."""
    return tuple(tuple(_cell(value) for value in row) for row in rows)


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return short(text, _LONGEST)


def columns_of(
    preview: TablePreview,
    qid: str,
    label: str,
    left_out: Sequence[str],
    part: str = "",
    *,
    no_queries: bool = False,
    labels: Sequence[str] = (),
    document: str = "",
    missing_texts: Sequence[str] = (),
    features: Sequence[str] = (),
) -> DataColumns:
    """Return the specification of the columns, without those that their names determine.

    Parameters
    ----------
    preview : TablePreview
    qid, label : str
        Columns of query and label; "" for the file of query sizes.
    left_out : sequence of str
        Columns that are not features.
    part : str
        Column of the part; "" for none.
    no_queries : bool
        Whether all documents are one ranking.
    labels : sequence of str
        Label columns of several judges; () for one label.
    document : str
        Column of the document ids; "" for the usual name.
    missing_texts : sequence of str
        Texts that stand for a missing value.
    features : sequence of str
        The features, where the names that are left out do not tell them; () otherwise.
    """
    told = DataColumns(
        qid,
        label,
        tuple(features),
        () if features else tuple(dict.fromkeys(left_out)),
        part=part,
        no_queries=no_queries,
        labels=tuple(labels),
        document=document,
        missing_texts=tuple(missing_texts),
    )
    usual = DataColumns(no_queries=no_queries, missing_texts=tuple(missing_texts))
    plain = preview.recognised(usual)
    wanted = preview.recognised(told)
    return usual if plain is not None and plain == wanted else told
