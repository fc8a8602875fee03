"""Commands, logs of runs, clusters and parts of pages of packages: used, or one warning each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from installed_analyses import found_plugins

from rankstudio import cli
from rankstudio.api import Plugin, RunLog, TerminalCommand
from rankstudio.cli import main
from rankstudio.engine.errors import PluginWarning
from rankstudio.engine.export.plugin_formats import model_format_entries
from rankstudio.engine.methods.plugin_contents import added_by
from rankstudio.engine.plugins.clusters import ClusterEntry, cluster_entry
from rankstudio.engine.plugins.feature_columns import FeatureColumn, feature_columns
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.page_parts import PagePart, PartCommand, page_parts
from rankstudio.engine.plugins.pair_sources import PairSource, pair_source
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.engine.plugins.printed_results import PrintedResults, printed_results
from rankstudio.engine.plugins.run_logs import run_logs
from rankstudio.engine.plugins.run_tables import RunTable, run_tables
from rankstudio.engine.plugins.run_views import RunView, run_views
from rankstudio.engine.plugins.terminal_commands import terminal_commands
from rankstudio.engine.plugins.window_commands import WindowCommands, window_commands
from rankstudio.ui.shell.plugin_list import plugin_rows

COMMAND = """
HELP = "count words"
DESCRIPTION = "Count words."

def add_options(parser):
    parser.add_argument("words", nargs="*")

def run(args):
    return len(args.words)
"""
EVENTS = """
SEEN = []

def store(place):
    return place or "here"

class Log:
    sealed = False

    def __init__(self, store, data_name, say):
        SEEN.append((store, data_name))

    def follow(self, event):
        SEEN.append(type(event).__name__)

    def finish(self, result, refitted=None, *, stopped):
        SEEN.append(stopped)

    def fail(self):
        SEEN.append("failed")
"""

Installed = Callable[[Plugin], LoadedPlugin]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Installed]:
    """A function that has a plug-in found as one of a package; what it names is in the folder."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)  # where runs of the sample are written
    (tmp_path / "words_of_test.py").write_text(COMMAND, encoding="utf-8")
    (tmp_path / "log_of_test.py").write_text(EVENTS, encoding="utf-8")
    plugins: list[LoadedPlugin] = []

    def install(plugin: Plugin) -> LoadedPlugin:
        plugins[:] = [LoadedPlugin(plugin, "rankstudio-odd", "1.0")]
        return plugins[0]

    with found_plugins(monkeypatch, lambda _: plugins):
        yield install


def test_a_command_of_a_package_is_carried_out(installed: Installed) -> None:
    installed(Plugin(name="odd", commands=(TerminalCommand("words", "words_of_test"),)))
    assert main(["words", "a", "b"]) == 2
    assert "words" in cli.known_commands()


def test_a_run_is_logged_by_a_package(installed: Installed) -> None:
    installed(
        Plugin(
            name="odd",
            run_logs=(RunLog("odd", "a list", "log_of_test:store", "log_of_test:Log"),),
        )
    )
    run = [
        "run",
        "--sample",
        "--folds",
        "1",
        "--method",
        "rankrls",
        "--lambda",
        "1",
        "--json",
    ]
    assert main([*run, "--log", "odd:there"]) == 0
    from log_of_test import SEEN  # noqa: PLC0415 - written by the test

    assert (
        SEEN[0] == ("there", "Sample") and SEEN[1] == "RunStarted" and SEEN[-1] is False
    )
    assert {"UnitFinished", "FoldFinished"} <= set(SEEN[2:-1])
    assert main([*run, "--log", "nothing"]) == 1


COMMANDS = (
    TerminalCommand("run", "words_of_test"),
    TerminalCommand("a b\x1b[2J", "words_of_test"),
    TerminalCommand("words", "../x.py"),
    TerminalCommand("words", "words_of_test"),
    TerminalCommand("words", "words_of_test"),
    5,
)
LOGS = (
    RunLog("", "", "a:b", "a:b"),
    RunLog("odd", "", "os", "a:b"),
    RunLog("odd", "", "a:b", "../a:b"),
    "log",
)
CLUSTERS = (ClusterEntry("odd", "", "", "os.system"), None)
PAIRS = (PairSource("odd", *["a:b"] * 6, "../a:b"), "pairs")
EXISTING = {
    "mlflow": RunLog("mlflow", "", "a:b", "a:b"),
    "cluster": ClusterEntry("dask", "", "", "a:b"),
}
"""Entries with a key that an ability has, whose folder may be absent."""
COLUMNS = (FeatureColumn("odd", "Odd", "odd numbers", "Counting", "a:b"), "column")
WINDOW_COMMANDS = (
    WindowCommands(
        "odd", "Odd", "a:B", (PartCommand("odd", "Odd", "", "Run", "", "ask"),)
    ),
    5,
)
TABLES = (RunTable("odd", "Odd", "odd rows", "Counting", (), "a:b"), "table")
VIEWS = (RunView("odd", "odd", "Odd", "pareto", "a:B"), "view")
PRINTED = (PrintedResults("odd", "Odd", "a:b"), {})
PARTS = (PagePart("odd", "Odd", "data", "data-right", "a:b"), "part")


