"""``rankstudio drift``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.engine import open_dataset
from rankstudio.engine.analysis.features.drift import feature_drift
from rankstudio.engine.support.work import finish


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_folds(tmp_path_factory.mktemp("drift") / "Made", 2, n_queries=20, seed=3)


def test_json_is_what_the_function_returns(made: Path, answer, done) -> None:
    """Catches another fold, and parts that are swapped."""
    values = answer(["drift", str(made), "--fold", "2", "--parts", "vali,test", "--json"])
    fold = open_dataset(made).folds[1]
    found = finish(feature_drift(fold.vali, fold.test))
    assert [row["feature"] for row in values["features"]] == [one.feature for one in found]
    assert [row["distance"] for row in values["features"]] == [one.distance for one in found]
    taus = [[None if np.isnan(tau) else tau for tau in one.correlation] for one in found]
    assert [row["correlation"] for row in values["features"]] == taus
    lines = done(["drift", str(made)]).out.splitlines()
    assert len(lines) == 5 + len(found) and lines[0].startswith("A:") and "train" in lines[0]


def test_two_files_are_compared(made: Path, answer) -> None:
    files = [str(made / "Fold1" / name) for name in ("train.txt", "test.txt")]
    values = answer(["drift", *files, "--json"])
    assert values == answer(["drift", str(made / "Fold1"), "--json"]) | {"parts": ["train", "train"]}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--parts", "train"], "--parts train"),
        (["--parts", "train,x"], "--parts train,x"),
        (["--fold", "9"], "--fold 9"),
        (["nowhere.txt"], "nowhere.txt"),
    ],
)
def test_what_cannot_be_compared_is_said(made: Path, refused, more: list[str], said: str) -> None:
    refused(["drift", str(made), *more], said)
