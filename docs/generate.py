"""Generate what follows from the program: methods, measures, commands, formats and simulations in the guide.

python docs/generate.py
"""

from __future__ import annotations

import re
import sys
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.format_catalog import data_formats
from rankstudio.engine.export.formats.model_format import ModelFormat
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.methods.catalog import GIVEN, Kind, Method, Parameter, methods
from rankstudio.engine.methods.catalog.analysis import Needs
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.families import FAMILIES, Cut, Family
from rankstudio.engine.plugins.entries import values_of
from rankstudio.engine.plugins.loader import plugins_with
from rankstudio.engine.plugins.page_parts import page_parts
from rankstudio.engine.plugins.window_commands import window_commands
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import simulate_auc
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection
from rankstudio.ui.shell.actions import menus_with

sys.path.insert(0, str(Path(__file__).parent))

from coverage_rows import (
    CoverageRow,
    count_sentence,
    count_table,
    coverage_rows,
)

HERE = Path(__file__).parent
METHODS = """\
A *selector* selects features; a *ranker* ranks with the features it is given. Most selectors have a model of
their own. The *final ranker* (`--ranker` in the terminal, `ranker` in a plan) replaces it: any ranker is
trained with the selected features, for every number of features. This makes selections comparable. The
parameters of the selector's own model are then unused.
"""

NOTE = "<!-- Written by docs/generate.py. -->\n"


def methods_page() -> str:
    """Return the page on methods, from the catalog."""
    parts = ["# Methods\n", NOTE, METHODS]
    parts += [
        "# Selectors\n",
        *(_method(entry) for entry in methods() if entry.selects),
    ]
    parts += [
        "# Rankers\n",
        *(_method(entry) for entry in methods() if not entry.selects),
    ]
    parts += ["# Given rankings\n", *(_method(entry) for entry in GIVEN)]
    return "\n".join(parts)


def _method(entry: Method) -> str:
    class_name = (
        f"; class in Python: `{entry.estimator.partition(':')[2]}`"
        if entry.estimator
        else ""
    )
    text = entry.description
    lines = [
        f"## {entry.label}\n",
        f"*{text.citation}: {text.title}.* Key in plans and in the terminal: `{entry.key}`{class_name}.\n",
        f"{text.summary}\n",
        *([f"> `{text.formula}`\n"] if text.formula else []),
        f"{_steps(entry)}\n",
        *(
            ["| Parameter | Values | Default | Meaning |", "|---|---|---|---|"]
            if entry.parameters
            else []
        ),
        *(_parameter(p) for p in entry.parameters),
        "",
    ]
    return "\n".join(lines)


def _steps(entry: Method) -> str:
    """Describe the steps, the criterion and the candidate score of a method."""
    steps = {
        StepKind.FEATURES: "Criterion: the",
        StepKind.ITERATIONS: "Each step is an iteration, and the last one is the model. Criterion: the",
        StepKind.ROUNDS: "Each step is a round, and validation selects the number of rounds. Criterion: the",
    }[entry.step_kind]
    extra = (
        f' Requires the extra `{entry.requires.extra}`: `pip install "rankstudio[{entry.requires.extra}]"`.'
        if entry.requires.extra
        else ""
    )
    score = entry.candidate_score
    compared = f" Candidate score: {score.title}." if score else ""
    groups = f" {entry.group_rule}" if entry.group_rule else ""
    if entry.learns_nothing:
        return "No parameters."
    return f"{steps} {entry.criterion.name}.{compared}{groups}{extra}"


def _parameter(p: Parameter) -> str:
    default = (
        p.default
        if p.kind is Kind.CHOICE
        else p.format(p.default) or p.none_label or "none"
    )
    source = f" ({p.source})" if p.source else ""
    symbol = f" In the paper: {p.symbol}." if p.symbol and p.symbol != p.label else ""
    return f"| **{p.label}** `{p.option}`, `{p.name}` | {p.expected} | {default} | {p.help}{symbol}{source} |"


ANALYSES = """\
An analysis computes tables from data, from a plan or from a finished run. Each is a command of
[the terminal](terminal.md), an entry of *Run → Analyses* in the window, and a function of Python. While the
test part is sealed, it sees neither test parts nor their measures.

In the window, *Start* computes the tables, which can be saved as CSV. *Copy command* copies the command that
prints the same in the terminal. In Python:

```python
from rankstudio.api import analyse
from rankstudio.engine import load_sample

(table,) = analyse("drift", load_sample(), first="train", second="vali")
print(table.header, table.rows[0])
```

Packages [add analyses](adding-an-analysis.md).
"""

