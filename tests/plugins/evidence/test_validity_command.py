"""``rankstudio validity``: the models of runs, on test or validation documents, dense and sparse."""

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.api import analyse
from rankstudio.cli import main
from rankstudio.engine import open_dataset, ranking_validity
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of a selector and of a ranker on two folds."""
    root = tmp_path_factory.mktemp("validity")
    save_folds(root / "Made", 2, n_queries=30, seed=5)
    for method in ("greedy-rankrls", "rankrls"):
        words = [
            "--method",
            method,
            "--lambda",
            "1",
            "--study",
            str(root / "s.rankstudio"),
        ]
        more = ["--features", "4"] if method == "greedy-rankrls" else []
        assert main(["run", "--data", str(root / "Made"), *words, *more]) == 0
    return root


def test_values_are_those_of_the_function(study_folder, answer):
    study = study_folder / "s.rankstudio"
    result = answer(["validity", str(study), "--run", "1", "--json"])
    data = open_dataset(study_folder / "Made")
    with Study.open(study, reading=True) as opened:
        run = opened.result(opened.runs()[0].key)
    for fold_values, fold_result, fold in zip(
        result["folds"], run.folds, data.folds, strict=True
    ):
        assert fold_values["part"] == "test"
        order = list(fold_result.selected)
        sets = fold_values["sets"]
        assert [s["kept"] for s in sets] == [order[: n + 1] for n in range(len(sets))]
        coef = fold_result.chosen.step.coef
        ids = fold.test.feature_ids.tolist()
        expected = ranking_validity(
            lambda X, coef=coef: X @ coef,
            fold.test.X,
            qid=fold.test.qid,
            feature_sets=[[ids.index(i) for i in s["kept"]] for s in sets],
            base=np.mean(fold.train.X, axis=0),
        )
        for index, feature_set in enumerate(sets):
            validity = np.array(feature_set["validity"], dtype=float)
            assert validity == pytest.approx(expected.validity[index], nan_ok=True)
            completeness = np.array(feature_set["completeness"], dtype=float)
            assert completeness == pytest.approx(
                expected.completeness[index], nan_ok=True
            )
    smallest = min(len(fold_result.selected) for fold_result in run.folds)
    assert len(result["folds"][0]["sets"]) == smallest


def test_a_ranker_begins_with_the_feature_that_matters_most(study_folder, answer):
    words = [
        "validity",
        str(study_folder / "s.rankstudio"),
        "--run",
        "2",
        "--fold",
        "1",
    ]
    (fold,) = answer([*words, "--json"])["folds"]
    alone = [
        answer([*words, "--features", str(feature), "--json"])["folds"][0]["sets"][0]
        for feature in fold["sets"][-1]["kept"]
    ]
    effects = [feature_set["mean_completeness"] for feature_set in alone]
    assert effects == sorted(effects, reverse=True)
    assert fold["sets"][-1]["mean_validity"] == pytest.approx(1)


def test_while_sealed_the_documents_are_those_of_validation(
    study_folder, answer, tmp_path
):
    copy = tmp_path / "sealed.rankstudio"
    copy.write_bytes((study_folder / "s.rankstudio").read_bytes())
    with Study.open(copy) as study:
        study.note_seal(SealMark.now(sealed=True))
    (fold, _) = answer(["validity", str(copy), "--run", "1", "--json"])["folds"]
    assert fold["part"] == "validation"


def test_tables_name_what_is_masked_and_list_queries_of_one_set(study_folder, done):
    words = ["validity", str(study_folder / "s.rankstudio"), "--run", "1"]
    text = " ".join(done(words).out.split())
    assert "training mean in all documents" in text
    assert "Queries with the least validity" not in text
    text = " ".join(done([*words, "--keep", "1", "--base", "zero"]).out.split())
    assert "Masked features have 0 in all documents" in text
    assert "Queries with the least validity" in text


def test_features_that_the_model_does_not_use_are_named(study_folder, done):
    study = str(study_folder / "s.rankstudio")
    with Study.open(study_folder / "s.rankstudio", reading=True) as opened:
        first, _ = opened.result(opened.runs()[0].key).folds
    unused = next(i for i in range(1, 20) if i not in first.selected)
    words = ["validity", study, "--run", "1", "--fold", "1", "--features", str(unused)]
    printed = done(words)
    assert f"does not use the features {unused}" in " ".join(printed.err.split())


def test_what_cannot_be_is_refused(study_folder, refused):
    words = ["validity", str(study_folder / "s.rankstudio"), "--run", "1"]
    refused([*words, "--fold", "3"], "fold")
    refused([*words, "--features", "999"], "features")
    refused([*words, "--features", "1", "--keep", "2"], "keep")
    refused([*words, "--keep", "0"], "keep")
    refused([*words, "--base", "median"], "base")


def test_python_has_the_tables(study_folder):
    with Study.open(study_folder / "s.rankstudio", reading=True) as opened:
        run = opened.result(opened.runs()[0].key)
    means, queries = analyse(
        "validity", run, open_dataset(study_folder / "Made"), keep=2, n_queries=3
    )
    assert len(means.rows) == 1
    assert len(queries.rows) == 3
    validities = [row[2] for row in queries.rows]
    assert validities == sorted(validities)
