"""Data, studies and models are told apart by every command that takes one of them."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from commands_there import of_commands_there
from letor_folder import save_folds

from rankstudio.cli import main
from rankstudio.cli.word_kinds import kind_of


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a study and a model."""
    root = tmp_path_factory.mktemp("kinds")
    save_folds(root / "folds", n_queries=12, n_noise=3, documents=(4, 6), seed=1)
    few = ["--lambda", "1", "--features", "2", "--folds", "1"]
    assert (
        main(
            ["run", "--data", str(root / "folds"), *few, "--out", str(root / "results")]
        )
        == 0
    )
    train = root / "folds" / "Fold1" / "train.txt"
    assert main(["convert", "--data", str(train), str(root / "data.csv")]) == 0
    return root


STUDY, MODEL = "results/study.rankstudio", "results/models/fold1.json"


def test_the_kinds_are_told_by_the_files(place: Path) -> None:
    kinds = [
        kind_of(place / name) for name in (STUDY, MODEL, "folds", "data.csv", "nothing")
    ]
    assert kinds == ["study", "model", "data", "data", ""]
    assert kind_of(place / "folds" / "Fold1" / "train.txt") == "data"


@pytest.mark.parametrize(
    ("words", "got"),
    of_commands_there(
        [
            *(
                (f"{command} {STUDY}", "a study")
                for command in ("permute", "drift", "judges", "lab selection")
            ),
            (f"convert {STUDY} out.csv", "a study"),
            (f"evaluate {STUDY} my.scores", "a study"),
            (f"predict {STUDY} {MODEL}", "a study"),
            (f"predict data.csv {STUDY}", "a study"),
            (f"predict data.csv --model {STUDY}", "a study"),
            (f"run {STUDY}", "a study"),
            (f"export {STUDY} --to ranklib --out x.txt", "a study"),
            ("export --model data.csv --to ranklib --out x.txt", "data"),
            (f"judges --data {MODEL}", "a model"),
            (f"evidence --data {MODEL}", "a model"),
            *(
                (f"{command} folds", "data")
                for command in ("thresholds", "cascade", "figures", "compare")
            ),
            ("report folds --out x.html", "data"),
            (f"studies {MODEL}", "a model"),
            ("run --resume folds --out again", "data"),
        ]
    ),
)
def test_another_kind_is_refused_by_its_name(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    got: str,
) -> None:
    monkeypatch.chdir(place)
    assert main(words.split()) == 1
    assert re.search(
        rf"expected .*, got {got}, .*; .+\.$", capsys.readouterr().err.strip()
    )


def test_a_model_is_a_word_or_an_option(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    printed = []
    for words in (
        ["data.csv", MODEL],
        ["data.csv", "--model", MODEL],
        ["--data", "data.csv", "--json", MODEL],
    ):
        assert (
            main(["predict", *words, *([] if "--json" in words else ["--json"])]) == 0
        )
        printed.append(capsys.readouterr().out)
    assert len(set(printed)) == 1
    for words in ([MODEL], ["--model", MODEL]):
        assert (
            main(["export", *words, "--to", "ranklib", "--out", "-", "--no-proof"]) == 0
        )
    assert (
        main(["export", MODEL, "--model", MODEL, "--to", "ranklib", "--out", "-"]) == 1
    )
    assert main(["predict", "data.csv"]) == 1


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("run --sample --method gredy-rankrls", "greedy-rankrls"),
        ("run --sample --method GAS", "gas"),
        ("run --sample --convention trec-eval", "trec_eval"),
        ("methods gredy-rankrls", "greedy-rankrls"),
        ("run --sample --method rankrls --measures NDGC@10", "NDCG@10"),
        ("run --sample --method rankrls --select-by MPA", "MAP"),
        ("run --sample --method rankrls --protocol 3-flod", "3-fold"),
        (
            "run --sample --method rankrls --protocol leave-querry-out",
            "leave-query-out",
        ),
        ("run --sample --method rankrls --rule smalest", "smallest"),
        ("run --sample --method l1", "l1-path"),
        ("run --data daat.csv --method rankrls", "data.csv"),
        ("run selecters --sample", "selectors"),
        *of_commands_there(
            [
                ("permute --sample --method rank_svm", "ranksvm"),
                ("lab selection --sample --measure MPA", "MAP"),
                ("reproduce fsmrnak --data x", "fsmrank"),
            ]
        ),
        ("rnu", "rankstudio run"),
    ],
)
def test_unknown_names_get_the_nearest(
    words: str,
    near: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    with suppress(SystemExit):
        assert main(words.split()) == 1
    assert f"did you mean {near}?" in capsys.readouterr().err.replace(
        "Did you", "did you"
    )


@pytest.mark.parametrize(
    ("words", "content", "got"),
    [
        ("compare a.txt", "0 qid:1 1:0.5 # docid = 3\n", "data"),
        pytest.param(
            "report a.txt --out r.html",
            "0 qid:1 1:0.5\n",
            "data",
            marks=pytest.mark.ability("report"),
        ),
        ("predict data.csv --model a.txt", "# LETOR\n2 1:0.5 3:-1e-3\n", "data"),
        ("export a.txt --to solr --out -", "1.5 qid:q7 1:0.5\n", "data"),
        ("studies a.txt", "hello\n", "a text file"),
    ],
)
def test_text_in_place_of_a_study_or_model_is_named_with_the_remedy(
    words: str,
    content: str,
    got: str,
    tmp_path: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    (place / "a.txt").write_text(content)
    assert main(words.split()) == 1
    assert re.search(
        rf"expected .*, got {got}, a\.txt; .+\.$", capsys.readouterr().err.strip()
    )
    (place / "a.txt").unlink()


def test_models_of_other_programs_are_no_data(tmp_path: Path) -> None:
    for content in (
        "## Coordinate Ascent\n1:0.5 2:0.25\n",
        "tree\nversion=v3\n",
        "1:0.5 2:0.25\n",
    ):
        (tmp_path / "model.txt").write_text(content)
        assert kind_of(tmp_path / "model.txt") == "text"
