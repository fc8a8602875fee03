"""``rankstudio plugins``: list the plug-ins of this installation and what each adds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import PlanError, nearest, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.plugin_contents import KINDS, added_by
from rankstudio.engine.plugins.loader import plugins

HELP = "list the plug-ins and what they add"
DESCRIPTION = """\
List the plug-ins of this installation: the built-in ones, and those of installed packages, with their
versions, methods, measures and data formats. A plug-in that cannot be loaded is listed with the reason.

  rankstudio plugins
  rankstudio plugins --check gas
  rankstudio plugins --check my_method.py:MRMR

To leave a plug-in out, add --without NAME to any command."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options --json and --check."""
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of text"
    )
    parser.add_argument(
        "--check",
        metavar="NAME",
        help="check a plug-in, or one method by its key or its code, and print the results as a table",
    )


def run(args: argparse.Namespace) -> int:
    """Print the plug-ins with what they add, or check the methods of one plug-in.

    Return the exit status.
    """
    if args.check is not None:
        return _print_checks(args.check, json=args.json)

    # Called so that warnings about invalid entries are printed before the list.
    for loaded in plugins().loaded:
        added_by(loaded)

    # Loaded plug-ins with the keys of what they add.
    registry = plugins()
    rows: list[dict[str, Any]] = [
        {
            "name": loaded.plugin.name,
            "package": loaded.package,
            "version": loaded.version,
            "built in": loaded.built_in,
            "summary": loaded.plugin.summary,
            **{
                kind: [entry.key for entry in entries]
                for kind, entries in added_by(loaded).items()
            },
        }
        for loaded in registry.loaded
    ]

    # Plug-ins that could not be loaded, with the reason.
    failed = [
        {
            "name": plugin.name,
            "package": plugin.package,
            "version": plugin.version,
            "reason": plugin.reason,
        }
        for plugin in registry.failed
    ]
    if args.json:
        tell(
            as_json(
                {"plugins": rows, "failed": failed, "left out": list(registry.left_out)}
            )
        )
        return 0
    _tell_rows(rows)
    for failure in failed:
        text = tr("{name}  –  {package} {version}: cannot be loaded: {reason}.")
        tell(text.format(**failure))
    for name in registry.left_out:
        tell(tr("{name}  –  left out").format(name=name))
    return 0


def _tell_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the plug-ins, each with what it adds.

    ``rows`` has the plug-ins as plain values. Each kind of entries,
    such as methods, has a line with their keys.
    """
    for row in rows:
        tell(f"{row['name']}  –  {row['package']} {row['version']}")
        if row["summary"]:
            tell(f"  {row['summary']}")
        for kind, kind_label in KINDS.items():
            if row[kind]:
                tell(f"  {tr(kind_label)}: {', '.join(row[kind])}")
        if not any(row[kind] for kind in KINDS):
            tell(f"  {tr('adds nothing')}")


def _print_checks(name: str, *, json: bool) -> int:
    """Check the methods of a plug-in, or one method, and print the results.

    ``name`` names the plug-in or the method. With ``json``, the results
    are printed as JSON. Return 1 if a check fails, else 0.
    """
    from rankstudio.testing import check_method

    results = [check for entry in _entries_named(name) for check in check_method(entry)]
    if json:
        tell(as_json([asdict(result) for result in results]))
    else:
        width = max(len(result.method) for result in results)

        # 47 characters are the longest name of a check.
        lines = [
            f"{result.method:<{width}}  {result.check:<47}  {result.problem or tr('passed')}"
            for result in results
        ]
        tell(Block("\n".join(lines)))
    return 1 if any(result.problem for result in results) else 0


def _entries_named(name: str) -> list[Method]:
    """Return the methods of the plug-in with a name, or one method.

    A method is named by its key, file or import path.

    Raises
    ------
    PlanError
        If there is no such plug-in or method; the text has a similar name.
    """
    from rankstudio.engine.methods.foreign.code import names_code
    from rankstudio.engine.methods.foreign.permission import add_by_user

    # A plug-in by its name.
    loaded = {item.plugin.name: item for item in plugins().loaded}
    if name in loaded:
        item = loaded[name]
        return added_by(item)["methods"]

    # A method by its key, or by code that the user names.
    entries = [entry for entry in methods() if entry.key == name]
    if not entries and names_code(name):
        entries = [add_by_user(name)]

    # Suggest the nearest name.
    if not entries:
        close = nearest(name, [*loaded, *(entry.key for entry in methods())])
        hint = (
            tr("did you mean {close}?").format(close=close)
            if close
            else tr("see rankstudio plugins.")
        )
        text = tr("There is no plug-in or method {name}; {hint}")
        raise PlanError(text.format(name=shown(name), hint=hint))
    return entries
