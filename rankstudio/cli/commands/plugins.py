"""``rankstudio plugins``: what is installed, and what each plug-in adds."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import PlanError, nearest, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.window_parts import window_parts

HELP = "list the plug-ins and what they add"
DESCRIPTION = """\
List the plug-ins of this installation: the built-in one, and those of installed packages, with their versions
and methods. A plug-in that cannot be loaded is listed with the reason.

  rankstudio plugins
  rankstudio plugins --check gas
  rankstudio plugins --check my_method.py:MRMR

To leave a plug-in out, add --without NAME to any command."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument(
        "--check",
        metavar="NAME",
        help="check a plug-in, or one method by its key or its code, and print the results as a table",
    )


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    if args.check is not None:
        return _check(args.check, json=args.json)
    listed = methods()  # warnings about methods that cannot be used come first
    found = plugins()
    parts = window_parts()
    rows: list[dict[str, Any]] = [
        {
            "name": loaded.plugin.name,
            "package": loaded.package,
            "version": loaded.version,
            "built in": loaded.built_in,
            "summary": loaded.plugin.summary,
            "methods": [entry.key for entry in listed if _is_of(entry, loaded.package, loaded.built_in)],
            "pages": [page.key for page, by in parts.pages if by is loaded],
            "panels": [panel.key for panel, by in parts.panels if by is loaded],
        }
        for loaded in found.loaded
    ]
    failed = [
        {"name": f.name, "package": f.package, "version": f.version, "reason": f.reason} for f in found.failed
    ]
    if args.json:
        tell(as_json({"plugins": rows, "failed": failed, "left out": list(found.left_out)}))
        return 0
    for row in rows:
        tell(f"{row['name']}  –  {row['package']} {row['version']}")
        if row["summary"]:
            tell(f"  {row['summary']}")
        tell(tr("  methods: {names}").format(names=", ".join(row["methods"]) or tr("none")))
        if row["pages"]:
            tell(tr("  pages: {names}").format(names=", ".join(row["pages"])))
        if row["panels"]:
            tell(tr("  panels: {names}").format(names=", ".join(row["panels"])))
    for failure in failed:
        text = tr("{name}  –  {package} {version}: cannot be loaded: {reason}.")
        tell(text.format(**failure))
    for name in found.left_out:
        tell(tr("{name}  –  left out").format(name=name))
    return 0


def _is_of(entry: Method, package: str, built_in: bool) -> bool:
    if built_in:
        return entry.origin is None
    return entry.origin is not None and entry.origin.name == package


def _check(name: str, *, json: bool) -> int:
    """Check the methods of a plug-in, or one method, and print the results."""
    from rankstudio.testing import check_method

    results = [check for entry in _entries_named(name) for check in check_method(entry)]
    if json:
        tell(as_json([asdict(result) for result in results]))
    else:
        width = max(len(result.method) for result in results)
        lines = [f"{r.method:<{width}}  {r.check:<47}  {r.problem or tr('passed')}" for r in results]
        tell(Block("\n".join(lines)))
    return 1 if any(result.problem for result in results) else 0


def _entries_named(name: str) -> list[Method]:
    """Return the methods of a plug-in, or the method of a key or of a file.

    Raises
    ------
    PlanError
        If there is none; the text has the nearest name.
    """
    from rankstudio.engine.methods.foreign.code import names_code
    from rankstudio.engine.methods.foreign.permission import add_by_user

    loaded = {item.plugin.name: item for item in plugins().loaded}
    if name in loaded:
        item = loaded[name]
        return [entry for entry in methods() if _is_of(entry, item.package, item.built_in)]
    entries = [entry for entry in methods() if entry.key == name]
    if not entries and names_code(name):
        entries = [add_by_user(name)]
    if not entries:
        close = nearest(name, [*loaded, *(entry.key for entry in methods())])
        hint = tr("did you mean {close}?").format(close=close) if close else tr("see rankstudio plugins.")
        text = tr("There is no plug-in or method {name}; {hint}")
        raise PlanError(text.format(name=shown(name), hint=hint))
    return entries
