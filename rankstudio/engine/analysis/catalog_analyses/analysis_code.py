"""The terminal command of an analysis."""

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
from rankstudio.engine.plugins.guard import called
from rankstudio.engine.support.escaping import shell_command

_TIMEOUT = 1.0  # seconds within which a plug-in's code must return the words


def analysis_as_command(
    entry: Analysis,
    plan: Plan,
    values: Mapping[str, Any],
    study: Path | None = None,
    run: int | None = None,
) -> str:
    """Return the terminal command that carries out an analysis.

    Parameters
    ----------
    entry : Analysis
        Analysis, with its key and parameters.
    plan : Plan
        Plan with the data; its folds are those that are analysed.
    values : Mapping
        Values of the analysis's parameters, by name.
    study : Path, optional
        Study with the run that is analysed.
    run : int, optional
        Number of the run in the study.

    Returns
    -------
    str
        One line for a POSIX shell, without default values; "" if there
        is no such command, as for a run without a study.
    """
    parameters = entry.validate(values)
    # A command can name a run only by its study and number.
    if entry.needs is Needs.RUN and (study is None or run is None):
        return ""
    # The analysis has a command of its own, and no function (`words`)
    # that says which words this command takes.
    if entry.terminal and not entry.words:
        return ""
    input_words = [str(study), "--run", str(run)] if entry.needs is Needs.RUN else []

    # Such a function makes the words from the plan and the parameters.
    if entry.words:
        words = _own_words(entry, plan, parameters)
        return (
            ""
            if words is None
            else shell_command(["rankstudio", entry.key, *input_words, *words])
        )

    # Words for the plan or the data that the analysis needs.
    if entry.needs is Needs.PLAN:
        input_words = [data_word(plan), *plan_words(plan)]
    elif entry.needs is not Needs.RUN:
        # An analysis of data needs only what divides and reads them.
        fields = field_words(
            plan, ("folds", "missing", "normalize", "protocol", "seed")
        )
        input_words = [data_word(plan), *fields, *column_words(plan)]
    options = parameter_words(entry.parameters, parameters)
    return shell_command(["rankstudio", entry.key, *input_words, *options])


def _own_words(
    entry: Analysis, plan: Plan, parameters: Mapping[str, Any]
) -> list[str] | None:
    """Return the terminal words that an analysis's own function makes from its parameters.

    `parameters` has the values of the analysis's parameters by name.
    The result is None if the function of a plug-in fails or takes too
    long, or does not return a list of texts.
    """

    def words() -> Any:
        """Call the function of the analysis. Uses the arguments of the function around it."""
        return imported(entry.words)(plan, parameters)

    try:
        # Code of other packages may fail or hang: `called` gives it a
        # time limit, and turns its errors into a RuntimeError.
        answer = words() if entry.is_own else called(words, _TIMEOUT)
    except (RuntimeError, TimeoutError):
        if entry.is_own:
            raise
        return None
    is_usable = isinstance(answer, list) and all(
        isinstance(word, str) for word in answer
    )
    return answer if is_usable else None
