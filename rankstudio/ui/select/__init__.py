"""The Select page: a method with its parameters, live curves, candidates, the map of λ and k."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="select",
    label=translatable("Select"),
    summary=translatable("A method, its parameters, and the selection as it grows"),
    icon="select",
    controller="rankstudio.ui.select.page:SelectPage",
    guide="first-steps.md",
)
