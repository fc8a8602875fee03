"""The terminal command that carries an analysis out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankstudio.engine.experiment.plan.as_code import (
    column_words,
    data_word,
    field_words,
    parameter_words,
    plan_words,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog.analysis import Analysis, Needs
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.support.escaping import shell_command


def analysis_as_command(
    entry: Analysis, plan: Plan, values: Mapping[str, Any], study: Path | None = None, run: int | None = None
) -> str:
    """Return the terminal command of an analysis.

    Parameters
    ----------
    entry : Analysis
    plan : Plan
        Plan with the data; its folds are those that are analysed.
    values : Mapping
        Parameters by name.
    study : Path, optional
        Study with the run that is analysed.
    run : int, optional
        Number of the run.

    Returns
    -------
    str
        One line for a POSIX shell, without default values; "" if there is none, as for a run without a study.
    """
    parameters = entry.validate(values)
    words: list[str] | None
    if entry.words:
        words = imported(entry.words)(plan, parameters)
    elif entry.terminal:
        words = None
    elif entry.needs is Needs.RUN:
        found = study is not None and run is not None
        words = [str(study), "--run", str(run), *_parameters(entry, parameters)] if found else None
    elif entry.needs is Needs.PLAN:
        words = [data_word(plan), *plan_words(plan), *_parameters(entry, parameters)]
    else:
        fields = field_words(plan, ("folds", "missing", "normalize", "protocol", "seed"))
        words = [data_word(plan), *fields, *column_words(plan), *_parameters(entry, parameters)]
    return "" if words is None else shell_command(["rankstudio", entry.key, *words])


def _parameters(entry: Analysis, parameters: Mapping[str, Any]) -> list[str]:
    return list(parameter_words(entry.parameters, parameters))
