"""The Lab page in the real window: a simulation started, seen growing, paused, stopped, and exported."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from waiting import wait_until
from windows import open_window, settle, write_folds

from rankstudio.cli import main
from rankstudio.engine.analysis.simulation.auc_simulation import ESTIMATORS, simulate_auc
from rankstudio.engine.analysis.simulation.selection_simulation import simulate_selection
from rankstudio.engine.analysis.simulation.simulation import without_test
from rankstudio.engine.data.synthetic import concatenate
from rankstudio.ui.background.simulation import SimulationState
from rankstudio.ui.controllers.export_items import export_items, plot_figures
from rankstudio.ui.lab.auc_tab import AucTab
from rankstudio.ui.lab.estimators import BASIS, SELECTION
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots import export_plot
from rankstudio.ui.style.theme import Theme


@pytest.fixture(autouse=True)
def own_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the studies of each test in a folder of its own."""
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))


def write(form: LabForm, **values: object) -> None:
    """Type into fields, by the names of their parameters."""
    for name, value in values.items():
        editor = form.field(name).editor
        editor.setFocus()
        editor.selectAll()
        QTest.keyClicks(editor, str(value))
        QTest.keyClick(editor, Qt.Key.Key_Return)


def press(button: object) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def lab(window: MainWindow) -> AucTab:
    """The tab of AUC estimates, seen."""
    window.commands["page_lab"].trigger()
    settle(window)
    assert window.workspace.page == "lab"
    return window.sections.lab.auc


def test_a_simulation_grows_and_ends(window: MainWindow, lab: AucTab) -> None:
    assert lab.deviations.plot.is_empty()
    assert not lab.form.pause.isEnabled() and not lab.form.stop.isEnabled()
    write(lab.form, n_examples=20, repetitions=1000, each=100, values="10, 20")
    press(lab.form.start)
    seen: list[int] = []
    lab.simulation.grew.connect(lambda done: seen.append(done.found.done))
    wait_until(lambda: lab.form.status.text() == "done")
    assert seen[:4] == [250, 500, 750, 1000]
    *_, whole = simulate_auc(20, repetitions=1000)
    rows = lab.deviations.table.rows()
    assert [row.bias for row in rows] == whole.bias.tolist()
    assert [row.sd for row in rows] == whole.conditional_sd.tolist()
    assert lab.deviations.sentence.text().startswith("Leave-one-out, pooled is 0.0")
    plot = lab.deviations.plot
    plot.flush()
    assert plot.summary().startswith("leave-pair-out mean ") and plot.summary().count("sd") == len(ESTIMATORS)
    assert np.allclose([row.shares.sum() for row in plot.rows], 1.0)
    assert lab.varied is not None and lab.varied.values == (10.0, 20.0)
    assert "with 10 examples" in lab.variation.sentence.text()


def test_pause_holds_it_and_going_on_ends_with_the_same_numbers(window: MainWindow, lab: AucTab) -> None:
    write(lab.form, n_examples=20, repetitions=1000, each=50, values="10, 20")
    lab.simulation.grew.connect(lambda done: done.found.done == 500 and press(lab.form.pause))
    press(lab.form.start)
    wait_until(lambda: lab.simulation.state is SimulationState.PAUSED)
    settle(window)
    wait_until(lambda: lab.form.status.text().startswith("paused"))
    assert lab.found is not None and lab.found.done == 500
    assert lab.form.pause.isEnabled() and not window.models.task_worker.jobs
    press(lab.form.pause)
    wait_until(lambda: lab.simulation.state is SimulationState.DONE)
    *_, whole = simulate_auc(20, repetitions=1000)
    assert lab.found.bias.tolist() == whole.bias.tolist()


