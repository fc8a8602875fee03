"""The loader of plug-ins: built-in ones and those of installed packages, all in the same way."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from rankstudio import __version__
from rankstudio.engine.errors import shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.plugin import GROUP, FailedPlugin, LoadedPlugin, Plugin

if TYPE_CHECKING:
    from importlib.metadata import Distribution

API = 1
"""Version of :mod:`rankstudio.api`."""

WITHOUT = "RANKSTUDIO_WITHOUT"
"""Environment variable with the names of plug-ins to leave out, separated by commas; workers inherit it."""

PATIENCE = 10.0
"""Seconds that the import of a plug-in may take."""

_CORE = {
    "rankstudio": (("methods",), "rankstudio.engine.methods.catalog.built_in:PLUGIN"),
    "data-formats": (
        ("data_formats",),
        "rankstudio.engine.data.formats.built_in:PLUGIN",
    ),
    "window": (("pages",), "rankstudio.ui.shell.own_pages:PLUGIN"),
}
_ABILITIES = {
    "baselines": (("methods",), "rankstudio.plugins.baselines:PLUGIN"),
    "exports": (("model_formats",), "rankstudio.plugins.exports:PLUGIN"),
    "drift": (
        ("analyses", "commands", "window_commands", "feature_columns", "functions"),
        "rankstudio.plugins.drift:PLUGIN",
    ),
    "kernels": (("methods",), "rankstudio.plugins.kernels:PLUGIN"),
    "foreign-models": (("model_readers",), "rankstudio.plugins.foreign_models:PLUGIN"),
    "search-engines": (
        ("analyses", "data_formats", "model_formats", "run_views"),
        "rankstudio.plugins.search_engines:PLUGIN",
    ),
    "tables": (("data_formats",), "rankstudio.plugins.tables:PLUGIN"),
    "trees": (("methods",), "rankstudio.plugins.trees:PLUGIN"),
    "judges": (("analyses", "parts"), "rankstudio.plugins.judges:PLUGIN"),
    "evidence": (
        ("commands", "pages", "report_parts", "functions", "analyses"),
        "rankstudio.plugins.evidence:PLUGIN",
    ),
    "permutation": (
        ("commands", "window_commands"),
        "rankstudio.plugins.permutation:PLUGIN",
    ),
    "preferences": (
        ("pair_sources", "window_commands"),
        "rankstudio.plugins.preferences:PLUGIN",
    ),
    "lab": (("commands", "pages"), "rankstudio.plugins.lab:PLUGIN"),
    "papers": (
        ("commands", "window_commands", "run_tables", "printed_results", "analyses"),
        "rankstudio.plugins.papers:PLUGIN",
    ),
    "features": (("pages", "report_parts"), "rankstudio.plugins.features:PLUGIN"),
    "queries": (("pages", "functions"), "rankstudio.plugins.queries:PLUGIN"),
    "report": (("commands", "pages"), "rankstudio.plugins.report:PLUGIN"),
    "citations": (
        ("commands", "window_commands"),
        "rankstudio.plugins.citations:PLUGIN",
    ),
    "method-ranks": (
        ("commands", "parts", "report_parts", "functions"),
        "rankstudio.plugins.method_ranks:PLUGIN",
    ),
    "risk": (
        ("commands", "run_views", "report_parts", "functions"),
        "rankstudio.plugins.risk:PLUGIN",
    ),
    "benchmark": (("commands",), "rankstudio.plugins.benchmark:PLUGIN"),
    "mlflow": (("run_logs",), "rankstudio.plugins.mlflow:PLUGIN"),
    "cluster": (("clusters",), "rankstudio.plugins.cluster:PLUGIN"),
}
_BUILT_IN = {**_CORE, **_ABILITIES}
"""Built-in plug-ins by name, each with the kinds of its entries and its module and name.

