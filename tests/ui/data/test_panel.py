import pytest
from hands import fact_texts
from panel_data import documents
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.summary import describe_fold
from rankstudio.ui.data.panel import DataPanel, features_row, label_rows


@pytest.fixture
def dataset():
    folds = tuple(
        Fold(n, documents((1000, 2), n), documents((3,), n), documents((2, 2), n))
        for n in (1, 2, 3)
    )
    return FoldedDataset("MQ-tiny", None, folds, "letor4")


@pytest.fixture
def panel(theme, stage):
    return stage(DataPanel(theme), 280, 330)


def buttons(panel):
    return {
        b.text(): b for b in panel._folds.findChildren(QPushButton) if b.isVisible()
    }


def test_counts_are_those_of_the_fold(panel, dataset):
    panel.show_dataset(dataset)
    QCoreApplication.processEvents()
    assert panel._name.text() == "MQ-tiny"
    assert panel.caption() == "LETOR 4.0"
    assert fact_texts(panel._facts) == [
        ("train / vali / test", "1,002 / 3 / 4"),
        ("queries", "2 / 1 / 2"),
        ("features", "3"),
    ]
    assert list(buttons(panel)) == ["1", "2", "3", "all"]
    assert not panel._labels.isVisible()


def test_the_summary_brings_constants_and_labels(panel, dataset):
    panel.show_dataset(dataset)
    panel.show_summary(1, describe_fold(dataset, 1))
    features, convention = fact_texts(panel._facts)[-2:]
    assert features == ("features", "3 · 1 constant")
    assert convention == ("0 in NDCG@10", "1 of 2 queries")
    assert panel._labels.isVisible()
    assert panel._labels.accessibleDescription().splitlines() == [
        "0: 334",
        "1: 334",
        "2: 334",
    ]
    assert panel._labels_title.text() == "relevance, training documents of fold 1"


def test_a_summary_of_another_fold_waits_for_its_turn(panel, dataset):
    panel.show_dataset(dataset)
    panel.show_summary(2, describe_fold(dataset, 2))
    assert not panel._labels.isVisible()
    panel.set_fold(2)
    assert panel._labels.isVisible()
    assert panel.has_summary(2)
    assert not panel.has_summary(1)
    panel.show_dataset(dataset)
    assert not panel.has_summary(2)


def test_a_fold_is_chosen_by_its_button_and_all_by_theirs(panel, dataset):
    told = []
    panel.foldChosen.connect(told.append)
    panel.show_dataset(dataset)
    QCoreApplication.processEvents()
    QTest.mouseClick(buttons(panel)["3"], Qt.MouseButton.LeftButton)
    QTest.mouseClick(buttons(panel)["all"], Qt.MouseButton.LeftButton)
    assert told == [3, None]
    panel.show_summary(None, describe_fold(dataset, None))
    assert fact_texts(panel._facts) == [
        ("folds", "3"),
        ("documents", "12"),
        ("queries", "6"),
        ("features", "3 · 1 constant"),
        ("0 in NDCG@10", "6 of 6 queries"),
    ]
    assert panel._labels_title.text() == "relevance, test documents of all folds"
    panel.set_fold(1)
    assert told == [3, None]


def test_a_single_file_has_no_folds_to_choose_from(panel):
    panel.show_dataset(
        FoldedDataset("one", None, (Fold(1, documents((4, 5))),), "mslr")
    )
    assert not panel._folds.isVisible()
    assert fact_texts(panel._facts)[0] == ("train", "9")
    panel.clear()
    assert fact_texts(panel._facts) == []
    assert panel._name.text() == "No data open"


def test_many_labels_are_put_together_without_losing_a_document():
    part = documents((40,), labels=20)
    summary = describe_fold(FoldedDataset("x", None, (Fold(1, part),)), 1)
    rows = label_rows(summary)
    assert len(rows) == 6
    assert sum(count for _, count in rows) == 40
    assert rows[0][0] == "0 – 2"
    assert rows[-1][0].endswith("– 19")


def test_constant_features_are_named_in_the_tooltip():
    summary = describe_fold(FoldedDataset("x", None, (Fold(1, documents((4, 5))),)), 1)
    row = features_row(3, summary)
    assert "8 IDF of body" in row.tooltip
    assert features_row(3, None).note == ""
