"""Analyses that are found as those of an installed package, for tests of what makes use of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankstudio import cli
from rankstudio.api import Plugin
from rankstudio.engine.plugins import entries
from rankstudio.engine.plugins.loader import PluginSet, plugins_with
from rankstudio.engine.plugins.plugin import LoadedPlugin

Installed = Callable[..., None]


@contextmanager
def found_plugins(
    patch: pytest.MonkeyPatch, own: Callable[[str], Iterable[LoadedPlugin]]
) -> Iterator[None]:
    """Have plug-ins found besides the others; for each kind of entries those that a function returns."""

    def found(kind: str) -> PluginSet:
        known = plugins_with(kind)
        return replace(known, loaded=(*known.loaded, *own(kind)))

    patch.setattr(entries, "plugins_with", found)
    patch.setattr(entries, "_given_warnings", set())
    cli.known_commands.cache_clear()
    yield
    cli.known_commands.cache_clear()


@contextmanager
def installed_analyses(
    patch: pytest.MonkeyPatch, folder: Path, module: str, text: str
) -> Iterator[Installed]:
    """Provide a function that has analyses found as those of a package, whose module is in a folder."""
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    plugins: list[LoadedPlugin] = []

    def install(*analyses: Any) -> None:
        plugins[:] = [
            LoadedPlugin(
                Plugin(name="odd\x1b", analyses=analyses), "rankstudio-odd", "1.0"
            )
        ]

    patch.syspath_prepend(folder)
    patch.delitem(sys.modules, module, raising=False)
    with found_plugins(patch, lambda _: plugins):
        yield install
