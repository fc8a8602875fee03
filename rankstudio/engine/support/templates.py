"""HTML pages from templates, in which every text in a value is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from rankstudio.engine.support.escaping import html_text, one_line, paragraphs
from rankstudio.engine.support.resources import resource

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def rendered(name: str, **values: object) -> str:
    """Render a template with values, and return the text.

    Parameters
    ----------
    name : str
        Name of a file below ``resources/templates``.
    **values : object
        All texts in the values are escaped by
        :func:`~rankstudio.engine.support.escaping.html_text`; the
        template marks markup as ``safe``.

    Raises
    ------
    jinja2.UndefinedError
        If the template uses a missing value.
    """
    return _jinja_environment().get_template(name).render(values)


@cache
def _jinja_environment() -> Environment:
    """Return the environment of the page templates, which escapes texts for HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - where a page is made
    from markupsafe import Markup  # noqa: PLC0415

    def escaped(value: object) -> object:
        """Return a value for a page; texts that are not HTML already are escaped."""
        return (
            Markup(html_text(value))
            if isinstance(value, str) and not isinstance(value, Markup)
            else value
        )

    def lines(text: str) -> Iterator[Markup]:
        """Return the paragraphs of a text as HTML, for loops in templates."""
        return map(Markup, paragraphs(text))

    environment = Environment(
        autoescape=True,
        finalize=escaped,
        keep_trailing_newline=True,
        loader=FileSystemLoader(resource("templates")),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    # Filters are functions that a template applies to a value.
    environment.filters |= {
        "paragraphs": lines,
        "one_line": one_line,
        "kind": lambda value: type(value).__name__,
    }
    return environment
