"""``rankstudio benchmark``: from a folder of data to the tables, the diagram and the report."""

import csv
import json
import shutil

import pytest

from rankstudio.cli import main
from rankstudio.cli.interrupts import INTERRUPTED
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark


@pytest.fixture(scope="module")
def words(collection) -> list[str]:
    """The command without an output."""
    plan_file = str(collection.parent / "few.toml")
    return ["benchmark", plan_file, "--data", str(collection)]


@pytest.fixture(scope="module")
def finished(words, tmp_path_factory):
    """The folder of a finished benchmark."""
    out = tmp_path_factory.mktemp("finished") / "out"
    assert main([*words, "--out", str(out)]) == 0
    return out


def test_a_dry_run_prints_times_and_makes_nothing(words, tmp_path, answer, done):
    out = tmp_path / "out"
    planned = answer([*words, "--out", str(out), "--dry-run", "--json"])
    assert [dataset["data"] for dataset in planned["datasets"]] == [
        "alpha",
        "gamma",
        "beta",
    ]
    seconds = [run["seconds"] for d in planned["datasets"] for run in d["runs"]]
    assert len(seconds) == 6
    assert min(seconds) > 0
    assert planned["seconds"] == pytest.approx(sum(seconds))
    text = done([*words, "--out", str(out), "--dry-run"]).out
    assert "Estimated time" in text
    assert "empty: no data files" in text
    assert not out.exists()


def test_values_are_the_test_means_of_the_runs(finished, words, answer):
    ranking = answer([*words, "--out", str(finished), "--json"])["ranking"]
    assert [dataset["data"] for dataset in ranking["datasets"]] == [
        "alpha",
        "gamma",
        "beta",
    ]
    assert ranking["friedman"] is None
    assert "Tests need at least 5 datasets, found 3" in ranking["notes"][0]
    titles = [method["method"] for method in ranking["methods"]]
    with Study.open(finished / "study.rankstudio", reading=True) as study:
        results = [study.result(run.key) for run in study.runs()]
    assert len(results) == 6
    for dataset in ranking["datasets"]:
        means = {
            result.plan.title: result.per_query("MAP").mean()
            for result in results
            if result.data_name == dataset["data"]
        }
        assert dataset["values"] == pytest.approx([means[name] for name in titles])
    with (finished / "ranks.csv").open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 7
    assert (finished / "ranks.pdf").read_bytes().startswith(b"%PDF")
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("alpha", "beta", "gamma", "RankRLS"))


def test_the_same_command_computes_nothing_again(finished, words, done):
    printed = done([*words, "--out", str(finished)])
    assert "done" in printed.err
    assert "mean rank" in printed.out
    with Study.open(finished / "study.rankstudio", reading=True) as study:
        assert len(study.runs()) == 6


def test_a_stopped_benchmark_goes_on(words, tmp_path, monkeypatch, done, capsys):
    out = tmp_path / "out"
    n_folds = 0
    save_fold = Study.save_fold

    def stop_after_third(self, *args):
        nonlocal n_folds
        n_folds += 1
        save_fold(self, *args)
        if n_folds == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Study, "save_fold", stop_after_third)
    serial = [*words, "--out", str(out), "--workers", "1"]
    assert main(serial) == INTERRUPTED
    assert "Resume with" in capsys.readouterr().err
    assert not (out / "report.html").exists()
    monkeypatch.setattr(Study, "save_fold", save_fold)
    done(serial)
    assert (out / "report.html").exists()
    # A fold that was saved is not computed and saved again.
    with Study.open(out / "study.rankstudio", reading=True) as study:
        assert all(run.finished for run in study.runs())


def test_a_sealed_dataset_has_cross_fitted_values(
    finished, collection, words, tmp_path, answer
):
    out = shutil.copytree(finished, tmp_path / "out")
    with Study.open(out / "study.rankstudio") as study:
        run = next(run for run in study.runs() if run.data_name == "alpha")
        study.note_seal(SealMark.now(sealed=True, data=study.data(run.key)))
    ranking = answer([*words, "--out", str(out), "--json"])["ranking"]
    scopes = {d["data"]: d["scope"] for d in ranking["datasets"]}
    assert "cross-fitted" in scopes["alpha"]
    assert "test" in scopes["beta"]


def test_one_dataset_has_a_report_and_the_reason_for_no_ranks(
    collection, words, tmp_path, done
):
    out = tmp_path / "out"
    plan_file = words[1]
    printed = done(
        ["benchmark", plan_file, "--data", str(collection / "alpha"), "--out", str(out)]
    )
    assert "the same two datasets" in printed.err
    assert (out / "report.html").exists()
    assert not (out / "ranks.pdf").exists()


def test_what_cannot_be_is_refused(collection, words, tmp_path, refused):
    refused(["benchmark"], "--data")
    refused(["benchmark", "--data", str(tmp_path / "missing")], "missing")
    refused(["benchmark", "--data", str(collection / "empty")], "found no dataset")
    refused(["benchmark", "--data", str(collection / "broken")], '"abc"')
    refused([*words, "--measure", "nonsense"], "nonsense")
    plan = tmp_path / "plan.toml"
    plan.write_text('data = "x"\nmethod = "gas"\n')
    refused(["benchmark", str(plan), "--data", str(collection)], "[[runs]]")
    # A file that the user wrote stays.
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    refused([*words, "--out", str(tmp_path / "out")], "report.html")
    assert (tmp_path / "out" / "report.html").read_text() == "mine"
    # The folder of the results is a file.
    refused([*words, "--out", str(plan)], "plan.toml")


def test_runs_that_are_impossible_on_a_dataset_leave_the_others(
    collection, tmp_path, answer
):
    plan = tmp_path / "rule.toml"
    plan.write_text(
        'select_by = "MAP"\nrule = "at most 5"\n[[runs]]\n'
        'method = ["gas", "greedy-rankrls", "rankrls"]\n'
        '[parameters.greedy-rankrls]\nregularization = "1"\n'
        '[parameters.rankrls]\nregularization = "1"\n',
        encoding="utf-8",
    )
    words = ["benchmark", str(plan), "--data", str(collection)]
    answered = answer([*words, "--out", str(tmp_path / "out"), "--json"])
    problems = {
        dataset["data"]: [run["method"] for run in dataset["runs"] if run["problem"]]
        for dataset in answered["datasets"]
    }
    # RankRLS uses all features, and only gamma has few enough.
    assert problems == {"alpha": ["RankRLS"], "beta": ["RankRLS"], "gamma": []}
    left_out = {
        entry["name"]: entry["reason"] for entry in answered["ranking"]["left_out"]
    }
    assert "no comparable run" in left_out["RankRLS"]
    assert len(answered["ranking"]["methods"]) == 2
    json.dumps(answered)


def test_the_sizes_are_those_of_the_loader(collection, words, answer):
    planned = answer([*words, "--dry-run", "--json"])
    for described in planned["datasets"]:
        opened = open_dataset(described["path"])
        parts = opened.folds[0].parts.values()
        assert described["documents"] == sum(part.n_documents for part in parts)
        assert described["queries"] == sum(part.n_queries for part in parts)
