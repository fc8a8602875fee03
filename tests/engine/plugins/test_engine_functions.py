"""Functions of abilities that are names of the engine."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec

import pytest

from rankstudio import engine
from rankstudio.engine.plugins import entries, loader
from rankstudio.engine.plugins.engine_functions import EngineFunction, engine_functions
from rankstudio.engine.plugins.loader import PluginSet
from rankstudio.engine.plugins.plugin import LoadedPlugin, Plugin


def test_names_of_the_engine_are_the_functions_of_the_modules() -> None:
    for name, module in engine_functions().items():
        assert getattr(engine, name) is getattr(import_module(module), name)
        assert name in dir(engine)


def test_the_loader_knows_all_kinds_of_entries_of_each_ability() -> None:
    """A kind that the loader does not list is never asked for, without an error."""
    kinds = [field.name for field in fields(Plugin) if field.default == ()]
    for name, (listed, reference) in loader._ABILITIES.items():
        if find_spec(reference.partition(":")[0]) is None:
            continue  # left out
        plugin = entries.imported(reference)
        filled = {kind for kind in kinds if getattr(plugin, kind)} - {"needs"}
        assert filled == set(listed), name


def test_a_package_adds_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin("mine", functions=(EngineFunction("mine", "my_package"),))
    loaded = PluginSet((LoadedPlugin(plugin, "my-package", "1.0"),))
    monkeypatch.setattr(entries, "plugins_with", lambda _: loaded)
    with pytest.warns(match="plug-in mine cannot be used: only RankStudio itself"):
        assert engine_functions() == {}
