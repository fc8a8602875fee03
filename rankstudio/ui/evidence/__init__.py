"""The Evidence page: how sure a selection is, by what it could be replaced, and when to stop."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="evidence",
    label=translatable("Evidence"),
    summary=translatable("How sure the selection is, which sets are as good, and where to stop"),
    icon="evidence",
    controller="rankstudio.ui.evidence.page:EvidencePage",
    guide="evidence.md#in-the-window",
)
