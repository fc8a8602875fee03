"""The sections of the window: sizes come back, and damaged ones are not believed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QSplitter, QWidget

from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.workspace import Workspace


@pytest.fixture
def workspace(stage: Callable[..., QWidget]) -> Workspace:
    panels = [QWidget() for _ in range(7)]
    made = Workspace(panels[:2], panels[2], panels[3:5], panels[5:6], panels[6])
    stage(made, 1200, 800)
    return made


def state(workspace: Workspace) -> dict[str, tuple[list[int], int, object]]:
    """How all splitters stand."""
    return {s.objectName(): (s.sizes(), s.handleWidth(), s.orientation()) for s in workspace._splitters()}


def test_sizes_come_back(workspace: Workspace, tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    workspace._outer.setSizes([500, 290])
    dragged = state(workspace)
    workspace.save(settings)
    workspace._outer.setSizes([300, 490])
    assert state(workspace) != dragged
    workspace.restore(settings)
    assert state(workspace) == dragged


def test_what_is_damaged_is_not_believed(workspace: Workspace, tmp_path: Path) -> None:
    settings, before, rng = Settings(tmp_path), state(workspace), random.Random(0)
    kept = {s.objectName(): s.saveState().data() for s in workspace.findChildren(QSplitter)}
    for _ in range(300):
        name = rng.choice(sorted(kept))
        damaged = bytearray(kept[name])
        for _ in range(rng.choice((1, 1, 4))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        settings.set(f"splitters/{name}", QByteArray(damaged[: rng.choice((None, None, rng.randrange(40)))]))
        workspace.restore(settings)
        for name, (sizes, width, orientation) in state(workspace).items():
            assert (width, orientation) == before[name][1:]
            assert sum(sizes) <= 1200
        assert workspace.width() == 1200
