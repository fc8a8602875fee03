"""The conventions that measures follow, as data from ``resources/metrics/conventions.toml``.

Evaluation programs agree on the names MAP, P@k and NDCG@k and on little
else: on MQ2008, where half of the queries have fewer than ten
documents, the same ranking has an NDCG@10 of 0.228 by LETOR's script
and of 0.515 by most other programs. A number therefore always goes with
the convention it follows.

What each program does was observed by running it on small cases;
``tests/engine/metrics/test_observed.py`` holds the table to that. This
module imports no compiled code: the window reads it when it starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.grades import STANDARD
from rankstudio.engine.support.resources import table

DEFAULT = STANDARD
"""Key of the convention of data that are not recognised as a public dataset, and of plain arrays."""

USUAL = ""
"""Instead of a key: the usual convention of the data that a plan runs on."""


class Gain(Enum):
    """Gain of a document with label l in NDCG."""

    EXPONENTIAL = "2^l − 1"
    LINEAR = "l"


class Discount(Enum):
    """Divisor of the gain at rank i."""

    LETOR = "1 at ranks 1 and 2, then log2(i)"
    LOG = "log2(i + 1)"


class Short(IntEnum):
    """Treatment of a cut-off k in a query with n < k documents."""

    ZERO = 0  # the query counts 0
    FIXED = 1  # P@k divides by k all the same
    SHRINK = 2  # k becomes n


class Ties(Enum):
    """Order of documents with equal scores."""

    FILE = "in the order of the file"
    DOCUMENT_ID = "by document id, descending; without ids in reverse order of the file"
    AVERAGED = "averaged over all their orders"


@dataclass(frozen=True)
class Convention:
    """The rules by which a program computes the measures.

    In every convention, documents are *relevant* from the label
    ``relevant_from`` up, the gain of a negative label is 0 (as in
    trec_eval), and the disagreement error, which only compares labels,
    is the same. A query without a relevant document counts 0 in RR, ERR
    and Recall and is excluded from AUC, in which equal scores count one
    half.

    Attributes
    ----------
    key, label : str
        Key for plans and the terminal; label for users.
    summary : str
        Description in a sentence or two.
    source : str
        Programs with these rules.
    gain : Gain
    discount : Discount
    relevant_from : float
        Smallest relevant label for P@k, MAP, RR, Recall and AUC.
    empty_query : float
        NDCG of a query without a positive gain, and average precision
        of a query without a relevant document.
    short_ndcg : Short
        NDCG@k of a query with fewer than k documents: ZERO or SHRINK.
    short_precision : Short
        P@k of such a query: ZERO, FIXED or SHRINK.
    map_cut_divides_by_k : bool
        Whether MAP@k divides by min(R, k), where R is the number of
        relevant documents, or by R.
    ties : Ties
    greatest_grade : float
        Grade g with the gain 2^g in ERR, where a document with label l
        ends the search with probability (2^l − 1) / 2^g; 0 for the
        largest label of the dataset.

    Examples
    --------
    >>> from rankstudio.api import convention
    >>> standard = convention("standard")
    >>> standard.label, standard.relevant_from
    ('Standard', 1.0)
    """

    key: str
    label: str
    summary: str
    source: str
    gain: Gain
    discount: Discount
    relevant_from: float = 1.0
    empty_query: float = 0.0
    short_ndcg: Short = Short.SHRINK
    short_precision: Short = Short.FIXED
    map_cut_divides_by_k: bool = False
    ties: Ties = Ties.FILE
    greatest_grade: float = 0.0

    def gains(self, labels: Floats) -> Floats:
        """Return the gain of each label, in the shape of the labels.

        Return 0 for negative labels.
        """
        positive = np.maximum(labels, 0.0)
        return np.exp2(positive) - 1.0 if self.gain is Gain.EXPONENTIAL else positive

    def weights(self, n: int) -> Floats:
        """Return the weights of the ranks 1 … n in DCG, 1 / discount, shape (n,)."""
        ranks = np.arange(1, n + 1, dtype=np.float64)
        if self.discount is Discount.LETOR:
            return 1.0 / np.log2(np.maximum(ranks, 2.0))
        return 1.0 / np.log2(ranks + 1.0)

    def stop_chances(self, labels: Floats, greatest_grade: float) -> Floats:
        """Return the probability that a reader stops at each label, for ERR, in the shape of the labels.

        ``greatest_grade`` is the greatest label of the dataset; if the
        convention has a greatest grade, that grade is used. The grade
        is never the maximum of ``labels``, which may be those of a
        single query: the same grade has to count the same in all
        queries.
        """
        # (2^label - 1) / 2^greatest, without overflow.
        positive = np.maximum(labels, 0.0)
        greatest = self.greatest_grade or greatest_grade
        chances: Floats = np.minimum(
            np.exp2(positive - greatest) - np.exp2(-greatest), 1.0
        )
        return chances

    @property
    def objective(self) -> Convention:
        """The convention by which methods optimise and select: a query with fewer than k documents counts.

        If a query with fewer than k documents counted 0 for any
        ranking, nothing could be learned from it. In the result, k
        becomes the number of the query's documents. Everything else
        follows the convention.
        """
        ndcg, precision = (
            Short.SHRINK if rule is Short.ZERO else rule
            for rule in (self.short_ndcg, self.short_precision)
        )
        return replace(self, short_ndcg=ndcg, short_precision=precision)

    def min_documents(self, name: str) -> int:
        """Return the number of documents below which a query counts 0 in a measure; 0 if it always counts.

        Parameters
        ----------
        name : str
            Name of a measure, such as "NDCG@10".
        """
        # Only NDCG@k and P@k have a rule for queries with fewer than k documents.
        chosen = measure(name)
        rule = {"NDCG": self.short_ndcg, "P": self.short_precision}.get(
            chosen.family.name
        )
        if rule is not Short.ZERO:  # such a query does not count 0
            return 0
        return chosen.cut or 0  # a measure may have no cut-off k

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        """The convention as rows of a small table, for tooltips and help: aspect and rule."""
        short = {
            Short.ZERO: "the query counts as 0",
            Short.FIXED: "divides by k",
            Short.SHRINK: "k becomes the number of documents",
        }
        return (
            ("gain of label l", self.gain.value),
            ("discount at rank i", self.discount.value),
            (
                "relevant documents, except for NDCG and ERR",
                f"labels from {self.relevant_from:g} up",
            ),
            (
                "query without a relevant document",
                f"counts as {self.empty_query:g} in NDCG and MAP",
            ),
            ("NDCG@k with fewer than k documents", short[self.short_ndcg]),
            ("P@k with fewer than k documents", short[self.short_precision]),
            (
                "MAP@k divides by",
                "min(R, k)"
                if self.map_cut_divides_by_k
                else "R, the number of relevant documents",
            ),
            # 0 stands for the greatest grade of the dataset.
            (
                "highest grade in ERR",
                f"{self.greatest_grade:g}" if self.greatest_grade else "of the dataset",
            ),
            ("equal scores", self.ties.value),
        )


_ENUM_OF_FIELD: Mapping[str, type[Enum]] = {
    "gain": Gain,
    "discount": Discount,
    "short_ndcg": Short,
    "short_precision": Short,
    "ties": Ties,
}


def _parsed_convention(key: str, values: Mapping[str, Any]) -> Convention:
    """Return the convention whose fields a file has as ``values``, with words for members of enumerations.

    For example, the word "zero" is the member ``Short.ZERO``. ``key``
    becomes the key of the convention.
    """
    # Each of these fields has an enumeration, and its member by name.
    members = {
        name: kind[values[name].upper()]
        for name, kind in _ENUM_OF_FIELD.items()
        if name in values
    }
    # The members, which come last, replace their words in the file.
    return Convention(key=key, **{**values, **members})


CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        key: _parsed_convention(key, values)
        for key, values in table("metrics", "conventions.toml").items()
    }
)
"""The conventions by key."""


def convention(key: str) -> Convention:
    """Return a convention by its key; for :data:`USUAL` the convention of data that are not recognised.

    Raises
    ------
    ParameterError
        For an unknown key; the message lists the known keys.

    Examples
    --------
    >>> from rankstudio.api import convention
    >>> convention("letor4").key
    'letor4'
    """
    key = key or DEFAULT
    if key not in CONVENTIONS:
        raise ParameterError("convention", key, "one of " + ", ".join(CONVENTIONS))
    return CONVENTIONS[key]


def rules_text(key: str, names: Iterable[str]) -> str:
    """Return the text on the rules of measures: the convention's label, and the rules of plug-ins' measures.

    Parameters
    ----------
    key : str
        Key of the convention.
    names : iterable of str
        Names of the measures.

    Returns
    -------
    str
        "LETOR 4.0", or "LETOR 4.0 (RBP2: Moffat and Zobel 2008)".
    """
    # Each entry once, in the order of the names; built-in measures have none.
    entries = dict.fromkeys(measure(name).family.entry for name in names)
    exceptions = [
        f"{entry.key}: {entry.convention}"
        for entry in entries
        if entry is not None and entry.convention
    ]
    label = convention(key).label
    return f"{label} ({'; '.join(exceptions)})" if exceptions else label


def objective(key: str) -> Convention:
    """Return the variant of a convention by which methods optimise and select.

    In the variant, a query with fewer than k documents counts in a
    measure with the cut-off k: for it, k becomes the number of its
    documents. ``key`` is that of the convention.

    Examples
    --------
    >>> from rankstudio.api import objective
    >>> objective("letor4").short_ndcg.name
    'SHRINK'
    """
    return convention(key).objective
