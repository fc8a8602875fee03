"""A command, a program or a notebook that gathers the evidence for a selection again."""

from __future__ import annotations

from collections.abc import Mapping

from rankstudio.engine.experiment.plan.as_code import (
    UNKNOWN,
    column_words,
    field_words,
    notebook,
    option_words,
    origin,
    parameter_words,
    plan_code,
    program,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.support.escaping import markdown_escaped, shell_command

_IMPORT_LINES = (
    "from rankstudio.engine import Plan",
    "from rankstudio.plugins.evidence.evidence_table import evidence_rows, evidence_sentences",
    "from rankstudio.plugins.evidence.judged_selection import JudgedSelection",
    "from rankstudio.plugins.evidence.selection_evidence import EvidenceOptions",
    "from rankstudio.engine.experiment.runner import open_data",
)


def evidence_as_command(plan: Plan, measure: str) -> str:
    """Return the command that gathers the evidence for a plan's selection in the terminal.

    Parameters
    ----------
    plan : Plan
        Plan with one value for each parameter and the size of the selection.
    measure : str
        Measure of the losses; "" for the squared error.

    Returns
    -------
    str
        One line for a POSIX shell; options with their default value are
        omitted.
    """
    words = [
        "rankstudio",
        "evidence",
        *(["--sample"] if plan.data == SAMPLE else ["--data", plan.data]),
    ]

    # The parameters with a grid have one value in this plan, which is
    # always written.
    always = [*(p.name for p in plan.entry.grids), "n_features_to_select"]
    words += [
        "--method",
        plan.method,
        *parameter_words(plan.entry.parameters, plan.parameters, always),
    ]
    words += option_words("--loss", measure) if measure else []
    words += option_words("--fold", str(plan.folds[0])) if plan.folds else []
    words += field_words(
        plan, ("missing", "normalize", "protocol", "convention", "seed")
    )
    return shell_command([*words, *column_words(plan)])


def evidence_as_python(
    plan: Plan, measure: str, computed_with: Mapping[str, str] = UNKNOWN
) -> str:
    """Return a Python program that gathers the evidence for a plan's selection, and prints it.

    Parameters
    ----------
    plan : Plan
        Plan with one value for each parameter and the size of the selection.
    measure : str
        Measure of the losses; "" for the squared error.
    computed_with : Mapping of str to str
        Versions by package that give the same bits, where these are known.
    """
    lines = [
        *(plan_code(plan), *_gathering_lines(measure)),
        "for row in evidence_rows(last.found, ids, lambda column: str(ids[column])):",
        "    print(row)",
        *_sentence_lines(),
    ]
    return program(_IMPORT_LINES, lines, computed_with)


def evidence_as_notebook(
    plan: Plan, measure: str, computed_with: Mapping[str, str] = UNKNOWN
) -> str:
    """Return a Jupyter notebook, as JSON, that gathers the evidence and shows its table.

    The evidence is that for the selection of ``plan``, which has one
    value for each parameter. ``measure`` is the measure of the losses
    ("" for the squared error), and ``computed_with`` has the versions
    by package that give the same bits.
    """
    # a sentence on the versions, if they are known
    caption = origin(computed_with) or "Evidence for a selection."
    table = "pd.DataFrame(evidence_rows(last.found, ids, lambda column: dataset.feature_names[column]))"
    return notebook(
        (
            "markdown",
            f"# {markdown_escaped(plan.title)}\n\n{markdown_escaped(caption)}",
        ),
        ("code", "\n".join(["import pandas as pd", "", *_IMPORT_LINES])),
        ("code", plan_code(plan)),
        ("code", "\n".join(_gathering_lines(measure))),
        ("code", table),
        ("code", "\n".join(_sentence_lines())),
    )


def _gathering_lines(measure: str) -> list[str]:
    """Return the lines of a program that gather the evidence of ``plan`` into ``last.found``.

    ``measure`` is the measure of the losses; "" for the squared error.
    """
    options = (
        f"EvidenceOptions(measure={measure!r}, convention=convention, seed=plan.seed)"
    )
    return [
        "dataset = open_data(plan)",
        "ids, convention = dataset.feature_ids, plan.convention or dataset.convention",
        f"options = {options}",
        "*_, last = JudgedSelection.of_plan(plan, dataset, plan.entry.defaults, options).steps()",
    ]


def _sentence_lines() -> list[str]:
    """Return the lines that print the sentences."""
    return [
        "for sentence in evidence_sentences(last.found, lambda column: str(ids[column])):",
        "    print(sentence)",
    ]