A plug-in is imported only when entries of such a kind are needed, so
that reading data does not wait for the methods. The folder of an
ability may be absent.
"""


@dataclass(frozen=True)
class PluginSet:
    """All plug-ins of this installation.

    Attributes
    ----------
    loaded : tuple of LoadedPlugin
        Usable plug-ins: built-in plug-ins first, then the others by name.
    failed : tuple of FailedPlugin
        Plug-ins that cannot be loaded, with the reasons.
    left_out : tuple of str
        Names of installed plug-ins that the user leaves out.
    """

    loaded: tuple[LoadedPlugin, ...]
    failed: tuple[FailedPlugin, ...] = ()
    left_out: tuple[str, ...] = ()


@cache
def plugins() -> PluginSet:
    """Return the plug-ins of this installation; each is read once per process.

    A plug-in that cannot be imported, or is not a :class:`Plugin`, is
    among the failed plug-ins.
    """
    return _plugins_with_needs(tuple(_BUILT_IN))


def plugins_with(kind: str) -> PluginSet:
    """Return the plug-ins that may have entries of a kind, without importing other built-in ones.

    Parameters
    ----------
    kind : str
        Name of a field of :class:`Plugin`, such as "methods".
    """
    return _plugins_with_needs(
        tuple(name for name, (kinds, _) in _BUILT_IN.items() if kind in kinds)
    )


@cache
def _plugins_with_needs(names: tuple[str, ...]) -> PluginSet:
    """Return the named built-in plug-ins, and those of installed packages.

    A plug-in that needs an absent plug-in is among the failed plug-ins.
    """
    package_plugins = _plugins_of_packages()  # loaded, failed and left out
    loaded: list[LoadedPlugin] = []
    failed = list(package_plugins.failed)
    for candidate in (*_built_in(names), *package_plugins.loaded):
        reason = _reason_of_missing_needs(candidate.plugin)
        if reason:
            failed.append(
                FailedPlugin(
                    name=candidate.plugin.name,
                    package=candidate.package,
                    version=candidate.version,
                    reason=reason,
                    built_in=candidate.built_in,
                )
            )
        else:
            loaded.append(candidate)
    return replace(package_plugins, loaded=tuple(loaded), failed=tuple(failed))


def _reason_of_missing_needs(plugin: Plugin, above: tuple[str, ...] = ()) -> str:
    """Return why a plug-in that another plug-in needs, directly or not, is missing; "" if none is.

    Parameters
    ----------
    plugin : Plugin
        The plug-in whose needs are examined.
    above : tuple of str
        Names of the plug-ins that need this plug-in, which are not
        examined again: two plug-ins may need each other.
    """
    if not isinstance(plugin.needs, tuple) or not all(
        isinstance(name, str) for name in plugin.needs
    ):
        return tr("needs: expected names of plug-ins, got {value}").format(
            value=shown(plugin.needs)
        )
    # The loaded ones of installed packages, by name. Built-in plug-ins
    # are the core, which is always there, and abilities, which may be
    # absent.
    package_plugins = {
        loaded.plugin.name: loaded.plugin for loaded in _plugins_of_packages().loaded
    }
    for name in plugin.needs:
        if name in (*above, plugin.name):
            continue
        is_ability = name in _ABILITIES and _is_available(name, _names_to_leave_out())
        if not (name in _CORE or name in package_plugins or is_ability):
            text = tr("it needs the plug-in {name}, which is absent or left out")
            return text.format(name=shown(name))
        needed = (
            package_plugins[name]
            if name in package_plugins
            else _load_built_in(name).plugin
        )
        reason = _reason_of_missing_needs(needed, (*above, plugin.name))
        if reason:
            return reason
    return ""


@cache
def _built_in(names: tuple[str, ...]) -> tuple[LoadedPlugin, ...]:
    """Load the built-in plug-ins with some names, except absent abilities.

    An ability, a removable plug-in, is absent if the user leaves it
    out, or its folder does not exist.
    """
    names_to_leave_out = _names_to_leave_out()
    return tuple(
        _load_built_in(name)
        for name in names
        if name in _CORE or _is_available(name, names_to_leave_out)
    )


def _is_available(name: str, names_to_leave_out: Collection[str]) -> bool:
    """Return whether an ability, a removable built-in plug-in, can be loaded.

    Return False if the user leaves it out (``names_to_leave_out``), or
    its folder does not exist.
    """
    # The second value is "module:name" of the plug-in.
    _, reference = _ABILITIES[name]
    module = reference.partition(":")[0]
    try:
        return name not in names_to_leave_out and find_spec(module) is not None
    except ModuleNotFoundError:
        # Without any ability, the folder of all abilities does not exist.
        return False


@cache
def _load_built_in(name: str) -> LoadedPlugin:
    """Import a built-in plug-in by its name, once per process."""
    # The second value is "module:name" of the plug-in.
    _, reference = _BUILT_IN[name]
    return LoadedPlugin(
        plugin=_import_plugin(reference),
        package="rankstudio",
        version=__version__,
        built_in=True,
    )


def _names_to_leave_out() -> frozenset[str]:
    """Return the names of plug-ins to leave out."""
    return frozenset(
        name.strip() for name in os.environ.get(WITHOUT, "").split(",") if name.strip()
    )


@cache
def _plugins_of_packages() -> PluginSet:
    """Return the plug-ins of installed packages: loaded, failed and left-out plug-ins.

    The user leaves out plug-ins by their names. Left-out abilities,
    which are no packages, are among the left-out plug-ins, too.
    """
    names_to_leave_out = _names_to_leave_out()
    loaded: list[LoadedPlugin] = []
    used_names = set(_BUILT_IN)
    failed: list[FailedPlugin] = []
    left_out = sorted(names_to_leave_out & set(_ABILITIES))
    # Entry points are the names under which packages announce plug-ins:
    # (name, module and object, package).
    entry_points = sorted(_entry_points())
    left_out += [name for name, _, _ in entry_points if name in names_to_leave_out]
    entry_points = [
        entry_point
        for entry_point in entry_points
        if entry_point[0] not in names_to_leave_out
    ]
    # Each result is a plug-in, or the error of its import. A plug-in
    # may have another name than its entry point.
    results = _import_with_timeout([value for _, value, _ in entry_points])
    for (name, _, package), result in zip(entry_points, results, strict=True):
        if isinstance(result, BaseException):
            failed.append(
                FailedPlugin(
                    name=name,
                    package=package.name,
                    version=package.version,
                    reason=_load_error_text(result),
                )
            )
        elif result.name in names_to_leave_out:
            left_out.append(result.name)
        elif result.name in used_names:
            reason = tr("a plug-in named {name} is loaded already").format(
                name=result.name
            )
            failed.append(
                FailedPlugin(
                    name=name,
                    package=package.name,
                    version=package.version,
                    reason=reason,
                )
            )
        else:
            used_names.add(result.name)
            loaded.append(LoadedPlugin(result, package.name, package.version))
    return PluginSet(tuple(loaded), tuple(failed), tuple(left_out))


@dataclass(frozen=True, order=True)
class _Package:
    """Name and version of an installed package."""

    name: str
    version: str


def _entry_points() -> Iterator[tuple[str, str, _Package]]:
    """Yield (name, value, package) of each plug-in that an installed package announces.

    The value is "module:name", the package has name and version.

    Only files that name the group are parsed, because an installation
    has hundreds of packages, but few with plug-ins.
    """
    from importlib.metadata import distributions  # noqa: PLC0415 - slow to import

    packages: set[str] = set()
    for distribution in distributions():
        text = distribution.read_text("entry_points.txt")
        if not text or GROUP not in text:
            continue
        package = _package_of(distribution)
        # Of packages with the same name, Python imports the first on
        # its path: only its plug-ins count.
        if package.name in packages:
            continue
        packages.add(package.name)
        for name, value in _parsed_entry_points(text):
            yield name, value, package


def _parsed_entry_points(text: str) -> list[tuple[str, str]]:
    """Return (name, "module:name") of each plug-in in the text of ``entry_points.txt``.

    Such a file of an installed package has other groups, too. Return []
    if the text is invalid.
    """
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their capitals
    try:
        parser.read_string(text)
    except ConfigParserError:  # pip would not have installed such a package
        return []
    return parser.items(GROUP) if parser.has_section(GROUP) else []


def _package_of(distribution: Distribution) -> _Package:
    """Return name and version of a package, from the first lines of its metadata.

    `Distribution.metadata` uses Python's parser of e-mails, which takes
    as long as importing a plug-in.
    """
    text = (
        distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    )
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if not colon:  # the blank line behind the fields
            break
        fields.setdefault(name.lower(), value.strip())
    return _Package(fields.get("name", ""), fields.get("version", ""))


def _import_with_timeout(values: Sequence[str]) -> list[Plugin | BaseException]:
    """Import plug-ins one after another on a thread, each for at most some seconds.

    ``values`` has "module:name" of each plug-in. Return the plug-ins in
    this order, with the error in place of a plug-in that cannot be
    imported.

    Prints go to standard error, because standard output may be the
    result of a command. If an import takes too long, its thread is left
    behind, and another thread imports the remaining plug-ins.
    """
    results: list[Plugin | BaseException] = []
    with redirect_stdout(sys.stderr):
        while len(results) < len(values):
            imported: SimpleQueue[Plugin | BaseException] = SimpleQueue()
            # A result per value, in order: the others are still to be imported.
            remaining_values = values[len(results) :]
            threading.Thread(
                target=_import_each, args=(remaining_values, imported), daemon=True
            ).start()
            try:
                results.extend(imported.get(timeout=PATIENCE) for _ in remaining_values)
            except Empty:
                text = tr("its import takes more than {seconds:g} seconds")
                results.append(TimeoutError(text.format(seconds=PATIENCE)))
    return results


def _import_each(
    values: Sequence[str], imported: SimpleQueue[Plugin | BaseException]
) -> None:
    """Import plug-ins, and put each plug-in, or the error of its import, into a queue.

    ``values`` has "module:name" of each plug-in. End when an import has
    taken too long: the receiver of the queue continues on another
    thread.
    """
    for value in values:
        started = time.monotonic()
        result: Plugin | BaseException
        try:
            result = _import_plugin(value)
        except BaseException as error:
            # A foreign package may raise anything, SystemExit included.
            result = error
        if time.monotonic() - started >= PATIENCE:
            return  # its receiver has stopped waiting
        imported.put(result)


def _import_plugin(value: str) -> Plugin:
    """Import the plug-in that a text "module:name" names; "PLUGIN" is the default name.

    Raise TypeError if the object is no plug-in, ValueError for a
    plug-in that needs a later version of this program.
    """
    module, _, attribute = value.partition(":")
    plugin = getattr(import_module(module), attribute or "PLUGIN")
    if not isinstance(plugin, Plugin):
        raise TypeError(tr("{value} is no rankstudio.api.Plugin").format(value=value))
    if plugin.api > API:
        text = tr(
            "it needs version {needed} of rankstudio.api, and this one is {version}"
        )
        raise ValueError(text.format(needed=plugin.api, version=API))
    return plugin


def _load_error_text(error: BaseException) -> str:
    """Return why a plug-in cannot be loaded, on one line."""
    text = " ".join(str(error).split())
    is_clear = isinstance(error, TypeError | ValueError | TimeoutError) and text
    return text if is_clear else f"{type(error).__name__}: {text}".rstrip(": ")
