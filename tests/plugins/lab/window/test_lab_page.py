"""The Lab page in the real window: a simulation started, seen growing, paused, stopped, and exported."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from hands import fill_in, press, simulate
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import settle
from wording import naming

from rankstudio.plugins.lab.simulation.auc_simulation import ESTIMATORS, simulate_auc
from rankstudio.plugins.lab.window.controller import AucTab
from rankstudio.ui.background.simulation import SimulationState
from rankstudio.ui.export.items import export_items, plot_figures
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots import plot_writer


def test_a_simulation_grows_and_ends(window: MainWindow, lab: AucTab) -> None:
    assert lab.deviations.plot.is_empty()
    assert not lab.form.pause.isEnabled() and not lab.form.stop.isEnabled()
    fill_in(lab.form, n_examples=20, repetitions=1000, each=100, values="10, 20")
    press(lab.form.start)
    seen: list[int] = []
    lab.simulation.grew.connect(lambda done: seen.append(done.summary.done))
    wait_until(lambda: lab.form.status.text() == "done")
    assert seen[:4] == [250, 500, 750, 1000]
    *_, whole = simulate_auc(20, repetitions=1000)
    rows = lab.deviations.table.rows()
    assert [row.bias for row in rows] == whole.bias.tolist()
    assert [row.sd for row in rows] == whole.conditional_sd.tolist()
    assert lab.deviations.sentence.text().startswith("Leave-one-out, pooled is 0.0")
    plot = lab.deviations.plot
    plot.flush()
    assert plot.summary().startswith("leave-pair-out mean ") and plot.summary().count(
        "sd"
    ) == len(ESTIMATORS)
    assert np.allclose([row.shares.sum() for row in plot.rows], 1.0)
    assert lab.varied is not None and lab.varied.values == (10.0, 20.0)
    assert "with 10 examples" in lab.variation.sentence.text()


def test_pause_holds_it_and_going_on_ends_with_the_same_numbers(
    window: MainWindow, lab: AucTab
) -> None:
    fill_in(lab.form, n_examples=20, repetitions=1000, each=50, values="10, 20")
    lab.simulation.grew.connect(
        lambda done: done.summary.done == 500 and press(lab.form.pause)
    )
    press(lab.form.start)
    wait_until(lambda: lab.simulation.state is SimulationState.PAUSED)
    settle(window)
    wait_until(lambda: lab.form.status.text().startswith("paused"))
    assert lab.summary is not None and lab.summary.done == 500
    assert lab.form.pause.isEnabled() and not window.models.task_worker.jobs
    press(lab.form.pause)
    wait_until(lambda: lab.simulation.state is SimulationState.DONE)
    *_, whole = simulate_auc(20, repetitions=1000)
    assert lab.summary.bias.tolist() == whole.bias.tolist()


def test_stop_keeps_what_was_found_and_start_begins_again(
    window: MainWindow, lab: AucTab
) -> None:
    fill_in(lab.form, repetitions=100_000)
    press(lab.form.start)
    wait_until(lambda: lab.summary is not None)
    press(lab.form.stop)
    assert lab.simulation.state is SimulationState.STOPPED
    assert lab.summary is not None
    done = lab.summary.done
    settle(window)
    assert lab.summary.done == done
    wait_until(lambda: lab.form.status.text().startswith("stopped"))
    window.commands["page_select"].trigger()
    window.commands["page_lab"].trigger()
    wait_until(lambda: bool(lab.deviations.table.rows()))
    fill_in(lab.form, repetitions=250, n_examples=10, each=10, values="10")
    press(lab.form.start)
    assert lab.summary is None
    wait_until(lambda: lab.simulation.state is SimulationState.DONE)
    assert lab.summary is not None and lab.summary.n_repetitions == 250


def test_a_run_gets_its_turn_while_it_simulates(
    window: MainWindow, lab: AucTab
) -> None:
    fill_in(lab.form, repetitions=100_000)
    press(lab.form.start)
    answered: list[int] = []
    window.models.task_worker.task("asking", lambda: 7, on_done=answered.append)
    wait_until(lambda: answered == [7])
    assert lab.simulation.state is SimulationState.RUNNING
    press(lab.form.stop)


def test_wrong_values_are_refused_below_their_fields(lab: AucTab) -> None:
    for name, typed, said in (
        ("n_examples", "3", "examples: expected a whole number from 4 to 2000, got "),
        ("n_examples", "10, 20", "examples: expected a whole number"),
        ("positive", "1", "positives: expected a number from 0.01 to 0.99, got "),
        ("regularization", "0", "λ: expected a number greater than 0"),
        ("values", "2, 10", "values: expected numbers from 4 to 2000"),
        ("values", "10.5", "values: expected whole numbers"),
    ):
        field = lab.form.field(name)
        before = field.editor.text()
        fill_in(lab.form, **{name: typed})
        press(lab.form.start)
        assert lab.simulation.state is SimulationState.NEW
        assert field.error.text().startswith(said)
        assert field.error.isVisible()
        fill_in(lab.form, **{name: before})
        assert not field.error.isVisible()
    fill_in(lab.form, n_features=5, n_informative=6)
    press(lab.form.start)
    assert lab.simulation.state is SimulationState.NEW
    assert "from 0 to 5" in lab.form.field("n_informative").error.text()


def test_plots_and_table_are_exported_like_any(
    window: MainWindow, lab: AucTab, tmp_path: Path
) -> None:
    simulate(lab.form, n_examples=20, repetitions=500, each=50, values="20, 30")
    items = {item.key: item for item in export_items(window.models, window.sections)}
    for key in ("lab-deviations", "plot-lab-auc", "plot-lab-bias", "plot-lab-sd"):
        assert not items[key].unavailable
    (figure,) = (
        f
        for p, f in plot_figures(window.models, window.sections)
        if p is lab.deviations.plot
    )
    assert figure.name == "lab-auc" and naming("20 examples").search(figure.caption)
    assert naming("500 RankStudio").search(figure.caption)
    assert "greedy" not in figure.caption.lower()
    path = tmp_path / "deviations.csv"
    plot_writer(lab.deviations.plot, path)()
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0][:2] == ["estimator", "mean ± sd"]
    assert lab.summary is not None
    assert [float(row[1]) for row in rows[1:]] == lab.summary.bias.tolist()
    for suffix in ("svg", "pdf", "png"):
        plot_writer(lab.variation.bias, tmp_path / f"bias.{suffix}")()
    plot_writer(lab.variation.sd, tmp_path / "sd.csv")()
    with (tmp_path / "sd.csv").open(encoding="utf-8", newline="") as lines:
        points = list(csv.reader(lines))[1:]
    assert lab.varied is not None
    assert [float(row[2]) for row in points] == lab.varied.sd.T.ravel().tolist()
    for plot in (lab.deviations.plot, lab.variation.bias, lab.variation.sd):
        plot.flush()
        assert plot.accessibleDescription() == plot.summary() != ""
        assert plot.numbers()[1]


def test_rows_and_points_are_read_by_keyboard(lab: AucTab) -> None:
    simulate(lab.form, n_examples=20, repetitions=250, each=50, values="10, 20")
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
    assert [line.text for line in bias.readout(bias.chosen)][:2] == [
        "leave-one-out, pooled",
        "examples = 20",
    ]


def test_the_guide_opens_where_it_tells_of_the_lab(
    window: MainWindow, lab: AucTab
) -> None:
    window.commands["guide"].trigger()
    assert window.help._address_of_focus() == "estimates.md#the-estimates-page"
    assert window.help.guide is not None
    window.help.guide.close()


def test_the_window_closes_while_it_simulates(window: MainWindow) -> None:
    window.commands["page_lab"].trigger()
    lab = window.sections.contributed.controllers["lab"].auc
    fill_in(lab.form, repetitions=100_000)
    press(lab.form.start)
    wait_until(lambda: lab.summary is not None)


def test_whatever_is_shown_elsewhere_the_simulation_goes_on(
    window: MainWindow, lab: AucTab
) -> None:
    fill_in(lab.form, n_examples=20, repetitions=1000, each=50, values="20")
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
    window.sections.contributed.controllers["lab"].tabs.select("selection")
    window.sections.contributed.controllers["lab"].tabs.select("auc")
    assert lab.deviations.isVisible() and panel.isVisible()
