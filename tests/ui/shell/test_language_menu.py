from __future__ import annotations

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings


def test_a_language_is_chosen_for_the_next_start_and_said(empty: MainWindow) -> None:
    actions = empty.commands.submenus["language"].actions()
    assert {action.data(): action.text() for action in actions} == {
        "system": "As the system",
        "en": "English",
        "de": "Deutsch",
    }
    assert [action.data() for action in actions if action.isChecked()] == ["system"]
    next(action for action in actions if action.data() == "de").trigger()
    assert "next start" in empty.notice.text()
    assert [action.data() for action in actions if action.isChecked()] == ["de"]
    assert Settings(empty._settings.folder).language == "de"
    assert empty.commands["quit"].text() == "&Quit", "this window stays as it is"
