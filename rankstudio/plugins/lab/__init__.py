"""Simulations of how far estimates of cross-validation are from the truth: the page *Estimates*, and ``lab``.

For questions about method rather than data: how biased and how variable
an estimate of the AUC or of a measure is with few queries, and which
estimate a paper should report.

References
----------
Airola, A. (2011). Kernel-based ranking: methods for learning and
performance estimation. TUCS Dissertations 142, chapter 5.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_parts import WindowPage

PLUGIN = Plugin(
    name="lab",
    needs=("kernels",),
    commands=(TerminalCommand("lab", "rankstudio.plugins.lab.command"),),
    pages=(
        WindowPage(
            key="lab",
            label=translatable("Estimates"),
            summary=translatable("Simulations of how far estimates are from the truth"),
            controller="rankstudio.plugins.lab.window.controller:LabController",
            icon="lab",
            shortcut="Ctrl+8",
            guide="estimates.md#the-estimates-page",
            on_rail=False,
        ),
    ),
    summary="Simulations of the bias and variance of estimates.",
)
