"""The dialog *Plug-ins*: the installed plug-ins, what each adds, and those that cannot be loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.plugin_contents import added_by
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.origin import OriginKind
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.layout import fill, named

_DIALOG_SIZE = 760, 460
_COUNT_TEXTS: dict[str, Callable[[int], str]] = {
    "methods": lambda n: trn("{n} method", "{n} methods", n).format(n=n),
    "measures": lambda n: trn("{n} measure", "{n} measures", n).format(n=n),
    "data_formats": lambda n: trn("{n} data format", "{n} data formats", n).format(n=n),
    "model_formats": lambda n: trn("{n} model format", "{n} model formats", n).format(
        n=n
    ),
    "pages": lambda n: trn("{n} page", "{n} pages", n).format(n=n),
    "panels": lambda n: trn("{n} panel", "{n} panels", n).format(n=n),
    "window_commands": lambda n: trn(
        "{n} command of a menu", "{n} commands of menus", n
    ).format(n=n),
    "feature_columns": lambda n: trn(
        "{n} column of features", "{n} columns of features", n
    ).format(n=n),
    "run_tables": lambda n: trn("{n} table of runs", "{n} tables of runs", n).format(
        n=n
    ),
    "run_views": lambda n: trn("{n} view of runs", "{n} views of runs", n).format(n=n),
    "printed_results": lambda n: trn(
        "{n} list of printed results", "{n} lists of printed results", n
    ).format(n=n),
    "commands": lambda n: trn("{n} command", "{n} commands", n).format(n=n),
    "analyses": lambda n: trn("{n} analysis", "{n} analyses", n).format(n=n),
    "run_logs": lambda n: trn("{n} log of runs", "{n} logs of runs", n).format(n=n),
    "clusters": lambda n: trn("{n} cluster", "{n} clusters", n).format(n=n),
    "pair_sources": lambda n: trn(
        "{n} reader of pairs", "{n} readers of pairs", n
    ).format(n=n),
    "model_readers": lambda n: trn(
        "{n} reader of models", "{n} readers of models", n
    ).format(n=n),
}
_TREE_STYLE = (
    "QTreeWidget { background: palette(base); } QTreeWidget::item { padding: 7px 8px; }"
)


class PluginDialog(QDialog):
    """A dialog that lists the plug-ins, and the methods that this session has added from files.

    Parameters
    ----------
    parent : QWidget, optional
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plugin-dialog")
        self.setWindowTitle(tr("Plug-ins"))
        self.resize(*_DIALOG_SIZE)
        self.list = named(QTreeWidget(), "plugin-list", tr("Plug-ins"))
        self.list.setRootIsDecorated(False)
        self.list.setWordWrap(True)
        self.list.setUniformRowHeights(False)
        self.list.setStyleSheet(_TREE_STYLE)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHeaderLabels([tr("Name"), tr("Package"), tr("Adds")])
        self.list.header().setSectionResizeMode(
            0, QHeaderView.ResizeMode.ResizeToContents
        )
        self.list.header().setSectionResizeMode(
            1, QHeaderView.ResizeMode.ResizeToContents
        )
        for name, package, contents in plugin_rows():
            item = QTreeWidgetItem(self.list, [name, package, contents])
            for column in range(3):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignVCenter)

            # The cell shows only the beginning of a long text.
            item.setToolTip(2, plain(contents))
        text = tr(
            "Packages with the entry point rankstudio.plugins add methods, measures and formats of data and "
            "models. Install them with pip, and start RankStudio again. To add a Python file, use Run, Add a "
            "method."
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(tr("Close"))
        buttons.rejected.connect(self.reject)
        note = PlainLabel(text, wraps=True)
        fill(
            QVBoxLayout(self),
            note,
            self.list,
            buttons,
            margins=(16, 16, 16, 16),
            spacing=12,
        )


def _entry_label(entry: Any) -> str:
    """Return the label of an entry, or its key if it has no label, as a terminal command has not."""
    return tr(entry.label) if hasattr(entry, "label") else str(entry.key)


def plugin_rows() -> list[tuple[str, str, str]]:
    """Return a row for each plug-in, and for each method that this session has added from a file.

    Each row is (name, package and version, contents). Of a plug-in that
    failed to load, or that is left out, the contents are the reason.
    """
    all_methods = methods()
    plugin_set = plugins()
    rows: list[tuple[str, str, str]] = []
    for loaded in plugin_set.loaded:
        package = f"{loaded.package} {loaded.version}"

        # A line for each kind of entries, such as "2 methods: A, B".
        contents = [
            f"{_COUNT_TEXTS[kind](len(entries))}: {', '.join(_entry_label(entry) for entry in entries)}"
            for kind, entries in added_by(loaded).items()
            if entries
        ]
        rows.append((loaded.plugin.name, package, "\n".join(contents) or tr("nothing")))
    for failed in plugin_set.failed:
        reason = tr("Cannot be loaded: {reason}.").format(reason=failed.reason)
        rows.append((failed.name, f"{failed.package} {failed.version}", reason))
    rows += [(name, "", tr("left out")) for name in plugin_set.left_out]

    # Methods of packages are in the rows of their plug-ins;
    # RankStudio's own ones have no origin. The others were added from
    # files in this session.
    for entry in all_methods:
        if entry.origin is not None and entry.origin.kind is not OriginKind.PACKAGE:
            rows.append(
                (entry.label, entry.origin.text, tr("a method of this session"))
            )
    return rows
