"""Permutation tests: what a method finds with labels or preferences permuted within their queries.

For users who ask whether a selection is better than chance: the best of
many features looks good on any labels.

References
----------
Airola, A. (2011). Kernel-based ranking: methods for learning and
performance estimation. TUCS Dissertations 142, Paper I, section 4.1.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_commands import WindowCommands

PLUGIN = Plugin(
    name="permutation",
    commands=(TerminalCommand("permute", "rankstudio.plugins.permutation.command"),),
    window_commands=(
        WindowCommands(
            key="permutation",
            label=translatable("Permutation test"),
            controller="rankstudio.plugins.permutation.window.path_test:PathTestController",
            commands=(
                PartCommand(
                    key="chance",
                    text=translatable("Permutatio&n test"),
                    help=translatable(
                        "Run a permutation test of the selection. Choose again to stop."
                    ),
                    menu="Run",
                    after="analyses",
                    slot="toggle",
                ),
            ),
        ),
    ),
    summary="Selections repeated with labels or preferences permuted within queries.",
)
