"""Recognition of the columns of a table by their names, and the column that gives the part of a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.comments import TakenComments
from rankstudio.engine.data.table import Table
from rankstudio.engine.errors import DatasetError, UnknownColumnsError
from rankstudio.engine.language import tr, translatable, trn

# The first four names are always ids of queries, the others may mean
# something else, too.
QUERY_NAMES = (
    "qid", "q_id", "query_id", "queryid", "srch_id", "search_id", "searchid", "topic_id", "topicid", "qry_id",
    "group_id", "groupid", "query", "query_text", "topic", "group",
)  # fmt: skip
LABEL_NAMES = (
    "label", "relevance", "rel", "relevance_label", "relevance_grade", "rel_grade", "grade", "judgment",
    "judgement", "target", "rating", "y",
)  # fmt: skip
DOCUMENT_NAMES = (
    "docid",
    "doc_id",
    "document_id",
    "documentid",
    "docno",
    "did",
    "doc",
    "document",
)
COMMENT_NAME = "comment"
_INDEX_NAMES = re.compile(r"|Unnamed: 0|__index_level_0__|index")
_N_SHOWN_NAMES = 8
_LONGEST_SHOWN = 40
_MAX_NAME_LENGTH = 200
_OR_NO_QUERIES = ", or no-queries if all documents are one ranking"
_OR_NO_QUERIES_OPTION = ", or --no-queries if all documents are one ranking"


@dataclass(frozen=True)
class RecognisedColumns:
    """Roles of the columns of a table, by position.

    Attributes
    ----------
    qid : int or None
        Column of the query; None if a file of sizes determines the
        queries, or the documents are one ranking.
    label : int or None
        Column of the label; None if labels are not read.
    comment : int or None
        Column of the comments; None without one.
    comment_is_id : bool
        Whether the comments are document ids.
    features : tuple of int
        Feature columns, in order.
    unsure : tuple of int
        Feature columns with a usual name of query, label, document or
        comment; dropped if they contain text.
    ignored : tuple of int
        Unspecified columns that are not features, such as row numbers.
    part : int or None
        Column of the part (train, vali or test); None without one.
    judges : tuple of int
        Label columns of several judges; () for one label.
    """

    qid: int | None
    label: int | None
    comment: int | None
    comment_is_id: bool
    features: tuple[int, ...]
    unsure: tuple[int, ...]
    ignored: tuple[int, ...]
    part: int | None = None
    judges: tuple[int, ...] = ()


def recognise_columns(
    location: str,
    names: Sequence[str],
    specified: DataColumns,
    *,
    with_sizes: bool = False,
    has_header: bool = True,
    says_parts: Callable[[int], bool] = lambda _: False,
) -> RecognisedColumns:
    """Return the roles of the columns of a table.

    Parameters
    ----------
    location : str
        Name of the table, for messages.
    names : sequence of str
        Names of the table's columns, in order.
    specified : DataColumns
        Columns that the user specified.
    with_sizes : bool
        Whether a file of sizes determines the queries, so that no query
        column is needed.
    has_header : bool
        Whether the table has a header; without one, the label is the
        first column.
    says_parts : callable
        Returns whether all values of a column are names of parts;
        called for columns with names such as "split".

    Raises
    ------
    UnknownColumnsError
        If the query or the label is not found, or a specified name is
        missing or occurs twice.
    """
    specified = _with_clean_names(specified)
    if specified.no_labels:
        specified = _without_missing_columns(names, specified)
    # Find the columns of queries, labels and parts, and the specified ones.
    positions = range(len(names))
    qid = _query_column(location, names, specified, with_sizes)
    # In a table without a header, the first column is the label.
    if not has_header and not specified.label:
        specified = replace(specified, label=names[0])
    label = _label_column(location, names, specified, qid)
    judges = tuple(
        _position(location, names, name, "labels") for name in specified.labels
    )
    part = (
        _position(location, names, specified.part, "part") if specified.part else None
    )
    ignored = set(_positions(location, names, specified.ignore, "ignore"))
    if specified.ignore:  # a name that is ignored also means its repetitions
        left_out = set(specified.ignore)
        ignored |= {
            i for i, name in enumerate(original_names(names)) if name in left_out
        }
    features = tuple(_positions(location, names, specified.features, "features"))
    # A column has at most one role.
    single_columns = [qid, part, *(judges or (label,))]
    used = {*features, *ignored}
    _check_once(location, names, single_columns, used)
    used.update(i for i in single_columns if i is not None)
    rest = [i for i in positions if i not in used]
    # Among the columns without a role yet, the part and the comment are
    # recognised by their names.
    if part is None:
        plain = _plain_names(tuple(names))
        part = next((i for i in rest if plain[i] in PART_NAMES and says_parts(i)), None)
        rest = [i for i in rest if i != part]
    # Find the column of comments or of document ids.
    comment = _first_common_position(names, (COMMENT_NAME, *DOCUMENT_NAMES), rest)
    comment_is_id = comment is not None and plain_name(names[comment]) != COMMENT_NAME
    if specified.document:
        comment = _position(location, names, specified.document, "document")
        comment_is_id = True
        _check_once(
            location, names, [*single_columns, part, comment], {*features, *ignored}
        )
    roles = RecognisedColumns(
        qid=qid,
        label=label,
        comment=comment,
        comment_is_id=comment_is_id,
        features=features,
        unsure=(),
        ignored=(),
        part=part,
        judges=judges,
    )
    if specified.features:
        return roles
    # Find the features among the columns that have no role yet.
    rest = [i for i in rest if i != comment]
    _check_repeated(location, names, [*single_columns, part], rest)
    return _with_features(location, names, roles, rest, specified.no_queries)


def _query_column(
    location: str, names: Sequence[str], specified: DataColumns, with_sizes: bool
) -> int | None:
    """Return the position of the column of the query.

    Return None if a file of sizes determines the queries
    (``with_sizes``), or all documents are one ranking. ``location`` is
    the name of the table for messages. Raise UnknownColumnsError if no
    column is called like a query. ``specified`` has the columns that
    the user names.
    """
    # A file of query sizes beside the table is not used if a column has
    # one of the most usual names of a query.
    usual = _first_common_position(names, QUERY_NAMES[:4], range(len(names)))
    uses_sizes = with_sizes and not specified.qid and usual is None
    if specified.no_queries or uses_sizes:
        return None
    return _required_position(
        location, names, specified.qid, "query", "qid", QUERY_NAMES
    )


def _label_column(
    location: str, names: Sequence[str], specified: DataColumns, qid: int | None
) -> int | None:
    """Return the position of the column of the label.

    ``qid`` is the position of the column of the query, ``location`` the
    name of the table for messages. Return None only if labels are not
    needed, and no column has a usual name. Otherwise raise
    UnknownColumnsError if the table has no column of labels.
    ``specified`` has the columns that the user names.
    """
    if specified.no_labels and not specified.label:
        other_columns = [i for i in range(len(names)) if i != qid]
        return _first_common_position(names, LABEL_NAMES, other_columns)
    return _required_position(
        location, names, specified.label, "label", "label", LABEL_NAMES, excluded=qid
    )


def _without_missing_columns(
    names: Sequence[str], specified: DataColumns
) -> DataColumns:
    """Return the specification without names of columns that a table lacks.

    ``names`` are the names of the table's columns. Only the names of
    query and features stay, because documents that are only scored need
    no other columns.
    """
    names_in_table = {*names, *_plain_names(tuple(names))}
    names_not_needed = {
        specified.label,
        specified.part,
        specified.document,
        *specified.ignore,
    }
    # As everywhere, case and punctuation do not matter.
    present = {
        name for name in names_not_needed if {name, plain_name(name)} & names_in_table
    }
    return replace(
        specified,
        label=specified.label if specified.label in present else "",
        part=specified.part if specified.part in present else "",
        document=specified.document if specified.document in present else "",
        ignore=tuple(name for name in specified.ignore if name in present),
    )


def _with_features(
    location: str,
    names: Sequence[str],
    roles: RecognisedColumns,
    rest: Sequence[int],
    no_queries: bool,
) -> RecognisedColumns:
    """Return the roles of columns, with the remaining columns as features.

    ``rest`` are the positions of the columns without a role. A column
    that only numbers the rows is ignored. If all documents are one
    ranking (``no_queries``), a column named like the id of a query is
    ignored, too. Raise UnknownColumnsError if no feature is left.
    ``location`` is the name of the table for messages, and ``names``
    are those of its columns.
    """
    # Without queries, no column got the role of the query: its id is in
    # the rest, but is no feature. With queries, another column with
    # such a name may be a feature; it is unsure below.
    numbering_names = QUERY_NAMES if no_queries else ()
    plain = _plain_names(tuple(names))
    ignored = tuple(
        i for i in rest if _is_index(i, names) or plain[i] in numbering_names
    )
    ignored_positions = set(ignored)
    features = tuple(i for i in rest if i not in ignored_positions)
    if not features:
        raise UnknownColumnsError(
            tr(
                "{where}: found only query and label columns, expected at least one feature column."
            ).format(where=location)
        )
    # A column with the name of another role may be no feature.
    reserved = {*QUERY_NAMES, *LABEL_NAMES, *DOCUMENT_NAMES, COMMENT_NAME}
    unsure = tuple(i for i in features if plain[i] in reserved)
    return replace(roles, features=features, unsure=unsure, ignored=ignored)


def plain_name(name: str) -> str:
    """Return a name as common names are written: "Query ID" and "query-id" as "query_id"."""
    lower = name.strip().lower()
    return (
        lower if lower.isidentifier() else re.sub(r"[\s-]+", "_", lower)
    )  # mostly there is nothing to replace


@lru_cache(maxsize=2)
def _plain_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a table's columns as common names are written, such as "query_id".

    The result is cached, as it is needed several times.
    """
    return tuple(map(plain_name, names))


