"""The measures by name: which there are, what they mean, and whether higher is better.

The names of ir-measures are read, too: ``AP``, ``nDCG@10``, ``R@5``,
``Rprec``, ``P(rel=2)@10``.

This module imports no compiled code: the window reads it when it starts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from rankstudio.engine.errors import ParameterError, nearest
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.families import (
    BY_NAME,
    FAMILIES,
    Cut,
    Family,
    Reads,
    family_of,
)
from rankstudio.engine.metrics.measure_entry import MeasureEntry
from rankstudio.engine.metrics.measure_registry import MEASURES

T = TypeVar("T")


@dataclass(frozen=True)
class Measure:
    """One measure of rankings: a family, such as NDCG, with a cut-off and parameters.

    Attributes
    ----------
    family : Family
    cut : int or None
        The cut-off k; None for all documents.
    relevant_from : float, optional
        Smallest relevant label; by default that of the convention.
    persistence : float, optional
        Probability that a reader goes on to the next document; by
        default that of the family.
    """

    family: Family
    cut: int | None = None
    relevant_from: float | None = None
    persistence: float | None = None

    @property
    def name(self) -> str:
        """The canonical name: "NDCG@10", "P(rel=2)@10"."""
        return self._named(self.family.name)

    @property
    def per_query_name(self) -> str:
        """The name of the value in one query: "AP@10" for "MAP@10"."""
        return self._named(self.family.per_query or self.family.name)

    @property
    def label(self) -> str:
        """Name in words, for titles: "Precision of the first 10 documents"."""
        documents = "" if self.cut is None else f" of {self._documents}"
        return f"{self.family.label}{self._parameters}{documents}"

    @property
    def help(self) -> str:
        """Description of the measure in a sentence."""
        return self.family.help.format(first=self._documents)

    @property
    def kind(self) -> int:
        """Kind of the measure, the number that the kernels know it by."""
        return self.family.kind

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values are better."""
        return self.family.higher_is_better

    @property
    def by_rank(self) -> bool:
        """Whether the ranking determines the measure; otherwise it needs the scores."""
        return Reads.SCORES not in self.family.reads

    @property
    def foreign(self) -> bool:
        """Whether a foreign function computes the measure, which takes longer than the kernels."""
        return self.family.entry is not None

    @property
    def _documents(self) -> str:
        """The documents that are measured: "all documents", "the first 10 documents"."""
        if self.cut is None:
            return "all documents"
        return (
            "the first document" if self.cut == 1 else f"the first {self.cut} documents"
        )

    @property
    def _parameters(self) -> str:
        """The parameters that differ from the usual ones, as ir-measures writes them, such as "(p=0.9,rel=2)".

        The text is "" if there are none.
        """
        values = []
        if self.persistence is not None:
            values.append(f"p={self.persistence:.12g}")
        if self.relevant_from is not None:
            values.append(f"rel={self.relevant_from:.12g}")
        return f"({','.join(values)})" if values else ""

    def _named(self, family: str) -> str:
        """Return the name with this name of the family."""
        cut = "" if self.cut is None else f"@{self.cut}"
        return f"{family}{self._parameters}{cut}"

    def __str__(self) -> str:
        return self.name


LETOR_MEASURES: tuple[str, ...] = (
    *(f"NDCG@{k}" for k in range(1, 11)),
    "MeanNDCG",
    *(f"P@{k}" for k in range(1, 11)),
    "MAP",
)
"""Measures that LETOR's script prints, in its order."""

_NAME = re.compile(r"([a-z][a-z0-9_-]*)(?:\(([^()]*)\))?(?:@([0-9]{1,9}))?")
# of the letters of two names; some names have two or three letters
_MIN_SIMILARITY = 0.6
_CUT = re.compile(r"[1-9][0-9]{0,8}")
_SEPARATOR = re.compile(r",(?![^()]*\))")
_FORMS = {Cut.NONE: ("{}",), Cut.OPTIONAL: ("{}", "{}@k"), Cut.NEEDED: ("{}@k",)}


