"""Statistics of the data on their page: features, documents per query, and the rows themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView, QWidget

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.summary import describe_fold
from rankstudio.ui.data.statistics_panel import StatisticsPanel
from rankstudio.ui.style.theme import Theme


def documents(sizes: tuple[int, ...]) -> RankingDataset:
    rng = np.random.default_rng(0)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    m = int(ptr[-1])
    X = rng.normal(size=(m, 3))
    X[:, 1] = 5.0
    return RankingDataset(
        X=X,
        y=(np.arange(m) % 3).astype(np.float64),
        query_ptr=ptr,
        query_ids=tuple(f"q{i}" for i in range(len(sizes))),
        feature_ids=np.array([7, 8, 9]),
        feature_names=("BM25 of body", "IDF of body", "PageRank"),
        comments=tuple(f"#docid = D{i}" for i in range(m)),
    )


@pytest.fixture
def panel(theme: Theme, stage: Callable[..., QWidget]) -> StatisticsPanel:
    return stage(StatisticsPanel(theme), 860, 500)


def test_features_query_sizes_and_rows_are_shown_without_a_copy(panel: StatisticsPanel) -> None:
    train = documents((1000, 2))
    summary = describe_fold(FoldedDataset("x", None, (Fold(1, train),)), 1)
    panel.show_summary("x, training documents", summary, train)
    assert panel.caption() == "x, training documents"
    assert [row.constant for row in panel.table.rows()] == [False, True, False]
    assert sum(row[2] for row in panel.sizes.numbers()[1]) == 2
    rows = panel.findChild(QTableView, "preview-table").model()
    assert (rows.rowCount(), rows.columnCount()) == (1002, 6)
    assert [rows.index(1001, c).data() for c in (0, 1, 5)] == ["2", "q1", "#docid = D1001"]
    assert float(rows.index(5, 2).data()) == pytest.approx(train.X[5, 0], rel=1e-3)
    assert rows.index(5, 2).data(Qt.ItemDataRole.ToolTipRole) == repr(float(train.X[5, 0]))
    horizontal = Qt.Orientation.Horizontal
    headers = [rows.headerData(c, horizontal) for c in range(6)]
    assert headers == ["relevance", "query", "7", "8", "9", "comment"]
    assert rows.headerData(2, horizontal, Qt.ItemDataRole.ToolTipRole) == "7 BM25 of body"


def test_rows_of_other_documents_take_the_place_of_those_before(panel: StatisticsPanel) -> None:
    for train in (documents((3, 2)), documents((4, 5))):
        summary = describe_fold(FoldedDataset("x", None, (Fold(1, train),)), 1)
        panel.show_summary("x", summary, train)
    assert panel._tabs.count() == 3
    assert panel._rows.model().rowCount() == 9
    panel.show_summary("x, all folds", summary, None)
    assert panel._tabs.count() == 2
    panel.clear()
    assert panel.table.rows() == []
    assert not panel._headline.isVisible()
