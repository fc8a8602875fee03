"""Inter, bundled: how wide texts are, which glyphs they have, and the part of the font that a PDF embeds."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from unicodedata import combining, east_asian_width

from rankstudio.engine.support.resources import resource

FAMILY = "Inter"
_END_OF_GLYPH = 14  # the operator endchar of Type 2 charstrings


@dataclass(frozen=True, eq=False)
class OutlineFont:
    """What layout and PDF need of an OpenType font with CFF outlines.

    Attributes
    ----------
    units : int
        Of the em.
    ascent, descent : int
        Above and below the baseline, both positive, in these units.
    box : tuple of int
        Of all glyphs: left, bottom, right, top.
    cap_height : int
    advances : tuple of int
        Of each glyph.
    glyphs : Mapping of int to int
        Glyph by code point.
    program : bytes
        The table CFF.
    """

    units: int
    ascent: int
    descent: int
    box: tuple[int, int, int, int]
    cap_height: int
    advances: tuple[int, ...]
    glyphs: Mapping[int, int]
    program: bytes

    def width(self, text: str, size: float) -> float:
        """Return how wide a text is at a size; characters the font has not are as wide as elsewhere."""
        return sum(self._advance(character) for character in text) * size

    def _advance(self, character: str) -> float:
        glyph = self.glyphs.get(ord(character))
        if glyph is not None:
            return self.advances[glyph] / self.units
        return 0.0 if combining(character) else 1.0 if east_asian_width(character) in "WF" else 0.62

    def subset(self, glyphs: Iterable[int]) -> bytes:
        """Return the outlines with those of other glyphs empty: as long as before, but of mere repetition.

        Notes
        -----
        No offset of the file changes, so that nothing else of it need be understood, and compression
        leaves next to nothing of what is empty.
        """
        kept = {0, *glyphs}
        program = bytearray(self.program)
        top = _index(program, _index(program, program[2])[-1])
        starts = _index(program, _dict_number(program[top[0] : top[1]], 17))
        for glyph, (start, end) in enumerate(itertools.pairwise(starts)):
            if glyph not in kept:
                program[start:end] = bytes([_END_OF_GLYPH]) * (end - start)
        return bytes(program)


@cache
def inter() -> OutlineFont:
    """Return the bundled font."""
    data = resource("fonts", "Inter-Regular.otf").read_bytes()
    tables = {}
    for at in range(12, 12 + 16 * struct.unpack_from(">H", data, 4)[0], 16):
        tag, _, start, size = struct.unpack_from(">4sLLL", data, at)
        tables[tag.decode().strip()] = data[start : start + size]
    head, hhea, hmtx = tables["head"], tables["hhea"], tables["hmtx"]
    n_glyphs = struct.unpack_from(">H", tables["maxp"], 4)[0]
    ascent, descent = struct.unpack_from(">hh", hhea, 4)
    n_wide = struct.unpack_from(">H", hhea, 34)[0]
    wide = [struct.unpack_from(">H", hmtx, 4 * at)[0] for at in range(n_wide)]
    return OutlineFont(
        struct.unpack_from(">H", head, 18)[0],
        ascent,
        -descent,
        struct.unpack_from(">hhhh", head, 36),
        struct.unpack_from(">h", tables["OS/2"], 88)[0],
        tuple(wide + wide[-1:] * (n_glyphs - n_wide)),
        _code_points(tables["cmap"]),
        tables["CFF"],
    )


def _code_points(cmap: bytes) -> dict[int, int]:
    """Return glyphs by code point, from the subtable of format 12."""
    for at in range(4, 4 + 8 * struct.unpack_from(">H", cmap, 2)[0], 8):
        start = struct.unpack_from(">L", cmap, at + 4)[0]
        if struct.unpack_from(">H", cmap, start)[0] == 12:
            n_groups = struct.unpack_from(">L", cmap, start + 12)[0]
            groups = struct.iter_unpack(">LLL", cmap[start + 16 : start + 16 + 12 * n_groups])
            return {c: glyph + c - first for first, last, glyph in groups for c in range(first, last + 1)}
    return {}


def _index(data: bytes | bytearray, at: int) -> list[int]:
    """Return where the objects of an INDEX begin, and after them where it ends."""
    count = int.from_bytes(data[at : at + 2], "big")
    if not count:
        return [at + 2]
    size = data[at + 2]
    offsets = (
        int.from_bytes(data[at + 3 + size * i : at + 3 + size * (i + 1)], "big") for i in range(count + 1)
    )
    base = at + 2 + size * (count + 1)
    return [base + offset for offset in offsets]


def _dict_number(data: bytes | bytearray, operator: int) -> int:
    """Return the last whole operand of an operator of one byte in a DICT."""
    at, number = 0, 0
    while at < len(data):
        first = data[at]
        if first <= 21:  # an operator, of two bytes after 12
            if first == operator:
                return number
            at += 2 if first == 12 else 1
        elif first == 30:  # a real number, of half bytes up to one that is 15
            at += 1
            while data[at] & 15 != 15 and data[at] >> 4 != 15:
                at += 1
            at += 1
        elif first == 28:
            number, at = int.from_bytes(data[at + 1 : at + 3], "big", signed=True), at + 3
        elif first == 29:
            number, at = int.from_bytes(data[at + 1 : at + 5], "big", signed=True), at + 5
        elif first <= 246:
            number, at = first - 139, at + 1
        elif first <= 250:
            number, at = (first - 247) * 256 + data[at + 1] + 108, at + 2
        else:
            number, at = -(first - 251) * 256 - data[at + 1] - 108, at + 2
    return number
