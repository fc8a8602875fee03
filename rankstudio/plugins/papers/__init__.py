"""Papers: their printed averages, reproductions of their tables and figures, and decisions by thresholds.

For users who check the program against the literature, or compare a
method of their own with printed numbers. The experiments of the thesis
(Airola 2011) use the simulations of the lab.

References
----------
Pahikkala, T. et al. (2010). Greedy RankRLS: a linear time algorithm for
learning sparse ranking models. Airola, A. (2011). Kernel-based ranking:
methods for learning and performance estimation. TUCS Dissertations
142.
Lai, H. et al. (2013). FSMRank: feature selection algorithm for learning
to rank. Gupta, P. and Rosso, P. (2012). Expected divergence based
feature selection for learning to rank.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.methods.catalog.analysis import Analysis, Needs
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.printed_results import PrintedResults
from rankstudio.engine.plugins.run_tables import RunColumn, RunTable
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_commands import WindowCommands

_DECISIONS = (
    RunColumn(
        "rule",
        translatable("threshold by"),
        translatable(
            "Best F: greatest F on the training part. Class share: as many training documents are taken as "
            "are relevant."
        ),
        width=112,
    ),
    RunColumn(
        "threshold",
        translatable("threshold"),
        translatable("Least score of a document that is taken"),
        ".4g",
    ),
    RunColumn(
        "precision",
        translatable("precision"),
        translatable("Share of relevant documents among those taken"),
        ".4f",
    ),
    RunColumn(
        "recall",
        translatable("recall"),
        translatable("Share of the relevant documents that are taken"),
        ".4f",
    ),
    RunColumn("f", "F", translatable("Harmonic mean of precision and recall"), ".4f"),
    RunColumn(
        "greatest",
        translatable("greatest F"),
        translatable("Greatest F of any threshold on the judged documents"),
        ".4f",
    ),
    RunColumn(
        "difference",
        translatable("difference"),
        translatable("F minus the greatest F: what the choice on training costs"),
        ".4f",
    ),
)

_THRESHOLDS = """\
Print precision, recall and F of the models of a run, which take all documents with scores of at least a
threshold. It is chosen on the training part: with the greatest F ("best F"), or so that as many documents are
taken as are relevant ("class share"). The documents of a test part are pooled, whatever their query; the
greatest F that any threshold reaches there stands beside it. If each part is one ranking, the AUC and its
mean have 95 % intervals by DeLong.

  rankstudio thresholds results/study.rankstudio --run 1
  rankstudio thresholds results/study.rankstudio --run 1 --json"""

PLUGIN = Plugin(
    name="papers",
    needs=("features", "kernels", "lab"),
    commands=(
        TerminalCommand("reproduce", "rankstudio.plugins.papers.commands.reproduce"),
    ),
    analyses=(
        Analysis(
            key="thresholds",
            label=translatable("Decisions by thresholds"),
            summary=translatable(
                "show precision, recall and F by thresholds chosen on training"
            ),
            compute="rankstudio.plugins.papers.decision_table:decisions",
            needs=Needs.RUN,
            description=_THRESHOLDS,
        ),
    ),
    window_commands=(
        WindowCommands(
            key="paper-figures",
            label=translatable("Figures of papers"),
            controller="rankstudio.plugins.papers.window.paper_figures:PaperFiguresController",
        ),
    ),
    run_tables=(
        RunTable(
            key="thresholds",
            label=translatable("thresholds"),
            help=translatable(
                "Precision, recall and F of this run by thresholds chosen on training"
            ),
            task=translatable("Choosing thresholds"),
            columns=_DECISIONS,
            compute="rankstudio.plugins.papers.decision_table:decision_table",
        ),
    ),
    printed_results=(
        PrintedResults(
            key="letor",
            label=translatable("Averages on LETOR's datasets"),
            numbers="rankstudio.plugins.papers.published_numbers:numbers",
        ),
    ),
    summary="Published averages beside ours, reproductions of papers, and decisions by thresholds.",
)
