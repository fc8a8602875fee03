"""LETOR's own score files: every figure of the testing set as LETOR's script printed it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine import load_letor
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import LETOR_MEASURES

# No query of OHSUMED has fewer than 10 documents, so that both conventions give the same there.
CONVENTIONS = [("Mq2008", "letor4"), ("OHSUMED", "letor4"), ("OHSUMED", "letor3")]
RANKINGS = [
    (dataset, ranker, convention)
    for dataset, convention in CONVENTIONS
    for ranker in ("ListNet", "RankBoost", "RankNet")
]
FOLDERS = {"Mq2008": "MQ2008", "OHSUMED": "OHSUMED/QueryLevelNorm"}


def _printed(path: Path) -> dict[str, dict[str, str]]:
    """Return {fold: {measure: digits}} of the part about the testing set."""
    part = path.read_text(encoding="utf-8").split("performance on testing set")[1]
    figures: dict[str, dict[str, str]] = {}
    for line in part.split("Performance on validation set")[0].splitlines():
        words = line.split()
        if words[:1] == ["Folds"]:
            names = words[1:]
        elif words:
            figures.setdefault(words[0], {}).update(zip(names, words[1:], strict=True))
    return figures


@pytest.mark.realdata
@pytest.mark.parametrize(("dataset", "ranker", "convention"), RANKINGS)
def test_every_printed_digit(
    letor_dir: Path, dataset: str, ranker: str, convention: str
) -> None:
    folder = letor_dir / "metrics" / dataset / ranker
    printed = _printed(folder / "expected.txt")
    assert list(printed) == [f"Fold{i}" for i in range(1, 6)]
    for fold, figures in printed.items():
        data = load_letor(letor_dir / FOLDERS[dataset] / fold / "test.txt")
        scores = np.loadtxt(folder / f"{fold}.test.score")
        ours = Evaluator(data.y, data.query_ptr, convention, LETOR_MEASURES).evaluate(
            scores
        )
        assert set(figures) == set(ours)
        assert {name: f"{value:.4f}" for name, value in ours.items()} == figures, fold
