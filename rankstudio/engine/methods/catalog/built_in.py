"""The methods of RankStudio itself, as a plug-in like those of other packages."""

from __future__ import annotations

from rankstudio.engine.methods.catalog.rankers import RANKERS
from rankstudio.engine.methods.catalog.selectors import SELECTORS
from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="rankstudio",
    methods=(*SELECTORS, *RANKERS),
    summary="Selectors and rankers of RankStudio itself.",
)
