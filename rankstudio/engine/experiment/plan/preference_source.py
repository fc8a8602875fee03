"""The file of preferences, or of clicks, that a plan learns from instead of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from rankstudio.engine.experiment.plan.checks import check_field
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.pair_sources import pair_source
from rankstudio.engine.support.extensions import Extended
from rankstudio.engine.support.frozen_mapping import FrozenMapping


@dataclass(frozen=True)
class PreferenceSource:
    """Preferences between documents, which replace the labels in training; measures still use the labels.

    Running a plan with a method that does not support them is an error.

    Attributes
    ----------
    told : Mapping of str to str
        ``path`` of a CSV file, and ``checksum``, its SHA-256; if present, a file with other contents is
        rejected. For clicks, ``pairs`` and ``eta``: how the plug-in that reads the file pairs and weights
        them.
    """

    told: Mapping[str, str]

    @classmethod
    def parsed(cls, values: Any) -> Self | None:
        """Parse the plain values of a plan, in canonical form; None for none.

        Raises
        ------
        PlanError, ParameterError
            If they do not name such a file.
        """
        expected = tr("a table with the strings path and checksum (SHA-256)")
        check_field("preferences", values, expected, isinstance(values, Mapping))
        if not values:
            return None
        has_known_keys = {"path"} <= set(values) <= {"path", "checksum", "pairs", "eta"}
        values = {**values, "eta": str(values["eta"])} if "eta" in values else values
        texts = all(isinstance(text, str) for text in values.values())
        check_field(
            "preferences", values, expected, has_known_keys and texts and bool(values["path"].strip())
        )
        settings = {name: values[name] for name in ("path", "checksum") if values.get(name)}
        if "pairs" in values or "eta" in values:
            rule = {name: values[name] for name in ("pairs", "eta") if name in values}
            source = pair_source()
            settings |= rule if source is None else imported(source.settings)(rule)
        return cls(FrozenMapping(settings))


def preferences_of(extended: Extended) -> Mapping[str, str]:
    """Return the settings of a plan's `PreferenceSource`; empty if it learns from labels."""
    source = extended.extension(PreferenceSource)
    return FrozenMapping() if source is None else source.told
