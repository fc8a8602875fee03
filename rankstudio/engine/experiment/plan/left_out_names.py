"""Names of measures of queries that were left out of training.

Such a name has "leave-query-out" before that of the measure.

For data with a single query, pairs of documents are left out instead: "leave-pair-out
AUC".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.names import measure

PREFIX = "leave-query-out "
PAIR_PREFIX = "leave-pair-out "
PAIR_MEASURES = ("AUC", "Disagreement")
"""Measures of pairs of documents. Others need a whole ranking by one model."""

Value = TypeVar("Value")


def left_out_name(name: str, *, pairs: bool = False) -> str:
    """Return the name of a measure of left-out queries, or pairs: "leave-query-out MAP"."""
    return (PAIR_PREFIX if pairs else PREFIX) + name


def is_pair_out(name: str) -> bool:
    """Return whether a name is that of a measure of left-out pairs of documents."""
    return name.strip().lower().startswith(PAIR_PREFIX)


def is_left_out(name: str) -> bool:
    """Return whether a name is that of a measure of left-out queries or pairs."""
    return name.strip().lower().startswith((PREFIX, PAIR_PREFIX))


def plain_name(name: str) -> str:
    """Return the name of a measure without a prefix for left-out queries or pairs.

    For "leave-query-out MAP", and for "MAP" itself, it is "MAP".
    """
    if not is_left_out(name):
        return name
    return name.strip()[len(PAIR_PREFIX if is_pair_out(name) else PREFIX) :].strip()


def canonical_name(name: str) -> str:
    """Return the canonical name of a measure.

    For "Leave-Query-Out map" this is "leave-query-out MAP". The prefix
    says that the measure is one of left-out queries; another prefix
    stands for left-out pairs of documents. A prefix stays, and the
    measure behind it gets its usual spelling.

    Raises
    ------
    ParameterError
        For an unknown measure.
    """
    measure_name = measure(plain_name(name)).name
    if is_pair_out(name) and measure_name not in PAIR_MEASURES:
        raise ParameterError(
            "select_by", name, f"{PAIR_PREFIX}{' or '.join(PAIR_MEASURES)}"
        )
    return (
        left_out_name(measure_name, pairs=is_pair_out(name))
        if is_left_out(name)
        else measure_name
    )


def validated(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return the measures of the validation part, without those of left-out queries or pairs."""
    return {name: value for name, value in measures.items() if not is_left_out(name)}


def plain(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return the measures by the names of their underlying measures."""
    return {plain_name(name): value for name, value in measures.items()}


def left_out(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return the measures of left-out queries or pairs only, by their names with a prefix."""
    return {name: value for name, value in measures.items() if is_left_out(name)}
