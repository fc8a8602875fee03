"""``rankstudio methods``: the catalog, as text or as JSON."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import asdict
from typing import Any

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.methods.catalog import Kind, Method, Parameter, method, methods

HELP = "list the methods, their parameters and sources"
DESCRIPTION = """\
List the selection methods and rankers with their sources and parameters: options, ranges and defaults. Give
the key of a method to list only that method.

  rankstudio methods
  rankstudio methods greedy-rankrls
  rankstudio methods --json"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a method, and --json."""
    parser.add_argument(
        "method", nargs="?", help="key of a method, such as greedy-rankrls"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of text"
    )


def run(args: argparse.Namespace) -> int:
    """Print all methods, or one, with their parameters and sources; return 0."""
    entries = methods() if args.method is None else (method(args.method),)
    if args.json:
        tell(as_json([as_dict(entry) for entry in entries]))
    else:
        tell(Block("\n\n".join(as_text(entry) for entry in entries)))
    return 0


def as_dict(entry: Method) -> dict[str, Any]:
    """Return a method of the catalog, with its parameters, as plain values for JSON."""
    # JSON has lists, but no tuples.
    parameters = [
        {
            name: _without_tuples(getattr(p, name))
            for name in (
                "name",
                "option",
                "symbol",
                "default",
                "expected",
                "help",
                "source",
            )
        }
        for p in entry.parameters
    ]
    steps = entry.step_kind.name.lower()  # "features", "rounds" or "iterations"
    return {
        **{name: getattr(entry, name) for name in ("key", "label", "family")},
        **asdict(entry.description),
        "criterion": entry.criterion.name,
        "steps": steps,
        "lacking": entry.lacking,
        "groups": entry.groups,
        "parameters": parameters,
    }


def _without_tuples(value: Any) -> Any:
    """Return a value for JSON: a tuple as a list."""
    return list(value) if isinstance(value, tuple) else value


def as_text(entry: Method) -> str:
    """Return a method of the catalog as text, 92 characters wide.

    The text is a paragraph on the method, with its parameters below.
    """
    # Name, summary and formula.
    text = entry.description
    lines = [f"{entry.key}  –  {entry.label} ({entry.family}), {text.citation}"]
    lines += textwrap.wrap(
        text.summary, 92, initial_indent="  ", subsequent_indent="  "
    )
    if text.formula:
        lines += textwrap.wrap(
            text.formula, 92, initial_indent="    ", subsequent_indent="      "
        )
    if entry.group_rule:
        lines.append(f"  {entry.group_rule}")
    if entry.lacking:
        lines.append(f"  {entry.lacking}")

    # Parameters.
    for p in entry.parameters:
        lines.append(f"  {p.option:<12} {p.label}: {p.expected}; {default(p)}")
        lines += textwrap.wrap(
            p.help, 92, initial_indent=" " * 15, subsequent_indent=" " * 15
        )
        if p.source:
            lines.append(f"{' ' * 15}{p.source}")
    return "\n".join(lines)


def default(p: Parameter) -> str:
    """Return the default of a parameter in words: "default 10", "default none"."""
    text = p.default if p.kind is Kind.CHOICE else p.format(p.default)
    return f"default {text or p.none_label or 'none'}"
