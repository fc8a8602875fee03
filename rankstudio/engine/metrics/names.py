"""The measures by name: what there is, what it means and which way is better.

This module imports no compiled code: the window reads it when it starts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support.resources import table

PAIRED = frozenset({"Disagreement", "StrictDisagreement", "Tau"})
"""Measures of all pairs of documents with different labels."""


class Cut(IntEnum):
    """Whether a measure's name has a cut-off, such as the 10 of NDCG@10."""

    NONE = 0
    OPTIONAL = 1
    NEEDED = 2


class Reads(StrEnum):
    """Information that a measure needs from a ranking; the kernel prepares only what some measure needs."""

    HITS = "hits"  # sums of relevant documents, and of precisions at them
    GAINS = "gains"  # sums of discounted gains
    ORDER = "order"  # labels with their ties, from rank to rank
    SCORES = "scores"  # the scores themselves: a ranking is not enough, and the kernel is not asked


@dataclass(frozen=True)
class Family:
    """Measures that differ only in their cut-off.

    Attributes
    ----------
    kind : int
        The kernels know it by this number: its place in ``resources/metrics/measures.toml``.
    name : str
        Name: "NDCG".
    label : str
        In words.
    cut : Cut
    reads : frozenset of Reads
    help : str
        Description in a sentence; ``{first}`` stands for "the first k documents" or "all documents".
    higher_is_better : bool
    per_query : str
        Name of the value of one query, where ``name`` is that of the mean over queries: "AP" for "MAP"; ""
        where both have one name.
    """

    kind: int
    name: str
    label: str
    cut: Cut
    reads: frozenset[Reads]
    help: str
    higher_is_better: bool = True
    per_query: str = ""


def _family(kind: int, name: str, values: Mapping[str, Any]) -> Family:
    cut, reads = Cut[values["cut"].upper()], frozenset(map(Reads, values["reads"]))
    return Family(kind, name, **{**values, "cut": cut, "reads": reads})


FAMILIES: tuple[Family, ...] = tuple(
    _family(kind, name, values)
    for kind, (name, values) in enumerate(table("metrics", "measures.toml").items())
)


def kind_of(name: str) -> int:
    """Return the number by which the kernels know the measures of a family."""
    return next(family.kind for family in FAMILIES if family.name == name)


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes
    ----------
    family : Family
    cut : int or None
        The cut-off k; None for all documents.
    """

    family: Family
    cut: int | None = None

    @property
    def name(self) -> str:
        """The canonical name: "NDCG@10"."""
        return self.family.name if self.cut is None else f"{self.family.name}@{self.cut}"

    @property
    def per_query_name(self) -> str:
        """The name of its value in one query: "AP@10" of "MAP@10"."""
        family = self.family.per_query or self.family.name
        return family if self.cut is None else f"{family}@{self.cut}"

    @property
    def label(self) -> str:
        """Name in words, for titles: "Precision of the first 10 documents"."""
        return self.family.label if self.cut is None else f"{self.family.label} of {self._first}"

    @property
    def help(self) -> str:
        """Description in a sentence."""
        return self.family.help.format(first=self._first)

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
    def _first(self) -> str:
        if self.cut is None:
            return "all documents"
        return "the first document" if self.cut == 1 else f"the first {self.cut} documents"

    def __str__(self) -> str:
        return self.name


LETOR_MEASURES: tuple[str, ...] = (
    *(f"NDCG@{k}" for k in range(1, 11)),
    "MeanNDCG",
    *(f"P@{k}" for k in range(1, 11)),
    "MAP",
)
"""What LETOR's script prints, in its order."""

_NAME = re.compile(r"([a-z]+)(?:@([0-9]{1,9}))?")
_FORMS = {Cut.NONE: ("{}",), Cut.OPTIONAL: ("{}", "{}@k"), Cut.NEEDED: ("{}@k",)}
_FAMILY_FORMS = ", ".join(form.format(f.name) for f in FAMILIES for form in _FORMS[f.cut])


def measure(name: str | Measure) -> Measure:
    """Return a measure by its name, ignoring case: ``measure("ndcg@10").name == "NDCG@10"``.

    Raises
    ------
    ParameterError
        For an unknown name; the message lists the measures.
    """
    if isinstance(name, Measure):
        return name
    match = _NAME.fullmatch(name.strip().lower()) if isinstance(name, str) else None
    if match is None:
        raise ParameterError("measure", name, _expected())
    family = next((f for f in FAMILIES if f.name.lower() == match[1]), None)
    cut = None if match[2] is None else int(match[2])
    if (
        family is None
        or cut == 0
        or family.cut not in (Cut.OPTIONAL, Cut.NONE if cut is None else Cut.NEEDED)
    ):
        raise ParameterError("measure", name, _expected())
    return Measure(family, cut)


def per_query_name(name: str) -> str:
    """Return what the value of one query is called: "AP" for "MAP"."""
    return measure(name).per_query_name


def _expected() -> str:
    return tr("one of {forms}, where k is a whole number of at least 1").format(forms=_FAMILY_FORMS)


ONE_RANKING_MEASURES = ("AUC", "Disagreement", "MAP", "NDCG@10")
"""What is measured at first where all documents are one ranking."""

_CUTS: dict[str, tuple[int | None, ...]] = {"P": (1, 5, 10), "NDCG": (1, 3, 5, 10, None), "ERR": (None, 10)}
OFFERED = tuple(
    Measure(family, cut).name
    for family in FAMILIES
    for cut in _CUTS.get(family.name, (10 if family.cut is Cut.NEEDED else None,))
)
"""Measures that are offered whatever a plan measures, with usual cut-offs k where they have one."""
