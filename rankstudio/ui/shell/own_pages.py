"""The pages of the window itself as a plug-in, read like other plug-ins; this module does not import Qt."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.ui import compare, data, select

PLUGIN = Plugin(
    name="window",
    pages=tuple(page.PAGE for page in (data, select, compare)),
    summary=translatable("The pages of the window."),
)