def _with_clean_names(specified: DataColumns) -> DataColumns:
    """Return the specification with its names on one line, as those of tables are."""
    return replace(
        specified,
        qid=clean_name(specified.qid),
        label=clean_name(specified.label),
        labels=tuple(map(clean_name, specified.labels)),
        part=clean_name(specified.part),
        document=clean_name(specified.document),
        features=tuple(map(clean_name, specified.features)),
        ignore=tuple(map(clean_name, specified.ignore)),
    )


def _check_once(
    location: str,
    names: Sequence[str],
    role_positions: Sequence[int | None],
    other_positions: Collection[int],
) -> None:
    """Raise UnknownColumnsError if a column has two roles.

    ``role_positions`` are the positions of query, label and part, None
    for a missing column; ``other_positions`` are the positions of
    features and ignored columns.
    """
    single_positions = [i for i in role_positions if i is not None]
    reused_positions = [
        i
        for i in single_positions
        if i in other_positions or single_positions.count(i) > 1
    ]
    if reused_positions:
        name = names[reused_positions[0]]
        raise UnknownColumnsError(
            tr(
                '{where}: the column "{name}" is used twice; expected each column at most once.'
            ).format(where=location, name=short(name))
        )


def _is_index(position: int, names: Sequence[str]) -> bool:
    """Return whether the name of a column says that it is no feature.

    Such a column numbers the rows, or is the empty rest after the last
    delimiter of each line.
    """
    name = names[position]
    return (position == 0 and bool(_INDEX_NAMES.fullmatch(name))) or (
        position == len(names) - 1 and not name
    )


