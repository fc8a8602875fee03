"""Several judges of the same documents: their agreement, selections under each, and flipped labels.

For data with labels of several people, of a language model or from
clicks: whether a selection depends on who judged, and on errors of the
labels.

References
----------
Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability.
University of Pennsylvania. Kendall, M. G. (1945). The treatment of ties
in ranking problems. Biometrika 33, 239-251.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.methods.catalog.analysis import Analysis, Needs
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.plugins.page_parts import PagePart, PartCommand
from rankstudio.engine.plugins.plugin import Plugin

_DESCRIPTION = """\
Compare the labels that several judges (people, a language model, clicks) gave the same documents: the label
columns of a table, or for feature logs one file of judgments per judge. For each pair of judges, print
Kendall's tau_b within queries and Krippendorff's alpha. With --method or --plan, run the same plan under each
judge and list the features that are selected under how many of them. With --flips, repeat the run on the
label in use with a share of its labels flipped, and print the selection probability of each feature.

  rankstudio judges people.csv --labels ann,bob,clicks
  rankstudio judges people.csv --labels ann,bob,clicks --method greedy-rankrls --protocol 5-fold
  rankstudio judges logs.ndjson --judgments ann.csv --judgments model.csv --json
  rankstudio judges --sample --method greedy-rankrls --flips 5,10,20 --draws 20"""

_FLIPS = ("flips", (True,))
_PARAMETERS = (
    Parameter(
        name="agrees",
        label=translatable("agreement"),
        kind=Kind.SWITCH,
        default=True,
        help=translatable(
            "Agreement of the labels of each pair of judges, for data with several label columns."
        ),
    ),
    Parameter(
        name="selects",
        label=translatable("selections"),
        kind=Kind.SWITCH,
        default=False,
        help=translatable(
            "Carry the plan out under each judge, and compare the selected features."
        ),
    ),
    Parameter(
        name="flips",
        label=translatable("flipped labels"),
        kind=Kind.SWITCH,
        default=False,
        help=translatable(
            "Carry the plan out again with a share of the labels flipped."
        ),
    ),
    Parameter(
        name="shares",
        label=translatable("percentages"),
        kind=Kind.GRID,
        default=(5.0, 10.0, 20.0),
        help=translatable("Percentages of flipped labels."),
        low=0,
        high=100,
        open_low=True,
        only_with=_FLIPS,
    ),
    Parameter(
        name="n_draws",
        label=translatable("draws"),
        kind=Kind.INTEGER,
        default=20,
        help=translatable("Number of runs for each percentage."),
        low=1,
        high=10_000,
        only_with=_FLIPS,
    ),
    Parameter(
        name="n_queries",
        label=translatable("queries"),
        kind=Kind.INTEGER,
        default=5,
        help=translatable("Number of queries to list, the least agreement first."),
        low=0,
        only_with=("agrees", (True,)),
    ),
)

PLUGIN = Plugin(
    name="judges",
    analyses=(
        Analysis(
            key="judges",
            label=translatable("Judges"),
            summary=translatable(
                "compare the labels of several judges, and the selections under each"
            ),
            compute="rankstudio.plugins.judges.analysis:judges_result",
            parameters=_PARAMETERS,
            needs=Needs.PLAN,
            description=_DESCRIPTION,
            terminal="rankstudio.plugins.judges.command",
            words="rankstudio.plugins.judges.analysis:judges_words",
        ),
    ),
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
                    after="analyses",
                    slot="toggle",
                ),
            ),
        ),
    ),
    summary="Agreement of several judges, selections under each, and selections with flipped labels.",
)
