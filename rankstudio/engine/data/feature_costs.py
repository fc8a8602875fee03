"""Costs of features at query time: milliseconds per document and per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum, inf
from typing import Any, Self

from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.frozen_mapping import FrozenMapping

# Price of a feature that costs nothing, as a share of the cheapest
# other one: a gain is divided by it.
_SHARE_OF_CHEAPEST = 1e-3
_MAX_MILLISECONDS = 1e12  # some thirty years; sums of such numbers stay finite
_EXPECTED = translatable(
    "documents, the mean number per query, and features, a list of [id, per document, per query] in "
    "milliseconds from 0 up"
)


@dataclass(frozen=True)
class FeatureCosts:
    """Milliseconds that a search engine needs to compute features.

    A feature costs something once per query, such as opening an index,
    and something for each document.

    Attributes
    ----------
    features : tuple of (int, float, float)
        1-based id, milliseconds per document and milliseconds per
        query, by ascending id.
    documents : float
        Mean number of documents per query, greater than 0.
    source : str
        Name of the source of the costs, such as a file, for messages.
    """

    features: tuple[tuple[int, float, float], ...]
    documents: float
    source: str = field(default="", compare=False)

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return costs from plain values, such as those of a plan.

        Plain values are a mapping with ``documents``, the mean number
        of documents per query, and ``features``, a list of (id,
        milliseconds per document, milliseconds per query).

        Raises
        ------
        ParameterError
            If the values do not have this form.
        """
        try:
            documents = milliseconds_of(values["documents"])
            features = sorted(
                (
                    _checked_id(i),
                    milliseconds_of(per_document),
                    milliseconds_of(per_query),
                )
                for i, per_document, per_query in values["features"]
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ParameterError("costs", values, tr(_EXPECTED)) from None
        # There must be features and documents, and no other keys.
        has_unique_ids = len({i for i, _, _ in features}) == len(features)
        if (
            not features
            or not has_unique_ids
            or documents == 0
            or set(values) != {"documents", "features"}
        ):
            raise ParameterError("costs", values, tr(_EXPECTED))
        return cls(tuple(features), documents)

    def plain(self) -> FrozenMapping[str, Any]:
        """Return the costs as a plan contains them."""
        return FrozenMapping({"documents": self.documents, "features": self.features})

    @cached_property
    def per_document(self) -> Mapping[int, float]:
        """Milliseconds per document, by 1-based id."""
        return {i: milliseconds for i, milliseconds, _ in self.features}

    @cached_property
    def per_query(self) -> Mapping[int, float]:
        """Milliseconds per query, by 1-based id."""
        return {i: milliseconds for i, _, milliseconds in self.features}

    def milliseconds(
        self, features: Iterable[int], documents: float | None = None
    ) -> float:
        """Return the total milliseconds per query of some features.

        ``features`` are 1-based ids, ``documents`` is the number of
        documents of the query; by default it is the mean number.

        Raises
        ------
        DatasetError
            For a feature without a cost.
        """
        ids = list(features)
        m = self.documents if documents is None else documents
        missing = next((i for i in ids if i not in self.per_query), None)
        if missing is not None:
            text = tr(
                "Feature {feature} has no cost. Import costs of all features of the data."
            )
            raise DatasetError(text.format(feature=missing))
        return fsum(self.per_query[i] + m * self.per_document[i] for i in ids)

    def prices(self) -> dict[int, float]:
        """Return the milliseconds per query of each feature by id, all greater than 0.

        A selection of features divides by these numbers. So a feature
        that costs nothing has a thousandth of the cost of the cheapest
        other feature.
        """
        cost_of_feature = {i: self.milliseconds([i]) for i, _, _ in self.features}
        least = min(
            (cost for cost in cost_of_feature.values() if cost > 0), default=1.0
        )
        return {
            i: cost or least * _SHARE_OF_CHEAPEST for i, cost in cost_of_feature.items()
        }

    def text(self) -> str:
        """Return the costs in one line: "documents: 20.5; 12: 0.002 + 0.1; 13: 0.0 + 0.3"."""
        features = [
            f"{i}: {per_document!r} + {per_query!r}"
            for i, per_document, per_query in self.features
        ]
        return "; ".join([f"documents: {self.documents!r}", *features])

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Return the costs in a text such as "documents: 20; 12: 0.002 + 0.1".

        The text has the mean number of documents per query, then for
        each feature the id and the milliseconds per document and per
        query. Raise ParameterError for other text.
        """
        # Each item is (text before the colon, colon, text after it).
        (first_name, _, documents), *items = (
            item.partition(":") for item in text.split(";")
        )
        try:
            if first_name.strip() != "documents":
                raise ValueError("expected the number of documents")
            costs = [(int(feature), *item.split("+")) for feature, _, item in items]
            return cls.of({"documents": documents, "features": costs})
        except (ValueError, ParameterError):
            raise ParameterError(
                "costs",
                text,
                tr(
                    "a file, or costs such as documents: 20; 12: 0.002 + 0.1; 13: 0.01 + 0"
                ),
            ) from None


def milliseconds_of(value: Any) -> float:
    """Return a number of milliseconds from 0 up, from a number or its text.

    Raise ValueError, TypeError or OverflowError for anything else.
    """
    if isinstance(value, bool):
        raise TypeError("expected a number")
    number = float(value)
    if not 0 <= number <= _MAX_MILLISECONDS:
        raise ValueError("expected a number from 0 up")
    return abs(number)  # makes -0.0, which passes the check, 0.0


def _checked_id(value: Any) -> int:
    """Return the id of a feature; raise ValueError for another value."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < inf:
        raise ValueError("expected the id of a feature")
    return value
