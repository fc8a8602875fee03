"""Statistics of the data on their page: features, documents per query, and the rows themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from panel_data import documents
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QTableView, QWidget
from waiting import wait_until
from windows import finish as finish_run
from windows import settle

from rankstudio.engine.analysis.features.feature_quality import feature_quality
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.summary import DatasetSummary, describe_fold
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.ui.data.statistics_panel import DescribedFeature, StatisticsPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


@pytest.fixture
def panel(theme: Theme, stage: Callable[..., QWidget]) -> StatisticsPanel:
    return stage(StatisticsPanel(theme), 860, 500)


def test_features_query_sizes_and_rows_are_shown_without_a_copy(
    panel: StatisticsPanel,
) -> None:
    train = documents((1000, 2))
    summary = summary_of(train)
    panel.show_summary("x, training documents", summary, train)
    assert panel.caption() == "x, training documents"
    assert [row.constant for row in panel.table.rows()] == [False, True, False]
    assert sum(row[2] for row in panel.sizes.numbers()[1]) == 2
    panel._tabs.setCurrentIndex(2)
    rows = panel.findChild(QTableView, "preview-table").model()
    assert (rows.rowCount(), rows.columnCount()) == (1002, 6)
    assert [rows.index(1001, c).data() for c in (0, 1, 5)] == [
        "2",
        "q1",
        "#docid = D1001",
    ]
    assert float(rows.index(5, 2).data()) == pytest.approx(train.X[5, 0], rel=1e-3)
    assert rows.index(5, 2).data(Qt.ItemDataRole.ToolTipRole) == repr(
        float(train.X[5, 0])
    )
    horizontal = Qt.Orientation.Horizontal
    headers = [rows.headerData(c, horizontal) for c in range(6)]
    assert headers == ["relevance", "query", "7", "8", "9", "comment"]
    assert (
        rows.headerData(2, horizontal, Qt.ItemDataRole.ToolTipRole) == "7 BM25 of body"
    )


def test_rows_of_other_documents_take_the_place_of_those_before(
    panel: StatisticsPanel,
) -> None:
    for train in (documents((3, 2)), documents((4, 5))):
        summary = summary_of(train)
        panel.show_summary("x", summary, train)
        assert panel._tabs.count() == 3
        assert panel._documents.model() is None  # nobody sees them
    panel._tabs.setCurrentIndex(2)
    assert panel._documents.model().rowCount() == 9
    train = documents((1, 2))
    panel.show_summary("x", summary_of(train), train)
    assert panel._documents.model().rowCount() == 3
    panel.show_summary("x, all folds", summary, None)
    assert panel._tabs.count() == 2
    panel.clear()
    assert panel.table.rows() == []
    assert not panel._headline.isVisible()


def test_queries_of_one_length_have_no_range(panel: StatisticsPanel) -> None:
    said = []
    for sizes in ((4, 4), (3, 5)):
        panel.show_summary("x", summary_of(documents(sizes)), None)
        said.append("median" in panel._headline.text())
    assert said == [False, True]


def test_of_very_many_features_those_with_the_most_values_are_listed(
    panel: StatisticsPanel,
) -> None:
    entries = np.array([4, 15_000, 15_000], dtype=np.int32)
    X = SparseRows.of_parts(np.ones(3), entries, np.array([0, 2, 3]), 20_000)
    ids = np.arange(1, 20_001)
    names = tuple(f"feature {i}" for i in ids.tolist())
    few = RankingDataset.from_arrays(np.zeros((2, 1)), [0, 1])
    train = few.changed(
        X=X,
        feature_ids=ids,
        feature_names=names,
        missing=np.zeros(20_000, dtype=np.int64),
    )
    panel.show_summary("x", summary_of(train), train)
    rows = panel.table.rows()
    assert len(rows) == 1000
    assert {5, 15_001} <= {row.feature_id for row in rows}
    assert "1,000 of 20,000 features" in panel._headline.text()


def summary_of(train: RankingDataset) -> DatasetSummary:
    return describe_fold(FoldedDataset("x", None, (Fold(1, train),)), 1)


def rows_of(train: RankingDataset) -> list[DescribedFeature]:
    summary = summary_of(train)
    report = feature_quality(train, summary=summary)
    return [
        DescribedFeature(feature, quality, feature.name)
        for feature, quality in zip(summary.features, report.features, strict=True)
    ]


def test_a_row_says_in_words_what_its_histogram_and_its_warnings_show() -> None:
    rows = rows_of(documents((40, 50)))
    assert rows[1].warning == "constant"
    assert rows[1].alone("MAP") is None
    assert rows[1].values_text == "All values are 5."
    every = rows[0].histogram
    assert every is not None
    assert sum(every.all) == pytest.approx(1.0)
    share = f"{100 * max(every.all):.0f} % of all documents"
    assert share in rows[0].values_text
    assert rows[0].direction_text.split()[1] in ("small", "large")


def test_columns_give_way_to_the_names_where_there_is_little_room(
    panel: StatisticsPanel,
) -> None:
    train = documents((30, 20))
    panel.show_summary("x", summary_of(train), train, rows_of(train))

    def shown() -> list[str]:
        columns = panel.table.rows_model.columns
        return [
            c.key for i, c in enumerate(columns) if not panel.table.isColumnHidden(i)
        ]

    assert "missing" not in shown(), "there are none"
    panel.resize(1000, 500)
    assert {"mean", "zeros", "range", "warning"} <= set(shown())
    panel.resize(624, 500)
    assert set(shown()) & {"mean", "zeros", "range"} == set()
    assert {"MAP", "NDCG@10", "warning", "histogram"} <= set(shown())
    assert panel.table.columnWidth(1) >= 130


def test_writing_into_a_cell_tells_row_column_and_text(panel: StatisticsPanel) -> None:
    told: list[tuple[int, str, str]] = []
    panel.table.rows_model.written.connect(
        lambda row, key, text: told.append((row.feature_id, key, text))
    )
    train = documents((30, 20))
    panel.show_summary("x", summary_of(train), train, rows_of(train))
    table = panel.table
    table.setFocus()
    table.setCurrentIndex(table.rows_model.index(2, 1))
    QTest.keyClick(table, Qt.Key.Key_F2)
    editor = table.viewport().findChild(QLineEdit)
    assert editor.text() == "PageRank"
    editor.setText("Rank of page")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_until(lambda: bool(told))  # Qt commits in a turn of its own
    assert told == [(9, "name", "Rank of page")]
    table.setCurrentIndex(table.rows_model.index(2, 0))
    assert not table.rows_model.flags(table.currentIndex()) & Qt.ItemFlag.ItemIsEditable


def test_statistics_are_shown_when_the_page_is_seen_and_not_before(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics = window.sections.data.statistics
    shown: list[str] = []
    show = statistics.show_summary
    monkeypatch.setattr(
        statistics,
        "show_summary",
        lambda what, *given: (shown.append(what), show(what, *given)),
    )
    settle(window)
    for fold in (1, 2):
        window.session.show_fold(fold)
        settle(window)
    assert not shown
    window.workspace.show_page("data")
    wait_until(lambda: bool(shown))
    assert "fold 2" in shown[-1]
    assert "fold 2" in statistics.caption()
    assert statistics.table.rows()
    window.session.show_fold(1)
    settle(window)
    assert "fold 1" in statistics.caption()


def test_the_statistics_follow_the_convention_that_is_looked_at(
    window: MainWindow,
) -> None:
    """Catches measures of the plan's convention beside a plot of another one, once a run was done."""
    finish_run(window)
    window.commands["page_data"].trigger()
    settle(window)
    panel, seen = window.sections.data.statistics, []
    for key in ("standard", "lightgbm", "standard"):
        window.measurement.measure_by_convention(key)
        settle(window)
        train = window.session.shown_fold.train
        wanted = feature_quality(train, summary=summary_of(train), convention=key)
        seen.append([row.alone("NDCG@10") for row in panel.table.rows()])
        assert seen[-1] == [
            None if row.constant else one.alone["NDCG@10"]
            for row, one in zip(panel.table.rows(), wanted.features, strict=True)
        ]
    assert seen[0] == seen[2] != seen[1]


def test_other_data_with_fewer_features_take_the_place_of_those_on_the_page(
    window: MainWindow,
) -> None:
    """Catches names of the new data looked for by the features of the old: their measure is told of first."""
    window.commands["page_data"].trigger()
    settle(window)
    fold = window.session.dataset.folds[0]
    few = {
        name: RankingDataset.from_arrays(part.X[:, :1], part.y, part.qid)
        for name, part in fold.parts.items()
    }
    data = FoldedDataset(
        "Few", None, (Fold(1, few["train"], few["vali"], few["test"]),)
    )
    window.session.open(
        data,
        "few",
        window.session.plan.changed(data="few", measures=("RR",), select_by="RR"),
    )
    settle(window)
    assert len(window.sections.data.statistics.table.rows()) == 1
