"""The file of preferences, or of clicks, that a plan learns from instead of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rankstudio.engine.experiment.plan.checks import check_field
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.pair_sources import AbsentPairSource, pair_source
from rankstudio.engine.support.extensions import Extended
from rankstudio.engine.support.frozen_mapping import FrozenMapping


@dataclass(frozen=True)
class PreferenceSource:
    """Preferences between documents, which replace the labels in training.

    Measures still use the labels.

    Running a plan with a method that does not support preferences is an error.

    Attributes
    ----------
    told : Mapping of str to str
        ``path`` of a CSV file, and ``checksum``, its SHA-256; if
        present, a file with other contents is rejected. For clicks,
        ``pairs`` and ``eta``: how the plug-in that reads the file pairs
        and weights them.
    """

    told: Mapping[str, str]

    @classmethod
    def parsed(cls, values: Any) -> Self | None:
        """Return the preferences that plain values of a plan describe; None for empty values.

        Raises
        ------
        PlanError, ParameterError
            If the values do not name a file of preferences, or have
            other settings than those of `told`.
        """
        # Check the kind of the values and their names: `check_field`
        # raises the PlanError if its last argument is False.
        expected = tr("a table with the strings path and checksum (SHA-256)")
        check_field("preferences", values, expected, isinstance(values, Mapping))
        if not values:
            return None
        has_known_keys = {"path"} <= set(values) <= {"path", "checksum", "pairs", "eta"}
        values = {**values, "eta": str(values["eta"])} if "eta" in values else values
        are_texts = all(isinstance(text, str) for text in values.values())
        is_valid = has_known_keys and are_texts and bool(values["path"].strip())
        check_field("preferences", values, expected, is_valid)
        # Values that are empty are left out.
        settings = {
            name: values[name] for name in ("path", "checksum") if values.get(name)
        }
        # The rule that makes pairs belongs to a plug-in, which checks its values.
        if "pairs" in values or "eta" in values:
            # For clicks: which documents make pairs ("pairs"), and the
            # weights of positions ("eta").
            rule = {name: values[name] for name in ("pairs", "eta") if name in values}
            source = pair_source()
            # Without the plug-in the values are kept as they are: the
            # plan can be read, not run.
            settings |= rule if source is None else imported(source.settings)(rule)
        return cls(FrozenMapping(settings))


def preferences_of(extended: Extended) -> Mapping[str, str]:
    """Return the settings of the preferences that a plan learns from, by name.

    `extended` is a plan or another object with extensions. The settings
    are those of `PreferenceSource.told`, such as ``path``.

    The result is empty if the plan learns from labels.
    """
    source = extended.extension(PreferenceSource)
    return FrozenMapping() if source is None else source.told


def refusal_of_preferences(entry: Method) -> str:
    """Return the message that a method does not support preferences, with those that do."""
    labels_text = ", ".join(
        other.label for other in methods() if other.learns_preferences
    )
    return tr(
        "{label} cannot learn from preferences. Choose {able}, or remove the preferences."
    ).format(label=entry.label, able=labels_text)


def preferences_in_words(
    preferences: Mapping[str, str], entries: Iterable[Method]
) -> str:
    """Return a sentence on the preferences of a plan, for the user.

    `preferences` has the settings of `PreferenceSource.told`. The
    sentence says what the methods in `entries` learn from the
    preferences, or why a method cannot learn from them.
    """
    if pair_source() is None:
        # Only a plug-in can read the file, and it is not installed.
        # `lacking` is the sentence that says so.
        return AbsentPairSource().lacking
    unable_entry = next(
        (entry for entry in entries if not entry.learns_preferences), None
    )
    if unable_entry is not None:
        return refusal_of_preferences(unable_entry)
    text = tr(
        "Learns from the preferences in {file} instead of labels; measures use the labels."
    )
    # A file of clicks has pairs, instead of a grade for each document.
    if "pairs" in preferences:
        text = tr(
            "Learns from the clicks in {file}, weighted by position, instead of labels; measures use the "
            "labels."
        )
    return text.format(file=Path(preferences["path"]).name)


def learned_from(preferences: Mapping[str, str]) -> str:
    """Return the source of preferences or clicks, for a title: "clicks: log.csv".

    `preferences` has the settings of `PreferenceSource.told`. The
    result is "" if they are empty, as in a plan that learns from
    labels.
    """
    if not preferences:
        return ""
    text = tr("preferences: {file}")
    if "pairs" in preferences:
        skipped = preferences["pairs"] == "skipped"
        text = (
            tr("clicks over skipped: {file}, {eta}")
            if skipped
            else tr("clicks over unclicked: {file}, {eta}")
        )
    eta = preferences.get("eta", "")  # "estimated", "given", or a number as text
    weights = {
        "": "",
        "estimated": tr("η estimated"),
        "given": tr("given propensities"),
    }.get(eta, f"η = {eta}")
    return text.format(file=Path(preferences["path"]).name, eta=weights)
