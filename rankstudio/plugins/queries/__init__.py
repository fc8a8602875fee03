"""Two models query by query: where each is better, why a document ranks where it does, which features matter.

For users who want to know more than an average: which queries a model
loses, by which documents, and the effect of its features there.

References
----------
Lundberg, S. M. and Lee, S.-I. (2017). A unified approach to
interpreting model predictions. Advances in Neural Information
Processing Systems 30, 4765-4774.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.engine_functions import EngineFunction
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.window_parts import WindowPage

PLUGIN = Plugin(
    name="queries",
    pages=(
        WindowPage(
            key="queries",
            label=translatable("Queries"),
            summary=translatable(
                "Two models query by query, with reasons for each ranking"
            ),
            icon="search",
            controller="rankstudio.plugins.queries.window.page:QueriesPage",
            guide="single-queries.md",
        ),
    ),
    functions=(
        EngineFunction("paths_by_queries", "rankstudio.plugins.queries.query_paths"),
    ),
    summary="Two models query by query, with reasons for each ranking.",
)
