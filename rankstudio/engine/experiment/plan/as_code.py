"""A plan as something to run: a command for the terminal, a few lines of Python, or a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from rankstudio.engine.data.columns import joined_names
from rankstudio.engine.data.feature_groups import format_groups
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.methods.catalog.given import GIVEN_MODEL
from rankstudio.engine.support.escaping import comment_text, markdown_escaped, shell_command
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_SAID = (
    *("data", "method", "parameters", "select_by", "convention", "ranker", "ranker_parameters"),
    "preferences",
)

_COLUMN_OPTIONS = {
    "qid": "--qid",
    "label": "--label",
    "features": "--columns",
    "ignore": "--ignore",
    "ids_from": "--ids-from",
    "part": "--part",
}
"""The options by which the terminal has the columns of tables."""

_UNKNOWN: Mapping[str, str] = FrozenMapping()


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
    given = plan.scores  # from them alone nothing is learned
    if given:
        option = "--models" if plan.method == GIVEN_MODEL.key else "--scores"
        words += [option, f"{given['name']}={given['path']}", "--convention", plan.convention]
    else:
        words += ["--method", plan.method]
    ranker = plan.ranker_entry
    words += _options(plan.entry.parameters, plan.parameters, "--", ranked=ranker is not None)
    if ranker:
        words += ["--ranker", plan.ranker, *_options(ranker.parameters, plan.ranker_parameters, "--ranker-")]
    # What the terminal would otherwise take from the data is always said.
    words += [] if given else ["--select-by", plan.select_by, "--convention", plan.convention]
    for name, value in _not_default(plan):
        if given and name == "rule":
            continue
        text = ",".join(str(item) for item in value) if isinstance(value, tuple) else str(value)
        words += [f"--{name}", text]
    words += column_words(plan)
    words += ["--groups", format_groups(plan.groups)] if plan.groups else []
    words += ["--preferences", plan.preferences["path"]] if plan.preferences else []
    words += ["--out", out] if out else []
    return shell_command(words)


def column_words(plan: Plan) -> Iterator[str]:
    """Yield the options of the terminal that say what the columns of the data are."""
    for name, told in plan.columns.items():
        yield from (_COLUMN_OPTIONS[name], joined_names(told) if isinstance(told, tuple) else str(told))


def _options(
    parameters: Sequence[Parameter], values: Mapping[str, Any], prefix: str, *, ranked: bool = False
) -> list[str]:
    """Return options and values; a grid also where it is the default: it is what a reader looks for first.

    Where a ranker follows, a method's own grid for ranking is no such thing, but still a part of the plan.
    """
    words: list[str] = []
    for place, parameter in enumerate(parameters):
        value = values[parameter.name]
        first = place == 0 and parameter.kind is Kind.GRID and not (ranked and parameter.ranks)
        if first or value != parameter.default:
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


def as_python(plan: Plan, out: str = "", computed_with: Mapping[str, str] = _UNKNOWN) -> str:
    """Return a short program that runs a plan with the library, and prints what was chosen and measured.

    Parameters
    ----------
    plan : Plan
    out : str
        New folder that it writes the results to, as ``rankstudio run`` does; "" for none.
    computed_with : Mapping of str to str
        Versions that give the same bits, where these are known.
    """
    lines = [
        *origin_lines(computed_with),
        *_imports(out),
        "",
        plan_code(plan),
        *_new_folder(out),
        "result = run_plan(plan)",
        "for fold in result.folds:",
        "    print(fold.fold, fold.selected, dict(fold.test))",
        "print(result.average)",
        *(["write_results(result, out)"] if out else []),
    ]
    return "\n".join(lines) + "\n"


def as_notebook(plan: Plan, out: str = "", computed_with: Mapping[str, str] = _UNKNOWN) -> str:
    """Return a Jupyter notebook that runs a plan and shows its results; parameters as of a program.

    It is in version 4.5 of the format, and has the same text whenever it is made.
    """
    origin = _origin(computed_with) or "A run of RankStudio."
    cells = [
        ("markdown", f"# {markdown_escaped(plan.title)}\n\n{markdown_escaped(origin)}"),
        ("code", "\n".join(_imports(out))),
        ("code", "\n".join([plan_code(plan), *_new_folder(out)])),
        ("code", "result = run_plan(plan)\nresult"),
        ("code", "result.path_frame()"),
        ("code", "result.plot();"),
        *([("code", "write_results(result, out)")] if out else []),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": [_notebook_cell(number, *cell) for number, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _notebook_cell(number: int, kind: str, text: str) -> dict[str, Any]:
    shared = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return shared | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _imports(out: str) -> list[str]:
    names = "Plan, run_plan, write_results" if out else "Plan, run_plan"
    return [*(["from pathlib import Path", ""] if out else []), f"from rankstudio.engine import {names}"]


def _new_folder(out: str) -> list[str]:
    """Return what makes the folder of the results, before any work."""
    if not out:
        return []
    return [f"out = Path({out!r})", "out.mkdir(parents=True)  # where there is one it stays, and this stops"]


def origin_lines(computed_with: Mapping[str, str]) -> list[str]:
    """Return a comment on what gives the same bits."""
    said = _origin(computed_with)
    return [f"# {comment_text(said, 'python')}"] if said else []


def _origin(computed_with: Mapping[str, str]) -> str:
    names = ", ".join(f"{name} {number}" for name, number in computed_with.items())
    return f"The same bits, on the same data, with {names}." if names else ""


def plan_code(plan: Plan) -> str:
    """Return the plan as Python says it."""
    arguments = []
    for name, value in plan_as_dict(plan).items():
        shown = tuple(value) if isinstance(value, list) else value
        if isinstance(value, dict):
            shown = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        arguments.append(f"    {name}={shown!r},\n")
    return "plan = Plan(\n" + "".join(arguments) + ")"
