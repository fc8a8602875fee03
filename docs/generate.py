"""Write what of the guide follows from the program: methods, measures, commands, formats, simulations.

python docs/generate.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankstudio.engine.analysis.simulation.auc_simulation import simulate_auc
from rankstudio.engine.analysis.simulation.selection_simulation import simulate_selection
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_format import FORMATS
from rankstudio.engine.export.formats.model_format import ModelFormat
from rankstudio.engine.export.formats.registry import MODEL_FORMATS
from rankstudio.engine.methods.catalog import GIVEN, Kind, Method, Parameter, methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import FAMILIES, Cut, Family
from rankstudio.engine.steps import finish
from rankstudio.ui.shell.actions import MENUS

HERE = Path(__file__).parent
METHODS = """\
A *selector* chooses features, a *ranker* ranks with the features it is given. Most selectors come with a
model of their own; **ranked by** in the form, `--ranker` in the terminal and `ranker` in a plan let any
ranker learn with the selected features instead, for every number of them, so that selections are compared by
one and the same. What concerns only a selector's own model is not asked for then.
"""

NOTE = "<!-- Written by docs/generate.py. -->\n"


def methods_page() -> str:
    """Return the page on methods, from the catalog."""
    parts = ["# Methods\n", NOTE, METHODS]
    parts += ["# What selects\n", *(_method(entry) for entry in methods() if entry.selects)]
    parts += ["# What ranks\n", *(_method(entry) for entry in methods() if not entry.selects)]
    parts += ["# What is given\n", *(_method(entry) for entry in GIVEN)]
    return "\n".join(parts)


def _method(entry: Method) -> str:
    lines = [
        f"## {entry.label}\n",
        f"*{entry.citation}: {entry.title}.* In plans and on the command line: `{entry.key}`.\n",
        f"{entry.summary}\n",
        *([f"> `{entry.formula}`\n"] if entry.formula else []),
        f"{_steps(entry)}\n",
        *(["| Parameter | Values | Default | Meaning |", "|---|---|---|---|"] if entry.parameters else []),
        *(_parameter(p) for p in entry.parameters),
        "",
    ]
    return "\n".join(lines)


def _steps(entry: Method) -> str:
    """Say what a step is, and what the criterion."""
    steps = {
        StepKind.FEATURES: "Its criterion is the",
        StepKind.ITERATIONS: "A step is an iteration, of which the last is the model; the criterion is the",
        StepKind.ROUNDS: "A step is a round, and validation chooses how many; the criterion is the",
    }[entry.step_kind]
    extra = (
        f' It needs the extra `{entry.extra}`: `pip install "rankstudio[{entry.extra}]"`.'
        if entry.extra
        else ""
    )
    score = entry.candidate_score
    compared = f" It compares candidates by: {score.title}." if score else ""
    groups = f" {entry.group_rule}" if entry.group_rule else ""
    if entry.given:
        return "It has no parameters."
    return f"{steps} {entry.criterion}.{compared}{groups}{extra}"


def _parameter(p: Parameter) -> str:
    default = p.default if p.kind is Kind.CHOICE else p.format(p.default) or p.none_label or "none"
    source = f" ({p.source})" if p.source else ""
    symbol = f" In the paper: {p.symbol}." if p.symbol and p.symbol != p.label else ""
    return f"| **{p.label}** `{p.option}`, `{p.name}` | {p.expected} | {default} | {p.help}{symbol}{source} |"


def measures_page() -> str:
    """Return the page on measures and their conventions."""
    lines = [
        "# Measures and their conventions\n",
        NOTE,
        "Programs agree on the names of measures, not on their values. RankStudio therefore says with every",
        "number which *convention* it follows, and offers those of the programs that the field",
        "compares with.\n",
        "## Measures\n",
        "| Measure | What it is |",
        "|---|---|",
        *(_measure(family) for family in FAMILIES),
        "",
        "## Conventions\n",
    ]
    for c in CONVENTIONS.values():
        lines += [
            f"### {c.label}\n",
            f"`{c.key}`, observed in {c.source}. {c.summary}\n",
            "| | |",
            "|---|---|",
        ]
        lines += [f"| {what} | {how} |" for what, how in c.rules]
        lines.append("")
    return "\n".join(lines)


def _measure(family: Family) -> str:
    names, first = {
        Cut.NONE: (family.name, "all documents"),
        Cut.OPTIONAL: (f"{family.name}, {family.name}@k", "all documents, or the first k"),
        Cut.NEEDED: (f"{family.name}@k", "the first k documents"),
    }[family.cut]
    return f"| **{names}** | {family.label}. {family.help.format(first=first)} |"


def commands_page() -> str:
    """Return the page on menus and keys, from the window's commands."""
    lines = ["# Menus and keys\n", NOTE]
    for menu, commands in MENUS.items():
        lines += [f"## {menu}\n", "| Command | Keys | What it does |", "|---|---|---|"]
        for c in filter(None, commands):
            lines.append(f"| **{c.text.replace('&', '')}** | {c.shortcuts.replace(';', ',')} | {c.help} |")
        lines.append("")
    return "\n".join(lines)


