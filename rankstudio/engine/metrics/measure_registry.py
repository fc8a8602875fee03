"""The foreign measures that this process knows: of plug-ins, added by programs, and of opened studies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from threading import RLock

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.metrics.families import BY_NAME
from rankstudio.engine.metrics.measure_entry import MeasureEntry, refuse_invalid_measure
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.origin import Origin, OriginKind

_NAME_EXISTS = translatable(
    "A measure with the name {key} exists already. Choose another name."
)


class MeasureRegistry:
    """The foreign measures by name, whose case is ignored.

    Parameters
    ----------
    entries : iterable of MeasureEntry, optional
        By default those of all plug-ins, read on first use.

    Notes
    -----
    One registry serves the whole process, on all threads. Measures are
    added, and never removed while plans may name them.
    """

    def __init__(self, entries: Iterable[MeasureEntry] | None = None) -> None:
        """Start with some measures; by default with those of all plug-ins, which are read on first use."""
        self._lock = RLock()
        # The measures with code, by name in lower case; None until
        # those of plug-ins are read.
        self._listed: dict[str, MeasureEntry] | None = None
        if entries is not None:
            self._listed = {entry.key.lower(): entry for entry in entries}
        # Measures that studies describe, without code.
        self._remembered: dict[str, MeasureEntry] = {}

    def entries(self) -> tuple[MeasureEntry, ...]:
        """Return the measures that can be chosen: of plug-ins, and added ones."""
        return tuple(self._entries().values())

    def find(self, name: str) -> MeasureEntry | None:
        """Return a measure by its name without cut-off, also one that is only known from a study."""
        key = name.lower()
        return self._entries().get(key) or self._remembered.get(key)

    def add(self, entry: MeasureEntry) -> MeasureEntry:
        """Add a measure for this process; it replaces an added measure with the same name.

        Raises
        ------
        PlanError
            If the entry is invalid, or has the name of a built-in
            measure or of a plug-in's measure.
        """
        with self._lock:
            entries = self._entries()
            refuse_invalid_measure(entry)
            # A measure that a program adds has no origin: it is the
            # package of its function.
            if entry.origin is None:
                package = entry.function.partition(":")[0].partition(".")[0]
                entry = replace(entry, origin=Origin(OriginKind.IMPORT, package, ""))
            # The measure with this name so far, if there is one.
            existing = entries.get(entry.key.lower())
            origin = None if existing is None else existing.origin
            if origin is not None and origin.kind is OriginKind.PACKAGE:
                raise _name_exists_error(entry)
            if entry.key.lower() in BY_NAME:
                raise _name_exists_error(entry)
            self._listed = {**entries, entry.key.lower(): entry}
            return entry

    def remember(self, entry: MeasureEntry) -> None:
        """Register a measure that a study describes, to show the study's results.

        The registered measure has no code, so it cannot be computed.
        """
        with self._lock:
            self._remembered[entry.key.lower()] = entry

    def receive(self, entry: MeasureEntry) -> None:
        """Register a measure that another process sends, unless this process has it already.

        A measure of a file comes with its code, and can be computed
        here. Of any other one, only the description is registered.
        """
        if self.find(entry.key) is not None:
            return
        # A measure of a package names its function, which may be absent
        # here. So it is registered as a description, which is not
        # present. A measure of a file has "" as its function, and its
        # code with it.
        if entry.function and entry.origin is not None:
            self.remember(replace(entry, origin=replace(entry.origin, present=False)))
        else:
            self.add(entry)

    def _entries(self) -> dict[str, MeasureEntry]:
        with self._lock:
            if self._listed is None:
                self._listed = _measures_of_plugins()
            return self._listed


def _measures_of_plugins() -> dict[str, MeasureEntry]:
    """Return the measures of all plug-ins, and warn of those that cannot be used."""
    entries: dict[str, MeasureEntry] = {}

    def refuse(entry: object) -> None:
        """Raise an error for an entry that is invalid or has the name of a built-in measure."""
        refuse_invalid_measure(entry)
        assert isinstance(entry, MeasureEntry)
        if entry.key.lower() in BY_NAME:
            raise _name_exists_error(entry)

    # `entries_of` leaves out entries that `refuse` refuses, or whose
    # name exists already. It warns about them with one of these two
    # texts.
    unusable = tr("A measure of the plug-in {name} cannot be used: {reason}")
    for loaded, entry in entries_of("measures", refuse, _NAME_EXISTS, unusable):
        origin = Origin(OriginKind.PACKAGE, loaded.package, loaded.version)
        entries[entry.key.lower()] = replace(entry, origin=origin)
    return entries


def _name_exists_error(entry: MeasureEntry) -> PlanError:
    return PlanError(tr(_NAME_EXISTS).format(key=shown(entry.key)))


MEASURES = MeasureRegistry()
"""The registry of this process."""
