"""Tables in the store, so that opening their files again needs no parser.

A parsed file is found by the SHA-256 of the *contents* of the file and
the version of the parser, never by name, size or time: those can stay
the same while the contents change (a restored backup, a coarse clock, a
network drive), and a result computed from data that are no longer there
is worse than the hundredth of a second per 20 MB that hashing costs.
The entry holds the contents of the file before any policy for missing
values or normalisation, so that it serves all policies.

A table larger than the memory budget is mapped. Its entry holds the
values after these policies, and is found by the checksums of its
sources and by the way in which they were read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rankstudio.engine.data import store
from rankstudio.engine.data.comments import TakenComments, TextComments
from rankstudio.engine.data.store import EntryError, NewEntry, StoredEntry
from rankstudio.engine.data.table import Scattered, Table
from rankstudio.engine.support.sparse_rows import features_apart, features_of

log = logging.getLogger(__name__)

PARSER_VERSION = 8
"""To be raised whenever the parser would give another Table for the same text."""

# most bytes of a stored table for each byte of its file, besides the extra bytes
GROWTH = 64
_ALLOWED_EXTRA_BYTES = 1 << 20  # 1 MiB: headers of small files
_ARRAY_NAMES = ("X", "y", "query_ptr", "missing", "feature_ids", "file_rows", "parts")
_COMMENT_ARRAYS = ("comments", "comment_offsets")

_STORED_NAMES = {
    "feature_names": "feature_names",
    "left_out": "left_out",
    "role_columns": "told_by",
}
"""Name in the cache of each attribute of a table that is a tuple of texts, besides `remarks`."""
ARRAYS = (*_ARRAY_NAMES, *_COMMENT_ARRAYS)
"""Arrays of a table; comments stand in the order of the file."""


def parsed_folder() -> Path:
    """Return the cache folder of parsed files."""
    return store.cache_folder() / "tables"


def mapped_folder() -> Path:
    """Return the cache folder of mapped tables."""
    return store.cache_folder() / "large"


def find_parsed(checksum: str, stop_check: store.Check) -> Table | None:
    """Return the cached table of a data file with this checksum, loaded into memory.

    Return None if the table is not in the cache, or damaged.
    ``stop_check`` is called from time to time; it raises an error to
    cancel. O(bytes of the table).
    """
    path = parsed_folder() / _parsed_key(checksum)
    try:
        entry = StoredEntry.open(path)
        arrays = {name: entry.loaded(name, stop_check) for name in entry.arrays}
        table = _table_of_arrays(arrays, entry.text)
    except (EntryError, KeyError, TypeError) as error:
        log.debug("%s is of no use: %s", path, error)
        return None
    # The entries that were used last remain longest in the cache.
    entry.touch()
    return table


def keep_parsed(
    checksum: str, table: Table, stop_check: store.Check, file_size: int
) -> None:
    """Store the parsed table of a data file with this checksum in the cache.

    A table much larger than its file is not stored: a few lines with a
    feature 1,000,000 are parsed quickly. ``stop_check`` is called from
    time to time and may raise an error; ``file_size`` is in bytes. If
    it cannot be stored, no error is raised.
    """
    # Comments are stored in the order of the file. If documents were
    # reordered, the table has a view of them (TakenComments); the
    # stored flag restores it.
    is_reordered = isinstance(table.comments, TakenComments)
    comments = (
        table.comments.of
        if isinstance(table.comments, TakenComments)
        else table.comments
    )
    assert isinstance(comments, TextComments)
    # Features are one array, or the arrays of a sparse matrix.
    arrays = {
        name: getattr(table, name) for name in _ARRAY_NAMES if name != "X"
    } | features_apart(table.X)
    arrays |= {"comments": comments.content, "comment_offsets": comments.offsets}
    size = sum(array.nbytes for array in arrays.values())
    if size > min(store.LIMIT, GROWTH * file_size + _ALLOWED_EXTRA_BYTES):
        return
    try:
        # The entry is never mapped: if it did not reach the disk, its
        # digests are wrong, and it is replaced.
        with NewEntry(parsed_folder(), durable=False) as new:
            # Remove old entries, to make space for this one.
            store.prune(parsed_folder(), store.LIMIT - size)
            for name, array in arrays.items():
                new.save(name, array, stop_check)
            text = table_text(
                table, table.query_ids, table.scattered, is_reordered=is_reordered
            )
            new.finish(text, _parsed_key(checksum))
    except OSError as error:
        log.debug("the table of %s was not written: %s", checksum, error)


def find_mapped(path: Path, stop_check: Callable[[], None]) -> Table | None:
    """Return the table of documents in a folder of the cache, with arrays mapped from its files.

    Return None if the table is missing or damaged. ``stop_check`` is
    called from time to time; it raises an error to cancel.
    """
    try:
        entry = StoredEntry.open(path)
        entry.check(ARRAYS, stop_check=stop_check)
        table = _table_of_arrays(
            {name: entry.mapped(name) for name in ARRAYS}, entry.text
        )
    except (EntryError, KeyError, TypeError):
        return None
    entry.touch()
    return table


def source_sizes() -> Iterator[tuple[int, ...]]:
    """Yield the sizes of the source files of each mapped table."""
    with suppress(OSError):
        for path in mapped_folder().iterdir():
            with suppress(EntryError, KeyError, TypeError, ValueError):
                yield tuple(size for size, _ in StoredEntry.open(path).text["sources"])


def table_text(
    source: Any,
    query_ids: Sequence[str],
    scattered: Scattered | None,
    *,
    is_reordered: bool,
    **extra: Any,
) -> dict[str, Any]:
    """Return the contents of a table other than arrays, by name, for the cache.

    Parameters
    ----------
    source : Table or TableFacts
        Object with the attributes of `_STORED_NAMES`; with ``remarks``,
        notes on the table as sentences; and with ``dense``, whether the
        file has a value for every feature of every document.
    query_ids : sequence of str
        Ids of the queries.
    scattered : Scattered or None
        Queries whose documents were not consecutive in the file.
    is_reordered : bool
        Whether the documents of the table are in another order than in
        the file, because a query was scattered. Their comments (texts
        of the lines after "#") are always stored in the order of the
        file.
    extra
        More contents by name: ``sources``, size and checksum of each source file.

    Returns
    -------
    dict of str to Any
        Contents that can be written as JSON.
    """
    attributes = {
        stored_name: getattr(source, name)
        for name, stored_name in _STORED_NAMES.items()
    }
    scattered_fields = None if scattered is None else asdict(scattered)
    return {
        **attributes,
        # "said" and "taken" are the names in files of earlier versions, too.
        "said": source.remarks,
        "dense": source.dense,
        "query_ids": query_ids,
        "scattered": scattered_fields,
        "taken": is_reordered,
        **extra,
    }


def _parsed_key(checksum: str) -> str:
    """Return the key of the table of a file with a checksum."""
    return f"{checksum.partition(':')[2]}-{PARSER_VERSION}"


def _table_of_arrays(
    arrays: Mapping[str, NDArray[Any]], text: Mapping[str, Any]
) -> Table:
    """Make a table from the arrays and the other contents of an entry of the cache.

    ``arrays`` and ``text``, the other contents, are by name.
    ``text["taken"]`` is whether the comments are stored in the order of
    the file, while the documents of the table have another order.
    """
    content, offsets = (arrays[name] for name in _COMMENT_ARRAYS)
    comments = TextComments(content, offsets)
    # X comes first in the list, and is stored in several forms.
    y, query_ptr, missing, feature_ids, file_rows, parts = (
        arrays[name] for name in _ARRAY_NAMES[1:]
    )
    return Table(
        features_of(arrays, missing.size),
        y,
        query_ptr,
        query_ids=tuple(text["query_ids"]),
        comments=TakenComments(comments, file_rows) if text["taken"] else comments,
        missing=missing,
        feature_ids=feature_ids,
        file_rows=file_rows,
        parts=parts,
        **{
            name: tuple(text[stored_name])
            for name, stored_name in _STORED_NAMES.items()
        },
        remarks=tuple(text.get("said", ())),
        dense=text["dense"],
        scattered=None if text["scattered"] is None else Scattered(**text["scattered"]),
    )