def test_every_kind_is_listed_in_the_window(installed: Installed) -> None:
    installed(Plugin(name="odd", commands=(TerminalCommand("words", "words_of_test"),)))
    listed = {name: adds for name, _, adds in plugin_rows()}
    ends = {"mlflow": "mlflow", "cluster": "dask"}
    kinds = {"judges": 2, "drift": 4, "papers": 5, "search-engines": 4}
    # a folder may be absent
    there = {loaded.plugin.name for loaded in plugins().loaded}
    assert all(
        listed[name].endswith(end) for name, end in ends.items() if name in there
    )
    assert all(
        len(listed[name].splitlines()) == n
        for name, n in kinds.items()
        if name in there
    )


def test_odd_entries_are_one_warning_each(installed: Installed) -> None:
    there = {loaded.plugin.name for loaded in plugins().loaded}
    logs = (*LOGS, *(EXISTING[name] for name in ("mlflow",) if name in there))
    clusters = (*CLUSTERS, *(EXISTING[name] for name in ("cluster",) if name in there))
    plugin = Plugin(
        name="odd\x1b",
        commands=COMMANDS,  # type: ignore[arg-type]
        run_logs=logs,  # type: ignore[arg-type]
        clusters=clusters,  # type: ignore[arg-type]
        pair_sources=PAIRS,  # type: ignore[arg-type]
        parts=PARTS,  # type: ignore[arg-type]
        feature_columns=COLUMNS,  # type: ignore[arg-type]
        window_commands=WINDOW_COMMANDS,  # type: ignore[arg-type]
        run_tables=TABLES,  # type: ignore[arg-type]
        run_views=VIEWS,  # type: ignore[arg-type]
        printed_results=PRINTED,  # type: ignore[arg-type]
    )
    installed(plugin)
    with pytest.warns(PluginWarning) as warned:
        assert terminal_commands(("run",))["words"] == "words_of_test"
        assert "odd" not in run_logs() and ("mlflow" in run_logs()) == (
            "mlflow" in there
        )
        entry = cluster_entry()
        assert (
            entry.connect.startswith("rankstudio.")
            if "cluster" in there
            else entry is None
        )
        source = pair_source()
        assert source.key == "preferences" if "preferences" in there else source is None
        assert "odd" not in {part.key for _, part in page_parts()}
        assert "odd" not in {column.key for column in feature_columns()}
        assert "odd" not in {entry.key for _, entry in window_commands()}
        assert "odd" not in {table.key for table in run_tables()}
        assert "odd" not in {view.key for view in run_views()}
        assert "odd" not in {entry.key for entry in printed_results()}
    texts = [str(warning.message) for warning in warned]
    assert len(texts) == len(COMMANDS) - 1 + len(logs) + len(clusters) + 7 * len(PARTS)
    assert not any("\x1b" in text or "\n" in text for text in texts)


@pytest.mark.parametrize("value", [5, None, "commands", {"a": 1}])
def test_a_kind_that_is_no_tuple_is_refused(
    installed: Installed, value: object
) -> None:
    loaded = installed(
        Plugin(
            name="odd",
            commands=value,  # type: ignore[arg-type]
            run_logs=value,  # type: ignore[arg-type]
            clusters=value,  # type: ignore[arg-type]
            pair_sources=value,  # type: ignore[arg-type]
            parts=value,  # type: ignore[arg-type]
            feature_columns=value,  # type: ignore[arg-type]
            window_commands=value,  # type: ignore[arg-type]
            run_tables=value,  # type: ignore[arg-type]
            run_views=value,  # type: ignore[arg-type]
            model_formats=value,  # type: ignore[arg-type]
            printed_results=value,  # type: ignore[arg-type]
        )
    )
    with pytest.warns(PluginWarning) as warned:
        terminal_commands(())
        run_logs()
        page_parts()
        cluster_entry()
        pair_source()
        feature_columns()
        window_commands()
        run_tables()
        run_views()
        printed_results()
        model_format_entries.__wrapped__()  # which keeps what it found
    assert len(warned) == 11
    added = added_by(loaded)
    assert not any(
        added[kind]
        for kind in ("commands", "run_logs", "clusters", "panels", "window_commands")
    )
