"""Features selected for the listed queries alone, beside those for the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from queries_page import look
from waiting import wait_until
from windows import settle

from rankstudio.engine import GreedyRankRLS
from rankstudio.plugins.queries.window.controller import QueriesController
from rankstudio.ui.main_window import MainWindow


@pytest.fixture
def queries(ran: MainWindow) -> Iterator[QueriesController]:
    """The page with the queries of fold 1."""
    ran.session.show_fold(1)
    shown = look(ran)
    shown.bar.scope._buttons()[1].click()
    settle(ran)
    assert not shown.list.select_for.isVisible()  # all are listed
    yield shown
    shown.list.all.click()
    shown.bar.scope._buttons()[0].click()


def test_marked_queries_have_the_path_of_their_documents_alone(
    ran: MainWindow, queries: QueriesController
) -> None:
    size = len(queries.queries)
    queries.list.brush(tuple(range(size // 2)))
    assert queries.list.select_for.isVisible()
    said: list[str] = []
    queries.failed.connect(said.append)
    queries.list.select_for.click()
    wait_until(lambda: said or getattr(queries, "paths", None) is not None)
    assert not said
    asked = queries._shown[0]
    part = asked.fold(1).parts[asked.part]
    qid = np.repeat(np.arange(part.n_queries), np.diff(part.query_ptr))
    marked = np.isin(qid, [query.position for query in queries.queries[: size // 2]])
    own = queries._greedy(1)
    assert (
        own["regularization"]
        == ran.runs.records[0].folds[1].chosen.unit.parameters["regularization"]
    )
    rows = queries.paths.table.rows()
    for rows_of, texts in (
        (marked, [r.marked for r in rows]),
        (~marked, [r.others for r in rows]),
    ):
        *_, last = GreedyRankRLS(**own).steps(
            part.X[rows_of], part.y[rows_of], qid=qid[rows_of]
        )
        ids = [str(part.feature_ids[column]) for column in last.selected]
        assert [text.split()[0] for text in texts if text] == ids
    for row in rows:
        before = rows[: row.k]
        assert row.marked_shared == (
            row.marked in [other.others for other in before] and bool(row.marked)
        )
    queries.paths.close()


def test_fewer_than_two_queries_on_a_side_are_not_offered(
    queries: QueriesController,
) -> None:
    size = len(queries.queries)
    for marked, offered in ((1, False), (2, True), (size - 2, True), (size - 1, False)):
        queries.list.brush(tuple(range(marked)))
        assert queries.list.select_for.isVisible() is offered


def test_queries_of_several_folds_are_refused_in_a_sentence(ran: MainWindow) -> None:
    ran.session.show_fold(None)
    shown = look(ran)
    said: list[str] = []
    shown.failed.connect(said.append)
    shown.list.brush(tuple(range(len(shown.queries) - 2)))
    shown.list.select_for.click()
    settle(ran)
    assert len(said) == 1
    assert "single fold" in said[0]
