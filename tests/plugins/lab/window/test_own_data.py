"""The Lab page in the real window: estimators on training sets drawn from the data that are open."""

from __future__ import annotations

import csv
import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hands import fill_in, press, simulate
from PySide6.QtWidgets import QPushButton
from waiting import wait_until
from windows import settle, write_item
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.splitting.splits import concatenate
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection
from rankstudio.plugins.lab.simulation.simulation import without_test
from rankstudio.plugins.lab.window.controller import AucTab, SelectionTab
from rankstudio.plugins.lab.window.estimators import BASIS, SELECTION
from rankstudio.ui.background.simulation import SimulationState
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow


@pytest.mark.thorough
def test_what_was_simulated_is_exported_as_what_does_it_again(
    five_folds: MainWindow,
    own: SelectionTab,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    window = five_folds
    items = {item.key: item for item in export_items(window.models, window.sections)}
    assert items["lab-code.sh"].unavailable == "No simulation yet."
    simulate(
        own.form, n_queries=6, n_features=2, repetitions=2, each=1, values="0.5, 4"
    )
    items = {item.key: item for item in export_items(window.models, window.sections)}
    plots = ("plot-lab-selection", "plot-lab-selection-bias", "plot-lab-selection-sd")
    for key in ("lab-deviations", *plots, "lab-code.sh", "lab-code.py"):
        assert not items[key].unavailable
        for _, suffix in items[key].formats:
            write_item(items[key], tmp_path / f"{key}{suffix}")
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
    assert [float(row[1]) for row in rows[1:]] == [
        e["bias"] for e in shown["estimators"].values()
    ]
    assert rows[2][0] == "leave-query-out, selected once"
    window.commands["page_data"].trigger()
    settle(window)
    assert "lab-code.sh" not in {
        item.key for item in export_items(window.models, window.sections)
    }


def test_my_data_draws_queries_of_what_is_open(
    five_folds: MainWindow, own: SelectionTab
) -> None:
    window, lab = five_folds, five_folds.sections.contributed.controllers["lab"].auc
    assert own.deviations.isVisible() and not lab.deviations.isVisible()
    fill_in(own.form, n_queries=6, n_features=2, repetitions=3, each=2, values="0.5, 4")
    press(own.form.start)
    wait_until(lambda: own.simulation.state is SimulationState.DONE)
    dataset = window.session.dataset
    assert dataset is not None
    *_, whole = simulate_selection(
        dataset, 6, 2, convention=window.session.convention, repetitions=3
    )
    assert own.summary is not None and own.summary.bias.tolist() == whole.bias.tolist()
    wait_until(lambda: own.form.status.text() == "done")
    assert len(own.deviations.table.rows()) == len(whole.estimators)
    assert set(whole.estimators) <= set(SELECTION)
    assert own.deviations.plot.axes.x_label == "estimated minus true MAP"
    assert own.deviations.caption().startswith("Five · 6 queries, drawn 3 times")
    window.sections.contributed.controllers["lab"].tabs.select("auc")
    assert lab.deviations.isVisible() and not own.deviations.isVisible()


def test_my_data_varies_lambda_queries_and_features(
    five_folds: MainWindow, own: SelectionTab
) -> None:
    assert [key for key, _ in own.form.quantity.options()] == [
        "regularization",
        "n_queries",
        "n_features",
    ]
    press(
        next(
            b
            for b in own.form.quantity.findChildren(QPushButton)
            if b.text() == "queries"
        )
    )
    simulate(own.form, n_queries=6, n_features=2, repetitions=2, each=2, values="4, 7")
    assert own.varied is not None and own.varied.values == (4.0, 7.0)
    settings = {
        "n_features": 2,
        "repetitions": 2,
        "convention": five_folds.session.convention,
    }
    for at, n in enumerate((4, 7)):
        *_, alone = simulate_selection(five_folds.session.dataset, n, **settings)
        assert own.varied.sd[at].tolist() == alone.conditional_sd.tolist()
    bias = own.variation.bias
    bias.flush()
    assert bias.isVisible() and bias.quantity == "training queries"
    assert {curve.key for curve in bias.curves} == {1, 2, 3, 4}
    assert [curve.dash for curve in bias.curves[:2]] == [(), (3.0, 2.0)]
    assert [one.dashes for one in bias.figure().series[:2]] == [(), (3.0, 2.0)]
    assert naming("2 training queries").search(bias.figure().caption)
    assert "Five: greedy RankRLS, k = 2, λ = 2⁰" in bias.figure().caption
    assert (
        "queries" in own.variation.sentence.text()
        or "twice" in own.variation.sentence.text()
    )


def test_my_data_learns_with_a_kernel(
    five_folds: MainWindow, own: SelectionTab
) -> None:
    form = own.form
    assert form.field("n_features").isVisible() and not form.field("gamma").isVisible()
    form.field("kernel").enter("rbf")
    assert not form.field("n_features").isVisible()
    assert form.field("gamma").isVisible() and form.field("per_query").isVisible()
    assert [key for key, _ in form.quantity.options()] == [
        "regularization",
        "n_queries",
        "per_query",
    ]
    form.quantity.select("per_query")
    form.quantity.chosen.emit("per_query")
    simulate(
        form,
        n_queries=6,
        gamma="0.5",
        per_query=2,
        repetitions=2,
        each=1,
        values="1, 3",
    )
    dataset, convention = five_folds.session.dataset, five_folds.session.convention
    settings = {"kernel": "rbf", "gamma": 0.5, "convention": convention}
    *_, whole = simulate_selection(dataset, 6, per_query=2, repetitions=2, **settings)
    *_, three = simulate_selection(dataset, 6, per_query=3, repetitions=1, **settings)
    assert own.summary is not None and own.summary.bias.tolist() == whole.bias.tolist()
    assert own.varied is not None and own.varied.bias[1].tolist() == three.bias.tolist()
    assert own.summary.estimators == tuple(BASIS)
    labels = [row.label for row in own.deviations.table.rows()]
    assert labels[:2] == ["leave-query-out", "leave-query-out, basis vectors kept"]
    own.deviations.plot.flush()
    assert naming("= 2⁻¹").search(own.deviations.plot.caption)
    form.field("kernel").enter("linear")
    assert not form.field("gamma").isVisible() and form.field("per_query").isVisible()


def test_a_step_is_short_and_what_is_stopped_leaves_the_worker_free(
    five_folds: MainWindow, own: SelectionTab
) -> None:
    fill_in(own.form, n_queries=6, n_features=2, repetitions=100_000)
    press(own.form.start)
    wait_until(lambda: own.summary is not None)
    press(own.form.stop)
    assert own.simulation.state is SimulationState.STOPPED
    answered: list[int] = []
    five_folds.models.task_worker.task("asking", lambda: 7, on_done=answered.append)
    wait_until(lambda: answered == [7])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"values": "1000"},
            "values: expected at most 8, the number of features in these data, got 1000.",
        ),
        (
            {"n_queries": 500},
            "queries: expected fewer than the 30 queries of these data, got 500.",
        ),
        (
            {"n_features": 9},
            "features, k: expected at most 8, the number of features in these data, got 9.",
        ),
        (
            {"measure": "MAPP"},
            "measure: expected the name of a measure, got 'MAPP'. Did you mean MAP?",
        ),
    ],
)
def test_more_than_the_data_have_is_refused(
    window: MainWindow, lab: AucTab, values: dict[str, object], said: str
) -> None:
    window.sections.contributed.controllers["lab"].tabs.select("selection")
    own = window.sections.contributed.controllers["lab"].selection
    for name, value in values.items():
        if name == "values":
            own.form.quantity.select("n_features")
            own.form.quantity.chosen.emit("n_features")
        if name == "measure":
            own.form.field(name).editor.setCurrentText(str(value))
        else:
            fill_in(own.form, **{name: value})
    press(own.form.start)
    assert own.simulation.state is SimulationState.NEW
    (name,) = values
    assert own.form.field(name).error.text().startswith(said)


