"""What a program can check of how texts read: the rules are in docs/../CONTRIBUTING.md.

python languages/readable.py          list every text that breaks a rule
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from catalogs import ROOT, texts

MOST_WORDS = 30
_WORDS = re.compile(
    r"\b(told|tells|whoever|of which|at hand|is none|one a (?!time)|is to be had|looked at|as well as|please|"
    r"by way of|in the very|the very|toss of a coin|so many|in place of|cannot tell|or else|take that back|"
    r"anew|comes? to|speaks? (?:of|for)|to hand|thereof|wherever|whichever|has 0 in it|more than chance|"
    r"told apart|which of them|one of which|be had|has to say)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?```|<!--.*?-->|^ {4}.*?$", re.DOTALL | re.MULTILINE)
# a rest of a sentence stands for the placeholder
_GLUED = re.compile(r"[a-z)]\{[a-z_]+\}(?=[ .,;]|$)")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")


def faults(text: str) -> list[str]:
    """Return what is wrong with a text.

    Parameters
    ----------
    text : str
        A label, sentence or paragraph.

    Returns
    -------
    list of str
        A word that no text has, "33 words" or "a fragment of a sentence"; [] where all is well.
    """
    found = [match[0].lower() for match in _WORDS.finditer(text)]
    for sentence in _SENTENCE.split(text):
        count = len(re.findall(r"[\w{}’'-]+", sentence))
        if count > MOST_WORDS:
            found.append(f"{count} words")
    if text[:2] in (", ", "; ") or _GLUED.search(text):
        found.append("a fragment of a sentence")
    if text != text.strip(" "):
        found.append("a blank at an end")
    return found


def window_texts() -> Iterator[tuple[str, str]]:
    """Yield the module and the text of everything that is looked up."""
    for module, said, _ in texts():
        for text in said:
            yield module, text


def guide_texts() -> Iterator[tuple[str, str]]:
    """Yield the page and each paragraph and cell of the README and the guide, without code."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        content = re.sub(
            r"```.*?```|<!--.*?-->|^ {4}.*?$",
            "",
            page.read_text(encoding="utf-8"),
            flags=re.S | re.M,
        )
        for block in re.split(r"\n\s*\n|\n(?=[-|#\d*])|(?<=\|)", content):
            text = re.sub(
                r"`[^`]*`|\]\([^)]*\)", "x", " ".join(block.replace("**", "").split())
            )
            if text:
                yield page.name, text


def main() -> int:
    """List the faults; 1 where there are some."""
    found = [
        (where, text, faults(text)) for where, text in (*window_texts(), *guide_texts())
    ]
    wrong = [(where, text, said) for where, text, said in found if said]
    for where, text, said in wrong:
        sys.stdout.write(f"{Path(where).name}: {', '.join(said)}: {text}\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
