"""A worker for tasks of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from rankstudio.ui.background.worker import Worker


@pytest.fixture
def worker(app: QApplication) -> Iterator[Worker]:
    made = Worker("test-worker", interval=1)
    yield made
    made.close()
    made.deleteLater()