def _with_table(page: str, lines: list[str], what: str = "Formats") -> str:
    """Return the text of a page with another table in the place of its own."""
    begin, end = f"<!-- {what}, written by docs/generate.py. -->\n", f"\n<!-- End of {what.lower()}. -->"
    before, _, rest = page.partition(begin)
    return "\n".join([before + begin, *lines, end + rest.partition(end.strip())[2]])


def _page(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def models_page() -> str:
    """Return the page on models, with the table of other programs' formats as it is now."""
    lines = [
        "| Format | `--to` | Files | What is written | Models | Numbers |",
        "|---|---|---|---|---|---|",
        *map(_model_format, MODEL_FORMATS.values()),
    ]
    return _with_table(_page("models.md"), lines)


def _model_format(form: ModelFormat) -> str:
    files = f"`{form.suffix}`" + (f", `…{form.beside}`" if form.beside else "")
    models = {(True, False): "weighted sums", (False, True): "trees"}.get((form.linear, form.trees), "all")
    scaled = ", also of scaled features" if form.scales else ""
    numbers = f"floats in {form.single}" if form.single else "doubles"
    numbers += f", which prints {form.prints} digits" if form.prints else ""
    extra = f" Needs the extra `{form.extra}`." if form.extra else ""
    cells = (f"**{form.label}**", f"`{form.key}`", files, form.summary + extra, models + scaled, numbers)
    return f"| {' | '.join(cells)} |"


def data_page() -> str:
    """Return the page on data, with the table of formats as it is now."""
    lines = ["| Format | `--to` | Endings | What it is | What it cannot keep |", "|---|---|---|---|---|"]
    for form in FORMATS:
        endings = " ".join(f"`{ending}`" for ending in form.endings if ending)
        about = form.about[0].upper() + form.about[1:]
        extra = f"; extra `{form.extra}`" if form.extra else ""
        lines.append(
            f"| **{form.label}** | `{form.key}` | {endings} | {about}{extra} | {', '.join(form.loses)} |"
        )
    return _with_table(_page("data.md"), lines)


def estimates_page() -> str:
    """Return the page on estimates, with what simulations say of them."""
    page = _with_table(_page("estimates.md"), _selection_table(), "Selection")
    return _with_table(page, _auc_table(), "Estimates")


def _selection_table() -> list[str]:
    """Return what is estimated for selections from features of chance."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(200), 8)
    labels = rng.permuted(np.tile([0, 1], (200, 4)), axis=1).ravel()
    chance = RankingDataset.from_arrays(rng.random((query.size, 25)), labels, query)
    settings = {"n_queries": 15, "n_features": 4, "measure": "AUC", "repetitions": 40}
    found = finish(simulate_selection(chance, **settings))
    estimates = dict(zip(found.estimators, found.estimates.mean(axis=0).tolist(), strict=True))
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
    """Return bias and standard deviation of estimates of AUC."""
    simulations = {
        "no signal": {},
        "signal": {"shift": 0.5},
        "signal, 10 % positive": {"shift": 0.5, "positive": 0.1},
        "signal, 400 documents": {"shift": 0.5, "n_examples": 400, "repetitions": 200},
    }
    found = [finish(simulate_auc(**{"repetitions": 5000, **options})) for options in simulations.values()]
    lines = [f"| bias ± sd | {' | '.join(simulations)} |", "|---" * (1 + len(found)) + "|"]
    for at, estimator in enumerate(found[0].estimators):
        cells = [f"{one.bias[at]:+.3f} ± {one.conditional_sd[at]:.3f}" for one in found]
        lines.append(f"| {estimator} | {' | '.join(cells)} |")
    said = "30 documents, half of them positive, 10 features and λ = 1 where nothing else is said."
    return [*lines, "", said]


PAGES = {
    "data.md": data_page,
    "estimates.md": estimates_page,
    "methods.md": methods_page,
    "models.md": models_page,
    "measures.md": measures_page,
    "commands.md": commands_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
