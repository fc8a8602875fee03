"""The families of measures: RankStudio's own, from ``resources/metrics/measures.toml``, and foreign ones.

This module imports no compiled code: the window reads it when it starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from rankstudio.engine.metrics.measure_entry import MeasureEntry
from rankstudio.engine.support.resources import table

PAIRED = frozenset({"Disagreement", "StrictDisagreement", "Tau"})
"""Measures of all pairs of documents with different labels."""


class Cut(IntEnum):
    """Whether a measure's name has a cut-off, such as the 10 of NDCG@10."""

    NONE = 0
    OPTIONAL = 1
    NEEDED = 2


class Reads(StrEnum):
    """Information that a measure needs from a ranking.

    The kernel prepares only what some measure needs.
    """

    HITS = "hits"  # sums of relevant documents, and of precisions at them
    GAINS = "gains"  # sums of discounted gains
    ORDER = "order"  # labels with their ties, from rank to rank
    # the scores themselves: a ranking is not enough, and the kernel is not asked
    SCORES = "scores"


@dataclass(frozen=True)
class Family:
    """Measures that differ only in their cut-off.

    Attributes
    ----------
    kind : int
        Number by which the kernels know the family: its position in
        ``resources/metrics/measures.toml``.
    name : str
        Name: "NDCG".
    label : str
        In words.
    cut : Cut
    reads : frozenset of Reads
    help : str
        Description in a sentence; ``{first}`` stands for "the first k
        documents" or "all documents".
    higher_is_better : bool
    per_query : str
        Name of the value of one query, if ``name`` means the mean over
        queries: "AP" for "MAP"; "" if both have the same name.
    binary : bool
        Whether the measure distinguishes only relevant documents and
        others, so that ``rel`` may be given.
    persistence : float, optional
        Usual probability that a reader goes on to the next document, if
        the name may have ``p``.
    aliases : tuple of str
        Other names, such as those of ir-measures.
    entry : MeasureEntry, optional
        Entry of a measure that is not RankStudio's own: a function
        computes it, and no kernel knows it.
    """

    kind: int
    name: str
    label: str
    cut: Cut
    reads: frozenset[Reads]
    help: str
    higher_is_better: bool = True
    per_query: str = ""
    binary: bool = False
    persistence: float | None = None
    aliases: tuple[str, ...] = ()
    entry: MeasureEntry | None = None


def _parsed_family(kind: int, name: str, values: Mapping[str, Any]) -> Family:
    """Return the family of measures that the values of a file describe; ``kind`` is its number in the kernels."""
    cut = Cut[values["cut"].upper()]
    reads = frozenset(map(Reads, values["reads"]))
    aliases = tuple(values.get("aliases", ()))
    # Enumerations and tuples replace the words and lists of the file.
    return Family(
        kind, name, **{**values, "cut": cut, "reads": reads, "aliases": aliases}
    )


FAMILIES: tuple[Family, ...] = tuple(
    _parsed_family(kind, name, values)
    for kind, (name, values) in enumerate(table("metrics", "measures.toml").items())
)

BY_NAME = {
    name.lower(): family
    for family in FAMILIES
    for name in (family.name, *family.aliases)
}
"""RankStudio's own families by all their names in lower case."""


def kind_of(name: str) -> int:
    """Return the number by which the kernels know the measures of a family."""
    return next(family.kind for family in FAMILIES if family.name == name)


NO_KIND = -1
"""Kind of a family that no kernel knows, because its measures are not RankStudio's own."""

_CUTS = {"none": Cut.NONE, "optional": Cut.OPTIONAL, "needed": Cut.NEEDED}


def family_of(entry: MeasureEntry) -> Family:
    """Return the family of measures, one per cut-off, of an entry of a plug-in or a file."""
    # The kernels do not compute it, and read nothing for it. The help
    # is a template for str.format, in which braces of the text are
    # doubled.
    return Family(
        kind=NO_KIND,
        name=entry.key,
        label=entry.label,
        cut=_CUTS[entry.cutoff],
        reads=frozenset(),
        help=entry.summary.replace("{", "{{").replace("}", "}}"),
        higher_is_better=entry.higher_is_better,
        per_query=entry.per_query,
        entry=entry,
    )
