"""The commands *Next fold* and *Previous fold*."""

from __future__ import annotations

from pathlib import Path

from windows import open_window, settle

from rankstudio.ui.style.theme import Theme


def test_folds_follow_each_other_in_a_circle_that_begins_with_all(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        session = window.session
        numbers = [fold.number for fold in session.dataset.folds]
        turn = window.sections.data.turn
        for by, expected in ((1, numbers), (-1, numbers[::-1])):
            session.choose_fold(None)
            shown = []
            for _ in numbers:
                turn(by)
                shown.append(session.fold)
            assert shown == expected
            turn(by)
            assert session.fold == expected[0]
        settle(window)
