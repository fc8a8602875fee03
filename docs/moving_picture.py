"""Take the moving picture of the guide: path and curves follow the λ slider.

python docs/moving_picture.py

It writes images/lambda-slider-light.webp and images/lambda-slider-dark.webp: ten seconds of
the window on the sample. The window's own guide shows the first frame.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QSlider
from screenshots import delete, rest, wait

from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import LambdaSlider

IMAGES = Path(__file__).parent / "images"
SIZE = (1280, 760)
SHOWN_WIDTH = 960
FOLD = 3
LEAST = 2.0**-3  # value of λ from which the slider moves
MOST = 2.0**13  # to this one
FRAMES = 60
FRAME_TIME = 160  # milliseconds
MOST_BYTES = 1_500_000


def main() -> str:
    """Grab a window without a display while the slider moves.

    Returns
    -------
    str
        What is wrong with a picture, "" for nothing.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    for mode in ("light", "dark"):
        with tempfile.TemporaryDirectory() as settings:
            frames = take(application(), Settings(Path(settings)), mode)
        picture = IMAGES / f"lambda-slider-{mode}.webp"
        save(frames, picture)
        n_bytes = picture.stat().st_size
        if n_bytes > MOST_BYTES:
            return f"{picture} has {n_bytes} bytes"
    return ""


def take(app: QApplication, settings: Settings, mode: str) -> list[QImage]:
    """Return a picture of the window in a theme at each position of the slider."""
    theme = Theme(mode)
    theme.apply(app)
    window = MainWindow(theme, settings)
    window.resize(*SIZE)
    window.show()
    window.open_controller.open_path(SAMPLE, run=True)
    wait(app, lambda: bool(window.runs.records) and not window.runs.busy)
    window.session.show_fold(FOLD)
    rest(app)
    slider = window.findChild(QSlider, "lambda-slider")
    lambdas = window.findChild(LambdaSlider).values()
    inside = [n for n, present in enumerate(lambdas) if LEAST <= present <= MOST]
    frames = []
    for position in positions(slider.value(), inside[0], inside[-1]):
        slider.setValue(position)
        app.processEvents()
        # the models between the values of the grid are computed meanwhile
        wait(app, lambda: not window.models.task_worker.jobs)
        app.processEvents()
        frames.append(window.grab().toImage())
    delete(window)
    return frames


def positions(chosen: int, lowest: int, highest: int) -> list[int]:
    """Return the positions of the slider: from the chosen one up, down and back."""
    # The three turns share the frames by their lengths.
    turns = list(pairwise((chosen, highest, lowest, chosen)))
    length = sum(abs(end - start) for start, end in turns)
    positions: list[int] = []
    for start, end in turns:
        n_steps = max(1, round(FRAMES * abs(end - start) / length))
        way = end - start
        positions += [start + round(way * step / n_steps) for step in range(n_steps)]
    return positions


def save(frames: list[QImage], picture: Path) -> None:
    """Write the frames as one animation without an end."""
    pictures = [scaled(frame) for frame in frames]
    pictures[0].save(
        picture,
        save_all=True,
        append_images=pictures[1:],
        duration=FRAME_TIME,
        loop=0,
        quality=70,
        method=4,
        minimize_size=True,
    )


def scaled(frame: QImage) -> Image.Image:
    """Return a frame in the width in which the guide shows it."""
    small = frame.scaledToWidth(
        SHOWN_WIDTH, Qt.TransformationMode.SmoothTransformation
    ).convertToFormat(QImage.Format.Format_RGB888)
    size = small.width(), small.height()
    pixels = small.constBits()
    line = small.bytesPerLine()
    return Image.frombuffer("RGB", size, pixels, "raw", "RGB", line, 1).copy()


if __name__ == "__main__":
    sys.exit(main() or 0)
