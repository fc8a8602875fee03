"""A convention that was made for other labels says so, where nobody knows the data."""

from __future__ import annotations

import pytest
from wording import naming

from rankstudio.engine.analysis.convention_note import convention_note


def test_labels_above_two_are_named_with_the_convention_that_knows_them() -> None:
    said = convention_note(None, 4.0, "letor4")
    assert said.startswith("Labels go up to 4, but LETOR 4.0 assumes 0–2")
    assert naming("MSLR 2").search(said)


@pytest.mark.parametrize(
    ("known", "greatest", "key"),
    [("mslr", 4.0, "letor4"), (None, 2.0, "letor4"), (None, 4.0, "mslr"), (None, 4.0, "ranklib")],
)
def test_nothing_is_said_of_labels_that_are_in_order(known: str | None, greatest: float, key: str) -> None:
    assert not convention_note(known, greatest, key)
