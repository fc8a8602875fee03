"""Which files of scores a plan ranks by, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.given import GIVEN_SCORES
from rankstudio.engine.support.frozen_mapping import FrozenMapping


def checked_scores(values: Any, method: str) -> FrozenMapping[str, Any]:
    """Return what a plan says of scores in canonical form.

    Raises
    ------
    PlanError
        Where the method has none and there are some, or a value is not a text.
    """
    expected = tr("a table with name and path, texts, and files, the SHA-256 of each by its name")
    if not isinstance(values, Mapping):
        raise _wrong(values, expected)
    given = dict(values)
    if method != GIVEN_SCORES.key:
        if given:
            raise _wrong(given, tr("none with the method {method}").format(method=method))
        return FrozenMapping({})
    if not given:  # they are missed when it is to be run
        return FrozenMapping({})
    files = given.get("files", {})
    named = all(isinstance(given.get(name), str) and given[name].strip() for name in ("name", "path"))
    if not named or set(given) - {"name", "path", "files"} or not isinstance(files, Mapping):
        raise _wrong(given, expected)
    if not all(isinstance(text, str) for item in files.items() for text in item):
        raise _wrong(given, expected)
    name = " ".join(given["name"].split())
    return FrozenMapping({"name": name, "path": given["path"], "files": FrozenMapping(dict(files))})


def _wrong(value: object, expected: str) -> PlanError:
    text = tr("{name}: expected {expected}, got {value}.")
    return PlanError(text.format(name="scores", expected=expected, value=shown(value)))
