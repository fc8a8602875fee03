"""The Evidence page in the real window: computed by itself, stopped, judged otherwise, and used."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import inf, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from evidence_page import K, rest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from waiting import turn, wait_until
from windows import finish, settle, write_item

from rankstudio.engine import Plan, RankRLS, permutation_importance, set_changes
from rankstudio.engine.analysis.tried_models.smallest_set import smallest_set
from rankstudio.plugins.evidence.best_subset import BestSubset, SizedSubset
from rankstudio.plugins.evidence.evidence_codec import unpack_evidence
from rankstudio.plugins.evidence.evidence_result import N_OTHERS, SelectionEvidence
from rankstudio.plugins.evidence.shapley_shares import MOST_FEATURES
from rankstudio.plugins.evidence.step_significance import StepSignificance
from rankstudio.plugins.evidence.verdicts import FeatureEvidence, Loss, Verdict
from rankstudio.plugins.evidence.window.best_set_panel import (
    BestSetPanel,
    best_of_size,
    gap_so_far,
)
from rankstudio.plugins.evidence.window.controller import EvidenceController
from rankstudio.plugins.evidence.window.evidence import (
    MOST_SECONDS,
    MOST_SHARED,
    Package,
    Progress,
    n_selections,
)
from rankstudio.plugins.evidence.window.evidence_panel import (
    DECIDING,
    EvidenceRow,
    EvidenceTable,
    evidence_rows,
)
from rankstudio.plugins.evidence.window.evidence_tasks import EvidenceTasks
from rankstudio.plugins.evidence.window.stop_panel import CURVE, TOO_LARGE, StopPanel
from rankstudio.plugins.evidence.window.work_row import WorkRow
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots.maps.set_matrix import EXCLUDED, FREE, REQUIRED
from rankstudio.ui.style.theme import Theme


@pytest.fixture(autouse=True)
def own_studies(shelf_folder: Path) -> Path:
    """Studies of other tests may know the evidence."""
    return shelf_folder


def select_three(window: MainWindow) -> EvidenceController:
    """Show the page of a selection of three features; what takes a moment is computed."""
    window.session.select((1.0,), K)
    window.workspace.show_page("evidence")
    rest(window)
    return window.sections.evidence


def prepare(window: MainWindow) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_DATA_DIR", f"{window._settings.folder}-user")
        finish(window)
        select_three(window)


@pytest.fixture
def seen(ran: MainWindow) -> EvidenceController:
    """The page, seen, of a selection of three features, in the window that tests share."""
    return select_three(ran)


def slow(cache: EvidenceTasks, seconds: float) -> Any:
    """Return what gathers evidence so slowly that there is time to press a button."""
    usual = cache.evidence

    def gather(*given: Any) -> Iterator[Any]:
        for told in usual(*given):
            yield told
            time.sleep(seconds)

    return gather


def test_what_takes_a_moment_is_computed_and_shown(
    ran: MainWindow, seen: EvidenceController
) -> None:
    evidence = ran.sections.evidence.evidence
    assert all(evidence.progress(package) is Progress.DONE for package in Package)
    rows = seen.panel.table.rows()
    assert [row.selected for row in rows] == [True] * K + [False] * (len(rows) - K)
    assert len(rows) <= K + N_OTHERS
    assert [row.feature - 1 for row in rows[:K]] == list(
        ran.current.model.step.selected
    )
    assert all(row.verdict and row.reason for row in rows[:K])
    assert all(
        row.numbers.loss is not None and row.numbers.share is not None
        for row in rows[:K]
    )
    assert "60 %" not in seen.panel.foot.text() and "90 %" in seen.panel.foot.text()
    assert not seen.panel.work.isVisible()
    assert seen.best.gap.text() and "proved" in seen.best.caption()
    assert seen.sets.plot.rows[0].above == pytest.approx(0) and any(
        row.own for row in seen.sets.plot.rows
    )
    assert len(seen.probability.plot.curves) >= K
    assert seen.stop.advice.text() and seen.stop.p_plot.isVisible()
    seen.stop.view._group.buttons()[1].click()
    assert (
        seen.stop.view.value() == CURVE
        and seen.stop.curve.isVisible()
        and not seen.stop.p_plot.isVisible()
    )
    seen.stop.view._group.buttons()[0].click()


def test_the_smallest_set_stands_beside_the_chosen_one(
    ran: MainWindow, seen: EvidenceController
) -> None:
    model = ran.current.model
    assert model is not None
    sets = smallest_set(model.plan, model.path, model.position)
    assert sets is not None and sets.chosen.size == K
    row = seen.panel.smallest
    smallest, other = (
        row.findChild(QPushButton, name) for name in ("smallest-set", "other-set")
    )
    assert smallest is not None and other is not None
    assert row.isVisible() and row.sentence.text() == sets.sentence
    for wanted in (sets.best.size, sets.smallest.size, K):
        ran.session.select(model.values, wanted)
        rest(ran)
        shown = smallest_set(model.plan, model.path, wanted - 1)
        assert shown is not None and row.sentence.text() == shown.sentence
        assert smallest.isChecked() is (wanted == sets.smallest.size)
        assert other.isVisible() is not shown.is_one_set
        pressed = smallest if wanted != sets.smallest.size else other
        if not pressed.isVisible():
            continue
        size = shown.smallest.size if pressed is smallest else shown.other.size
        QTest.mouseClick(pressed, Qt.MouseButton.LeftButton)
        rest(ran)
        assert (
            ran.current.model is not None and ran.current.model.step.n_selected == size
        )
        QTest.mouseClick(pressed, Qt.MouseButton.LeftButton)  # it is shown already
        rest(ran)
        assert ran.current.model.step.n_selected == size and pressed.isChecked()
    ran.session.show_fold(None)
    rest(ran)
    assert not row.isVisible()


def test_red_is_only_for_what_speaks_against_a_feature(theme: Theme) -> None:
    """Catches a page of red verdicts where nothing is known of most features."""
    tones = {}
    for verdict in Verdict:
        found = FeatureEvidence(
            0, True, probability=0.4, loss=Loss(0.0, -0.1, 0.1), n_deciding=1
        )
        found = replace(found, verdict=verdict, partner=1, pair_probability=0.9)
        evidence = SimpleNamespace(rows=(found,), required=())
        (row,) = evidence_rows(evidence, [1, 2], ["a", "b"])  # type: ignore[arg-type]
        tones[verdict] = row.tone
    assert [verdict for verdict, tone in tones.items() if tone == "error"] == [
        Verdict.DISPENSABLE
    ]
    assert tones[Verdict.UNCERTAIN] == "muted"
    table = EvidenceTable(theme)
    deciding = next(
        column for column in table._columns("MAP") if column.key == DECIDING
    )
    assert deciding.tone(row) == "text"


def test_what_is_not_possible_says_why(theme: Theme) -> None:
    """Catches the promise that something appears where nothing will."""
    tests = StepSignificance((2, 0), np.array([2.0, 1.0]), np.ones((99, 2)), 9.0)
    panel, said = StopPanel(theme), []
    for found, done in (({}, False), ({}, True), ({"significance": tests}, True)):
        panel.show_stop(
            SelectionEvidence((2,), 9, **found),
            range(5),
            can_test=True,
            final=True,
            is_done=done,
        )
        said.append((panel.p_plot.placeholder, panel.curve.placeholder))
    assert all("appears here" in text for text in said[0])
    assert said[1] == (TOO_LARGE, TOO_LARGE) and "square" in said[2][1]
    best = BestSetPanel(theme)
    best.show_best(SelectionEvidence((2,), 9), 1.0, range(5), TOO_LARGE)
    assert best.near.text() == TOO_LARGE
    panel.clear()
    assert "appears here" in panel.curve.placeholder


@pytest.mark.parametrize(
    ("method", "n"),
    # two values of c, and of λ one selection; three of λ
    [("gas", 2 * 2), ("greedy-rankrls", 2 * 3)],
)
def test_a_lambda_that_only_ranks_selects_nothing(method: str, n: int) -> None:
    """Catches a time for the halves that is too short by as many values of λ as there are."""
    c = {"c": (0.1, 0.2)} if method == "gas" else {}
    plan = Plan("x", method, parameters={"regularization": (1.0, 2.0, 4.0), **c})
    units = [
        (fold, position)
        for fold in (1, 2)
        for position in range(len(plan.combinations))
    ]
    assert n_selections(plan, units) == n


@pytest.mark.parametrize(("gap", "said"), [(0.2, "2 %"), (4.0, "40 %"), (9.0, "")])
def test_a_gap_that_says_nothing_is_not_told(gap: float, said: str) -> None:
    """Catches a gap of 1e+02 %."""
    sized = SizedSubset(1, (3,), 10.0, False, gap, 40, 1, nan, 0.0, 0.1)
    text = gap_so_far(SelectionEvidence((2,), 5, best=BestSubset((sized,))))
    assert said in text and bool(text) is bool(said)


def test_a_column_in_the_place_of_one_that_gave_way_is_shown(theme: Theme) -> None:
    """Catches a narrow table without verdicts: the substitutes stood there and were hidden."""
    table = EvidenceTable(theme)
    table.resize(560, 300)
    table.show()
    table.show_rows((), "MAP", 1, 12)
    found = FeatureEvidence(0, True, 0.5, (1.0, 1.0, 2.0), 0.2, Loss(0.1, 0.0, 0.2), 3)
    row = EvidenceRow(7, "BM25", found, "uncertain", "", "muted", "9 (+0.1 %)")
    table.show_rows([row], "MAP", 1, 12)
    shown = {
        one.key
        for n, one in enumerate(table.rows_model.columns)
        if not table.isColumnHidden(n)
    }
    assert (
        "substitute" not in shown
        and {"name", "probability", "loss", "verdict"} <= shown
    )


def test_nothing_is_computed_while_nobody_sees_it(window: MainWindow) -> None:
    finish(window)
    turn(0.3)
    assert (
        window.sections.evidence.evidence.found is None
        and not window.sections.evidence.evidence.busy
    )


@pytest.mark.thorough
def test_a_window_that_opens_at_the_page_computes_what_is_there(
    window: MainWindow,
) -> None:
    window.hide()
    window.workspace.show_page("evidence")  # as the last time, before anything is seen
    window.show()
    finish(window)
    window.session.show_fold(1)
    evidence = window.sections.evidence.evidence
    wait_until(lambda: evidence.progress(Package.FEATURES) is Progress.DONE)


@pytest.mark.thorough
def test_stop_stops_keeps_what_is_known_and_going_on_ends(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, evidence, page = (
        ran.sections.evidence.evidence.tasks,
        ran.sections.evidence.evidence,
        ran.sections.evidence,
    )
    monkeypatch.setattr(cache, "evidence", slow(cache, 0.05))
    ran.session.select((0.25,), K)  # of which nothing is known yet
    ran.workspace.show_page("evidence")
    wait_until(lambda: evidence.found is not None and page.panel.work.stop.isVisible())
    page.panel.work.stop.click()
    assert evidence.progress(Package.FEATURES) is Progress.STOPPED
    known = evidence.found
    wait_until(page.panel.work.button.isVisible)
    turn(0.2)
    assert evidence.progress(Package.FEATURES) is Progress.STOPPED
    # a message that was on its way did not arrive
    assert evidence.found.stability is known.stability
    monkeypatch.undo()
    page.panel.work.button.click()
    rest(ran)
    assert evidence.progress(Package.FEATURES) is Progress.DONE
    assert evidence.found.stability.n_paths == 100


@pytest.mark.thorough
def test_another_k_in_the_middle_ends_it_and_the_page_is_of_the_new_selection(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, evidence, page = (
        ran.sections.evidence.evidence.tasks,
        ran.sections.evidence.evidence,
        ran.sections.evidence,
    )
    monkeypatch.setattr(cache, "evidence", slow(cache, 0.03))
    ran.session.select((4.0,), K)  # of which nothing is known yet
    ran.workspace.show_page("evidence")
    wait_until(lambda: evidence.busy and evidence.found is not None)
    ran.session.select((4.0,), 2)
    assert not evidence.busy and evidence.found is None
    monkeypatch.undo()
    rest(ran)
    assert evidence.found.k == 2
    assert [row.selected for row in page.panel.table.rows()].count(True) == 2
    assert page.best.gap.text() and "2" in page.best._title.text()
    ran.session.select((4.0,), K)  # what was found of it is there, and goes on
    assert evidence.found is not None and evidence.found.k == K
    rest(ran)
    assert evidence.progress(Package.FEATURES) is Progress.DONE


@pytest.mark.thorough
def test_another_run_has_its_own_evidence(
    ran: MainWindow, seen: EvidenceController
) -> None:
    first = ran.sections.evidence.evidence.found
    ran.session.change(
        "other", parameters={"regularization": (2.0,), "n_features_to_select": 2}
    )
    ran.commands["run"].trigger()
    wait_until(lambda: len(ran.runs.records) == 2 and not ran.runs.busy)
    rest(ran)
    assert ran.sections.evidence.evidence.found is not first
    assert (
        ran.sections.evidence.evidence.found.selected == ran.current.model.step.selected
    )
    ran.sections.compare.panel.selected.emit(1)
    ran.session.select((1.0,), K)
    assert ran.sections.evidence.evidence.found is first


def test_the_threshold_is_dragged_and_moved_by_keys(
    ran: MainWindow, seen: EvidenceController
) -> None:
    table, evidence = seen.panel.table, ran.sections.evidence.evidence
    bar = table._probability_bar()
    middle = round(bar.center().y())
    at = QPoint(round(bar.left() + 0.9 * bar.width()), middle)
    QTest.mousePress(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(
        table.viewport(), QPoint(round(bar.left() + 0.6 * bar.width()), middle)
    )
    QTest.mouseRelease(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert evidence.threshold == pytest.approx(0.6, abs=0.03)
    rest(ran)
    assert f"{evidence.threshold:.0%}".replace("%", " %") in seen.panel.foot.text()
    assert seen.probability.plot.level.value == evidence.threshold
    before = evidence.threshold
    QTest.keyClick(table, Qt.Key.Key_Right)
    assert evidence.threshold == pytest.approx(before + 0.01)
    for _ in range(80):
        QTest.keyClick(table, Qt.Key.Key_Left)
    assert evidence.threshold == pytest.approx(0.51)
    rest(ran)
    # As low as that, all may be there by chance.
    assert evidence.found.by_chance and "by chance" in seen.panel.foot.text()
    assert not any(row.verdict == "secure" for row in table.rows())


@pytest.mark.thorough
def test_a_feature_is_required_excluded_and_free_again(
    ran: MainWindow, seen: EvidenceController
) -> None:
    plot = seen.sets.plot
    feature = plot.columns[-1].feature
    plot.picked.emit(feature)
    rest(ran)
    assert plot.columns[0].feature == feature and plot.columns[0].wanted == 1
    assert all(feature in row.features for row in plot.rows)
    assert seen.sets.sentence.isVisible()
    best = seen._constrained_best
    assert (
        best.proved
        and best.criterion >= ran.sections.evidence.evidence.found.best.criterion
    )
    plot.picked.emit(feature)
    rest(ran)
    assert not any(feature in row.features for row in plot.rows)
    plot.picked.emit(feature)
    rest(ran)
    assert not seen.sets.sentence.isVisible() and any(row.own for row in plot.rows)
    plot.picked.emit(feature)
    rest(ran)
    ran.session.select((1.0,), 2)
    rest(ran)
    assert all(column.wanted == FREE for column in plot.columns), (
        "it was asked of another selection"
    )


def test_a_click_on_the_sets_of_another_selection_asks_nothing(
    ran: MainWindow, seen: EvidenceController
) -> None:
    """As the page appears it shows them for a moment; their features may be none of the data any more."""
    ran.workspace.show_page("data")
    ran.session.select((1.0,), 1)
    settle(ran)
    feature = seen.sets.plot.columns[0].feature
    ran.workspace.show_page("evidence")
    seen.sets.plot.picked.emit(feature)
    assert not seen._conditions and not seen._best_with.waits
    rest(ran)
    assert all(column.wanted == FREE for column in seen.sets.plot.columns)
    seen.sets.plot.picked.emit(seen.sets.plot.columns[0].feature)
    rest(ran)
    assert [column.wanted for column in seen.sets.plot.columns].count(REQUIRED) == 1


@pytest.mark.thorough
def test_the_matrix_is_read_and_used_by_keyboard(
    ran: MainWindow, seen: EvidenceController
) -> None:
    plot = seen.sets.plot
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.box.lines()[0].text.startswith(str(plot.columns[0].feature))
    wanted = []
    for _ in range(3):
        QTest.keyClick(plot, Qt.Key.Key_Space)
        rest(ran)
        wanted.append(plot.columns[0].wanted)
    assert wanted == [REQUIRED, EXCLUDED, FREE]


@pytest.mark.thorough
def test_a_set_becomes_a_run_and_two_of_them_are_compared(
    ran: MainWindow, seen: EvidenceController
) -> None:
    model = ran.current.model
    other = [column for column in range(7) if column not in model.step.selected][:1]
    columns = (*model.step.selected[:2], *other)
    record = seen.run_set(columns, "By hand")
    wait_until(lambda: record.result is not None)
    rest(ran)
    assert record.title == "By hand" and ran.runs.shown is record
    assert set(ran.current.model.step.selected) == set(columns)
    found = ran.sections.evidence.evidence.found
    # judged as any selection
    assert not found.required and set(found.selected) == set(columns)
    assert len(ran.current.model.path.steps) == 1
    # it is not the best one
    assert seen.best.use.isVisible() and seen.best.compare.isVisible()
    seen.best.use.click()
    best = ran.runs.records[-1]
    wait_until(lambda: best.result is not None)
    rest(ran)
    assert best.title == "Best set of 3"
    assert "lowest possible" in seen.best.gap.text() and not seen.best.use.isVisible()
    ran.sections.compare.panel.selected.emit(record.key)
    rest(ran)
    n = len(ran.runs.records)
    looked_at = ran.current.model.step
    seen.best.compare.click()
    wait_until(lambda: not ran.runs.busy)
    assert ran.runs.shown is record and ran.current.model.step is looked_at
    assert ran.workspace.page == "compare"
    assert len(ran.runs.records) == n  # both were there
    ticked = [r for r in ran.runs.records if ran.models.marks.is_ticked(r.key)]
    assert set(ticked) == {record, best} and ran.models.marks.reference == record.key
    settle(ran)


@pytest.mark.thorough
def test_comparing_leaves_what_is_looked_at(
    ran: MainWindow, seen: EvidenceController
) -> None:
    own = ran.runs.shown
    seen.run_set((0, 3, 4), "By hand")
    wait_until(lambda: ran.runs.records[-1].result is not None)
    rest(ran)
    seen.best.compare.click()
    wait_until(lambda: len(ran.runs.records) == 3 and not ran.runs.busy)
    rest(ran)
    assert ran.runs.shown is ran.runs.records[1] and not ran.current.shown.edited
    assert own is ran.runs.records[0] and not ran.models.marks.is_ticked(own.key)


@pytest.mark.thorough
def test_the_sizes_are_listed_and_one_is_used(
    ran: MainWindow, seen: EvidenceController
) -> None:
    seen.best.sizes.click()
    dialog = seen.sizes
    wait_until(lambda: not dialog.search.busy)
    rows = dialog.table.rows()
    assert [row.size for row in rows] == list(
        range(1, ran.sections.evidence.evidence.largest_size + 1)
    )
    assert all(row.found.proved for row in rows)
    assert rows[K - 1].found.features == tuple(
        ran.sections.evidence.evidence.found.best.features
    )
    dialog.table.select(rows[1])
    dialog._show()
    dialog.use.click()
    wait_until(lambda: len(ran.runs.records) == 2 and not ran.runs.busy)
    rest(ran)
    assert set(ran.current.model.step.selected) == set(rows[1].found.features)


@pytest.mark.thorough
def test_other_selectors_have_what_applies_and_nothing_empty(ran: MainWindow) -> None:
    parameters = {"regularization": (1.0,), "n_features_to_select": 3}
    ran.session.change("gas", method="gas", parameters=parameters)
    finish(ran)
    ran.workspace.show_page("evidence")
    rest(ran)
    evidence, page = ran.sections.evidence.evidence, ran.sections.evidence
    # it learns anew, so it is asked for
    assert page.panel.work.button.isVisible() and not evidence.busy
    assert not page.best.isVisible() and not page.sets.isVisible()
    page.panel.work.button.click()
    rest(ran)
    assert evidence.progress(Package.FEATURES) is Progress.DONE
    assert evidence.progress(Package.BEST) is Progress.ABSENT
    keys = {column.key for column in page.panel.table.rows_model.columns}
    assert {"probability", "position", "verdict", "deciding"} <= keys
    titles = [column.title for column in page.panel.table.rows_model.columns]
    assert "≈ queries" in titles, "they are by margins"
    assert evidence.found.stability.n_paths == 100
    before = evidence.found
    ran.session.show_measure("P@10")  # which the halves do not depend on
    rest(ran)
    assert (
        evidence.found is before
        and evidence.progress(Package.FEATURES) is Progress.DONE
    )


@pytest.mark.thorough
def test_features_of_a_model_that_does_not_select_are_permuted(ran: MainWindow) -> None:
    """Catches another model, part, measure or seed, and panels that do not apply."""
    ran.session.change(
        "rankrls", method="rankrls", parameters={"regularization": (1.0,)}
    )
    finish(ran)
    ran.workspace.show_page("evidence")
    rest(ran)
    page, model = ran.sections.evidence, ran.current.model
    part = model.fold.vali or model.fold.train
    expected = permutation_importance(
        lambda X: X @ model.step.coef,
        part.X,
        part.y,
        qid=part.qid,
        measure=ran.session.measure,
        seed=model.plan.seed,
        convention=ran.session.convention,
    )
    rows = page.panel.table.rows()
    assert {row.numbers.column for row in rows} == set(model.step.selected)
    for row in rows:
        assert row.numbers.loss.value == pytest.approx(
            expected.mean[row.numbers.column], abs=1e-12
        )
    assert [row.numbers.loss.value for row in rows] == sorted(
        (row.numbers.loss.value for row in rows), reverse=True
    )
    assert {column.key for column in page.panel.table.rows_model.columns} == {
        "feature",
        "name",
        "loss",
    }
    assert not any(panel.isVisible() for panel in (page.best, page.sets))
    assert page.probability.shows_validity and not page.probability.view.isVisible()
    assert not page.panel.permuting.isVisible()
    before = ran.sections.evidence.importance.found
    ran.session.show_measure("P@10")
    rest(ran)
    assert (
        ran.sections.evidence.importance.found.measure.name
        == "P@10"
        != before.measure.name
    )
    assert (
        page.panel.table.rows()[0].numbers.loss.value
        == ran.sections.evidence.importance.found.mean.max()
    )


@pytest.mark.thorough
def test_a_search_that_ended_without_a_proof_goes_on(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a set that is never proved as nothing can be pressed, and a second search that ends early."""
    ran.session.select((0.25,), 2)  # of which nothing is known yet
    evidence, asked = ran.sections.evidence.evidence, []
    usual = ran.sections.evidence.evidence.tasks.evidence

    def gather(wanted, known):
        asked.append((wanted.parts, wanted.max_seconds))
        return usual(wanted, known)

    monkeypatch.setattr(ran.sections.evidence.evidence.tasks, "evidence", gather)
    with monkeypatch.context() as unproved:
        unproved.setattr(evidence, "_proved", lambda _: False)
        ran.workspace.show_page("evidence")
        rest(ran)
        assert evidence.progress(Package.BEST) is Progress.STOPPED
        assert ran.sections.evidence.best.work.button.isVisible()
    evidence.start(Package.BEST)
    rest(ran)
    assert evidence.progress(Package.BEST) is Progress.DONE
    assert (
        asked[0][1] == MOST_SECONDS
        and [one for one in asked if "best" in one[0]][-1][1] == inf
    )


