"""The pages of the window itself, with their texts in its language."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.plugins.window_parts import own_pages
from rankstudio.ui.language import tr

PAGES = tuple(
    replace(page, label=tr(page.label), summary=tr(page.summary))
    for page in own_pages()
)
"""Pages of the window itself, from top to bottom; the pages of plug-ins follow them."""