def measure(name: str | Measure) -> Measure:
    """Return a measure by its name, ignoring case: ``measure("ndcg@10").name == "NDCG@10"``.

    Names of ir-measures are read, too: ``measure("AP(rel=2)").name == "MAP(rel=2)"``.

    Raises
    ------
    ParameterError
        For an unknown name; the message lists the measures.

    Examples
    --------
    >>> from rankstudio.api import find_measure
    >>> find_measure("ndcg@10").name
    'NDCG@10'
    """
    if isinstance(name, Measure):
        return name
    # A name has a family, perhaps parameters, perhaps a cutoff.
    match = _NAME.fullmatch(name.strip().lower()) if isinstance(name, str) else None
    family = _family(match[1]) if match is not None else None
    if match is None or family is None:
        suggestion = _similar_name(name)
        expected = tr("the name of a measure") if suggestion else _expected_names()
        raise ParameterError("measure", name, expected, suggestion)
    # The cutoff is at least 1. A family has always a cutoff, never, or optionally.
    _, parameters_text, cut_text = match.groups()
    cut = None if cut_text is None else int(cut_text)
    # `fitting_rule` is the stricter of the two rules that a name with
    # this cutoff, or without one, satisfies; OPTIONAL is the other.
    fitting_rule = Cut.NONE if cut is None else Cut.NEEDED
    if cut == 0 or family.cut not in (Cut.OPTIONAL, fitting_rule):
        raise ParameterError("measure", name, _expected_names())
    # The usual persistence of the family is stored as None, so that two
    # names of the same measure are equal.
    parameters = _parameters(name, family, parameters_text)
    persistence = parameters.get("p")
    if persistence == family.persistence:
        persistence = None
    return Measure(
        family, cut, relevant_from=parameters.get("rel"), persistence=persistence
    )


def _family(name: str) -> Family | None:
    """Return a family by its name in lower case, RankStudio's own first.

    Return None if there is none.
    """
    if name in BY_NAME:
        return BY_NAME[name]
    entry = MEASURES.find(name)
    return None if entry is None else family_of(entry)


def families() -> tuple[Family, ...]:
    """Return all families of measures that can be chosen: RankStudio's own, then foreign ones."""
    return (*FAMILIES, *map(family_of, MEASURES.entries()))


def foreign_entries(names: Iterable[str | Measure]) -> tuple[MeasureEntry, ...]:
    """Return the entries of those measures that are not RankStudio's own, each once.

    Raises
    ------
    ParameterError
        For an unknown name.
    """
    entries = dict.fromkeys(measure(name).family.entry for name in names)
    return tuple(entry for entry in entries if entry is not None)


