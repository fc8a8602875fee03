"""The same walks on a screen of two pixels a point, in a window of 1024 x 700."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_ENOUGH = 200.0  # seconds
_SCREEN = {
    "name": "large",
    "x": 0,
    "y": 0,
    "width": 2560,
    "height": 1600,
    "logicalDpi": 96,
    "logicalBaseDpi": 96,
    "dpr": 1,
}


def test_the_walks_in_a_process_of_their_own(tmp_path: Path) -> None:
    screens = tmp_path / "screens.json"
    screens.write_text(
        json.dumps(
            {
                "synchronousWindowSystemEvents": False,
                "windowFrameMargins": True,
                "screens": [_SCREEN],
            }
        )
    )
    changed = {
        "QT_QPA_PLATFORM": f"offscreen:configfile={screens}",
        "QT_SCALE_FACTOR": "2",
        "RANKSTUDIO_WALK_SIZE": "1024x700",
    }
    walks = [
        str(Path(__file__).parent / walk)
        for walk in ("test_by_mouse.py", "test_by_keyboard.py")
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-x", *walks]
    done = subprocess.run(
        [*command, f"--basetemp={tmp_path / 'walk'}"],
        env=os.environ | changed,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=_ENOUGH,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
