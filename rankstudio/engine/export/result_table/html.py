"""A table of results in HTML: a page of its own, or the table alone."""

from __future__ import annotations

from math import isnan

from rankstudio.engine.export.result_table.table import Rank, ResultCell, ResultTable, TableStyle
from rankstudio.engine.support.escaping import html_text, one_line

_RANKS: dict[Rank, str] = {"best": "<b>%s</b>", "second": "<u>%s</u>", "": "%s"}

_RULES = """\
body { font: 16px/1.5 Georgia, "Times New Roman", serif; color: #1a1a1a; background: #fff; margin: 2rem; }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; }
caption { text-align: left; padding-bottom: .5rem; }
th { font-weight: normal; }
th, td { padding: .15rem .75rem; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
th[scope=row], thead td, thead th:first-child[scope=col] { text-align: left; padding-left: 0; }
th[scope=colgroup] { text-align: center; }
th[scope=colgroup] span { display: block; border-bottom: 1px solid; }
thead tr:last-child th { border-bottom: 1px solid; }
sup { line-height: 0; }
.notes { font-size: .85em; max-width: 44rem; }
"""


def html_page_of_table(table: ResultTable, style: TableStyle) -> str:
    """Return a page with the table alone, which needs nothing else."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(table.caption)}</title>\n<style>\n{_RULES}</style>\n</head>\n<body>\n"
        f"{html_table(table, style)}</body>\n</html>\n"
    )


def html_table(table: ResultTable, style: TableStyle) -> str:
    """Return the table and its notes, to be put into a page."""
    groups = table.groups()
    lines = ["<table>", f"<caption>{_text(table.caption)}</caption>", "<thead>"]
    if groups:
        cells = (
            f'<th colspan="{width}" scope="colgroup"><span>{_text(group)}</span></th>'
            for group, width in groups
        )
        lines.append(f"<tr><td></td>{''.join(cells)}</tr>")
    titles = "".join(f'<th scope="col">{_text(column.title)}</th>' for column in table.columns)
    lines += [f'<tr><th scope="col">{_text(table.corner)}</th>{titles}</tr>', "</thead>", "<tbody>"]
    for row, cells_of_row in table.styled(style):
        cells = (f"<td>{cell_html(*cell, style)}</td>" for cell in cells_of_row)
        lines.append(f'<tr><th scope="row">{_text(row.title)}</th>{"".join(cells)}</tr>')
    lines += ["</tbody>", "</table>"]
    notes = table.notes_of(style)
    if notes:
        lines.append(f'<p class="notes">{" ".join(map(_text, notes))}</p>')
    return "\n".join([*lines, ""])


def cell_html(cell: ResultCell, rank: Rank, mark: str, style: TableStyle) -> str:
    """Return what stands in a cell: mean, deviation and mark."""
    text = _RANKS[rank] % style.number(cell.mean)
    sd = f" ± {style.number(cell.sd)}" if style.sd and not isnan(cell.sd) else ""
    return text + sd + (f"<sup>{mark}</sup>" if mark else "")


def _text(text: str) -> str:
    return html_text(one_line(text))
