"""Cross-fitted measures of a finished run, from its stored models.

Runs without a test part are compared by them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from rankstudio.engine.analysis.measurements.measurement import Measurement
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.fingerprint import data_digest
from rankstudio.engine.errors import DatasetError, RankStudioError, StoreError
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RunKey
from rankstudio.engine.language import tr
from rankstudio.engine.support.frozen_mapping import FrozenMapping


def cross_fitted(
    run: RunResult,
    dataset: FoldedDataset | RankingDataset,
    *,
    measure: str | None = None,
    convention: str | None = None,
    engine: Remeasurement | None = None,
) -> RunResult:
    """Return a run with cross-fitted measures.

    Cross-fitted means: each validation query is measured by models that
    were chosen without it.

    The validation queries of a fold are divided into 5 groups. For each
    group the plan's rule chooses a model by the other four groups, and
    the model's measure in the queries of the group counts; the mean
    over 20 fixed random divisions is one value per query. Their mean
    estimates the measure of the method, including the choice, on new
    queries, for training parts of the folds' size (Varma and Simon
    2006). New runs have these values; this function computes them for
    runs of earlier versions, and for other measures. Nothing is
    trained.

    Parameters
    ----------
    run : RunResult
        A run with finished folds.
    dataset : FoldedDataset or RankingDataset
        Data of the run, with documents.
    measure : str, optional
        A further measure to compute. The run's own selection measure
        still chooses the models.
    convention : str, optional
        Key of another convention for all measures.
    engine : Remeasurement, optional
        Keeps rankings between calls.

    Returns
    -------
    RunResult
        The run, whose folds have the values in `cross_fitted`. There
        are no values without a validation part, with inner folds whose
        run did not keep them, and if a study does not store the models,
        as for boosting in earlier versions. The `part` of a run without
        values and test part is "validation, chosen on it".

    Raises
    ------
    DatasetError
        If the data are not those of the run.
    ParameterError
        For an unknown measure or convention.

    Notes
    -----
    O(K m log m) for K models and m validation documents if the run does
    not keep its choices; otherwise O(m log m) for each of up to 100
    chosen models. One path of K x Q values is in memory at a time,
    besides rankings of up to half a gigabyte.

    Repeated random splits of the same queries overlap, so intervals
    over the queries of several such folds are too narrow. The
    validation parts of cross-validation do not overlap.
    """
    # The folds must be those of the run.
    plan = run.plan
    divided = parse_protocol(plan.protocol).divide(FoldedDataset.of(dataset), plan.seed)
    if run.data_digest and data_digest(divided) != run.data_digest:
        text = tr("{name}: these are other data than those of the run.")
        raise DatasetError(text.format(name=divided.name))

    # Measure each fold anew, with the values of models chosen without the query.
    engine = engine or Remeasurement()
    measurement = Measurement(
        convention or plan.convention, measure or plan.measures[0]
    )
    new_plan = measurement.plan(plan)
    folds = {fold.number: fold for fold in divided.folds}
    measured = []
    for result in run.folds:
        fold = folds[result.fold]
        # `plan` chooses the models, and `new_plan` has the measures.
        values = engine.cross_fitted(result, fold, plan, new_plan)
        remeasured = engine.fold(result, fold, plan, measurement)
        measured.append(replace(remeasured, cross_fitted=FrozenMapping(values)))
    return replace(run, plan=new_plan, folds=tuple(measured))


def with_cross_fitted(run: RunResult, dataset: FoldedDataset | None) -> RunResult:
    """Return a run with its cross-fitted measures.

    Cross-fitted measures are values in each validation query, by models
    that were chosen without it. The measures are computed if an earlier
    version did not store them.

    Nothing else changes. The run itself is returned if it has these
    measures, or if they cannot be computed, because the data or a
    validation part are missing.
    """
    if (
        dataset is None
        or run.has_cross_fitted
        or not all(fold.validation for fold in run.folds)
    ):
        return run
    # Data that do not fit the run leave it as it is.
    with suppress(RankStudioError):
        fitted = cross_fitted(run, dataset)
        n_queries = {
            fold.number: fold.vali.n_queries
            for fold in dataset.folds
            if fold.vali is not None
        }
        folds = [
            replace(
                fold,
                cross_fitted=new.cross_fitted,
                n_validation_queries=n_queries.get(fold.fold, 0),
            )
            for fold, new in zip(run.folds, fitted.folds, strict=True)
        ]
        return replace(run, folds=tuple(folds))
    return run


def fitted_in_study(
    study: Study, key: RunKey, run: RunResult, dataset: FoldedDataset | None
) -> RunResult:
    """Return a run of a study with its cross-fitted measures.

    Cross-fitted measures are values in each validation query, by models
    that were chosen without it. New measures are stored in the study,
    unless it cannot be written.
    """
    fitted = with_cross_fitted(run, dataset)
    if fitted is not run:
        with suppress(StoreError):
            study.save_cross_fitted(key, fitted.folds)
    return fitted
