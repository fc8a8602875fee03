"""The installed commands open the window in every language, however it was chosen.

They are started as a user starts them, in a process and a home of their own. Modules of the window look texts
up as they are imported, so only a fresh process shows in which order that happens.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from rankstudio.cli import LANGUAGES
from rankstudio.ui.process.settings import Settings

WATCHED = Path(__file__).with_name("watched")
SCRIPTS = Path(sysconfig.get_path("scripts"))
MENUS = {
    "en": ["&File", "&Edit", "&View", "&Run", "&Help"],
    "de": ["&Datei", "&Bearbeiten", "&Ansicht", "&Lauf", "&Hilfe"],
}
COMMANDS = {
    "rankstudio": [str(SCRIPTS / "rankstudio")],
    "rankstudio-window": [str(SCRIPTS / "rankstudio-window")],
    "python -m rankstudio": [sys.executable, "-m", "rankstudio"],
}
LOCALE = ("LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES")
SHORTEST, LEAST_COLOURS = 200, 12  # of a picture that shows a window

pytestmark = pytest.mark.gui


@dataclass(frozen=True)
class Start:
    """A way to start the window, and the language it is to be in."""

    language: str
    command: str = "rankstudio"
    words: tuple[str, ...] = ()
    settings: str = ""
    locale: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        chosen = [f"{key}={value}" for key, value in self.locale.items()]
        chosen += [f"settings {self.settings}"] * bool(self.settings)
        return f"{' '.join([*chosen, self.command, *self.words])}: {self.language}"


GERMAN_SYSTEM = {"LANG": "de_DE.UTF-8"}
STARTS = (
    Start("de", settings="de"),
    Start("de", words=("--language", "de")),
    Start("de", "rankstudio-window", locale=GERMAN_SYSTEM),
    Start("de", "python -m rankstudio", locale={"LANGUAGE": "de"}),
    Start("en", settings="en", locale=GERMAN_SYSTEM),
    Start("en", words=("--language=en",), settings="de", locale=GERMAN_SYSTEM),
    Start("en", "rankstudio-window", locale={"LANG": "fi_FI.UTF-8"}),
)
"""Each command, each language, each way to choose one, and which of two ways counts."""


def test_every_language_is_started() -> None:
    assert {start.language for start in STARTS} == set(MENUS) == set(LANGUAGES)
    assert {start.command for start in STARTS} == set(COMMANDS)


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_the_window_opens_in_the_language_that_was_chosen(
    start: Start, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    if start.settings:
        settings = Settings(config)
        settings.set("window/language", start.settings)  # as View → Language writes it
        settings.sync()
    surroundings = {
        key: value for key, value in os.environ.items() if key not in LOCALE
    }
    done = subprocess.run(
        [*COMMANDS[start.command], *start.words],
        env={
            **surroundings,
            **start.locale,
            "QT_QPA_PLATFORM": "offscreen",
            "HOME": str(tmp_path),
            "RANKSTUDIO_CONFIG_DIR": str(config),
            "RANKSTUDIO_DATA_DIR": str(tmp_path / "data"),
            "PYTHONPATH": str(WATCHED),
            "WATCHED_WINDOW": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert seen["menus"] == MENUS[start.language]
    assert ("&Beispiel öffnen" in seen["actions"]) == (start.language == "de")
    assert ("Merkmale" in seen["pages"]) == (start.language == "de")
    assert "RankStudio" in seen["title"]
    picture = QImage(str(tmp_path / "window.png"))
    colours = {
        picture.pixel(x, y)
        for x in range(0, picture.width(), 3)
        for y in range(picture.height())
    }
    assert min(picture.width(), picture.height()) > SHORTEST
    assert len(colours) > LEAST_COLOURS
