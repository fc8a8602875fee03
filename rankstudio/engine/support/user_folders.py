"""Folders of this user."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of the log, crash reports, unnamed studies and allowed code.

    The environment variable ``RANKSTUDIO_DATA_DIR`` or, without it,
    ``RANKSTUDIO_CONFIG_DIR`` overrides the platform's folder.
    """
    override = os.environ.get("RANKSTUDIO_DATA_DIR") or os.environ.get(
        "RANKSTUDIO_CONFIG_DIR"
    )
    if override:
        return Path(override)
    from platformdirs import user_data_path  # noqa: PLC0415 - only where nothing overrides it

    return user_data_path("RankStudio", appauthor=False)
