"""A format of data files as a static value: its names and properties, and the location of its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.file_access import ARROW, PARQUET, is_packed
from rankstudio.engine.plugins.entries import imported

_ADAPTER = "rankstudio.engine.data.formats.block_reader"


OF = " of "
"""Separator between the key of a format and its package in a plan."""


@dataclass(frozen=True, eq=False)
class DataBlock:
    """Some documents of a file, in order, which the reader of a format yields.

    Attributes
    ----------
    X : ndarray of shape (m, n), or sparse matrix of scipy
        Features; NaN for missing values.
    y : ndarray of shape (m,)
        Labels.
    qid : ndarray of shape (m,)
        Ids of queries: whole numbers or texts.
    feature_names : sequence of str
        Names of the features; () for none. The names of the first block
        are used for all blocks.
    documents : sequence of str
        Ids of the documents; () for none.

    Examples
    --------
    >>> DataBlock([[0.5, 2.0]], [1], ["q7"], feature_names=("bm25", "length")).feature_names
    ('bm25', 'length')
    """

    X: Any
    y: Any
    qid: Any
    feature_names: Sequence[str] = ()
    documents: Sequence[str] = ()


@dataclass(frozen=True)
class Beginning:
    """A file whose format is to be recognised, with the evidence for its format.

    Attributes
    ----------
    path : Path
        The file.
    head : bytes
        Beginning of its contents, decompressed.
    first_bytes : bytes
        First bytes of the file as stored, perhaps compressed.
    user_columns : DataColumns
        Columns and format that the user specified.
    sizes : Path, optional
        The file of query sizes beside the file.
    """

    path: Path
    head: bytes
    first_bytes: bytes
    user_columns: DataColumns
    sizes: Path | None = None

    @property
    def is_packed(self) -> bool:
        """Whether the file is compressed."""
        return is_packed(self.first_bytes)

    @property
    def is_arrow(self) -> bool:
        """Whether the file is in Parquet or Arrow format."""
        return self.first_bytes.startswith(PARQUET) or self.first_bytes == ARROW

    @property
    def lacks_queries(self) -> bool:
        """Whether the lines need not contain their query."""
        return self.user_columns.no_queries or self.sizes is not None

    @cached_property
    def first_line(self) -> bytes:
        """The first line that is neither empty nor a comment."""
        texts = (line.strip() for line in self.head.splitlines())
        return next((line for line in texts if line and not line.startswith(b"#")), b"")


@dataclass(frozen=True)
class ContentsNeed:
    """Estimated memory that the contents of a file take.

    Attributes
    ----------
    table : float
        Bytes of the documents.
    text : float
        Bytes of the text that is in memory while the file is read.
    stores_no_zeros : bool
        Whether the documents are stored without their zeros.
    """

    table: float
    text: float
    stores_no_zeros: bool = False


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a table of documents, for a preview.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    rows : list of list
        Values by row.
    has_header : bool
        Whether the file has a header with the names.
    key : str
        Key of the format, if the contents say it more precisely than
        the name of the file; otherwise "".
    """

    names: tuple[str, ...]
    rows: Any
    has_header: bool = True
    key: str = ""


@dataclass(frozen=True)
class FormatCode:
    """Where the code of RankStudio's own formats is, as ``"module:name"``.

    A format of a plug-in needs no such code. Its reader, its recogniser
    and its writer are small functions (see
    :class:`DataFormat`), which the default code calls and checks.
    These attributes may change with every release.

    Attributes
    ----------
    confidence : str
        ``(form, beginning) -> float``: how certain it is that a file
        with such a beginning has the format.
    read : str
        A ``FormatReader``, which passes the documents of a part of the
        dataset to a builder.
    read_whole : str
        ``(path, progress, refuse) -> (table, source, read_as)`` for a
        format whose file is read at once, together with accompanying
        files, and not piece by piece; else "".
    need : str
        ``(form, path) -> ContentsNeed``: about how much memory the
        contents of a file take.
    preview : str
        ``(form, path, beginning, n_rows) -> FirstRows`` of a table.
    logs_of : str
        ``paths -> (logs, judgments)`` where files of the format may
        belong to feature logs; else "".
    unmatched : str
        ``(logs, judgments) -> rows``: the documents that are not both
        logged and judged; else "".
    write : str
        ``(form, dataset, path, comments)``: writes a dataset; "" for a
        format that is only read.
    """

    confidence: str = f"{_ADAPTER}:confidence"
    read: str = f"{_ADAPTER}:read_blocks"
    read_whole: str = ""
    need: str = f"{_ADAPTER}:need"
    preview: str = f"{_ADAPTER}:preview"
    logs_of: str = ""
    unmatched: str = ""
    write: str = f"{_ADAPTER}:write_file"


