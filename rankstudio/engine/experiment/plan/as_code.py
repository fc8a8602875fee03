"""The formats of a plan: TOML, a command, Python code, or a notebook.

Permutation tests and simulations of a plan are written with the same words and lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.data.columns import COLUMN_OPTIONS
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of, format_groups
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.hand_choice import HandChoices
from rankstudio.engine.experiment.plan.plan import SAMPLE, WORDS, Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_as_toml
from rankstudio.engine.methods.catalog import (
    GIVEN_MODEL,
    Kind,
    Method,
    Parameter,
    is_added,
)
from rankstudio.engine.support.escaping import (
    comment_text,
    markdown_escaped,
    shell_command,
)
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.name_lists import joined_names

_WRITTEN_FIELDS = (
    "data",
    "method",
    "parameters",
    "select_by",
    "convention",
    "ranker",
    "ranker_parameters",
    "columns",
)

UNKNOWN: Mapping[str, str] = FrozenMapping()
"""No versions: those of the libraries are unknown."""


def as_command(plan: Plan, out: str = "") -> str:
    """Return the terminal command that runs a plan.

    Parameters
    ----------
    plan : Plan
    out : str
        Folder for the results; "" for none.

    Returns
    -------
    str
        One line for a POSIX shell, without default values.
    """
    data_words = ["--sample"] if plan.data == SAMPLE else ["--data", plan.data]
    words = ["rankstudio", "run", *data_words, *plan_words(plan)]
    words += option_words("--out", out) if out else []
    return shell_command(words)


def data_word(plan: Plan) -> str:
    """Return the first word of commands, which names the data of a plan."""
    return "--sample" if plan.data == SAMPLE else plan.data


def plan_words(plan: Plan) -> list[str]:
    """Return the terminal options of a plan, without its data and most default values.

    The words are those of ``rankstudio run``: ["--method", "gas", "--seed",
    "3"].
    """
    words: list[str] = []
    convention_words = ["--convention", plan.convention] if plan.convention else []
    # files of scores or models: no method learns
    given_ranking = plan.extension(GivenRanking)
    if given_ranking is not None:
        option = "--models" if plan.method == GIVEN_MODEL.key else "--scores"
        words += [
            option,
            f"{given_ranking.name}={given_ranking.path}",
            *convention_words,
        ]
    else:
        words += ["--method", plan.method]
    ranker = plan.ranker_entry
    # The grid that a method has as its first parameter is written even
    # if it has its default value: it says what the run tries.
    words += parameter_words(
        plan.entry.parameters, plan.parameters, _first_grid_name(plan.entry, ranker)
    )
    if ranker:
        words += ["--ranker", plan.ranker]
        words += parameter_words(
            ranker.parameters,
            plan.ranker_parameters,
            _first_grid_name(ranker),
            prefix="--ranker-",
        )

    # The terminal would take these two settings from the data, so they
    # are always written.
    words += [] if given_ranking else ["--select-by", plan.select_by, *convention_words]
    # The other fields, if they differ from their defaults: those of all
    # fields, `WORDS`, that are not written above or below. A given
    # ranking is the only model, so no rule selects one.
    written_names = {*_WRITTEN_FIELDS, "rule"} if given_ranking else _WRITTEN_FIELDS
    words += field_words(plan, [name for name in WORDS if name not in written_names])
    hand_choices = plan.extension(HandChoices)
    words += (
        [] if hand_choices is None else option_words("--hand-chosen", hand_choices.text)
    )
    return [*words, *column_words(plan), *group_words(plan)]


def _first_grid_name(entry: Method, ranker: Method | None = None) -> tuple[str, ...]:
    """Return the name of a method's first parameter if the parameter is a grid, as a tuple.

    This grid is written into a command even with its default value.

    `entry` is the method, and `ranker` a final ranker. The result is ()
    if the parameter is no grid, or if it only concerns the method's own
    ranking, which a final ranker replaces.
    """
    first = entry.parameters[:1]
    return tuple(
        p.name for p in first if p.kind is Kind.GRID and not (ranker and p.ranks)
    )


def option_words(option: str, value: str) -> list[str]:
    """Return an option with its value, joined by "=" if the value looks like an option."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def parameter_words(
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    always: Collection[str] = (),
    prefix: str = "--",
) -> Iterator[str]:
    """Yield the terminal options of parameters with other values than the defaults.

    Each option is two words, such as "--lambda" and its value, or one
    word with "=". `values` has the values by name. Parameters with a
    name in `always` have an option in any case. `prefix` begins each
    option, such as "--ranker-" for a final ranker.
    """
    for p in parameters:
        if p.name in always or values[p.name] != p.default:
            text = p.written(values[p.name]) or p.none_label
            yield from option_words(prefix + p.option.removeprefix("--"), text)


