"""The study: one source of truth, undone step by step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import CRITERION
from rankstudio.ui.model.session import Choice, Session


def part(n: int = 4) -> RankingDataset:
    rng = np.random.default_rng(1)
    return RankingDataset.from_arrays(rng.random((8, n)), np.arange(8.0) % 3, np.repeat([1, 2], 4))


@pytest.fixture
def study(app: QApplication) -> Iterator[Session]:
    made = Session()
    made.open(
        FoldedDataset("Small", None, (Fold(1, part(), part(), part()), Fold(2, part(), part()))), "small"
    )
    yield made
    made.deleteLater()


def heard(study: Session) -> list[str]:
    told: list[str] = []
    for name in ("dataset", "plan", "choice", "fold", "measure"):
        getattr(study, f"{name}Changed").connect(lambda name=name: told.append(name))
    return told


def test_pins_and_bans_exclude_each_other(study: Session) -> None:
    study.toggle("pinned", 3)
    study.toggle("banned", 3)
    assert (study.plan.parameters["pinned"], study.plan.parameters["banned"]) == ((), (3,))
    study.toggle("pinned", 3)
    assert (study.plan.parameters["pinned"], study.plan.parameters["banned"]) == ((3,), ())
    assert [study.undo.text(i) for i in range(3)] == [
        "pinning feature 3",
        "banning feature 3",
        "pinning feature 3",
    ]
    study.undo.undo()
    study.undo.undo()
    assert (study.plan.parameters["pinned"], study.plan.parameters["banned"]) == ((3,), ())


def test_a_change_that_is_none_tells_nobody(study: Session) -> None:
    told = heard(study)
    study.change("editing", method=study.plan.method, parameters=study.plan.parameters)
    study.choose(None, None)
    study.look_at(study.fold)
    study.show_measure(study.measure)
    assert told == []
    assert not study.undo.canUndo()


def test_an_impossible_change_changes_nothing(study: Session) -> None:
    before, told = study.plan, heard(study)
    with pytest.raises(ParameterError):
        study.change("editing", method="greedy-rankrls", parameters={"regularization": (-1.0,)})
    assert study.plan == before
    assert told == []
    assert not study.undo.canUndo()


def test_only_moves_of_the_slider_are_undone_together(study: Session) -> None:
    study.choose((1.0,), 2)
    for value in (2.0, 3.0, 4.0):
        study.choose((value,), 2, gliding=True)
    study.choose((4.0,), 3)
    undone = []
    while study.undo.canUndo():
        study.undo.undo()
        undone.append(study.choice)
    assert undone == [Choice((4.0,), 2), Choice((1.0,), 2), Choice()]


def test_another_method_forgets_the_choice_and_undo_brings_it_back(study: Session) -> None:
    study.choose((4.0,), 2)
    study.change("editing", method="rankrls", parameters={})
    assert study.choice == Choice()
    study.undo.undo()
    assert (study.plan.method, study.choice) == ("greedy-rankrls", Choice((4.0,), 2))


def test_other_data_keep_the_method_and_drop_what_belonged_to_the_old_ones(study: Session) -> None:
    study.change("editing", method="greedy-rankrls", parameters={"regularization": (3.0,), "pinned": (2,)})
    study.look_at(2)
    study.open(FoldedDataset("Other", None, (Fold(7, part()),), convention="mslr"), "/data/other.txt")
    assert study.plan.data == "/data/other.txt"
    assert study.plan.parameters["regularization"] == (3.0,)
    assert study.plan.parameters["pinned"] == ()
    assert (study.plan.convention, study.fold) == ("mslr", 7)
    assert study.plan.select_by == CRITERION  # there is no validation part
    assert not study.undo.canUndo()


def test_a_measure_that_is_no_longer_reported_is_no_longer_shown(study: Session) -> None:
    study.show_measure("NDCG@10")
    study.change("measures", measures=("P@5", "MAP"))
    assert study.measure == "P@5"


def test_another_ranker_forgets_the_choice_and_moves_the_sliders_grid(study: Session) -> None:
    assert study.axis is not None
    assert study.axis.label == "λ"
    study.choose((4.0,), 2)
    study.change(
        "editing", method="gas", parameters={}, ranker="ranksvm", ranker_parameters={"C": (1.0, 2.0)}
    )
    assert study.choice == Choice()
    assert study.axis is not None
    assert (study.axis.label, study.axis.values) == ("RankSVM C", (1.0, 2.0))
    study.choose((2.0,), 3)
    study.change("editing", ranker="rankrls", ranker_parameters={})
    assert study.choice == Choice()
    study.change("editing", method="rankboost", parameters={}, ranker="", ranker_parameters={})
    assert study.axis is None


def test_other_data_keep_the_ranker(study: Session) -> None:
    study.change("editing", method="gas", parameters={}, ranker="ranksvm", ranker_parameters={"C": 2.0})
    study.open(FoldedDataset("Other", None, (Fold(7, part()),)), "/data/other.txt")
    assert (study.plan.ranker, study.plan.ranker_parameters["C"]) == ("ranksvm", (2.0,))
