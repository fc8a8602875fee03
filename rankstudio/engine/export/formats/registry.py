"""The formats of all plug-ins in which models can be written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.export.formats.model_format import ModelFormat
from rankstudio.engine.export.formats.plugin_model_format import as_model_format
from rankstudio.engine.export.plugin_formats import (
    ModelFormatEntry,
    model_format_entries,
)
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.resources import resource


@cache
def model_formats() -> Mapping[str, ModelFormat]:
    """Return all file formats for exported models, by key.

    The formats are those of all plug-ins, in the order of menus and
    lists: by the kinds of programs that read the files.
    """
    formats = [
        as_model_format(entry, loaded_plugin.package, loaded_plugin.version)
        if isinstance(entry, ModelFormatEntry)
        else entry
        for loaded_plugin, entry in model_format_entries()
    ]
    return {
        entry.key: entry for entry in sorted(formats, key=lambda entry: entry.readers)
    }


def absent_plugin_of(key: str) -> str:
    """Return why a format of models cannot be used, as a sentence.

    The reason is that a plug-in of RankStudio is absent. The result is
    "" if the plug-in is there, or no plug-in of RankStudio has a format
    with this key.
    """
    # The name of the plug-in of each format, also without the plug-in.
    text = resource("abilities", "model_formats.json").read_text(encoding="utf-8")
    name = json.loads(text).get(key, "")
    if not name or key in model_formats():
        return ""
    # `lacking` is the end of a sentence: that it needs the plug-in
    # `name`, which is absent.
    lacking = Origin(OriginKind.ABILITY, name, "", present=False).lacking
    return tr("The format {format} {lacking}").format(format=key, lacking=lacking)


def model_format(key: str) -> ModelFormat:
    """Return a file format for exported models by its key.

    Raises
    ------
    ParameterError
        For an unknown key.
    PlanError
        For a format of a plug-in that is absent.
    """
    if key not in model_formats():
        if message := absent_plugin_of(key):
            raise PlanError(message)
        raise ParameterError("format", key, f"one of {', '.join(model_formats())}")
    return model_formats()[key]
