"""Files that are there already: none is replaced without ``--force``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rankstudio.cli.standard_streams import is_standard
from rankstudio.engine.analysis.batch import Comparison, folder_name
from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.plan.plan import Plan

TABLES = ("comparison.csv", "comparison.md", "tests.csv")
_USUAL = ("convention", "select_by")  # as the data say, where a comparison does not
_FIGURES = ("criterion.png", "validation-*.png")


def add_force_option(parser: Any) -> None:
    """Add the option that lets files be replaced."""
    parser.add_argument("--force", action="store_true", help="replace files that are there already")


def refuse_existing(paths: Iterable[Path], force: bool, what: str = "There is such a file already") -> None:
    """Refuse to replace the first file that is there, by whichever name or link.

    Raises
    ------
    OutputError
        The text names the file and the option that replaces it.
    """
    for path in paths:
        if not force and not is_standard(path) and not path.is_dir() and (path.is_symlink() or path.exists()):
            raise OutputError(f"{path}: {what}; expected another place, or --force to replace it.")


def refuse_other_run(plan: Plan, out: Path, *, figures: bool, force: bool, refitted: bool = False) -> None:
    """Refuse to replace the results of another run; those of the same one are gone on with.

    Raises
    ------
    OutputError
    """
    from rankstudio.engine.experiment.reports import MODELS, REFITTED, RESULT_FILES, plan_of_results

    if plan_of_results(out) != plan:
        drawn = (path for pattern in _FIGURES for path in sorted(out.glob(pattern))) if figures else ()
        models = [*sorted(out.glob(f"{MODELS}/fold*.json")), *([out / REFITTED] if refitted else [])]
        files = [*(out / name for name in RESULT_FILES), *drawn, *models]
        refuse_existing(files, force, "This is of another run")


def refuse_other_comparison(comparison: Comparison, data: Sequence[str], out: Path, force: bool) -> None:
    """Refuse to replace the tables of another comparison, and results of other runs in folders of its own.

    Raises
    ------
    OutputError
    """
    from rankstudio.engine.experiment.reports import plan_of_results

    plans = [plan for place in data for plan in comparison.plans(place)]
    stored = {path: plan_of_results(path.parent) for path in sorted(out.glob("*/results.json"))}
    others = [path for path, plan in stored.items() if not _among(plan, plans, comparison)]
    if others or not stored:
        refuse_existing((out / name for name in TABLES), force, "This is of another comparison")
    ends = tuple(f"-{folder_name(plan)}" for plan in plans)
    own = (path for path in others if path.parent.name.endswith(ends))
    refuse_existing(own, force, "This is of another run")


def _among(stored: Plan | None, plans: Sequence[Plan], comparison: Comparison) -> bool:
    """Tell whether one of the plans is the stored one, once the data filled in what they say."""
    if stored is None:
        return False
    usual = {name: getattr(stored, name) for name in _USUAL if name not in comparison.protocol}
    return any(plan.changed(**usual) == stored for plan in plans)