def _required_position(
    location: str,
    names: Sequence[str],
    name: str,
    role: str,
    option: str,
    common: Sequence[str],
    excluded: int | None = None,
) -> int:
    """Return the position of the column of the query or of the label in a table.

    Parameters
    ----------
    location : str
        The table, for messages.
    names : sequence of str
        Names of its columns.
    name : str
        Specified name; "" for the first column with a common name.
    role : {"query", "label"}
        What the column has.
    option : str
        Name of the option that specifies the column, for messages.
    common : sequence of str
        Common names of the role.
    excluded : int, optional
        Position of a column that has another role.

    Raises
    ------
    UnknownColumnsError
        If there is no such column.
    """
    if name:
        return _position(location, names, name, option)
    # Otherwise search for a common name.
    other_columns = [i for i in range(len(names)) if i != excluded]
    position = _first_common_position(names, common, other_columns)
    if position is None:
        text = (
            tr(
                "{where}: found no column for the query among {names}; expected a name such as {common}."
            )
            if role == "query"
            else tr(
                "{where}: found no column for the label among {names}; expected a name such as {common}."
            )
        )
        raise UnknownColumnsError(
            text.format(
                where=location, names=listed(names), common=", ".join(common[:3])
            ),
            f"Otherwise set {option}{_OR_NO_QUERIES if role == 'query' else ''}.",
            f"Otherwise add --{option} COLUMN{_OR_NO_QUERIES_OPTION if role == 'query' else ''}.",
        )
    return position


def _first_common_position(
    names: Sequence[str], common: Sequence[str], among: Sequence[int]
) -> int | None:
    """Return the position of the column with the earliest of some common names.

    Only the columns at the positions ``among`` are searched. Case and
    punctuation of names do not matter. Return None if no column has
    such a name.
    """
    plain_names = _plain_names(tuple(names))
    # the first of equal names
    position_of_name = {plain_names[i]: i for i in reversed(among)}
    return next(
        (position_of_name[name] for name in common if name in position_of_name), None
    )


def _positions(
    location: str, names: Sequence[str], specified: Sequence[str], option: str
) -> list[int]:
    """Return the position of each specified column in a table with these names.

    ``option`` is the option with these names, for messages. Raise
    UnknownColumnsError if a column is missing. O(n) if all names are
    exactly those of the table.
    """
    if not specified:
        return []
    # Reversed, so that the first of equal names counts.
    exact = {name: i for i, name in reversed([*enumerate(names)])}
    return [
        exact[name] if name in exact else _position(location, names, name, option)
        for name in specified
    ]


