"""``rankstudio lab``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import simulate_auc
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection


def test_auc_as_json_is_what_the_function_says(answer) -> None:
    words = "--examples 20 --positive 0.3 --features 4 --informative 2 --shift 0.8 --lambda 2 --seed 7"
    printed = answer(["lab", "auc", *words.split(), "--repetitions", "300", "--json"])
    told = finish(simulate_auc(20, 0.3, 4, 2, 0.8, 2.0, 300, 7))
    assert list(printed["estimators"]) == list(told.estimators)
    first = printed["estimators"]["leave-pair-out"]
    assert first == {
        "bias": told.bias[0],
        "standard_error": told.standard_error[0],
        "conditional_sd": told.conditional_sd[0],
        "unconditional_sd": told.unconditional_sd[0],
        "repetitions": 300,
    }
    assert printed["truth"] == {"mean": told.truth.mean(), "sd": told.truth.std()}
    assert (printed["n_examples"], printed["n_informative"], printed["done"]) == (
        20,
        2,
        300,
    )


def test_the_table_has_a_line_for_every_estimator(done) -> None:
    lines = done(["lab", "auc", "--repetitions", "20"]).out.splitlines()
    assert lines[0].startswith(
        "examples 30, positive 0.5, features 10, shift 0, "
        "learner rls, regularization 1, "
    )
    assert lines[1].startswith("truth of 20 models: mean 0.5000, sd 0.0000")
    assert len(lines) == 5 + 6


def test_the_learner_is_that_of_the_option(answer) -> None:
    words = "--learner svm --examples 20 --repetitions 5 --json"
    printed = answer(["lab", "auc", *words.split()])
    told = finish(
        simulate_auc(20, repetitions=5, learner="svm"),
    )
    assert printed["learner"] == "svm"
    estimators = printed["estimators"].values()
    biases = [row["bias"] for row in estimators]
    assert biases == told.bias.tolist()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "all.txt"
    save_letor(make_ranking(n_queries=40, seed=6).folds[0].train, path)
    return path


def test_selection_says_what_the_function_says(data: Path, answer) -> None:
    words = "--queries 5 --features 2 --measure NDCG@5 --repetitions 3 --seed 4 --json"
    printed = answer(["lab", "selection", str(data), *words.split()])
    told = finish(
        simulate_selection(
            open_dataset(data), 5, 2, measure="NDCG@5", repetitions=3, seed=4
        )
    )
    assert [e["bias"] for e in printed["estimators"].values()] == told.bias.tolist()
    assert (printed["data"], printed["measure"], printed["convention"]) == (
        "all",
        "NDCG@5",
        "standard",
    )


def test_a_quantity_is_varied_as_in_the_window(data: Path, answer, capsys) -> None:
    words = "--queries 5 --features 2 --repetitions 2 --vary lambda --values 2^-2,2^3 --of-each 3"
    varied = answer(["lab", "selection", str(data), *words.split(), "--json"])["varied"]
    assert varied["quantity"] == "regularization"
    assert [one["value"] for one in varied["values"]] == [0.25, 8.0]
    for one in varied["values"]:
        settings = {"regularization": one["value"], "repetitions": 3}
        told = finish(simulate_selection(open_dataset(data), 5, 2, **settings))
        assert [e["bias"] for e in one["estimators"].values()] == told.bias.tolist()
    assert (
        main(
            [
                "lab",
                "auc",
                "--repetitions",
                "20",
                "--vary",
                "positive",
                "--of-each",
                "20",
            ]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert sum(bool(naming("20 training").search(line)) for line in lines) >= 2


def test_a_kernel_learns_with_basis_vectors(data: Path, refused, answer) -> None:
    words = "--queries 5 --kernel rbf --gamma 0.5 --basis 3 --repetitions 2"
    printed = answer(["lab", "selection", str(data), *words.split(), "--json"])
    settings = {"kernel": "rbf", "gamma": 0.5, "per_query": 3}
    told = finish(simulate_selection(open_dataset(data), 5, repetitions=2, **settings))
    assert [e["bias"] for e in printed["estimators"].values()] == told.bias.tolist()
    assert {name: printed[name] for name in settings} == settings
    assert "n_features" not in printed
    refused(
        ["lab", "selection", str(data), "--kernel", "rbf", "--vary", "features"],
        "--vary --kernel rbf",
    )
    refused(
        ["lab", "selection", str(data), "--vary", "queries", "--values", "5,24"],
        "values 24",
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("auc --positive 2", "--positive 0.0001 0.9999"),
        ("auc --informative 11", "--informative 0 10"),
        ("auc --lambda 0", "--lambda 0 number"),
        ("auc --examples 10,20", "examples"),
        ("auc --values 1,2", "--values --vary"),
        ("auc --vary examples --values 10.5", "--values"),
        ("selection train.txt --gamma 1", "--gamma --kernel rbf poly 1"),
        ("selection train.txt --kernel rbf --features 3", "--features --kernel"),
        ("auc --vary lambda --of-each 0", "1 number"),
    ],
)
def test_what_makes_no_sense_is_refused(words: str, text: str, refused) -> None:
    refused(["lab", *words.split()], text)


def test_which_simulation_has_to_be_said(capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["lab"])
    assert "SIMULATION" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["lab", "aux"])
    assert naming("aux auc").search(capsys.readouterr().err)


def test_one_repetition_has_no_scatter(done) -> None:
    rows = done(["lab", "auc", "--repetitions", "1"]).out.splitlines()[-6:]
    assert all(row.split()[-3:] == ["–"] * 3 for row in rows)
