"""What explains a path, in the real window: for methods that compare candidates and for others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.analysis.features.candidate_map import Margin, margins
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.features.why_controller import _note
from rankstudio.ui.main_window import MainWindow

LISTS = {"parameters": {}, "ranker": "", "ranker_parameters": {}}


def run_method(window: MainWindow, method: str, **parameters: object) -> None:
    window.session.change("editing", **{**LISTS, "method": method, "parameters": parameters})
    finish(window)
    window.session.look_at(1)
    window.workspace.show_page("features")
    settle(window)
    inspect = window.sections.features  # the marked row is inspected a moment later
    wait_until(lambda: not (inspect._settled.isActive() or inspect._settled_model.isActive()))


def texts(window: MainWindow) -> list[str]:
    return window.sections.features.profile.why.text().split("\n")


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("greedy-rankrls", {}),
        ("gas", {}),
        ("rfe", {}),
        ("mutual-information", {}),
        ("fsmrank", {"max_iter": 9}),
    ],
)
def test_what_a_method_compared_is_shown(window: MainWindow, method: str, parameters: dict) -> None:
    run_method(window, method, **parameters)
    model, why = window.current.model, window.sections.why
    assert model is not None
    score = model.plan.candidate_score
    assert score is not None
    wait_until(lambda: why.panel.caption() == score.title)
    assert why.panel.isVisible()
    path = window.sections.features.path
    leads = [lead for lead in margins(model.path, score).values() if lead.rival is not None]
    ids = window.session.dataset.feature_ids
    rows = {row.feature_id: row for row in path.table.rows()}
    assert {i: row.margin for i, row in rows.items() if row.margin == row.margin} == {
        int(ids[lead.feature]): lead.share for lead in leads
    }
    assert path._note.text().startswith("Margin: lead over the next ")
    wait_until(lambda: window.sections.features.profile.why_title.text().startswith("Why"))
    assert window.sections.features.feature is not None
    window.workspace.show_page("select")
    settle(window)
    window.sections.features.inspector.switch._buttons()[1].click()
    assert window.sections.select.candidates.isVisible()
    assert window.sections.select.candidates.plot.axes.title == score.title


def test_where_another_method_ranks_the_selectors_scores_are_shown(window: MainWindow) -> None:
    shown: dict[str, list[object]] = {}
    for ranker in ("", "ranksvm"):
        window.session.change("editing", **{**LISTS, "method": "greedy-rankrls", "ranker": ranker})
        if not ranker:
            window.session.change("editing", parameters={"regularization": (1.0,), "n_features_to_select": 3})
        else:
            window.session.change(
                "editing",
                parameters={"regularization": (1.0,), "n_features_to_select": 3},
                ranker_parameters={"C": (0.1,), "max_iter": 20},
            )
        finish(window)
        window.session.look_at(1)
        window.workspace.show_page("features")
        settle(window)
        plot = window.sections.why.panel.plot
        wait_until(lambda plot=plot: plot.shown is not None and window.sections.why.panel.caption() != "")
        shown[ranker] = [row[:4] for row in plot.numbers()[1][:3]]
    assert repr(shown["ranksvm"]) == repr(shown[""])


def test_a_ranker_has_no_such_panels(window: MainWindow) -> None:
    run_method(window, "rankrls")
    why = window.sections.why.panel
    wait_until(lambda: not why.isVisible())
    assert window.sections.substitutes.panel.isVisible()  # which has the column alone then
    assert window.sections.features.profile.why.text() == ""
    columns = [column.key for column in window.sections.features.path.table.rows_model.columns]
    assert "margin" not in columns
    assert window.sections.features.path._note.isHidden()
    window.workspace.show_page("select")
    settle(window)
    assert not window.sections.features.inspector.switch.isVisible()
    run_method(window, "gas")
    assert window.sections.why.panel.isVisible()
    window.workspace.show_page("select")
    assert window.sections.features.inspector.switch.isVisible()


def test_a_picked_cell_is_marked_everywhere(window: MainWindow) -> None:
    run_method(window, "gas")
    why, inspect = window.sections.why, window.sections.features
    wait_until(lambda: why.panel.plot.shown is not None)
    ids = window.session.dataset.feature_ids
    column = int(why.panel.plot.shown.features[2])  # the next one after two steps
    why.panel.picked.emit(column, 1)
    settle(window)
    assert window.current.model is not None
    assert window.current.model.x_value == 2
    assert inspect.feature == int(ids[column])
    assert inspect.path.table.current().feature_id == int(ids[column])
    wait_until(lambda: inspect.profile.why_title.text() == "Why it is not in the model with k = 2")
    assert any("closest at step" in text for text in texts(window))
    why.panel.plot.flush()
    assert why.panel.plot.accessibleDescription().count(window.session.dataset.feature_names[column]) == 1


def test_nothing_is_computed_for_a_page_that_is_not_seen(window: MainWindow) -> None:
    run_method(window, "gas")
    wait_until(lambda: window.sections.why.panel.caption() != "")
    window.workspace.show_page("select")
    before = window.sections.why.panel.caption()
    window.session.change("editing", method="mutual-information", parameters={})
    finish(window)
    settle(window)
    assert window.sections.why.panel.caption() == before
    window.workspace.show_page("features")
    wait_until(lambda: window.sections.why.panel.caption() == "mutual information in nats")


@pytest.mark.parametrize(("method", "parameters"), [("fsmrank", {"max_iter": 9}), ("gas", {})])
def test_the_measure_stands_in_the_path_only_where_a_row_has_one(
    window: MainWindow, method: str, parameters: dict
) -> None:
    run_method(window, method, **parameters)
    table = window.sections.features.path.table
    keys = [column.key for column in table.rows_model.columns]
    hidden = table.isColumnHidden(keys.index("after"))
    assert hidden == (method == "fsmrank")
    assert hidden or not any(row.after != row.after for row in table.rows())


def test_groups_are_rows_of_the_map_and_are_named_in_sentences(window: MainWindow) -> None:
    names = window.session.dataset.feature_names
    window.session.change("groups", groups={"First": (1, 2, 3), "Second": (4, 5)})
    run_method(window, "greedy-rankrls", n_features_to_select=3)
    plot = window.sections.why.panel.plot
    wait_until(lambda: plot.shown is not None)
    rows = [row[0] for row in plot.numbers()[1]]
    assert {"First", "Second"} <= set(rows)
    assert not {names[0], names[2], names[4]} & set(rows)
    assert len(rows) == len(names) - 3
    assert plot.shown.n_candidates[0] <= len(names) - 3
    window.sections.features.inspect(2)
    wait_until(lambda: texts(window)[0] == "All 3 features of First are taken or left together.")
    assert plot._feature == 0
    margin = {row.feature_id: row.margin for row in window.sections.features.path.table.rows()}
    assert repr(margin.get(1)) == repr(margin.get(3))


@pytest.mark.parametrize("kind", StepKind)
@pytest.mark.parametrize(("share", "near"), [(0.0, True), (0.004, True), (-0.004, True), (0.2, False)])
def test_the_note_on_margins_names_the_closest_choice_where_it_is_a_near_tie(
    kind: StepKind, share: float, *, near: bool
) -> None:
    names, path = ("one", "two"), SimpleNamespace(step_kind=kind)

    def said(rival: int | None) -> str:
        leads: Any = {0: Margin(3, 0, 1.0, rival, 1.0, share)}
        return _note(leads, names, path)  # type: ignore[arg-type]

    assert "{" not in said(1)
    assert ("one" in said(1) and "two" in said(1)) is near
    assert ("0.4\u00a0%" in said(1).replace("0.4 %", "0.4\u00a0%")) is (near and share != 0)
    assert said(None) == ""