def field_words(plan: Plan, names: Iterable[str]) -> Iterator[str]:
    """Yield the terminal options of fields of a plan, such as "--seed", "3".

    Only the fields in `names` are written, and only those with another
    value than the default.
    """
    default_plan = Plan(plan.data)
    for name in names:
        value = getattr(plan, name)
        if value != getattr(default_plan, name):
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            yield from option_words(f"--{name.replace('_', '-')}", text)


def column_words(plan: Plan) -> Iterator[str]:
    """Yield the terminal options for the columns of the data: "--qid", "query"."""
    for name, setting in plan.columns.items():
        # A setting that is on needs no value, such as the one for data without queries.
        if setting is True:
            yield COLUMN_OPTIONS[name]
            continue
        # The files of several judges are one option each, because a
        # path may have commas.
        if name == "judgments" and isinstance(setting, tuple):
            for file in setting:
                yield from option_words(COLUMN_OPTIONS[name], file)
            continue
        text = joined_names(setting) if isinstance(setting, tuple) else str(setting)
        yield from option_words(COLUMN_OPTIONS[name], text)


def group_words(plan: Plan) -> Iterator[str]:
    """Yield the terminal options for feature groups, costs and preferences.

    The options are words such as "--costs" and its value. A plan
    without groups, costs and preferences yields nothing.
    """
    if feature_groups_of(plan):
        yield from option_words("--groups", format_groups(feature_groups_of(plan)))
    costs = plan.extension(FeatureCosts)
    if costs is not None:
        yield from option_words("--costs", costs.text())
    if preferences_of(plan):
        yield from option_words("--preferences", preferences_of(plan)["path"])
    # Clicks are preferences too: "pairs" says which documents make a
    # pair with a clicked one, and "eta" how positions are weighted.
    if "pairs" in preferences_of(plan):
        yield from option_words("--click-pairs", preferences_of(plan)["pairs"])
        yield from option_words("--eta", preferences_of(plan)["eta"])


def as_python(
    plan: Plan, out: str = "", computed_with: Mapping[str, str] = UNKNOWN
) -> str:
    """Return a short program that runs a plan, and prints the selected models and measures.

    Parameters
    ----------
    plan : Plan
        Plan to write.
    out : str
        New folder for the results, as in ``rankstudio run``; "" for none.
    computed_with : Mapping of str to str
        Versions of the libraries with which the results had their exact
        bits, by name of the library, for a comment; empty if unknown.
    """
    lines = [
        plan_code(plan),
        *_make_folder_lines(out),
        "result = run_plan(plan)",
        "for fold in result.folds:",
        "    print(fold.fold, fold.selected, dict(fold.test))",
        "print(result.average)",
        *(["write_results(result, out)"] if out else []),
    ]
    return program(_import_lines(out), lines, computed_with)


def program(
    imports: Sequence[str],
    lines: Sequence[str],
    computed_with: Mapping[str, str] = UNKNOWN,
) -> str:
    """Return the text of a Python program from its imports and its other lines.

    A comment names the versions of libraries in `computed_with`, by
    name of the library, which give the same bits; it is left out if
    `computed_with` is empty.
    """
    origin_text = origin(computed_with)
    comment = [f"# {comment_text(origin_text, 'python')}"] if origin_text else []
    return "\n".join([*comment, *imports, "", *lines]) + "\n"


def as_notebook(
    plan: Plan, out: str = "", computed_with: Mapping[str, str] = UNKNOWN
) -> str:
    """Return a Jupyter notebook, as JSON, that runs a plan and shows its results.

    `out` is the new folder for the results, "" for none;
    `computed_with` has the versions with which the results had their
    exact bits, by name of the library, empty if unknown.

    The notebook has the format 4.5. Its text is the same for equal arguments.
    """
    # The sentence on the versions; "" if they are unknown.
    description = origin(computed_with) or "A run of RankStudio."
    return notebook(
        (
            "markdown",
            f"# {markdown_escaped(plan.title)}\n\n{markdown_escaped(description)}",
        ),
        ("code", "\n".join(_import_lines(out))),
        ("code", "\n".join([plan_code(plan), *_make_folder_lines(out)])),
        ("code", "result = run_plan(plan)\nresult"),
        ("code", "result.path_frame()"),
        ("code", "result.plot();"),
        *([("code", "write_results(result, out)")] if out else []),
    )


