"""The Features page: the selected features and one of them closely."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="features",
    label=translatable("Features"),
    summary=translatable("The selected features, the margins, and every feature in detail"),
    icon="features",
    controller="rankstudio.ui.features.page:FeaturesPage",
    guide="understand-a-feature.md",
)
