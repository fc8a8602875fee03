"""The pipelines of a comparison: their plans, and their existing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankstudio.engine.analysis.comparisons.batch import Comparison
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.workload import Workload, workload
from rankstudio.engine.methods.catalog import Kind, method
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import Session, reading

OWN_MODEL = ""
"""Key of the choice without a ranker: the selector's own weights rank."""

_USUAL_FOLDS = 5  # assumed number of folds of data that are not open
_NO_DATA = ""  # data of the plans of a file until a dataset is chosen for them
_STARTED_STATES = (RunState.DONE, RunState.RUNNING, RunState.PAUSED, RunState.QUEUED)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline on one dataset, with its run if one exists.

    Attributes
    ----------
    plan : Plan
    position : int
        Position in the list of pipelines.
    run : int or None
        Number of the run that is finished, in progress, in the queue or
        interrupted; None without such a run.
    state : RunState or None
        State of the run.
    seconds : float
        Duration of the run if it is finished, and else an estimate of
        the duration.
    guessed : bool
        Whether the estimate is not based on finished runs.
    folds_done, n_folds : int
        Finished folds and all folds of an interrupted run.
    """

    plan: Plan
    position: int
    run: int | None
    state: RunState | None
    seconds: float
    guessed: bool
    folds_done: int = 0
    n_folds: int = 0

    @property
    def is_started(self) -> bool:
        """Whether the run is done, in progress or in the queue, so that nothing has to be started."""
        return self.state in _STARTED_STATES

    @property
    def finished(self) -> bool:
        """Whether the run is used as it is."""
        return self.state is RunState.DONE


class Pipelines:
    """Makes the plans of a comparison on several datasets, and finds existing runs of these plans.

    Parameters
    ----------
    session : Session
    runs : Runs
    files : Mapping of str to Comparison
        The comparisons that can be chosen, by their files.
    """

    def __init__(
        self, session: Session, runs: Runs, files: Mapping[str, Comparison]
    ) -> None:
        self._session = session
        self._runs = runs
        self.files = files

    def listed(self, file: str) -> list[Plan]:
        """Return the plans of a file, or without a file those of comparable finished runs and the form's.

        ``file`` is a path, or "" for none. The form is the Select page,
        with the plan of the session.
        """
        if file:
            # The user chooses data for these plans in the dialog.
            return list(self.files[file].plans(_NO_DATA))
        form = self._session.plan
        # The open data may have another path in the plan of a run.
        fitting = [
            record.plan.changed(data=form.data)
            for record in self._runs.records
            if self._fits(record)
        ]
        return self.distinct([*fitting, form])

    def distinct(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the plans without repetitions.

        Plans that differ only in what they report are the same.
        """
        # To compare the plans by what they compute, give all of them
        # the same data and reported measures. The first of equal plans
        # is returned.
        form = self._session.plan
        reported = {"measures": form.measures, "convention": form.convention}
        on_form_data = [self._at(plan, form.data).changed(**reported) for plan in plans]
        return [
            plan
            for i, plan in enumerate(plans)
            if on_form_data[i] not in on_form_data[:i]
        ]

    def made(self, selector: str, ranker: str) -> Plan:
        """Return the plan of a method and a ranker, with the form's protocol, k, pins and bans.

        ``selector`` is the key of the method, and ``ranker`` that of
        the ranker. The form is the Select page, with the plan of the
        session. All its parameters are taken over if it has the same
        method, and those of its ranker if it has the same pair of
        method and ranker.

        Raises
        ------
        PlanError, ParameterError
            If the method, the ranker and the form's settings do not fit
            together.
        """
        # A method that selects nothing is a ranker itself, so it has no
        # other one. All methods share the limit of the number of
        # features (k), and the pinned and banned features.
        form = self._session.plan
        ranker = ranker if method(selector).selects else OWN_MODEL
        limit = StepKind.FEATURES.limit
        parameters = method(selector).parameters
        common_names = {
            p.name for p in parameters if p.name == limit or p.kind is Kind.FEATURES
        }
        is_same_method = selector == form.method
        settings = {
            name: value
            for name, value in form.parameters.items()
            if is_same_method or name in common_names
        }
        is_same_pair = (selector, ranker) == (form.method, form.ranker)
        ranker_settings = form.ranker_parameters if is_same_pair else {}
        return form.changed(
            method=selector,
            ranker=ranker,
            parameters=settings,
            ranker_parameters=ranker_settings,
        )

    def left_out(self, plans: Sequence[Plan]) -> str:
        """Return a note that some of the plans ignore the features that the form pins or bans.

        The form is the Select page. A method without a parameter for
        these features ignores them. Return "" if all methods have one.
        """
        form = self._session.plan
        feature_parameters = (
            p for p in form.entry.parameters if p.kind is Kind.FEATURES
        )
        names_in_use = {p.name for p in feature_parameters if form.parameters[p.name]}
        if all(names_in_use <= plan.parameters.keys() for plan in plans):
            return ""
        return tr("Pinned and banned features apply only to {method}.").format(
            method=form.entry.label
        )

    def rows(
        self, plans: Sequence[Plan], data: Sequence[str], labels: Sequence[str] = ()
    ) -> list[Pipeline]:
        """Return every pipeline on every dataset.

        A method that learns nothing, as it ranks by scores computed
        elsewhere, is returned on the dataset of these scores only.

        Parameters
        ----------
        plans : sequence of Plan
            A plan for each pipeline, on any data.
        data : sequence of str
            Paths of the datasets, or "sample".
        labels : sequence of str
            Label columns of the open data: each pipeline on these data
            is returned with each label.
        """
        # The plan of the form is that of the open data. Other data have
        # their own label, "".
        form = self._session.plan
        rows = []
        for dataset in data:
            dataset_labels = labels if dataset == form.data and labels else ("",)
            for label in dataset_labels:
                for position, plan in enumerate(plans):
                    labelled_plan = self._with_label(plan, label)
                    if (
                        dataset == labelled_plan.data
                        or not labelled_plan.entry.learns_nothing
                    ):
                        rows.append(
                            self._row(self._at(labelled_plan, dataset), position)
                        )
        return rows

    def _with_label(self, plan: Plan, label: str) -> Plan:
        """Return a plan on the open data with a judge's label.

        ``label`` is the column of the judge's labels. For the label "",
        the plan is returned as it is.
        """
        form = self._session.plan
        if not label:
            return plan
        # A method that ranks by scores computed elsewhere does not
        # change with the label, as it learns nothing.
        adapted = self._at(plan, form.data)
        return (
            adapted
            if adapted.entry.learns_nothing
            else adapted.changed(columns={**form.columns, "label": label})
        )

    def work(self, plans: Sequence[Plan]) -> Workload:
        """Return the amount of work of plans: runs, fits and seconds, estimated from the finished runs.

        The estimate is scaled by the size of the open data if the
        documents are open. Data that are not open are assumed to have
        five folds.
        """
        dataset = self._session.dataset
        form_data = self._session.plan.data
        n_folds = len(dataset.folds) if dataset is not None else _USUAL_FOLDS
        results = [
            record.result for record in self._runs.records if record.result is not None
        ]
        plan_folds = [
            (plan, n_folds if plan.data == form_data else _USUAL_FOLDS)
            for plan in plans
        ]
        if dataset is None or not self._session.has_documents:
            return workload(plan_folds, results)
        return workload(
            plan_folds, results, dataset.folds[0].train.n_documents, dataset.n_features
        )

    def _row(self, plan: Plan, position: int) -> Pipeline:
        """Return the pipeline of a plan, with the plan's run and the measured or estimated duration.

        ``position`` is that of the pipeline in the list. Of an
        interrupted run, only the time of the rest is estimated.
        """
        record = self._run_of(plan)
        if record is not None and record.result is not None:
            return Pipeline(
                plan,
                position,
                record.key,
                record.state,
                record.result.seconds,
                guessed=False,
            )
        work = self.work([plan])
        is_guessed = work.n_guessed > 0
        if record is None:
            return Pipeline(
                plan,
                position,
                run=None,
                state=None,
                seconds=work.seconds,
                guessed=is_guessed,
            )
        return Pipeline(
            plan,
            position,
            run=record.key,
            state=record.state,
            seconds=work.seconds * (1 - record.progress),
            guessed=is_guessed,
            folds_done=len(record.folds),
            n_folds=record.n_folds,
        )

    def _run_of(self, plan: Plan) -> RunRecord | None:
        """Return a plan's run: a finished one, else a running, paused or queued, else an interrupted one."""
        records = [
            record for record in self._runs.records if self._is_run_of(record, plan)
        ]
        # The states are in the order of preference: done, at work, paused, queued.
        for state in _STARTED_STATES:
            for record in records:
                if record.state is state:
                    return record
        return self.interrupted(plan)

    def interrupted(self, plan: Plan) -> RunRecord | None:
        """Return the interrupted run of a plan that can be resumed; None without one.

        Of several such runs, it is the one with most progress.
        """
        resumable_runs = (record for record in self._runs.records if record.can_go_on)
        records = (record for record in resumable_runs if self._is_run_of(record, plan))
        return max(records, key=lambda record: record.progress, default=None)

    def _fits(self, record: RunRecord) -> bool:
        """Return whether a run is finished and comparable with a run of the session's plan.

        Comparable runs have the same data, folds and measure.
        """
        form = self._session.plan
        plan = record.plan
        is_done = record.state is RunState.DONE
        has_same_folds = (reading(plan), plan.folds) == (reading(form), form.folds)
        has_measure = self._session.measure in plan.evaluated
        return (
            is_done
            and has_same_folds
            and has_measure
            and self._is_on(record, form.data)
        )

    def _is_run_of(self, record: RunRecord, plan: Plan) -> bool:
        """Return whether a run computes what a plan asks for.

        Reported measures may differ, as a run can be measured again; so
        may the path of the data, if both paths lead to the open data.
        """
        reported = {
            "measures": plan.measures,
            "convention": plan.convention,
            "data": plan.data,
        }
        return self._is_on(record, plan.data) and record.plan.changed(
            **reported
        ).agrees(plan)

    def _is_on(self, record: RunRecord, source: str) -> bool:
        """Return whether a run is on the data of a path, ``source``.

        The open data may have another path in the plan of the run.
        """
        is_open = (
            record.dataset is self._session.dataset
            and source == self._session.plan.data
        )
        return is_open or record.plan.data == source

    def _at(self, plan: Plan, source: str) -> Plan:
        """Return a plan on the data of a path, without settings that refer to features, folds or labels.

        ``source`` is the path. A plan that is on these data already is
        returned as it is.
        """
        if plan.data == source:
            return plan
        changes: dict[str, object] = {"data": source}
        # A plan from the file of a comparison has no data yet, so that
        # none of its settings refers to any: it keeps them.
        if plan.data != _NO_DATA:
            general_names = {
                p.name for p in plan.entry.parameters if p.kind is not Kind.FEATURES
            }
            parameters = {
                name: value
                for name, value in plan.parameters.items()
                if name in general_names
            }
            changes |= {
                "folds": (),
                "groups": {},
                "preferences": {},
                "parameters": parameters,
            }
            # other data do not have these judges
            if DataColumns.of(plan.columns).judges:
                label_columns = ("label", "labels", "judgments")
                changes["columns"] = {
                    name: column
                    for name, column in plan.columns.items()
                    if name not in label_columns
                }
        # The convention comes from the dataset, if it is open or a run has used it.
        datasets = (
            record.dataset
            for record in self._runs.records
            if record.plan.data == source
        )
        is_open = source == self._session.plan.data
        return usual(
            plan.changed(**changes),
            self._session.dataset if is_open else next(datasets, None),
        )


def usual(plan: Plan, dataset: FoldedDataset | None) -> Plan:
    """Return a plan with the convention of a dataset, and a selection of models that it allows.

    Models are selected on validation data, or on left-out training data
    if the plan says so. Without either, the method's own criterion
    selects them. The convention tells how measures are computed.
    Without a dataset (None), the plan is returned as it is.
    """
    if dataset is None:
        return plan
    # Inner folds of the training part (`inner` is their number) also
    # serve as validation data.
    has_validation = plan.inner or all(fold.vali is not None for fold in dataset.folds)
    changes = {} if has_validation or plan.leaves_out else {"select_by": CRITERION}
    return plan.changed(convention=dataset.convention, **changes)
