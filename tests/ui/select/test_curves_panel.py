import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QWidget
from waiting import wait_until

from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.model.selected_model import LIVE
from rankstudio.ui.plots.curves.curve_set import SmallestMark
from rankstudio.ui.select.curves_panel import CurvesPanel

LAMBDA = Axis(method("greedy-rankrls").parameter("regularization"), (1.0, 2.0, 4.0))
SETTINGS = [(value,) for value in LAMBDA.values]
KS = [1, 2, 3]


@pytest.fixture
def panel(theme, stage):
    made = stage(CurvesPanel(theme), 800, 320)
    made.begin(
        "Greedy RankRLS",
        "MQ2008 fold 4",
        [LAMBDA],
        SETTINGS,
        3,
        "leave-query-out error per document",
    )
    return made


def shown(plot):
    """What a plot would export: one list of values a curve, without the gaps."""
    header, rows = plot.numbers()
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    return {
        n: [v for v in c if n == header[0] or not np.isnan(v)]
        for n, c in columns.items()
    }


def test_titles_say_what_runs_on_what_and_how_to_act(panel):
    assert panel.accessibleName() == "Greedy RankRLS · MQ2008 fold 4"
    assert panel._title.text() == "Greedy RankRLS"
    assert panel.caption() == "", "there is no curve yet"
    panel.add_step(0, 1, 0.5, {"MAP": 0.4})
    assert panel.caption() == "MQ2008 fold 4 · double-click to choose k"
    assert (
        panel._below.text()
        == "features selected, k · one curve per λ, 2⁰ dark … 2² bright"
    )
    assert panel.criterion_plot.axes.title == "leave-query-out error per document"
    assert panel.validation_plot.axes.title == "validation MAP"


def test_steps_grow_both_curves(panel):
    for k in KS:
        panel.add_step(1, k, 1.0 / k, {"MAP": 0.1 * k, "P@10": 0.2 * k})
    assert shown(panel.criterion_plot)["λ = 2¹"] == [1.0, 0.5, 1.0 / 3.0]
    assert shown(panel.validation_plot)["λ = 2¹"] == pytest.approx([0.1, 0.2, 0.3])
    assert shown(panel.validation_plot)["λ = 2⁰"] == []


def test_another_measure_is_shown_for_all_curves_also_for_those_still_growing(panel):
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [1, 2, 3], "P@10": [4, 5, 6]})
    panel.add_step(1, 1, 9.0, {"MAP": 0.5, "P@10": 0.25})
    panel.set_measure("P@10")
    panel.add_step(1, 2, 8.0, {"MAP": 0.6, "P@10": 0.35})
    assert panel.validation_plot.axes.title == "validation P@10"
    assert shown(panel.validation_plot)["λ = 2⁰"] == [4, 5, 6]
    assert shown(panel.validation_plot)["λ = 2¹"] == [0.25, 0.35]


def test_the_slider_s_path_replaces_itself_and_is_labelled_with_its_lambda(panel):
    panel.set_path(LIVE, KS, [3, 2, 1], {"MAP": [1, 2, 3]}, label="λ = 2⁵")
    panel.set_path(LIVE, [1, 2], [6, 5], {"MAP": [7, 8]}, label="λ = 2⁶")
    assert shown(panel.validation_plot)["λ = 2⁶"] == [7, 8]
    assert shown(panel.criterion_plot)["λ = 2⁶"] == [6, 5]
    panel.remove_path(LIVE)
    assert "λ = 2⁶" not in shown(panel.validation_plot)


def test_a_pick_is_told_and_marked_only_by_choose(panel):
    told = []
    panel.picked.connect(lambda key, k: told.append((key, k)))
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [1, 2, 3]})
    panel.set_path(LIVE, KS, [3, 2, 1], {"MAP": [1, 2, 3]})
    for plot in panel.plots().values():
        plot.picked.emit(0, 2)
        plot.picked.emit(LIVE, 3)
    assert told == [(0, 2), (LIVE, 3)] * 2
    assert panel.validation_plot.family.choice is None
    panel.select(0, 2)
    assert (
        panel.criterion_plot.family.choice
        == panel.validation_plot.family.choice
        == (0, 2)
    )
    assert panel._note(0, 2) == ("k = 2 · λ = 2⁰ · chosen", "validation MAP 2.0000")
    panel.select(None)
    assert panel.criterion_plot.family.choice is None


def test_hovering_one_plot_moves_the_crosshair_of_the_other(panel):
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [1, 2, 3]})
    panel.criterion_plot.hovered.emit(2.0)
    assert panel.validation_plot.cursor == 2.0
    panel.validation_plot.hovered.emit(None)
    assert panel.criterion_plot.cursor is None


