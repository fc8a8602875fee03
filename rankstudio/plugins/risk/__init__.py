"""Risk of runs over queries: URisk and TRisk against a baseline run, GeoRisk among comparable runs.

For who must not serve some queries worse than an existing ranking: the
mean of a measure hides losses in some queries behind gains in others.

References
----------
Wang, L., Bennett, P. N. and Collins-Thompson, K. (2012). Robust ranking models
via risk-sensitive optimization. SIGIR, 761-770. Dinçer, B. T., Macdonald, C.
and Ounis, I. (2014). Hypothesis testing for the risk-sensitive evaluation of
retrieval systems. SIGIR, 23-32. Dinçer, B. T., Macdonald, C. and Ounis, I.
(2016). Risk-sensitive evaluation and learning to rank using multiple baselines.
SIGIR, 483-492.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.engine_functions import EngineFunction
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.report_parts import ReportPart
from rankstudio.engine.plugins.run_views import RunView
from rankstudio.engine.plugins.terminal_commands import TerminalCommand

PLUGIN = Plugin(
    name="risk",
    commands=(TerminalCommand("risk", "rankstudio.plugins.risk.command"),),
    run_views=(
        RunView(
            key="risk",
            label=translatable("risk"),
            title=translatable("Risk"),
            tab="tests",
            view="rankstudio.plugins.risk.window.risk_view:RiskView",
        ),
    ),
    report_parts=(
        ReportPart("risk", "rankstudio.plugins.risk.report_part:risk_blocks"),
    ),
    functions=(EngineFunction("run_risks", "rankstudio.plugins.risk.run_risks"),),
    summary="Risk of runs against a baseline by query: URisk, TRisk and GeoRisk.",
)
