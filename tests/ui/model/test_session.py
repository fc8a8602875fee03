"""The study: one source of truth, undone step by step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.plan import CRITERION
from rankstudio.ui.model.selected_model import Shown
from rankstudio.ui.model.session import Choice, Session


def part(n: int = 4) -> RankingDataset:
    rng = np.random.default_rng(1)
    return RankingDataset.from_arrays(
        rng.random((8, n)), np.arange(8.0) % 3, np.repeat([1, 2], 4)
    )


@pytest.fixture
def session(app: QApplication) -> Iterator[Session]:
    made = Session()
    made.open(
        FoldedDataset(
            "Small", None, (Fold(1, part(), part(), part()), Fold(2, part(), part()))
        ),
        "small",
    )
    yield made
    made.deleteLater()


def heard(session: Session) -> list[str]:
    told: list[str] = []
    for name in ("dataset", "plan", "choice", "fold", "measure"):
        getattr(session, f"{name}Changed").connect(lambda name=name: told.append(name))
    return told


def test_pins_and_bans_exclude_each_other(session: Session) -> None:
    session.toggle("pinned", 3)
    session.toggle("banned", 3)
    assert (session.plan.parameters["pinned"], session.plan.parameters["banned"]) == (
        (),
        (3,),
    )
    session.toggle("pinned", 3)
    assert (session.plan.parameters["pinned"], session.plan.parameters["banned"]) == (
        (3,),
        (),
    )
    assert [session.undo.text(i) for i in range(3)] == [
        "pinning feature 3",
        "banning feature 3",
        "pinning feature 3",
    ]
    session.undo.undo()
    session.undo.undo()
    assert (session.plan.parameters["pinned"], session.plan.parameters["banned"]) == (
        (3,),
        (),
    )


def test_a_change_that_is_none_tells_nobody(session: Session) -> None:
    told = heard(session)
    session.change(
        "editing", method=session.plan.method, parameters=session.plan.parameters
    )
    session.select(None, None)
    session.show_fold(session.fold)
    session.show_measure(session.measure)
    assert told == []
    assert not session.undo.canUndo()


def test_an_impossible_change_changes_nothing(session: Session) -> None:
    before, told = session.plan, heard(session)
    with pytest.raises(ParameterError):
        session.change(
            "editing", method="greedy-rankrls", parameters={"regularization": (-1.0,)}
        )
    assert session.plan == before
    assert told == []
    assert not session.undo.canUndo()


def test_only_moves_of_the_slider_are_undone_together(session: Session) -> None:
    session.select((1.0,), 2)
    for value in (2.0, 3.0, 4.0):
        session.select((value,), 2, gliding=True)
    session.select((4.0,), 3)
    undone = []
    while session.undo.canUndo():
        session.undo.undo()
        undone.append(session.choice)
    assert undone == [Choice((4.0,), 2), Choice((1.0,), 2), Choice()]


def test_another_method_forgets_the_choice_and_undo_brings_it_back(
    session: Session,
) -> None:
    session.select((4.0,), 2)
    session.change("editing", method="rankrls", parameters={})
    assert session.choice == Choice()
    session.undo.undo()
    assert (session.plan.method, session.choice) == (
        "greedy-rankrls",
        Choice((4.0,), 2),
    )


def test_other_data_keep_the_method_and_drop_what_belonged_to_the_old_ones(
    session: Session,
) -> None:
    session.change(
        "editing",
        method="greedy-rankrls",
        parameters={"regularization": (3.0,), "pinned": (2,)},
    )
    session.show_fold(2)
    session.open(
        FoldedDataset("Other", None, (Fold(7, part()),), convention="mslr"),
        "/data/other.txt",
    )
    assert session.plan.data == "/data/other.txt"
    assert session.plan.parameters["regularization"] == (3.0,)
    assert session.plan.parameters["pinned"] == ()
    assert (session.plan.convention, session.fold) == ("mslr", 7)
    assert session.plan.select_by == CRITERION  # there is no validation part
    assert not session.undo.canUndo()


def test_a_measure_that_is_no_longer_reported_is_no_longer_shown(
    session: Session,
) -> None:
    session.show_measure("NDCG@10")
    session.change("measures", measures=("P@5", "MAP"))
    assert session.measure == "P@5"


def slider_axis(session: Session) -> Axis | None:
    """Return what the slider moves while no run is shown."""
    return Shown(session.dataset, None, session.plan, session.shown_fold).axis


def test_another_ranker_forgets_the_choice_and_moves_the_sliders_grid(
    session: Session,
) -> None:
    axis = slider_axis(session)
    assert axis is not None and axis.label == "λ"
    session.select((4.0,), 2)
    session.change(
        "editing",
        method="gas",
        parameters={},
        ranker="ranksvm",
        ranker_parameters={"C": (1.0, 2.0)},
    )
    assert session.choice == Choice()
    axis = slider_axis(session)
    assert axis is not None and (axis.label, axis.values) == ("RankSVM C", (1.0, 2.0))
    session.select((2.0,), 3)
    session.change("editing", ranker="rankrls", ranker_parameters={})
    assert session.choice == Choice()
    session.change(
        "editing", method="rankboost", parameters={}, ranker="", ranker_parameters={}
    )
    assert slider_axis(session) is None


def test_other_data_keep_the_ranker(session: Session) -> None:
    session.change(
        "editing",
        method="gas",
        parameters={},
        ranker="ranksvm",
        ranker_parameters={"C": 2.0},
    )
    session.open(FoldedDataset("Other", None, (Fold(7, part()),)), "/data/other.txt")
    assert (session.plan.ranker, session.plan.ranker_parameters["C"]) == (
        "ranksvm",
        (2.0,),
    )


def test_a_convention_that_is_let_go_of_is_told(session: Session) -> None:
    told: list[str] = []
    session.measureChanged.connect(lambda: told.append(session.convention))
    session.measure_by_convention("trec_eval")
    assert told == ["trec_eval"]
    session.open(FoldedDataset("Other", None, (Fold(1, part()),)), "other")
    assert session.convention != "trec_eval"
    # other runs are measured otherwise now
    assert told == ["trec_eval", session.convention]
    session.measure_by_convention("trec_eval")
    session.go_back_to(session.plan.changed(convention="trec_eval"), "to a run")
    # From now on each run is measured by its own convention.
    assert (
        session.measurement(session.plan.changed(convention="letor4")).convention
        == "letor4"
    )
    assert told[2:] == ["trec_eval", "trec_eval"]
