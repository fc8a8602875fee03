"""``rankstudio rank-methods``: tables, files, and what it refuses."""

import json

import pytest

from rankstudio.engine.experiment.storage.study import Study


def test_methods_are_ranked_over_the_datasets_of_a_study(five_datasets, answer):
    ranking = answer(["rank-methods", str(five_datasets), "--json"])
    assert ranking["measure"] == "MAP"
    assert {method["method"] for method in ranking["methods"]} == {"GAS", "RankRLS"}
    assert [dataset["data"] for dataset in ranking["datasets"]] == [
        f"data{number}" for number in range(5)
    ]
    assert ranking["left_out"] == []
    assert ranking["pairs"][0]["p_wilcoxon"] >= 2**-4
    assert sum(ranking["pairs"][0]["posterior"].values()) == pytest.approx(1)
    with Study.open(five_datasets, reading=True) as study:
        for number, dataset in enumerate(ranking["datasets"]):
            runs = [
                study.result(run.key)
                for run in study.runs()[2 * number : 2 * number + 2]
            ]
            means = {run.plan.title: run.per_query("MAP").mean() for run in runs}
            order = [method["method"] for method in ranking["methods"]]
            assert dataset["values"] == pytest.approx([means[name] for name in order])


def test_tables_name_the_measure_and_the_tests(five_datasets, done):
    words = [
        "rank-methods",
        str(five_datasets),
        "--measure",
        "NDCG@10",
        "--alpha",
        "0.1",
    ]
    text = " ".join(done(words).out.split())
    assert text.startswith("NDCG@10: mean ranks over 5 datasets")
    assert "Nemenyi's critical difference at 0.1" in text
    assert "Pairs of methods" in text


def test_fewer_than_five_datasets_have_no_tests(five_datasets, answer):
    ranking = answer(
        ["rank-methods", str(five_datasets), "--leave-out", "data1", "--json"]
    )
    assert ranking["friedman"] is None
    assert ranking["pairs"] == []
    assert ranking["left_out"] == [{"name": "data1", "reason": "left out on request"}]


def test_files_are_written_and_not_overwritten(five_datasets, tmp_path, done, refused):
    names = {
        "--csv": "a.csv",
        "--latex": "a.tex",
        "--tikz": "d.tex",
        "--figure": "d.pdf",
    }
    words = [
        word
        for option, name in names.items()
        for word in (option, str(tmp_path / name))
    ]
    done(["rank-methods", str(five_datasets), *words])
    assert (tmp_path / "a.csv").read_text().startswith("data,method,MAP,rank,scope\n")
    assert (tmp_path / "a.tex").read_text().count(r"\begin{table}") == 4
    assert r"\begin{tikzpicture}" in (tmp_path / "d.tex").read_text()
    assert (tmp_path / "d.pdf").read_bytes().startswith(b"%PDF")
    refused(["rank-methods", str(five_datasets), *words], "the file exists")
    done(["rank-methods", str(five_datasets), *words, "--force"])


def test_what_cannot_be_is_refused(five_datasets, tmp_path, refused):
    study = str(five_datasets)
    refused(
        ["rank-methods", study, "--figure", str(tmp_path / "a.gif")],
        "a file ending in .pdf",
    )
    refused(["rank-methods", study, "--alpha", "1"], "alpha")
    refused(["rank-methods", study, "--rope", "-1"], "rope")
    refused(["rank-methods", study, "--leave-out", "nothing"], "leave-out")
    refused(["rank-methods", study, "--leave-out", "GAS"], "at least two")
    refused(["rank-methods", study, "--measure", "ERR"], "has no values of ERR")
    refused(["rank-methods", study, "--csv", "-", "--json"], "standard output")


def test_a_study_given_twice_counts_once(five_datasets, answer):
    ranking = answer(["rank-methods", str(five_datasets), str(five_datasets), "--json"])
    assert len(ranking["left_out"]) == 10
    assert all(
        "the same method as" in method["reason"] for method in ranking["left_out"]
    )
    json.dumps(ranking)


@pytest.mark.ability("report")
def test_the_report_has_a_section_where_it_is_on_several_datasets(
    five_datasets, tmp_path, done
):
    page = tmp_path / "all.html"
    done(
        [
            "report",
            str(five_datasets),
            "--data",
            "all",
            "--sections",
            "ranks",
            "--out",
            str(page),
        ]
    )
    text = page.read_text(encoding="utf-8")
    assert "Pairs of methods" in text
    assert "CD = " in text
    one = tmp_path / "one.html"
    done(["report", str(five_datasets), "--sections", "ranks", "--out", str(one)])
    assert "Pairs of methods" not in one.read_text(encoding="utf-8")
