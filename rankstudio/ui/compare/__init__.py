"""The Compare page: what has been run, side by side."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="compare",
    label=translatable("Compare"),
    summary=translatable("Runs side by side, with tests and stability"),
    icon="compare",
    controller="rankstudio.ui.compare.page:ComparePage",
    guide="compare-methods.md",
)
