"""Take a picture of Select and Features after a run of every method on the bundled sample.

python docs/method_pictures.py [method ...]

It writes images/methods/METHOD.webp, both pages one below the other in at most 128 colours, and the page that
shows them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication
from screenshots import LOSSLESS, delete, rest, wait
from sklearn.cluster import KMeans

from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.methods.catalog import methods
from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "methods"
SIZE = (1280, 760)
SHOWN_WIDTH = 1024
COLORS = 128
PAGES = ("select", "features")
SHORT: dict[str, dict[str, Any]] = {
    "lambdamart": {"n_rounds": 30},
    "lambdamart-top": {"n_features_to_select": 8, "n_rounds": 10},
    "lambdamart-rfe": {
        "n_features_to_select": 8,
        "n_rounds": 10,
        "dropped_share": 0.3,
    },
    "rankboost": {"n_rounds": 60},
    "xgboost": {"n_rounds": 30},
    "catboost": {"n_rounds": 30},
    "catboost-select": {"n_rounds": 30},
}
INTRODUCTION = """\
# Every method in the window

<!-- Written by docs/method_pictures.py. -->

*Select* and *Features* after a run on the bundled sample, first fold. Panels that a method does not support
are hidden: the map of λ and k needs a path with one model per size; *Why* and *Candidates* need candidate
scores. The methods of boosted trees run fewer rounds than by default, and the two selections by
LambdaMART select up to eight features.
"""


def main(keys: list[str]) -> int:
    """Run every method, or the ones that are named, in a window without a display."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    IMAGES.mkdir(parents=True, exist_ok=True)
    app = application()
    theme = Theme("light")
    theme.apply(app)
    for key in keys or [entry.key for entry in methods()]:
        with tempfile.TemporaryDirectory() as settings:
            take(app, theme, Settings(Path(settings)), key)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
    return 0


def page() -> str:
    """Return the page of the guide that shows the pictures."""
    shown = [
        f"## {entry.label}\n\n![{entry.label}](images/methods/{entry.key}.webp)\n"
        for entry in methods()
    ]
    return "\n".join([INTRODUCTION, *shown])


def take(app: QApplication, theme: Theme, settings: Settings, key: str) -> None:
    """Run a method on the sample, and take the pictures of its pages."""
    window = MainWindow(theme, settings)
    window.resize(*SIZE)
    window.show()
    window.open_controller.open_path(SAMPLE)
    wait(app, lambda: window.session.dataset is not None)
    # so that the pictures have numbers of the test part
    window.session.unsealAsked.emit()
    window.session.change("method", method=key, parameters=SHORT.get(key, {}))
    window.commands["run"].trigger()
    wait(app, lambda: bool(window.runs.records) and not window.runs.busy, most=900.0)
    window.session.show_fold(1)
    grabbed = []
    for name in PAGES:
        window.workspace.show_page(name)
        rest(app)
        wait(app, lambda: not window.models.task_worker.jobs)
        rest(app)
        grabbed.append(window.grab().toImage())
    delete(window)
    sheet = reduced(below_each_other(grabbed)).convertToFormat(
        QImage.Format.Format_RGB32
    )
    sheet.save(str(IMAGES / f"{key}.webp"), "WEBP", LOSSLESS)


def below_each_other(images: list[QImage]) -> QImage:
    """Return pictures one below the other, in the width in which the guide shows them."""
    height = sum(image.height() for image in images)
    sheet = QImage(images[0].width(), height, QImage.Format.Format_RGB32)
    painter, top = QPainter(sheet), 0
    for image in images:
        painter.drawImage(0, top, image)
        top += image.height()
    painter.end()
    return sheet.scaledToWidth(SHOWN_WIDTH, Qt.TransformationMode.SmoothTransformation)


def reduced(image: QImage) -> QImage:
    """Return a picture in its most telling colours, a fourth of the bytes."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = (
        np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
        & 0xFFFFFF
    )
    values, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    rgb = np.stack([values >> 16, values >> 8 & 255, values & 255], axis=1).astype(
        np.float64
    )
    found = KMeans(min(COLORS, len(values)), n_init=1, random_state=0, max_iter=20).fit(
        rgb, sample_weight=np.sqrt(counts)
    )
    indices = found.labels_[places].reshape(pixels.shape).astype(np.uint8)
    # What fills areas keeps its very colour: the panel's white stays white.
    table = np.rint(found.cluster_centers_).astype(int)
    for cluster in range(len(table)):
        members = np.flatnonzero(found.labels_ == cluster)
        first = members[counts[members].argmax()]
        if counts[first] > 0.5 * counts[members].sum():
            table[cluster] = rgb[first]
    rows = np.ascontiguousarray(indices)
    made = QImage(
        rows.data,
        rows.shape[1],
        rows.shape[0],
        rows.shape[1],
        QImage.Format.Format_Indexed8,
    )
    made.setColorTable([QColor(*map(int, color)).rgb() for color in table])
    return made.copy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
