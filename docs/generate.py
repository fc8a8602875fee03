"""Write what of the guide follows from the program's own lists: methods, measures, commands and formats.

python docs/generate.py
"""

from __future__ import annotations

from pathlib import Path

from rankstudio.engine.data.formats.data_format import FORMATS
from rankstudio.engine.export.formats.model_format import ModelFormat
from rankstudio.engine.export.formats.registry import MODEL_FORMATS
from rankstudio.engine.methods.catalog import GIVEN, Kind, Method, Parameter, methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import FAMILIES, Cut, Family
from rankstudio.ui.shell.actions import MENUS

HERE = Path(__file__).parent
METHODS = """\
A *selector* chooses features, a *ranker* ranks with the features it is given. Most selectors come with a
model of their own; **ranked by** in the form, `--ranker` in the terminal and `ranker` in a plan let any
ranker learn with the selected features instead, for every number of them, so that selections are compared by
one and the same. What concerns only a selector's own model is not asked for then.
"""

FORMATS_BEGIN, FORMATS_END = "<!-- Formats, written by docs/generate.py. -->\n", "\n<!-- End of formats. -->"
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


def _with_formats(page: str, lines: list[str]) -> str:
    """Return a page with another table of formats in the place of its own."""
    before, _, rest = (HERE / page).read_text(encoding="utf-8").partition(FORMATS_BEGIN)
    return "\n".join([before + FORMATS_BEGIN, *lines, FORMATS_END + rest.partition(FORMATS_END)[2]])


def models_page() -> str:
    """Return the page on models, with the table of other programs' formats as it is now."""
    lines = [
        "| Format | `--to` | Files | What is written | Models | Numbers |",
        "|---|---|---|---|---|---|",
        *map(_model_format, MODEL_FORMATS.values()),
    ]
    return _with_formats("models.md", lines)


def _model_format(form: ModelFormat) -> str:
    files = f"`{form.suffix}`" + (f", `…{form.beside}`" if form.beside else "")
    models = {(True, False): "weighted sums", (False, True): "trees"}.get((form.linear, form.trees), "all")
    scaled = ", also of scaled features" if form.scales else ""
    numbers = f"floats in {form.single}" if form.single else "doubles"
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
    return _with_formats("data.md", lines)


PAGES = {
    "data.md": data_page,
    "methods.md": methods_page,
    "models.md": models_page,
    "measures.md": measures_page,
    "commands.md": commands_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
