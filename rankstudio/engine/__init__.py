"""The engine: everything RankStudio computes, usable without its window.

The names below are resolved when they are first used, so that importing the package costs nothing and the
window is up before scikit-learn and numba are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
    from rankstudio.engine.data.folders import open_dataset
    from rankstudio.engine.data.reader import load_letor
    from rankstudio.engine.learners.adarank import AdaRank
    from rankstudio.engine.learners.coordinate_ascent import CoordinateAscent
    from rankstudio.engine.learners.lambdamart import LambdaMART
    from rankstudio.engine.learners.listnet import ListNet
    from rankstudio.engine.learners.rankboost import RankBoost
    from rankstudio.engine.learners.rankrls import RankRLS
    from rankstudio.engine.learners.ranksvm import RankSVM
    from rankstudio.engine.learners.svm_map import SVMMAP
    from rankstudio.engine.metrics import evaluate
    from rankstudio.engine.selection.elimination import RecursiveElimination
    from rankstudio.engine.selection.expected_divergence import ExpectedDivergence
    from rankstudio.engine.selection.fsbfs import FSBFS
    from rankstudio.engine.selection.fsmrank import FSMRank
    from rankstudio.engine.selection.fsmsvm import FSMSVM
    from rankstudio.engine.selection.gas import GAS
    from rankstudio.engine.selection.greedy_rankrls import GreedyRankRLS
    from rankstudio.engine.selection.l1_path import L1Path
    from rankstudio.engine.selection.univariate import MutualInformation, SingleFeatureRanking

_HOMES = {
    "AdaRank": "learners.adarank",
    "CoordinateAscent": "learners.coordinate_ascent",
    "ExpectedDivergence": "selection.expected_divergence",
    "FSBFS": "selection.fsbfs",
    "FSMRank": "selection.fsmrank",
    "FSMSVM": "selection.fsmsvm",
    "Fold": "data.dataset",
    "FoldedDataset": "data.dataset",
    "GAS": "selection.gas",
    "GreedyRankRLS": "selection.greedy_rankrls",
    "L1Path": "selection.l1_path",
    "LambdaMART": "learners.lambdamart",
    "ListNet": "learners.listnet",
    "MutualInformation": "selection.univariate",
    "RankBoost": "learners.rankboost",
    "RankRLS": "learners.rankrls",
    "RankSVM": "learners.ranksvm",
    "RankingDataset": "data.dataset",
    "RecursiveElimination": "selection.elimination",
    "SVMMAP": "learners.svm_map",
    "SingleFeatureRanking": "selection.univariate",
    "evaluate": "metrics",
    "load_letor": "data.reader",
    "open_dataset": "data.folders",
}

__all__ = [
    "FSBFS",
    "FSMSVM",
    "GAS",
    "SVMMAP",
    "AdaRank",
    "CoordinateAscent",
    "ExpectedDivergence",
    "FSMRank",
    "Fold",
    "FoldedDataset",
    "GreedyRankRLS",
    "L1Path",
    "LambdaMART",
    "ListNet",
    "MutualInformation",
    "RankBoost",
    "RankRLS",
    "RankSVM",
    "RankingDataset",
    "RecursiveElimination",
    "SingleFeatureRanking",
    "evaluate",
    "load_letor",
    "open_dataset",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