def test_folds_that_are_not_everything_are_refused_with_the_reason(
    window: MainWindow, lab: AucTab
) -> None:
    said: list[str] = []
    window.sections.contributed.controllers["lab"].failed.connect(said.append)
    window.sections.contributed.controllers["lab"].tabs.select("selection")
    own = window.sections.contributed.controllers["lab"].selection
    fill_in(own.form, n_queries=6, n_features=2, repetitions=3)
    press(own.form.start)
    wait_until(lambda: said)
    assert (
        own.simulation.state is SimulationState.STOPPED
        and not own.deviations.table.rows()
    )


def test_the_test_part_of_a_single_fold_stays_sealed(window: MainWindow) -> None:
    dataset = window.session.dataset
    assert dataset is not None
    alone = replace(dataset, folds=dataset.folds[:1])
    parts = alone.folds[0].parts
    window.session.exchange(alone, window.session.plan)
    window.session.seal(True)
    window.commands["page_lab"].trigger()
    window.sections.contributed.controllers["lab"].tabs.select("selection")
    own = window.sections.contributed.controllers["lab"].selection
    fill_in(own.form, n_queries=6, n_features=2, repetitions=1, each=1, values="1")
    press(own.form.start)
    wait_until(lambda: own.simulation.state is SimulationState.DONE)
    values = {"n_queries": 6, "n_features": 2, "repetitions": 1}
    bare = concatenate([part for name, part in parts.items() if name != "test"])
    *_, expected = simulate_selection(
        bare, **values, convention=window.session.convention
    )
    *_, open_ = simulate_selection(alone, **values)
    assert own.summary is not None
    assert own.summary.bias.tolist() == expected.bias.tolist() != open_.bias.tolist()
    # of several folds the test parts are everything
    assert without_test(dataset) is dataset
