"""Entries of methods whose plug-in folder is absent: enough to show their results, not to run them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

from rankstudio.engine.methods.catalog.description import (
    described_method,
    description_of,
)
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.plugins.entries import values_of
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.resources import resource

CORE = "rankstudio"


@cache
def recorded_methods() -> dict[str, Method]:
    """Return the recorded methods of abilities by key.

    An ability is a plug-in that comes with RankStudio and can be left
    out. Its recorded methods have no estimator, so they cannot run.
    """
    text = resource("abilities", "methods.json").read_text(encoding="utf-8")
    return {values["key"]: described_method(values) for values in json.loads(text)}


def methods_to_record() -> list[dict[str, Any]]:
    """Return the methods of the present abilities as plain values, for ``resources/abilities``.

    An ability is a plug-in that comes with RankStudio and can be left
    out. An installation without the ability names its methods by this
    record.
    """
    # The origin of a method is its ability, without a version. The core
    # is a plug-in, too, but no ability.
    return [
        description_of(
            replace(
                entry,
                origin=Origin(
                    kind=OriginKind.ABILITY,
                    name=loaded_plugin.plugin.name,
                    version_or_checksum="",
                ),
            )
        )
        for loaded_plugin in plugins().loaded
        if loaded_plugin.built_in and loaded_plugin.plugin.name != CORE
        for entry in loaded_plugin.plugin.methods
        if isinstance(entry, Method)
    ]


def model_formats_to_record() -> dict[str, str]:
    """Return the name of the ability that writes each format of models, by the format's key.

    An ability is a plug-in that comes with RankStudio and can be left out.
    """
    return {
        entry.key: loaded_plugin.plugin.name
        for loaded_plugin in plugins().loaded
        if loaded_plugin.built_in
        for entry in values_of(loaded_plugin, "model_formats")
    }
