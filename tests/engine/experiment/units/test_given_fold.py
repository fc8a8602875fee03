"""Scores that were not computed here become a run: what it measures, what is kept of it, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, ended, plan_of_program
from wording import naming

from rankstudio.engine.analysis.measurements.measurement import Measurement
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import DatasetError, PlanError, RankStudioError
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.plan.toml import (
    plan_as_toml,
    plan_from_dict,
    read_toml,
)
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.given_fold import plan_of_given
from rankstudio.engine.methods.catalog import GIVEN_SCORES
from rankstudio.engine.metrics.evaluation import evaluate


def given(place: Path, data: FoldedDataset, name: str = "neural", **plan: str) -> Plan:
    """Return the plan of the scores that stand somewhere."""
    return plan_of_given(GIVEN_SCORES.key, Plan("x", **plan), name, place, data)[0]


def _scores(
    folder: Path, data: FoldedDataset, parts: tuple[str, ...] = ("test",), seed: int = 0
) -> Path:
    """Write random scores, a file for each fold and part."""
    rng = np.random.default_rng(seed)
    for fold in data.folds:
        place = folder / f"Fold{fold.number}"
        place.mkdir(parents=True, exist_ok=True)
        for name in parts:
            np.savetxt(
                place / f"{name}.scores",
                rng.normal(size=fold.parts[name].n_documents),
                fmt="%.17g",
            )
    return folder


def test_each_fold_measures_what_the_files_say(tmp_path: Path) -> None:
    data = dataset()
    place = _scores(tmp_path, data, ("vali", "test"))
    plan, left_out = plan_of_given(GIVEN_SCORES.key, Plan("x"), "neural", place, data)
    result = run_plan(plan, data)
    assert (
        left_out == () and plan.title == "neural (given scores)" and result.sizes == ()
    )
    for fold, found in zip(data.folds, result.folds, strict=True):
        for name, measured in (("vali", found.validation), ("test", found.test)):
            part = fold.parts[name]
            scores = np.loadtxt(place / f"Fold{fold.number}" / f"{name}.scores")
            expected = evaluate(part.y, scores, part.qid, measures=plan.measures)
            assert dict(measured) == pytest.approx(dict(expected), abs=1e-12)
        assert (
            found.selected == ()
            and len(found.paths) == 1
            and len(found.paths[0].steps) == 1
        )


def test_without_validation_scores_only_the_test_part_is_measured(
    tmp_path: Path,
) -> None:
    data = dataset()
    plan = given(_scores(tmp_path, data), data)
    result = run_plan(plan, data)
    assert all(
        not fold.validation and fold.test and fold.baseline.validation
        for fold in result.folds
    )
    again = Remeasurement().run(
        result, data, Measurement("mslr", "NDCG@3", chooses=True)
    )
    for fold, found in zip(data.folds, again.folds, strict=True):
        scores = np.loadtxt(tmp_path / f"Fold{fold.number}" / "test.scores")
        assert fold.test is not None
        expected = evaluate(
            fold.test.y, scores, fold.test.qid, convention="mslr", measures=["NDCG@3"]
        )
        assert found.test["NDCG@3"] == pytest.approx(expected["NDCG@3"], abs=1e-12)
        assert not found.validation


def test_one_file_has_the_test_parts_one_after_the_other(tmp_path: Path) -> None:
    data = dataset()
    place = _scores(tmp_path / "folds", data)
    pieces = [
        (place / f"Fold{fold.number}" / "test.scores").read_text()
        for fold in data.folds
    ]
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(pieces))
    apart = run_plan(given(place, data), data)
    together = run_plan(given(whole, data), data)
    assert apart.average == together.average


def test_a_fold_without_scores_is_left_out(tmp_path: Path) -> None:
    data = dataset()
    place = _scores(tmp_path, data)
    (place / "Fold2" / "test.scores").unlink()
    plan, left_out = plan_of_given(GIVEN_SCORES.key, Plan("x"), "neural", place, data)
    assert left_out == (2,) and plan.folds == (1,)
    assert [fold.fold for fold in run_plan(plan, data).folds] == [1]
    with pytest.raises(PlanError, match="for fold 2"):
        run_plan(plan.changed(folds=(1, 2)), data)


def test_files_that_changed_since_are_refused(tmp_path: Path) -> None:
    data = dataset()
    plan = given(_scores(tmp_path, data), data)
    _scores(tmp_path, data, seed=1)
    with pytest.raises(DatasetError, match=naming("Fold1/test.scores")):
        run_plan(plan, data)


def test_a_study_keeps_the_scores_and_needs_no_file(tmp_path: Path) -> None:
    data = dataset()
    place = _scores(tmp_path / "scores", data, ("vali", "test"))
    plan = given(place, data)
    with Study.create(tmp_path / "s.rankstudio") as study:
        first = ended(run_stored(plan, data, study))
    for path in sorted(place.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    with Study.open(tmp_path / "s.rankstudio") as study:
        second = ended(run_stored(plan, data, study))
    assert second.average == first.average
    for one, other, fold in zip(first.folds, second.folds, data.folds, strict=True):
        assert fold.test is not None
        columns = np.ascontiguousarray(fold.test.X.T)
        assert np.array_equal(
            one.chosen.step.scores(columns), other.chosen.step.scores(columns)
        )
        assert not other.chosen.step.learned and other.chosen.step.can_score(
            fold.test.X
        )
        assert not other.chosen.step.can_score(fold.train.X)
        with pytest.raises(DatasetError, match=naming("scores")):
            other.chosen.step.scores(np.ascontiguousarray(fold.train.X.T))


def test_toml_brings_the_plan_back(tmp_path: Path) -> None:
    data = dataset()
    plan = given(_scores(tmp_path, data), data)
    path = tmp_path / "plan.toml"
    path.write_text(plan_as_toml(plan))
    back = plan_from_dict(read_toml(path))
    assert back == plan and hash(back) == hash(plan)
    files = back.extension(GivenRanking)
    assert files is not None and set(files.files) == {
        "Fold1/test.scores",
        "Fold2/test.scores",
    }


@pytest.mark.parametrize(
    "values",
    [
        {"name": "a"},
        {"name": "", "path": "b"},
        {"name": "a", "path": "b", "x": 1},
        3,
        {"files": 1},
    ],
)
def test_a_plan_says_what_scores_are(values: object) -> None:
    with pytest.raises(PlanError, match="scores: expected a table"):
        Plan("x", "given-scores", scores=values)  # type: ignore[arg-type]


def test_scores_are_of_their_method_alone() -> None:
    with pytest.raises(PlanError, match=naming("scores")):
        Plan("x", scores={"name": "a", "path": "b"})
    with pytest.raises(PlanError, match=naming("scores")):
        run_plan(Plan("x", "given-scores"), dataset())


def test_the_given_order_is_that_of_the_file() -> None:
    data = dataset()
    result = run_plan(Plan("x", "given-order"), data)
    for fold, found in zip(data.folds, result.folds, strict=True):
        assert fold.test is not None
        expected = evaluate(
            fold.test.y,
            -np.arange(fold.test.n_documents),
            fold.test.qid,
            measures=["MAP"],
        )
        assert found.test["MAP"] == pytest.approx(expected["MAP"], abs=1e-12)


def _written(folder: Path) -> FoldedDataset:
    """Write a fold of files whose documents have ids."""
    fold = dataset(1).folds[0]
    folder.mkdir()
    for name, part in fold.parts.items():
        lines = []
        save_letor(part, folder / f"{name}.txt")
        for row, line in enumerate((folder / f"{name}.txt").read_text().splitlines()):
            lines.append(f"{line.split('#')[0].rstrip()} # docid = {name}-{row}\n")
        (folder / f"{name}.txt").write_text("".join(lines))
    return open_dataset(folder)


def test_a_trec_run_is_found_by_ids_in_any_order(tmp_path: Path) -> None:
    data = _written(tmp_path / "data")
    test = data.folds[0].test
    assert test is not None
    rng = np.random.default_rng(3)
    scores = rng.normal(size=test.n_documents)
    rows = rng.permutation(test.n_documents)[2:]  # two were not retrieved
    queries = test.query_index.tolist()
    path = tmp_path / "neural.run"
    path.write_text(
        "".join(
            f"{test.query_ids[queries[row]]} Q0 {test.document_ids[row]} 1 {scores[row].item()!r} t\n"
            for row in rows.tolist()
        )
    )
    result = run_plan(given(path, data), data)
    missed = np.setdiff1d(np.arange(test.n_documents), rows)
    scores[missed] = -np.inf
    expected = evaluate(test.y, scores, test.qid, measures=["MAP", "NDCG@10"])
    assert result.average["MAP"] == pytest.approx(expected["MAP"], abs=1e-12)
    assert result.average["NDCG@10"] == pytest.approx(expected["NDCG@10"], abs=1e-12)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "scores"),
        ({"test.scores": "1\n2\n"}, "2 scores score"),
        ({"test.scores": "1\nx\n"}, "2 score"),
        ({"test.a": "1\n", "test.b": "1\n"}, "test.a test.b 1"),
        ({"test.run": "1 Q0 a 1 0.5 t\n1 Q0 a 2 0.4 t\n"}, "document query"),
        ({"test.run": "q Q0 a 1 0.5 t\n"}, "document"),
        ({"test.run": "q Q0 a 1 0.5 t\nq Q0 b 1\n"}, "TREC"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    data = _written(tmp_path / "data")
    (tmp_path / "s").mkdir()
    for name, text in files.items():
        (tmp_path / "s" / name).write_text(text)
    with pytest.raises(RankStudioError, match=naming(sentence)):
        given(tmp_path / "s", data)


def test_folds_made_anew_need_ids(tmp_path: Path) -> None:
    _written(tmp_path / "data")
    data = open_dataset(tmp_path / "data" / "train.txt")
    divided = parse_protocol("3-fold").divide(data, 0)
    path = tmp_path / "all.scores"
    path.write_text("0.5\n" * data.folds[0].train.n_documents)
    with pytest.raises(DatasetError, match="were created by"):
        given(path, divided, protocol="3-fold")


def test_a_file_of_another_length_is_compared_with_the_first_part_and_its_others(
    tmp_path: Path,
) -> None:
    (tmp_path / "short.txt").write_text("1\n")
    with pytest.raises(DatasetError, match=naming("4 1 documents scores")):
        given(tmp_path / "short.txt", dataset(5))


def test_a_plan_of_scores_is_a_command_and_a_program(tmp_path: Path) -> None:
    data = dataset()
    plan = given(_scores(tmp_path, data), data, "a net", rule="one-se")
    assert as_command(plan) == f"rankstudio run --data x --scores 'a net={tmp_path}'"
    assert plan_of_program(plan) == plan
