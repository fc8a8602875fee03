"""The formats in which models can be written for other programs: those of all plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.export.formats.model_format import ModelFormat
from rankstudio.engine.export.formats.plugin_model_format import as_model_format
from rankstudio.engine.export.plugin_formats import ModelFormatEntry, model_format_entries


@cache
def model_formats() -> Mapping[str, ModelFormat]:
    """Return the formats of all plug-ins by key, in the order in which people are offered them."""
    return {
        entry.key: as_model_format(entry, loaded.package, loaded.version)
        if isinstance(entry, ModelFormatEntry)
        else entry
        for loaded, entry in model_format_entries()
    }


def model_format(key: str) -> ModelFormat:
    """Return a format by its key.

    Raises
    ------
    ParameterError
        For an unknown key.
    """
    if key not in model_formats():
        raise ParameterError("format", key, f"one of {', '.join(model_formats())}")
    return model_formats()[key]
