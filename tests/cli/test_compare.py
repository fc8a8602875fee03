"""``rankstudio compare``: averages and paired tests of the runs in studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from rankstudio.cli import main
from rankstudio.engine import evaluate, open_dataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.data.writer import save_letor
from rankstudio.engine.experiment.store import Study


def write(root: Path, seed: int, folds: int = 3) -> Path:
    for fold in make_ranking(n_queries=60, seed=seed).folds[:folds]:
        place = root / f"Fold{fold.number}"
        place.mkdir(parents=True)
        for name, part in fold.parts.items():
            save_letor(part, place / f"{name}.txt")
    return root


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A study of three runs on one dataset, and one of a run on another."""
    root = tmp_path_factory.mktemp("studies")
    made, other = write(root / "Made", 7), write(root / "Other", 8)
    first, second = root / "first.rankstudio", root / "second.rankstudio"
    for options in (["rankrls", "--lambda", "2^0..2^4"], ["single-feature", "--features", "2"], ["listnet"]):
        assert main(["run", "--data", str(made), "--method", *options, "--study", str(first)]) == 0
    assert main(["run", "--data", str(other), "--method", "rankrls", "--study", str(second)]) == 0
    return first, second


def test_differences_are_those_of_every_test_query(studies, capsys) -> None:
    capsys.readouterr()
    assert main(["compare", str(studies[0]), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    with Study.open(studies[0]) as study:
        runs = [study.result(summary.key) for summary in study.runs()]
    averages = [result.average["MAP"] for result in runs]
    assert values["reference"] == averages.index(max(averages)) + 1
    best = runs[values["reference"] - 1]
    for row, result in zip(values["runs"], runs, strict=True):
        own, theirs = (np.concatenate([f.per_query["MAP"] for f in r.folds]) for r in (result, best))
        if result is best:
            assert row["comparison"] is None
            continue
        found = row["comparison"]
        assert found["mean_difference"] == pytest.approx(float(np.mean(own - theirs)))
        assert found["p_t"] == pytest.approx(ttest_rel(own, theirs).pvalue)
        assert found["p_holm"] >= found["p_randomisation"]
        assert found["wins"] + found["ties"] + found["losses"] == found["n"] == own.size


def test_values_by_query_are_those_of_the_model_on_the_test_part(studies) -> None:
    with Study.open(studies[0]) as study:
        result = study.result(study.runs()[0].key)
    data = open_dataset(studies[0].parent / "Made")
    for fold, part in zip(result.folds, data.folds, strict=True):
        assert part.test is not None
        scores = part.test.X @ fold.chosen.step.coef
        expected = evaluate(part.test.y, scores, part.test.qid, measures=["MAP", "NDCG@10"])
        for name in ("MAP", "NDCG@10"):
            np.testing.assert_allclose(fold.per_query[name], expected.per_query[name])
            assert fold.per_query[name].mean() == pytest.approx(fold.test[name])


def test_the_table_names_the_reference_and_can_be_markdown(studies, capsys) -> None:
    capsys.readouterr()
    assert main(["compare", str(studies[0]), "--measure", "P@10", "--against", "2", "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Made: P@10 over ")
    assert "against run 2\n| run | method | k | P@10 |" in printed
    assert printed.count("reference") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "4"], "--against: expected the number of a run, from 1 to 3, got 4."),
        (["--measure", "P@3"], "measure: run 1, RankRLS, was not measured by P@3."),
        (["--data", "Elsewhere"], "There is nothing to compare: expected two finished runs, found 0."),
    ],
)
def test_what_cannot_be_compared_is_told(studies, capsys, options: list[str], message: str) -> None:
    assert main(["compare", str(studies[0]), *options]) == 1
    assert message in capsys.readouterr().err


def test_runs_on_different_data_or_folds_are_not_compared(studies, tmp_path, capsys) -> None:
    assert main(["compare", *map(str, studies)]) == 1
    assert "--data: expected one of Made, Other" in capsys.readouterr().err
    made = studies[0].parent / "Made"
    mixed = tmp_path / "mixed.rankstudio"
    for folds in ("1", "1,2"):
        main(["run", "--data", str(made), "--method", "rankrls", "--folds", folds, "--study", str(mixed)])
    capsys.readouterr()
    assert main(["compare", str(mixed)]) == 1
    assert "The runs are on different folds" in capsys.readouterr().err