_OF = {
    Needs.DATA: "the training part of a fold",
    Needs.FOLDS: "data with all their folds",
    Needs.RUN: "a finished run and its data",
    Needs.PLAN: "a plan and its data",
}


def analyses_page() -> str:
    """Return the page on analyses, from the catalog."""
    plugins = plugins_with("analyses").loaded
    own = [values_of(loaded, "analyses") for loaded in plugins if loaded.built_in]
    return "\n".join(["# Analyses\n", NOTE, ANALYSES, *map(_analysis, chain(*own))])


def _analysis(entry: Any) -> str:
    about = f"{entry.summary[:1].upper()}{entry.summary[1:]}."
    head = (
        ["| Parameter | Values | Default | Meaning |", "|---|---|---|---|"]
        if entry.parameters
        else []
    )
    lines = [
        f"## {entry.label}\n",
        f"{about} It is of {_OF[entry.needs]}. Key in Python: `{entry.key}`. `rankstudio {entry.key} --help`",
        "says more, with examples.\n",
        *head,
        *(_own_parameter(p) for p in entry.parameters),
        "",
    ]
    return "\n".join(lines)


def _own_parameter(p: Parameter) -> str:
    default = (
        p.default
        if p.kind is Kind.CHOICE
        else p.format(p.default) or p.none_label or "none"
    )
    return f"| **{p.label}** `{p.name}` | {p.expected} | {default} | {p.help} |"


def measures_page() -> str:
    """Return the page on measures and their conventions."""
    lines = [
        "# Measures and their conventions\n",
        NOTE,
        "Programs compute measures of the same name differently. RankStudio therefore shows the *convention*",
        "of every number, and supports those of the usual evaluation programs.\n",
        "## Measures\n",
        "| Measure | Definition |",
        "|---|---|",
        *(_measure(family) for family in FAMILIES),
        "",
        "The names of [ir-measures](https://ir-measur.es) are read, too: `AP`, `nDCG@10`, `R@5`, `Rprec`.",
        "A measure that distinguishes only relevant documents and others takes the smallest relevant label",
        "in parentheses, as in `P(rel=2)@10`; by default it is that of the convention. ir-measures itself",
        "follows `trec_eval`. [Measures of others](adding-a-measure.md) are Python functions.\n",
        "## Conventions\n",
    ]
    for c in CONVENTIONS.values():
        lines += [
            f"### {c.label}\n",
            f"`{c.key}`, as computed by {c.source}. {c.summary}\n",
            "| | |",
            "|---|---|",
        ]
        lines += [f"| {what} | {how} |" for what, how in c.rules]
        lines.append("")
    return "\n".join(lines)


def _measure(family: Family) -> str:
    names, first = {
        Cut.NONE: (family.name, "all documents"),
        Cut.OPTIONAL: (
            f"{family.name}, {family.name}@k",
            "all documents, or the first k",
        ),
        Cut.NEEDED: (f"{family.name}@k", "the first k documents"),
    }[family.cut]
    return f"| **{names}** | {family.label}. {family.help.format(first=first)} |"


def commands_page() -> str:
    """Return the page on menus and keys, from the window's commands."""
    lines = ["# Menus and keys\n", NOTE]
    of_parts = (
        command
        for _, entry in (*page_parts(), *window_commands())
        for command in entry.commands
    )
    for menu, commands in menus_with(of_parts).items():
        lines += [f"## {menu}\n", "| Command | Keys | Effect |", "|---|---|---|"]
        for c in filter(None, commands):
            lines.append(
                f"| **{c.text.replace('&', '')}** | {c.shortcuts.replace(';', ',')} | {c.help} |"
            )
        lines.append("")
    return "\n".join(lines)


def _with_table(page: str, lines: list[str], what: str = "Formats") -> str:
    """Return the text of a page with a table replaced."""
    begin, end = (
        f"<!-- {what}, written by docs/generate.py. -->\n",
        f"\n<!-- End of {what.lower()}. -->",
    )
    before, _, rest = page.partition(begin)
    return "\n".join([before + begin, *lines, end + rest.partition(end.strip())[2]])


