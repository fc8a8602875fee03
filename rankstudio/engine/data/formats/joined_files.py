"""Files whose documents are judged in other files: recognised by marks, and found with their judgments.

The formats themselves belong to abilities. Files are also recognised if
the folder of an ability is absent, so that messages can name the
plug-in that reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rankstudio.engine.data.data_format import Beginning, DataFormat
from rankstudio.engine.data.file_access import children, read_beginning, without_ending
from rankstudio.engine.data.formats.built_in import PLUGIN
from rankstudio.engine.data.formats.format_catalog import (
    data_formats,
    lacking_ability,
    recorded_formats,
)
from rankstudio.engine.data.formats.judgments import judgment_files, judgments_beside
from rankstudio.engine.data.formats.trec import runs_beside
from rankstudio.engine.errors import (
    DatasetError,
    FileAccessError,
    MissingExtraError,
    shown_path,
)
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of

Files = tuple[Path, ...]

_HEAD_BYTES = 1 << 16
_COMPRESSED_ENDINGS = ("", ".gz", ".zst")
_BYTE_ORDERS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class MarkedFormat:
    """Signs by which files of a data format are recognised, and the ability that reads the format.

    Attributes
    ----------
    key, plugin : str
        Key of the format, and name of the ability.
    endings, marks : tuple of str
        Endings of the names of the format's files, and texts, one of
        which occurs at the beginning of each file.
    """

    key: str
    plugin: str
    endings: tuple[str, ...]
    marks: tuple[str, ...]

    def is_begun_by(self, beginning: bytes) -> bool:
        """Return whether the beginning of a file is JSON with a mark, also in UTF-16."""
        if beginning[:2] in _BYTE_ORDERS:
            beginning = beginning[2:].replace(b"\0", b"")
        is_json = beginning.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
        return is_json and any(mark.encode() in beginning for mark in self.marks)

    def is_named(self, name: str) -> bool:
        """Return whether the name of a file has an ending of the format, compressed or not."""
        plain = name.lower()
        return any(
            plain.removesuffix(packed).endswith(self.endings)
            for packed in _COMPRESSED_ENDINGS
        )


def formats_to_record() -> list[dict[str, object]]:
    """Return the signs of the data formats of abilities, to be stored in a resource file.

    An ability is a part of the program that may be removed; with the
    file, the formats of a removed ability are recognised, too. The
    signs are endings of file names, texts at the beginning (marks) and
    first bytes.
    """
    # Other formats than those of abilities are skipped; the abilities'
    # own are valid. So nothing is checked (the lambda), and no message
    # is needed ("").
    return [
        {
            "key": form.key,
            "plugin": loaded.plugin.name,
            "endings": list(form.endings),
            "marks": list(form.marks),
            "magic": form.magic.decode(),
        }
        for loaded, form in entries_of("data_formats", lambda _: None, "", "")
        if loaded.built_in and loaded.plugin is not PLUGIN
    ]


@cache
def marked_formats() -> tuple[MarkedFormat, ...]:
    """Return the data formats that are recognised by a text at the beginning of a file (a mark).

    These are formats of RankStudio's abilities, the removable parts of
    the program, also of absent abilities.
    """
    return tuple(
        MarkedFormat(
            recorded["key"],
            recorded["plugin"],
            tuple(recorded["endings"]),
            tuple(recorded["marks"]),
        )
        for recorded in recorded_formats()
        if recorded["marks"]
    )


def marks_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return 1 for a file whose beginning has a mark of the format, else 0.

    A mark is a text that occurs at the beginning of each file of the format.
    """
    return float(
        any(
            marked.key == form.key and marked.is_begun_by(beginning.head)
            for marked in marked_formats()
        )
    )


def refuse_absent(beginning: Beginning, *, by_name: bool) -> None:
    """Raise an error for a file in a data format whose ability is absent.

    An ability is a part of the program that may be removed. The format
    is recognised by a text at the beginning (a mark), by the first
    bytes or by the ending of the name.

    Parameters
    ----------
    beginning : Beginning
        Path and first bytes of the file.
    by_name : bool
        Whether the ending of the name counts, too. The caller sets it
        if no available format is certain by the contents of the file.

    Raises
    ------
    DatasetError
        If the file has such a format. The message names the plug-in.
    """
    # Keys of the formats of which a mark is in the file.
    keys_by_mark = {
        form.key for form in marked_formats() if form.is_begun_by(beginning.head)
    }
    name = without_ending(beginning.path.name).lower()
    # The record has the formats of all abilities, with or without marks.
    for form in recorded_formats():
        # The first bytes of its files; empty if these vary.
        magic = form["magic"].encode()
        has_contents = form["key"] in keys_by_mark or (
            magic and beginning.head.startswith(magic)
        )
        # For a format with marks, the name says nothing: each of its
        # files has a mark.
        has_name = (
            by_name and not form["marks"] and name.endswith(tuple(form["endings"]))
        )
        # The reason is "" if the ability is not absent.
        if (has_contents or has_name) and (reason := lacking_ability(form["key"])):
            text = tr("{path}: the format of the data {reason}")
            raise DatasetError(
                text.format(path=shown_path(beginning.path), reason=reason)
            )


def joined_format(path: Path) -> DataFormat:
    """Return the format that joins documents in one file with judgments in another.

    The format is needed for the file ``path``, for which the user
    specified judgments. There is one such format, that of feature logs.

    Raises
    ------
    DatasetError
        If the ability with this format is absent.
    """
    # Joined formats have marks, texts at the beginning of their files.
    # Without such a format, its ability is absent: the error has the
    # reason.
    forms = [form for form in data_formats() if form.marks]
    if forms:
        return forms[0]
    text = tr("{path}: the format of the data {reason}")
    reasons = filter(None, (lacking_ability(marked.key) for marked in marked_formats()))
    raise DatasetError(text.format(path=shown_path(path), reason=next(reasons)))


def holds_logs(path: Path) -> bool:
    """Return whether a file is a log of features, by its name and its beginning.

    Such a log has a search engine's responses with feature values.
    Return False for a file that cannot be read.
    """
    try:
        named_formats = [form for form in marked_formats() if form.is_named(path.name)]
        if not named_formats or not path.is_file():
            return False
        beginning = read_beginning(path, _HEAD_BYTES)
        return any(form.is_begun_by(beginning) for form in named_formats)
    except (FileAccessError, MissingExtraError, OSError):
        return False


def logs_in(folder: Path) -> tuple[Path, ...]:
    """Return the logs of features in a folder, in the order of their names."""
    return tuple(
        path
        for path in children(folder)
        if not path.name.startswith(".") and holds_logs(path)
    )


def logs_with_judgments(paths: Files) -> tuple[Files, Files]:
    """Return (feature logs, the file of judgments beside them).

    ``paths`` are the logs: files with a search engine's responses.
    """
    return paths, (judgments_beside(paths[0]),)


def logs_judged_by_trec(paths: Files) -> tuple[Files, Files]:
    """Return (feature logs beside a file of TREC judgments, this file).

    ``paths`` is a file of judgments that was opened without runs.
    Return ((), ()) for other files.
    """
    if len(paths) != 1 or runs_beside(paths[0]):
        return (), ()
    return logs_in(paths[0].parent), paths


def logs_judged_by_table(paths: Files) -> tuple[Files, Files]:
    """Return (feature logs beside a table of judgments, this table).

    ``paths`` is the table that was opened. Return ((), ()) for other files.
    """
    folder = paths[0].parent
    if len(paths) != 1 or paths[0] not in judgment_files(folder):
        return (), ()
    return logs_in(folder), paths
