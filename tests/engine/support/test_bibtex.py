"""BibTeX: what is written is read back, what is not BibTeX is refused, and no text is anything but text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.bibtex import (
    bibtex_text,
    key_of,
    made_entry,
    parse_bibtex,
    plain_text,
)
from rankstudio.engine.support.escaping import (
    bibtex_escaped,
    clean_text,
    comment_text,
    one_line,
)

HOSTILE = [
    "}}, note = {x}\n@misc{other,",
    "\\input{/etc/passwd}",
    "a @ b % c # d $ e & f _ g ~ h ^ i",
    '"quoted" and \u202ereversed',
    "\x1b[31mred\x07",
    "{",
    "\\",
]


def test_values_in_braces_in_quotes_and_numbers_are_read() -> None:
    text = """
    % a comment with @ and }
    @Article{a1, Title = {The {BM25} of
        1994}, author = "O'Neil, {\\"U}. and B", YEAR = 1994,}

    @misc { b:2 , note = {} }
    """
    first, second = parse_bibtex(text)
    assert (first.kind, first.key) == ("article", "a1")
    assert first.fields == (
        ("title", "The {BM25} of 1994"),
        ("author", "O'Neil, {\\\"U}. and B"),
        ("year", "1994"),
    )
    assert (second.kind, second.key, second.fields) == ("misc", "b:2", (("note", ""),))


@pytest.mark.parametrize(
    "text",
    [
        "article",
        "@article{}",
        "@article{a}",
        "@article{a, title}",
        "@article{a, title = }",
        "@article{a, title = {x}",
        "@article{a, title = {x{}",
        "@article{a, title = {x}}}",
        '@article{a, title = "x}"}',
        "@article{a, title = {x} year = 1}",
        "@article{a, title = {x}, title = {y}}",
        "@article{a, title = {x}} @article{a, title = {y}}",
        "@article{a b, title = {x}}",
        "@article{, title = {x}}",
        "@string{a = {x}}",
        "@article{a, title = x # y}",
    ],
)
def test_what_is_not_bibtex_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_bibtex(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (r"M{\"u}ller", "Müller"),
        (r"\v{C}apek and {\v S}mid", "Čapek and Šmid"),
        (r"{\o}re, {\ss}, \L{}ód\'z", "øre, ß, Łódź"),
        (r"\c{c} {\aa}", "ç å"),
        (r"na\"{\i}ve", "naïve"),
        (r"pytrec\_eval \& 5\%", "pytrec_eval & 5%"),
        ("{LETOR} 4.0, 1--2", "LETOR 4.0, 1–2"),
        ("Altıngövde", "Altıngövde"),
        ("", ""),
    ],
)
def test_latex_is_shown_as_plain_text(value: str, expected: str) -> None:
    assert plain_text(value) == expected


@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.text(min_size=1, max_size=60)), max_size=3
    )
)
@example([(text, text) for text in HOSTILE])
def test_any_text_is_read_back_from_an_entry(pairs: list[tuple[str, str]]) -> None:
    entries = {
        entry.key: entry
        for key, text in pairs
        for entry in [made_entry("misc", key, title=text, note="fixed")]
    }
    read = parse_bibtex(bibtex_text(entries.values()))
    assert [entry.key for entry in read] == list(entries)
    for entry in read:
        reread_entry = entries[entry.key]
        # Blanks within a value are one blank in BibTeX.
        assert entry.plain("title") == reread_entry.plain("title")
        assert {name for name, _ in entry.fields} <= {"title", "note"}
        assert entry.value("note") == "fixed"


# "--" becomes a dash, and a power may be written in two ways; both are tested above.
_TEXTS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="-−⁻⁰¹²³⁴⁵⁶⁷⁸⁹^"),
    max_size=60,
)


@given(_TEXTS)
@example("}{\\{}\\textbackslash{} \\char34 {[} $<$ \\& $x$")
@example('1 < 2 ± λ₁ [x] * | " ` ~ & % $ # _ … é')
def test_an_escaped_text_is_shown_as_it_was(text: str) -> None:
    expected = " ".join(clean_text(one_line(text)).split())
    assert plain_text(bibtex_escaped(text)) == expected


@given(st.text(max_size=60))
@example("}}{{ \\} {")
def test_braces_of_an_escaped_text_match(text: str) -> None:
    depth = 0
    for character in bibtex_escaped(text):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0


@given(st.text(max_size=60))
@example("NDCG@10 {x} \\ \n@misc{a,}")
def test_a_comment_begins_no_entry(text: str) -> None:
    """BibTeX knows no comments: outside of entries, only @ has a meaning."""
    comment = comment_text(text, "bibtex")
    assert not set(comment) & set("@{}\\\n")


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("Pahikkala2010Greedy", "pahikkala2010greedy"),
        ("Müller & Søn 2010", "muller-sn-2010"),
        ("  ", "untitled"),
        ("функция", "untitled"),
        ("}{@,", "untitled"),
    ],
)
def test_keys_have_letters_and_digits_only(words: str, key: str) -> None:
    assert key_of(words) == key


def test_a_line_tells_authors_year_title_and_place() -> None:
    (entry,) = parse_bibtex(
        "@article{a, author = {A, B. and C, D. and others}, title = {T.}, journal = {J},"
        " volume = 3, number = 2, pages = {1--9}, year = 2001, doi = {10.1/a_b}}"
    )
    assert entry.line == (
        "A, B.; C, D. et al. (2001). T. J 3(2), 1–9. https://doi.org/10.1/a_b."
    )
    assert made_entry("misc", "x", title="Only a title").line == "Only a title."
