"""Take the guide's pictures of the window, on the bundled sample.

python docs/screenshots.py
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
SIZE = (1440, 900)


def main() -> int:
    """Open the window without a display, run the sample's study, choose a model, and grab both themes."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as settings:
        os.environ["RANKSTUDIO_CONFIG_DIR"] = settings
        return _take()


def _take() -> int:
    from rankstudio.engine.experiment.plan import SAMPLE
    from rankstudio.ui.app import application
    from rankstudio.ui.main_window import MainWindow
    from rankstudio.ui.settings import Settings
    from rankstudio.ui.theme import Theme

    app = application()
    theme = Theme("light")
    theme.apply(app)
    window = MainWindow(theme, Settings())
    window.resize(*SIZE)
    window.show()

    def wait(until: Callable[[], bool], most: float = 60.0) -> None:
        end = time.monotonic() + most
        while not until():
            app.processEvents()
            time.sleep(0.005)
            if time.monotonic() > end:
                raise TimeoutError("the window did not come to rest")

    window.open_path(SAMPLE, run=True)
    wait(lambda: bool(window.runs.records) and not window.runs.busy)
    window.study.look_at(3)
    rest = time.monotonic() + 1.5
    wait(lambda: time.monotonic() > rest)
    IMAGES.mkdir(exist_ok=True)
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        rest = time.monotonic() + 0.5
        wait(lambda: time.monotonic() > rest)
        window.grab().save(str(IMAGES / f"window-{mode}.png"))
    window.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
