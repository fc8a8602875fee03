"""Methods ranked over several datasets, with the tests and the diagram with which papers print such rankings.

For authors and referees of a study with runs of several methods on
several datasets: whether a method is better in general, rather than on
one dataset.

References
----------
Demšar, J. (2006). Statistical comparisons of classifiers over multiple
data sets. Journal of Machine Learning Research 7, 1-30. Benavoli, A.,
Corani, G., Demšar, J. and Zaffalon, M. (2017). Time for a change: a
tutorial for comparing multiple classifiers through Bayesian analysis.
Journal of Machine Learning Research 18 (77), 1-36.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.engine_functions import EngineFunction
from rankstudio.engine.plugins.page_parts import PagePart
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.report_parts import ReportPart
from rankstudio.engine.plugins.terminal_commands import TerminalCommand

PLUGIN = Plugin(
    name="method-ranks",
    commands=(
        TerminalCommand("rank-methods", "rankstudio.plugins.method_ranks.command"),
    ),
    parts=(
        PagePart(
            key="method-ranks",
            label=translatable("Methods over datasets"),
            page="compare",
            column="compare",
            controller="rankstudio.plugins.method_ranks.window.ranks_panel:RanksController",
            size=240,
        ),
    ),
    report_parts=(
        ReportPart("ranks", "rankstudio.plugins.method_ranks.report_part:rank_blocks"),
    ),
    functions=(
        EngineFunction("method_ranks", "rankstudio.plugins.method_ranks.mean_ranks"),
    ),
    summary="Mean ranks of methods over datasets, with tests and the critical-difference diagram.",
)
