"""How the features of two parts or datasets differ, and whether a selection made elsewhere holds here.

For data that change, by season, by search engine or by country, and for
users of a selection on other documents than those on which it was made.

References
----------
Smirnov, N. (1948). Table for estimating the goodness of fit of
empirical distributions. The Annals of Mathematical Statistics 19 (2),
279-281. Airola, A., Pyysalo, S., Björne, J., Pahikkala, T., Ginter, F.
and Salakoski, T. (2008). All-paths graph kernel for protein-protein
interaction extraction with evaluation of cross-corpus learning. BMC
Bioinformatics 9 (S2), Table 2.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.methods.catalog.analysis import Analysis, Needs
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.plugins.engine_functions import EngineFunction
from rankstudio.engine.plugins.feature_columns import FeatureColumn
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_commands import WindowCommands

_DESCRIPTION = """\
Compare the features of two parts of a dataset, or of two datasets, side by side: the Kolmogorov-Smirnov
distance of their values, the shift of the mean in standard deviations, the ratio of the standard deviations,
the share of queries in which a feature is constant, and Kendall's tau of feature and label. The largest
distance comes first.

With --study, measure on DATA the model of a run on other data (learned from all of its documents with what
its folds chose), run the same plan on DATA, and compare the two query by query.

  rankstudio drift --sample
  rankstudio drift --sample --fold 2 --parts train,vali
  rankstudio drift train.txt test.txt --json
  rankstudio drift folds --study results/study.rankstudio --run 1"""

_PARTS = (
    ("train", translatable("training part")),
    ("vali", translatable("validation part")),
    ("test", translatable("test part")),
)
_PARAMETERS = (
    Parameter(
        name="first",
        label="A",
        kind=Kind.CHOICE,
        default="train",
        help=translatable("Part with which B is compared."),
        choices=_PARTS,
    ),
    Parameter(
        name="second",
        label="B",
        kind=Kind.CHOICE,
        default="test",
        help=translatable("Part that is compared with A."),
        choices=_PARTS,
    ),
    Parameter(
        name="fold",
        label=translatable("fold"),
        kind=Kind.INTEGER,
        default=None,
        help=translatable("Number of the fold."),
        low=1,
        none_label=translatable("the first"),
    ),
)

PLUGIN = Plugin(
    name="drift",
    analyses=(
        Analysis(
            key="drift",
            label=translatable("Drift of features"),
            summary=translatable(
                "compare the features of two parts or datasets, and a selection made elsewhere with one made "
                "here"
            ),
            compute="rankstudio.plugins.drift.analysis:drift_result",
            parameters=_PARAMETERS,
            needs=Needs.FOLDS,
            description=_DESCRIPTION,
            terminal="rankstudio.plugins.drift.command",
            words="rankstudio.plugins.drift.analysis:drift_words",
        ),
    ),
    commands=(
        TerminalCommand("transfer", "rankstudio.plugins.drift.commands.transfer"),
    ),
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
    functions=(
        EngineFunction("transfer_matrix", "rankstudio.plugins.drift.transfer_matrix"),
    ),
    summary="Differences of features between parts or data, and selections made elsewhere.",
)
