"""A measure that is not RankStudio's own, as data: its names, and the function that computes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any

from rankstudio.engine.errors import PlanError, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.guard import PRINTED_TO_STDERR, failure
from rankstudio.engine.plugins.origin import Origin, OriginKind

CUTOFFS = ("none", "optional", "needed")
"""Whether the name of a measure has a cut-off, as the 10 in RBP2@10."""

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_MAX_LENGTHS = {"label": 80, "summary": 1000, "convention": 200, "per_query": 32}


@dataclass(frozen=True)
class MeasureEntry:
    """A measure of one query, computed by a Python function.

    The function gets the relevance labels of a query as a read-only
    float64 array of shape (n,), from the first rank down, and returns a
    number. Besides them it may take by name:

    - ``cutoff``: the k of ``NAME@k`` as an int, None for all documents;
    - ``convention``: the :class:`Convention` of the numbers, with the greatest grade of the data;
    - ``ties``: a tuple of the numbers of consecutive documents with one score; they add up to n.

    Documents with equal scores are in the order of the convention, as
    for the built-in measures. If the convention averages over all
    orders of equal scores, the value is the mean of the function over
    the different orders of labels (over 720 drawn ones, always the
    same, if there are more), unless the function takes ``ties`` and
    treats equal scores itself.

    The function is called once per query and ranking, also on several
    threads and in other processes. The function must return the same
    number for the same arguments. The value of a part is the mean over
    its queries.

    Attributes
    ----------
    key : str
        Name that people type, and that plans and studies store:
        letters, digits, hyphens and underscores. Case is ignored. Names
        of built-in measures are refused, those of ir-measures included.
    label : str
        Name in words.
    function : str
        ``"module:name"`` of the function, imported at first use.
    summary : str
        Definition in a sentence.
    convention : str
        Definition that the values follow, for instance "Moffat and
        Zobel 2008". This definition is shown wherever the convention of
        a number is shown. By default it is the convention of the
        built-in measures, which the function must then follow.
    cutoff : {"none", "optional", "needed"}
        Whether the name has a cut-off.
    higher_is_better : bool
    low, high : float
        Least and greatest value; values outside this range are refused.
    per_query : str
        Name of the value of one query; by default the key.
    origin : Origin, optional
        Package or file that the measure comes from. The loader of plug-ins sets it.

    Examples
    --------
    >>> from rankstudio.api import Measure
    >>> entry = Measure(key="FirstRank", label="Rank of the first relevant document", function="mine:first")
    >>> entry.cutoff
    'none'
    """

    key: str
    label: str
    function: str
    summary: str = ""
    convention: str = ""
    cutoff: str = "none"
    higher_is_better: bool = True
    low: float = -inf
    high: float = inf
    per_query: str = ""
    origin: Origin | None = None

    @property
    def package(self) -> str:
        """Name of the package whose plug-in has the measure; "" for other measures."""
        is_packaged = self.origin is not None and self.origin.kind is OriginKind.PACKAGE
        return self.origin.name if self.origin is not None and is_packaged else ""

    @property
    def lacking(self) -> str:
        """Reason why the measure cannot be computed, as a sentence; "" if it can.

        A measure that is only described by a study lacks its package or file.
        """
        # The reason of the origin is a sentence without a subject, such
        # as "needs the file …"; "" if the package or file is present.
        if (
            self.origin is not None
            and self.origin.lacking
            and self.origin.kind is OriginKind.FILE
        ):
            text = tr(
                "{name} needs the function of the file {file}. Name it again, as in --measures {place}."
            )
            # The key ends with "-" and the beginning of the file's checksum.
            function = self.key.rpartition("-")[0]
            reference = f"{self.origin.name}:{function}"
            return text.format(name=self.key, file=self.origin.text, place=reference)
        if self.origin is not None and self.origin.lacking:
            return f"{self.key} {self.origin.lacking}"
        return ""

    def load(self) -> Any:
        """Import and return the function that computes the measure of a query.

        Raises
        ------
        PlanError
            If the package of the function is absent, or the function
            cannot be imported.
        """
        if self.lacking:
            raise PlanError(self.lacking)
        module, _, name = self.function.partition(":")  # "module:name"
        try:
            # What the package prints goes to standard error.
            with PRINTED_TO_STDERR:
                function = getattr(import_module(module), name)
        except (KeyboardInterrupt, MemoryError):
            raise
        except (
            BaseException
        ) as error:  # a foreign package may raise anything while it is imported
            text = tr("The measure {name} cannot be imported: {error}.")
            raise PlanError(text.format(name=self.key, error=failure(error))) from error
        if not callable(function):
            text = tr("The measure {name} is no function, but {value}.")
            raise PlanError(text.format(name=self.key, value=shown(function)))
        return function


def refuse_invalid_measure(entry: object) -> None:
    """Raise a PlanError for an entry that menus, help and studies could not show.

    Parameters
    ----------
    entry : object
        Object that a plug-in or a program passes as a :class:`MeasureEntry`.
    """
    if not isinstance(entry, MeasureEntry):
        raise PlanError(
            tr("expected a Measure, got {value}.").format(value=shown(entry))
        )
    if not isinstance(entry.key, str) or not _KEY.fullmatch(entry.key):
        text = tr(
            "key: expected a letter, then at most 31 letters, digits, hyphens and underscores, got {key}."
        )
        raise PlanError(text.format(key=shown(entry.key)))
    # Every text has to fit into one line.
    for name, max_length in _MAX_LENGTHS.items():
        value = getattr(entry, name)
        is_line = (
            isinstance(value, str)
            and len(value) <= max_length
            and one_line(value) == value
        )
        if not is_line:
            text = tr(
                "{key}: {field}: expected a line of at most {most} characters, got {value}."
            )
            raise PlanError(
                text.format(
                    key=entry.key, field=name, most=max_length, value=shown(value)
                )
            )
    if not entry.label.strip():
        raise PlanError(tr("{key}: the label is empty.").format(key=entry.key))
    # The values that are not texts.
    if entry.cutoff not in CUTOFFS:
        text = tr("{key}: cutoff: expected one of {expected}, got {value}.")
        raise PlanError(
            text.format(
                key=entry.key, expected=", ".join(CUTOFFS), value=shown(entry.cutoff)
            )
        )
    if type(entry.higher_is_better) is not bool or not _is_range(entry.low, entry.high):
        text = tr(
            "{key}: expected true or false for higher_is_better, and a low below high."
        )
        raise PlanError(text.format(key=entry.key))
    # The function has a name, unless the entry itself has the code.
    is_local = entry.origin is not None and not entry.function
    if not is_local and not (
        isinstance(entry.function, str) and _FUNCTION.fullmatch(entry.function)
    ):
        text = tr('{key}: function: expected "module:name", got {value}.')
        raise PlanError(text.format(key=entry.key, value=shown(entry.function)))


def _is_range(low: object, high: object) -> bool:
    """Return whether both are numbers, the first one less than the second."""
    if any(type(value) not in (int, float) for value in (low, high)):
        return False
    return bool(low < high)  # type: ignore[operator]
