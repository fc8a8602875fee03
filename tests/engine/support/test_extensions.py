"""What abilities add to datasets and plans: one value of each type."""

from __future__ import annotations

from dataclasses import dataclass, fields

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.support.extensions import Extensions


@dataclass(frozen=True)
class Colour:
    name: str


@dataclass(frozen=True)
class PaleColour(Colour):
    pass


def test_values_are_found_by_their_own_type() -> None:
    both = Extensions([Colour("red"), None, PaleColour("rose"), Colour("blue")])
    assert both.find(Colour) == Colour("blue")
    assert both.find(PaleColour) == PaleColour("rose")
    assert both.find(str) is None
    assert list(both.without(PaleColour)) == [Colour("blue")]
    assert list(both.without(str)) == list(both)


def test_a_value_replaces_that_of_its_type_and_the_first_stays_as_it_was() -> None:
    first = Extensions([Colour("red")])
    second = first.extended(Colour("blue"), PaleColour("rose"))
    assert first.find(Colour) == Colour("red")
    assert second == Extensions([PaleColour("rose"), Colour("blue")]) != first
    assert hash(second) == hash(Extensions([PaleColour("rose"), Colour("blue")]))
    assert second.extended(None) == second


def test_a_dataset_has_few_fields() -> None:
    assert len(fields(FoldedDataset)) <= 8
