"""A plan as something to paste: a command for the terminal, or a few lines of Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from rankstudio.engine.data.feature_groups import format_groups
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict
from rankstudio.engine.methods.catalog import Kind, Parameter

_SAID = ("data", "method", "parameters", "select_by", "convention", "ranker", "ranker_parameters")

_COLUMN_OPTIONS = {
    "qid": "--qid",
    "label": "--label",
    "features": "--columns",
    "ignore": "--ignore",
    "ids_from": "--ids-from",
}
"""The options by which the terminal has the columns of tables."""


def as_command(plan: Plan, out: str = "") -> str:
    """Return the command that runs a plan in the terminal.

    Parameters
    ----------
    plan : Plan
    out : str
        Folder for the results; "" leaves it out.

    Returns
    -------
    str
        One line for a POSIX shell, without what has its default anyway.
    """
    words = ["rankstudio", "run"]
    words += ["--sample"] if plan.data == SAMPLE else ["--data", plan.data]
    words += ["--method", plan.method]
    ranker = plan.ranker_entry
    own = [p for p in plan.entry.parameters if not (ranker and p.ranks)]
    words += _options(own, plan.parameters, "--")
    if ranker:
        words += ["--ranker", plan.ranker, *_options(ranker.parameters, plan.ranker_parameters, "--ranker-")]
    # What the terminal would otherwise take from the data is always said.
    words += ["--select-by", plan.select_by, "--convention", plan.convention]
    for name, value in _not_default(plan):
        text = ",".join(str(item) for item in value) if isinstance(value, tuple) else str(value)
        words += [f"--{name}", text]
    for name, told in plan.columns.items():
        words += [_COLUMN_OPTIONS[name], ",".join(told) if isinstance(told, tuple) else str(told)]
    words += ["--groups", format_groups(plan.groups)] if plan.groups else []
    words += ["--out", out] if out else []
    return shlex.join(words)


def _options(parameters: Sequence[Parameter], values: Mapping[str, Any], prefix: str) -> list[str]:
    """Return options and values; a grid also where it is the default: it is what a reader looks for first."""
    words: list[str] = []
    for place, parameter in enumerate(parameters):
        value = values[parameter.name]
        if (place == 0 and parameter.kind is Kind.GRID) or value != parameter.default:
            option = prefix + parameter.option.removeprefix("--")
            words += [option, parameter.written(value)]
    return words


def _not_default(plan: Plan) -> Iterator[tuple[str, Any]]:
    """Yield the fields of the protocol that differ from the default."""
    for f in fields(plan):
        if f.name in _SAID or f.default is MISSING:
            continue
        value = getattr(plan, f.name)
        if value != f.default:
            yield f.name, value


def as_python(plan: Plan) -> str:
    """Return a short program that runs a plan and prints the averages over the folds."""
    values = plan_as_dict(plan)
    arguments = []
    for name, value in values.items():
        shown = tuple(value) if isinstance(value, list) else value
        if isinstance(value, dict):
            shown = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        arguments.append(f"    {name}={shown!r},\n")
    return (
        "from rankstudio.engine.experiment.results.events import RunFinished\n"
        "from rankstudio.engine.experiment.plan.plan import Plan\n"
        "from rankstudio.engine.experiment.runner import run\n"
        "\n"
        "plan = Plan(\n" + "".join(arguments) + ")\n"
        "for event in run(plan):\n"
        "    if isinstance(event, RunFinished):\n"
        "        for fold in event.result.folds:\n"
        "            print(fold.fold, fold.selected, dict(fold.test))\n"
        "        print(event.result.average)\n"
    )
