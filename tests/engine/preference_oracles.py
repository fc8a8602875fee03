"""Brute force for given preferences, graphs of them for hypothesis, and files of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from strategies import Problem, problems

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.preferences import Preferences, sample_preferences


def listed_preferences(
    preferences: Preferences, qid: np.ndarray, cost: str, weighting: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M' (l, m), N (l,) of Pahikkala et al. (2009), and the query of each preference."""
    rows = []
    targets = []
    owners = []
    for winner, loser, magnitude, weight in zip(
        preferences.winner,
        preferences.loser,
        preferences.magnitude,
        preferences.weight,
        strict=True,
    ):
        inside = qid[preferences.winner] == qid[winner]
        divisor = {
            "size": np.sum(qid == qid[winner]),
            "pairs": preferences.weight[inside].sum(),
            "none": 1.0,
        }[weighting]
        w = np.sqrt(weight / divisor) / (magnitude if cost == "inverse" else 1.0)
        row = np.zeros(qid.size)
        row[winner] = w
        row[loser] = -w
        rows.append(row)
        targets.append(w * (1.0 if cost == "unit" else magnitude))
        owners.append(qid[winner])
    return np.array(rows).reshape(-1, qid.size), np.array(targets), np.array(owners)


@st.composite
def preferred(draw: st.DrawFn, fewest_queries: int = 1) -> tuple[Problem, Preferences]:
    """A problem, its rows perhaps shuffled; preferences repeated, contradicting, of some queries only."""
    problem = draw(
        problems(fewest_queries=fewest_queries).filter(
            lambda p: np.unique(p.qid).size < p.qid.size
        )
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = (
        rng.permutation(problem.qid.size)
        if draw(st.booleans())
        else np.arange(problem.qid.size)
    )
    problem = Problem(
        problem.X[order], problem.y[order], problem.qid[order], problem.regularization
    )
    is_pair = (problem.qid[:, None] == problem.qid) & ~np.eye(
        problem.qid.size, dtype=bool
    )
    pairs = np.argwhere(is_pair)
    chosen = pairs[rng.integers(0, len(pairs), draw(st.integers(1, 40)))]
    sizes = (rng.integers(1, 4, len(chosen)) / 2, rng.integers(1, 5, len(chosen)) / 2)
    if draw(st.booleans()):
        return problem, Preferences(chosen[:, 0], chosen[:, 1])
    return problem, Preferences(chosen[:, 0], chosen[:, 1], *sizes)


def write_preferences(path: Path, dataset: FoldedDataset, noise: float = 0.2) -> Path:
    """Write preferences for all queries, drawn from their labels, and one contradiction."""
    lines = ["qid,winner,loser,magnitude"]
    written_queries = set[str]()
    for fold in dataset.folds:
        for part in fold.parts.values():
            drawn = sample_preferences(part, noise=noise)
            for winner, loser, size in zip(
                drawn.winner, drawn.loser, drawn.magnitude, strict=True
            ):
                q = int(part.query_index[winner])
                if part.query_ids[q] not in written_queries:
                    first = part.query_ptr[q]
                    lines.append(
                        f"{part.query_ids[q]},{winner - first + 1},{loser - first + 1},{size:g}"
                    )
            written_queries.update(part.query_ids)
    first = dataset.folds[0].train.query_ids[0]
    path.write_text("\n".join([*lines, f"{first},1,2,1", f"{first},2,1,1"]) + "\n")
    return path
