"""Texts of tooltips: whole sentences, as many as one reads while the mouse rests; and keys."""

from __future__ import annotations

from rankstudio.engine.methods.catalog import methods
from rankstudio.ui.select.fields import tooltip
from rankstudio.ui.style.plain_text import MOST_IN_TOOLTIP, key_text, shortened


def test_what_is_short_stays_as_it_is() -> None:
    assert (
        shortened("λ of 2^-3 … 2^3. More is smoother.")
        == "λ of 2^-3 … 2^3. More is smoother."
    )


def test_whole_sentences_are_kept_and_the_guide_has_the_rest() -> None:
    text = " ".join(
        f"Sentence number {n} says something, e.g. this." for n in range(30)
    )
    short = shortened(text)
    assert len(short) <= MOST_IN_TOOLTIP
    assert short.startswith(
        "Sentence number 0 says something, e.g. this. Sentence number 1"
    )
    assert short.endswith("e.g. this. More on the page Methods of the guide.")
    assert shortened(
        "A sentence without an end " * 30 + "ends here. Another."
    ).startswith("A sentence")


def test_fields_say_no_more_than_one_reads() -> None:
    for entry in methods():
        for parameter in entry.parameters:
            said = tooltip(parameter).partition("<br>")[0].partition(">")[2]
            # with escaped characters
            assert len(said) <= MOST_IN_TOOLTIP + 20, (entry.key, parameter.name)


def test_the_first_key_is_told(app):
    assert key_text("Ctrl++; Ctrl+=") == "Ctrl++"
    assert key_text("Shift+Esc") == "Shift+Esc"
    assert key_text("") == ""