def _position(location: str, names: Sequence[str], name: str, option: str) -> int:
    """Return the position of a column by its exact or nearly exact name.

    A nearly exact name differs in case or punctuation only, and must be
    unique. ``option`` is the option that specifies the name, for
    messages. Raise UnknownColumnsError, which suggests a similar name,
    if no column has the name.
    """
    if name in names:
        return list(names).index(name)
    # A plain name is in lower case, without punctuation.
    plain = _plain_names(tuple(names))
    if plain.count(plain_name(name)) == 1:
        return plain.index(plain_name(name))
    near = get_close_matches(name, names, 1)  # one at most
    hint = f' Did you mean "{short(near[0])}"?' if near else ""
    raise UnknownColumnsError(
        f'{location}: {option}: no column "{short(name)}"; expected one of {listed(names)}.{hint}'
    )


def original_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that columns have in their file.

    A repeated name, to which `column_names` has added its position,
    becomes equal to the first name again.

    Examples
    --------
    >>> original_names(["tf", "tf (column 2)", "idf (column 3)"])
    ('tf', 'tf', 'idf (column 3)')
    """
    earlier_names: set[str] = set()
    originals = []
    for i, name in enumerate(names):
        original = name.removesuffix(_name_with_position("", i))
        originals.append(original if original in earlier_names else name)
        earlier_names.add(name)
    return tuple(originals)


def _check_repeated(
    location: str,
    names: Sequence[str],
    role_positions: Sequence[int | None],
    features: Sequence[int],
) -> None:
    """Raise UnknownColumnsError if a feature has the name of another role.

    ``role_positions`` are the positions of query, label and part, None
    for a missing column, and ``features`` the positions of the
    features. In ``names``, a repeated name has its position, such as
    "qid (column 5)". In the file, both columns have the same name: the
    second column may be meant instead of the first.
    """
    roles = {names[i] for i in role_positions if i is not None}
    originals = original_names(names)
    for i in features:
        name = originals[i]
        if name != names[i] and name in roles:
            text = tr(
                '{where}: found two columns named "{name}", expected one. Ignore the second, called '
                '"{repeated}" here, or name the feature columns.'
            )
            raise UnknownColumnsError(
                text.format(where=location, name=short(name), repeated=short(names[i]))
            )


def listed(names: Sequence[str]) -> str:
    """Return the first names in quotes, and the number of others, for a message."""
    first = ", ".join(f'"{short(name, 24)}"' for name in names[:_N_SHOWN_NAMES])
    n_more = len(names) - _N_SHOWN_NAMES
    return (
        tr("{names} and {n} more").format(names=first, n=n_more)
        if n_more > 0
        else first
    )


def short(text: str, max_length: int = _LONGEST_SHOWN) -> str:
    """Return a text as one line, shortened for a message.

    Examples
    --------
    >>> short("abcccccccc", 8)
    'abcccccc…'
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: max_length + 1])
    return printable if len(printable) <= max_length else printable[:max_length] + "…"


def clean_name(name: object) -> str:
    """Return the name of a column as one line, shortened for display."""
    return " ".join(
        "".join(
            c if c.isprintable() else " " for c in str(name)[:_MAX_NAME_LENGTH]
        ).split()
    )


def column_names(names: Sequence[object]) -> tuple[str, ...]:
    """Return distinct names of columns on one line each.

    A nameless column between others is named by its position, and a
    repeated name gets its position. A nameless first or last column
    keeps the name "": it has no data, but row numbers, or the rest
    after the last delimiter.

    Examples
    --------
    >>> column_names(["", "qid", "", " tf ", "tf"])
    ('', 'qid', 'column 3', 'tf', 'tf (column 5)')
    """
    clean = [clean_name(name) for name in names]
    inner = range(1, len(clean) - 1)
    return _distinct_names(
        [
            name or (f"column {i + 1}" if i in inner else "")
            for i, name in enumerate(clean)
        ]
    )


