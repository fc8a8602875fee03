"""``rankstudio run --preferences``: learning from preferences, and the same again from the plan."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from letor_folder import save_folds
from plugins import packages
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import Plan, open_dataset
from rankstudio.engine.data.preferences import sample_preferences
from rankstudio.engine.experiment.plan.preference_source import (
    preferences_in_words,
    preferences_of,
)
from rankstudio.engine.experiment.plan.toml import load_plan

FAST = ["--lambda", "2^-1,2^2", "--folds", "1,2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All folds, which protocols divide anew."""
    return save_folds(tmp_path_factory.mktemp("data") / "Made", n_queries=30, seed=3)


@pytest.fixture
def preferences(folder: Path, tmp_path: Path, monkeypatch) -> Path:
    """A file of all preferences that the labels of the data tell, documents by their numbers."""
    monkeypatch.chdir(tmp_path)
    lines = {}
    for fold in open_dataset(folder).folds:
        for part in fold.parts.values():
            found = sample_preferences(part)
            for winner, loser, d in zip(
                found.winner, found.loser, found.magnitude, strict=True
            ):
                q = part.query_index[winner]
                first = part.query_ptr[q]
                lines[
                    f"{part.query_ids[q]},{winner - first + 1},{loser - first + 1},{d:g}"
                ] = None
    path = tmp_path / "preferences.csv"
    path.write_text("\n".join(["qid,winner,loser,magnitude", *lines]), encoding="utf-8")
    return path


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (folder / "results.json").read_text(encoding="utf-8")
    )
    return found


@pytest.mark.parametrize("method", [["greedy-rankrls", "--features", "3"], ["rankrls"]])
def test_all_preferences_that_labels_tell_are_those_labels(
    folder: Path, preferences: Path, tmp_path: Path, method: list[str]
) -> None:
    run = ["run", "--data", str(folder), "--method", *method, *FAST, "--cost", "unit"]
    assert main([*run, "--out", str(tmp_path / "labels")]) == 0
    assert (
        main(
            [*run, "--preferences", str(preferences), "--out", str(tmp_path / "pairs")]
        )
        == 0
    )
    labels, pairs = results(tmp_path / "labels"), results(tmp_path / "pairs")
    assert [fold["test"] for fold in labels["folds"]] == [
        fold["test"] for fold in pairs["folds"]
    ]
    assert [fold["selected"] for fold in labels["folds"]] == [
        fold["selected"] for fold in pairs["folds"]
    ]


def test_the_plan_gives_the_same_bits_and_refuses_another_file(
    folder: Path, preferences: Path, tmp_path: Path, refused
) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    lines = preferences.read_text(encoding="utf-8").splitlines()
    preferences.write_text("\n".join([lines[0], *lines[1::20]]), encoding="utf-8")
    run = [
        "run",
        "--data",
        str(folder),
        "--preferences",
        str(preferences),
        "--features",
        "2",
        *FAST,
    ]
    assert main([*run, "--protocol", "3-fold, nested 2-fold", "--out", str(first)]) == 0
    plan = load_plan(first / "plan.toml")
    assert preferences_of(plan)["path"] == str(preferences)
    assert main(["run", str(first / "plan.toml"), "--out", str(again)]) == 0
    metrics = [(folder / "metrics.csv").read_bytes() for folder in (first, again)]
    assert metrics[0] == metrics[1]
    preferences.write_text(
        preferences.read_text(encoding="utf-8") + "\n", encoding="utf-8"
    )
    refused(["run", str(first / "plan.toml")], "preferences plan")


def test_ranksvm_learns_from_them_behind_greedy_rankrls(
    folder: Path, preferences: Path, tmp_path: Path
) -> None:
    run = [
        "run",
        "--data",
        str(folder),
        "--preferences",
        str(preferences),
        "--features",
        "2",
        "--folds",
        "1",
    ]
    ranked = ["--ranker", "ranksvm", "--ranker-C", "1", "--lambda", "1"]
    assert main([*run, *ranked, "--out", str(tmp_path / "pairs")]) == 0
    assert len(results(tmp_path / "pairs")["folds"][0]["selected"]) in (1, 2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--method", "gas"], "GAS"),
        (["--ranker", "adarank"], "AdaRank"),
        (["--method", "rankrls", "--pairs", "all"], "pairs"),
    ],
)
def test_what_learns_from_labels_alone_is_refused(
    folder: Path, preferences: Path, capsys, options: list[str], sentence: str
) -> None:
    assert (
        main(
            ["run", "--data", str(folder), "--preferences", str(preferences), *options]
        )
        == 1
    )
    assert naming(sentence).search(" ".join(capsys.readouterr().err.split()))


def test_a_query_that_no_part_has_is_named_with_its_line(
    folder: Path, preferences: Path, capsys
) -> None:
    preferences.write_text(
        preferences.read_text(encoding="utf-8") + "\nnowhere,1,2\n", encoding="utf-8"
    )
    assert main(["run", "--data", str(folder), "--preferences", str(preferences)]) == 1
    assert naming("nowhere").search(" ".join(capsys.readouterr().err.split()))


