"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Compiling a kernel takes longer than any deadline, and timings are no test.
settings.register_profile("rankstudio", deadline=None)
settings.load_profile("rankstudio")

LETOR_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "letor"


@pytest.fixture(autouse=True, scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the tests out of the user's own cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def letor_dir() -> Path:
    """The folder with LETOR's files, for tests marked ``realdata``."""
    chosen = os.environ.get("RANKSTUDIO_LETOR_DIR")
    folder = Path(chosen) if chosen else LETOR_FOLDER
    if not folder.is_dir():
        pytest.skip(f"no LETOR files: RANKSTUDIO_LETOR_DIR is not set and there is no {LETOR_FOLDER}")
    return folder
