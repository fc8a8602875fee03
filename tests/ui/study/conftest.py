"""Data for studies."""

from __future__ import annotations

from pathlib import Path

import pytest
from windows import write_folds


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Small data that a test may change."""
    return write_folds(tmp_path / "Small")
