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
    from rankstudio.engine.data.letor.reader import load_letor
    from rankstudio.engine.methods.rankers.adarank import AdaRank
    from rankstudio.engine.methods.rankers.coordinate_ascent import CoordinateAscent
    from rankstudio.engine.methods.rankers.lambdamart import LambdaMART
    from rankstudio.engine.methods.rankers.listnet import ListNet
    from rankstudio.engine.methods.rankers.rankboost import RankBoost
    from rankstudio.engine.methods.rankers.rankrls import RankRLS
    from rankstudio.engine.methods.rankers.ranksvm import RankSVM
    from rankstudio.engine.methods.rankers.svm_map import SVMMAP
    from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
    from rankstudio.engine.methods.selection.fs_bfs import FSBFS
    from rankstudio.engine.methods.selection.fsmrank import FSMRank
    from rankstudio.engine.methods.selection.fsmsvm import FSMSVM
    from rankstudio.engine.methods.selection.gas import GAS
    from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
    from rankstudio.engine.methods.selection.l1_path import L1Path
    from rankstudio.engine.methods.selection.recursive_elimination import RecursiveElimination
    from rankstudio.engine.methods.selection.single_feature import MutualInformation, SingleFeatureRanking
    from rankstudio.engine.metrics.evaluation import evaluate

_HOMES = {
    "AdaRank": "methods.rankers.adarank",
    "CoordinateAscent": "methods.rankers.coordinate_ascent",
    "ExpectedDivergence": "methods.selection.expected_divergence",
    "FSBFS": "methods.selection.fs_bfs",
    "FSMRank": "methods.selection.fsmrank",
    "FSMSVM": "methods.selection.fsmsvm",
    "Fold": "data.dataset",
    "FoldedDataset": "data.dataset",
    "GAS": "methods.selection.gas",
    "GreedyRankRLS": "methods.selection.greedy_rankrls.estimator",
    "L1Path": "methods.selection.l1_path",
    "LambdaMART": "methods.rankers.lambdamart",
    "ListNet": "methods.rankers.listnet",
    "MutualInformation": "methods.selection.single_feature",
    "RankBoost": "methods.rankers.rankboost",
    "RankRLS": "methods.rankers.rankrls",
    "RankSVM": "methods.rankers.ranksvm",
    "RankingDataset": "data.dataset",
    "RecursiveElimination": "methods.selection.recursive_elimination",
    "SVMMAP": "methods.rankers.svm_map",
    "SingleFeatureRanking": "methods.selection.single_feature",
    "evaluate": "metrics.evaluation",
    "load_letor": "data.letor.reader",
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
