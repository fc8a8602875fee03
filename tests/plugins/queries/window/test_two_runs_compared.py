"""What the Queries page shows of two runs; the tests leave the window as they found it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from queries_page import two_runs, values
from waiting import wait_until
from windows import open_window, settle, write_item

from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.plugins.queries.window.colors import loss_and_gain
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


@pytest.fixture(scope="module")
def compared(
    theme: Theme, tmp_path_factory: pytest.TempPathFactory, folds: Path
) -> Iterator[MainWindow]:
    with open_window(theme, tmp_path_factory.mktemp("config"), folds) as made:
        made.resize(1280, 760)
        two_runs(made)
        yield made


def test_two_runs_have_in_every_query_what_they_have_kept_of_it(
    compared: MainWindow,
) -> None:
    page = compared.sections.queries
    rows = page.list.table.rows()
    assert (page.bar.a.currentData(), page.bar.b.currentData()) == (2, 1)
    assert sorted(row.a for row in rows) == values(compared, 2)
    assert sorted(row.b for row in rows) == values(compared, 1)
    plot = page.comparison.plot
    worse = sum(row.difference < -1e-12 for row in rows)
    assert plot.axes.x_label == f"AP of A: better in {worse}"
    assert f"of {len(rows)} queries." in page.comparison.sentence.text()
    assert (
        "AP" in page.comparison._caption.text()
        and "MAP" not in page.comparison._caption.text()
    )
    of_a, of_b = page.comparison.legend.texts()
    assert page.bar.a.currentText() in of_a and page.bar.b.currentText() in of_b
    plot.flush()
    assert plot.accessibleDescription()


def test_the_legend_has_the_colours_of_the_points(compared: MainWindow) -> None:
    page, theme = (
        compared.sections.queries,
        compared.sections.queries.comparison.legend._theme,
    )
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        legend = page.comparison.legend
        assert legend.isVisible()
        image = legend.grab().toImage()
        ratio = image.devicePixelRatio()
        for box, color in zip(
            legend.boxes(legend.width()), loss_and_gain(theme.colors), strict=True
        ):
            center = legend.swatch(box).center()
            dot = image.pixelColor(round(center.x() * ratio), round(center.y() * ratio))
            assert dot.name() == color.name()


def test_the_worst_queries_come_first_and_those_without_relevant_documents_last(
    compared: MainWindow,
) -> None:
    panel = compared.sections.queries.list
    table, place = (
        panel.table,
        [c.key for c in panel.table.rows_model.columns].index("a"),
    )
    table.sortByColumn(place, Qt.SortOrder.AscendingOrder)
    rows = table.rows()
    judged = [row.a for row in rows if row.n_relevant]
    assert [row.a for row in rows[: len(judged)]] == sorted(judged)
    assert "loss" not in panel._caption.text()
    panel.show_comparison(panel._comparison)
    assert table.rows() == rows
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert "loss" in panel._caption.text()


def test_the_greatest_loss_is_chosen_and_its_documents_are_ranked_by_both(
    compared: MainWindow,
) -> None:
    page = compared.sections.queries
    worst = page.list.table.rows()[0]
    assert page.list.table.current() == worst
    assert page.comparison.plot.chosen == 0
    documents = page.documents.table.rows()
    assert len(documents) == worst.n_documents
    assert page.documents._title.text() == f"Query {worst.query_id}"
    part = next(
        f for f in compared.session.dataset.folds if f.number == worst.fold
    ).test
    rows = slice(part.query_ptr[worst.position], part.query_ptr[worst.position + 1])
    for rank, value in (("rank_a", worst.a), ("rank_b", worst.b)):
        order = {d.document.row: getattr(d.document, rank) for d in documents}
        scores = [-order[i] for i in range(len(order))]
        found = evaluate(part.y[rows], scores, np.zeros(len(scores)), measures=["MAP"])
        assert found["MAP"] == pytest.approx(value)


def test_two_chosen_documents_say_which_feature_decides(compared: MainWindow) -> None:
    page = compared.sections.queries
    table, found = page.documents.table, page.documents._query
    first, last = found.documents[0], found.documents[-1]
    selection = table.selectionModel()
    rows = (
        QItemSelectionModel.SelectionFlag.Select
        | QItemSelectionModel.SelectionFlag.Rows
    )
    selection.clearSelection()
    for number in (0, len(found.documents) - 1):
        selection.select(table.model().index(number, 0), rows)
    text = page.documents.sentence.text()
    position, _, _ = found.decisive_feature(0, len(found.documents) - 1)
    assert text.startswith(f"In A, {first.name} is first, ")
    assert f" ahead of {last.name}; " in text
    assert found.names[position] in text
    assert f"rank {first.rank_b}" in text


def test_queries_are_found_by_their_ids(compared: MainWindow) -> None:
    page = compared.sections.queries
    wanted = page.list.table.rows()[-1].query_id
    QTest.keyClicks(page.list.field, wanted)
    rows = page.list.table.rows()
    assert rows
    assert all(wanted in row.query_id for row in rows)
    assert f"of {len(page.queries)}" in page.list.caption()
    page.list.field.clear()
    settle(compared)
    assert len(page.list.table.rows()) == len(page.queries)


def test_the_training_part_stands_beside_the_others(compared: MainWindow) -> None:
    page = compared.sections.queries
    assert [text for _, text in page.bar.part.options()] == [
        "test",
        "validation",
        "training",
    ]
    page.bar.part._buttons()[2].click()
    folds = compared.session.dataset.folds
    wait_until(lambda: len(page.queries) == sum(fold.train.n_queries for fold in folds))
    page.bar.part._buttons()[0].click()
    settle(compared)


def test_everything_has_a_name_and_can_be_reached_by_tab(compared: MainWindow) -> None:
    page = compared.sections.queries
    reached = [page.bar.a, page.bar.b, page.comparison.plot, page.list.field]
    reached += [panel.table for panel in (page.list, page.documents, page.ablation)]
    for widget in reached:
        assert widget.accessibleName()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_tables_and_plot_are_exported(compared: MainWindow, tmp_path: Path) -> None:
    page = compared.sections.queries
    items = {
        item.key: item for item in export_items(compared.models, compared.sections)
    }
    for key in ("queries", "documents", "plot-queries"):
        assert items[key].unavailable == ""
        write_item(items[key], tmp_path / f"{key}.csv")
        lines = (tmp_path / f"{key}.csv").read_text(encoding="utf-8").splitlines()
        rows = page.documents.table.rows() if key == "documents" else page.queries
        assert len(lines) == len(rows) + 1