def test_the_band_follows_the_measure(panel):
    ones = np.ones(3)
    bands = {"MAP": (ones, 0 * ones, 2 * ones), "P@10": (5 * ones, 4 * ones, 6 * ones)}
    panel.set_band(KS, (ones, ones, ones), bands)
    assert panel.validation_plot.family.band.interval_at(2) == (1.0, 0.0, 2.0)
    panel.set_measure("P@10")
    assert panel.validation_plot.family.band.interval_at(2) == (5.0, 4.0, 6.0)


def test_beginning_anew_leaves_nothing_behind(panel):
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [1, 2, 3]})
    panel.set_band(KS, ([1] * 3,) * 3, {"MAP": ([1] * 3,) * 3})
    panel.select(0, 1)
    panel.set_baseline({"MAP": 0.3}, "BM25")
    panel.begin("RankRLS", "MQ2008", [LAMBDA], [(8.0,)], 1)
    assert panel.validation_plot.family.reference is None
    assert panel.validation_plot.is_empty()
    assert panel.validation_plot.family.choice is None
    panel.add_step(0, 46, 0.5, {"MAP": 0.4})
    # one model: there is no k, and nothing to choose
    assert panel.caption() == "MQ2008"
    panel.add_step(0, 46, 0.5, {"MAP": 0.4})
    panel.validation_plot.flush()
    low, high = panel.validation_plot.ranges()[0]
    assert low < 46 < high
    assert panel._note(0, 46) == ("k = 46 · λ = 2³ · chosen", "validation MAP 0.4000")
    panel.set_path(LIVE, [46], [0.5], {"MAP": [0.25]}, label="λ = 2³ (not run)")
    assert panel._note(LIVE, 46) == (
        "k = 46 · λ = 2³ (not run) · chosen",
        "validation MAP 0.2500",
    )


def test_of_models_with_all_features_points_are_chosen_and_no_k(panel):
    panel.begin("RankRLS", "MQ2008", [LAMBDA], [(8.0,), (16.0,)], 1)
    panel.add_step(0, 46, 0.5, {"MAP": 0.4})
    assert panel.caption() == "MQ2008 · double-click a point to choose its model"
    assert panel._below.text() == "λ"
    panel.begin("Greedy RankRLS", "MQ2008", [LAMBDA], [(8.0,)], 46)
    panel.add_step(0, 1, 0.5, {"MAP": 0.4})
    assert panel.caption() == "MQ2008 · double-click to choose k"


def test_a_method_without_a_grid_has_one_curve_without_a_name(panel):
    panel.begin(
        "RankBoost", "MQ2008", [], [()], 300, "mean loss of the pairs", StepKind.ROUNDS
    )
    panel.add_step(0, 46, 0.5, {"MAP": 0.4})
    assert panel.caption() == "MQ2008 · double-click to choose a round"
    assert panel._below.text() == "round"
    assert panel._note(0, 46) == ("round = 46 · chosen", "validation MAP 0.4000")
    assert panel.validation_plot.numbers()[0] == ["round", "path"]
    panel.validation_plot.flush()
    assert panel.validation_plot.ranges()[0] == (1, 300)


def test_of_iterations_it_is_said_that_the_last_is_the_model(panel):
    plan = Plan("x", "fsmrank", {"lambda1": (0.1, 1.0), "lambda2": 1e-4})
    values = [setting.values for setting in plan.combinations]
    panel.begin(
        "FSMRank", "MQ2008", plan.axes, values, 400, "objective", StepKind.ITERATIONS
    )
    for k in (1, 2):
        panel.add_step(1, k, 1.0 / k, {"MAP": 0.4})
    which = "one curve per λ1, 0.1 dark … 2⁰ bright"  # λ2 has one value
    assert panel._below.text() == f"iteration · {which}"
    assert panel.caption() == "MQ2008 · the last iteration is the model"
    assert panel.label(1) == "λ1 = 2⁰ · λ2 = 0.0001"
    panel.validation_plot.flush()
    assert panel.validation_plot.ranges()[0] == (1, 2), (
        "nobody knows how many iterations it takes"
    )


def test_a_rankers_grid_has_its_name_before_it(panel):
    plan = Plan("x", "gas", ranker="ranksvm", ranker_parameters={"C": (0.25, 4.0)})
    panel.begin(
        "GAS, then RankSVM",
        "x",
        plan.axes,
        [s.values for s in plan.combinations],
        3,
        "objective",
    )
    panel.add_step(0, 1, 0.5, {"MAP": 0.4})
    assert panel.label(0) == "RankSVM C = 2⁻²"
    assert panel._below.text().endswith("one curve per RankSVM C, 2⁻² dark … 2² bright")


