"""Descriptions of files with pairs of documents: plug-ins read them, and runs learn from them, not labels."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.origin import Origin, OriginKind

_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class PairSource:
    """A kind of files with pairs of documents, preferences from which runs learn.

    All functions are given as ``"module:function"``.

    Attributes
    ----------
    key : str
        Key of the kind.
    recognise : str
        Takes a path, and returns whether it is a file of this kind.
    settings : str
        Takes the plain values of a plan's preferences other than path
        and checksum, and returns these values in canonical form; raises
        ParameterError for wrong values.
    check : str
        Takes a plan and its data, and raises a DataError if the pairs
        do not fit the data.
    pairs : str
        Takes a plan and a fold, and returns the `Preferences` of the
        training part of the fold.
    note : str
        Takes a plan, and returns a note on its pairs to be shown before
        a run; "" for none.
    add_options : str
        Takes a parser of arguments, and adds the options of the
        terminal that name a file of pairs.
    told : str
        Takes the parsed options, and returns the plain values of a
        plan; None if the options name no file.
    """

    key: str
    recognise: str
    settings: str
    check: str
    pairs: str
    note: str
    add_options: str
    told: str


def pair_source() -> PairSource | None:
    """Return the code that reads files of pairs of documents to learn from.

    Such pairs are preferences. The result is from the first plug-in
    that reads such files; None without one.
    """
    # Texts of the warnings about unusable entries.
    exists = tr(
        "Files of pairs with the key {key} are read already. Choose another key."
    )
    unusable = tr("Files of pairs of the plug-in {name} cannot be used: {reason}")
    entries = entries_of("pair_sources", _refuse_invalid, exists, unusable)
    return next((entry for _, entry in entries), None)


def needed_pair_source() -> PairSource:
    """Return the kind of files of pairs that runs learn from.

    Raises
    ------
    PlanError
        If no plug-in reads such files.
    """
    source = pair_source()
    if source is None:
        raise PlanError(AbsentPairSource().lacking)
    return source


@dataclass(frozen=True)
class AbsentPairSource:
    """Stands for the plug-in that reads pairs if this plug-in is absent."""

    @property
    def origin(self) -> Origin:
        """The absent plug-in."""
        return Origin(OriginKind.ABILITY, "preferences", "", present=False)

    @property
    def lacking(self) -> str:
        """Reason why a plan with preferences cannot run, as a sentence."""
        return tr("Learning from preferences {lacking}").format(
            lacking=self.origin.lacking
        )


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for an entry of a plug-in that is no valid PairSource.

    The functions of a valid entry are named as "module:name".
    """
    if not isinstance(entry, PairSource):
        raise PlanError(
            tr("expected a PairSource, got {value}.").format(value=shown(entry))
        )
    functions = (
        entry.recognise,
        entry.settings,
        entry.check,
        entry.pairs,
        entry.note,
        entry.add_options,
        entry.told,
    )
    for function in functions:
        if not isinstance(function, str) or not _MODULE_AND_NAME.fullmatch(function):
            text = tr('{key}: expected "module:name", got {place}.')
            raise PlanError(text.format(key=shown(entry.key), place=shown(function)))
