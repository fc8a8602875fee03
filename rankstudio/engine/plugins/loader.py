"""The loader of plug-ins: built-in ones and those of installed packages, all in the same way."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import Distribution, EntryPoints, distributions

from rankstudio import __version__
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.plugin import GROUP, FailedPlugin, LoadedPlugin, Plugin

API = 1
"""Version of :mod:`rankstudio.api`."""

WITHOUT = "RANKSTUDIO_WITHOUT"
"""Environment variable with the names of plug-ins to leave out, separated by commas; workers inherit it."""

PATIENCE = 10.0
"""Seconds that the import of a plug-in may take."""

_BUILT_IN = {
    "rankstudio": ("methods", "rankstudio.engine.methods.catalog.built_in:PLUGIN"),
    "data-formats": ("data_formats", "rankstudio.engine.data.formats.built_in:PLUGIN"),
}
"""Built-in plug-ins by name: the kind of entries that each adds, and where it is. One is imported only where
entries of its kind are needed: reading data does not wait for the methods."""


@dataclass(frozen=True)
class PluginSet:
    """All plug-ins of this installation.

    Attributes
    ----------
    loaded : tuple of LoadedPlugin
        Built-in ones first, then by name.
    failed : tuple of FailedPlugin
    left_out : tuple of str
        Names of plug-ins that are installed, but left out on request.
    """

    loaded: tuple[LoadedPlugin, ...]
    failed: tuple[FailedPlugin, ...] = ()
    left_out: tuple[str, ...] = ()


@cache
def plugins() -> PluginSet:
    """Return the plug-ins of this installation; each is read once per process.

    A plug-in that cannot be imported, or is no :class:`Plugin`, is among the failed ones.
    """
    others = _of_packages()
    return replace(others, loaded=(*map(_built_in, _BUILT_IN), *others.loaded))


def plugins_with(kind: str) -> PluginSet:
    """Return the plug-ins that may have entries of a kind, without importing other built-in ones.

    Parameters
    ----------
    kind : str
        Name of a field of :class:`Plugin`, such as "methods".
    """
    others = _of_packages()
    own = (name for name, (adds, _) in _BUILT_IN.items() if adds == kind)
    return replace(others, loaded=(*map(_built_in, own), *others.loaded))


@cache
def _built_in(name: str) -> LoadedPlugin:
    return LoadedPlugin(_imported(_BUILT_IN[name][1]), "rankstudio", __version__, True)


@cache
def _of_packages() -> PluginSet:
    """Return the plug-ins of installed packages."""
    unwanted = {name.strip() for name in os.environ.get(WITHOUT, "").split(",") if name.strip()}
    loaded: list[LoadedPlugin] = []
    names = set(_BUILT_IN)
    failed: list[FailedPlugin] = []
    left_out: list[str] = []
    for name, value, package in sorted(_entry_points()):
        version = package.version
        if name in unwanted:
            left_out.append(name)
            continue
        try:
            plugin = _in_time(name, value)
            if plugin.name in names:
                raise ValueError(tr("a plug-in named {name} is loaded already").format(name=plugin.name))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a package of somebody else may raise anything, SystemExit included
            failed.append(FailedPlugin(name, package.name, version, _reason(error)))
            continue
        if plugin.name in unwanted:
            left_out.append(plugin.name)
            continue
        names.add(plugin.name)
        loaded.append(LoadedPlugin(plugin, package.name, version))
    return PluginSet(tuple(loaded), tuple(failed), tuple(left_out))


@dataclass(frozen=True, order=True)
class _Package:
    name: str
    version: str


def _entry_points() -> Iterator[tuple[str, str, _Package]]:
    """Yield name, value and package of each entry point of a plug-in.

    Only files that name the group are parsed: an installation has hundreds of packages, and none or few with
    plug-ins.
    """
    packages: set[str] = set()
    for distribution in distributions():
        text = distribution.read_text("entry_points.txt")
        if not text or GROUP not in text:
            continue
        metadata = distribution.metadata  # read once: its parser takes most of the time
        package = _Package(str(metadata["Name"]), str(metadata["Version"]))
        if package.name in packages:  # the first one on the path is the one that is imported
            continue
        packages.add(package.name)
        for point in _points(distribution):
            yield point.name, point.value, package


def _points(distribution: Distribution) -> EntryPoints:
    return distribution.entry_points.select(group=GROUP)


def _in_time(name: str, value: str) -> Plugin:
    """Import a plug-in on a thread of its own, for at most some seconds.

    What it prints goes to standard error, because standard output may be the result of a command.
    """
    results: list[Plugin | BaseException] = []

    def load() -> None:
        try:
            results.append(_imported(value))
        except BaseException as error:  # as above
            results.append(error)

    thread = threading.Thread(target=load, name=f"rankstudio-plugin-{name}", daemon=True)
    with redirect_stdout(sys.stderr):
        thread.start()
        thread.join(PATIENCE)
    if not results:
        raise TimeoutError(tr("its import takes more than {seconds:g} seconds").format(seconds=PATIENCE))
    result = results[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _imported(value: str) -> Plugin:
    """Return the plug-in that an entry point names."""
    module, _, attribute = value.partition(":")
    plugin = getattr(import_module(module), attribute or "PLUGIN")
    if not isinstance(plugin, Plugin):
        raise TypeError(tr("{value} is no rankstudio.api.Plugin").format(value=value))
    if plugin.api > API:
        text = tr("it needs version {needed} of rankstudio.api, and this one is {version}")
        raise ValueError(text.format(needed=plugin.api, version=API))
    return plugin


def _reason(error: BaseException) -> str:
    """Return why a plug-in cannot be loaded, on one line."""
    text = " ".join(str(error).split())
    known = isinstance(error, TypeError | ValueError | TimeoutError) and text
    return text if known else f"{type(error).__name__}: {text}".rstrip(": ")