@dataclass(frozen=True)
class DataFormat:
    """A format of data files.

    Attributes
    ----------
    key : str
        Key in the terminal and in plans.
    label : str
        Name for users.
    endings : tuple of str
        Endings of file names; the first one is used for writing. "" is none.
    about : str
        Contents of a line or row.
    reader : str
        ``"module:function"`` of a function that gets the path of a file
        and yields its documents in blocks: ``(X, y, qid)``, or a
        :class:`DataBlock`, or with ``is_table`` a mapping of names of
        columns to their values.
    recognise : str
        ``"module:function"`` of a function that gets the beginning of a
        file (at most 4096 bytes) and its name, and returns how certain
        it is of the format, from 0 to 1. It is not needed for a format
        with an ending of its own.
    magic : bytes
        Bytes with which every file of the format begins; empty if there
        are none.
    writer : str
        ``"module:function"`` of a function that gets the path of a new
        file and all documents as a :class:`DataBlock`; "" for a format
        that is only read.
    growth : float
        Approximate number of bytes of features for each byte of a file.
    loses : tuple of str
        Parts of a dataset that the format cannot store.
    extra : str
        Extra of RankStudio that installs the library of the format; ""
        if none is needed.
    sizes : str
        Ending of the accompanying file of query sizes; "" if the data
        contain the queries.
    marks : tuple of str
        For a joined format of an ability: texts, one of which occurs at
        the beginning of each file.
    is_table : bool
        Whether the documents are rows of named columns, so that the
        user can be asked which columns are the query, the label and the
        features.
    is_joined : bool
        Whether judgments and values are in different files.
    has_word_ids : bool
        Whether ids of queries must be without spaces and #.
    several_files : bool
        Whether several files in order may be one part.
    parsed_as : str
        Name under which parsed files are kept; formats with the same
        reader share it.
    package, version : str
        Package that it comes from, filled in by the loader; "" for
        RankStudio's own.
    code : FormatCode
        Code of RankStudio's own formats; a plug-in leaves it out.

    Examples
    --------
    >>> from rankstudio.api import DataFormat
    >>> form = DataFormat("arff", "ARFF", (".arff",), "A header, then rows", reader="my_formats:read")
    >>> form.reads_only
    True
    """

    key: str
    label: str
    endings: tuple[str, ...]
    about: str = ""
    reader: str = ""
    recognise: str = ""
    magic: bytes = b""
    writer: str = ""
    growth: float = 4.0
    loses: tuple[str, ...] = ()
    extra: str = ""
    sizes: str = ""
    marks: tuple[str, ...] = ()
    is_table: bool = False
    is_joined: bool = False
    has_word_ids: bool = False
    several_files: bool = False
    parsed_as: str = ""
    package: str = ""
    version: str = ""
    code: FormatCode = field(default_factory=FormatCode)

    @property
    def ending(self) -> str:
        """Ending of the names of written files."""
        return next((ending for ending in self.endings if ending), "")

    @property
    def reads_only(self) -> bool:
        """Whether it can be read but not written."""
        return not self.writer and (bool(self.reader) or not self.code.write)

    @property
    def recorded(self) -> str:
        """How plans and studies name a format of a plug-in: its key, package and version."""
        return f"{self.key}{OF}{self.package}=={self.version}"

    @property
    def takes_sizes(self) -> bool:
        """Whether the queries may come from a file of query sizes beside the data."""
        return self.is_table or bool(self.sizes)

    @property
    def is_streamed(self) -> bool:
        """Whether documents are read piece by piece, so that a file may be larger than the memory."""
        return not self.code.read_whole

    def confidence(self, beginning: Beginning) -> float:
        """Return how certain it is, from 0 to 1, that a file with such a beginning has this format."""
        return float(imported(self.code.confidence)(self, beginning))

    def may_recognise(self, beginning: Beginning) -> bool:
        """Return whether a file may have this format of a plug-in, by its name and its first bytes."""
        return bool(imported(f"{_ADAPTER}:is_named")(self, beginning))

    def parsing(self) -> str:
        """Return the key of parsed files: for a format of a plug-in with its reader's checksum."""
        if not self.package:
            return self.parsed_as
        return f"{self.parsed_as} {imported(f'{_ADAPTER}:code_digest')(self)}"

    def table_reader(self) -> Any:
        """Return the ``FormatReader``; its module is imported now."""
        return imported(self.code.read)

    def read_whole(self, path: Path, progress: Any, *, refuse: bool) -> Any:
        """Read a file of this format at once, for a format that is not read piece by piece.

        ``refuse`` is whether a missing value is an error. ``progress``
        reports how much is read. Return the table, its source file, and
        how the file was read.
        """
        return imported(self.code.read_whole)(path, progress, refuse)

    def memory_need(self, path: Path) -> ContentsNeed:
        """Return about how much memory the contents of a file take."""
        need: ContentsNeed = imported(self.code.need)(self, path)
        return need

    def first_rows(self, path: Path, beginning: bytes, n_rows: int) -> FirstRows:
        """Return the first rows of a file with this beginning, if its documents are rows of columns."""
        rows: FirstRows = imported(self.code.preview)(self, path, beginning, n_rows)
        return rows

    def logs_of(
        self, paths: tuple[Path, ...]
    ) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Return (feature logs to which some files belong, files of their judgments).

        Feature logs are a search engine's responses with feature
        values. Return ((), ()) if the files belong to none.
        """
        if not self.code.logs_of:
            return (), ()
        logs, judgments = imported(self.code.logs_of)(paths)
        return logs, judgments

    def write(self, dataset: Any, path: Path, *, comments: bool) -> None:
        """Write a dataset; see :func:`rankstudio.engine.data.formats.dataset_writer.save_dataset`."""
        imported(self.code.write)(self, dataset, path, comments)
