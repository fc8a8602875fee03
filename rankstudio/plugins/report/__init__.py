"""The report of a study: one file with results, tests, features, figures and plans, for a colleague to read.

For users who hand a study on: to coauthors, reviewers, or themselves in
a year. A report needs neither RankStudio nor a network.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_parts import WindowPage

PLUGIN = Plugin(
    name="report",
    commands=(TerminalCommand("report", "rankstudio.plugins.report.command"),),
    pages=(
        WindowPage(
            key="report",
            label=translatable("Report"),
            summary=translatable("The study as a single file to share"),
            icon="report",
            controller="rankstudio.plugins.report.window.page:ReportPage",
            guide="tables-figures-reports.md#a-report",
        ),
    ),
    summary="The report of a study as one file.",
)
