"""What a program can check of how texts read."""

from __future__ import annotations

import pytest
from readable import MOST_WORDS, faults, guide_texts, window_texts


def test_the_window_s_texts_read_well() -> None:
    assert not [
        (where, text, found)
        for where, text in window_texts()
        if (found := faults(text))
    ]


def test_the_guide_reads_well() -> None:
    assert not [
        (where, text, found) for where, text in guide_texts() if (found := faults(text))
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Whoever is told of it.", ["whoever", "told"]),
        ("one a line", ["one a "]),
        (" and more", ["a blank at an end"]),
        ("word " * (MOST_WORDS + 1) + "end.", [f"{MOST_WORDS + 2} words"]),
        ("word " * 20 + "end. " + "word " * 20 + "end.", []),
        ("Choose again to stop.", []),
    ],
)
def test_what_reads_badly_is_found(text: str, found: list[str]) -> None:
    assert faults(text) == found
