"""All data formats that this process knows: help, filters of dialogs, readers and writers come from them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.file_access import without_ending
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.errors import ParameterError, PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@cache
def data_formats() -> tuple[DataFormat, ...]:
    """Return the formats of all plug-ins, built-in ones first."""
    exists = tr("A data format with the key {key} exists already. Choose another key.")
    unusable = tr("A data format of the plug-in {name} cannot be used: {reason}")
    entries = entries_of("data_formats", refuse_invalid, exists, unusable)
    return tuple(
        entry if loaded.built_in else replace(entry, package=loaded.package, version=loaded.version)
        for loaded, entry in entries
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
    """
    entry = next((entry for entry in data_formats() if entry.key == key), None)
    if entry is None:
        keys = ", ".join(entry.key for entry in data_formats())
        raise ParameterError("format", key, f"one of {keys}")
    return entry


def data_endings() -> frozenset[str]:
    """Return what names of data files end with, once that of a compressed file is gone."""
    return frozenset(ending for entry in data_formats() for ending in entry.endings)


def format_of_name(name: str) -> DataFormat:
    """Return the format of a file name; LETOR text by default.

    Examples
    --------
    >>> format_of_name("train.csv.gz").key, format_of_name("train.txt").key
    ('csv', 'letor')
    """
    lower = without_ending(name).lower()
    endings = ((len(e), entry) for entry in data_formats() for e in entry.endings if e and lower.endswith(e))
    return max(endings, key=lambda pair: pair[0], default=(0, LETOR))[1]


def refuse_invalid(entry: object) -> None:
    """Raise a PlanError for an entry that is no format.

    Parameters
    ----------
    entry : object
        What a plug-in has as a :class:`DataFormat`.
    """
    if not isinstance(entry, DataFormat):
        raise PlanError(tr("expected a DataFormat, got {value}.").format(value=shown(entry)))
