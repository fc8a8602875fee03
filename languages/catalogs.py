"""The catalogs of the window's texts: extracted from the source, kept as .po, compiled to what is shipped.

python languages/catalogs.py           template and catalogs say what the source says; what is new is open
python languages/catalogs.py --check   only tell what is not as it should be
python languages/catalogs.py --check --release   also fails for a text without translation

A text without translation is shown in English. It is printed and no failure, because not every contributor
knows every language.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from visible_text import TRANSLATED, called

from rankstudio.engine.analysis.features.feature_quality import Oddity
from rankstudio.engine.analysis.result_table.query import TESTS
from rankstudio.engine.data.formats.format_catalog import data_formats
from rankstudio.engine.experiment.plan.as_code import PLAN_FORMATS
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.catalog.shared import LEFT_OUT_CRITERIA
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.families import FAMILIES
from rankstudio.engine.support.resources import table
from rankstudio.ui.shell.selection_line import PARTS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SHIPPED = ROOT / "resources" / "languages"
TEMPLATE = HERE / "rankstudio.pot"
LANGUAGES = ("de",)

_WIDTH = 110
_FIELD = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}")
# of all catalogs, so that they change only where texts do
_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
_RELEVANCE = ("not relevant", "relevant", "highly relevant", "train")
Text = tuple[str, tuple[str, ...], str]
"""Where a text stands, the text (with that of several), and its context."""


def texts() -> Iterator[Text]:
    """Yield the texts that are looked up, by modules, then those that the engine has as data."""
    for path in sorted(
        path
        for part in ("ui", "engine", "plugins")
        for path in (ROOT / "rankstudio" / part).rglob("*.py")
    ):
        module = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [
            node
            for node in ast.walk(tree)
            if called(node) in TRANSLATED and isinstance(node, ast.Call)
        ]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            said = [
                a.value
                for a in call.args
                if isinstance(a, ast.Constant) and isinstance(a.value, str)
            ]
            count = TRANSLATED[called(call)]
            if len(said) >= count:
                context = said[1] if count == 1 and len(said) > 1 else ""
                yield module, tuple(said[:count]), context
    for module, text in _engine_texts():
        if text:
            yield module, (text,), ""


def _report_texts() -> Iterator[tuple[str, str]]:
    """Yield the titles of the sections of reports."""
    from rankstudio.plugins.report.document import SECTIONS  # noqa: PLC0415

    yield from (
        ("rankstudio/plugins/report/document.py", title) for title in SECTIONS.values()
    )


def _lab_texts() -> Iterator[tuple[str, str]]:
    """Yield labels and help of the parameters of simulations."""
    from rankstudio.plugins.lab.simulation.parameters import EACH, PARAMETERS, VARIED  # noqa: PLC0415

    lab = "rankstudio/plugins/lab/simulation/parameters.py"
    lists = [one for varied in VARIED.values() for one in varied.values()]
    for one in (
        *(p for parameters in PARAMETERS.values() for p in parameters),
        *lists,
        *EACH.values(),
    ):
        yield from ((lab, text) for text in (one.label, one.help, one.none_label))
        yield from ((lab, label) for _, label in one.choices)


def _feature_texts() -> Iterator[tuple[str, str]]:
    """Yield names of relevance, and why there are no swaps."""
    from rankstudio.plugins.features.substitutes import (  # noqa: PLC0415
        NO_QUERIES,
        NO_SWAPS,
        NOT_LEARNED,
        NOT_SWAPPED,
    )

    yield from (
        ("rankstudio/plugins/features/feature_profile.py", word) for word in _RELEVANCE
    )
    reasons = NO_SWAPS, NO_QUERIES, NOT_LEARNED, NOT_SWAPPED
    yield from (("rankstudio/plugins/features/substitutes.py", why) for why in reasons)


def _engine_texts() -> Iterator[tuple[str, str]]:
    """Yield labels, help and units of what the engine knows as data, by where it knows them."""
    catalog = "rankstudio/engine/methods/catalog"
    yield from (
        (catalog, text) for texts in LEFT_OUT_CRITERIA.values() for text in texts
    )
    for entry in methods():
        yield catalog, entry.description.summary
        yield catalog, entry.criterion.name
        if entry.candidate_score:
            scores = [entry.candidate_score]
            scores += [
                replace(scores[0], name=n)
                for n in LEFT_OUT_CRITERIA.get(scores[0].name, ())
            ]
            for score in scores:
                yield from (
                    (catalog, t)
                    for t in (score.name, score.title, score.unit, score.criterion)
                )
        for one in entry.parameters:
            yield from (
                (catalog, text) for text in (one.label, one.help, one.none_label)
            )
            yield from ((catalog, label) for _, label in one.choices)
    # the folder of an ability may be absent
    if find_spec("rankstudio.plugins.lab") is not None:
        yield from _lab_texts()
    yield from (("rankstudio/ui/shell/selection_line.py", part) for part in PARTS)
    yield from (
        ("rankstudio/engine/analysis", rule)
        for rule in ("not significantly worse", "one standard error")
    )
    for kind in StepKind:
        yield catalog, kind.value
    if find_spec("rankstudio.plugins.features") is not None:
        yield from _feature_texts()
    yield from (
        ("rankstudio/engine/analysis/features", oddity.value) for oddity in Oddity
    )
    for form in PLAN_FORMATS:
        yield from (
            ("rankstudio/engine/experiment/plan/as_code.py", text)
            for text in (form.label, form.help)
        )
    for data_format in data_formats():
        texts = (data_format.label, *data_format.loses)
        yield from (
            ("rankstudio/engine/data/formats/data_format.py", text) for text in texts
        )
    yield from (("resources/metrics/measures.toml", family.help) for family in FAMILIES)
    if find_spec("rankstudio.plugins.report") is not None:
        yield from _report_texts()
    yield from (
        ("rankstudio/engine/analysis/result_table/query.py", name)
        for name in TESTS.values()
    )
    for rule in CONVENTIONS.values():
        yield "resources/metrics/conventions.toml", rule.summary
    for source in table("features", "sources.toml")["source"]:
        yield from (
            ("resources/features/sources.toml", source[key])
            for key in ("holds", "terms", "open")
        )


def template() -> Catalog:
    """Return the catalog of what the source says, with nothing translated."""
    made = _empty()
    for module, said, context in texts():
        made.add(
            said if len(said) > 1 else said[0],
            locations=[(module, None)],
            context=context or None,
        )
    return made


def updated(language: str, source: Catalog) -> Catalog:
    """Return a catalog with exactly the texts of a template; translations stay, what is gone goes."""
    old = catalog(language)
    made = _empty(language)
    made.header_comment = old.header_comment
    for message in source:
        if message.id:
            known = old.get(message.id, message.context) or message
            made.add(
                message.id,
                known.string,
                message.locations,
                known.flags,
                context=message.context,
            )
    return made


def catalog(language: str) -> Catalog:
    """Return a catalog as it is kept."""
    with (HERE / f"{language}.po").open("rb") as file:
        return read_po(file, language)


def written(made: Catalog) -> bytes:
    """Return a catalog as the text of its file."""
    text = BytesIO()
    write_po(text, made, width=_WIDTH, sort_output=True, omit_header=False)
    return text.getvalue()


def compiled(made: Catalog) -> bytes:
    """Return a catalog as the window reads it."""
    binary = BytesIO()
    write_mo(binary, made)
    return binary.getvalue()


def open_texts(made: Catalog) -> list[str]:
    """Return the texts that are not translated, or only perhaps ("fuzzy")."""
    return [_first(m) for m in made if m.id and (m.fuzzy or not all(_strings(m)))]


def broken_texts(made: Catalog) -> list[str]:
    """Return the texts whose translation has other fields, shortcuts, tabs or ends than the source."""
    return [_first(m) for m in made if m.id and any(map(_differs(m), _strings(m)))]


def _differs(message: Message) -> Any:
    sources = message.id if isinstance(message.id, tuple) else (message.id,)
    wanted = [_skeleton(text) for text in sources]
    return lambda text: bool(text) and _skeleton(text) not in wanted


def _skeleton(text: str) -> tuple[object, ...]:
    """Return what a translation has to keep."""
    ends = re.match(r"\s*", text), re.search(r"\s*$", text)
    return (
        sorted(
            Counter(_FIELD.findall(text.replace("{{", "").replace("}}", ""))).items()
        ),
        len(re.findall(r"&\w", re.sub(r"&\w+;", "", text))),
        text.count("\t"),
        [end and end.group() for end in ends],
        sorted(re.findall(r"<[^>]+>|\*\.\w+", text)),
    )


def _strings(message: Message) -> tuple[str, ...]:
    said = message.string
    return tuple(said) if isinstance(said, tuple | list) else (said,)


def _first(message: Message) -> str:
    return message.id[0] if isinstance(message.id, tuple) else message.id


def _empty(language: str | None = None) -> Catalog:
    return Catalog(
        language,
        project="RankStudio's window",
        version="1",
        header_comment="# The texts of RankStudio's window.",
        copyright_holder="The RankStudio developers",
        creation_date=_WHEN,
        revision_date=_WHEN,
        msgid_bugs_address="https://github.com/rankstudio/rankstudio/issues",
        last_translator="The RankStudio developers",
        language_team="The RankStudio developers",
        charset="utf-8",
        fuzzy=False,
    )


def main(check: bool, release: bool = False) -> int:
    """Write all catalogs, or only check them; print what is missing or wrong, and return the exit status.

    Texts without translation are printed. They count as wrong before a release only.
    """
    source = template()
    files = {TEMPLATE: written(source)}
    untranslated: list[str] = []
    wrong: list[str] = []
    for language in LANGUAGES:
        made = updated(language, source)
        files[HERE / f"{language}.po"] = written(made)
        files[SHIPPED / f"{language}.mo"] = compiled(made)
        untranslated += [
            f"{language}.po: not translated: {text}" for text in open_texts(made)
        ]
        wrong += [
            f"{language}.po: fields, mnemonic or ends differ: {text}"
            for text in broken_texts(made)
        ]
    for path, content in files.items():
        current_content = path.read_bytes() if path.exists() else b""
        if current_content == content:
            continue
        if check:
            wrong.append(
                f"{path.relative_to(ROOT)} is not what the source says: run languages/catalogs.py"
            )
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    sys.stdout.write("".join(f"{line}\n" for line in [*untranslated, *wrong]))
    return 1 if wrong or (release and untranslated) else 0


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:], "--release" in sys.argv[1:]))
