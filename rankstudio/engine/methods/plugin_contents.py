"""Contents of each plug-in, by kind, as the terminal and the window list them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankstudio.engine.data.formats.format_catalog import data_formats
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.language import translatable
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.analysis import Analysis
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.engine.plugins.clusters import ClusterEntry
from rankstudio.engine.plugins.entries import values_of
from rankstudio.engine.plugins.feature_columns import FeatureColumn
from rankstudio.engine.plugins.model_reader import ModelReader
from rankstudio.engine.plugins.page_parts import page_parts
from rankstudio.engine.plugins.pair_sources import PairSource
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.engine.plugins.printed_results import PrintedResults
from rankstudio.engine.plugins.run_logs import RunLog
from rankstudio.engine.plugins.run_tables import RunTable
from rankstudio.engine.plugins.run_views import RunView
from rankstudio.engine.plugins.terminal_commands import TerminalCommand
from rankstudio.engine.plugins.window_commands import WindowCommands
from rankstudio.engine.plugins.window_parts import own_pages, window_parts

KINDS = {
    "methods": translatable("methods"),
    "measures": translatable("measures"),
    "data_formats": translatable("data formats"),
    "model_formats": translatable("model formats"),
    "pages": translatable("pages"),
    "panels": translatable("panels"),
    "window_commands": translatable("commands of the window"),
    "feature_columns": translatable("columns of features"),
    "run_tables": translatable("tables of runs"),
    "run_views": translatable("views of runs"),
    "printed_results": translatable("printed results"),
    "commands": translatable("commands"),
    "analyses": translatable("analyses"),
    "run_logs": translatable("logs of runs"),
    "clusters": translatable("clusters"),
    "pair_sources": translatable("readers of pairs"),
    "model_readers": translatable("readers of models"),
}
"""Kinds of entries: the fields of a plug-in, with the names of the kinds for users."""


def added_by(loaded: LoadedPlugin) -> dict[str, list[Any]]:
    """Return the usable entries of a plug-in by kind, such as "methods" or "pages".

    Parameters
    ----------
    loaded : LoadedPlugin
        The plug-in.

    Returns
    -------
    dict of str to list
        Entries of each kind, also of kinds without entries.
    """
    # Catalogs of all plug-ins and of RankStudio, from which this
    # plug-in's entries are taken.
    catalogs: dict[str, Iterable[Any]] = {
        "methods": methods(),
        "measures": MEASURES.entries(),
        "data_formats": data_formats(),
        "model_formats": model_formats().values(),
    }
    # Pages and panels, each with the plug-in that added it.
    parts = window_parts()
    # Kinds with a catalog first, then pages and panels, then the values
    # that the plug-in only lists. The kinds are different, so the order
    # of merging does not matter.
    return {
        **{
            kind: _catalog_entries(loaded, kind, entries)
            for kind, entries in catalogs.items()
        },
        # The window's own pages, and pages that other packages add.
        "pages": [
            *(page for page in own_pages() if page in loaded.plugin.pages),
            *(page for page, adder in parts.pages if adder.plugin is loaded.plugin),
        ],
        # Panels of the window, and parts that the plug-in adds to pages.
        "panels": [
            *(panel for panel, adder in parts.panels if adder.plugin is loaded.plugin),
            *(part for adder, part in page_parts() if adder.plugin is loaded.plugin),
        ],
        **{
            kind: _declared_entries(loaded, kind, cls) for kind, cls in _CLASSES.items()
        },
    }


_CLASSES = {
    "analyses": Analysis,
    "commands": TerminalCommand,
    "window_commands": WindowCommands,
    "feature_columns": FeatureColumn,
    "run_tables": RunTable,
    "run_views": RunView,
    "printed_results": PrintedResults,
    "run_logs": RunLog,
    "clusters": ClusterEntry,
    "pair_sources": PairSource,
    "model_readers": ModelReader,
}


def _declared_entries(loaded: LoadedPlugin, kind: str, entry_class: type) -> list[Any]:
    """Return the entries of one kind that a plug-in declares, without objects of another class.

    ``loaded`` is the plug-in, ``kind`` is a name such as
    "pair_sources", and ``entry_class`` the class of its entries.
    """
    return [
        value for value in values_of(loaded, kind) if isinstance(value, entry_class)
    ]


def _catalog_entries(
    loaded: LoadedPlugin, kind: str, entries: Iterable[Any]
) -> list[Any]:
    """Return the entries of a catalog that come from this plug-in.

    ``loaded`` is the plug-in, ``entries`` are those of the catalog, and
    ``kind`` is a name such as "methods".
    """
    keys = {getattr(value, "key", None) for value in values_of(loaded, kind)}
    package = "" if loaded.built_in else loaded.package
    return [
        entry for entry in entries if entry.package == package and entry.key in keys
    ]