def test_stop_keeps_what_was_found_and_start_begins_again(window: MainWindow, lab: AucTab) -> None:
    write(lab.form, repetitions=100_000)
    press(lab.form.start)
    wait_until(lambda: lab.found is not None)
    press(lab.form.stop)
    assert lab.simulation.state is SimulationState.STOPPED
    assert lab.found is not None
    done = lab.found.done
    settle(window)
    assert lab.found.done == done
    wait_until(lambda: lab.form.status.text().startswith("stopped"))
    window.commands["page_select"].trigger()
    window.commands["page_lab"].trigger()
    wait_until(lambda: bool(lab.deviations.table.rows()))
    write(lab.form, repetitions=250, n_examples=10, each=10, values="10")
    press(lab.form.start)
    assert lab.found is None
    wait_until(lambda: lab.simulation.state is SimulationState.DONE)
    assert lab.found is not None and lab.found.asked == 250


def test_a_run_gets_its_turn_while_it_simulates(window: MainWindow, lab: AucTab) -> None:
    write(lab.form, repetitions=100_000)
    press(lab.form.start)
    answered: list[int] = []
    window.models.task_worker.task("asking", lambda: 7, on_done=answered.append)
    wait_until(lambda: answered == [7])
    assert lab.simulation.state is SimulationState.RUNNING
    press(lab.form.stop)


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("n_examples", "3", "examples: expected a whole number from 4 to 2000, got "),
        ("n_examples", "10, 20", "examples: expected a whole number"),
        ("positive", "1", "positives: expected a number from 0.01 to 0.99, got "),
        ("regularization", "0", "λ: expected a number greater than 0"),
        ("values", "2, 10", "values: expected numbers from 4 to 2000"),
        ("values", "10.5", "values: expected whole numbers"),
    ],
)
def test_a_wrong_value_is_refused_below_its_field(lab: AucTab, name: str, typed: str, said: str) -> None:
    write(lab.form, **{name: typed})
    press(lab.form.start)
    assert lab.simulation.state is SimulationState.NEW
    assert lab.form.field(name).error.text().startswith(said)
    assert lab.form.field(name).error.isVisible()


def test_more_informative_features_than_features_are_refused_at_their_field(lab: AucTab) -> None:
    write(lab.form, n_features=5, n_informative=6)
    press(lab.form.start)
    assert lab.simulation.state is SimulationState.NEW
    assert "from 0 to 5" in lab.form.field("n_informative").error.text()


def test_plots_and_table_are_exported_like_any(window: MainWindow, lab: AucTab, tmp_path: Path) -> None:
    write(lab.form, n_examples=20, repetitions=500, each=50, values="20, 30")
    press(lab.form.start)
    wait_until(lambda: lab.form.status.text() == "done")
    items = {item.key: item for item in export_items(window.models, window.sections)}
    for key in ("lab-deviations", "plot-lab-auc", "plot-lab-bias", "plot-lab-sd"):
        assert not items[key].unavailable
    (figure,) = (f for p, f in plot_figures(window.models, window.sections) if p is lab.deviations.plot)
    assert figure.name == "lab-auc" and "two normal classes: 20 examples" in figure.caption
    assert "500 training sets; seed 0, RankStudio" in figure.caption
    assert "greedy" not in figure.caption.lower()
    path = tmp_path / "deviations.csv"
    export_plot(lab.deviations.plot, path)
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0][:2] == ["estimator", "mean ± sd"]
    assert lab.found is not None
    assert [float(row[1]) for row in rows[1:]] == lab.found.bias.tolist()
    for suffix in ("svg", "pdf", "png"):
        export_plot(lab.variation.bias, tmp_path / f"bias.{suffix}")
    export_plot(lab.variation.sd, tmp_path / "sd.csv")
    with (tmp_path / "sd.csv").open(encoding="utf-8", newline="") as lines:
        points = list(csv.reader(lines))[1:]
    assert lab.varied is not None
    assert [float(row[2]) for row in points] == lab.varied.sd.T.ravel().tolist()
    for plot in (lab.deviations.plot, lab.variation.bias, lab.variation.sd):
        plot.flush()
        assert plot.accessibleDescription() == plot.summary() != ""
        assert plot.numbers()[1]