def computable(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the measures whose code is installed."""
    return tuple(name for name in names if not missing_requirement(name))


def missing_requirement(name: str) -> str:
    """Return the sentence on what is missing to compute a measure.

    Return "" if nothing is missing.
    """
    entry = measure(name).family.entry
    return "" if entry is None else entry.lacking


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list: a comma in parentheses belongs to a name."""
    return tuple(name for name in map(str.strip, _SEPARATOR.split(text)) if name)


class ByMeasure(dict[str, T]):
    """Values by the name of their measure.

    Another name of the same measure gives the same value.
    """

    def __missing__(self, name: str) -> T:
        """Return the value of the same measure under another name; else KeyError."""
        canonical = _canonical(name)
        for spelled, value in self.items():
            if canonical is not None and _canonical(spelled) == canonical:
                return value
        raise KeyError(name)


def _canonical(name: object) -> str | None:
    """Return the name of a measure in its usual spelling; None for a name of anything else."""
    if not isinstance(name, str):
        return None
    try:
        return measure(name).name
    except ParameterError:
        return None


def _similar_name(name: object) -> str:
    """Return the name of the measure most similar to a wrong name.

    Return "" if none is similar.
    """
    word, _, cut_text = (
        name.strip().partition("@") if isinstance(name, str) else ("", "", "")
    )
    # Names and aliases of built-in families, then the names of all
    # families. A name in both has the same family, so the order does
    # not matter.
    family_of_name = {
        **BY_NAME,
        **{family.name.lower(): family for family in families()},
    }
    similar_name = nearest(word, family_of_name, _MIN_SIMILARITY)
    # A family with exactly this name is no suggestion: the rest of the name is wrong.
    if not similar_name or similar_name == word.lower():
        return ""
    # The cut-off of the wrong name, if the family may have one.
    family = family_of_name[similar_name]
    cut = f"@{cut_text}" if _CUT.fullmatch(cut_text) else ""
    return (
        family.name
        + {Cut.NONE: "", Cut.OPTIONAL: cut, Cut.NEEDED: cut or "@10"}[family.cut]
    )


def _parameters(name: str, family: Family, text: str | None) -> dict[str, float]:
    """Parse the text in the parentheses of a measure's name, such as "p=0.9,rel=2": numbers by key.

    None gives {}. Raise ParameterError, which shows the whole ``name``,
    for a key that the family does not have, or anything else.
    """
    if text is None:
        return {}
    values: dict[str, float] = {}
    for entry in text.split(","):
        key, _, number = entry.replace(" ", "").partition("=")
        if (
            key in values
            or key not in _parameter_keys(family)
            or not _is_parameter(key, number)
        ):
            raise ParameterError("measure", name, _expected_parameters(family))
        values[key] = float(number)
    return values


def _is_parameter(key: str, written: str) -> bool:
    """Return whether a text is a number, for "p" between 0 and 1, for "rel" above 0.

    ``key`` is one of these two, and ``written`` the text.
    """
    try:
        value = float(written)
    except ValueError:
        return False
    return 0.0 < value < 1.0 if key == "p" else 0.0 < value < math.inf


def _parameter_keys(family: Family) -> tuple[str, ...]:
    """Return the keys of the parameters that a family's measures may have in parentheses."""
    persistence = () if family.persistence is None else ("p",)
    return (*persistence, "rel") if family.binary else persistence


def _expected_parameters(family: Family) -> str:
    """Return the form that is expected in the parentheses of a measure of this family, for an error."""
    meanings = {
        "p": tr("p, a number between 0 and 1"),
        "rel": tr("rel, the smallest relevant label, above 0"),
    }
    keys = [meanings[key] for key in _parameter_keys(family)]
    if not keys:
        return tr("{measure} without parentheses").format(measure=family.name)
    return tr("in parentheses {keys}, as in P(rel=2)@10").format(keys="; ".join(keys))


def per_query_name(name: str) -> str:
    """Return the name of the value of one query: "AP" for "MAP"."""
    return measure(name).per_query_name


def _expected_names() -> str:
    """Return the forms that are expected as the name of a measure, such as "NDCG@k", for an error."""
    forms = ", ".join(
        form.format(family.name) for family in families() for form in _FORMS[family.cut]
    )
    return tr("one of {forms}, where k is a whole number of at least 1").format(
        forms=forms
    )


ONE_RANKING_MEASURES = ("AUC", "Disagreement", "MAP", "NDCG@10")
"""Default measures if all documents are one ranking."""

_OFFERED_CUTS: dict[str, tuple[int | None, ...]] = {
    "P": (1, 5, 10),
    "NDCG": (1, 3, 5, 10, None),
    "ERR": (None, 10),
}


def _offered_names(families: Iterable[Family]) -> tuple[str, ...]:
    """Return the names of the measures that menus offer, with some usual cut-offs of each family.

    A family without usual ones has the cut-off 10 if it needs one, otherwise none.
    """
    return tuple(
        Measure(family, cut).name
        for family in families
        # "Judged" is 1 for every ranking if all documents are judged, as in most data.
        if family.name != "Judged"
        for cut in _OFFERED_CUTS.get(
            family.name, (10 if family.cut is Cut.NEEDED else None,)
        )
    )


OFFERED = _offered_names(FAMILIES)
"""RankStudio's own measures that are always offered, with usual cut-offs k if they have one."""


def offered() -> tuple[str, ...]:
    """Return the names of the measures that menus offer, with usual cut-offs.

    Those of plug-ins and files, which take longer, are at the end.
    """
    return (*OFFERED, *_offered_names(map(family_of, MEASURES.entries())))
