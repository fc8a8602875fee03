"""``rankstudio risk``: tables, files, sealed test parts, and what it refuses."""

import shutil
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark


def values_of(path, measure):
    """Return the values of the runs of a study, by query and run."""
    with Study.open(path, reading=True) as study:
        runs = [study.result(summary.key) for summary in study.runs()]
    return np.column_stack([run.per_query(measure) for run in runs])


def test_it_is_computed_from_the_values_of_the_study(three_runs, answer):
    words = ["risk", str(three_runs), "--baseline", "1", "--alpha", "3", "--json"]
    (group,) = answer(words)
    values = values_of(three_runs, "MAP")
    assert (group["measure"], group["alpha"], group["baseline"]) == ("MAP", 3, 1)
    assert group["queries"] == len(values)
    assert [run["run"] for run in group["runs"]] == [1, 2, 3]
    expected = np.outer(values.sum(axis=1), values.sum(axis=0)) / values.sum()
    for column, run in enumerate(group["runs"]):
        has_any = expected[:, column] > 0  # a query may have no value above 0
        e = np.where(has_any, expected[:, column], 1.0)
        z = np.where(has_any, (values[:, column] - e) / np.sqrt(e), 0.0)
        risk = np.mean(np.where(z < 0, 4 * z, z))
        georisk = sqrt(values[:, column].mean() * NormalDist().cdf(risk))
        assert run["georisk"] == pytest.approx(georisk)
        difference = values[:, column] - values[:, 0]
        weighted = np.where(difference < 0, 4 * difference, difference)
        if column:
            assert run["against_baseline"]["urisk"] == pytest.approx(weighted.mean())
            assert run["against_baseline"]["n_losses"] == np.sum(difference < -1e-12)
        else:
            assert run["against_baseline"] is None


def test_tables_name_the_baseline(three_runs, done):
    text = " ".join(done(["risk", str(three_runs), "--measure", "NDCG@10"]).out.split())
    assert "data: risk by NDCG@10, test, 2 folds" in text
    assert "Baseline: run" in text
    assert "counts 2 times" in text


def test_a_measure_of_which_less_is_better_has_no_georisk(three_runs, answer):
    words = ["risk", str(three_runs), "--measure", "Disagreement", "--json"]
    (group,) = answer(words)
    assert [run["georisk"] for run in group["runs"]] == [None] * 3
    assert "for Disagreement, smaller values are better" in group["notes"][0]


def test_a_sealed_test_part_stays_sealed(three_runs, tmp_path, answer):
    copy = tmp_path / "sealed.rankstudio"
    shutil.copy(three_runs, copy)
    (risk_table,) = answer(["risk", str(copy), "--json"])
    assert risk_table["scope"].startswith("test")
    with Study.open(copy) as study:
        study.note_seal(SealMark.now(sealed=True))
    (sealed,) = answer(["risk", str(copy), "--json"])
    assert "cross-fitted" in sealed["scope"]
    assert sealed["runs"][0]["mean"] != risk_table["runs"][0]["mean"]


def test_files_are_written_and_not_overwritten(three_runs, tmp_path, done, refused):
    csv = tmp_path / "risk.csv"
    latex = tmp_path / "risk.tex"
    words = ["risk", str(three_runs), "--csv", str(csv), "--latex", str(latex)]
    done(words)
    assert csv.read_text(encoding="utf-8").startswith("data,scope,measure,alpha,")
    assert len(csv.read_text(encoding="utf-8").splitlines()) == 4
    assert r"\begin{table}" in latex.read_text(encoding="utf-8")
    refused(words, "the file exists")
    done([*words, "--force"])
    assert done(["risk", str(three_runs), "--csv", "-"]).out.startswith("data,scope,")


def test_what_cannot_be_is_refused(three_runs, refused):
    study = str(three_runs)
    refused(["risk", study, "--alpha", "-1"], "alpha")
    refused(["risk", study, "--alpha", "nan"], "alpha")
    refused(["risk", study, "--baseline", "4"], "against")
    refused(["risk", study, "--baseline", "nothing"], "against")
    refused(["risk", study, "--data", "nothing"], "--data")
    refused(["risk", study, "--measure", "nothing"], "nothing")
    refused(["risk", study, "--csv", "-", "--json"], "standard output")


def test_a_measure_that_no_run_has_is_said(three_runs, done):
    assert "no two comparable runs" in " ".join(
        done(["risk", str(three_runs), "--measure", "ERR"]).out.split()
    )


def test_the_report_has_a_section(three_runs, tmp_path, done):
    page = tmp_path / "report.html"
    words = ["report", str(three_runs), "--sections", "risk", "--out", str(page)]
    done(words)
    text = page.read_text(encoding="utf-8")
    assert "GeoRisk" in text
    assert "Baseline: run" in text