def test_the_best_single_feature_is_a_level_of_the_measure_that_is_shown(panel):
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [0.1, 0.2, 0.3], "P@10": [0.4, 0.5, 0.6]})
    panel.set_baseline({"MAP": 0.25, "P@10": 0.35}, "BM25 of title")
    assert panel.validation_plot.family.reference == (
        0.25,
        "best single feature: BM25 of title",
    )
    assert panel.criterion_plot.family.reference is None
    panel.set_measure("P@10")
    assert panel.validation_plot.family.reference == (
        0.35,
        "best single feature: BM25 of title",
    )
    panel.set_measure("NDCG@1")
    assert panel.validation_plot.family.reference is None
    panel.set_measure("MAP")
    panel.set_baseline({}, "BM25 of title")
    assert panel.validation_plot.family.reference is None


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.times += event.type() is QEvent.Type.Paint
        return False


def test_what_empty_curves_say_is_painted_when_it_changes(panel: CurvesPanel) -> None:
    panel.show()
    panel.explain("one", "one")
    wait_until(panel.criterion_plot.isVisible)
    QCoreApplication.processEvents()
    paints = Paints(panel.criterion_plot.viewport())
    panel.explain("two", "two")
    QCoreApplication.processEvents()
    assert paints.times > 0


def test_before_a_run_the_curves_bear_the_name_of_the_method_in_the_form(window):
    curves = window.sections.select.curves
    assert curves._title.text() == "Greedy RankRLS"
    window.session.change("trying", method="gas", parameters={})
    assert curves._title.text() == "GAS"


def test_left_out_queries_are_a_curve_beside_the_chosen_one_and_nothing_to_choose(
    panel,
):
    plan = Plan(
        "x", "greedy-rankrls", {"regularization": (1.0, 4.0)}, "leave-query-out MAP"
    )
    combinations = [one.values for one in plan.combinations]
    panel.set_measured(True, plan.leaves_out)
    panel.begin(
        "Greedy RankRLS", "x", plan.axes, combinations, 3, "error", selects=True
    )
    for key in (0, 1):
        values = {"MAP": [0.3, 0.5, 0.4], "leave-query-out MAP": [0.1 + key, 0.2, 0.35]}
        panel.set_path(key, [1, 2, 3], [0.9, 0.8, 0.7], values)
    plot, name = panel.validation_plot, "left-out queries, selection not repeated"
    plot.flush()
    assert name not in plot.numbers()[0]
    panel.select(1, 2)
    plot.flush()
    header, rows = plot.numbers()
    assert header == ["k", "λ = 2⁰", "λ = 2²", name]
    assert [row[3] for row in rows] == [1.1, 0.2, 0.35]
    assert (
        f"validation MAP, best 0.5000 at k = 2, λ = 2⁰. {name}, best 1.1000 at k = 1"
        in plot.summary()
    )
    series = plot.figure().series
    assert (series[-1].label, series[-1].order) == (name, None)
    assert [one.order for one in series[:-1]] == [0.0, 1.0]
    told = []
    panel.picked.connect(lambda key, k: told.append((key, k)))
    plot.step(0, -1)  # beyond the last curve that can be chosen
    assert told == [(1, 2)]
    panel.select(0, 2)
    assert plot.numbers()[1][0][3] == 0.1


def test_without_a_validation_part_left_out_queries_have_the_plot(panel):
    panel.set_measured(False, True)
    panel.begin("RankRLS", "x", Plan("x", "rankrls").axes, [(1.0,), (4.0,)], 1, "error")
    panel.set_measure("MAP")
    panel.add_step(0, 6, 0.5, {"leave-query-out MAP": 0.4})
    panel.add_step(1, 6, 0.5, {"leave-query-out MAP": 0.6})
    assert not panel.validation_plot.isHidden()
    assert panel.validation_plot.axes.title == "leave-query-out MAP"
    assert panel.validation_plot.numbers()[1] == [[1, 0.4], [4, 0.6]]
    panel.select(1, 6)
    assert panel.validation_plot._note[1] == "left-out MAP 0.6000"
    panel.set_measured(False, False)
    assert panel.validation_plot.isHidden()


GAMMA = Axis(method("kernel-rankrls").parameter("gamma"), (0.5, 1.0))


def ranker(theme, stage, axes, combinations, **kinds):
    made = stage(CurvesPanel(theme), 800, 320)
    made.begin(
        "RankRLS",
        "MQ2008 fold 4",
        axes,
        combinations,
        1,
        "leave-query-out error",
        **kinds,
    )
    return made