def _page(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def models_page() -> str:
    """Return the page on models, with the current table of other programs' formats."""
    lines = [
        "| Format | `--to` | Files | Contents | Models | Numbers |",
        "|---|---|---|---|---|---|",
        *map(
            _model_format,
            (form for form in model_formats().values() if not form.package),
        ),
    ]
    return _with_table(_page("models.md"), lines)


def _model_format(form: ModelFormat) -> str:
    files = f"`{form.suffix}`" + (f", `…{form.beside}`" if form.beside else "")
    models = {(True, False): "weighted sums", (False, True): "trees"}.get(
        (form.linear, form.trees), "weighted sums, trees"
    )
    scaled = ", also of scaled features" if form.scales else ""
    numbers = f"floats in {form.single}" if form.single else "doubles"
    numbers += f", which prints {form.prints} digits" if form.prints else ""
    extra = f" Needs the extra `{form.extra}`." if form.extra else ""
    cells = (
        f"**{form.label}**",
        f"`{form.key}`",
        files,
        form.summary + extra,
        models + scaled,
        numbers,
    )
    return f"| {' | '.join(cells)} |"


def data_page() -> str:
    """Return the page on data, with the current table of formats."""
    lines = [
        "| Format | `--to` | Extensions | Contents | Not kept |",
        "|---|---|---|---|---|",
    ]
    for form in data_formats():
        endings = " ".join(f"`{ending}`" for ending in form.endings if ending)
        about = form.about[0].upper() + form.about[1:]
        extra = f"; extra `{form.extra}`" if form.extra else ""
        lines.append(
            f"| **{form.label}** | `{form.key}` | {endings} | {about}{extra} | {', '.join(form.loses)} |"
        )
    return _with_table(_page("data.md"), lines)


def estimates_page() -> str:
    """Return the page on estimates, with the results of simulations."""
    page = _with_table(_page("estimates-details.md"), _selection_table(), "Selection")
    return _with_table(page, _auc_table(), "Estimates")


def _selection_table() -> list[str]:
    """Return the estimates for selections from random features."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(200), 8)
    labels = rng.permuted(np.tile([0, 1], (200, 4)), axis=1).ravel()
    chance = RankingDataset.from_arrays(rng.random((query.size, 25)), labels, query)
    settings = {"n_queries": 15, "n_features": 4, "measure": "AUC", "repetitions": 40}
    found = finish(simulate_selection(chance, **settings))
    estimates = dict(
        zip(found.estimators, found.estimates.mean(axis=0).tolist(), strict=True)
    )
    return [
        "| 4 of 25 features, 15 queries | selected without each fold | selected once, with all queries |",
        "|---|---|---|",
        f"| the truth, on all other queries | {found.truth.mean():.2f} | |",
        *(
            f"| {name} | {estimates[name]:.2f} | {estimates[f'{name}, selected once']:.2f} |"
            for name in ("leave-query-out", "5-fold by query")
        ),
    ]


def _auc_table() -> list[str]:
    """Return bias and standard deviation of the AUC estimates."""
    simulations = {
        "no signal": {},
        "signal": {"shift": 0.5},
        "signal, 10 % positive": {"shift": 0.5, "positive": 0.1},
        "signal, 400 documents": {"shift": 0.5, "n_examples": 400, "repetitions": 200},
    }
    found = [
        finish(simulate_auc(**{"repetitions": 5000, **options}))
        for options in simulations.values()
    ]
    lines = [
        f"| bias ± sd | {' | '.join(simulations)} |",
        "|---" * (1 + len(found)) + "|",
    ]
    for at, estimator in enumerate(found[0].estimators):
        cells = [f"{one.bias[at]:+.3f} ± {one.conditional_sd[at]:.3f}" for one in found]
        lines.append(f"| {estimator} | {' | '.join(cells)} |")
    said = "30 documents, half of them positive, 10 features and λ = 1 unless stated otherwise."
    return [*lines, "", said]


def _coverage() -> tuple[CoverageRow, ...]:
    return coverage_rows(_page("coverage.md"))


def coverage_page() -> str:
    """Return the page on coverage, with the number of items of each source by status."""
    rows = _coverage()
    lines = [f"{count_sentence(rows)}.", "", *count_table(rows)]
    return _with_table(_page("coverage.md"), lines, "Counts")


def _with_count(name: str) -> str:
    """Return a page that says how many items of the sources are done, with the present numbers."""
    return re.sub(r"\d+ items: .* missing", count_sentence(_coverage()), _page(name))


PAGES = {
    "analyses.md": analyses_page,
    "data.md": data_page,
    "estimates-details.md": estimates_page,
    "methods.md": methods_page,
    "models.md": models_page,
    "measures.md": measures_page,
    "commands.md": commands_page,
    "coverage.md": coverage_page,
    "index.md": partial(_with_count, "index.md"),
    "../README.md": partial(_with_count, "../README.md"),
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
