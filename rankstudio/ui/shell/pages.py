"""The pages of the window itself, as the entries that plug-ins have for theirs."""

from __future__ import annotations

from rankstudio.engine.plugins.window_parts import WindowPage
from rankstudio.ui.language import tr

PAGES = (
    WindowPage(
        "data", tr("Data"), tr("Documents, queries, labels and features of the open data"), icon="data"
    ),
    WindowPage(
        "select", tr("Select"), tr("A method, its parameters, and the selection as it grows"), icon="select"
    ),
    WindowPage(
        "features",
        tr("Features"),
        tr("The selected features, the margins, and every feature in detail"),
        icon="features",
    ),
    WindowPage(
        "evidence",
        tr("Evidence"),
        tr("How sure the selection is, which sets are as good, and where to stop"),
        icon="evidence",
    ),
    WindowPage("compare", tr("Compare"), tr("Runs side by side, with tests and stability"), icon="compare"),
    WindowPage(
        "queries",
        tr("Queries"),
        tr("Two models query by query, with reasons for each ranking"),
        icon="search",
    ),
    WindowPage("report", tr("Report"), tr("The study as a single file to share"), icon="report"),
)
"""Pages of the window itself, from top to bottom; those of plug-ins follow."""
