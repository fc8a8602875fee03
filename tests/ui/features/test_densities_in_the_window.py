"""The densities that expected divergence compared, in the real window."""

from __future__ import annotations

import pytest
from waiting import wait_until
from windows import finish, settle

from rankstudio.ui.main_window import MainWindow

LISTS = {"parameters": {}, "ranker": "", "ranker_parameters": {}}


def run_method(window: MainWindow, method: str) -> None:
    window.session.change("editing", **{**LISTS, "method": method})
    finish(window)
    window.session.look_at(1)
    window.workspace.show_page("features")
    wait_until(lambda: not window.refresh_timer.is_active)  # the run brings a feature of its own
    settle(window)


def ways(window: MainWindow) -> list[str]:
    return [text for _, text in window.sections.why.panel.switch.options()]


def show_densities(window: MainWindow) -> None:
    wait_until(lambda: "densities" in ways(window))
    switch = window.sections.why.panel.switch
    next(button for button in switch._buttons() if button.text() == "densities").click()


def test_two_features_stand_side_by_side_with_their_divergence(window: MainWindow) -> None:
    run_method(window, "expected-divergence")
    show_densities(window)
    view, model = window.sections.why.panel.densities, window.current.model
    assert model is not None
    assert view.isVisible()
    assert not window.sections.why.panel.plot.isVisible()
    order, names = model.path.steps[-1].selected, window.session.dataset.feature_names
    ids = window.session.dataset.feature_ids
    window.sections.features.inspect(int(ids[order[0]]))
    wait_until(lambda: view.name.text() == names[order[0]] and not view.plots[0].is_empty())
    assert view.choice.currentText() == f"{names[order[1]]} (next)"
    lines = view.sentence.text().split("\n")
    scores = model.path.steps[0].candidates
    for place, (line, plot) in enumerate(zip(lines, view.plots, strict=True)):
        shown = float(plot.axes.title.removeprefix("d = "))
        alone = float(line.split(": ")[1].split(" alone")[0])
        assert alone + shown == pytest.approx(float(scores[order[place]]), abs=2e-4)
        assert line.startswith(names[order[place]])
        assert line.endswith(f"number {place + 1}")
        assert len(plot.densities) == 3


def test_another_feature_can_be_put_beside(window: MainWindow) -> None:
    run_method(window, "expected-divergence")
    show_densities(window)
    view, model = window.sections.why.panel.densities, window.current.model
    assert model is not None
    order, names = model.path.steps[-1].selected, window.session.dataset.feature_names
    wait_until(lambda: view.choice.count() == len(order) + 1)
    view.choice.setCurrentIndex(view.choice.findData(order[3]))
    view.choice.activated.emit(view.choice.currentIndex())
    wait_until(lambda: names[order[3]] in view.plots[1].accessibleName())
    window.session.select(model.values, 2)  # another model of the path keeps what was chosen
    settle(window)
    assert view.choice.currentData() == order[3]


def test_other_methods_have_no_such_view(window: MainWindow) -> None:
    run_method(window, "expected-divergence")
    show_densities(window)
    run_method(window, "gas")
    wait_until(lambda: ways(window) == ["scores", "ranks"])
    assert window.sections.why.panel.plot.isVisible()
    assert not window.sections.why.panel.densities.isVisible()
