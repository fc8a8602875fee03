"""Drawings as PDF of one page: vectors, and texts in a font that is embedded and can be read back.

Every text is written glyph by glyph in the bundled font, with a table of which character a glyph is, so that
what is copied or searched for is what is read. Nothing of the clock, the machine or a library is in the file:
the same drawing is the same bytes.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping

from rankstudio.engine.export.figures.font import FAMILY, OutlineFont, inter
from rankstudio.engine.export.figures.shapes import (
    DiskShape,
    Drawing,
    PathShape,
    Shape,
    Stroke,
    TextShape,
)

_POINTS = {"pt": 1.0, "px": 0.75}
_ROUND = 0.5522847498  # of a radius: how far the handles of a quarter of a circle reach
_NO_GLYPH = "\ufffd"


def pdf_bytes(drawing: Drawing) -> bytes:
    """Return a drawing as a PDF whose page is as large as it, with its title and its caption as metadata."""
    font = inter()
    scale = _POINTS[drawing.unit]
    page = _Page(font, drawing)
    content = "\n".join(["1 j", *(page.operators(shape) for shape in drawing.shapes)])
    glyphs = page.glyphs
    name = f"{_tag(glyphs)}+{FAMILY}-Regular"
    box = " ".join(str(round(edge * 1000 / font.units)) for edge in font.box)
    per_mille = 1000 / font.units
    widths = " ".join(f"{glyph} [{font.advances[glyph] * per_mille:.0f}]" for glyph in sorted(glyphs))
    size = f"{_n(drawing.width * scale)} {_n(drawing.height * scale)}"
    states = " ".join(f"/G{at} << /ca {_n(opacity)} >>" for at, opacity in enumerate(page.opacities))
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size}] /Contents 4 0 R /Resources << /Font << /F "
            f"5 0 R >> /ExtGState << {states} >> >> >>".encode(),
            _stream(f"{_n(scale)} 0 0 {_n(scale)} 0 0 cm\n{content}".encode()),
            f"<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H /DescendantFonts "
            "[6 0 R] /ToUnicode 9 0 R >>".encode(),
            f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /{name} /CIDSystemInfo << /Registry (Adobe) "
            f"/Ordering (Identity) /Supplement 0 >> /FontDescriptor 7 0 R /DW 1000 /W [{widths}] >>".encode(),
            f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{box}] /ItalicAngle 0 /Ascent "
            f"{font.ascent * per_mille:.0f} /Descent {-font.descent * per_mille:.0f} /CapHeight "
            f"{font.cap_height * per_mille:.0f} /StemV 80 /FontFile3 8 0 R >>".encode(),
            _stream(font.subset(glyphs), "/Subtype /CIDFontType0C"),
            _stream(_to_unicode(glyphs).encode()),
            f"<< /Title {_text_string(drawing.title)} /Subject {_text_string(drawing.description)} /Creator "
            "(RankStudio) >>".encode(),
        ]
    )


class _Page:
    """Writes shapes as operators, and remembers the glyphs and opacities that it needed."""

    def __init__(self, font: OutlineFont, drawing: Drawing) -> None:
        self.glyphs: dict[int, str] = {}
        self.opacities: list[float] = [1.0]
        self._font, self._height = font, drawing.height

    def operators(self, shape: Shape) -> str:
        """Return the operators of a shape."""
        if isinstance(shape, TextShape):
            return self._text(shape)
        if isinstance(shape, DiskShape):
            return _painted(self._circle(shape), shape.fill, shape.stroke, "")
        return _painted(self._lines(shape), shape.fill, shape.stroke, self._opacity(shape.opacity))

    def _opacity(self, opacity: float) -> str:
        if opacity >= 1:
            return ""
        if opacity not in self.opacities:
            self.opacities.append(opacity)
        return f"/G{self.opacities.index(opacity)} gs "

    def _lines(self, shape: PathShape) -> str:
        if not shape.points:
            return ""
        said = [
            f"{_n(x)} {_n(self._height - y)} {'l' if at else 'm'}" for at, (x, y) in enumerate(shape.points)
        ]
        return " ".join([*said, *(["h"] if shape.closed else [])])

    def _circle(self, shape: DiskShape) -> str:
        x, y, r = shape.x, self._height - shape.y, shape.radius
        h = r * _ROUND
        quarters = (
            (x + r, y + h, x + h, y + r, x, y + r),
            (x - h, y + r, x - r, y + h, x - r, y),
            (x - r, y - h, x - h, y - r, x, y - r),
            (x + h, y - r, x + r, y - h, x + r, y),
        )
        arcs = (f"{' '.join(map(_n, quarter))} c" for quarter in quarters)
        return f"{_n(x + r)} {_n(y)} m {' '.join(arcs)} h"

    def _text(self, shape: TextShape) -> str:
        x, y = shape.start
        glyphs, told = [], True
        for character in shape.text:
            glyph = self._font.glyphs.get(ord(character), 0)
            known = self.glyphs.setdefault(glyph, character if glyph else _NO_GLYPH)
            told = told and known == character
            glyphs.append(f"{glyph:04x}")
        self.glyphs.setdefault(0, _NO_GLYPH)
        turn = "0 1 -1 0" if shape.turned else "1 0 0 1"
        matrix = f"{turn} {_n(x)} {_n(self._height - y)} Tm"
        said = f"BT {_rgb(shape.color)} rg /F {_n(shape.size)} Tf {matrix} <{''.join(glyphs)}> Tj ET"
        # A glyph that stands for two characters, or for one that the font has not: the span says which.
        return said if told else f"/Span << /ActualText {_text_string(shape.text)} >> BDC {said} EMC"


def _painted(path: str, fill: str, stroke: Stroke | None, state: str) -> str:
    if stroke is None:
        return f"q {state}{_rgb(fill)} rg {path} f Q" if fill and path else ""
    dashes = " ".join(map(_n, stroke.dashes))
    pen = f"{_rgb(stroke.color)} RG {_n(stroke.width)} w [{dashes}] 0 d"
    return f"q {state}{f'{_rgb(fill)} rg ' if fill else ''}{pen} {path} {'B' if fill else 'S'} Q"


def _rgb(color: str) -> str:
    return " ".join(_n(part / 255, 4) for part in bytes.fromhex(color[1:]))


def _n(value: float, decimals: int = 3) -> str:
    said = f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if said == "-0" else said


def _tag(glyphs: Iterable[int]) -> str:
    """Return the six letters that tell subsets of a font apart."""
    digest = hashlib.sha256(repr(sorted(glyphs)).encode()).digest()
    return "".join(chr(ord("A") + byte % 26) for byte in digest[:6])


def _text_string(text: str) -> str:
    coded = text.encode("utf-16-be", "replace").hex()
    return f"<feff{coded}>"


def _to_unicode(glyphs: Mapping[int, str]) -> str:
    """Return the table of characters by glyph."""
    known = sorted(glyphs.items())
    blocks = [known[at : at + 100] for at in range(0, len(known), 100)]
    lines = [
        f"{len(block)} beginbfchar\n"
        + "\n".join(f"<{glyph:04x}> <{c.encode('utf-16-be', 'replace').hex()}>" for glyph, c in block)
        + "\nendbfchar"
        for block in blocks
    ]
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry (Adobe) "
        "/Ordering (UCS) /Supplement 0 >> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        "1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n"
        + "\n".join(lines)
        + "\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"
    )


def _stream(content: bytes, entries: str = "") -> bytes:
    packed = zlib.compress(content, 9)
    head = f"<< /Length {len(packed)} /Filter /FlateDecode {entries} >>\nstream\n"
    return head.encode() + packed + b"\nendstream"


def _file(objects: list[bytes]) -> bytes:
    """Return a file of numbered objects, the first one the catalog and the last one the metadata."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    starts = []
    for number, one in enumerate(objects, start=1):
        starts.append(len(out))
        out += f"{number} 0 obj\n".encode() + one + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += "".join(f"{start:010d} 00000 n \n" for start in starts).encode()
    identity = hashlib.sha256(out).hexdigest()[:32]
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R "
        f"/ID [<{identity}> <{identity}>] >>\nstartxref\n{table}\n%%EOF\n"
    ).encode()
    return bytes(out)
