"""Sequences of clicks after which panels used to show parts of different runs, or raised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hands import choose_on_curve, pick, write
from waiting import wait_until
from walks.belonging import Truth, mismatches
from windows import Opened, finish, settle, write_folds

from rankstudio.ui.export.items import plot_figure
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import PROBE
from rankstudio.ui.plots import Plot


@pytest.fixture
def dealt(opened: Opened, tmp_path: Path) -> Iterator[MainWindow]:
    """The window with small data and all their folds: only those can be dealt anew."""
    with opened(write_folds(tmp_path / "Small", 5)) as made:
        yield made


_FSMRANK = {"lambda1": (0.01, 0.1), "lambda2": (1e-4, 1e-3), "max_iter": 20}


def belongs_together(window: MainWindow) -> None:
    """Assert that title, curves, map, toolbar, path and test line are of one run and one model."""
    settle(window)
    for plot in window.sections.pages["select"].shared(Plot):
        plot.flush()
    assert list(mismatches(window, Truth())) == []


def choose_method(window: MainWindow, key: str, **parameters: Any) -> None:
    """Choose a method in the form, and set some of its parameters."""
    pick(window.sections.select.method.form, "method", key)
    if parameters:
        whole = {**window.session.plan.parameters, **parameters}
        window.session.change("editing", parameters=whole)
    settle(window)


def glide(window: MainWindow, by: int = 3) -> None:
    """Move the slider by so many stops."""
    slider = window.sections.select.curves.slider._slider
    slider.setValue(
        slider.value() + (by if slider.value() + by <= slider.maximum() else -by)
    )
    settle(window)


def compare(window: MainWindow, **methods: dict[str, Any]) -> None:
    """Run methods one after the other, as the Compare page does."""
    plan = window.session.plan
    plans = [
        plan.changed(method=key.replace("_", "-"), parameters=parameters)
        for key, parameters in methods.items()
    ]
    window.comparison.start(plans)
    wait_until(lambda: not window.runs.busy, 120)
    settle(window)


def look_at_run(window: MainWindow, key: int) -> None:
    """Click on the row of a run."""
    window.sections.compare.panel.selected.emit(key)
    settle(window)


def figure_of(window: MainWindow) -> tuple[str, object]:
    """Return caption and numbers of what is exported from Select."""
    plot = window.sections.select.curves.validation_plot
    return plot_figure(window.models, plot).caption, plot.numbers()


def test_captions_of_comparisons_name_the_runs_that_are_drawn(
    dealt: MainWindow,
) -> None:
    """They named all finished runs, of other folds and other data, too."""
    window = dealt
    finish(window)
    compare(window, rankrls=RANKRLS)
    window.comparison.start([window.session.plan.changed(folds=(2,))])
    wait_until(lambda: not window.runs.busy, 120)
    settle(window)
    plot = window.sections.compare.curves.plot
    for key, drawn, others in ((1, {1, 2}, {3}), (3, {3}, {1, 2})):
        look_at_run(window, key)
        caption = plot_figure(window.models, plot).caption
        titles = {
            run: f"{run} {window.runs.record(run).plan.title}" for run in (1, 2, 3)
        }
        assert all(titles[run] in caption for run in drawn), caption
        assert not any(titles[run] in caption for run in others), caption


RANKRLS = {"regularization": (0.5, 2.0)}


def test_the_form_s_method_is_not_drawn_among_the_curves_of_another_method(
    window: MainWindow,
) -> None:
    choose_method(window, "rankrls", **RANKRLS)
    finish(window)
    belongs_together(window)
    before = window.current.model
    figure = figure_of(window)
    choose_method(window, "greedy-rankrls")
    belongs_together(window)
    assert figure_of(window) == figure, "nor does a figure change"
    assert window.current.model.step is before.step, (
        "a run is shown until another one is"
    )
    glide(window)
    belongs_together(window)
    assert window.current.shown.inspection.key == PROBE
    assert window.current.model.step is before.step
    finish(window)
    belongs_together(window)
    assert window.current.model.plan.method == "greedy-rankrls"


def test_a_comparison_after_a_click_on_a_curve_shows_each_run_by_itself(
    window: MainWindow,
) -> None:
    finish(window)
    choose_on_curve(window, 1, 3)
    belongs_together(window)
    compare(
        window,
        fsmrank=_FSMRANK,
        gas={"regularization": (0.5, 1.0, 2.0, 4.0)},
        rankrls=RANKRLS,
    )
    belongs_together(window)
    for key in (2, 1, 3, 4, 2, 1):
        look_at_run(window, key)
        belongs_together(window)


def test_a_choice_among_many_is_not_marked_on_the_map_of_a_run_with_few(
    window: MainWindow,
) -> None:
    choose_method(
        window,
        "greedy-rankrls",
        regularization=tuple(2.0**power for power in range(11)),
    )
    finish(window)
    choose_on_curve(window, 10, 3)
    belongs_together(window)
    compare(window, fsmrank=_FSMRANK)
    look_at_run(window, 1)
    choose_on_curve(window, 10, 3)
    belongs_together(window)
    look_at_run(window, 2)  # the map of two grids has four cells
    belongs_together(window)


@pytest.mark.parametrize("page", ["select", "compare"])
def test_a_click_from_one_run_to_another_of_other_grids(
    window: MainWindow, page: str
) -> None:
    finish(window)
    choose_method(window, "fsmrank", **_FSMRANK)
    finish(window)
    window.workspace.show_page(page)
    for key in (2, 1, 2, 1):
        look_at_run(window, key)
        belongs_together(window)


def test_a_run_of_two_axes_is_removed_under_the_slider(
    window: MainWindow, questions: list[str]
) -> None:
    parameters = {**window.session.plan.parameters, "n_features_to_select": (3, 4)}
    window.session.change("editing", parameters=parameters)
    finish(window)
    glide(window)
    belongs_together(window)
    window.sections.compare.panel.removed.emit((1,))
    settle(window)
    belongs_together(window)


def test_nothing_of_a_removed_run_stays_nor_over_the_next_data(
    window: MainWindow, questions: list[str], tmp_path: Path
) -> None:
    finish(window)
    glide(window)
    window.session.change(
        "editing", parameters={**window.session.plan.parameters, "pinned": (3,)}
    )
    belongs_together(window)
    window.sections.compare.panel.removed.emit((1,))
    belongs_together(window)
    write_folds(tmp_path / "Other")
    window.open_path(str(tmp_path / "Other"))
    wait_until(lambda: window.session.dataset.name == "Other")
    belongs_together(window)
    assert all(
        plot.is_empty() for plot in window.sections.select.curves.plots().values()
    )


def test_left_out_queries_are_not_asked_of_a_method_without_them(
    window: MainWindow,
) -> None:
    window.session.select((2.0,), None)
    wait_until(lambda: window.current.model is not None)
    window.commands["left_out"].trigger()
    settle(window)
    choose_method(window, "l1-path")
    belongs_together(window)
    window.commands["undo"].trigger()
    belongs_together(window)


def divide(window: MainWindow, protocol: str) -> None:
    """Choose folds in the form, and wait for the data."""
    write(window.sections.select.method.form.field("protocol"), protocol)
    wait_until(lambda: window.session.data_match_plan)
    settle(window)


def test_the_plan_asks_for_other_folds_than_the_data_have_yet(
    dealt: MainWindow,
) -> None:
    divide(dealt, "leave-query-out")
    glide(dealt)
    assert dealt.current.model is not None
    belongs_together(dealt)
    write(dealt.sections.select.method.form.field("protocol"), "5-fold")
    assert dealt.current.model is None and not dealt.session.data_match_plan
    divide(dealt, "5-fold")
    belongs_together(dealt)
    assert dealt.current.model is not None
    divide(dealt, "given")
    belongs_together(dealt)


def test_a_run_of_other_folds_is_not_named_where_nothing_of_it_is_shown(
    dealt: MainWindow,
) -> None:
    finish(dealt)
    belongs_together(dealt)
    divide(dealt, "5-fold")
    belongs_together(dealt)
    assert dealt.toolbar.line.text("run") == "no run"
    dealt.commands["undo"].trigger()
    settle(dealt)
    belongs_together(dealt)
    assert dealt.toolbar.line.text("run").startswith("run 1 ")


def test_other_folds_and_back_choose_by_what_chose_before(dealt: MainWindow) -> None:
    before = dealt.session.plan
    divide(dealt, "leave-query-out")
    assert dealt.session.plan.select_by == "criterion"
    divide(dealt, "given")
    assert (dealt.session.plan.select_by, dealt.session.plan.rule) == (
        before.select_by,
        before.rule,
    )
    dealt.session.change("editing", select_by="criterion")
    for protocol in ("5-fold, nested 5-fold", "leave-query-out", "given"):
        divide(dealt, protocol)
        assert dealt.session.plan.select_by == "criterion", "as it was chosen by hand"


def test_the_seal_leaves_no_sentence_behind(
    window: MainWindow, questions: list[str]
) -> None:
    finish(window)
    window.session.show_fold(1)
    belongs_together(window)
    for place in (2, 3):
        window.commands["seal"].trigger()
        belongs_together(window)
        choose_on_curve(window, 1, place)
        window.commands["seal"].trigger()
        belongs_together(window)


def test_the_form_changes_while_a_run_works_which_is_stopped(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    window.commands["step"].trigger()
    for _ in range(3):
        wait_until(lambda: not window.refresh_timer.is_active)
        window.commands["step"].trigger()
    wait_until(window.sections.features.features.table.rows)
    choose_method(window, "rankrls", **RANKRLS)
    window.commands["stop"].trigger()
    wait_until(lambda: not window.runs.busy)
    belongs_together(window)


def test_step_right_after_run_is_of_that_run(window: MainWindow) -> None:
    window.commands["run"].trigger()
    window.sections.select.control.step()
    assert len(window.runs.records) == 1
    wait_until(lambda: not window.runs.busy)
    belongs_together(window)


def test_measures_of_a_run_that_is_gone_are_not_those_of_another_run_with_its_number(
    window: MainWindow,
) -> None:
    choose_method(window, "rankrls", **RANKRLS)
    finish(window)
    [gone] = window.runs.records
    window.session.measure_by_convention("trec_eval")
    settle(window)
    measured = window.models.measured
    assert measured.view(gone).paths
    window.runs.clear()
    measured.view(gone)  # a panel may still ask while the next study opens
    settle(window)
    fresh = RunRecord(gone.key, gone.plan, gone.dataset)
    window.runs.add(fresh)
    assert measured.view(fresh).paths == {}