def test_deciding_queries_are_listed_by_a_click(
    ran: MainWindow, seen: EvidenceController
) -> None:
    """Catches queries of another part or order, and a list that the comparison replaces later."""
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    step = next(
        step for step in ran.sections.evidence.evidence.found.deciding if step.queries
    )
    train = ran.current.model.fold.train
    row = next(
        row for row in seen.panel.table.rows() if row.numbers.column == step.feature
    )
    (action, *_) = seen.panel.table.row_actions(row)
    assert action.text == "List the deciding queries"
    seen.panel.table.cellClicked.emit(row, "deciding")
    assert ran.workspace.page == "queries"
    queries = ran.sections.queries
    expected = {str(train.query_ids[at]) for at in step.queries}
    wait_until(
        lambda: {str(query.query_id) for query in queries.list.listed()} == expected
    )
    settle(ran)
    assert queries.bar.part.value() == "train"
    assert {str(query.query_id) for query in queries.list.table.rows()} == expected


@pytest.mark.thorough
def test_permuting_is_offered_where_nobody_knows_how_long_it_takes(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, importance = ran, ran.sections.evidence.importance
    monkeypatch.setattr(type(importance), "seconds", property(lambda _: inf))
    window.session.change(
        "rankrls", method="rankrls", parameters={"regularization": (2.0,)}
    )
    finish(window)
    window.workspace.show_page("evidence")
    rest(window)
    line = window.sections.evidence.panel.permuting
    assert line.button.isVisible() and importance.found is None
    line.button.click()
    importance.stop()
    rest(window)
    assert importance.progress is Progress.STOPPED and line.button.isVisible()
    line.button.click()
    rest(window)
    assert importance.found is not None and not line.isVisible()


@pytest.mark.thorough
def test_each_half_is_stored_when_it_is_learned(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches halves that are stored at the end alone: what ends the program loses one of them at most."""
    parameters = {"regularization": (1.0,), "n_features_to_select": 3}
    window.session.change("gas", method="gas", parameters=parameters)
    finish(window)
    window.study_files.save_as(str(tmp_path / "kept.rankstudio"))
    wait_until(
        lambda: (
            window.models.study_store.path == (tmp_path / "kept.rankstudio").resolve()
        )
    )
    window.workspace.show_page("evidence")
    rest(window)
    evidence, told = window.sections.evidence.evidence, []
    study, run, fold, place = evidence.storage_place()

    def stored() -> int:
        kept = study.evidence(run, fold, place)
        return unpack_evidence(kept).stability.n_paths if kept is not None else 0

    monkeypatch.setattr(
        window.sections.evidence.evidence.tasks,
        "evidence",
        slow(window.sections.evidence.evidence.tasks, 0.02),
        raising=False,
    )

    def check() -> None:
        found = evidence.found.stability
        if found is not None and found.n_paths:
            told.append((found.n_paths, stored()))

    evidence.grew.connect(check)
    evidence.start(Package.FEATURES)
    wait_until(lambda: told and told[-1][0] >= 4, 60)
    evidence.stop()
    rest(window)
    assert all(kept >= known - 1 for known, kept in told), told
    assert stored() == evidence.found.stability.n_paths, (
        "stopped, all of them are stored"
    )


@pytest.mark.thorough
def test_another_measure_measures_the_losses_anew(
    ran: MainWindow, seen: EvidenceController
) -> None:
    stability = ran.sections.evidence.evidence.found.stability
    ran.session.show_measure("NDCG@10")
    rest(ran)
    found = ran.sections.evidence.evidence.found
    assert found.losses.measure == "NDCG@10" and found.stability is stability
    titles = [column.title for column in seen.panel.table.rows_model.columns]
    assert "NDCG@10 lost" in titles and "MAP lost" not in titles


@pytest.mark.thorough
def test_table_and_plots_are_exported(
    ran: MainWindow, seen: EvidenceController, tmp_path: Path
) -> None:
    items = {item.key: item for item in export_items(ran.models, ran.sections)}
    for key in ("evidence", "plot-probability", "plot-near-best", "plot-step-p"):
        assert not items[key].unavailable
    items["evidence"].write(tmp_path / "evidence.csv")
    lines = (tmp_path / "evidence.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(seen.panel.table.rows()) and "verdict" in lines[0]
    for plot in (seen.probability.plot, seen.sets.plot, seen.stop.p_plot):
        assert plot.numbers()[1]
    write_item(items["plot-near-best"], tmp_path / "sets.png")
    assert (tmp_path / "sets.png").stat().st_size > 1000


@pytest.mark.thorough
def test_all_folds_have_no_selection(ran: MainWindow, seen: EvidenceController) -> None:
    ran.session.show_fold(None)
    rest(ran)
    assert "single fold" in seen.panel.table.placeholder and not seen.panel.table.rows()
    wait_until(lambda: not seen.best.gap.isVisible())


def test_an_unknown_time_is_not_told(app: object) -> None:
    """A model of the slider is of no run whose seconds would say how long others take."""
    row = WorkRow("work", "Find the sets", "Find the sets (about {time})", "")
    for seconds, text in ((inf, "Find the sets"), (3.0, "Find the sets (about 3 s)")):
        row.show_state(Progress.OFFERED, seconds, 0.0, "")
        assert row.button.text() == text


@pytest.mark.thorough
def test_groups_restrict_the_best_set_and_leave_out_the_tests_of_steps(
    ran: MainWindow, seen: EvidenceController
) -> None:
    ids = ran.session.dataset.feature_ids.tolist()
    groups = {"first": tuple(ids[:2]), "second": tuple(ids[3:6])}
    parameters = {"regularization": (2.0,), "n_features_to_select": 2}
    ran.session.change("groups", groups=groups, parameters=parameters)
    ran.commands["run"].trigger()
    wait_until(lambda: len(ran.runs.records) == 2 and not ran.runs.busy)
    ran.session.show_fold(1)
    settle(ran)
    evidence = ran.sections.evidence.evidence
    if evidence.progress(Package.FEATURES) is Progress.OFFERED:
        evidence.start(Package.FEATURES)
    rest(ran)
    train = evidence.model.fold.train
    qid = np.repeat(np.arange(train.n_queries), np.diff(train.query_ptr))
    units = [
        (0, 1),
        (3, 4, 5),
        *((c,) for c in range(len(ids)) if c not in (0, 1, 3, 4, 5)),
    ]
    size = evidence.found.size
    assert size < evidence.found.k or not {0, 3} & set(evidence.found.selected)

    def error(columns: tuple[int, ...]) -> float:
        return set_changes(
            RankRLS(2.0), train.X, train.y, qid=qid, features=columns
        ).criterion

    sets = [sum(some, ()) for some in combinations(units, size)]
    best = best_of_size(evidence.found)
    assert best.proved and best.n_sets <= len(sets)
    assert best.criterion == pytest.approx(min(map(error, sets)), rel=1e-6)
    assert seen.best.gap.text() and "groups" in seen.best._title.text()
    assert (
        evidence.progress(Package.STOP) is Progress.ABSENT
        and not seen.stop.p_plot.isVisible()
    )
    asked = next(c for c in seen.sets.plot.columns if c.feature == ids[3])
    seen._toggle(asked.feature)
    wait_until(lambda: seen._constrained_best is not None)
    with_it = [one for one in sets if 3 in one]
    assert seen._constrained_best.criterion == pytest.approx(
        min(map(error, with_it)), rel=1e-6
    )


def test_the_time_of_shares_is_estimated_for_as_many_features_as_have_them() -> None:
    assert MOST_SHARED == MOST_FEATURES
