"""How sure the shown selection is: evidence gathered on demand, kept for each selection shown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from math import comb, inf, isinf
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

import rankstudio
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.data.splitting.query_halves import has_halves
from rankstudio.engine.data.summary import is_wide
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog.rankers import RANKRLS
from rankstudio.plugins.evidence.decided_step import MOST_REFITS
from rankstudio.plugins.evidence.path_length import path_length
from rankstudio.plugins.evidence.window.evidence_tasks import (
    EvidenceTasks,
    EvidenceWanted,
)
from rankstudio.ui.background.simulation import BackgroundSimulation, SimulationState
from rankstudio.ui.background.tasks import FoldCache
from rankstudio.ui.background.worker import Worker, ignore
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.selected_model import CurrentModel, SelectedModel
from rankstudio.ui.model.selection_time import n_selections, seconds_of_selection
from rankstudio.ui.model.session import Session
from rankstudio.ui.model.study_store import StudyStore
from rankstudio.ui.process.turns import single_shot

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RunKey, Study
    from rankstudio.plugins.evidence.evidence_codec import StoredEvidence
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.verdicts import VerdictRules

N_HALVES = 100
THRESHOLD = 0.9
AT_ONCE_SECONDS = 2.0
"""A package that takes no longer than this begins by itself."""
MOST_SHARED = 15
"""Maximum size of a selection whose shares of the gain the engine computes."""
MOST_SECONDS = 20.0
"""Time limit of a search for the best set; a set that is not proved by then has a gap."""
SETTLED_MILLISECONDS = 150
"""Milliseconds without a change after which a slider counts as at rest."""
_KEPT = 200  # selections whose evidence is kept in memory
_MOST_SETS = 80_000_000  # sets of a size that can be compared in about a minute
_MOST_SIZE = 12  # largest size in the list of the best sets
# share of the sets that must be searched before the remaining time is estimated
_FEW_SEARCHED = 0.01
_FEW_SETS = 1_000_000  # limit of searches in the other packages than Package.NEAR


class Package(Enum):
    """Parts of the evidence that are computed together, and shown together."""

    FEATURES = "features"
    BEST = "best"
    NEAR = "near"
    STOP = "stop"


PARTS = {
    Package.FEATURES: (
        "losses",
        "changes",
        "shares",
        "stability",
        "deciding",
        "alternatives",
    ),
    Package.BEST: ("changes", "best", "alternatives"),
    Package.NEAR: ("near_best",),
    Package.STOP: ("significance", "repeated"),
}
"""The engine's parts of each package. Alternatives are compared again once the best set is known."""


class Progress(Enum):
    """State of the computation of a package."""

    ABSENT = "absent"
    """It does not apply to the method."""
    OFFERED = "offered"
    WAITING = "waiting"
    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


Place = tuple["Study", "RunKey", int, str]
"""Study, run, fold and name under which evidence is stored."""

Found = TypeVar("Found")

_Key = tuple[str, str, int, str, tuple[int, ...]]
"""Checksum of the data, method, fold, the path's plan in words, and the selected columns."""


@dataclass(eq=False)
class Known:
    """State of the evidence for one selection, as the window knows it.

    Attributes
    ----------
    found : SelectionEvidence or None
        The evidence so far.
    done : set of Package
        Complete packages; a package is the evidence that one panel shows.
    stopped : set of Package
        Packages that were interrupted or failed.
    asked : set of Package
        Packages that the user has started: they are computed however
        long they take.
    measured : tuple of str
        Measure and convention of the losses.
    """

    found: SelectionEvidence | None
    done: set[Package]
    stopped: set[Package]
    asked: set[Package]
    measured: tuple[str, str] = ("", "")

    @classmethod
    def nothing(cls) -> Known:
        """Return the state of a selection without evidence."""
        return cls(found=None, done=set(), stopped=set(), asked=set())


