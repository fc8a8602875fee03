"""The dialog *Plug-ins*: what is installed, what each adds, and what cannot be loaded."""

from __future__ import annotations

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
from rankstudio.engine.methods.catalog.origin import OriginKind
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.window_parts import window_parts
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.layout import fill, named

_SIZE = 760, 460
_SPACE = "QTreeWidget { background: palette(base); } QTreeWidget::item { padding: 7px 8px; }"


class PluginDialog(QDialog):
    """Lists plug-ins, and the methods that this session added from files.

    Parameters
    ----------
    parent : QWidget, optional
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plugin-dialog")
        self.setWindowTitle(tr("Plug-ins"))
        self.resize(*_SIZE)
        self.list = named(QTreeWidget(), "plugin-list", tr("Plug-ins"))
        self.list.setRootIsDecorated(False)
        self.list.setWordWrap(True)
        self.list.setUniformRowHeights(False)
        self.list.setStyleSheet(_SPACE)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHeaderLabels([tr("Name"), tr("Package"), tr("Adds")])
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for row in plugin_rows():
            item = QTreeWidgetItem(self.list, list(row))
            for column in range(3):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(2, plain(row[2]))
        text = tr(
            "Packages with the entry point rankstudio.plugins add methods. Install them with pip, and start "
            "RankStudio again. To add a Python file, use Run, Add a method."
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(tr("Close"))
        buttons.rejected.connect(self.reject)
        note = PlainLabel(text, wraps=True)
        fill(QVBoxLayout(self), note, self.list, buttons, margins=(16, 16, 16, 16), spacing=12)


def plugin_rows() -> list[tuple[str, str, str]]:
    """Return name, package and contents of each plug-in, then of those that failed and of files."""
    listed = methods()
    found = plugins()
    parts = window_parts()
    rows: list[tuple[str, str, str]] = []
    for loaded in found.loaded:
        own = [
            entry.label
            for entry in listed
            if (entry.origin is None if loaded.built_in else _package(entry.origin) == loaded.package)
        ]
        package = f"{loaded.package} {loaded.version}"
        pages = [page.label for page, by in parts.pages if by is loaded]
        panels = [panel.label for panel, by in parts.panels if by is loaded]
        adds = [
            _counted(trn("{n} method", "{n} methods", len(own)), own),
            _counted(trn("{n} page", "{n} pages", len(pages)), pages),
            _counted(trn("{n} panel", "{n} panels", len(panels)), panels),
        ]
        rows.append((loaded.plugin.name, package, "; ".join(filter(None, adds)) or tr("nothing")))
    for failed in found.failed:
        reason = tr("Cannot be loaded: {reason}.").format(reason=failed.reason)
        rows.append((failed.name, f"{failed.package} {failed.version}", reason))
    rows += [(name, "", tr("left out")) for name in found.left_out]
    for entry in listed:
        if entry.origin is not None and entry.origin.kind is not OriginKind.PACKAGE:
            rows.append((entry.label, entry.origin.text, tr("a method of this session")))
    return rows


def _counted(count: str, names: list[str]) -> str:
    """Return how many there are, and their names; "" for none."""
    return f"{count.format(n=len(names))}: {', '.join(names)}" if names else ""


def _package(origin: object) -> str:
    return str(getattr(origin, "name", ""))
