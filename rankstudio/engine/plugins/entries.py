"""The entries of one kind in all plug-ins, from which a catalog is filled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from rankstudio.engine.errors import PlanError, PluginWarning, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.loader import plugins_with
from rankstudio.engine.plugins.plugin import LoadedPlugin

_given_warnings: set[str] = set()


def entries_of(
    kind: str, refuse_invalid: Callable[[object], None], exists: str, unusable: str
) -> list[tuple[LoadedPlugin, Any]]:
    """Return (plug-in, entry) for each usable entry of a kind, built-in ones first.

    An entry is what a plug-in adds to the program, such as a method.
    Unusable entries of other packages are left out with a warning.

    Parameters
    ----------
    kind : str
        Name of a field of
        :class:`~rankstudio.engine.plugins.plugin.Plugin`.
    refuse_invalid : callable
        Raises PlanError for an entry that cannot be used. Built-in
        entries are not checked.
    exists, unusable : str
        Messages: for an entry whose ``{key}`` exists already, and for
        an entry of the plug-in ``{name}`` that cannot be used, with the
        ``{reason}``.
    """
    entries: list[tuple[LoadedPlugin, Any]] = []
    # The plug-in of each key; keys that differ in case only are equal.
    keys: dict[str, LoadedPlugin] = {}
    plugins = plugins_with(kind)
    # RankStudio's own plug-ins only fail if the user has left out
    # another one that they need, which is no reason for a warning.
    for failed in (plugin for plugin in plugins.failed if not plugin.built_in):
        text = tr(
            "The plug-in {name} of {package} {version} cannot be loaded: {reason}."
        )
        warn_once(
            text,
            name=failed.name,
            package=failed.package,
            version=failed.version,
            reason=failed.reason,
        )
    # Built-in plug-ins come first, so that their keys are used already.
    # Another entry with such a key, or an invalid one, gives a warning.
    for loaded in plugins.loaded:
        for entry in values_of(loaded, kind):
            if not loaded.built_in:
                try:
                    refuse_invalid(entry)
                    earlier = keys.get(entry.key.lower())
                    # Two other packages with the same key: the user may
                    # leave one of them out.
                    if (
                        earlier is not None
                        and earlier.package != loaded.package
                        and not earlier.built_in
                    ):
                        _warn_of_two(earlier, loaded, entry.key)
                        continue
                    if earlier is not None:
                        raise PlanError(exists.format(key=shown(entry.key)))
                except PlanError as error:
                    warn_once(unusable, name=loaded.plugin.name, reason=str(error))
                    continue
            keys[entry.key.lower()] = loaded
            entries.append((loaded, entry))
    return entries


def _warn_of_two(first: LoadedPlugin, second: LoadedPlugin, key: str) -> None:
    """Warn that two plug-ins have an entry of the same kind with the same key.

    The entry of the first plug-in is used.
    """
    text = tr(
        "{first} and {second} both have {key}; that of {first} is used. Leave one out with --without."
    )
    names = [f"{loaded.package} {loaded.version}".strip() for loaded in (first, second)]
    warn_once(text, first=names[0], second=names[1], key=shown(key))


def values_of(loaded: LoadedPlugin, kind: str) -> tuple[Any, ...]:
    """Return a plug-in's entries of a kind.

    A value that is not a tuple is returned as a single entry, which the
    check of :func:`entries_of` refuses. ``kind`` is the name of a field
    of `Plugin`. A built-in plug-in may name the tuple of entries as
    "module:name" instead: classes with computations are then imported
    only when the entries are needed, not together with the plug-in.
    """
    values = getattr(loaded.plugin, kind)
    if loaded.built_in and isinstance(values, str):
        values = imported(values)
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def warn_once(text: str, **values: str) -> None:
    """Warn of a problem of a plug-in.

    ``text`` is a template for ``values``, each of which is written on
    one line. The same warning is given only once in a process.
    """
    sentence = text.format(**{name: one_line(value) for name, value in values.items()})
    if sentence not in _given_warnings:
        _given_warnings.add(sentence)
        warnings.warn(sentence, PluginWarning, stacklevel=4)


def imported(reference: str) -> Any:
    """Import the module of "module:name", and return the named object."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
