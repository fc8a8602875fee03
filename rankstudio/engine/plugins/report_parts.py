"""Descriptions of the sections that abilities write in reports.

The report itself is an ability, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class Paragraph:
    """A text in a report's section; an empty line in it starts a new paragraph.

    Attributes
    ----------
    text : str
        The text.
    muted : bool
        Whether the text is shown as a note, less prominently.
    """

    text: str
    muted: bool = False


@dataclass(frozen=True)
class ReportPart:
    """A section of reports that a plug-in writes.

    Attributes
    ----------
    key : str
        Key of the section, which has its title and its place in the report.
    compute : str
        ``"module:function"``: called with a
        :class:`~rankstudio.engine.analysis.reported_runs.ReportSource`,
        it yields :class:`Paragraph`,
        :class:`~rankstudio.engine.export.tables.TextTable` and
        :class:`~rankstudio.engine.export.figures.values.Figure`.
    """

    key: str
    compute: str


def report_parts() -> dict[str, ReportPart]:
    """Return the sections of reports that abilities write, by key.

    Abilities are RankStudio's own removable plug-ins. Sections of other
    packages are left out with a warning.
    """
    # Texts of the warnings.
    exists = tr(
        "A section of reports with the key {key} exists already. Choose another key."
    )
    unusable = tr("A section of reports of the plug-in {name} cannot be used: {reason}")
    return {
        entry.key: entry
        for _, entry in entries_of("report_parts", _refuse_invalid, exists, unusable)
    }


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for any section of reports that a package's plug-in adds.

    Other packages add an analysis instead, which never sees a sealed test part.
    """
    text = tr(
        "only RankStudio itself has sections of reports; use an Analysis instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