def _distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that all differ, apart from empty ones.

    The position is added to a repeated name: a second "tf" becomes "tf (column
    5)".
    """
    earlier_names: set[str] = set()
    different = []
    for i, name in enumerate(names):
        different.append(
            _name_with_position(name, i) if name and name in earlier_names else name
        )
        earlier_names.add(name)
    return tuple(different)


def _name_with_position(name: str, position: int) -> str:
    """Return the name of a column with its position, from 1."""
    return f"{name} (column {position + 1})"


PART_NAMES = ("part", "split", "set", "subset", "partition", "fold")
"""Names of a column of parts; its values must be the words below, too."""

PART_WORDS = {
    "train": ("train", "training"),
    "vali": ("vali", "val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}
"""Words for each part."""

PART_EXPECTED = translatable(
    "train, vali or test (or training, valid, validation, dev …)"
)
_PART_CODES = {
    word: code for code, words in enumerate(PART_WORDS.values()) for word in words
}


def part_code(value: object) -> int | None:
    """Return the part that a value names: 0 train, 1 vali, 2 test; None if it names no part.

    Examples
    --------
    >>> part_code(" Valid"), part_code(1.0)
    (1, None)
    """
    return _PART_CODES.get(value.strip().lower()) if isinstance(value, str) else None


def says_parts(values: NDArray[Any]) -> bool:
    """Return whether every value of a column is the name of a part, such as "train".

    O(m) for m rows.
    """
    # Only objects ("O") and texts ("U", "T") may be names.
    if values.dtype.kind not in "OUT" or not len(values):
        return False
    texts = values.tolist()
    if not all(isinstance(text, str) for text in texts):
        return False
    return all(part_code(text) is not None for text in set(texts))


def tables_by_part(table: Table, part: str) -> Mapping[str, Table]:
    """Return the documents of each part of a table, by the part's name.

    A query with documents in several parts is included in each of these
    parts, with a note.

    The table may have a column with the part of each document; without
    one, all documents are the part ``part``.

    Notes
    -----
    O(mn); consecutive documents are not copied.
    """
    if not table.parts.size:
        return {part: table}
    with_note = replace(table, remarks=(*table.remarks, *_shared_queries(table)))
    codes = np.unique(table.parts).tolist()
    return {tuple(PART_WORDS)[code]: _table_of_part(with_note, code) for code in codes}


def misplaced_part(path: Path, part: str, expected: str) -> DatasetError:
    """Return the error for a part of a fold that is in two files, or for a missing training part.

    ``part`` is the part that was found, and ``expected`` says what was
    expected, for the message. ``path`` is the file or folder.
    """
    return DatasetError(
        tr("{path}: found documents of the {part} part, expected {expected}.").format(
            path=path, part=part, expected=expected
        )
    )


def _shared_queries(table: Table) -> tuple[str, ...]:
    """Return a note on the number of queries with documents in several parts.

    Return () if there are no such queries. O(m).
    """
    starts = table.query_ptr[:-1]
    # A query has documents in several parts if its codes of parts differ.
    least, greatest = (
        function.reduceat(table.parts, starts) for function in (np.minimum, np.maximum)
    )
    n = int(np.sum(least != greatest))
    if not n or len(table.query_ids) == 1:  # one ranking is divided by documents
        return ()
    text = trn(
        "{n} query has documents in more than one part, so test results may be optimistic.",
        "{n} queries have documents in more than one part, so test results may be optimistic.",
        n,
    )
    return (text.format(n=n),)


def _table_of_part(table: Table, code: int) -> Table:
    """Return the table of the documents of one part.

    ``code`` is 0 for train, 1 for vali and 2 for test; at least one
    document must belong to the part.
    """
    # Select contiguous rows by a slice, which does not copy them.
    rows = np.flatnonzero(table.parts == code)
    is_contiguous = rows[-1] - rows[0] + 1 == rows.size
    selection = slice(int(rows[0]), int(rows[-1]) + 1) if is_contiguous else rows
    # Queries without documents in this part are left out.
    query_of = np.repeat(np.arange(len(table.query_ids)), np.diff(table.query_ptr))[
        selection
    ]
    queries, counts = np.unique(query_of, return_counts=True)
    X = table.X[selection]
    file_rows = table.file_rows
    if file_rows.size:  # some query was scattered in the file
        file_rows = _order_in_part(file_rows[selection])
    return replace(
        table,
        X=X,
        y=table.y[selection],
        query_ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        query_ids=tuple(table.query_ids[query] for query in queries.tolist()),
        comments=TakenComments(table.comments, rows),
        missing=np.isnan(X).sum(axis=0).astype(np.int64),
        file_rows=file_rows,
        parts=np.zeros(0, dtype=np.int64),
    )


def _order_in_part(file_rows: Ints) -> Ints:
    """Return the position of each document of a part among the part's documents in the file, from 0.

    ``file_rows`` has the position of each of these documents among all
    documents of the file.
    """
    order = np.empty(file_rows.size, dtype=np.int64)
    order[np.argsort(file_rows)] = np.arange(file_rows.size)
    return order