def test_scores_of_others_learn_from_nothing(preferences: Path, refused) -> None:
    refused(
        [
            "run",
            "--sample",
            "--scores",
            f"x={preferences}",
            "--preferences",
            str(preferences),
        ],
        "--preferences --scores",
    )


@pytest.fixture
def clicks(folder: Path, tmp_path: Path) -> Path:
    """A log in which the first documents of each query of the data are shown in two orders."""
    lines = {}
    for part in (
        part for fold in open_dataset(folder).folds for part in fold.parts.values()
    ):
        for q, query in enumerate(part.query_ids):
            own = part.y[part.query_ptr[q] : part.query_ptr[q + 1]][:4]
            order = np.argsort(-own, kind="stable")
            shown = [
                (place, int(d) + 1, int(own[d] > 0 and place < 3))
                for place, d in enumerate(order, 1)
            ]
            shown += [
                (place, int(d) + 1, int(place in (1, own.size)))
                for place, d in enumerate(order[::-1], 1)
            ]
            lines[query] = [f"{query},{d},{place},{click}" for place, d, click in shown]
    path = tmp_path / "log.csv"
    path.write_text(
        "\n".join(
            [
                "qid,docid,position,click",
                *(line for own in lines.values() for line in own),
            ]
        )
    )
    return path


def test_clicks_are_learned_from_and_said_to_be_clicks(
    folder: Path, clicks: Path, tmp_path: Path, refused, capsys
) -> None:
    run = [
        "run",
        "--data",
        str(folder),
        "--method",
        "rankrls",
        *FAST,
        "--preferences",
        str(clicks),
    ]
    plans = {}
    for name, options in (
        ("usual", []),
        ("skipped", ["--click-pairs", "skipped"]),
        ("given", ["--eta", "0.5"]),
    ):
        assert main([*run, *options, "--out", str(tmp_path / name)]) == 0
        said = capsys.readouterr().err
        assert naming("Clicks not judgments position").search(" ".join(said.split()))
        assert ("estimated" in said) == (name != "given")
        plans[name] = load_plan(tmp_path / name / "plan.toml")
    assert {
        n: (preferences_of(p)["pairs"], preferences_of(p)["eta"])
        for n, p in plans.items()
    } == {
        "usual": ("unclicked", "estimated"),
        "skipped": ("skipped", "estimated"),
        "given": ("unclicked", "0.5"),
    }
    again = tmp_path / "again"
    assert (
        main(["run", str(tmp_path / "skipped" / "plan.toml"), "--out", str(again)]) == 0
    )
    assert (again / "metrics.csv").read_bytes() == (
        tmp_path / "skipped" / "metrics.csv"
    ).read_bytes()
    capsys.readouterr()
    assert main(["plan", str(again / "plan.toml"), "--to", "command"]) == 0
    assert "--click-pairs skipped --eta estimated" in capsys.readouterr().out
    refused([*run, "--eta", "x"], "eta x")
    refused([*run, "--eta", "given"], "propensity")
    refused(["run", "--sample", "--eta", "1"], "--eta --preferences")


def test_the_rule_of_clicks_is_not_for_preferences(preferences: Path, refused) -> None:
    refused(
        ["run", "--sample", "--preferences", str(preferences), "--eta", "1"],
        "clicks position",
    )


def test_without_the_plugin_its_name_is_said(
    folder: Path, preferences: Path, tmp_path: Path
) -> None:
    run = [
        "run",
        "--data",
        str(folder),
        "--method",
        "rankrls",
        "--lambda",
        "1",
        "--folds",
        "1",
    ]
    study = tmp_path / "one.rankstudio"
    plan = tmp_path / "plan.toml"
    assert main([*run, "--preferences", str(preferences), "--study", str(study)]) == 0
    without = partial(packages.rankstudio, tmp_path, "--without", "preferences")
    sentence = "Learning from preferences needs the plug-in preferences, which is absent or left out."
    refused = without(*run, "--preferences", str(preferences))
    assert refused.returncode == 1 and sentence in refused.stderr
    assert without(*run).returncode == 0
    opened = without("compare", str(study))
    assert opened.returncode == 0 and "RankRLS" in opened.stdout
    written = without("plan", str(study), "--run", "1", "--out", str(plan))
    assert written.returncode == 0 and preferences_of(load_plan(plan))["path"] == str(
        preferences
    )
    resumed = without("run", str(plan))
    assert resumed.returncode == 1 and sentence in resumed.stderr


def test_a_run_that_needs_the_absent_plugin_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = Plan(
        "sample", preferences={"path": "log.csv", "pairs": "skipped", "eta": "0.5"}
    )
    assert [source.lacking for source in plan.sources if source.lacking] == []
    monkeypatch.setattr(
        "rankstudio.engine.experiment.plan.plan.pair_source", lambda: None
    )
    monkeypatch.setattr(
        "rankstudio.engine.experiment.plan.preference_source.pair_source", lambda: None
    )
    (lacking,) = [source.lacking for source in plan.sources if source.lacking]
    assert lacking == preferences_in_words(preferences_of(plan), plan.entries)
    assert naming("plug-in preferences").search(lacking)
    assert Plan("sample", preferences=dict(preferences_of(plan))) == plan
