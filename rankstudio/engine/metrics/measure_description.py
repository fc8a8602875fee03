"""Foreign measures as plain values, for studies: enough to show results without the code of the measures."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from rankstudio.engine.metrics.measure_entry import MeasureEntry, refuse_invalid_measure
from rankstudio.engine.plugins.origin import Origin, OriginKind

_TEXTS = ("key", "label", "function", "summary", "convention", "cutoff", "per_query")


def description_of_measure(entry: MeasureEntry) -> dict[str, Any]:
    """Return a measure of a plug-in or a file as plain values, which can be stored in a study.

    With these values, a study can show the measure where its code is absent.
    """
    # The package or file that has the measure's code. The fields that
    # are texts, such as the label, are copied by their names, _TEXTS.
    origin = entry.origin
    assert origin is not None
    return {
        **{name: getattr(entry, name) for name in _TEXTS},
        "higher_is_better": entry.higher_is_better,
        "low": None if entry.low == -inf else entry.low,
        "high": None if entry.high == inf else entry.high,
        "origin": {
            "kind": origin.kind.value,
            "name": origin.name,
            "version": origin.version_or_checksum,
        },
    }


def described_measure(values: Mapping[str, Any]) -> MeasureEntry:
    """Return the measure that plain values from a study describe; it has no code, so it cannot be computed.

    Raises
    ------
    ValueError, KeyError, TypeError, PlanError
        If the values do not describe a measure.
    """
    origin = values["origin"]
    name, version = (origin[key] for key in ("name", "version"))
    for text in (name, version):
        if type(text) is not str or len(text) > 200 or not text.isprintable():
            raise ValueError("expected the name and the version of a package")
    # A missing bound is None, because JSON has no infinity. The fields
    # that are texts have the names _TEXTS. The origin is marked as
    # absent here.
    entry = MeasureEntry(
        **{name: values[name] for name in _TEXTS},
        higher_is_better=values["higher_is_better"],
        low=-inf if values["low"] is None else values["low"],
        high=inf if values["high"] is None else values["high"],
        origin=Origin(OriginKind(origin["kind"]), name, version, present=False),
    )
    refuse_invalid_measure(entry)
    return entry
