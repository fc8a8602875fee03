"""Write a dataset in any format, so that the same numbers are read back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.data.file_access import packed_pieces, without_ending
from rankstudio.engine.data.formats.query_sizes import format_sizes
from rankstudio.engine.data.tabular.recognition import (
    COMMENT_NAME,
    DOCUMENT_NAMES,
    LABEL_NAMES,
    QUERY_NAMES,
    clean_name,
)
from rankstudio.engine.errors import OutputError
from rankstudio.engine.support.escaping import guarded
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import write_pieces, write_text
from rankstudio.engine.support.sparse_rows import SparseRows

_DOCUMENTS_AT_ONCE = 4096  # documents
_RESERVED = frozenset((*QUERY_NAMES, *LABEL_NAMES, *DOCUMENT_NAMES, COMMENT_NAME, ""))


def save_dataset(
    dataset: RankingDataset, path: Path, form: DataFormat, *, comments: bool = True
) -> tuple[Path, ...]:
    """Write a dataset in a format; each file is written completely or not at all.

    Parameters
    ----------
    dataset : RankingDataset
        The documents. Numbers are written without loss. Missing values
        are written as filled.
    path : Path
        Output file; compressed if its name ends with ``.gz``, ``.bz2``,
        ``.xz`` or ``.zst``.
    form : DataFormat
        Format of the file.
    comments : bool
        Whether to write the comments, if the format supports them.

    Returns
    -------
    tuple of Path
        Written files: the data, and the query sizes if the format has
        such a file.

    Raises
    ------
    OutputError
        If a file cannot be written, or a query id is not valid in LETOR text.
    MissingExtraError
        If the library of the format is not installed.

    Notes
    -----
    O(mn), with a few megabytes of the documents in memory at a time.
    """
    files = written_files(path, form)
    form.write(dataset, path, comments=comments)
    return files


def written_files(path: Path, form: DataFormat) -> tuple[Path, ...]:
    """Return the paths of the files in which a dataset is written in a format.

    ``path`` is the file of the data. Some formats have a second file
    with the query sizes.
    """
    return (
        (path, path.with_name(without_ending(path.name) + form.sizes))
        if form.sizes
        else (path,)
    )


def write_letor(
    _: DataFormat, dataset: RankingDataset, path: Path, comments: bool
) -> None:
    """Write a dataset as LETOR text, with its comments if ``comments`` is true."""
    save_letor(dataset, path, comments=comments)


def write_csv(
    form: DataFormat, dataset: RankingDataset, path: Path, comments: bool
) -> None:
    """Write a dataset as a table of text, with its comments if ``comments`` is true.

    ``form`` is CSV or TSV.
    """
    text = _csv_pieces(dataset, "," if form.key == "csv" else "\t", comments)
    write_pieces(path, packed_pieces(path, text))


def write_with_sizes(
    form: DataFormat, dataset: RankingDataset, path: Path, _comments: bool
) -> None:
    """Write SVMlight text without queries, and the file of query sizes beside it.

    That file has the number of documents of each query, one per line.
    If the text cannot be written, a new file of sizes is removed again.
    SVMlight text has no comments: the last parameter, which all writers
    have, is not used.
    """
    content = packed_pieces(path, letor_pieces(dataset, comments=False, queries=False))
    # The files that the format writes: the text itself, then the sizes.
    _, sizes_path = written_files(path, form)
    is_new = not sizes_path.exists()
    write_text(sizes_path, format_sizes(np.diff(dataset.query_ptr)))
    try:
        write_pieces(path, content)
    except BaseException:
        if is_new:
            sizes_path.unlink(missing_ok=True)
        raise


NAMES = "names of features"


def losses(dataset: RankingDataset, form: DataFormat) -> tuple[str, ...]:
    """Return the contents of a dataset that are lost in a format, such as "comments".

    Only contents that the dataset has are listed: names other than the
    default ones, feature ids other than 1 … n, query ids other than 1 …
    Q, comments.
    """
    ids = dataset.feature_ids
    is_present = {
        NAMES: dataset.feature_names != default_names(ids),
        "ids of features": not np.array_equal(ids, np.arange(1, len(ids) + 1)),
        "ids of queries": dataset.query_ids
        != tuple(str(i + 1) for i in range(dataset.n_queries)),
        "comments": any(dataset.comments),
    }
    return tuple(aspect for aspect in form.loses if is_present[aspect])


def column_names(dataset: RankingDataset) -> tuple[str, ...]:
    """Return a unique column name for each feature of a dataset, in order.

    A name that is reserved for another column, such as "qid", or that
    occurs again, gets the feature's id before it, and "(again)" if the
    new name occurs, too.
    """
    used = set()
    names = []
    for i, name in zip(
        dataset.feature_ids.tolist(), dataset.feature_names, strict=True
    ):
        column = clean_name(name)
        if column.lower() in _RESERVED or column in used:
            column = f"feature {i} {column}".strip()
        while column in used:
            column += " (again)"
        used.add(column)
        names.append(column)
    return tuple(names)


def _csv_pieces(
    dataset: RankingDataset, delimiter: str, comments: bool
) -> Iterator[bytes]:
    """Yield CSV text, as bytes: a header, then one line for each document.

    The columns are query, label, the features and, if ``comments`` is
    true and the dataset has any, the comments. ``delimiter`` is the
    sign between cells.
    """

    def cell(text: str) -> str:
        """Return a text as a cell of CSV."""
        # A cell that a spreadsheet would take as a formula gets an
        # apostrophe. Quote texts with outer blanks, delimiters, quotes
        # or line ends.
        text = str(guarded(text))
        is_plain = text == text.strip() and not any(
            c in text for c in f'{delimiter}"\r\n'
        )
        return text if is_plain else '"' + text.replace('"', '""') + '"'

    # The first line names the columns.
    with_comments = comments and any(dataset.comments)
    header = [
        "qid",
        "label",
        *column_names(dataset),
        *([COMMENT_NAME] if with_comments else []),
    ]
    yield _encoded([delimiter.join(map(cell, header))])
    ids = [cell(query) for query in dataset.query_ids]
    texts = iter(dataset.comments)
    # Write the documents in blocks, which take little memory.
    for first in range(0, dataset.n_documents, _DOCUMENTS_AT_ONCE):
        rows = slice(first, first + _DOCUMENTS_AT_ONCE)
        lines = []
        for query, label, values in zip(
            dataset.query_index[rows].tolist(),
            dataset.y[rows].tolist(),
            dataset.X[rows],
            strict=True,
        ):
            numbers = map(shortest, (label, *values.tolist()))
            comment = [cell(next(texts))] if with_comments else []
            lines.append(delimiter.join([ids[query], *numbers, *comment]))
        yield _encoded(lines)
        release(dataset.X[rows])


def _encoded(lines: Sequence[str]) -> bytes:
    """Return lines as bytes, each with a newline."""
    return "".join(f"{line}\n" for line in lines).encode(
        "utf-8", errors="backslashreplace"
    )


_ENDS_TOKEN = frozenset(" \t\r\n#\0")


def save_letor(
    dataset: RankingDataset, path: str | os.PathLike[str], *, comments: bool = True
) -> None:
    """Write a dataset as LETOR text, completely or not at all.

    Parameters
    ----------
    dataset : RankingDataset
        Dataset to write. Numbers are written with the digits needed to
        read back the same double; zeros are omitted if the source file
        omitted them. Missing values are written as filled.
    path : str or path-like
        Output file; compressed if its name ends with ``.gz``, ``.bz2``,
        ``.xz`` or ``.zst``.
    comments : bool
        Whether to write the comments. Line ends within comments become blanks.

    Raises
    ------
    OutputError
        If the file cannot be written, or a query id is not valid in LETOR text.

    Notes
    -----
    O(mn), with a few thousand documents in memory at a time.
    """
    path = Path(path)
    for query_id in dataset.query_ids:
        if not query_id or not _ENDS_TOKEN.isdisjoint(query_id):
            raise OutputError(
                f'{path}: the file could not be written: found the query id "{query_id}", expected an id '
                "without spaces and #."
            )
    write_pieces(path, packed_pieces(path, letor_pieces(dataset, comments=comments)))


def letor_pieces(
    dataset: RankingDataset, *, comments: bool = True, queries: bool = True
) -> Iterator[bytes]:
    """Yield the lines of a dataset, as LETOR text.

    ``comments`` is whether to write the comments. Without ``queries``,
    query ids are left out: that is the format of SVM-light.
    """
    for begin in range(0, dataset.n_documents, _DOCUMENTS_AT_ONCE):
        end = min(begin + _DOCUMENTS_AT_ONCE, dataset.n_documents)
        yield _letor_lines(dataset, begin, end, comments, queries)
        release(dataset.X[begin:end])


def _letor_lines(
    dataset: RankingDataset, begin: int, end: int, comments: bool, queries: bool
) -> bytes:
    """Return the documents begin … end - 1 as lines of LETOR text.

    ``comments`` and ``queries`` say whether to write comments and query
    ids. Zeros are left out if the source file left them out.
    """
    ids = dataset.feature_ids.tolist()
    lines = []
    # shortest() writes a number with as few digits as give the same double.
    for row in range(begin, end):
        query_id = dataset.query_ids[dataset.query_index[row]]
        # Write the stored entries, the values other than 0, or all values.
        if isinstance(dataset.X, SparseRows):
            columns, values = dataset.X.entries(row)
            features = [
                f"{ids[column]}:{shortest(value)}"
                for column, value in zip(columns, values, strict=True)
            ]
        elif dataset.sparse:
            # The first document has its last feature even if that is 0,
            # so that the number of features is not lost.
            values = dataset.X[row]
            columns = _written_columns(values, is_first_row=row == 0)
            features = [
                f"{ids[column]}:{shortest(values[column].item())}" for column in columns
            ]
        else:
            features = [
                f"{i}:{shortest(value)}"
                for i, value in zip(ids, dataset.X[row].tolist(), strict=True)
            ]
        query = [f"qid:{query_id}"] if queries else []
        line = " ".join([shortest(dataset.y[row].item()), *query, *features])
        # A comment has to fit into its line.
        comment = (
            " ".join(dataset.comments[row].splitlines())
            if comments and len(dataset.comments)
            else ""
        )
        lines.append(f"{line} #{comment}\n" if comment else f"{line}\n")
    return "".join(lines).encode("utf-8", errors="backslashreplace")


def _written_columns(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], is_first_row: bool
) -> list[int]:
    """Return the columns of a document's values other than 0, as sparse text has only these.

    In the first row, the last column is included, too, so that the
    number of features is not lost.
    """
    is_written = (values != 0.0) | np.signbit(values)  # -0.0 is written, too
    is_written[-1] |= is_first_row
    return np.flatnonzero(is_written).tolist()


def shortest(value: float) -> str:
    """Return the shortest text that is read back as this double.

    Examples
    --------
    >>> shortest(2.0), shortest(0.1), shortest(-0.0)
    ('2', '0.1', '-0')
    """
    return repr(value).removesuffix(".0")