def test_models_with_all_features_are_a_curve_over_the_grid(theme, stage):
    panel = ranker(theme, stage, [LAMBDA], SETTINGS)
    for key, value in ((2, 0.3), (0, 0.1), (1, 0.2)):
        panel.add_step(key, 46, 1.0 - value, {"MAP": value})
    plot = panel.validation_plot
    assert shown(plot) == {"λ": [1, 2, 4], "": [0.1, 0.2, 0.3]}
    assert panel._below.text() == "λ"
    panel.select(1, 46)
    assert plot.family.choice == (0, 2.0)
    picked = []
    panel.picked.connect(lambda key, k: picked.append((key, k)))
    plot.flush()
    plot.click(plot.frame().point(4.0, 0.3))
    assert picked == [(2, 46)]
    plot.hover(plot.frame().point(4.0, 0.3))
    assert (plot.box.lines()[0].text, plot.box.lines()[0].value) == ("λ = 2²", "0.3000")
    assert [text for _, text in plot.axes.x_ticks(plot.ranges()[0], 300.0)] == [
        "2⁰",
        "2¹",
        "2²",
    ]
    frame = plot.frame()
    assert frame.x_px(2.0) == pytest.approx(
        (frame.x_px(1.0) + frame.x_px(4.0)) / 2, abs=1
    )
    panel.set_path(LIVE, [46], [0.5], {"MAP": 0.25 * np.ones(1)}, "λ = 2⁰·⁵", (2**0.5,))
    assert plot.family[LIVE].xs == pytest.approx([2**0.5])


def test_another_grid_makes_a_curve_of_each_of_its_values(theme, stage):
    pairs = [(gamma, value) for gamma in GAMMA.values for value in LAMBDA.values]
    panel = ranker(theme, stage, [GAMMA, LAMBDA], pairs)
    for key in range(len(pairs)):
        panel.set_path(key, [46], [1.0], {"MAP": [key / 10]})
    values = shown(panel.validation_plot)
    assert values["γ"] == [0.5, 1.0]
    assert values["λ = 2¹"] == [0.1, 0.4]
    panel.select(4, 46)
    assert panel.validation_plot.family.choice == (1, 1.0)


def test_a_criterion_that_is_a_measure_is_shown_as_one(theme, stage):
    panel = stage(CurvesPanel(theme), 800, 320)
    panel.begin(
        "AdaRank",
        "x",
        [LAMBDA],
        SETTINGS,
        3,
        "training measure",
        StepKind.ROUNDS,
        measured=True,
    )
    panel.add_step(0, 1, -0.4, {"MAP": 0.3})
    panel.set_path(1, KS, [-0.4, -0.5, -0.6], {"MAP": [0.1, 0.2, 0.3]})
    assert shown(panel.criterion_plot)["λ = 2¹"] == [0.4, 0.5, 0.6]
    panel.set_band(KS, ([-0.4] * 3, [-0.5] * 3, [-0.3] * 3), {})
    band = panel.criterion_plot.family.band
    assert (band.low[0], band.mean[0], band.high[0]) == (0.3, 0.4, 0.5)
    assert not panel.criterion_plot.best_is_least


def test_the_validation_is_seen_as_curves_or_as_a_map(panel):
    view = QWidget()
    panel.add_map(view)
    assert panel.view.isHidden() and view.isHidden()
    panel.offer_map(True)
    panel.view._buttons()[1].click()
    assert not view.isHidden() and panel.validation_plot.isHidden()
    panel.offer_map(False)
    assert view.isHidden() and not panel.validation_plot.isHidden()


def test_the_button_of_the_smallest_model_gives_way_in_a_narrow_panel_and_goes_back(
    panel,
):
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [0.1, 0.3, 0.4]})
    panel.select(0, 3)
    panel.show_smallest(SmallestMark(0, 2, -0.1, 0.3), 3)
    picked = []
    panel.chosen.connect(lambda *at: picked.append(at))
    full = panel.smallest_button.text()
    panel.resize(420, 320)
    assert panel.smallest_button.text() == "Smallest: k = 2" != full
    assert panel.smallest_button.accessibleName() == full
    panel.smallest_button.click()
    panel.select(0, 2)
    panel.show_smallest(SmallestMark(0, 2, -0.1, 0.3), 3)
    panel.smallest_button.click()
    assert picked == [(0, 2), (0, 3)]
    panel.begin("Greedy RankRLS", "MQ2008 fold 4", [LAMBDA], SETTINGS, 3)
    assert panel.smallest_button.isHidden()
    assert panel.validation_plot.family.smallest is None


def test_the_button_says_where_the_best_model_is_the_smallest_one(panel):
    """Catches a button that is gone, so that nobody learns which k the rule gives."""
    panel.set_path(0, KS, [3, 2, 1], {"MAP": [0.4, 0.3, 0.1]})
    panel.select(0, 1)
    panel.show_smallest(SmallestMark(0, 1, 0.0, 1.0), 1)
    assert panel.validation_plot.family.smallest is None
    assert (
        "k = 1" in panel.smallest_button.text()
        and not panel.smallest_button.isEnabled()
    )
    panel.select(0, 3)
    panel.show_smallest(SmallestMark(0, 1, 0.0, 1.0), 1)
    assert panel.smallest_button.isEnabled()
