"""Benchmarks: the same methods on all datasets below a folder, from the search of the data to the diagram.

For authors who compare methods on the collections of the field: one
file names the methods and the protocol, and one command finds the data,
says how long the runs take, and ranks the methods over the datasets.
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.terminal_commands import TerminalCommand

PLUGIN = Plugin(
    name="benchmark",
    needs=("method-ranks", "report"),
    commands=(TerminalCommand("benchmark", "rankstudio.plugins.benchmark.command"),),
    summary="The same methods on all datasets below a folder, ranked over them.",
)
