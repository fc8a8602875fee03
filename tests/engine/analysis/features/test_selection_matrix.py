import numpy as np

from rankstudio.engine.analysis.features.selection_matrix import selection_matrix
from rankstudio.engine.data.synthetic import open_sample
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.runner import run


def test_every_fold_of_every_run_has_its_ranks():
    dataset = open_sample()
    folds = []
    for k in (2, 4):
        plan = Plan("sample", parameters={"n_features_to_select": k, "regularization": [1.0]}, folds=(1, 3))
        folds += next(e for e in run(plan, dataset) if isinstance(e, RunFinished)).result.folds
    ranks = selection_matrix(folds, dataset.feature_ids)
    assert ranks.shape == (46, 4)
    for place, fold in enumerate(folds):
        by_rank = np.argsort(ranks[:, place])[: len(fold.selected)]
        assert tuple(dataset.feature_ids[by_rank].tolist()) == fold.selected
        assert np.isnan(ranks[:, place]).sum() == 46 - len(fold.selected)
