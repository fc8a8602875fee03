"""All available data formats: help, filters of dialogs, readers and writers are derived from them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rankstudio.engine.data.data_format import OF, DataFormat, FormatCode
from rankstudio.engine.data.file_access import without_ending
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.errors import (
    DatasetError,
    ParameterError,
    PlanError,
    one_line,
    shown,
)
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.resources import resource

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_ENDING = re.compile(r"\.[a-z0-9][a-z0-9_-]{0,15}")
_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_MAX_LABEL_LENGTH = 80


@cache
def data_formats() -> tuple[DataFormat, ...]:
    """Return all data formats: RankStudio's own, then those of installed packages.

    An invalid format of a package is left out, with a warning.
    """
    # Texts of the warnings: for a key that is taken, and for an invalid format.
    exists = tr("A data format with the key {key} exists already. Choose another key.")
    unusable = tr("A data format of the plug-in {name} cannot be used: {reason}")
    entries = entries_of("data_formats", refuse_invalid, exists, unusable)
    return tuple(
        entry
        if loaded.built_in
        else _from_package(entry, loaded.package, loaded.version)
        for loaded, entry in entries
    )


def _from_package(entry: DataFormat, package: str, version: str) -> DataFormat:
    """Return a format of a plug-in with the package that it comes from."""
    parsed_as = f"{package}=={version} {entry.key}"
    return replace(
        entry, package=package, version=version, parsed_as=parsed_as, code=FormatCode()
    )


def written_formats() -> tuple[DataFormat, ...]:
    """Return the formats that can be written."""
    return tuple(entry for entry in data_formats() if not entry.reads_only)


def format_of_key(key: str) -> DataFormat:
    """Return a format by its key.

    Raises
    ------
    ParameterError
        For an unknown key.
    PlanError
        For a format of an ability that is absent.
    """
    entry = next((entry for entry in data_formats() if entry.key == key), None)
    if entry is None and lacking_ability(key):
        raise PlanError(absent_data_format(key))
    if entry is None:
        keys = ", ".join(entry.key for entry in data_formats())
        raise ParameterError("format", key, f"one of {keys}")
    return entry


@cache
def recorded_formats() -> tuple[dict[str, Any], ...]:
    """Return facts about the data formats of abilities, also of absent abilities.

    An ability is a removable plug-in. Each dict has key, plug-in,
    endings, marks and first bytes of a format, by name.
    """
    text = resource("abilities", "data_formats.json").read_text(encoding="utf-8")
    return tuple(json.loads(text))


def lacking_ability(key: str) -> str:
    """Return why a format of RankStudio's own abilities cannot be used.

    An ability is a part of the program that may be removed; its formats
    are recorded in a file. The reason is a sentence without its
    subject, such as "needs the plug-in …". Return "" if the format can
    be used, or does not belong to an ability.
    """
    name = next(
        (
            recorded["plugin"]
            for recorded in recorded_formats()
            if recorded["key"] == key
        ),
        "",
    )
    if not name or any(entry.key == key for entry in data_formats()):
        return ""
    # The reason is that of an absent ability, whose version is not known ("").
    return Origin(OriginKind.ABILITY, name, "", present=False).lacking


def absent_data_format(key: str) -> str:
    """Return a sentence on a known data format whose plug-in is absent.

    Return "" for a format that can be used, and for an unknown key.
    """
    lacking = lacking_ability(key)
    return lacking and tr("The format {format} {lacking}").format(
        format=key, lacking=lacking
    )


def data_endings() -> frozenset[str]:
    """Return the endings of names of data files, without those of compressed files."""
    endings = {ending for entry in data_formats() for ending in entry.endings}
    return frozenset(
        endings.union(*(recorded["endings"] for recorded in recorded_formats()))
    )


@cache
def built_in_endings() -> frozenset[str]:
    """Return the endings of names of data files in RankStudio's own formats."""
    return frozenset(
        ending
        for entry in data_formats()
        if not entry.package
        for ending in entry.endings
    )


def named_format(name: str, path: Path) -> DataFormat | None:
    """Return the format that a plan or a user names; None if the name is "".

    Parameters
    ----------
    name : str
        A key, or "key of package==version" (:attr:`DataFormat.recorded`).
    path : Path
        Path of the data, for the message.

    Raises
    ------
    DatasetError
        If there is no such format. The message names the package that has it.
    """
    if not name:
        return None
    entry = _format_of_name(name)
    if entry is not None:
        return entry
    if lacking := lacking_ability(name):
        text = tr("{path}: the format of the data {reason}")
        raise DatasetError(text.format(path=path, reason=lacking))
    # A plan records the package of the format, which is then absent.
    for source in format_sources(name):
        text = tr("{path}: the format of the data {reason}")
        raise DatasetError(text.format(path=path, reason=source.lacking))
    keys = ", ".join(entry.key for entry in data_formats())
    text = tr("{path}: found no data format {key}; expected one of {keys}.")
    raise DatasetError(text.format(path=path, key=shown(name), keys=keys))