def test_what_was_simulated_is_exported_as_what_does_it_again(
    five_folds: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window, controller = five_folds, five_folds.sections.lab
    controller.tabs.setCurrentIndex(1)
    own = controller.selection
    items = {item.key: item for item in export_items(window.models, window.sections)}
    assert items["lab-code.sh"].unavailable == "Nothing was simulated yet."
    write(own.form, n_queries=6, n_features=2, repetitions=2, each=1, values="0.5, 4")
    press(own.form.start)
    wait_until(lambda: own.form.status.text() == "done")
    items = {item.key: item for item in export_items(window.models, window.sections)}
    plots = ("plot-lab-selection", "plot-lab-selection-bias", "plot-lab-selection-sd")
    for key in ("lab-deviations", *plots, "lab-code.sh", "lab-code.py"):
        assert not items[key].unavailable
        for _, suffix in items[key].formats:
            items[key].write(tmp_path / f"{key}{suffix}")
            assert (tmp_path / f"{key}{suffix}").stat().st_size
    _, *words = shlex.split((tmp_path / "lab-code.sh.sh").read_text(encoding="utf-8"))
    assert main([*words, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert own.progress is not None
    shown = own.progress.as_dict()
    assert {name: again[name] for name in shown} == shown
    program = (tmp_path / "lab-code.py.py").read_text(encoding="utf-8")
    exec(compile(program, "again.py", "exec"), {"__name__": "__main__"})
    assert json.loads(capsys.readouterr().out) == shown
    with (tmp_path / "lab-deviations.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert [float(row[1]) for row in rows[1:]] == [e["bias"] for e in shown["estimators"].values()]
    assert rows[2][0] == "leave-query-out, selected once"
    window.commands["page_data"].trigger()
    settle(window)
    assert "lab-code.sh" not in {item.key for item in export_items(window.models, window.sections)}


def test_rows_and_points_are_read_by_keyboard(lab: AucTab) -> None:
    write(lab.form, n_examples=20, repetitions=250, each=50, values="10, 20")
    press(lab.form.start)
    wait_until(lambda: lab.form.status.text() == "done")
    plot = lab.deviations.plot
    plot.flush()
    for number in (0, 1):
        QTest.keyClick(plot, Qt.Key.Key_Down)
        assert plot.under_mouse == number
    QTest.keyClick(plot, Qt.Key.Key_Up)
    assert plot.under_mouse == 0
    bias = lab.variation.bias
    bias.flush()
    for height in (60.0, 90.0, 140.0, 300.0):
        assert len(bias.axes.y_ticks((-0.06, 0.04), height)) > 1
    QTest.keyClick(bias, Qt.Key.Key_Right)
    QTest.keyClick(bias, Qt.Key.Key_Right)
    QTest.keyClick(bias, Qt.Key.Key_Down)
    assert bias.chosen == (1, 1)
    assert [line.text for line in bias.readout(bias.chosen)][:2] == ["leave-one-out, pooled", "examples = 20"]


@pytest.fixture
def five_folds(theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    """A window with data of five folds, on the page."""
    data = write_folds(tmp_path / "Five", 5)
    with open_window(theme, tmp_path / "config", data) as made:
        made.commands["page_lab"].trigger()
        settle(made)
        yield made


def test_my_data_draws_queries_of_what_is_open(five_folds: MainWindow) -> None:
    window, controller = five_folds, five_folds.sections.lab
    own, lab = controller.selection, controller.auc
    controller.tabs.setCurrentIndex(1)
    assert own.deviations.isVisible() and not lab.deviations.isVisible()
    write(own.form, n_queries=6, n_features=2, repetitions=3, each=2, values="0.5, 4")
    press(own.form.start)
    wait_until(lambda: own.simulation.state is SimulationState.DONE)
    dataset = window.session.dataset
    assert dataset is not None
    *_, whole = simulate_selection(dataset, 6, 2, convention=window.session.convention, repetitions=3)
    assert own.found is not None and own.found.bias.tolist() == whole.bias.tolist()
    wait_until(lambda: own.form.status.text() == "done")
    assert len(own.deviations.table.rows()) == len(whole.estimators)
    assert set(whole.estimators) <= set(SELECTION)
    assert own.deviations.plot.axes.x_label == "estimated minus true MAP"
    assert own.deviations.caption().startswith("Five · 6 queries, drawn 3 times")
    controller.tabs.setCurrentIndex(0)
    assert lab.deviations.isVisible() and not own.deviations.isVisible()


def test_my_data_varies_lambda_queries_and_features(five_folds: MainWindow) -> None:
    controller = five_folds.sections.lab
    controller.tabs.setCurrentIndex(1)
    own = controller.selection
    assert [key for key, _ in own.form.quantity.options()] == ["regularization", "n_queries", "n_features"]
    press(next(b for b in own.form.quantity.findChildren(QPushButton) if b.text() == "queries"))
    write(own.form, n_queries=6, n_features=2, repetitions=2, each=2, values="4, 7")
    press(own.form.start)
    wait_until(lambda: own.form.status.text() == "done")
    assert own.varied is not None and own.varied.values == (4.0, 7.0)
    settings = {"n_features": 2, "repetitions": 2, "convention": five_folds.session.convention}
    for at, n in enumerate((4, 7)):
        *_, alone = simulate_selection(five_folds.session.dataset, n, **settings)
        assert own.varied.sd[at].tolist() == alone.conditional_sd.tolist()
    bias = own.variation.bias
    bias.flush()
    assert bias.isVisible() and bias.quantity == "training queries"
    assert {curve.key for curve in bias.curves} == {1, 2, 3, 4}
    assert [curve.dash for curve in bias.curves[:2]] == [(), (3.0, 2.0)]
    assert [one.dashes for one in bias.figure().series[:2]] == [(), (3.0, 2.0)]
    assert "training queries varied, 2 training sets for each value" in bias.figure().caption
    assert "Five: greedy RankRLS, k = 2, λ = 2⁰" in bias.figure().caption
    assert "queries" in own.variation.sentence.text() or "twice" in own.variation.sentence.text()


def test_my_data_learns_with_a_kernel(five_folds: MainWindow) -> None:
    controller = five_folds.sections.lab
    controller.tabs.setCurrentIndex(1)
    own = controller.selection
    form = own.form
    assert form.field("n_features").isVisible() and not form.field("gamma").isVisible()
    form.field("kernel").enter("rbf")
    assert not form.field("n_features").isVisible()
    assert form.field("gamma").isVisible() and form.field("per_query").isVisible()
    assert [key for key, _ in form.quantity.options()] == ["regularization", "n_queries", "per_query"]
    form.quantity.select("per_query")
    form.quantity.chosen.emit("per_query")
    write(form, n_queries=6, gamma="0.5", per_query=2, repetitions=2, each=1, values="1, 3")
    press(form.start)
    wait_until(lambda: form.status.text() == "done")
    dataset, convention = five_folds.session.dataset, five_folds.session.convention
    settings = {"kernel": "rbf", "gamma": 0.5, "convention": convention}
    *_, whole = simulate_selection(dataset, 6, per_query=2, repetitions=2, **settings)
    *_, three = simulate_selection(dataset, 6, per_query=3, repetitions=1, **settings)
    assert own.found is not None and own.found.bias.tolist() == whole.bias.tolist()
    assert own.varied is not None and own.varied.bias[1].tolist() == three.bias.tolist()
    assert own.found.estimators == tuple(BASIS)
    labels = [row.label for row in own.deviations.table.rows()]
    assert labels[:2] == ["leave-query-out", "leave-query-out, basis vectors kept"]
    own.deviations.plot.flush()
    assert "Gaussian kernel, γ = 2⁻¹, 2 basis vectors of each query" in own.deviations.plot.caption
    form.field("kernel").enter("linear")
    assert not form.field("gamma").isVisible() and form.field("per_query").isVisible()


def test_a_step_is_short_and_what_is_stopped_leaves_the_worker_free(five_folds: MainWindow) -> None:
    controller = five_folds.sections.lab
    controller.tabs.setCurrentIndex(1)
    own = controller.selection
    write(own.form, n_queries=6, n_features=2, repetitions=100_000)
    press(own.form.start)
    wait_until(lambda: own.found is not None)
    press(own.form.stop)
    assert own.simulation.state is SimulationState.STOPPED
    answered: list[int] = []
    five_folds.models.task_worker.task("asking", lambda: 7, on_done=answered.append)
    wait_until(lambda: answered == [7])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"values": "1000"}, "values: expected at most 8, the features of these data, got 1000."),
        ({"n_queries": 500}, "queries: expected fewer than the 30 queries of these data, got 500."),
        ({"n_features": 9}, "features, k: expected at most 8, the features of these data, got 9."),
        ({"measure": "MAPP"}, "measure: expected one of MAP"),
    ],
)
def test_more_than_the_data_have_is_refused(
    window: MainWindow, lab: AucTab, values: dict[str, object], said: str
) -> None:
    window.sections.lab.tabs.setCurrentIndex(1)
    own = window.sections.lab.selection
    for name, value in values.items():
        if name == "values":
            own.form.quantity.select("n_features")
            own.form.quantity.chosen.emit("n_features")
        if name == "measure":
            own.form.field(name).editor.setCurrentText(str(value))
        else:
            write(own.form, **{name: value})
    press(own.form.start)
    assert own.simulation.state is SimulationState.NEW
    (name,) = values
    assert own.form.field(name).error.text().startswith(said)


def test_folds_that_are_not_everything_are_refused_with_the_reason(window: MainWindow, lab: AucTab) -> None:
    said: list[str] = []
    window.sections.lab.failed.connect(said.append)
    window.sections.lab.tabs.setCurrentIndex(1)
    own = window.sections.lab.selection
    write(own.form, n_queries=6, n_features=2, repetitions=3)
    press(own.form.start)
    wait_until(lambda: said)
    assert own.simulation.state is SimulationState.STOPPED and not own.deviations.table.rows()


def test_the_test_part_of_a_single_fold_stays_sealed(window: MainWindow) -> None:
    dataset = window.session.dataset
    assert dataset is not None
    alone = replace(dataset, folds=dataset.folds[:1])
    parts = alone.folds[0].parts
    window.session.exchange(alone, window.session.plan)
    window.session.seal(True)
    window.commands["page_lab"].trigger()
    window.sections.lab.tabs.setCurrentIndex(1)
    own = window.sections.lab.selection
    write(own.form, n_queries=6, n_features=2, repetitions=1, each=1, values="1")
    press(own.form.start)
    wait_until(lambda: own.simulation.state is SimulationState.DONE)
    values = {"n_queries": 6, "n_features": 2, "repetitions": 1}
    bare = concatenate([part for name, part in parts.items() if name != "test"])
    *_, expected = simulate_selection(bare, **values, convention=window.session.convention)
    *_, open_ = simulate_selection(alone, **values)
    assert own.found is not None
    assert own.found.bias.tolist() == expected.bias.tolist() != open_.bias.tolist()
    assert without_test(dataset) is dataset  # of several folds the test parts are everything


def test_the_guide_opens_where_it_tells_of_the_lab(window: MainWindow, lab: AucTab) -> None:
    window.commands["guide"].trigger()
    assert window.help._heading() == "Lab"
    assert window.help.guide is not None
    window.help.guide.close()


def test_the_window_closes_while_it_simulates(theme: Theme, tmp_path: Path, folds: Path) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        window.commands["page_lab"].trigger()
        lab = window.sections.lab.auc
        write(lab.form, repetitions=100_000)
        press(lab.form.start)
        wait_until(lambda: lab.found is not None)


def test_whatever_is_shown_elsewhere_the_simulation_goes_on(window: MainWindow, lab: AucTab) -> None:
    write(lab.form, n_examples=20, repetitions=1000, each=50, values="20")
    press(lab.form.start)
    window.commands["page_data"].trigger()
    wait_until(lambda: lab.simulation.state is SimulationState.DONE)
    settle(window)
    assert not lab.deviations.table.rows()  # what is not seen is not drawn
    window.commands["page_lab"].trigger()
    wait_until(lambda: len(lab.deviations.table.rows()) == len(ESTIMATORS))
    panel = lab.variation
    window.workspace._pages["lab"].maximise(panel)
    assert not lab.deviations.isVisible()
    wait_until(lambda: panel.bias.height() > 260)
    window.sections.lab.tabs.setCurrentIndex(1)
    window.sections.lab.tabs.setCurrentIndex(0)
    assert lab.deviations.isVisible() and panel.isVisible()
