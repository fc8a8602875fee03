"""Draws the program's icon in the sizes that desktops look for, from its SVG.

Run it after a change of ``resources/icons/app.svg``::

    python packaging/icons.py
"""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "resources" / "icons" / "app.svg"
FOLDER = ROOT / "packaging" / "linux" / "icons"


def drawn(side: int) -> QImage:
    """Return the icon as pixels, square with a side."""
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(str(SOURCE)).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return image


def main() -> None:
    """Write ``SIDExSIDE/apps/rankstudio.png`` for each size, and the SVG as ``scalable``."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication(["icons"])
    for side in SIZES:
        path = FOLDER / f"{side}x{side}" / "apps" / "rankstudio.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn(side).save(str(path))
    scalable = FOLDER / "scalable" / "apps" / "rankstudio.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    scalable.write_bytes(SOURCE.read_bytes())
    del application


if __name__ == "__main__":
    main()
