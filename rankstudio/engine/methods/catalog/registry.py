"""The methods that this process knows.

These are the methods of plug-ins, methods added by a program, and
methods that opened studies describe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from threading import RLock

from rankstudio.engine.errors import ParameterError, PlanError, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.method import (
    CAPABILITIES,
    TRAITS,
    Criterion,
    Description,
    Method,
    Requirement,
)
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.bibtex import parse_bibtex

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_OPTION = re.compile(r"--[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_MAX_LENGTHS = {"citation": 200, "title": 300, "summary": 2000, "formula": 500}


class MethodRegistry:
    """The methods that this process knows, by key: finds methods, and adds new ones.

    Parameters
    ----------
    entries : iterable of Method, optional
        Methods in the order of the catalog; by default the methods of
        all plug-ins, read on first use.

    Notes
    -----
    All threads of the process use one registry. Methods are never
    removed, because plans may name them.
    """

    def __init__(self, entries: Iterable[Method] | None = None) -> None:
        self._lock = RLock()
        self._listed: dict[str, Method] | None = None
        if entries is not None:
            self._listed = _by_kind(entries)
        self._remembered: dict[str, Method] = {}

    def entries(self) -> tuple[Method, ...]:
        """Return the methods that can be chosen: methods of plug-ins, and added methods."""
        return tuple(self._entries().values())

    def find(self, key: str) -> Method | None:
        """Return a method by its key; None for an unknown key.

        Methods that are only described by a study, and cannot run, are
        found, too. The key of a method of a Python file ends with "@"
        and a checksum. Without this end, the method that was added last
        from this file is found.
        """
        entries = self._entries()
        method = entries.get(key) or self._remembered.get(key)
        # A command line may contain ".py", but has no checksum.
        lacks_checksum = (
            ".py" in key and "@" not in key and not key.startswith("command:")
        )
        if method is None and lacks_checksum:
            method = next(
                (
                    entries[full_key]
                    for full_key in reversed(entries)
                    if full_key.startswith(f"{key}@")
                ),
                None,
            )
        return method

    def add(self, entry: Method) -> Method:
        """Check a method and add it for this process; it replaces an added method with the same key.

        Parameters
        ----------
        entry : Method
            Method of a file, a command or an import path.

        Returns
        -------
        Method
            The same entry.

        Raises
        ------
        PlanError
            If the entry is invalid, or has the key of a method of a plug-in.
        """
        with self._lock:
            entries = self._entries()
            refuse_invalid(entry)
            existing = entries.get(entry.key)
            # RankStudio's own methods, which have no origin, are those
            # of plug-ins, too.
            is_of_plugin = existing is not None and (
                existing.origin is None or existing.origin.kind is OriginKind.PACKAGE
            )
            if is_of_plugin:
                text = tr(
                    "A method with the key {key} exists already. Choose another key."
                )
                raise PlanError(text.format(key=shown(entry.key)))
            # Later entries replace earlier ones with the same key.
            # `_by_kind` orders them for lists.
            self._listed = _by_kind([*entries.values(), entry])
            return entry

    def remember(self, entry: Method) -> None:
        """Register a method that a study describes, to show the study's results.

        The method cannot be run.
        """
        with self._lock:
            self._remembered[entry.key] = entry

    def _entries(self) -> dict[str, Method]:
        """Return the methods that can be chosen by key, read from the plug-ins on first use."""
        with self._lock:
            if self._listed is None:
                self._listed = _by_kind(_methods_of_plugins())
            return self._listed


def _by_kind(entries: Iterable[Method]) -> dict[str, Method]:
    """Return methods by key, selectors first, otherwise in the given order."""
    by_key = {entry.key: entry for entry in entries}
    return {
        entry.key: entry
        for entry in sorted(by_key.values(), key=lambda entry: not entry.selects)
    }


def _methods_of_plugins() -> list[Method]:
    """Return the methods of all plug-ins, and warn about methods that cannot be used.

    Methods of other packages get the package as their origin;
    RankStudio's own have none.
    """
    entries: list[Method] = []
    # `entries_of` fills in these texts. It leaves out entries that are
    # refused, or whose key exists already, and warns about them.
    exists = tr("A method with the key {key} exists already. Choose another key.")
    message = tr("A method of the plug-in {name} cannot be used: {reason}")
    for loaded_plugin, entry in entries_of("methods", refuse_invalid, exists, message):
        assert isinstance(entry, Method)
        origin = (
            None
            if loaded_plugin.built_in
            else Origin(
                kind=OriginKind.PACKAGE,
                name=loaded_plugin.package,
                version_or_checksum=loaded_plugin.version,
            )
        )
        entries.append(replace(entry, origin=origin) if origin else entry)
    return entries


def refuse_invalid(entry: object) -> None:
    """Raise a PlanError for an entry that forms, help and studies could not show.

    Parameters
    ----------
    entry : object
        What a plug-in or a program passes as a :class:`Method`.
    """
    if not isinstance(entry, Method):
        raise PlanError(
            tr("expected a Method, got {value}.").format(value=shown(entry))
        )
    # Methods of files, commands and studies have keys of another form.
    is_local = entry.origin is not None and entry.origin.kind is not OriginKind.PACKAGE
    if not is_local and not _KEY.fullmatch(str(entry.key)):
        text = tr(
            "key: expected lower-case letters, digits, dots and hyphens, got {key}."
        )
        raise PlanError(text.format(key=shown(entry.key)))
    if entry.family not in ("selector", "ranker"):
        text = tr('{key}: family: expected "selector" or "ranker", got {family}.')
        raise PlanError(text.format(key=entry.key, family=shown(entry.family)))
    # Then all texts, names and parameters of the entry; each check raises a PlanError.
    _refuse_texts(entry)
    _refuse_bibtex(entry)
    _refuse_unknown(entry.key, "capabilities", entry.capabilities, CAPABILITIES)
    _refuse_unknown(entry.key, "traits", entry.traits, TRAITS)
    if not entry.label.strip():
        raise PlanError(tr("{key}: the label is empty.").format(key=entry.key))
    refuse_parameters(entry.key, entry.parameters)


def _refuse_texts(entry: Method) -> None:
    """Raise a PlanError for a text of a method that is not a single line, or too long."""
    # First the fields that are objects with texts of their own.
    for name, kind in (
        ("description", Description),
        ("criterion", Criterion),
        ("requires", Requirement),
    ):
        value = getattr(entry, name)
        if not isinstance(value, kind):
            text = tr("{key}: {field}: expected {kind}, got {value}.")
            raise PlanError(
                text.format(
                    key=entry.key, field=name, kind=kind.__name__, value=shown(value)
                )
            )
    # Label, criterion and the texts of the description, with their greatest lengths.
    lines = [("label", entry.label, 80), ("criterion", entry.criterion.name, 200)]
    lines += [
        (name, getattr(entry.description, name), max_length)
        for name, max_length in _MAX_LENGTHS.items()
    ]
    for name, value, max_length in lines:
        if (
            not isinstance(value, str)
            or len(value) > max_length
            or one_line(value) != value
        ):
            text = tr(
                "{key}: {field}: expected a line of at most {most} characters, got {value}."
            )
            raise PlanError(
                text.format(
                    key=entry.key, field=name, most=max_length, value=shown(value)
                )
            )


def _refuse_bibtex(entry: Method) -> None:
    """Raise a PlanError for a description whose entries of BibTeX cannot be read."""
    bibtex = entry.description.bibtex
    if not isinstance(bibtex, str):
        text = tr("{key}: {field}: expected {kind}, got {value}.")
        raise PlanError(
            text.format(key=entry.key, field="bibtex", kind="str", value=shown(bibtex))
        )
    try:
        parse_bibtex(bibtex)
    except ParameterError as error:
        raise PlanError(f"{entry.key}: {error}") from error


def _refuse_unknown(
    key: str, field: str, names: Iterable[str], expected: tuple[str, ...]
) -> None:
    """Raise a PlanError if one of the ``names`` in a field of a method, ``key``, is not an expected one."""
    unknown = [name for name in names if name not in expected]
    if unknown:
        text = tr("{key}: {field}: expected some of {known}, got {name}.")
        arguments = {"key": key, "field": field, "known": ", ".join(expected)}
        raise PlanError(text.format(**arguments, name=shown(unknown[0])))


def refuse_parameters(owner: str, parameters: Iterable[object]) -> None:
    """Raise a PlanError for parameters with invalid or repeated names, or with invalid defaults.

    ``owner`` is the key of the method or analysis that has them.
    """
    names = set[str]()
    for p in parameters:
        if (
            not isinstance(p, Parameter)
            or not _NAME.fullmatch(p.name)
            or not _OPTION.fullmatch(p.option)
        ):
            text = tr("{key}: expected parameters with names and options, got {value}.")
            raise PlanError(text.format(key=owner, value=shown(p)))
        if p.name in names:
            text = tr("{key}: the parameter {name} exists twice.")
            raise PlanError(text.format(key=owner, name=p.name))
        names.add(p.name)
        # The default is checked as any value is.
        try:
            p.validate(p.default)
        except Exception as error:
            text = tr("{key}: the default of {name} is invalid: {error}")
            raise PlanError(text.format(key=owner, name=p.name, error=error)) from error