@dataclass(frozen=True)
class FormatSource:
    """The package of a data format that a plan records.

    Attributes
    ----------
    origin : Origin
        The package as it is installed, or as it was recorded if it is absent.
    """

    origin: Origin

    @property
    def lacking(self) -> str:
        """Reason why the data cannot be read; "" if there is none.

        The reason is a sentence without a subject, such as "needs the package
        …".
        """
        return self.origin.lacking


def format_sources(recorded: str) -> tuple[FormatSource, ...]:
    """Return the package of the data format that a plan records, as a tuple of one.

    Return () for a format of RankStudio's own, or no format. A package
    that is not installed is marked as absent.

    Parameters
    ----------
    recorded : str
        Name of the format in a plan: "key of package==version", or "key" alone.
    """
    # OF is the text " of " between the key and the package.
    package, _, version = recorded.partition(OF)[2].partition("==")
    entry = _format_of_name(recorded)
    if entry is not None and entry.package:
        return (FormatSource(Origin(OriginKind.PACKAGE, entry.package, entry.version)),)
    if not package:
        return ()
    name = one_line(package)
    version = one_line(version)
    return (FormatSource(Origin(OriginKind.PACKAGE, name, version, present=False)),)


def _format_of_name(name: str) -> DataFormat | None:
    """Return the installed data format of a name: "key", or "key of package==version".

    The version is ignored. Return None if no installed format has the name.
    """
    key, _, requirement = name.partition(OF)  # OF is " of "
    package = requirement.partition("==")[0]
    entries = (entry for entry in data_formats() if entry.key == key)
    return next(
        (entry for entry in entries if not package or entry.package == package), None
    )


def format_of_name(name: str) -> DataFormat:
    """Return the data format of a file by the ending of its name; LETOR text by default.

    Examples
    --------
    >>> format_of_name("train.csv.gz").key, format_of_name("train.txt").key
    ('csv', 'letor')
    """
    lower = without_ending(name).lower()
    # The longest ending wins.
    endings = (
        (len(ending), entry)
        for entry in data_formats()
        for ending in entry.endings
        if ending and lower.endswith(ending)
    )
    _, form = max(endings, key=lambda pair: pair[0], default=(0, LETOR))
    return form


def format_to_write(name: str) -> DataFormat:
    """Return the data format in which a file is written, by the ending of its name.

    LETOR text is the default.

    Raises
    ------
    PlanError
        If the name has the ending of a format whose ability is absent.
    """
    form = format_of_name(name)
    lower = without_ending(name).lower()
    # An absent ability cannot claim its ending, so that LETOR text is
    # the result. Its endings are recorded in a file, though.
    absent = (
        recorded["key"]
        for recorded in recorded_formats()
        if lower.endswith(tuple(recorded["endings"]))
    )
    # The reason is "" for a format that is not absent.
    if form is LETOR and (
        reason := next(filter(None, map(absent_data_format, absent)), "")
    ):
        raise PlanError(reason)
    return form


def refuse_invalid(entry: object) -> None:
    """Raise a PlanError for an entry of a plug-in that is not a valid format.

    Parameters
    ----------
    entry : object
        Value that a plug-in provides as a :class:`DataFormat`.
    """
    if not isinstance(entry, DataFormat):
        raise PlanError(
            tr("expected a DataFormat, got {value}.").format(value=shown(entry))
        )
    # The key names the format in plans and on the command line.
    if not isinstance(entry.key, str) or not _KEY.fullmatch(entry.key):
        text = tr(
            "key: expected lower-case letters, digits, dots and hyphens, got {key}."
        )
        raise PlanError(text.format(key=shown(entry.key)))
    # The label has to fit into one line.
    label = entry.label
    is_line = (
        isinstance(label, str) and bool(label.strip()) and one_line(label) == label
    )
    if not is_line or len(label) > _MAX_LABEL_LENGTH:
        text = tr(
            "{key}: {field}: expected a line of at most {most} characters, got {value}."
        )
        raise PlanError(
            text.format(
                key=entry.key, field="label", most=_MAX_LABEL_LENGTH, value=shown(label)
            )
        )
    endings = entry.endings
    are_endings = isinstance(endings, tuple) and all(
        isinstance(ending, str) and _ENDING.fullmatch(ending) for ending in endings
    )
    if not are_endings:
        text = tr(
            '{key}: endings: expected a tuple of endings such as (".npz",), got {value}.'
        )
        raise PlanError(text.format(key=entry.key, value=shown(endings)))
    # Only the reader is required.
    for reference in [entry.reader, *filter(None, [entry.recognise, entry.writer])]:
        if not isinstance(reference, str) or not _MODULE_AND_NAME.fullmatch(reference):
            text = tr('{key}: expected functions as "module:function", got {value}.')
            raise PlanError(text.format(key=entry.key, value=shown(reference)))
    if not isinstance(entry.magic, bytes) or not isinstance(entry.growth, int | float):
        text = tr("{key}: expected bytes as magic and a number as growth.")
        raise PlanError(text.format(key=entry.key))
