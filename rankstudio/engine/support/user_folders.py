"""Folders of this user."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of log, crash reports, studies without a name and allowed code.

    ``RANKSTUDIO_DATA_DIR`` overrides the platform's, and so does
    ``RANKSTUDIO_CONFIG_DIR``.
    """
    override = os.environ.get("RANKSTUDIO_DATA_DIR") or os.environ.get(
        "RANKSTUDIO_CONFIG_DIR"
    )
    if override:
        return Path(override)
    from platformdirs import user_data_path  # noqa: PLC0415 - only where nothing overrides it

    return user_data_path("RankStudio", appauthor=False)
