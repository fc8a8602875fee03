"""The options of the command line that name a file of preferences or of clicks."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import PlanError
from rankstudio.plugins.preferences.clicks import PAIR_RULES, ClickRule


def add_options(parser: argparse._ActionsContainer) -> None:
    """Add the options for a file of preferences or clicks to those of the terminal."""
    parser.add_argument(
        "--preferences",
        type=Path,
        metavar="FILE",
        help='learn from preferences instead of labels: a CSV file with lines "qid,winner,'
        'loser[,magnitude[,weight]]"; documents are given by id, or by position in the query from 1. Or '
        "clicks: a CSV file with the columns qid, docid, position and click (0 or 1), and optionally session "
        "and propensity",
    )
    parser.add_argument(
        "--click-pairs",
        choices=PAIR_RULES,
        help="pairs of clicks: the clicked document over each unclicked one of its result list (default), or "
        "over each skipped one above it",
    )
    parser.add_argument(
        "--eta",
        metavar="ETA",
        help='weight of a click: position^ETA; "estimated" from documents shown at several positions, or '
        '"given" for the inverse of the column propensity; by default given if there is that column',
    )


def preferences_from(args: argparse.Namespace) -> dict[str, str] | None:
    """Return the plan's entry for the preference file that the terminal's options name.

    Return None if the options name no such file.

    Raises
    ------
    PlanError
        If a rule for clicks is given without a file.
    ParameterError
        If the rule is invalid.
    DataError
        If the file cannot be read.
    """
    from rankstudio.plugins.preferences.plan_preferences import plan_entry  # noqa: PLC0415 - after the options

    # Options that are absent, or that the command does not have, are None.
    path: Any = getattr(args, "preferences", None)
    pairs = getattr(args, "click_pairs", None)
    eta: str | None = getattr(args, "eta", None)
    if pairs is None and eta is None:
        return plan_entry(path) if isinstance(path, Path) else path
    if path is None:
        raise PlanError(
            "--click-pairs, --eta: only with --preferences and a click log. Omit them."
        )
    return plan_entry(path, ClickRule(pairs=pairs or "unclicked", eta=eta or ""))
