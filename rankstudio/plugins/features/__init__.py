"""The selected features, why they were selected, what could stand for each, and every feature in detail.

For users who have to answer for a selection: how clear each choice was,
what a feature does in the data, and which other features would do as
well.

References
----------
Pahikkala, T. et al. (2010). Greedy RankRLS: a linear time algorithm for
learning sparse ranking models. Gupta, P. and Rosso, P. (2012). Expected
divergence based feature selection for learning to rank. Lai, H. et al.
(2013). FSMRank: feature selection algorithm for learning to rank.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.report_parts import ReportPart
from rankstudio.engine.plugins.window_parts import WindowPage

PLUGIN = Plugin(
    name="features",
    pages=(
        WindowPage(
            key="features",
            label=translatable("Features"),
            summary=translatable(
                "The selected features, the margins, and every feature in detail"
            ),
            icon="features",
            controller="rankstudio.plugins.features.window.page:FeaturesPage",
            guide="understand-a-feature.md",
        ),
    ),
    report_parts=(
        ReportPart(
            "substitutes", "rankstudio.plugins.features.report_part:substitute_blocks"
        ),
    ),
    summary="The selected features, why they were selected, and what could stand for them.",
)
