"""How sure a selection is: the best set, sets that are as good, what decides each feature, and when to stop.

For users who have to trust a selection: whether other queries would
give the same features, what each of them is worth, and what a model
loses without its values.

References
----------
Furnival, G. M. and Wilson, R. W. (1974). Regressions by leaps and bounds.
Technometrics 16, 499-511. Shah, R. D. and Samworth, R. J. (2013). Variable
selection with error control: another look at stability selection. Journal of
the Royal Statistical Society B 75, 55-80. Breiman, L. (2001). Random forests.
Machine Learning 45, 5-32. Singh, J., Khosla, M., Wang, Z. and Anand, A. (2021).
Extracting per query valid explanations for blackbox learning-to-rank models.
ICTIR, 203-210.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.engine_functions import EngineFunction
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.report_parts import ReportPart
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_parts import WindowPage

PLUGIN = Plugin(
    name="evidence",
    analyses="rankstudio.plugins.evidence.validity_entry:ANALYSES",
    commands=(
        TerminalCommand("evidence", "rankstudio.plugins.evidence.commands.evidence"),
        TerminalCommand(
            "importance", "rankstudio.plugins.evidence.commands.importance"
        ),
    ),
    pages=(
        WindowPage(
            key="evidence",
            label=translatable("Evidence"),
            summary=translatable(
                "How sure the selection is, which sets are as good, and where to stop"
            ),
            icon="evidence",
            controller="rankstudio.plugins.evidence.window.page:EvidencePage",
            guide="evidence.md#in-the-window",
        ),
    ),
    report_parts=(
        ReportPart(
            "evidence", "rankstudio.plugins.evidence.report_part:evidence_blocks"
        ),
    ),
    functions=(
        EngineFunction("best_subset", "rankstudio.plugins.evidence.best_subset"),
        EngineFunction(
            "deciding_queries", "rankstudio.plugins.evidence.deciding_queries"
        ),
        EngineFunction("near_best_sets", "rankstudio.plugins.evidence.near_best_sets"),
        EngineFunction(
            "permutation_importance",
            "rankstudio.plugins.evidence.permutation_importance",
        ),
        EngineFunction(
            "ranking_validity", "rankstudio.plugins.evidence.ranking_validity"
        ),
        EngineFunction(
            "repeated_left_out", "rankstudio.plugins.evidence.repeated_left_out"
        ),
        EngineFunction(
            "selection_evidence", "rankstudio.plugins.evidence.selection_evidence"
        ),
        EngineFunction("set_changes", "rankstudio.plugins.evidence.set_changes"),
        EngineFunction("shapley_shares", "rankstudio.plugins.evidence.shapley_shares"),
        EngineFunction(
            "stability_by_refitting", "rankstudio.plugins.evidence.refitted_stability"
        ),
        EngineFunction(
            "stability_selection", "rankstudio.plugins.evidence.stability_selection"
        ),
        EngineFunction(
            "step_significance", "rankstudio.plugins.evidence.step_significance"
        ),
    ),
    summary="How sure a selection is, by which sets it could be replaced, and when to stop.",
)
