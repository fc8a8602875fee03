"""Files of pairs of documents from which runs learn instead of labels, which plug-ins read, as data."""

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
    """Files of pairs of documents; all functions are given as ``"module:function"``.

    Attributes
    ----------
    key : str
    recognise : str
        Takes a path, and returns whether such pairs are there.
    settings : str
        Takes plain values of a plan besides path and checksum, and returns them in canonical form; raises
        ParameterError for wrong ones.
    check : str
        Takes a plan and its data, and raises a DataError where the pairs do not fit these.
    pairs : str
        Takes a plan and a fold, and returns the `Preferences` of its training part.
    note : str
        Takes a plan, and returns what to say of its pairs before a run, "" for nothing.
    add_options : str
        Takes a parser, and adds the options of the terminal that name a file.
    told : str
        Takes the parsed options, and returns the plain values of a plan; None if they name no file.
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
    """Return the files of pairs that runs learn from, the first of the plug-ins'; None without any."""
    exists = tr("Files of pairs with the key {key} are read already. Choose another key.")
    unusable = tr("Files of pairs of the plug-in {name} cannot be used: {reason}")
    entries = entries_of("pair_sources", _refuse_invalid, exists, unusable)
    return entries[0][1] if entries else None


def needed_pair_source() -> PairSource:
    """Return the files of pairs that runs learn from.

    Raises
    ------
    PlanError
        If no plug-in reads them.
    """
    source = pair_source()
    if source is None:
        raise PlanError(AbsentPairSource().lacking)
    return source


@dataclass(frozen=True)
class AbsentPairSource:
    """Stands for the plug-in that reads pairs, where it is absent."""

    @property
    def origin(self) -> Origin:
        """The absent plug-in."""
        return Origin(OriginKind.ABILITY, "preferences", "", present=False)

    @property
    def lacking(self) -> str:
        """Reason why such a plan cannot run, as a sentence."""
        return tr("Learning from preferences {lacking}").format(lacking=self.origin.lacking)


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for pairs that cannot be read."""
    if not isinstance(entry, PairSource):
        raise PlanError(tr("expected a PairSource, got {value}.").format(value=shown(entry)))
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
