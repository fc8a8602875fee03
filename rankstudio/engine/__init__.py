"""The engine: everything RankStudio computes, usable without its window.

The names below are resolved when they are first used, so that importing
the package costs nothing and the window is up before scikit-learn and
numba are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstudio.engine.analysis.measurements.cross_fitting import (
        cross_fitted as cross_fitted,
    )
    from rankstudio.engine.data.dataset import Fold as Fold
    from rankstudio.engine.data.dataset import FoldedDataset as FoldedDataset
    from rankstudio.engine.data.dataset import RankingDataset as RankingDataset
    from rankstudio.engine.data.folders import open_dataset as open_dataset
    from rankstudio.engine.data.formats.data_file import load_data as load_data
    from rankstudio.engine.data.formats.data_file import load_letor as load_letor
    from rankstudio.engine.data.preferences import Preferences as Preferences
    from rankstudio.engine.data.preferences import (
        sample_preferences as sample_preferences,
    )
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
    from rankstudio.engine.methods.selection.greedy_rankrls.estimator import (
        GreedyRankRLS as GreedyRankRLS,
    )
    from rankstudio.engine.methods.selection.l1_path import L1Path as L1Path
    from rankstudio.engine.methods.selection.recursive_elimination import (
        RecursiveElimination as RecursiveElimination,
    )
    from rankstudio.engine.methods.selection.single_feature import (
        ChiSquared as ChiSquared,
    )
    from rankstudio.engine.methods.selection.single_feature import (
        MutualInformation as MutualInformation,
    )
    from rankstudio.engine.methods.selection.single_feature import (
        SingleFeatureRanking as SingleFeatureRanking,
    )
    from rankstudio.engine.methods.selection.sparse_ranksvm import (
        SparseRankSVM as SparseRankSVM,
    )
    from rankstudio.engine.metrics.evaluation import evaluate as evaluate

_HOMES = {
    "cross_fitted": "rankstudio.engine.analysis.measurements.cross_fitting",
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
}


def _homes() -> dict[str, str]:
    """Return the module of each public name of this package, by name.

    Estimators are in the catalog of methods, with their modules.
    """
    from rankstudio.engine.methods.catalog import methods  # noqa: PLC0415 - see above

    estimators = (
        entry.estimator.partition(":") for entry in methods() if entry.origin is None
    )
    return {
        **_HOMES,
        **_functions(),
        **{name: module for module, _, name in estimators},
    }


def _functions() -> dict[str, str]:
    """Return the module of each function that a plug-in adds, by name."""
    from rankstudio.engine.plugins.engine_functions import engine_functions  # noqa: PLC0415 - see above

    return engine_functions()


# type checkers do not know the functions of abilities
def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first needed."""
    if name == "__all__":  # for ``from rankstudio.engine import *``
        return __dir__()
    # The catalog of methods is read only for names that are not listed.
    home = _HOMES.get(name)
    if not home and not name.startswith("_"):
        home = _functions().get(name) or _homes().get(name)
    if not home:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_homes())
