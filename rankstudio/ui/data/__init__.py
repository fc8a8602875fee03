"""The Data page: what is open and what it looks like."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="data",
    label=translatable("Data"),
    summary=translatable("Documents, queries, labels and features of the open data"),
    icon="data",
    controller="rankstudio.ui.data.page:DataPage",
    guide="open-data.md#the-data-page",
)
