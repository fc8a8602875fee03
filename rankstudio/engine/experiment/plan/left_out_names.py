"""Measures of queries that were left out of training: a measure's name with "leave-query-out" before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from rankstudio.engine.metrics.names import measure

PREFIX = "leave-query-out "

Value = TypeVar("Value")


def left_out_name(name: str) -> str:
    """Return the name of a measure of left-out queries: "leave-query-out MAP"."""
    return PREFIX + name


def is_left_out(name: str) -> bool:
    """Return whether a name is that of a measure of left-out queries."""
    return name.strip().lower().startswith(PREFIX)


def plain_name(name: str) -> str:
    """Return the name of the underlying measure: "MAP" for "leave-query-out MAP" and for "MAP"."""
    return name.strip()[len(PREFIX) :].strip() if is_left_out(name) else name


def canonical_name(name: str) -> str:
    """Return the canonical name of a measure, of left-out queries or not.

    Raises
    ------
    ParameterError
        For an unknown measure.
    """
    found = measure(plain_name(name)).name
    return left_out_name(found) if is_left_out(name) else found


def validated(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return only the measures of the validation part."""
    return {name: value for name, value in measures.items() if not is_left_out(name)}


def plain(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return the names of the underlying measures."""
    return {plain_name(name): value for name, value in measures.items()}


def left_out(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Return only the measures of left-out queries, by the names of :func:`left_out_name`."""
    return {name: value for name, value in measures.items() if is_left_out(name)}
