"""``rankstudio convert``: data with the features that a run selected."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import load_letor, open_dataset


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds of LETOR text in ``Made``, and a run of them in ``out``."""
    root = tmp_path_factory.mktemp("made")
    save_folds(root / "Made", 2, n_queries=40, seed=3)
    options = ["--lambda", "1", "--features", "3", "--out", str(root / "out")]
    assert main(["run", "--data", str(root / "Made"), *options]) == 0
    return root


@pytest.mark.parametrize("source", ["study.rankstudio", "results.json", "models/fold2.json"])
def test_the_features_of_a_fold_are_kept(made: Path, tmp_path: Path, source: str) -> None:
    folds = json.loads((made / "out" / "results.json").read_text())["folds"]
    chosen = sorted(folds[1]["selected"])
    file = made / "Made" / "Fold2" / "test.txt"
    fold = [] if "models" in source else ["--selected-fold", "2"]
    kept = ["--selected", str(made / "out" / source), *fold]
    assert main(["convert", str(file), str(tmp_path / "ids.txt"), *kept]) == 0
    assert main(["convert", str(file), str(tmp_path / "new.txt"), *kept, "--renumber"]) == 0
    before = load_letor(file).X[:, [i - 1 for i in chosen]]
    same, new = load_letor(tmp_path / "ids.txt"), load_letor(tmp_path / "new.txt")
    np.testing.assert_array_equal(same.X[:, [i - 1 for i in chosen]], before)
    np.testing.assert_array_equal(new.X, before)
    table = [line.split(",") for line in (tmp_path / "new.features.csv").read_text().splitlines()]
    assert table[0] == ["id", "name", "original_id"]
    assert [(int(i), int(old)) for i, _, old in table[1:]] == list(enumerate(chosen, start=1))
    assert not (tmp_path / "ids.features.csv").exists()


@pytest.mark.parametrize("form", ["letor", "csv", "lightgbm"])
def test_a_folder_has_its_map_and_its_names_when_it_is_opened(made: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "few"
    command = ["convert", str(made / "Made"), str(out), "--features", "7,3", "--renumber", "--to", form]
    assert main(command) == 0
    opened = open_dataset(out)
    assert opened.feature_ids.tolist() == [1, 2]
    before = open_dataset(made / "Made")
    np.testing.assert_array_equal(opened.folds[1].train.X, before.folds[1].train.X[:, [2, 6]])
    assert "2,feature 7,7" in (out / "features.csv").read_text().lower()
    if form == "letor":
        assert opened.feature_names == (before.feature_names[2], before.feature_names[6])
    assert main(command) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--selected", "out/results.json"], "--selected-fold 1 2"),
        (["--selected", "out/results.json", "--selected-fold", "7"], "1 2 7 features"),
        (["--selected", "out/study.rankstudio", "--selected-run", "9"], "--selected-run 1"),
        (["--selected", "out/models/fold1.json", "--selected-fold", "1"], "--selected-fold results.json"),
        (["--selected", "out/results.json", "--features", "1"], "--features --selected"),
        (["--selected-fold", "1"], "--selected-fold"),
        (["--selected", "nothing.json"], "nothing.json results.json"),
        (["--selected", "odd.json"], "odd.json results.json"),
    ],
)
def test_what_does_not_say_which_features_is_a_sentence(
    made: Path, tmp_path: Path, monkeypatch, capsys, options: list[str], sentence: str
) -> None:
    (made / "odd.json").write_text('{"folds": [{"fold": "one"}, 3]}')
    monkeypatch.chdir(made)
    out = tmp_path / "new.txt"
    assert main(["convert", "Made/Fold1/test.txt", str(out), *options]) == 1
    assert naming(sentence).search(capsys.readouterr().err)
    assert not list(tmp_path.iterdir())
