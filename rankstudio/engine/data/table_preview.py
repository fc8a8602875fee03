"""The first rows of a table, and the recognised roles of its columns, before the table is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.file_access import read_beginning
from rankstudio.engine.data.fold_files import first_file
from rankstudio.engine.data.formats.format_catalog import (
    data_formats,
    format_of_key,
    named_format,
)
from rankstudio.engine.data.formats.query_sizes import sizes_file
from rankstudio.engine.data.formats.recognised_form import (
    beginning_of,
    refuse_other_binary,
)
from rankstudio.engine.data.formats.recognition import BY_CONTENTS
from rankstudio.engine.data.tabular.documents import is_numeral
from rankstudio.engine.data.tabular.recognition import (
    RecognisedColumns,
    part_code,
    recognise_columns,
    short,
)
from rankstudio.engine.errors import UnknownColumnsError

_N_ROWS = 6
_MAX_CELL_LENGTH = 60


@dataclass(frozen=True)
class TablePreview:
    """The first rows of a data file that is a table, for the choice of its columns.

    Attributes
    ----------
    path : Path
        Path of the file; for a folder, of the first training part.
    format : DataFormat
        Format of the file.
    names : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        First documents, one text per column.
    has_header : bool
        Whether the table has a header.
    sizes : str
        Name of the file of query sizes next to the table; "" without one.
    """

    path: Path
    format: DataFormat
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_header: bool = True
    sizes: str = ""

    def recognised(self, specified: DataColumns) -> RecognisedColumns | None:
        """Return the roles of the columns, such as query and label, by their names.

        Names in ``specified`` have priority over usual names. Return
        None if a role is not clear.
        """
        try:
            return recognise_columns(
                str(self.path),
                self.names,
                specified,
                with_sizes=bool(self.sizes),
                has_header=self.has_header,
                says_parts=self.says_parts,
            )
        except UnknownColumnsError:
            return None

    def says_parts(self, position: int) -> bool:
        """Return whether the visible values of a column are names of parts."""
        return bool(self.rows) and all(
            part_code(row[position]) is not None for row in self.rows
        )

    def is_text(self, position: int, missing_texts: Collection[str] = ()) -> bool:
        """Return whether the visible values of a column are neither numeric nor missing.

        ``missing_texts`` are further texts for a missing value.
        """
        texts = (row[position] for row in self.rows)
        return not all(is_numeral(text) or text in missing_texts for text in texts)


def preview_table(path: Path, format_name: str = "") -> TablePreview:
    """Return the first rows of a data file that is a table.

    Parameters
    ----------
    path : Path
        A file, or a folder of data, whose first training file is used.
    format_name : str
        Format of the data, as a plan names it; "" to recognise the format.

    Raises
    ------
    DataError, MissingExtraError
        If no table can be read.
    """
    file = first_file(path)
    # The file beside it with the number of documents of each query, if any.
    size_file = sizes_file(file)
    sizes = size_file.name if size_file else ""
    # A format that the user named is used in any case.
    specified_format = named_format(format_name, file)
    if specified_format is not None and specified_format.is_table:
        return _table_preview(file, specified_format, sizes)
    # Otherwise use the table format with the greatest confidence.
    beginning = beginning_of(file, DataColumns())
    table_formats = [entry for entry in data_formats() if entry.is_table]
    confidence, form = max(
        ((entry.confidence(beginning), entry) for entry in table_formats),
        key=lambda pair: pair[0],
    )
    # A file that no format recognises is read as CSV, unless it is
    # binary. (Below BY_CONTENTS, no contents were recognised.)
    if confidence < BY_CONTENTS:
        refuse_other_binary(file, beginning.head)
        form = form if confidence else format_of_key("csv")
    return _table_preview(file, form, sizes)


def _table_preview(file: Path, form: DataFormat, sizes: str) -> TablePreview:
    """Return the first rows of a file in a format of tables.

    ``sizes`` is the name of the file of query sizes beside the file, or "".
    """
    first = form.first_rows(file, read_beginning(file), _N_ROWS)
    # The contents may show that CSV is TSV.
    form = format_of_key(first.key) if first.key else form
    return TablePreview(
        path=file,
        format=form,
        names=first.names,
        rows=_short_cells(first.rows),
        has_header=first.has_header,
        sizes=sizes,
    )


def _short_cells(rows: Any) -> tuple[tuple[str, ...], ...]:
    """Return the texts of cells, cut to the length that the preview shows."""
    return tuple(tuple(_short_cell(value) for value in row) for row in rows)


def _short_cell(value: Any) -> str:
    """Return a value as text, cut to the length that is shown."""
    text = "" if value is None else str(value)
    return short(text, _MAX_CELL_LENGTH)


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
    """Return the specification of the columns of a table that a user chose.

    The specification has no names if the usual names give the same columns.

    Parameters
    ----------
    preview : TablePreview
        The table.
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
        The features, if the columns that are left out do not determine
        them; otherwise ().
    """
    specified = DataColumns(
        qid=qid,
        label=label,
        features=tuple(features),
        ignore=() if features else tuple(dict.fromkeys(left_out)),
        part=part,
        no_queries=no_queries,
        labels=tuple(labels),
        document=document,
        missing_texts=tuple(missing_texts),
    )
    # The columns without specified names, by the usual ones.
    usual = DataColumns(no_queries=no_queries, missing_texts=tuple(missing_texts))
    usual_roles = preview.recognised(usual)
    specified_roles = preview.recognised(specified)
    return (
        usual
        if usual_roles is not None and usual_roles == specified_roles
        else specified
    )
