"""Descriptions of programs in which runs can be logged, for ``run --log KEY:PLACE``; plug-ins add them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of

_KEY = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class RunLog:
    """A program in which runs can be logged.

    Attributes
    ----------
    key : str
        Word for ``--log``: lower-case letters, digits and hyphens.
    help : str
        What ``--log KEY`` and ``--log KEY:PLACE`` do, after "also log the run to".
    store : str
        ``"module:function"``: takes the text PLACE, "" without one, and
        returns the location of the log; raises a ParameterError or a
        MissingExtraError where nothing can be logged there.
    listener : str
        ``"module:Class"``, a :class:`RunListener`, called with the
        location of the log, the name of the data, and a function that
        shows a sentence.

    Examples
    --------
    >>> RunLog("words", "a file", "my_package.log:store", "my_package.log:WordLog").key
    'words'
    """

    key: str
    help: str
    store: str
    listener: str


class RunListener(Protocol):
    """Interface of a listener to a run, which logs it; an error of the listener must not end the run.

    Attributes
    ----------
    sealed : bool
        Whether the test part is sealed: then no result on it may be logged.

    Examples
    --------
    >>> class WordLog:
    ...     sealed = False
    ...
    ...     def __init__(self, store, data_name, say):
    ...         self.file = open(store, "a")
    ...
    ...     def follow(self, event):
    ...         print(type(event).__name__, file=self.file)
    ...
    ...     def finish(self, result, refitted=None, *, stopped):
    ...         self.file.close()
    ...
    ...     def fail(self):
    ...         self.file.close()
    """

    sealed: bool

    def follow(self, event: Any) -> None:
        """Log an event of the run."""
        ...

    def finish(
        self, result: Any, refitted: Path | None = None, *, stopped: bool
    ) -> None:
        """Log the result of a run, and the file of the model learned from all documents, if any.

        ``refitted`` is the path of this file, or None. ``stopped`` is
        whether the run was stopped.
        """
        ...

    def fail(self) -> None:
        """Log that the run ended by an error."""
        ...


def run_logs() -> dict[str, RunLog]:
    """Return the programs in which runs can be logged, such as MLflow, by key.

    Programs that plug-ins add, but that cannot be used, are left out
    with a warning.
    """
    # Texts of the warnings.
    exists = tr("A log with the key {key} exists already. Choose another key.")
    unusable = tr("A log of the plug-in {name} cannot be used: {reason}")
    return {
        entry.key: entry
        for _, entry in entries_of("run_logs", _refuse_invalid, exists, unusable)
    }


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for an entry that is no RunLog, or has an invalid key or reference."""
    if not isinstance(entry, RunLog):
        raise PlanError(
            tr("expected a RunLog, got {value}.").format(value=shown(entry))
        )
    if not isinstance(entry.key, str) or not _KEY.fullmatch(entry.key):
        text = tr("key: expected lower-case letters, digits and hyphens, got {key}.")
        raise PlanError(text.format(key=shown(entry.key)))
    for reference in (entry.store, entry.listener):
        if not isinstance(reference, str) or not _MODULE_AND_NAME.fullmatch(reference):
            text = tr('{key}: expected "module:name", got {place}.')
            raise PlanError(text.format(key=entry.key, place=shown(reference)))
