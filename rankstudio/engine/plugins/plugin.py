"""A plug-in as data: its name, and what it adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

GROUP = "rankstudio.plugins"
"""Group of the entry points that name plug-ins."""


class Keyed(Protocol):
    """A catalog entry: a frozen value with a key, under which plans and studies name it."""

    @property
    def key(self) -> str:
        """Key, unique among entries of its kind."""
        ...


@dataclass(frozen=True)
class Plugin:
    """Additions of a package to the program.

    All values are static: estimators and functions are named as
    ``"module:name"`` and imported on first use, so that reading a
    plug-in imports no computation.

    Attributes
    ----------
    name : str
        Name, as ``rankstudio plugins`` lists it and ``--without`` takes it.
    methods : tuple of Method
        Selectors and rankers.
    measures : tuple of Measure
        Measures of rankings.
    data_formats : tuple of DataFormat
        Formats of data files.
    model_formats : tuple of ModelFormat
        Formats of other programs in which models are written. In a
        built-in plug-in, `model_formats`, `data_formats` and `analyses`
        may also be a reference ``"module:name"`` to the tuple.
    model_readers : tuple of ModelReader
        Readers of models of other programs; only those of built-in
        plug-ins are asked.
    pages : tuple of WindowPage
        Pages of the window.
    panels : tuple of WindowPanel
        Panels on pages of the window.
    parts : tuple of PagePart
        Panels with a controller, among those of a page of the window.
    window_commands : tuple of WindowCommands
        Commands of the window's menus.
    feature_columns : tuple of FeatureColumn
        Columns of the table of features.
    run_tables : tuple of RunTable
        Tables of a run.
    run_views : tuple of RunView
        Views of a run on the page *Compare*.
    printed_results : tuple of PrintedResults
        Averages that papers print.
    report_parts : tuple of ReportPart
        Sections of reports.
    commands : tuple of TerminalCommand
        Commands of the terminal.
    run_logs : tuple of RunLog
        Programs in which runs can be logged.
    analyses : tuple of Analysis
        Analyses of data and of runs.
    clusters : tuple of ClusterEntry
        Clusters whose workers can carry out runs.
    pair_sources : tuple of PairSource
        Files of pairs of documents from which runs learn instead of labels.
    functions : tuple of EngineFunction
        Functions that are also names of :mod:`rankstudio.engine`.
    summary : str
        Description in one sentence.
    needs : tuple of str
        Names of plug-ins that this plug-in uses; where one of these is
        missing, this plug-in is left out.
    texts : str
        ``"package:folder"`` with translations of the texts of the
        entries: compiled gettext catalogs in UTF-8, such as
        ``folder/de/LC_MESSAGES/mine.mo``. The package is not imported
        for them.
    api : int
        Version of :mod:`rankstudio.api` that the plug-in is written for.
    bibtex : str
        Entry of BibTeX for the package, which ``rankstudio cite``
        prints for runs that use it; "" to make one of name, summary and
        version.

    Examples
    --------
    >>> PLUGIN = Plugin(name="mrmr", methods=(), summary="Minimum redundancy, maximum relevance.")
    >>> PLUGIN.name
    'mrmr'
    """

    name: str
    methods: tuple[Keyed, ...] = ()
    measures: tuple[Keyed, ...] = ()
    data_formats: tuple[Keyed, ...] | str = ()
    model_formats: tuple[Keyed, ...] | str = ()
    model_readers: tuple[Keyed, ...] = ()
    pages: tuple[Keyed, ...] = ()
    panels: tuple[Keyed, ...] = ()
    parts: tuple[Keyed, ...] = ()
    window_commands: tuple[Keyed, ...] = ()
    feature_columns: tuple[Keyed, ...] = ()
    run_tables: tuple[Keyed, ...] = ()
    run_views: tuple[Keyed, ...] = ()
    printed_results: tuple[Keyed, ...] = ()
    report_parts: tuple[Keyed, ...] = ()
    commands: tuple[Keyed, ...] = ()
    run_logs: tuple[Keyed, ...] = ()
    analyses: tuple[Keyed, ...] | str = ()
    clusters: tuple[Keyed, ...] = ()
    pair_sources: tuple[Keyed, ...] = ()
    functions: tuple[Keyed, ...] = ()
    summary: str = ""
    needs: tuple[str, ...] = ()
    texts: str = ""
    api: int = 1
    bibtex: str = ""


@dataclass(frozen=True)
class LoadedPlugin:
    """A plug-in with the package that it comes from.

    Attributes
    ----------
    plugin : Plugin
        The plug-in.
    package, version : str
        Name and version of the package; "rankstudio" for a built-in plug-in.
    built_in : bool
        Whether the plug-in is a part of RankStudio.
    """

    plugin: Plugin
    package: str
    version: str
    built_in: bool = False


@dataclass(frozen=True)
class FailedPlugin:
    """A plug-in that cannot be loaded.

    Attributes
    ----------
    name, package, version : str
        Names of the entry point and the package, and the package's version.
    reason : str
        Reason why it cannot be loaded, as a sentence.
    built_in : bool
        Whether it is a built-in ability that needs an absent plug-in;
        no warning is given for it.
    """

    name: str
    package: str
    version: str
    reason: str
    built_in: bool = False
