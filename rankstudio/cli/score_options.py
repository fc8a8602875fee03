"""Scores of other programs, and models of files, in the terminal: ``--scores name=place``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from rankstudio.engine.errors import PlanError


def given_by_name(args: argparse.Namespace) -> dict[str, tuple[Path, bool]]:
    """Return files or folders by the names that their scores or models have, and whether they are models.

    Raises
    ------
    PlanError
        Where a text is not a name and a place, or a name comes again.
    """
    scores = by_name(args.scores or (), "--scores", "neural=scores")
    models = by_name(args.models or (), "--models", "former=results/models")
    if both := [name for name in models if name in scores]:
        raise PlanError(f"--models: expected each name once, got {both[0]!r} again.")
    return {name: (place, False) for name, place in scores.items()} | {
        name: (place, True) for name, place in models.items()
    }


def by_name(texts: Sequence[str], option: str, example: str) -> dict[str, Path]:
    """Return files or folders by the names that an option gives them.

    Raises
    ------
    PlanError
        Where a text is not a name and a place, or a name comes again.
    """
    places: dict[str, Path] = {}
    for text in texts:
        name, apart, place = text.partition("=")
        name = " ".join(name.split())
        if not (apart and name and place):
            raise PlanError(f"{option}: expected NAME=PLACE, as in {example}, got {text!r}.")
        if name in places:
            raise PlanError(f"{option}: expected each name once, got {name!r} again.")
        places[name] = Path(place)
    return places


def refuse_beside_scores(args: argparse.Namespace) -> None:
    """Refuse options that say how to learn, where nothing is learned.

    Raises
    ------
    PlanError
        The text names the option.
    """
    given = [name for name in ("method", "ranker", "rule", "select_by") if getattr(args, name) is not None]
    given += [name for name in ("refit", "preferences") if getattr(args, name)]
    if given:
        option = f"--{given[0].replace('_', '-')}"
        raise PlanError(
            f"{option}: not allowed with --scores and --models, which evaluate without training. Omit it."
        )


def safe_name(name: str) -> str:
    """Return the name of scores as that of a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "scores"
