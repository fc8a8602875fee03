"""``rankstudio compare``: averages and paired tests of the runs in studies."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds
from scipy.stats import ttest_rel
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import evaluate, open_dataset
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark

RUNS = (
    ["rankrls", "--lambda", "1,2"],
    ["single-feature", "--features", "2"],
    ["ranksvm", "--C", "1"],
)


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A study of three runs on one dataset, and one of a run on another."""
    root = tmp_path_factory.mktemp("studies")
    made = save_folds(root / "Made", 3, n_queries=40, seed=7)
    other = save_folds(root / "Other", 3, n_queries=40, seed=8)
    first, second = root / "first.rankstudio", root / "second.rankstudio"
    for options in RUNS:
        assert (
            main(
                [
                    "run",
                    "--data",
                    str(made),
                    "--method",
                    *options,
                    "--study",
                    str(first),
                ]
            )
            == 0
        )
    assert (
        main(
            ["run", "--data", str(other), "--method", *RUNS[0], "--study", str(second)]
        )
        == 0
    )
    return first, second


def test_differences_are_those_of_every_test_query(studies, answer) -> None:
    values = answer(["compare", str(studies[0]), "--json"])
    with Study.open(studies[0]) as study:
        runs = [study.result(summary.key) for summary in study.runs()]
    averages = [result.average["MAP"] for result in runs]
    assert values["reference"] == averages.index(max(averages)) + 1
    best = runs[values["reference"] - 1]
    for row, result in zip(values["runs"], runs, strict=True):
        own, theirs = (
            np.concatenate([f.per_query["MAP"] for f in r.folds])
            for r in (result, best)
        )
        if result is best:
            assert row["comparison"] is None
            continue
        found = row["comparison"]
        assert found["mean_difference"] == pytest.approx(float(np.mean(own - theirs)))
        assert found["p_t"] == pytest.approx(ttest_rel(own, theirs).pvalue)
        assert found["p_holm"] >= found["p_randomisation"]
        assert found["p_t_holm"] >= found["p_t"]
        assert 1 >= found["p_wilcoxon_holm"] >= found["p_wilcoxon"] > 0
        assert found["wins"] + found["ties"] + found["losses"] == found["n"] == own.size


def test_studies_that_may_not_be_written_are_compared_and_listed(
    studies, monkeypatch, done
) -> None:
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    assert (
        len(json.loads(done(["compare", str(studies[0]), "--json"]).out)["runs"]) == 3
    )
    assert len(json.loads(done(["studies", *map(str, studies), "--json"]).out)) == 4


def test_values_by_query_are_those_of_the_model_on_the_test_part(studies) -> None:
    with Study.open(studies[0]) as study:
        result = study.result(study.runs()[0].key)
    data = open_dataset(studies[0].parent / "Made")
    for fold, part in zip(result.folds, data.folds, strict=True):
        assert part.test is not None
        scores = part.test.X @ fold.chosen.step.coef
        expected = evaluate(
            part.test.y, scores, part.test.qid, measures=["MAP", "NDCG@10"]
        )
        for name in ("MAP", "NDCG@10"):
            np.testing.assert_allclose(fold.per_query[name], expected.per_query[name])
            assert fold.per_query[name].mean() == pytest.approx(fold.test[name])


def test_the_table_names_the_reference_and_can_be_markdown(studies, done) -> None:
    printed = done(
        [
            "compare",
            str(studies[0]),
            "--measure",
            "P@10",
            "--against",
            "2",
            "--markdown",
        ]
    ).out
    assert printed.startswith("## Made: P@10, test, 3 folds, ")
    assert naming("2 P@10").search(printed)
    assert printed.count("reference") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "4"], "against 1 3 4"),
        (["--against", "gas"], "against rankrls single-feature ranksvm gas"),
        (["--out", "table.doc"], "--out csv json"),
        (["--measure", "P@3"], "1 RankRLS P@3 NDCG@10"),
        (["--data", "Elsewhere"], "--data Elsewhere Made"),
        (["--data", "Elsewhere", "--bold"], "--data Elsewhere Made"),
    ],
)
def test_what_cannot_be_compared_is_told(
    studies, refused, options: list[str], message: str
) -> None:
    refused(["compare", str(studies[0]), *options], message)


def test_every_dataset_has_a_table_of_its_own(studies, tmp_path, answer, done) -> None:
    made, other = studies
    printed = done(["compare", str(made), str(other)])
    assert printed.out.startswith("Made: MAP, test, 3 folds, ")
    assert "\nOther: MAP, test, 3 folds, " in printed.out
    place = str(made.parent / "Other")
    both = str(tmp_path / "both.rankstudio")
    for name, data in (("Made", str(made.parent / "Made")), ("Other", place)):
        for method in RUNS[:2]:
            assert (
                main(["run", "--data", data, "--method", *method, "--study", both]) == 0
            ), name
    values = answer(["compare", both, "--json"])
    assert [v["data"] for v in values] == ["Made", "Other"]
    assert answer(["compare", both, "--data", "Other", "--json"]) == values[1]


