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
    "Fold": "data.dataset",
    "FoldedDataset": "data.dataset",
    "RankingDataset": "data.dataset",
    "evaluate": "metrics.evaluation",
    "load_letor": "data.letor.reader",
    "open_dataset": "data.folders",
}  # of the others the catalog of methods knows it

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
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    from rankstudio.engine.methods.catalog import methods  # noqa: PLC0415 - see above

    module = next(m.estimator for m in methods() if m.estimator.endswith(f":{name}")).partition(":")[0]
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
