"""Damage to files: of bytes, of lines, and of the values in JSON and TOML."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

Mutation = Callable[[random.Random, bytes], bytes]

TOKENS: tuple[bytes, ...] = (
    *(
        b"nan",
        b"inf",
        b"-inf",
        b"NULL",
        b"1e999",
        b"-1e999",
        b"1e-999",
        b"0x1p3",
        b"1_000",
        b"-0",
        b"00",
    ),
    *(
        b"9" * 20,
        b"9" * 400,
        b"-1",
        b"0",
        b"4294967296",
        b"9223372036854775808",
        b"1e308",
        b"1e15",
    ),
    *(b"0x" + b"f" * 5000, b"0o7", b"5" * 5000, b"1.5", b"1e5"),
    *(
        b"\0",
        b"\r",
        b"\r\n",
        b"\n",
        b"\n\n",
        b"\t",
        b" ",
        b"\v",
        b"\f",
        b"\x1a",
        b"\x7f",
        b"\x85",
    ),
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        "\u2028".encode(),
        "\u202e".encode(),
        "\u0661".encode(),
    ),
    *(
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc3",
        "é".encode(),
        "😀".encode(),
    ),
    *(
        b'"',
        b"'",
        b'"""',
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"#",
        b":",
        b"=",
        b",",
        b";",
        b"/",
        b"..",
        b"{",
        b"}",
    ),
    *(
        b"[",
        b"]",
        b"[" * 2000,
        b"{" * 2000,
        b'{"a":' * 1500,
        b"null",
        b"true",
        b"false",
        b"NaN",
        b"Infinity",
    ),
    *(
        b"x" * 5000,
        b"%s",
        b"{0}",
        b"<b>",
        b"$(id)",
        b"qid:",
        b"1:1",
        b"key",
        b"1979-05-27T07:32:00Z",
    ),
)
"""What readers fall over."""

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        10**6,
        2**31,
        2**63,
        -(2**63),
        2**64,
        10**30,
        10**400,
    ),
    *(0.0, -0.0, 0.5, 1e-300, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
    *(
        "",
        " ",
        "1",
        "nan",
        "MAP",
        "\0",
        "\n",
        "é",
        "\u2028",
        "\u202e",
        "x" * 5000,
        "../../etc/passwd",
    ),
    *([], [[]], [0], [1, 1], [None], ["a"], [1.5], [[1]] * 3, list(range(300))),
    *({}, {"": 0}, {"a": {"b": []}}, {"kind": "linear"}, {"id": 1}),
)
"""Values of the wrong type, sign or size."""


def _at(rng: random.Random, content: bytes) -> int:
    return rng.randint(0, len(content))


def _span(rng: random.Random, content: bytes) -> tuple[int, int]:
    begin = _at(rng, content)
    length = (
        min(int(rng.expovariate(1 / 16)) + 1, 4096)
        if rng.random() < 0.9
        else len(content)
    )
    return begin, min(begin + length, len(content))


def flip_bits(rng: random.Random, content: bytes) -> bytes:
    """Flip one bit or some."""
    damaged = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8)) if content else 0):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def set_byte(rng: random.Random, content: bytes) -> bytes:
    """Put any byte for another."""
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]


def cut(rng: random.Random, content: bytes) -> bytes:
    """Leave out the end, or seldom the beginning."""
    at = _at(rng, content)
    return content[:at] if rng.random() < 0.8 else content[at:]


def zero_span(rng: random.Random, content: bytes) -> bytes:
    """Put zeros, or some other byte, for a span."""
    begin, end = _span(rng, content)
    return (
        content[:begin]
        + rng.choice((b"\0", b"\0", b" ", b"\xff", b"9")) * (end - begin)
        + content[end:]
    )


def delete_span(rng: random.Random, content: bytes) -> bytes:
    """Leave out a span."""
    begin, end = _span(rng, content)
    return content[:begin] + content[end:]


def duplicate_span(rng: random.Random, content: bytes) -> bytes:
    """Have a span twice, or put it elsewhere."""
    begin, end = _span(rng, content)
    at = end if rng.random() < 0.5 else _at(rng, content)
    return content[:at] + content[begin:end] + content[at:]


def swap_spans(rng: random.Random, content: bytes) -> bytes:
    """Exchange two spans."""
    a, b, c, d = sorted(_at(rng, content) for _ in range(4))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def change_lines(rng: random.Random, content: bytes) -> bytes:
    """Leave out a line, have it twice, exchange two, or put one elsewhere."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case 2:
            lines[a], lines[b] = lines[b], lines[a]
        case _:
            lines.insert(b, lines.pop(a))
    return b"".join(lines)


def insert_token(rng: random.Random, content: bytes) -> bytes:
    """Put in something that readers fall over."""
    at = _at(rng, content)
    return content[:at] + rng.choice(TOKENS) + content[at:]


def replace_word(rng: random.Random, content: bytes) -> bytes:
    """Put such a thing for a word or a number."""
    words = [
        w
        for w in content.replace(b":", b" ")
        .replace(b",", b" ")
        .replace(b"=", b" ")
        .split()
        if w
    ]
    if not words:
        return insert_token(rng, content)
    word = rng.choice(words)
    at = content.find(word, rng.randrange(len(content)))
    at = content.find(word) if at < 0 else at
    return content[:at] + rng.choice(TOKENS) + content[at + len(word) :]


MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bits, set_byte, cut, zero_span, delete_span, duplicate_span, swap_spans),
    *(change_lines, insert_token, replace_word),
)


def splice(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Return the beginning of one file and the end of another."""
    return content[: _at(rng, content)] + other[_at(rng, other) :]


def mutated(
    rng: random.Random,
    content: bytes,
    others: Sequence[bytes] = (),
    mutations: Sequence[Mutation] = MUTATIONS,
) -> bytes:
    """Return a file with one damage, or seldom with several; ``others`` are files to splice it with."""
    if others and rng.random() < 0.05:
        content = splice(rng, content, rng.choice(others))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        content = rng.choice(mutations)(rng, content)
    return content


def mutated_value(
    rng: random.Random, value: Any, values: Sequence[Any] = VALUES
) -> Any:
    """Return a copy of nested dicts and lists in which one thing is another, is missing or is there twice."""
    changed = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place, key = rng.choice(_places(changed))
        _change(rng, place, key, values)
    return changed[0] if changed else None


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return all places in nested dicts and lists, as what holds the value and its key."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [
        place for key in keys for place in _places(value[key])
    ]


def _change(rng: random.Random, place: Any, key: Any, values: Sequence[Any]) -> None:
    top = isinstance(place, list) and len(place) == 1
    match rng.randrange(6):
        case 0 if not top:
            del place[key]
        case 1 if isinstance(place, dict):
            place[rng.choice((f"{key} ", "", key.upper(), "kind", "x" * 300))] = place[
                key
            ]
        case 2 if isinstance(place, dict) and place:
            other = rng.choice(list(place))
            place[key], place[other] = place[other], place[key]
        case 3 if isinstance(place, list) and not top:
            place.insert(rng.randint(0, len(place)), copy.deepcopy(rng.choice(place)))
        case _:
            place[key] = copy.deepcopy(rng.choice(values))
