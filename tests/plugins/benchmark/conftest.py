"""A folder with three datasets, and with what is none."""

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

FEW = """\
title = "Two methods"
select_by = "MAP"
measures = ["MAP", "NDCG@10"]
[[runs]]
method = ["gas", "rankrls"]
[parameters.rankrls]
regularization = "2^0..2^2"
"""


def write_table(path: Path, n_queries: int = 20, seed: int = 0) -> None:
    """Write a table of documents, without parts."""
    rng = np.random.default_rng(seed)
    lines = ["query_id,label,a,b"]
    for query in range(n_queries):
        for label in (0, 0, 1, 2):
            a, b = rng.normal(size=2)
            lines.append(f"{query},{label},{label + a:.6f},{b:.6f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of datasets; the benchmark few.toml is beside it."""
    root = tmp_path_factory.mktemp("benchmark", numbered=False)
    (root / "few.toml").write_text(FEW, encoding="utf-8")
    folder = root / "letor"
    save_folds(folder / "alpha", n_folds=2, n_queries=30, seed=1)
    save_folds(folder / "deep" / "beta", n_folds=1, n_queries=30, seed=2)
    write_table(folder / "deep" / "gamma.csv")
    # What is no dataset.
    (folder / "empty").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "train.txt").write_text("2 qid:1 1:0.5 2:abc\n")
    (folder / "half" / "Fold1").mkdir(parents=True)
    (folder / "half" / "Fold1" / "test.txt").write_text("1 qid:1 1:0.5\n")
    (folder / "results").mkdir()
    for name in ("results.json", "plan.toml"):
        (folder / "results" / name).write_text("{}")
    write_table(folder / "results" / "scores.csv")
    return folder
