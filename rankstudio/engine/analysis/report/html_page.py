"""A report as one HTML file: nothing is fetched, no script runs, and no text of others becomes markup."""

from __future__ import annotations

from rankstudio import __version__
from rankstudio.engine.analysis.report.document import Report
from rankstudio.engine.support.templates import rendered


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
    return rendered("report.html", report=report, version=__version__)