def test_selections_sizes_and_pins_have_tables(studies, tmp_path, answer, done) -> None:
    made, study = str(studies[0].parent / "Made"), str(tmp_path / "pins.rankstudio")
    options = ["--data", made, "--lambda", "2^0", "--features", "4", "--study", study]
    for pins in ([], ["--pin", "3"], ["--ban", "1 2"]):
        assert main(["run", *options, *pins]) == 0
    text = done(["compare", study]).out
    assert naming("3 features folds").search(text)
    assert naming("Nogueira 3").search(text)
    assert naming("Pareto size validation").search(text)
    effects = text[
        text.index("Made: effect of pinned and banned features") :
    ].splitlines()[3:]
    assert [line.split()[0] for line in effects] == ["2", "3"]
    assert all("run 1" in line for line in effects)
    assert "pinned 3" in effects[0]
    assert "banned 1" in effects[1]
    values = answer(["compare", study, "--json"])
    assert [(pin["run"], pin["against"]) for pin in values["pins"]] == [(2, 1), (3, 1)]
    assert sum(model["suggested"] for model in values["front"]) == 1
    assert set(values["runs"][0]["stability"]) >= {"jaccard", "nogueira"}


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.txt", "Made: "),
        ("a.md", "## Made: MAP, test, "),
        ("a.tex", "\\begin{table}"),
        ("a.csv", "data,measure,run,method,ranker"),
        ("a.json", "{"),
    ],
)
def test_the_ending_of_the_file_says_how_it_is_written(
    studies, tmp_path, done, name, start
) -> None:
    printed = done(["compare", str(studies[0]), "--out", str(tmp_path / name)])
    assert (printed.out, printed.err.splitlines()[-1]) == (
        "",
        f"Written: {tmp_path / name}",
    )
    assert (tmp_path / name).read_text().startswith(start)


def test_csv_has_a_row_a_run_with_all_digits(studies, tmp_path, answer, done) -> None:
    assert (
        main(
            [
                "compare",
                str(studies[0]),
                "--out",
                str(tmp_path / "b"),
                "--format",
                "text",
            ]
        )
        == 0
    )
    assert (tmp_path / "b").read_text().startswith("Made: ")
    values = answer(["compare", str(studies[0]), "--json"])
    rows = list(
        csv.DictReader(
            done(["compare", str(studies[0]), "--format", "csv"]).out.splitlines()
        )
    )
    for row, run in zip(rows, values["runs"], strict=True):
        assert float(row["average"]) == run["average"]
        if run["comparison"] is None:
            assert row["p_t"] == ""
        else:
            assert float(row["p_t"]) == run["comparison"]["p_t"]
            assert float(row["p_holm"]) == run["comparison"]["p_holm"]
            assert float(row["p_t_holm"]) == run["comparison"]["p_t_holm"]
            assert float(row["p_wilcoxon_holm"]) == run["comparison"]["p_wilcoxon_holm"]


def test_runs_on_different_folds_stand_in_groups(
    studies, tmp_path, answer, done
) -> None:
    made = studies[0].parent / "Made"
    mixed = tmp_path / "mixed.rankstudio"
    for method, folds in ((RUNS[0], "1"), (RUNS[0], "1,2,3"), (RUNS[1], "1,2,3")):
        command = ["run", "--data", str(made), "--method", *method, "--folds", folds]
        assert main([*command, "--study", str(mixed)]) == 0
    whole, part = answer(["compare", str(mixed), "--json"])
    assert [run["run"] for run in whole["runs"]] == [2, 3]
    assert (
        whole["group"]["folds"],
        whole["group"]["apart"],
        whole["reference"] in (2, 3),
    ) == (
        [1, 2, 3],
        "",
        True,
    )
    assert [run["run"] for run in part["runs"]] == [1]
    assert (part["group"]["folds"], part["reference"], part["front"] == []) == (
        [1],
        None,
        False,
    )
    assert part["group"]["apart"]
    assert [run["comparison"] for run in part["runs"]] == [None]
    text = done(["compare", str(mixed)]).out
    assert text.count("reference") == 1
    assert "fold 1 only" in text and part["group"]["apart"] in text


def test_the_test_part_can_be_left_out_and_a_seal_leaves_it_out(
    studies, tmp_path, answer, done
) -> None:
    made = studies[0].parent / "Made"
    sealed = tmp_path / "sealed.rankstudio"
    for method in RUNS[:2]:
        assert (
            main(
                [
                    "run",
                    "--data",
                    str(made),
                    "--method",
                    *method,
                    "--study",
                    str(sealed),
                ]
            )
            == 0
        )
    with Study.open(sealed) as study:
        results = [study.result(summary.key) for summary in study.runs()]
        study.note_seal(SealMark.now(sealed=True))
    test_means = [f"{result.average_on(Part.TEST)['MAP']:.4f}" for result in results]
    for words in (["--part", "validation"], []):
        printed = done(["compare", str(sealed), *words])
        assert not any(mean in printed.out for mean in test_means)
        assert ("sealed" in printed.err) == (not words)
    group = answer(["compare", str(sealed), "--json", "--part", "validation"])
    assert (group["group"]["part"], group["group"]["unranked"]) == ("cross-fitted", "")
    fitted = [result.average_on(Part.CROSS_FITTED)["MAP"] for result in results]
    assert [run["average"] for run in group["runs"]] == fitted
    assert group["reference"] == fitted.index(max(fitted)) + 1
    test = next(run["comparison"] for run in group["runs"] if run["comparison"])
    assert test["n"] == sum(fold.cross_fitted["MAP"].size for fold in results[0].folds)
    beside = answer(["compare", str(sealed), "--json", "--part", "test"])
    assert [run["cross_fitted"] for run in beside["runs"]] == fitted
    assert [run["average"] for run in beside["runs"]] == [
        r.average_on(Part.TEST)["MAP"] for r in results
    ]
    shown = done(["compare", str(sealed), "--part", "test"])
    assert all(mean in shown.out for mean in test_means)
    assert "sealed" not in shown.err
    table = done(["compare", str(sealed), "--bold", "--measures", "MAP"]).out
    assert not any(mean in table for mean in test_means)