class Evidence(QObject):
    """Gathers the evidence for the shown selection, while a view of it is visible.

    The evidence is computed package by package. Packages that take only
    a moment begin by themselves, the others when the user starts them.
    If another selection is shown, the computation for the former one
    stops, and its evidence so far is kept.

    Parameters
    ----------
    session, runs, current
        The shown model.
    worker : Worker
        Worker that computes the evidence, with other tasks between two steps.
    fold_cache : FoldCache
    study_store : StudyStore
        Store of the study in which the evidence is kept with its run.

    Attributes
    ----------
    tasks : EvidenceTasks
    is_view_visible : callable
        Returns whether a view of the evidence is visible. A package
        begins only then, but is finished also when the view has been
        hidden.
    """

    changed = Signal()
    """Another selection is shown, or a package begins, ends or is offered."""
    grew = Signal()
    """The evidence has grown, or is judged by another threshold."""
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        runs: Runs,
        current: CurrentModel,
        worker: Worker,
        fold_cache: FoldCache,
        study_store: StudyStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._current = current
        self.tasks = EvidenceTasks(fold_cache)
        self._worker = worker
        self._study_store = study_store

        # A key identifies a selection: the one whose stored evidence is
        # being read, those with a state, and the shown one.
        self._reading: _Key | None = None
        self._state_by_key: OrderedDict[_Key, Known] = OrderedDict()
        self._key: _Key | None = None

        # replaced by the page that has the view
        self.is_view_visible: Callable[[], bool] = lambda: False

        # the package that is being computed, and how much of it is done
        self._working: tuple[_Key, Package] | None = None
        self._share = 0.0
        self.rules: VerdictRules | None = None

        # Evidence, rules, and the evidence with these rules, which is
        # computed once.
        self._last_judged: (
            tuple[SelectionEvidence, VerdictRules | None, SelectionEvidence] | None
        ) = None
        self._work = BackgroundSimulation(
            worker, tr("Gathering evidence"), "evidence", self
        )

        # `grew` comes with each partial result, `changed` with a new state.
        self._work.grew.connect(self._grow)
        self._work.changed.connect(self._follow)
        self._work.failed.connect(self.failed)
        self._settled = single_shot(SETTLED_MILLISECONDS, self._go_on, self)

        for signal in (
            session.datasetChanged,
            session.measureChanged,
            current.changed,
            runs.ended,
            runs.changed,
        ):
            signal.connect(self.follow_selection)

    # The shown selection

    @property
    def model(self) -> SelectedModel | None:
        """The model of the shown selection; None if no evidence applies to the shown model."""
        model = self._current.model
        return model if model is not None and self._key is not None else None

    @property
    def one_ranking(self) -> bool:
        """Whether the training documents of the shown model are a single query.

        If they are, queries cannot be compared. Preferences between
        documents do not count as one ranking.
        """
        model = self._current.model
        return (
            model is not None
            and model.fold.train.n_queries == 1
            and not preferences_of(model.plan)
        )

    @property
    def all_parts_apply(self) -> bool:
        """Whether all evidence applies to the method, not only the parts that apply to any selector.

        The other parts need exact left-out errors, which are known for
        pairs of documents within a query.
        """
        model = self._current.model
        if model is None or preferences_of(model.plan) or self.one_ranking:
            return False
        if "exact_exchange" not in model.plan.entry.capabilities:
            return False
        return bool(model.parameters.get("pairs", "query") == "query")

    @property
    def has_judge(self) -> bool:
        """Whether RankRLS ranks with the features of the shown selection.

        Then the exact left-out error of any set of features is known.
        """
        model = self._current.model
        if model is None or preferences_of(model.plan) or self.one_ranking:
            return False
        plan = model.plan
        chosen = model.plan.combination(model.values)
        entry = plan.entry
        values = chosen.parameters
        if plan.ranker_entry is not None:
            entry = plan.ranker_entry
            values = chosen.ranker

        # A selector without a separate ranker names the method it ranks
        # with. The error is known if RankRLS learned from the pairs of
        # documents within queries.
        return (entry.ranks_with or entry.label) == RANKRLS.label and values.get(
            "pairs", "query"
        ) == "query"

    @property
    def can_test_steps(self) -> bool:
        """Whether the steps can be tested: by sums over queries, with one feature added by each."""
        model = self._current.model
        if model is None or not self.all_parts_apply:
            return False
        has_step_test = {"paths_from_sums", "step_test"} <= set(
            model.plan.entry.capabilities
        )

        # Other searches also remove features, so that a step does not
        # add just one.
        defaults = {"search": "forward", "fitting": "pre"}
        parameters = model.parameters
        is_forward = all(
            parameters.get(name, value) == value for name, value in defaults.items()
        )
        return has_step_test and is_forward and not self._groups

    @property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns of the data that the shown model selects jointly, group by group.

        The groups are () for a set that was made by hand, which is one group.
        """
        model = self._current.model
        dataset = self._session.dataset
        if model is None or dataset is None or not feature_groups_of(model.plan):
            return ()
        ids = dataset.feature_ids.tolist()
        groups = tuple(
            tuple(ids.index(feature_id) for feature_id in group)
            for group in feature_groups_of(model.plan).values()
        )

        # A set made by hand is run as one group of all its features.
        return () if set(groups[0]) == set(model.step.selected) else groups

    @property
    def found(self) -> SelectionEvidence | None:
        """The evidence for the shown selection so far, or None.

        The verdicts are by the present rules, such as the threshold
        that the user has set.
        """
        state = self._state_by_key.get(self._key) if self._key is not None else None
        evidence = state.found if state is not None else None
        if evidence is None or self.rules is None:
            return evidence

        # The same object is returned for the same evidence and rules,
        # as its verdicts are cached in it.
        if self._last_judged is not None:
            last_evidence, last_rules, judged = self._last_judged
            if last_evidence is evidence and last_rules is self.rules:
                return judged
        judged = replace(evidence, rules=self.rules)
        self._last_judged = evidence, self.rules, judged
        return judged

    @property
    def threshold(self) -> float:
        """The minimum selection probability of a secure feature."""
        return self.rules.threshold if self.rules is not None else THRESHOLD

    def as_code(self) -> dict[str, str]:
        """Return a command, a program and a notebook, by suffix, that gather the evidence again.

        The result is empty if there is no evidence, with preferences or
        groups, and for a set made by hand, which no method selects.
        """
        model = self.model
        if (
            model is None
            or self.found is None
            or feature_groups_of(model.plan)
            or preferences_of(model.plan)
        ):
            return {}
        from rankstudio.engine.experiment.units.single_path import single_plan  # noqa: PLC0415 - brings kernels
        from rankstudio.plugins.evidence.evidence_code import (  # noqa: PLC0415 - first needed here
            evidence_as_command,
            evidence_as_notebook,
            evidence_as_python,
        )

        parameters = dict(model.parameters)
        if "n_features_to_select" in parameters:
            parameters["n_features_to_select"] = len(model.step.selected)
        plan = single_plan(model.plan, parameters, model.fold.number)
        measure = self._session.measure
        versions = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": evidence_as_command(plan, measure) + "\n",
            ".py": evidence_as_python(plan, measure, versions),
            ".ipynb": evidence_as_notebook(plan, measure, versions),
        }

    def set_threshold(self, threshold: float) -> None:
        """Judge by another threshold."""
        from rankstudio.plugins.evidence.verdicts import VerdictRules  # noqa: PLC0415 - brings kernels

        self.rules = VerdictRules(threshold=threshold)
        self.grew.emit()

    # What is computed

    def progress(self, package: Package) -> Progress:
        """Return the state of the computation of a package of evidence for the shown selection.

        A package is the evidence that one panel shows. The state is
        absent for a package that does not apply to the method, and
        waiting for a package that will begin without a further click.
        """
        state = self._state_by_key.get(self._key) if self._key else None
        key = self._key
        if (
            state is None
            or key is None
            or (package is not Package.FEATURES and not self.all_parts_apply)
        ):
            return Progress.ABSENT
        if package is Package.STOP and not self.can_test_steps:
            return Progress.ABSENT
        if package is Package.NEAR:
            # Sets can only be as good as a best set that is proved.
            ended_unproved = Package.BEST in state.done and not self._proved(state)
            if self.has_too_many_sets or ended_unproved:
                return Progress.ABSENT
        if package in state.done:
            return Progress.DONE
        if self._working == (key, package):
            return Progress.RUNNING
        if package in state.stopped:
            return Progress.STOPPED
        if package in state.asked or self._at_once(package):
            return Progress.WAITING
        return Progress.OFFERED

    @property
    def share(self) -> float:
        """Share of the running package that is done, from 0 to 1."""
        return self._share

    def seconds(self, package: Package) -> float:
        """Estimate the seconds that a package takes; infinity where there is no estimate.

        A package is the evidence that one panel shows and that is
        computed together.
        """
        model = self.model
        if model is None:
            return inf

        # For q queries, n candidates and k selected features. The
        # factors were measured on two cores with MQ2008 and the sample.
        # A path copies and adds up a matrix of each query; the shares
        # of the gain need all subsets of the selection.
        q = model.fold.train.n_queries
        k = len(model.step.selected)
        shares_seconds = 2.0**k * (8e-5 + 8e-8 * q) if k <= MOST_SHARED else 0.0
        if package is Package.FEATURES and not self.can_test_steps:
            return self._refit_seconds(model) + shares_seconds
        n = self._n_candidates(model)
        steps = self._n_steps(model)
        sets = float(self._n_sets(model))
        seconds: dict[Package, float] = {
            Package.FEATURES: N_HALVES * (4e-4 * steps + 2.5e-9 * q * n**2)
            + 5e-3 * k**2
            + shares_seconds,
            Package.BEST: self._search_seconds(sets),
            Package.NEAR: 2e-8 * sets * q,
            Package.STOP: q * (4e-4 * steps + 5e-9 * q * n**2)
            + steps * (0.05 + 5e-6 * q * n),
        }
        return seconds[package]

    def is_bound(self, package: Package) -> bool:
        """Return whether the estimated time of a package is only an upper bound.

        A package is the evidence that one panel shows. The time is a
        bound if several trainings of the run shared a selection, so
        that the time of a selection is not known exactly.
        """
        record = self._current.shown.record
        if (
            package is not Package.FEATURES
            or self.can_test_steps
            or record is None
            or not record.paths
        ):
            return False

        # the number of different selections of all paths
        return n_selections(record.plan, record.paths) < len(record.paths)

    def _search_seconds(self, sets: float) -> float:
        """Estimate the seconds of a search for the best set among ``sets`` sets of features.

        After an unfinished search, its pace gives the estimate:
        infinity if it searched too few sets. Otherwise, the estimate is
        by a formula that was fitted to measured times.
        """
        best = self.found.best if self.found is not None else None
        if (
            best is None
            or not best.sizes
            or self._proved(self._state_by_key[self._key])  # type: ignore[index] # something is found
        ):
            return min(MOST_SECONDS, 0.1 + float((sets / 2e6) ** 1.3))
        n_searched = sum(size.share * size.n_sets for size in best.sizes)
        share_searched = n_searched / sum(size.n_sets for size in best.sizes)
        if share_searched <= _FEW_SEARCHED:
            return inf
        return sum(size.seconds for size in best.sizes) / share_searched

    def start(self, package: Package) -> None:
        """Compute a package of the evidence for the shown selection, or continue its computation.

        A package is the evidence that one panel shows. Packages that
        the user has asked for are computed however long they take.
        """
        if self._key is None:
            return
        state = self._state_by_key[self._key]

        # Near-best sets are compared with the best set.
        packages = {package, Package.BEST} if package is Package.NEAR else {package}
        state.stopped -= packages
        state.asked |= packages
        self._go_on()

    def stop(self) -> None:
        """Stop the computation; the evidence found so far stays."""
        if self._working is not None:
            key, package = self._working
            self._state_by_key[key].stopped.add(package)
            self._state_by_key[key].asked.discard(package)
            self._end()
            self._keep(key, self._state_by_key[key])  # in the study, if there is one
            self._go_on()

    @property
    def busy(self) -> bool:
        """Whether something is being computed."""
        return self._working is not None

    @property
    def waiting(self) -> bool:
        """Whether something is to be computed or read soon."""
        return self._settled.isActive() or self._reading is not None

    @property
    def key(self) -> _Key | None:
        """Identity of the shown selection; None without a selection that has evidence.

        It consists of the checksum of the data, the method, the number
        of the fold, all other settings as a text, and the selected
        columns.
        """
        return self._key

    @Slot()
    def follow_selection(self) -> None:
        """Turn to the shown selection; stop a computation of evidence for another selection.

        The evidence for a selection is read from the study when the
        selection is shown for the first time.
        """
        key = self._key_now()
        if key != self._key:
            self._key = key

            # What is being computed is for the former selection.
            if self._working is not None and self._working[0] != key:
                self._end()
        if key is not None:
            if key not in self._state_by_key:
                self._read(key)
            state = self._state_by_key.setdefault(key, Known.nothing())
            self._state_by_key.move_to_end(key)
            self._measure_anew(state)
            while len(self._state_by_key) > _KEPT:
                self._state_by_key.popitem(last=False)  # not shown for the longest time
        self.changed.emit()

        # Begin to compute only once no other selection has been shown
        # for a moment.
        if key is not None and self.is_view_visible():
            self._settled.start()

    def _measure_anew(self, state: Known) -> None:
        """Forget losses by another measure than the shown one, so that they are computed again.

        ``state`` is that of the shown selection. A computation of
        losses by the former measure ends.
        """
        measured = self._session.measure, self._session.convention
        if self.all_parts_apply and state.measured != measured:
            if state.found is not None and self._working is None:
                state.found = _without(state.found, "losses")
            elif self._working is not None and self._working == (
                self._key,
                Package.FEATURES,
            ):
                self._end()
            state.measured = measured
            state.done.discard(Package.FEATURES)

    @staticmethod
    def _proved(state: Known) -> bool:
        """Return whether the best set of each size is proved."""
        best = state.found.best if state.found is not None else None
        return (
            best is not None
            and bool(best.sizes)
            and all(size.proved for size in best.sizes)
        )

    @Slot()
    def _go_on(self) -> None:
        """Begin the next waiting package of evidence.

        A package waits if the user has started it, or if it takes only
        a moment. During a run, only packages that the user has started
        begin.
        """
        model = self.model
        key = self._key
        is_idle = self._working is None and self._reading != key
        if not is_idle or model is None or key is None or not self.is_view_visible():
            self.changed.emit()
            return

        # Only one package is computed at a time; its end calls this again.
        for package in Package:
            if self.progress(package) is not Progress.WAITING:
                continue
            if package in self._state_by_key[key].asked or not self._runs.busy:
                self._begin(key, package, model)
                break

        self.changed.emit()

    def _begin(self, key: _Key, package: Package, model: SelectedModel) -> None:
        """Begin to compute a package for the selection of a key, in the background."""
        self._working = (key, package)
        self._share = 0.0
        request = self._request(model, package)
        evidence = self._state_by_key[key].found
        if evidence is not None and package is Package.BEST:
            # Parts that are done are not computed again, unless they
            # are removed.
            evidence = _without(_without(evidence, "alternatives"), "best")
        self._work.start(lambda: self.tasks.evidence(request, evidence))

    def _request(self, model: SelectedModel, package: Package) -> EvidenceWanted:
        """Return the request for a package of the evidence for a model's selection.

        The request says which parts are computed, by which measure, and
        within which limits.
        """
        parts = PARTS[package]

        # A quick search joins the first package, whose alternatives
        # need the best set.
        if package is Package.FEATURES and self._at_once(Package.BEST):
            parts = (*parts, "best")

        # Near-best sets may take about a minute, as the user asks for
        # them. Other packages search only among few sets.
        max_sets = _MOST_SETS if package is Package.NEAR else _FEW_SETS
        state = (
            self._state_by_key[self._key] if self._key is not None else Known.nothing()
        )
        is_continued = (
            package in state.asked
            and state.found is not None
            and state.found.best is not None
        )

        # A search that the user continues has no time limit, as it is
        # to prove the best set.
        max_seconds = inf if is_continued else MOST_SECONDS
        return EvidenceWanted(
            plan=model.plan,
            fold=model.fold,
            values=model.values,
            selected=model.step.selected,
            n_steps=self._n_steps(model),
            parts=parts,
            measure=self._session.measure,
            convention=self._session.convention,
            most_sets=max_sets,
            max_seconds=max_seconds,
        )

    @property
    def has_too_many_sets(self) -> bool:
        """Whether there are too many sets of the size of the selection to compare them all."""
        model = self.model
        return model is not None and self._n_sets(model) > _MOST_SETS

    @property
    def largest_size(self) -> int:
        """The largest size of which the best set can be proved in about a minute."""
        n = self._n_candidates(self.model) if self.model is not None else 1
        return max(
            (
                size
                for size in range(1, min(n, _MOST_SIZE) + 1)
                if comb(n, size) <= _MOST_SETS
            ),
            default=1,
        )

    @property
    def search_request(self) -> EvidenceWanted | None:
        """Request for a search among the sets that are as large as the selection.

        The request is for the best set of that size. It is None without
        a model.
        """
        return (
            self._request(self.model, Package.BEST) if self.model is not None else None
        )

    @Slot(object)
    def _grow(self, update: tuple[float, SelectionEvidence]) -> None:
        """Take a partial result of the work in progress: the share that is done, and the evidence so far.

        The evidence is stored when it has a new half-sample.
        """
        if self._working is None:
            return
        key, _ = self._working
        state = self._state_by_key[key]
        before = state.found
        self._share, evidence = update
        if (
            before is not None
            and "alternatives" in before.done
            and "alternatives" not in evidence.done
        ):
            # The alternatives are compared again, with the best set;
            # until then the former ones are shown.
            parts = (*evidence.done, "alternatives")
            evidence = replace(
                evidence, exchanges=before.exchanges, smaller=before.smaller, done=parts
            )
        has_new_half = _n_halves(evidence) > _n_halves(before)
        state.found = evidence
        if has_new_half and not self.all_parts_apply:
            # Training on a half may take long: if the program ends
            # unexpectedly, at most one half is lost.
            self._keep(key, state, tell=False)
        self.grew.emit()

    @Slot()
    def _follow(self) -> None:
        """Note that a package is done, or has failed, and begin the next one.

        This is called whenever the state of the background work changes.
        """
        if self._working is None or self._work.busy:
            return
        key, package = self._working
        self._working = None
        is_done = self._work.state is SimulationState.DONE
        state = self._state_by_key[key]
        (state.done if is_done else state.stopped).add(package)
        if state.found is not None and "best" in state.found.done:
            self._note_best(state)
        if is_done:
            self._keep(key, state)
        self._go_on()

    def _note_best(self, state: Known) -> None:
        """Note in ``state`` whether the search for the best sets is done.

        ``state`` is that of a selection. A search that hit its time
        limit counts as stopped, and can be continued.
        """
        is_proved = self._proved(state)
        (state.done if is_proved else state.stopped).add(Package.BEST)
        if not is_proved:
            state.done.discard(Package.BEST)
            state.asked.discard(Package.BEST)

    def _end(self) -> None:
        """Stop the background work; no package is being computed then."""
        self._working = None
        self._work.stop()

    # What the study keeps

    def storage_place(self) -> Place | None:
        """Return where the study stores the evidence for the shown selection.

        The place is the study, the run, the number of the fold and the
        name of the model. It is None without a study, and for runs or
        models that are not stored in the study.
        """
        study = self._study_store.study
        record = self._current.shown.record
        model = self._current.model
        if (
            study is None
            or record is None
            or record.stored is None
            or model is None
            or model.live
        ):
            return None
        from rankstudio.plugins.evidence.model_importance import model_place  # noqa: PLC0415 - brings kernels

        return (
            study,
            record.stored,
            model.fold.number,
            model_place(model.key, model.step.selected),
        )

    def _keep(self, key: _Key, state: Known, *, tell: bool = True) -> None:
        """Store the evidence of ``state`` for the selection ``key``, if a study has the selection's run.

        Evidence with another convention than that of the run is not
        stored. ``tell`` says whether a signal informs other parts of
        the window afterwards.
        """
        location = self.storage_place()
        evidence = state.found
        model = self.model
        if location is None or evidence is None or key != self._key or model is None:
            return
        if self._session.convention == model.plan.convention:
            self.store(location, evidence, tell=tell)

    def store(
        self,
        address: Place,
        evidence: StoredEvidence,
        *,
        tell: bool = True,
    ) -> None:
        """Have the worker store the evidence for a model in a study.

        Nothing is stored in a study that is read-only.

        Parameters
        ----------
        address : Place
            Study, run, number of the fold, and name of the model.
        evidence : StoredEvidence
        tell : bool
            Whether `Runs.kept` is emitted once the evidence is stored.
        """
        on_done = self._note_kept if tell else ignore  # `ignore` does nothing
        text = tr("Storing the evidence")
        study, *_ = address
        if not study.read_only:
            # The store writes the note at the latest before the study
            # is closed.
            self._study_store.note(partial(_store, *address, evidence))
            self._worker.task(
                text,
                self._study_store.write_notes,
                on_done=on_done,
                on_error=self.failed.emit,
            )

    def fetch(
        self,
        address: Place,
        unpack: Callable[[bytes, int], Found],
        take: Callable[[Found | None], None],
    ) -> None:
        """Have the worker read and unpack the stored evidence for a model.

        ``address`` is the place in the study, and ``unpack`` reads the
        evidence from bytes and the number of columns. ``take`` is
        called later, with the evidence, or with None if the study has
        none.
        """
        text = tr("Reading the evidence")
        self._worker.task(
            text, _read, *address, unpack, on_done=take, on_error=lambda _: take(None)
        )

    def _note_kept(self, _: None) -> None:
        """Note that the study has stored evidence with a run."""
        self._runs.note_kept()

    def _read(self, key: _Key) -> None:
        """Read the stored evidence for a selection from its study, in the background."""
        location = self.storage_place()
        model = self._current.model
        if location is None or model is None:
            return
        self._reading = key
        convention = model.plan.convention

        def take(evidence: SelectionEvidence | None) -> None:
            """Keep the stored evidence, if there is any, unless it was computed meanwhile.

            In the enclosing method, ``key`` is the key of the
            selection, and ``convention`` that of the run.
            """
            if self._reading == key:
                self._reading = None
            state = self._state_by_key.get(key)
            if evidence is not None and state is not None and state.found is None:
                state.found = evidence

                # A package is complete if its last part is done.
                state.done |= {
                    package for package, part in _LAST.items() if part in evidence.done
                }
                if "best" in evidence.done:
                    self._note_best(state)
                state.measured = (
                    evidence.losses.measure if evidence.losses is not None else "",
                    convention,
                )
            self.follow_selection()

        self.fetch(location, _unpacked, take)

    # Estimates of the work

    def _at_once(self, package: Package) -> bool:
        """Return whether a package takes so little time that it begins by itself."""
        return self.all_parts_apply and self.seconds(package) <= AT_ONCE_SECONDS

    def _n_candidates(self, model: SelectedModel) -> int:
        """Return the number of features that vary within a query.

        The features are those of the model's data. All of them are
        counted while the number is not yet known.
        """
        evidence = self.found
        if evidence is not None and evidence.stability is not None:
            return evidence.stability.n_candidates
        return int(model.fold.train.n_features)

    def _n_sets(self, model: SelectedModel) -> int:
        """Return the number of sets of features that are as large as a model's selection.

        The sets consist of features that vary within a query. A group
        of columns counts as one feature.
        """
        groups = self._groups
        selected = set(model.step.selected)

        # A group of g columns counts as one feature: g - 1 are joined
        # to it. It is selected as a whole, so that its first column
        # stands for it.
        n_joined = sum(len(group) - 1 for group in groups)
        n_joined_selected = sum(
            len(group) - 1 for group in groups if group[0] in selected
        )
        return comb(
            max(1, self._n_candidates(model) - n_joined),
            len(selected) - n_joined_selected,
        )

    def _n_steps(self, model: SelectedModel) -> int:
        """Return the number of steps of the paths on the halves."""
        return path_length(len(model.step.selected), int(model.fold.train.n_features))

    def _refit_seconds(self, model: SelectedModel) -> float:
        """Estimate the seconds of training again on the missing halves, from the time of the run.

        The halves are those of the queries whose selections are not
        known yet. For methods whose deciding queries are found by
        training without these queries, these trainings are added. The
        result is infinity if the run has no time.
        """
        record = self._current.shown.record
        seconds_once = seconds_of_selection(record)
        if record is None or isinf(seconds_once):
            return inf
        missing_halves = N_HALVES - _n_halves(self.found)
        entry = record.plan.entry
        has_faster_way = (
            "compared_by_query" in entry.capabilities
            or "paths_from_sums" in entry.capabilities
        )

        # Only methods of other packages (with an origin) are trained again.
        needs_no_refits = (
            entry.origin is None or has_faster_way or preferences_of(record.plan)
        )
        refits = 0 if needs_no_refits else MOST_REFITS  # for deciding queries

        # a half has half of the documents
        return (missing_halves / 2 + refits) * seconds_once

    def _key_now(self) -> _Key | None:
        """Return the key of the shown selection.

        The key identifies the selection's evidence. It is None if no
        evidence applies to the selection.
        """
        dataset = self._session.dataset
        model = self._current.model
        if dataset is None or model is None or not self._session.has_documents:
            return None
        train = model.fold.train
        selects = model.plan.entry.selects and model.step.selected
        if not selects or is_wide(train):  # too many features to compare sets of them
            return None

        # One ranking needs enough documents for halves of them;
        # otherwise at least two queries are compared.
        is_enough = has_halves(train) if self.one_ranking else train.n_queries > 1
        if not is_enough:
            return None

        # `learned_by`: method, fold, and all other settings as a text
        return dataset.origin.checksum, *model.learned_by, tuple(model.step.selected)


_LAST = {
    Package.FEATURES: "stability",
    Package.BEST: "best",
    Package.NEAR: "near_best",
    Package.STOP: "repeated",
}
"""The last part of each package: a stored package with this part is complete."""


def _store(
    study: Study,
    run: RunKey,
    fold: int,
    name: str,
    evidence: StoredEvidence,
) -> None:
    """Store evidence with a fold of a run; runs on the worker."""
    from rankstudio.plugins.evidence.evidence_codec import pack_evidence  # noqa: PLC0415 - on the worker only

    study.save_evidence(run, fold, name, pack_evidence(evidence))


def _read(
    study: Study,
    run: RunKey,
    fold: int,
    name: str,
    unpack: Callable[[bytes, int], Found],
) -> Found | None:
    """Return stored evidence, unpacked, or None."""
    content = study.evidence(run, fold, name)
    return unpack(content, len(run.feature_ids)) if content is not None else None


def _unpacked(content: bytes, n_features: int) -> SelectionEvidence:
    """Return the evidence stored as bytes, for data with ``n_features`` columns."""
    from rankstudio.plugins.evidence.evidence_codec import unpack_evidence  # noqa: PLC0415 - on the worker only

    evidence = unpack_evidence(content, n_features)
    # The property is cached. Computing it takes a while, so it is
    # computed here instead of in the window.
    _ = evidence.losses and evidence.losses.losses
    return evidence


def _n_halves(evidence: SelectionEvidence | None) -> int:
    """Return the number of halves on which features were selected so far."""
    return (
        evidence.stability.n_paths
        if evidence is not None and evidence.stability is not None
        else 0
    )


def _without(evidence: SelectionEvidence, part: str) -> SelectionEvidence:
    """Return the evidence without a part, which is then computed again.

    ``part`` is "losses", "best" or "alternatives".

    For "best", the best sets found so far stay, and the search can continue.
    """
    cleared_fields: dict[str, dict[str, Any]] = {"losses": {"losses": None}, "best": {}}
    values = cleared_fields.get(part, {"exchanges": None, "smaller": None})
    return replace(
        evidence, done=tuple(name for name in evidence.done if name != part), **values
    )
