"""The Queries page: two models held against each other query by query."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="queries",
    label=translatable("Queries"),
    summary=translatable("Two models query by query, with reasons for each ranking"),
    icon="search",
    controller="rankstudio.ui.queries.page:QueriesPage",
    guide="single-queries.md",
)
