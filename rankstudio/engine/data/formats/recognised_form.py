"""The format of a data file, by its first bytes, its name, and the files beside it."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from pathlib import Path

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.data_format import OF, Beginning, DataFormat
from rankstudio.engine.data.file_access import (
    ARROW,
    HEAD,
    PARQUET,
    is_packed,
    read_beginning,
    refusal,
)
from rankstudio.engine.data.formats.format_catalog import (
    data_formats,
    format_of_name,
    named_format,
)
from rankstudio.engine.data.formats.joined_files import refuse_absent
from rankstudio.engine.data.formats.query_sizes import sizes_file
from rankstudio.engine.data.formats.recognition import BY_CONTENTS, BY_MARKS
from rankstudio.engine.data.table import ReadAs
from rankstudio.engine.data.table_builder import PartFiles
from rankstudio.engine.errors import DatasetError, FileAccessError, shown_path
from rankstudio.engine.language import tr

# ZIP archives, as which most are stored, and old ones
_WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def recognised_form(path: Path, specified: DataColumns) -> DataFormat:
    """Return the format of a file: the specified one, or the most certain one.

    Parameters
    ----------
    path : Path
        The data file.
    specified : DataColumns
        Specified columns; their field ``format`` is "" if the format is
        to be recognised.

    Raises
    ------
    FileAccessError, MissingExtraError
        If the file cannot be read, or has the ending of a binary format
        that it does not have.
    """
    beginning = beginning_of(path, specified)
    # Find the built-in format with the greatest confidence.
    own_formats = [form for form in data_formats() if not form.package]
    confidences = [(form.confidence(beginning), form) for form in own_formats]
    confidence, form = max(confidences, key=lambda pair: pair[0])
    # A format that the user named, by its key alone, is used in any
    # case. One that a plan records, with its package ("key of
    # package==version"), only counts if no built-in format is certain.
    is_key = OF not in specified.format and bool(specified.format)
    specified_format = (
        named_format(specified.format, path)
        if is_key or confidence < BY_MARKS
        else None
    )
    if is_key and specified_format is not None:
        return specified_format
    # Otherwise a format of a plug-in may be more certain. A file in the
    # format of an absent part of the program is an error first.
    refuse_absent(beginning, by_name=confidence < BY_MARKS)
    plugin_format = _plugin_format(beginning, confidence, specified_format)
    if plugin_format is not None:
        return plugin_format
    # No format is recognised by the contents: these may be binary.
    if confidence < BY_CONTENTS and not beginning.is_packed:
        refuse_other_binary(path, beginning.head)
    return form


def _plugin_format(
    beginning: Beginning, confidence: float, recorded: DataFormat | None
) -> DataFormat | None:
    """Return the plug-in's format that is more certain than all built-in formats.

    ``confidence``, from 0 to 1, is how certain the best built-in format
    is of the file. A plug-in's recogniser is called only if the file
    has an ending or a mark of its format, or no built-in format is
    certain. Of equally certain formats, the one that the plan records
    (``recorded``) is returned. Return None if no plug-in's format is
    more certain; raise DatasetError if two are equally certain.
    ``beginning`` has the path and the first bytes of the file.
    """
    # Ask the formats of plug-ins that may recognise the file.
    candidates = [
        (form.confidence(beginning), form)
        for form in data_formats()
        if form.package and (confidence < BY_MARKS or form.may_recognise(beginning))
    ]
    greatest_confidence = max((value for value, _ in candidates), default=0.0)
    if greatest_confidence <= confidence:
        return None
    # Of several formats, the recorded one is used, or the user chooses.
    best_formats = [form for value, form in candidates if value == greatest_confidence]
    if recorded in best_formats:
        return recorded
    if len(best_formats) > 1:
        first, second, *_ = best_formats
        text = tr(
            "{path}: {first} of {package} and {second} of {other} both recognise the file. Name one with "
            "--data-format {key}, or leave one out with --without."
        )
        values = {"first": first.label, "package": first.package, "key": first.key}
        second_fields = {"second": second.label, "other": second.package}
        raise DatasetError(
            text.format(path=shown_path(beginning.path), **values, **second_fields)
        )
    return best_formats[0]


def beginning_of(path: Path, specified: DataColumns) -> Beginning:
    """Return the evidence for a file's format: its first bytes, and files beside it.

    ``specified`` are the columns and files that the user names.

    Raises
    ------
    FileAccessError, MissingExtraError
        If the file cannot be read.
    """
    return Beginning(
        path=path,
        head=read_beginning(path, HEAD),
        first_bytes=_first_bytes(path),
        user_columns=specified,
        sizes=sizes_file(path),
    )


def refuse_other_binary(path: Path, begin: bytes) -> None:
    """Raise an error for a workbook, and for a binary file that is wrongly named like Parquet or Arrow.

    ``begin`` are the first bytes of the file's contents.

    Raises
    ------
    FileAccessError
        If the file is one of these.
    """
    if begin.startswith(_WORKBOOKS):
        text = tr(
            "found a workbook or a ZIP archive. Save the sheet as CSV or Parquet, or unpack the archive."
        )
        raise FileAccessError(path, text)
    # Parquet and Arrow files begin with certain bytes; their names alone count here.
    magic = {"parquet": PARQUET, "arrow": ARROW}.get(format_of_name(path.name).key)
    if magic is None or begin.startswith(magic) or is_packed(begin):
        return
    # Text that is only misnamed is read. An incremental decoder accepts
    # a last character that is cut off.
    try:
        getincrementaldecoder("utf-8")().decode(begin.rstrip(b"\n"))
        is_binary = b"\0" in begin
    except UnicodeDecodeError:
        is_binary = True
    if is_binary:
        raise FileAccessError(
            path,
            tr(
                "not a {format} file: it does not begin with {magic} and is not text."
            ).format(
                format=format_of_name(path.name).label,
                magic=f'"{magic.rstrip(bytes(1)).decode()}"',
            ),
        )


def identity_of(part: PartFiles) -> str:
    """Return a text that identifies how a part is read, for checksums and the cache.

    The text is JSON with the user's specifications on which the
    contents depend besides the bytes of the files; "" for none.
    """
    is_table = part.form.is_table
    specified = part.user_columns.as_dict()
    # Two options concern formats that are no tables, all others only
    # tables: keep those of the part's kind.
    values = {
        name: value
        for name, value in specified.items()
        if is_table != (name in ("ids_from", "no_queries"))
    }
    values.pop("format", None)  # the contents are the same if the format was recognised
    if part.form.package:
        values["format"] = f"{part.form.key} of {part.form.package}"
    if (
        part.user_columns.labels
    ):  # the labels of all judges are read, whichever is in use
        values.pop("label", None)
    if values.get("ids_from") == 1:  # the default
        del values["ids_from"]
    # This option concerns tables, too.
    if part.user_columns.no_queries:
        values["no_queries"] = True
    # For feature logs, the judgments replace all other specifications.
    if part.judgments:
        values = {"judgments": [text.checksum for text in part.judgments]}
    if part.sizes is not None:
        values["sizes"] = part.sizes.tolist()
    return json.dumps(values, sort_keys=True) if values else ""


def read_as(
    path: Path,
    form: DataFormat,
    role_columns: tuple[str, ...],
    *,
    no_queries: bool = False,
) -> ReadAs:
    """Return how a file was read: its format and the sources of query and label.

    ``role_columns`` are the names of the columns of query, label and
    part in a table. Queries may come from a file of query sizes
    instead, unless ``no_queries`` says that the documents are one
    ranking.
    """
    size_file = None if no_queries else sizes_file(path)
    sizes = size_file.name if size_file is not None else ""
    # A format whose queries are in a file of sizes; without queries, it
    # is read like LETOR text, the default.
    if form.sizes:
        return ReadAs() if no_queries else ReadAs(form.key, sizes)
    if not form.is_table:
        return ReadAs(form.key)
    qid, label, part = role_columns
    return ReadAs(form.key, qid=qid or sizes, label=label, part=part)


def _first_bytes(path: Path) -> bytes:
    """Return a file's first bytes, as many as the mark of Arrow has."""
    try:
        with path.open("rb") as file:
            return file.read(len(ARROW))
    except OSError as error:
        raise refusal(path, error) from None
