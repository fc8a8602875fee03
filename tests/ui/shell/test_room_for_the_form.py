"""The form of the method has room for its fields in every language.

Only a process of its own can have another language.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOM = """
import sys
from pathlib import Path
from rankstudio.ui.language import install
install(sys.argv[1])
from rankstudio.ui.app import SAMPLE, application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

app, theme = application(), Theme("light")
theme.apply(app)
with theme.building():
    window = MainWindow(theme, Settings(Path(sys.argv[2])))
window.resize(1280, 760)
window.show()
window.open_path(SAMPLE)
while window.session.dataset is None:
    app.processEvents()
window.sections.workspace.show_page("select")
app.processEvents()
editor = window.sections.method.form.field("method").editor
print(editor.width() - editor.sizeHint().width())
sys.stdout.flush()
import os
os._exit(0)
"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_names_of_methods_have_the_same_room_in_every_language(language: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ROOM, language, str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(told.split()[-1]) >= 30
