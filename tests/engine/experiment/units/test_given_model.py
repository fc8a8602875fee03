"""A model of a file as a run: it measures what it measured where it was learned, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import assert_same, dataset, ended, plan_of_program, quick
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DataError, DatasetError, PlanError
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.plan.toml import (
    plan_as_toml,
    plan_from_dict,
    read_toml,
)
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.experiment.reports import MODELS, chosen_model, write_results
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.given_fold import plan_of_given
from rankstudio.engine.export.models import load_model, save_model
from rankstudio.engine.methods.catalog import GIVEN_MODEL, method
from rankstudio.engine.metrics.evaluation import evaluate


def _learned(
    folder: Path, key: str = "greedy-rankrls", folds: int = 2
) -> tuple[FoldedDataset, RunResult]:
    """Run a method, and write its results."""
    data = dataset(folds)
    result = run_plan(Plan("small", key, quick(method(key))), data)
    write_results(result, folder)
    return data, result


def given(
    place: Path, data: FoldedDataset, base: Plan | None = None, name: str = "former"
) -> Plan:
    """Return the plan of the models that stand somewhere."""
    return plan_of_given(GIVEN_MODEL.key, base or Plan("small"), name, place, data)[0]


def _given(place: Path, data: FoldedDataset, base: Plan | None = None) -> RunResult:
    return run_plan(given(place, data, base), data)


@pytest.mark.parametrize(
    "key", ["greedy-rankrls", "rankboost", "lambdamart", "kernel-rankrls"]
)
def test_each_fold_has_its_own_model_and_its_numbers(tmp_path: Path, key: str) -> None:
    data, learned = _learned(tmp_path, key)
    result = _given(tmp_path / MODELS, data)
    assert (
        result.plan.title == "former (model)"
        and result.sizes == learned.sizes
        and not result.notes
    )
    for fold, there, was in zip(data.folds, result.folds, learned.folds, strict=True):
        assert there.selected == was.selected
        assert dict(there.test) == pytest.approx(dict(was.test), abs=1e-12)
        assert dict(there.validation) == pytest.approx(dict(was.validation), abs=1e-12)
        assert fold.test is not None
        columns = np.ascontiguousarray(fold.test.X.T)
        scores = there.chosen.step.scores(columns)
        assert scores == pytest.approx(was.chosen.step.scores(columns), abs=1e-9)


def test_the_folder_of_a_run_stands_for_its_models(tmp_path: Path) -> None:
    data, learned = _learned(tmp_path)
    assert _given(tmp_path, data).average == pytest.approx(learned.average, abs=1e-12)


def test_one_file_ranks_in_all_folds_and_says_what_it_knows(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    data = replace(
        data, folds=(data.folds[0], replace(data.folds[1], test=data.folds[0].vali))
    )
    result = _given(tmp_path / MODELS / "fold1.json", data)
    model = load_model(tmp_path / MODELS / "fold1.json")
    for fold, found in zip(data.folds, result.folds, strict=True):
        assert fold.test is not None
        expected = evaluate(
            fold.test.y, model.predict(fold.test.X), fold.test.qid, measures=["MAP"]
        )
        assert found.test["MAP"] == pytest.approx(expected["MAP"], abs=1e-12)
    (note,) = result.notes
    assert naming("12 24").search(note.what) and "(fold 2)" in note.what


def test_a_model_of_all_documents_knows_them_all(tmp_path: Path) -> None:
    data = dataset(1)
    train = data.folds[0].train
    data = replace(data, folds=(replace(data.folds[0], vali=None, test=None),))
    divided = Plan("small", "rankrls", quick(method("rankrls")), protocol="3-fold")
    result = run_plan(divided, data)
    folds = parse_protocol("3-fold").divide(data, 0)
    save_model(tmp_path / "all.json", refit(result, folds))
    (note,) = _given(
        tmp_path / "all.json", folds, Plan("small", protocol="3-fold")
    ).notes
    assert f"{train.n_queries} of the {train.n_queries} queries" in note.what
    save_model(tmp_path / "fold1.json", chosen_model(result, result.folds[0]))
    other = parse_protocol("4-fold").divide(data, 0)
    (note,) = _given(
        tmp_path / "fold1.json", other, Plan("small", protocol="4-fold")
    ).notes
    assert naming("folds").search(note.what)
    elsewhere = replace(other, name="Another")
    assert not _given(
        tmp_path / "fold1.json", elsewhere, Plan("x", protocol="4-fold")
    ).notes


def test_a_fold_without_a_model_is_left_out(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    (tmp_path / MODELS / "fold2.json").unlink()
    plan, left_out = plan_of_given(
        GIVEN_MODEL.key, Plan("small"), "former", tmp_path, data
    )
    assert left_out == (2,) and plan.folds == (1,)
    with pytest.raises(PlanError, match=naming("2 fold")):
        run_plan(plan.changed(folds=(1, 2)), data)


def test_a_study_and_a_plan_bring_it_back(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path, "lambdamart")
    plan = given(tmp_path / MODELS, data)
    path = tmp_path / "again.toml"
    path.write_text(plan_as_toml(plan))
    back = plan_from_dict(read_toml(path))
    files = back.extension(GivenRanking)
    assert back == plan and files is not None
    assert set(files.files) == {"fold1.json", "fold2.json"}
    with Study.create(tmp_path / "s.rankstudio") as study:
        first = ended(run_stored(plan, data, study))
    assert_same(first, run_plan(back, data))
    for file in (tmp_path / MODELS).iterdir():
        file.unlink()
    with Study.open(tmp_path / "s.rankstudio") as study:
        second = ended(run_stored(plan, data, study))
    assert not second.notes
    for one, other, fold in zip(first.folds, second.folds, data.folds, strict=True):
        assert one.test == other.test and fold.test is not None
        columns = np.ascontiguousarray(fold.test.X.T)
        assert np.array_equal(
            one.chosen.step.scores(columns), other.chosen.step.scores(columns)
        )


def test_a_study_keeps_what_has_to_be_said(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    data = replace(
        data, folds=(data.folds[0], replace(data.folds[1], test=data.folds[0].vali))
    )
    plan = given(tmp_path / MODELS / "fold1.json", data)
    with Study.create(tmp_path / "s.rankstudio") as study:
        first = ended(run_stored(plan, data, study))
    with Study.open(tmp_path / "s.rankstudio") as study:
        second = ended(run_stored(plan, data, study))
    assert [note.what for note in first.notes] == [note.what for note in second.notes]
    assert "12 of the 24 queries" in second.notes[0].what


def test_other_contents_are_refused(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    plan = given(tmp_path, data)
    (tmp_path / MODELS / "fold1.json").write_bytes(
        (tmp_path / MODELS / "fold2.json").read_bytes()
    )
    with pytest.raises(DatasetError, match=naming("fold1.json")):
        run_plan(plan, data)


def test_nothing_is_learned_of_it_and_no_model_written_again(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    result = _given(tmp_path, data)
    write_results(result, tmp_path / "again")
    assert not (tmp_path / "again" / MODELS).exists()
    origin = chosen_model(result, result.folds[0]).origin
    assert "fold" not in origin and origin["given"]["name"] == "former"
    with pytest.raises(PlanError, match="former"):
        refit(result, data)


def test_a_plan_of_models_is_a_command_and_a_program(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    plan = given(tmp_path, data, name="a net")
    assert (
        as_command(plan) == f"rankstudio run --data small --models 'a net={tmp_path}'"
    )
    assert plan_of_program(plan) == plan


def test_a_model_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)
    path = tmp_path / MODELS / "fold1.json"
    model = load_model(path)
    other = tmp_path / "other.json"
    first = replace(model.features[0], id=47, name="BM25")
    save_model(other, replace(model, features=(first, *model.features[1:])))
    with pytest.raises(DatasetError, match=naming("other.json 47 BM25 1 6")):
        given(other, data)
    save_model(
        other, replace(model, origin={**model.origin, "normalize": "query_minmax"})
    )
    with pytest.raises(DatasetError, match=naming("query_minmax")):
        given(other, data)
    alone = replace(
        data, folds=tuple(replace(fold, vali=None, test=None) for fold in data.folds)
    )
    with pytest.raises(DatasetError, match=naming("test validation")):
        given(path, alone)
    with pytest.raises(PlanError, match=naming("name path")):
        run_plan(Plan("small", "given-model"), data)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "0 json fold1.json"),
        ({"a.json": "", "b.json": ""}, "2 json"),
        ({"fold7.json": ""}, "7 1 2 models fold"),
        ({"fold1.json": "", "Fold_1.json": ""}, "Fold_1.json fold1.json"),
        ({"fold1.json": "{}"}, "fold1.json"),
        ({"a.json": "1 2"}, "a.json"),
    ],
)
def test_what_is_no_model_is_refused(
    tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=naming(sentence)):
        given(tmp_path, dataset())


def test_names_that_differ_are_said(tmp_path: Path) -> None:
    data, _ = _learned(tmp_path)

    def named(names: str) -> FoldedDataset:
        folds = (
            replace(
                fold,
                **{
                    n: replace(p, feature_names=tuple(names))
                    for n, p in fold.parts.items()
                },
            )
            for fold in data.folds
        )
        return replace(data, folds=tuple(folds))

    learned = run_plan(
        Plan("small", "rankrls", quick(method("rankrls"))), named("abcdef")
    )
    save_model(tmp_path / "m.json", chosen_model(learned, learned.folds[0]))
    (note,) = _given(tmp_path / "m.json", named("bacdef")).notes
    assert naming("1 a b").search(note.what)
