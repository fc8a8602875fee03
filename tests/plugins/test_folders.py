"""The folders of abilities: what each says and imports."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from plugins import packages

import rankstudio.plugins
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.absent import methods_to_record, recorded_methods
from rankstudio.engine.plugins import loader
from rankstudio.engine.plugins.terminal_commands import (
    commands_to_record,
    recorded_commands,
)
from rankstudio.engine.support.resources import resource

FOLDER = Path(rankstudio.plugins.__file__).parent
ABILITIES = sorted(
    path.name for path in FOLDER.iterdir() if (path / "__init__.py").is_file()
)
WINDOW = ("PySide6", "pyqtgraph", "rankstudio.ui", "rankstudio.cli")


@pytest.mark.parametrize("name", ABILITIES)
def test_a_folder_is_a_plugin_that_says_what_and_for_whom(name: str) -> None:
    package = import_module(f"rankstudio.plugins.{name}")
    lacks = {need.replace("-", "_") for need in package.PLUGIN.needs} - set(ABILITIES)
    expected = [] if lacks else [True]
    assert [
        loaded.built_in
        for loaded in loader.plugins().loaded
        if loaded.plugin is package.PLUGIN
    ] == expected
    assert package.PLUGIN.name == name.replace("_", "-")
    assert package.__doc__.split("\n\n")[1].startswith("For ")


def imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    named = {
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
    }
    return named | {
        alias.name
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    }


@pytest.mark.parametrize("name", ABILITIES)
def test_what_an_ability_computes_knows_neither_window_nor_terminal(name: str) -> None:
    for path in (FOLDER / name).rglob("*.py"):
        place = path.relative_to(FOLDER / name)
        if place.parts[0] != "window" and not re.match(
            r"commands?(/|\.py)", place.as_posix()
        ):
            above = [module for module in imports(path) if module.startswith(WINDOW)]
            assert above == [], path


@pytest.mark.parametrize("name", ABILITIES)
def test_an_ability_imports_only_others_that_it_says_it_needs(name: str) -> None:
    needs = import_module(f"rankstudio.plugins.{name}").PLUGIN.needs
    used = {
        module.split(".")[2]
        for path in (FOLDER / name).rglob("*.py")
        for module in plugin_imports(path)
    }
    assert used - {name} == {need.replace("-", "_") for need in needs}


def plugin_imports(path: Path) -> set[str]:
    return {
        module for module in imports(path) if module.startswith("rankstudio.plugins.")
    }


def test_the_methods_of_abilities_are_recorded_for_where_a_folder_is_absent() -> None:
    recorded = json.loads(
        resource("abilities", "methods.json").read_text(encoding="utf-8")
    )
    names = {values["origin"]["name"] for values in methods_to_record()}
    assert [
        one for one in recorded if one["origin"]["name"] in names
    ] == methods_to_record(), "python packaging/abilities.py"
    assert all(
        entry.origin.name in entry.lacking for entry in recorded_methods().values()
    )
    absent = recorded_methods().keys() - {entry.key for entry in methods()}
    assert {recorded_methods()[key].origin.name for key in absent}.isdisjoint(names)


def test_the_commands_of_abilities_are_recorded_for_where_a_folder_is_absent() -> None:
    assert commands_to_record().items() <= recorded_commands().items(), (
        "python packaging/abilities.py"
    )
    absent = recorded_commands().keys() - commands_to_record().keys()
    lacking = {failed.name for failed in loader.plugins().failed}
    left_out = {recorded_commands()[key] for key in absent} - lacking
    assert not {name.replace("-", "_") for name in left_out} & set(ABILITIES)


def test_a_command_that_is_left_out_is_said_with_its_plugin(tmp_path: Path) -> None:
    for words in (
        ["--without", "judges", "judges"],
        ["judges", "x", "--without=judges"],
        ["judges", "x", "--without=judges", "--json"],  # an option of its own
    ):
        ended = packages.rankstudio(tmp_path, *words)
        assert ended.returncode == 2
        assert "plug-in judges, which is absent or left out." in ended.stderr
