"""The dialog with the selection by greedy RankRLS for a group of queries, and for all other queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from rankstudio.engine.support.number_format import count_text
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, TableView
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.queries.query_paths import QueryPaths

_DIALOG_SIZE = 660, 460


@dataclass(frozen=True)
class PathsRow:
    """A row of the table: step k of the path on the marked queries, and of the path on the other queries.

    Attributes
    ----------
    k : int
        Number of the step, from 1.
    marked, others : str
        Id and name of the feature that the path selects in this step; "" after its end.
    marked_shared, others_shared : bool
        Whether the other path has selected the feature by this step, too.
    """

    k: int
    marked: str
    others: str
    marked_shared: bool
    others_shared: bool


def paths_rows(
    paths: QueryPaths, ids: Sequence[int], names: Sequence[str]
) -> list[PathsRow]:
    """Return a row for each step k of two paths, with the feature that each path adds.

    A feature is shared if both paths contain it after k steps. ``ids``
    and ``names`` are those of the data's columns.
    """
    marked_features = paths.marked[-1].selected if paths.marked else ()
    other_features = paths.others[-1].selected if paths.others else ()

    def feature_text(column: int | None) -> str:
        """Return id and name of a feature, or ""."""
        return "" if column is None else f"{ids[column]} {names[column]}"

    # One path may be longer than the other: its later rows have one feature only.
    rows = []

    for k in range(1, max(len(marked_features), len(other_features)) + 1):
        shared = set(marked_features[:k]) & set(other_features[:k])
        marked_column = marked_features[k - 1] if k <= len(marked_features) else None
        other_column = other_features[k - 1] if k <= len(other_features) else None
        row = PathsRow(
            k=k,
            marked=feature_text(marked_column),
            others=feature_text(other_column),
            marked_shared=marked_column in shared,
            others_shared=other_column in shared,
        )
        rows.append(row)

    return rows


class QueryPathsDialog(QDialog):
    """A table of two paths of selected features: on a group of marked queries, and on all other queries.

    A feature is muted at a step if both paths contain it by this step.

    Parameters
    ----------
    theme : Theme
    paths : QueryPaths
    sizes : tuple of int
        Numbers of the marked and of the other queries.
    ids, names : sequence
        Ids and names of the data's columns.
    part : str
        Name of the part that has the queries: "training".
    parent : QWidget, optional
    """

    def __init__(
        self,
        theme: Theme,
        paths: QueryPaths,
        sizes: tuple[int, int],
        ids: Sequence[int],
        names: Sequence[str],
        part: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        named(self, "query-paths-dialog", tr("Selection for some queries"))
        self.setWindowTitle(tr("Selection for some queries"))
        rows = paths_rows(paths, ids, names)
        n_marked, n_others = sizes
        columns = (
            Column("k", "k", "right", width=36, full_title="k"),
            Column(
                "marked",
                _with_query_count(tr("listed queries: {n}"), n_marked),
                stretch=True,
                tone=lambda row: "muted" if row.marked_shared else "text",
            ),
            Column(
                "others",
                _with_query_count(tr("other queries: {n}"), n_others),
                stretch=True,
                tone=lambda row: "muted" if row.others_shared else "text",
            ),
        )
        title = tr("Selection for some queries")
        self.table = TableView(
            theme,
            columns,
            "query-paths-table",
            lambda row: row.k,
            accessible_name=title,
        )
        self.table.set_rows(rows)
        about = named(WrappedLabel(), "query-paths-about", role="caption")
        n_shared = len(set(paths.marked[-1].selected) & set(paths.others[-1].selected))
        text = tr(
            "Greedy RankRLS was trained on each of the two groups of {part} queries alone. Features that "
            "both paths contain by a step are grey."
        )
        sentence = tr("After {k} steps the two paths share no feature.")
        if n_shared:
            sentence = trn(
                "After {k} steps the two paths share {n} feature.",
                "After {k} steps the two paths share {n} features.",
                n_shared,
            )
        about.setText(
            f"{text.format(part=part)} {sentence.format(k=len(rows), n=n_shared)}"
        )
        self.close_button = named(QPushButton(tr("Close")), "query-paths-close")
        self.close_button.clicked.connect(self.reject)
        failure = named(WrappedLabel(), "query-paths-failure", role="error")
        self.table.failed.connect(failure.setText)
        foot = fill(QHBoxLayout(), (failure, 1), self.close_button, spacing=8)
        fill(
            QVBoxLayout(self),
            about,
            (self.table, 1),
            foot,
            margins=(16, 14, 16, 14),
            spacing=10,
        )
        self.resize(*_DIALOG_SIZE)


def _with_query_count(text: str, n: int) -> str:
    return text.format(n=count_text(n))
