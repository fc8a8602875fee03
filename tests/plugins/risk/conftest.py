"""A study of three methods on the same folds."""

from pathlib import Path

import pytest
from letor_folder import save_folds

from rankstudio.cli import main


@pytest.fixture(scope="session")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the study file."""
    root = tmp_path_factory.mktemp("risk", numbered=False)
    save_folds(root / "data", n_folds=2, n_queries=40, seed=4)
    plan = root / "plan.toml"
    plan.write_text(
        f'data = "{(root / "data").as_posix()}"\nmeasures = ["MAP", "NDCG@10", "Disagreement"]\n'
        'select_by = "MAP"\n[[runs]]\nmethod = ["gas", "rankrls", "mutual-information"]\n',
        encoding="utf-8",
    )
    study = root / "three.rankstudio"
    assert main(["run", str(plan), "--study", str(study)]) == 0
    return study