def notebook(*cells: tuple[str, str]) -> str:
    """Return a Jupyter notebook of these cells, as the JSON of its file.

    Each cell is a pair of its kind, "markdown" or "code", and its text.
    """
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": [_notebook_cell(number, *cell) for number, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _notebook_cell(number: int, kind: str, text: str) -> dict[str, Any]:
    """Return a cell of a Jupyter notebook as plain values for its JSON.

    `kind` is "markdown" or "code", and `text` the contents of the cell.
    The id of the cell is made from `number`.
    """
    shared = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    # The format requires these two fields of a cell with code.
    return shared | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _import_lines(out: str) -> list[str]:
    """Return the import lines of the program."""
    names = "Plan, run_plan, write_results" if out else "Plan, run_plan"
    return [
        *(["from pathlib import Path", ""] if out else []),
        f"from rankstudio.engine import {names}",
    ]


def _make_folder_lines(out: str) -> list[str]:
    """Return the lines of the program that make the folder of the results, before any work.

    `out` is the folder; the result is [] if it is "".
    """
    if not out:
        return []
    return [
        f"out = Path({out!r})",
        "out.mkdir(parents=True)  # where there is one it stays, and this stops",
    ]


def origin(computed_with: Mapping[str, str]) -> str:
    """Return a sentence on the versions of libraries that give the same bits.

    `computed_with` has the versions by name of the library. The result
    is "" if it is empty.
    """
    names = ", ".join(f"{name} {number}" for name, number in computed_with.items())
    return f"The same bits, on the same data, with {names}." if names else ""


def plan_code(plan: Plan, names: Collection[str] = ()) -> str:
    """Return Python code that makes a plan, a call of `Plan`, as a text of several lines.

    Without `names`, all fields of the plan are written. With `names`,
    only fields with these names are written, if their values differ
    from the defaults; `names` should contain "data".
    """
    defaults = plan_as_dict(Plan(plan.data))
    arguments = []
    for name, value in plan_as_dict(plan).items():
        is_default = name != "data" and value == defaults.get(name)
        if names and (name not in names or is_default):
            continue
        # Plain values have lists, but `Plan` expects tuples.
        argument = tuple(value) if isinstance(value, list) else value
        if isinstance(value, dict):
            argument = {
                key: tuple(setting) if isinstance(setting, list) else setting
                for key, setting in value.items()
            }
        arguments.append(f"    {name}={argument!r},\n")
    # Methods that are in no installed package must be added before the plan names them.
    return (
        "".join(_add_method_lines(plan)) + "plan = Plan(\n" + "".join(arguments) + ")"
    )


def _add_method_lines(plan: Plan) -> Iterator[str]:
    """Yield the lines that add the methods of a plan which no installation has."""
    keys = [entry.key for entry in plan.entries if is_added(entry)]
    if keys:
        yield "from rankstudio.api import add_method\n\n"
    for key in keys:
        yield f"add_method({key!r})\n"


PlanWriter = Callable[[Plan, str, Mapping[str, str]], str]


@dataclass(frozen=True)
class PlanFormat:
    """A format in which a plan can be written.

    Attributes
    ----------
    key : str
        Key in the terminal: "notebook".
    label : str
        Name for users: "Jupyter notebook".
    suffix : str
        Suffix of its files.
    help : str
        Description in a sentence.
    text : callable
        Returns a plan in this format, given the results folder ("" for
        none) and the versions that give the same bits (empty if
        unknown).
    """

    key: str
    label: str
    suffix: str
    help: str
    text: PlanWriter


PLAN_FORMATS: tuple[PlanFormat, ...] = (
    PlanFormat(
        key="toml",
        label="Plan",
        suffix=".toml",
        help="All settings that determine the results of a run; repeat it with rankstudio run PLAN.",
        text=lambda plan, out, computed_with: plan_as_toml(plan),
    ),
    PlanFormat(
        key="command",
        label="Run as a command",
        suffix=".sh",
        help="The terminal command that repeats this run.",
        text=lambda plan, out, computed_with: as_command(plan, out) + "\n",
    ),
    PlanFormat(
        key="python",
        label="Run as Python",
        suffix=".py",
        help="A Python program that repeats this run with the library.",
        text=as_python,
    ),
    PlanFormat(
        key="notebook",
        label="Run as a notebook",
        suffix=".ipynb",
        help="A Jupyter notebook that repeats this run with the library and shows tables and curves.",
        text=as_notebook,
    ),
)
"""All formats; the program itself reads the first one."""
