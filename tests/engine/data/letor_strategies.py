"""LETOR text in every flavour, and what may happen to it on its way."""

from __future__ import annotations

from hypothesis import strategies as st

blanks = st.sampled_from([b" ", b" ", b" ", b"\t", b"  ", b" \t "])
line_ends = st.sampled_from([b"\n", b"\r\n"])
query_ids = st.sampled_from(
    [b"1", b"2", b"10002", b"007", b"GX-1", b"q\xc3\xa9", b"a:b", b"\xff"]
)
comments = st.one_of(
    st.just(b""),
    st.sampled_from(
        [
            b"#docid = GX008-86-4444840 inc = 1 prob = 0.086622",
            b"# docid = 244338",
            b"#",
            b"##",
            b"# caf\xe9 \x85 ",
        ]
    ),
)


def _spelled(value: float) -> list[bytes]:
    spellings = [
        repr(value),
        f"{value:.6f}",
        f"{value:g}",
        f"{value:.3e}",
        f"{value:.25f}",
        f"{value:+.17E}",
    ]
    return [text.encode() for text in spellings]


finite = st.one_of(
    st.floats(0, 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-5, 5).map(float),
    st.integers(0, 10**25).map(float),
)
numbers = st.one_of(
    finite.map(_spelled).flatmap(st.sampled_from),
    st.sampled_from(
        [
            b"0",
            b"-0",
            b"1.",
            b".5",
            b"+3",
            b"0.123456",
            b"9007199254740993",
            b"1e-400",
            b"0" * 40,
        ]
    ),
)
values = st.one_of(
    numbers,
    numbers,
    numbers,
    st.sampled_from([b"NULL", b"null", b"nan", b"NaN", b"-nan", b"Null"]),
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    ids = draw(
        st.one_of(
            st.integers(1, 12).map(lambda n: list(range(1, n + 1))),
            st.lists(st.integers(1, 300), unique=True, max_size=8).map(sorted),
            st.lists(st.integers(1, 12), unique=True, max_size=8),
        )
    )
    parts = [draw(numbers), b"qid:" + draw(query_ids)]
    parts += [b"%d:%s" % (i, draw(values)) for i in ids]
    blank = draw(blanks)
    lead = draw(st.sampled_from([b"", b"", b" "]))
    return (
        lead + blank.join(parts) + draw(st.sampled_from([b"", b" "])) + draw(comments)
    )


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Valid text, nearly always."""
    end = draw(line_ends)
    body = draw(st.lists(lines(), min_size=1, max_size=8))
    between = st.sampled_from([b"", b"", b"", b"# a header", b"  "])
    body = [
        part
        for line in body
        for part in (draw(between), line)
        if part or draw(st.booleans())
    ]
    mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return mark + end.join(body) + draw(st.sampled_from([b"", end, end + end]))


shreds = st.sampled_from(
    [
        b" ",
        b"\n",
        b"\r",
        b"\t",
        b"#",
        b":",
        b"qid:",
        b"0",
        b"1",
        b"9",
        b".",
        b"-",
        b"+",
        b"e",
        b"E9",
        b"n",
        b"nan",
        b"NULL",
        b"inf",
        b"0:",
        b"1:1",
        b"1000001:1",
        b"1e999",
        b"\x00",
        b"\xff",
        b"\xc3\xa9",
        b"_",
        b"x",
    ]
)


@st.composite
def broken_texts(draw: st.DrawFn) -> bytes:
    """Valid text to which a few things have happened."""
    text = draw(texts())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 4))
        text = text[:at] + draw(st.one_of(st.just(b""), shreds)) + text[at + length :]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text
