"""A study of two methods on five datasets."""

from pathlib import Path

import pytest
from letor_folder import save_folds

from rankstudio.cli import main


@pytest.fixture(scope="session")
def five_datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the study file."""
    root = tmp_path_factory.mktemp("five", numbered=False)
    for number in range(5):
        save_folds(root / f"data{number}", n_folds=1, n_queries=30, seed=number)
    plan = root / "plan.toml"
    places = ", ".join(
        f'"{(root / f"data{number}").as_posix()}"' for number in range(5)
    )
    plan.write_text(
        f'data = [{places}]\nmeasures = ["MAP", "NDCG@10"]\nselect_by = "MAP"\n'
        '[[runs]]\nmethod = ["gas", "rankrls"]\n',
        encoding="utf-8",
    )
    study = root / "five.rankstudio"
    assert main(["run", str(plan), "--study", str(study)]) == 0
    return study
