"""The references of runs as BibTeX: the program, methods, data, measures and tests.

For authors who print results of RankStudio: each paper is named once,
and none is forgotten.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_commands import WindowCommands

PLUGIN = Plugin(
    name="citations",
    commands=(TerminalCommand("cite", "rankstudio.plugins.citations.command"),),
    window_commands=(
        WindowCommands(
            key="citations",
            label=translatable("Citations"),
            controller="rankstudio.plugins.citations.window.cite:CiteController",
            commands=(
                PartCommand(
                    key="cite",
                    text=translatable("&Cite…"),
                    help=translatable(
                        "Show the papers and programs that the runs use, as BibTeX."
                    ),
                    menu="Help",
                    after="guide",
                    slot="show",
                ),
            ),
        ),
    ),
    summary="Papers and programs that runs use, as BibTeX.",
)
