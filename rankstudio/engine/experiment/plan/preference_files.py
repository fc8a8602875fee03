"""Which file of preferences a plan learns from, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.support.frozen_mapping import FrozenMapping


def checked_preferences(values: Any) -> FrozenMapping[str, str]:
    """Return what a plan says of preferences in canonical form.

    Raises
    ------
    PlanError
        Where it is not a table of texts.
    """
    known = {"path", "checksum"}
    if isinstance(values, Mapping) and not values:
        return FrozenMapping({})
    if (
        not isinstance(values, Mapping)
        or not {"path"} <= set(values) <= known
        or not all(isinstance(text, str) for text in values.values())
        or not values["path"].strip()
    ):
        expected = tr("a table with path, a text, and checksum, its SHA-256")
        text = tr("{name}: expected {expected}, got {value}.")
        raise PlanError(text.format(name="preferences", expected=expected, value=shown(values)))
    return FrozenMapping({name: values[name] for name in ("path", "checksum") if values.get(name)})


def named_preferences(path: Path) -> dict[str, str]:
    """Return what a plan says of a file of preferences: where it is, and its checksum.

    Raises
    ------
    DataError
        Where it cannot be read.
    """
    from rankstudio.engine.data.preferences.csv_file import read_preference_file  # noqa: PLC0415 - numpy, where it is needed

    path = path.absolute()
    return {"path": str(path), "checksum": read_preference_file(path).checksum}


def refusal_of_preferences(entry: Method) -> str:
    """Return the sentence by which a method that learns from labels alone is refused."""
    able = ", ".join(other.label for other in methods() if other.learns_preferences)
    return tr("{label} cannot learn from preferences. Choose {able}, or remove the preferences.").format(
        label=entry.label, able=able
    )


def preferences_in_words(preferences: Mapping[str, str], entries: Iterable[Method]) -> str:
    """Return who learns from the preferences of a plan, or why somebody cannot, as a sentence."""
    refused = next((entry for entry in entries if not entry.learns_preferences), None)
    if refused is not None:
        return refusal_of_preferences(refused)
    text = tr("Learns from the preferences in {file} instead of labels; measures use the labels.")
    return text.format(file=Path(preferences["path"]).name)
