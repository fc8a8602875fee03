"""The pipelines of a comparison: where they come from, and which of them are finished already."""

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
"""The key of the ranker that is none: the selector's own weights."""

_USUAL_FOLDS = 5  # of data that are not open
_NO_DATA = ""  # the data of the pipelines of a file
_STARTED_STATES = (RunState.DONE, RunState.RUNNING, RunState.PAUSED, RunState.QUEUED)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline on one dataset, with its run if one exists.

    Attributes
    ----------
    plan : Plan
    position : int
        In the list of pipelines.
    run : int or None
        Number of the run that is finished, in progress, in the queue or interrupted; None without one.
    state : RunState or None
        Of that run.
    seconds : float
        How long the run took where it is finished, else about how long it takes.
    guessed : bool
        Whether the seconds come from no finished run.
    folds_done, n_folds : int
        Of that run.
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
    def there(self) -> bool:
        """Whether nothing has to be started: the run is done, or will be without being asked for."""
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

    def __init__(self, session: Session, runs: Runs, files: Mapping[str, Comparison]) -> None:
        self._session = session
        self._runs = runs
        self.files = files

    def listed(self, file: str) -> list[Plan]:
        """Return the pipelines of a file; of none, the finished runs that fit, and the plan of the form."""
        if file:
            return list(self.files[file].plans(_NO_DATA))
        form = self._session.plan
        fitting = [record.plan.changed(data=form.data) for record in self._runs.records if self._fits(record)]
        return self.distinct([*fitting, form])

    def distinct(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the pipelines, each once. What they report does not tell them apart."""
        form = self._session.plan
        reported = {"measures": form.measures, "convention": form.convention}
        on_form_data = [self._at(plan, form.data).changed(**reported) for plan in plans]
        return [plan for i, plan in enumerate(plans) if on_form_data[i] not in on_form_data[:i]]

    def made(self, selector: str, ranker: str) -> Plan:
        """Return the pipeline of a method and a ranker, with the form's protocol, k, pins and bans.

        Raises
        ------
        PlanError, ParameterError
            Where that makes no plan.
        """
        form = self._session.plan
        ranker = ranker if method(selector).selects else OWN_MODEL
        limit = StepKind.FEATURES.limit
        parameters = method(selector).parameters
        common = {p.name for p in parameters if p.name == limit or p.kind is Kind.FEATURES}
        is_same_method = selector == form.method
        settings = {
            name: value for name, value in form.parameters.items() if is_same_method or name in common
        }
        ranked = form.ranker_parameters if (selector, ranker) == (form.method, form.ranker) else {}
        return form.changed(method=selector, ranker=ranker, parameters=settings, ranker_parameters=ranked)

    def left_out(self, plans: Sequence[Plan]) -> str:
        """Return a sentence where a method does not know features that the form pins or bans; else ""."""
        form = self._session.plan
        named = {p.name for p in form.entry.parameters if p.kind is Kind.FEATURES and form.parameters[p.name]}
        if all(named <= plan.parameters.keys() for plan in plans):
            return ""
        return tr("Pinned and banned features apply only to {method}.").format(method=form.entry.label)

    def rows(self, plans: Sequence[Plan], data: Sequence[str], labels: Sequence[str] = ()) -> list[Pipeline]:
        """Return every pipeline on every dataset; scores that were given are those of one.

        Parameters
        ----------
        plans : sequence of Plan
        data : sequence of str
        labels : sequence of str
            Judges of the open data, each of which has its own runs there.
        """
        form = self._session.plan
        pairs = [
            (i, self._judged(plan, label), dataset)
            for dataset in data
            for label in (labels if dataset == form.data and labels else ("",))
            for i, plan in enumerate(plans)
        ]
        fitting = [
            (i, plan, dataset) for i, plan, dataset in pairs if dataset == plan.data or not plan.entry.given
        ]
        return [self._row(self._at(plan, dataset), i) for i, plan, dataset in fitting]

    def _judged(self, plan: Plan, label: str) -> Plan:
        """Return a pipeline on the open data with the label of a judge."""
        form = self._session.plan
        if not label:
            return plan
        adapted = self._at(plan, form.data)
        return adapted if adapted.entry.given else adapted.changed(columns={**form.columns, "label": label})

    def work(self, plans: Sequence[Plan]) -> Workload:
        """Return how much work plans are."""
        dataset = self._session.dataset
        form_data = self._session.plan.data
        n_folds = len(dataset.folds) if dataset is not None else _USUAL_FOLDS
        results = [record.result for record in self._runs.records if record.result is not None]
        plan_folds = [(plan, n_folds if plan.data == form_data else _USUAL_FOLDS) for plan in plans]
        if dataset is None or not self._session.has_documents:
            return workload(plan_folds, results)
        return workload(plan_folds, results, dataset.folds[0].train.n_documents, dataset.n_features)

    def _row(self, plan: Plan, position: int) -> Pipeline:
        record = self._run_of(plan)
        if record is not None and record.result is not None:
            return Pipeline(plan, position, record.key, record.state, record.result.seconds, guessed=False)
        work = self.work([plan])
        guessed = work.n_guessed > 0
        if record is None:
            return Pipeline(plan, position, None, None, work.seconds, guessed)
        seconds = work.seconds * (1 - record.progress)
        n_done = len(record.folds)
        return Pipeline(plan, position, record.key, record.state, seconds, guessed, n_done, record.n_folds)

    def _run_of(self, plan: Plan) -> RunRecord | None:
        """Return the run of a plan that is furthest: finished, in progress, queued, or one that can go on."""
        records = [record for record in self._runs.records if self._does(record, plan)]
        return next(
            (r for state in _STARTED_STATES for r in records if r.state is state), None
        ) or self.interrupted(plan)

    def interrupted(self, plan: Plan) -> RunRecord | None:
        """Return the interrupted run of a plan that can go on and has the most folds; None without one."""
        records = (record for record in self._runs.records if record.can_go_on and self._does(record, plan))
        return max(records, key=lambda record: record.progress, default=None)

    def _fits(self, record: RunRecord) -> bool:
        """Return whether a finished run can be compared with the form's: data, protocol and measure."""
        form = self._session.plan
        plan = record.plan
        has_same_folds = (reading(plan), plan.folds) == (reading(form), form.folds)
        measured = self._session.measure in plan.evaluated
        return (
            record.state is RunState.DONE and has_same_folds and measured and self._is_on(record, form.data)
        )

    def _does(self, record: RunRecord, plan: Plan) -> bool:
        """Return whether a run is one of a plan, whatever it reports: it can be measured again."""
        reported = {"measures": plan.measures, "convention": plan.convention, "data": plan.data}
        return self._is_on(record, plan.data) and record.plan.changed(**reported).agrees(plan)

    def _is_on(self, record: RunRecord, source: str) -> bool:
        """Return whether a run is on some data, which may have been elsewhere then."""
        is_open = record.dataset is self._session.dataset and source == self._session.plan.data
        return is_open or record.plan.data == source

    def _at(self, plan: Plan, source: str) -> Plan:
        """Return a pipeline on other data, without settings that name features or folds."""
        if plan.data == source:
            return plan
        changes: dict[str, object] = {"data": source}
        if plan.data != _NO_DATA:
            general = {p.name for p in plan.entry.parameters if p.kind is not Kind.FEATURES}
            parameters = {name: value for name, value in plan.parameters.items() if name in general}
            changes |= {"folds": (), "groups": {}, "preferences": {}, "parameters": parameters}
            if DataColumns.of(plan.columns).judges:  # which other data have not
                label_columns = ("label", "labels", "judgments")
                changes["columns"] = {
                    name: column for name, column in plan.columns.items() if name not in label_columns
                }
        datasets = (record.dataset for record in self._runs.records if record.plan.data == source)
        is_open = source == self._session.plan.data
        return usual(plan.changed(**changes), self._session.dataset if is_open else next(datasets, None))


def usual(plan: Plan, dataset: FoldedDataset | None) -> Plan:
    """Return a plan with what is usual for data: their convention, and the criterion without validation."""
    if dataset is None:
        return plan
    validated = plan.inner or all(fold.vali is not None for fold in dataset.folds)
    changes = {} if validated or plan.leaves_out else {"select_by": CRITERION}
    return plan.changed(convention=dataset.convention, **changes)
