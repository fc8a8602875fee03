"""Made data as a folder of LETOR text, for tests of what reads files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking


def save_folds(folder: Path, n_folds: int = 5, **made: Any) -> Path:
    """Write the first folds of what ``make_ranking`` makes; return the folder, which is made, too."""
    # of features
    few = {"n_informative": 4, "n_redundant": 4, "n_noise": 10, "n_constant": 2}
    for fold in make_ranking(**few | made).folds[:n_folds]:
        place = folder / f"Fold{fold.number}"
        place.mkdir(parents=True)
        for name, part in fold.parts.items():
            save_letor(part, place / f"{name}.txt")
    return folder
