"""The engine: everything RankStudio computes, usable without its window.

The names below are resolved when they are first used, so that importing the package costs nothing and the
window is up before scikit-learn and numba are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstudio.engine.analysis.evidence.best_subset import best_subset as best_subset
    from rankstudio.engine.analysis.evidence.deciding_queries import deciding_queries as deciding_queries
    from rankstudio.engine.analysis.evidence.near_best_sets import near_best_sets as near_best_sets
    from rankstudio.engine.analysis.evidence.permutation_importance import (
        permutation_importance as permutation_importance,
    )
    from rankstudio.engine.analysis.evidence.query_paths import paths_by_queries as paths_by_queries
    from rankstudio.engine.analysis.evidence.refitted_stability import (
        stability_by_refitting as stability_by_refitting,
    )
    from rankstudio.engine.analysis.evidence.repeated_left_out import repeated_left_out as repeated_left_out
    from rankstudio.engine.analysis.evidence.selection_evidence import (
        selection_evidence as selection_evidence,
    )
    from rankstudio.engine.analysis.evidence.set_changes import set_changes as set_changes
    from rankstudio.engine.analysis.evidence.shapley_shares import shapley_shares as shapley_shares
    from rankstudio.engine.analysis.evidence.stability_selection import (
        stability_selection as stability_selection,
    )
    from rankstudio.engine.analysis.evidence.step_significance import step_significance as step_significance
    from rankstudio.engine.analysis.measurements.cross_fitting import cross_fitted as cross_fitted
    from rankstudio.engine.data.dataset import Fold as Fold
    from rankstudio.engine.data.dataset import FoldedDataset as FoldedDataset
    from rankstudio.engine.data.dataset import RankingDataset as RankingDataset
    from rankstudio.engine.data.folders import open_dataset as open_dataset
    from rankstudio.engine.data.formats.data_file import load_data as load_data
    from rankstudio.engine.data.formats.data_file import load_letor as load_letor
    from rankstudio.engine.data.preferences import Preferences as Preferences
    from rankstudio.engine.data.preferences import sample_preferences as sample_preferences
    from rankstudio.engine.data.synthetic import load_sample as load_sample
    from rankstudio.engine.experiment.plan.plan import Plan as Plan
    from rankstudio.engine.experiment.plan.toml import load_plan as load_plan
    from rankstudio.engine.experiment.refit import refit as refit
    from rankstudio.engine.experiment.reports import write_results as write_results
    from rankstudio.engine.experiment.results.results import RunResult as RunResult
    from rankstudio.engine.experiment.runner import run_plan as run_plan
    from rankstudio.engine.export.models import load_model as load_model
    from rankstudio.engine.export.models import save_model as save_model
    from rankstudio.engine.methods.rankers.rankrls import RankRLS as RankRLS
    from rankstudio.engine.methods.rankers.ranksvm import RankSVM as RankSVM
    from rankstudio.engine.methods.selection.expected_divergence import (
        ExpectedDivergence as ExpectedDivergence,
    )
    from rankstudio.engine.methods.selection.fs_bfs import FSBFS as FSBFS
    from rankstudio.engine.methods.selection.fsmrank import FSMSVM as FSMSVM
    from rankstudio.engine.methods.selection.fsmrank import FSMRank as FSMRank
    from rankstudio.engine.methods.selection.fsmrank import FSMRankTop as FSMRankTop
    from rankstudio.engine.methods.selection.gas import GAS as GAS
    from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS as GreedyRankRLS
    from rankstudio.engine.methods.selection.l1_path import L1Path as L1Path
    from rankstudio.engine.methods.selection.recursive_elimination import (
        RecursiveElimination as RecursiveElimination,
    )
    from rankstudio.engine.methods.selection.single_feature import ChiSquared as ChiSquared
    from rankstudio.engine.methods.selection.single_feature import MutualInformation as MutualInformation
    from rankstudio.engine.methods.selection.single_feature import (
        SingleFeatureRanking as SingleFeatureRanking,
    )
    from rankstudio.engine.metrics.evaluation import evaluate as evaluate

_HOMES = {
    "cross_fitted": "rankstudio.engine.analysis.measurements.cross_fitting",
    "best_subset": "rankstudio.engine.analysis.evidence.best_subset",
    "permutation_importance": "rankstudio.engine.analysis.evidence.permutation_importance",
    "stability_by_refitting": "rankstudio.engine.analysis.evidence.refitted_stability",
    "near_best_sets": "rankstudio.engine.analysis.evidence.near_best_sets",
    "Fold": "rankstudio.engine.data.dataset",
    "Preferences": "rankstudio.engine.data.preferences",
    "Plan": "rankstudio.engine.experiment.plan.plan",
    "RunResult": "rankstudio.engine.experiment.results.results",
    "load_plan": "rankstudio.engine.experiment.plan.toml",
    "refit": "rankstudio.engine.experiment.refit",
    "run_plan": "rankstudio.engine.experiment.runner",
    "write_results": "rankstudio.engine.experiment.reports",
    "FoldedDataset": "rankstudio.engine.data.dataset",
    "RankingDataset": "rankstudio.engine.data.dataset",
    "evaluate": "rankstudio.engine.metrics.evaluation",
    "load_data": "rankstudio.engine.data.formats.data_file",
    "load_letor": "rankstudio.engine.data.formats.data_file",
    "load_model": "rankstudio.engine.export.models",
    "load_sample": "rankstudio.engine.data.synthetic",
    "save_model": "rankstudio.engine.export.models",
    "sample_preferences": "rankstudio.engine.data.preferences",
    "open_dataset": "rankstudio.engine.data.folders",
    "deciding_queries": "rankstudio.engine.analysis.evidence.deciding_queries",
    "paths_by_queries": "rankstudio.engine.analysis.evidence.query_paths",
    "repeated_left_out": "rankstudio.engine.analysis.evidence.repeated_left_out",
    "selection_evidence": "rankstudio.engine.analysis.evidence.selection_evidence",
    "set_changes": "rankstudio.engine.analysis.evidence.set_changes",
    "shapley_shares": "rankstudio.engine.analysis.evidence.shapley_shares",
    "stability_selection": "rankstudio.engine.analysis.evidence.stability_selection",
    "step_significance": "rankstudio.engine.analysis.evidence.step_significance",
}


def _homes() -> dict[str, str]:
    """Return in which module each name is: estimators are where the catalog of methods says."""
    from rankstudio.engine.methods.catalog import methods  # noqa: PLC0415 - see above

    estimators = (entry.estimator.partition(":") for entry in methods() if entry.origin is None)
    return {**_HOMES, **{name: module for module, _, name in estimators}}


def __getattr__(name: str) -> Any:  # checkers of types know no estimator of an ability
    if name == "__all__":  # for ``from rankstudio.engine import *``
        return __dir__()
    home = _HOMES.get(name) or ("" if name.startswith("_") else _homes().get(name))
    if not home:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_homes())
