"""Believable numbers for the gallery."""

from __future__ import annotations

import numpy as np

from rankstudio.ui.widgets import ProgressCell

LAMBDAS = [2.0**i for i in range(11)]
KS = np.arange(1, 47)
FEATURES = [
    (1, 39, "LMIR.DIR of whole document", 0.24, 0.4496),
    (2, 29, "BM25 of title", 0.13, 0.4571),
    (3, 25, "BM25 of anchor", 0.11, 0.4638),
    (4, 23, "LMIR.DIR of body", -0.31, 0.4651),
    (5, 46, "Number of child page", float("nan"), 0.4543),
    (6, 19, "DL of URL", float("nan"), 0.4534),
    (7, 18, "DL of title", float("nan"), 0.4554),
    (8, 28, "LMIR.JM of anchor", float("nan"), 0.4574),
]
RUNS = [
    (0, "Greedy RankRLS", "MQ2008 · 5 folds", "✓ done", 0.4720, 0.2251, 0.049, "1–7", float("nan")),
    (1, "RankRLS, all features", "MQ2008 · 5 folds", "✓ done", 0.4719, 0.2268, 0.041, "46", 0.98),
    (2, "FSMRank", "MQ2008 · 5 folds", "✓ done", 0.4776, 0.2293, 0.046, "3–16", 0.21),
    (
        3,
        "FS-ED → RankSVM",
        "MQ2008 · fold 3",
        ProgressCell(0.63, "0:12 left"),
        *([float("nan")] * 3),
        "",
        None,
    ),
]


def curves() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return criterion and validation curves that look like MQ2008's."""
    rng = np.random.default_rng(4)
    noise = np.cumsum(rng.normal(0, 0.0011, (11, 46)), axis=1)
    error, measure = [], []
    for i in range(11):
        late = 0.0007 * ((KS - 25) / 25.0) ** 2 * (1.2 - 0.05 * i)
        error.append(0.2046 + late + (0.0052 + 0.0002 * i**2) * np.exp(-KS / (1.6 + 0.3 * i)) + 3e-6 * 2.0**i)
        peak = 0.016 * np.exp(-(((KS - 4) / 2.2) ** 2))
        measure.append(0.452 + 0.0006 * i + peak - 0.01 * np.exp(-KS / 1.4) + 0.8 * noise[i])
    return error, measure
