"""Several judges of the same documents: their agreement, selections under each, and flipped labels.

For data with labels of several people, of a language model or from clicks: whether a selection depends on
who judged, and on errors of the labels.

References
----------
Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.
Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.page_parts import PagePart, PartCommand
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand

PLUGIN = Plugin(
    name="judges",
    commands=(TerminalCommand("judges", "rankstudio.plugins.judges.command"),),
    parts=(
        PagePart(
            key="judges",
            label=translatable("Judges"),
            page="data",
            column="data-right",
            controller="rankstudio.plugins.judges.window.judges_panel:JudgesController",
            size=330,
            commands=(
                PartCommand(
                    key="flips",
                    text=translatable("Flip lab&els"),
                    help=translatable(
                        "Repeat the current run with a share of the labels flipped. Choose again to stop."
                    ),
                    menu="Run",
                    after="chance",
                    slot="toggle",
                ),
            ),
        ),
    ),
    summary="Agreement of several judges, selections under each, and selections with flipped labels.",
)
