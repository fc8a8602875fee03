"""A report as one HTML file: nothing is fetched, no script runs, and no text of others becomes markup."""

from __future__ import annotations

from typing import assert_never

from rankstudio import __version__
from rankstudio.engine.analysis.report.document import (
    Block,
    CodeText,
    FactList,
    Paragraph,
    Report,
    ReportFigure,
    ReportSection,
    ReportTable,
)
from rankstudio.engine.support.escaping import html_text, paragraphs
from rankstudio.engine.support.resources import resource

_SHORT = 14  # rows of a table that is not broken over pages
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html_page(report: Report) -> str:
    """Return a report as the text of an HTML file.

    Parameters
    ----------
    report : Report
        With the sections that are wanted, in their order.

    Returns
    -------
    str
        Valid HTML in UTF-8. It reads on a phone, on a screen in both themes and on paper.
    """
    style = resource("report", "report.css").read_text(encoding="utf-8")
    title = html_text(report.title)
    contents = "\n".join(
        f'<li><a href="#{section.key}">{html_text(section.title)}</a></li>' for section in report.sections
    )
    body = "\n".join(_section(section) for section in report.sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="RankStudio {__version__}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="muted">{html_text(report.subtitle)}</p>
</header>
<nav aria-label="Sections">
<ul>
{contents}
</ul>
</nav>
<main>
{body}
</main>
<footer>
<p class="muted">Written by RankStudio {__version__}.</p>
</footer>
</body>
</html>
"""


def _section(section: ReportSection) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section id="{section.key}">\n<h2>{html_text(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            kind = ' class="muted"' if block.muted else ""
            return "\n".join(f"<p{kind}>{lines}</p>" for lines in paragraphs(block.text))
        case FactList():
            rows = "\n".join(
                f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in block.rows
            )
            return f"<dl>\n{rows}\n</dl>"
        case ReportTable():
            return _table(block)
        case ReportFigure():
            drawn = f'<div class="drawing">\n{block.svg}\n</div>'
            return f"<figure>\n{drawn}\n<figcaption>{html_text(block.caption)}</figcaption>\n</figure>"
        case CodeText():
            return f"<h3>{html_text(block.title)}</h3>\n<pre><code>{html_text(block.text)}</code></pre>"
        case _:
            assert_never(block)


def _table(table: ReportTable) -> str:
    """Return a table, in a box that scrolls where the screen is narrower."""
    sides = ["left" if column in table.left else "right" for column in range(len(table.header))]
    head = "".join(
        f'<th scope="col" class="{side}">{html_text(name)}</th>'
        for side, name in zip(sides, table.header, strict=True)
    )
    rows = "\n".join(
        "<tr>" + "".join(_cell(table, at, column, sides[column]) for column in range(len(row))) + "</tr>"
        for at, row in enumerate(table.rows)
    )
    title = html_text(table.title)
    note = f'\n<p class="note">{html_text(table.note)}</p>' if table.note else ""
    kind = "scroll" if len(table.rows) > _SHORT else "scroll short"
    return (
        f'<div class="{kind}" role="region" aria-label="{title}" tabindex="0">\n'
        f"<table>\n<caption>{title}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>{note}"
    )


def _cell(table: ReportTable, at: int, column: int, side: str) -> str:
    text = html_text(table.rows[at][column])
    return f'<td class="{side}">{f"<b>{text}</b>" if (at, column) in table.bold else text}</td>'
