"""LETOR text as it is before it is damaged, and afterwards."""

from __future__ import annotations

import random

from mutations import MUTATIONS, TOKENS, mutated

QUERIES = (("10", 4), ("12", 3), ("GX-7", 5))
COMMENTS = ("", " docid = GX008-86-4444840 inc = 1 prob = 0.086622", " café", "#")


def letor_text(
    seed: int, *, width: int = 5, end: str = "\n", flavour: str = "dense"
) -> bytes:
    """Return LETOR text of twelve documents."""
    rng = random.Random(seed)
    lines = ["# a header"] if flavour == "commented" else []
    for query, size in QUERIES:
        for _ in range(size):
            ids = [
                i
                for i in range(1, width + 1)
                if flavour != "sparse" or rng.random() < 0.5
            ]
            if flavour == "shuffled":
                rng.shuffle(ids)
            values = [_value(rng, flavour) for _ in ids]
            features = " ".join(f"{i}:{v}" for i, v in zip(ids, values, strict=True))
            comment = f" #{rng.choice(COMMENTS)}" if flavour != "sparse" else ""
            lines.append(f"{rng.randrange(3)} qid:{query} {features}{comment}")
    if flavour == "scattered":
        rng.shuffle(lines)
    mark = "\ufeff" if flavour == "marked" else ""
    return (mark + end.join(lines) + end).encode()


def _value(rng: random.Random, flavour: str) -> str:
    if flavour == "missing" and rng.random() < 0.3:
        return rng.choice(("NULL", "nan"))
    form = rng.choice(
        ("{:.6f}", "{:.6f}", "{!r}", "{:g}", "{:.3e}", "{:.25f}", "{:.0f}")
    )
    return form.format(rng.choice((rng.random(), rng.gauss(0, 1e6), 0.0)))


FLAVOURS = (
    "dense",
    "sparse",
    "commented",
    "missing",
    "scattered",
    "shuffled",
    "marked",
)

LETOR = tuple(
    letor_text(seed, end=end, flavour=flavour)
    for seed, flavour in enumerate(FLAVOURS)
    for end in ("\n", "\r\n")
)

WORDS = (
    b" qid:",
    b"qid:12 ",
    b"#",
    b" 1:1",
    b" 3:NULL",
    b" 300:0.5",
    b" 20000:1",
    b" 1000001:1",
    b"\r2 qid:9 ",
)


def insert_word(rng: random.Random, content: bytes) -> bytes:
    """Put in a word of LETOR text, seldom many times."""
    at = rng.randint(0, len(content))
    word = (
        rng.choice(WORDS)
        if rng.random() < 0.7
        else b" %d:%s" % (rng.randrange(20), rng.choice(TOKENS))
    )
    if rng.random() < 0.01:  # a million columns, which take their time
        return content[:at] + b" 1000000:1" + content[at:]
    return content[:at] + word * rng.choice((1, 1, 1, 1, 3, 500)) + content[at:]


def damaged_letor(rng: random.Random) -> bytes:
    """Return damaged LETOR text."""
    return mutated(
        rng,
        rng.choice(LETOR),
        LETOR,
        (*MUTATIONS, insert_word, insert_word, insert_word),
    )
