"""How the features of two parts or datasets differ, and whether a selection made elsewhere holds here.

For data that change, by season, by search engine or by country, and for whoever is to use a selection on
other documents than those on which it was made.

References
----------
Smirnov, N. (1948). Table for estimating the goodness of fit of empirical distributions. The Annals of
Mathematical Statistics 19 (2), 279-281.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.feature_columns import FeatureColumn
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_commands import WindowCommands

PLUGIN = Plugin(
    name="drift",
    commands=(TerminalCommand("drift", "rankstudio.plugins.drift.command"),),
    window_commands=(
        WindowCommands(
            key="transfer",
            label=translatable("Selections made elsewhere"),
            controller="rankstudio.plugins.drift.window.transfer:TransferController",
            commands=(
                PartCommand(
                    key="transfer",
                    text=translatable("Test a sele&ction made elsewhere…"),
                    help=translatable(
                        "Choose a run of a study on other data: its model and the same method on the open "
                        "data are compared by query."
                    ),
                    menu="Run",
                    after="add_method",
                    slot="ask",
                ),
            ),
        ),
    ),
    feature_columns=(
        FeatureColumn(
            key="drift",
            label=translatable("drift"),
            help=translatable(
                "Kolmogorov-Smirnov distance of the values in the training and the validation part: 0 for "
                "equal distributions, 1 for values that do not overlap"
            ),
            task=translatable("Comparing the parts"),
            compute="rankstudio.plugins.drift.drift_column:drift_of_parts",
            parts=("vali",),
        ),
    ),
    summary="Differences of features between parts or data, and selections made elsewhere.",
)
