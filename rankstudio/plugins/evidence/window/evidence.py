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
from rankstudio.engine.data.summary import is_wide
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog.rankers import RANKRLS
from rankstudio.plugins.evidence.decided_step import MOST_REFITS
from rankstudio.plugins.evidence.path_length import path_length
from rankstudio.plugins.evidence.window.evidence_tasks import EvidenceTasks, EvidenceWanted
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
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.model_importance import MeasuredImportance
    from rankstudio.plugins.evidence.verdicts import VerdictRules

N_HALVES = 100
THRESHOLD = 0.9
AT_ONCE_SECONDS = 2.0
"""A package that takes no longer begins by itself."""
MOST_SHARED = 15
"""Features of a selection whose shares of the gain the engine computes."""
MOST_SECONDS = 20.0
"""Limit of a search for the best set, which then has a gap."""
SETTLED_MILLISECONDS = 150
"""After which a slider that moved is at rest."""
_KEPT = 200
_MOST_SETS = 80_000_000  # of a list of all sizes
_MOST_SIZE = 12
_FEW_SEARCHED = 0.01  # share of sets from which it is known how long the others take
_FEW_SETS = 1_000_000  # that are searched by the way


class Package(Enum):
    """Parts of the evidence that are computed together, and shown together."""

    FEATURES = "features"
    BEST = "best"
    NEAR = "near"
    STOP = "stop"


PARTS = {
    Package.FEATURES: ("losses", "changes", "shares", "stability", "deciding", "alternatives"),
    Package.BEST: ("changes", "best", "alternatives"),
    Package.NEAR: ("near_best",),
    Package.STOP: ("significance", "repeated"),
}
"""The engine's parts of each package. Alternatives are compared with the best set where that is known."""


class Progress(Enum):
    """How far a package is."""

    ABSENT = "absent"
    """It does not apply to the method."""
    OFFERED = "offered"
    WAITING = "waiting"
    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


Place = tuple["Study", "RunKey", int, str]
"""Study, run, fold and name under which evidence is kept."""

Found = TypeVar("Found")

_Key = tuple[str, str, int, str, tuple[int, ...]]
"""Checksum of the data, method, fold, the path's plan in words, and the selected columns."""


@dataclass(eq=False)
class Known:
    """State of the evidence for one selection.

    Attributes
    ----------
    found : SelectionEvidence or None
    done : set of Package
    stopped : set of Package
    asked : set of Package
        What the user wants, however long it takes.
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
        return cls(None, set(), set(), set())


class Evidence(QObject):
    """Gathers the evidence for the shown selection, while a view of it is visible.

    What takes a moment begins by itself, package by package; the rest when it is asked for. Another selection
    ends what is computed for the one before, and what that had found stays.

    Parameters
    ----------
    session, runs, current
        The shown model.
    worker : Worker
        Which has other tasks between two steps.
    fold_cache : FoldCache
    study_store : StudyStore
        Whose study keeps what is found with its run.

    Attributes
    ----------
    tasks : EvidenceTasks
    seen : callable
        Returns whether a view is visible: only then a package begins. One that has begun is finished.
    """

    changed = Signal()
    """Another selection is shown, or a package begins, ends or is offered."""
    grew = Signal()
    """More is known."""
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
        self._reading: _Key | None = None
        self._known: OrderedDict[_Key, Known] = OrderedDict()
        self._key: _Key | None = None
        self.seen: Callable[[], bool] = lambda: False
        self._working: tuple[_Key, Package] | None = None
        self._share = 0.0
        self.rules: VerdictRules | None = None
        self._judged: tuple[SelectionEvidence, VerdictRules | None, SelectionEvidence] | None = None
        self._work = BackgroundSimulation(worker, tr("Gathering evidence"), "evidence", self)
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
            signal.connect(self.look)

    # The shown selection

    @property
    def model(self) -> SelectedModel | None:
        """The model of the shown selection; None if no evidence applies to the shown model."""
        model = self._current.model
        return model if model is not None and self._key is not None else None

    @property
    def whole(self) -> bool:
        """Whether all evidence applies to the method, rather than what any selector has."""
        model = self._current.model
        if (
            model is None
            or preferences_of(model.plan)
            or "exact_exchange" not in model.plan.entry.capabilities
        ):
            return False
        return bool(model.parameters.get("pairs", "query") == "query")

    @property
    def judged(self) -> bool:
        """Whether RankRLS ranks with the features, so that the exact left-out error of any set is known."""
        model = self._current.model
        if model is None or preferences_of(model.plan):
            return False
        plan = model.plan
        chosen = model.plan.combination(model.values)
        entry = plan.entry
        values = chosen.parameters
        if plan.ranker_entry is not None:
            entry = plan.ranker_entry
            values = chosen.ranker
        return (entry.ranks_with or entry.label) == RANKRLS.label and values.get("pairs", "query") == "query"

    @property
    def steps_tested(self) -> bool:
        """Whether the steps are tested: their statistics are sums over queries, and each adds a feature."""
        model = self._current.model
        if model is None or not self.whole:
            return False
        tested = {"paths_from_sums", "step_test"} <= set(model.plan.entry.capabilities)
        defaults = {"search": "forward", "fitting": "pre"}
        parameters = model.parameters
        forward = all(parameters.get(name, value) == value for name, value in defaults.items())
        return tested and forward and not self._groups

    @property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns that are selected jointly; a set that was made by hand is judged without its group."""
        model = self._current.model
        dataset = self._session.dataset
        if model is None or dataset is None or not feature_groups_of(model.plan):
            return ()
        ids = dataset.feature_ids.tolist()
        groups = tuple(
            tuple(ids.index(feature_id) for feature_id in group)
            for group in feature_groups_of(model.plan).values()
        )
        return () if set(groups[0]) == set(model.step.selected) else groups

    @property
    def found(self) -> SelectionEvidence | None:
        """The evidence found by now, judged by the present rules."""
        state = self._known.get(self._key) if self._key is not None else None
        evidence = state.found if state is not None else None
        if evidence is None or self.rules is None:
            return evidence
        if self._judged is None or self._judged[0] is not evidence or self._judged[1] is not self.rules:
            self._judged = evidence, self.rules, replace(evidence, rules=self.rules)
        return self._judged[2]

    @property
    def threshold(self) -> float:
        """The selection probability from which a feature is secure."""
        return self.rules.threshold if self.rules is not None else THRESHOLD

    def as_code(self) -> dict[str, str]:
        """Return a command, a program and a notebook, by suffix, that gather the evidence again.

        There is nothing where nothing is known, and for a set that was made by hand: no method selects it.
        """
        model = self.model
        if model is None or self.found is None or feature_groups_of(model.plan) or preferences_of(model.plan):
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
        with_these = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": evidence_as_command(plan, measure) + "\n",
            ".py": evidence_as_python(plan, measure, with_these),
            ".ipynb": evidence_as_notebook(plan, measure, with_these),
        }

    def set_threshold(self, threshold: float) -> None:
        """Judge by another threshold."""
        from rankstudio.plugins.evidence.verdicts import VerdictRules  # noqa: PLC0415 - brings kernels

        self.rules = VerdictRules(threshold=threshold)
        self.grew.emit()

    # What is computed

    def progress(self, package: Package) -> Progress:
        """Return how far a package is."""
        state = self._known.get(self._key) if self._key else None
        key = self._key
        if state is None or key is None or (package is not Package.FEATURES and not self.whole):
            return Progress.ABSENT
        if package is Package.STOP and not self.steps_tested:
            return Progress.ABSENT
        if package is Package.NEAR and (
            self.too_many or (Package.BEST in state.done and not self._proved(state))
        ):
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
        """How much of the package that is being computed is done."""
        return self._share

    def seconds(self, package: Package) -> float:
        """Estimate the seconds that a package takes; infinity where there is no estimate."""
        model = self.model
        if model is None:
            return inf
        # Measured on two cores with MQ2008 and the sample; a path copies and adds up a matrix of each query,
        # and shares of the gain are those of all subsets.
        q = model.fold.train.n_queries
        k = len(model.step.selected)
        shares = 2.0**k * (8e-5 + 8e-8 * q) if k <= MOST_SHARED else 0.0
        if package is Package.FEATURES and not self.steps_tested:
            return self._refit_seconds(model) + shares
        n = self._n_candidates(model)
        steps = self._n_steps(model)
        sets = float(self._n_sets(model))
        seconds: dict[Package, float] = {
            Package.FEATURES: N_HALVES * (4e-4 * steps + 2.5e-9 * q * n**2) + 5e-3 * k**2 + shares,
            Package.BEST: self._search_seconds(sets),
            Package.NEAR: 2e-8 * sets * q,
            Package.STOP: q * (4e-4 * steps + 5e-9 * q * n**2) + steps * (0.05 + 5e-6 * q * n),
        }
        return seconds[package]

    def is_bound(self, package: Package) -> bool:
        """Return whether the time of a package is a bound: units that share a selection took most of it."""
        record = self._current.shown.record
        if package is not Package.FEATURES or self.steps_tested or record is None or not record.paths:
            return False
        return n_selections(record.plan, record.paths) < len(record.paths)

    def _search_seconds(self, sets: float) -> float:
        """Estimate the seconds of a search for the best of ``sets`` sets, from its pace so far."""
        best = self.found.best if self.found is not None else None
        if best is None or not best.sizes or self._proved(self._known[self._key]):  # type: ignore[index] # something is found
            return min(MOST_SECONDS, 0.1 + float((sets / 2e6) ** 1.3))
        searched = sum(size.share * size.n_sets for size in best.sizes) / sum(
            size.n_sets for size in best.sizes
        )
        return sum(size.seconds for size in best.sizes) / searched if searched > _FEW_SEARCHED else inf

    def start(self, package: Package) -> None:
        """Compute a package of the shown selection, or go on with it."""
        if self._key is None:
            return
        state = self._known[self._key]
        packages = {package, Package.BEST} if package is Package.NEAR else {package}
        state.stopped -= packages
        state.asked |= packages
        self._go_on()

    def stop(self) -> None:
        """Stop the computation; the evidence found so far stays."""
        if self._working is not None:
            key, package = self._working
            self._known[key].stopped.add(package)
            self._known[key].asked.discard(package)
            self._end()
            self._keep(key, self._known[key])
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
        """Identity of the shown selection."""
        return self._key

    @Slot()
    def look(self) -> None:
        """Follow the shown selection; stop a computation for another one."""
        key = self._key_now()
        if key != self._key:
            self._key = key
            if self._working is not None and self._working[0] != key:
                self._end()
        if key is not None:
            if key not in self._known:
                self._read(key)
            state = self._known.setdefault(key, Known.nothing())
            self._known.move_to_end(key)
            self._measure_anew(state)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self.changed.emit()
        if key is not None and self.seen():
            self._settled.start()

    def _measure_anew(self, state: Known) -> None:
        """Forget losses by another measure than the shown one; other methods have none."""
        measured = self._session.measure, self._session.convention
        if self.whole and state.measured != measured:
            if state.found is not None and self._working is None:
                state.found = _without(state.found, "losses")
            elif self._working is not None and self._working == (self._key, Package.FEATURES):
                self._end()
            state.measured = measured
            state.done.discard(Package.FEATURES)

    @staticmethod
    def _proved(state: Known) -> bool:
        best = state.found.best if state.found is not None else None
        return best is not None and bool(best.sizes) and all(size.proved for size in best.sizes)

    @Slot()
    def _go_on(self) -> None:
        """Begin the next package that is asked for or takes a moment."""
        model = self.model
        key = self._key
        idle = self._working is None and self._reading != key
        if not idle or model is None or key is None or not self.seen():
            self.changed.emit()
            return
        for package in Package:
            if self.progress(package) is Progress.WAITING and (
                package in self._known[key].asked or not self._runs.busy
            ):
                self._begin(key, package, model)
                break
        self.changed.emit()

    def _begin(self, key: _Key, package: Package, model: SelectedModel) -> None:
        self._working = (key, package)
        self._share = 0.0
        specification = self._wanted(model, package)
        evidence = self._known[key].found
        if evidence is not None and package is Package.BEST:
            evidence = _without(_without(evidence, "alternatives"), "best")
        self._work.start(lambda: self.tasks.evidence(specification, evidence))

    def _wanted(self, model: SelectedModel, package: Package) -> EvidenceWanted:
        parts = PARTS[package]
        if package is Package.FEATURES and self._at_once(Package.BEST):
            parts = (*parts, "best")
        max_sets = _MOST_SETS if package is Package.NEAR else _FEW_SETS
        state = self._known[self._key] if self._key is not None else Known.nothing()
        is_continued = package in state.asked and state.found is not None and state.found.best is not None
        seconds = inf if is_continued else MOST_SECONDS  # a search that goes on is for the proof
        return EvidenceWanted(
            model.plan,
            model.fold,
            model.values,
            model.step.selected,
            self._n_steps(model),
            parts,
            self._session.measure,
            self._session.convention,
            max_sets,
            seconds,
        )

    @property
    def too_many(self) -> bool:
        """Whether there are too many sets of the size of the selection to compare them all."""
        model = self.model
        return model is not None and self._n_sets(model) > _MOST_SETS

    @property
    def most_size(self) -> int:
        """The largest size of which the best set can be proved in about a minute."""
        n = self._n_candidates(self.model) if self.model is not None else 1
        return max(
            (size for size in range(1, min(n, _MOST_SIZE) + 1) if comb(n, size) <= _MOST_SETS), default=1
        )

    @property
    def wanted(self) -> EvidenceWanted | None:
        """Request of a search among the sets that are as large as the selection."""
        return self._wanted(self.model, Package.BEST) if self.model is not None else None

    @Slot(object)
    def _grow(self, update: tuple[float, SelectionEvidence]) -> None:
        """Take a partial result of the work in progress, and store it when it has a new half-sample."""
        if self._working is None:
            return
        state = self._known[self._working[0]]
        before, (self._share, evidence) = state.found, update
        if before is not None and "alternatives" in before.done and "alternatives" not in evidence.done:
            # They are compared anew, with the best set; until then those with the selection are shown.
            parts = (*evidence.done, "alternatives")
            evidence = replace(evidence, exchanges=before.exchanges, smaller=before.smaller, done=parts)
        has_new_half = _n_halves(evidence) > _n_halves(before)
        state.found = evidence
        if has_new_half and not self.whole:
            # Each half is learned anew, which may take long: what ends the program loses one at most.
            self._keep(self._working[0], state, tell=False)
        self.grew.emit()

    @Slot()
    def _follow(self) -> None:
        """Note that a package is done, or has failed, and begin the next one."""
        if self._working is None or self._work.busy:
            return
        (key, package), self._working = self._working, None
        is_done = self._work.state is SimulationState.DONE
        state = self._known[key]
        (state.done if is_done else state.stopped).add(package)
        if state.found is not None and "best" in state.found.done:
            self._note_best(state)
        if is_done:
            self._keep(key, state)
        self._go_on()

    def _note_best(self, state: Known) -> None:
        """Note how far the best set is known: what ended by the time may be searched for on."""
        proved = self._proved(state)
        (state.done if proved else state.stopped).add(Package.BEST)
        if not proved:
            state.done.discard(Package.BEST)
            state.asked.discard(Package.BEST)

    def _end(self) -> None:
        self._working = None
        self._work.stop()

    # What the study keeps

    def place(self) -> Place | None:
        """Return where the study keeps the evidence of the shown selection."""
        study = self._study_store.study
        record = self._current.shown.record
        model = self._current.model
        if study is None or record is None or record.stored is None or model is None or model.live:
            return None
        from rankstudio.plugins.evidence.model_importance import model_place  # noqa: PLC0415 - brings kernels

        return study, record.stored, model.fold.number, model_place(model.key, model.step.selected)

    def _keep(self, key: _Key, state: Known, *, tell: bool = True) -> None:
        """Store the evidence of a selection that is of a stored run and measured as its plan says."""
        location = self.place()
        evidence = state.found
        model = self.model
        if location is None or evidence is None or key != self._key or model is None:
            return
        if self._session.convention == model.plan.convention:
            self.store(location, evidence, tell=tell)

    def store(
        self, address: Place, evidence: SelectionEvidence | MeasuredImportance, *, tell: bool = True
    ) -> None:
        """Have a study store the evidence for a model, unless the study is read-only.

        Parameters
        ----------
        address : Place
        evidence : SelectionEvidence or MeasuredImportance
        tell : bool
            Whether `Runs.kept` is emitted then.
        """
        on_done = self._note_kept if tell else ignore
        text = tr("Storing the evidence")
        if not address[0].read_only:
            self._study_store.note(partial(_store, *address, evidence))  # at the latest before it is closed
            self._worker.task(text, self._study_store.write_notes, on_done=on_done, on_error=self.failed.emit)

    def fetch(
        self, address: Place, unpack: Callable[[bytes, int], Found], take: Callable[[Found | None], None]
    ) -> None:
        """Have a study read the stored evidence for a model, which the worker unpacks."""
        text = tr("Reading the evidence")
        self._worker.task(text, _read, *address, unpack, on_done=take, on_error=lambda _: take(None))

    def _note_kept(self, _: None) -> None:
        self._runs.note_kept()

    def _read(self, key: _Key) -> None:
        """Have it read what the study knows of a selection."""
        location = self.place()
        model = self._current.model
        if location is None or model is None:
            return
        self._reading = key
        convention = model.plan.convention

        def take(evidence: SelectionEvidence | None) -> None:
            if self._reading == key:
                self._reading = None
            state = self._known.get(key)
            if evidence is not None and state is not None and state.found is None:
                state.found = evidence
                state.done |= {package for package, part in _LAST.items() if part in evidence.done}
                if "best" in evidence.done:
                    self._note_best(state)
                state.measured = (evidence.losses.measure if evidence.losses is not None else "", convention)
            self.look()

        self.fetch(location, _unpacked, take)

    # What it takes

    def _at_once(self, package: Package) -> bool:
        return self.whole and self.seconds(package) <= AT_ONCE_SECONDS

    def _n_candidates(self, model: SelectedModel) -> int:
        evidence = self.found
        if evidence is not None and evidence.stability is not None:
            return evidence.stability.n_candidates
        return int(model.fold.train.n_features)

    def _n_sets(self, model: SelectedModel) -> int:
        """Return how many sets are as large as the selection; a group counts as one feature."""
        groups = self._groups
        selected = set(model.step.selected)
        joint = sum(len(group) - 1 for group in groups)
        joint_selected = sum(len(group) - 1 for group in groups if group[0] in selected)
        return comb(max(1, self._n_candidates(model) - joint), len(selected) - joint_selected)

    def _n_steps(self, model: SelectedModel) -> int:
        """Return how far paths go on the halves."""
        return path_length(len(model.step.selected), int(model.fold.train.n_features))

    def _refit_seconds(self, model: SelectedModel) -> float:
        """Return how long a method takes that learns anew on each half, by how long the run took."""
        record = self._current.shown.record
        seconds_once = seconds_of_selection(record)
        if record is None or isinf(seconds_once):
            return inf
        halves = N_HALVES - _n_halves(self.found)
        entry = record.plan.entry
        decided = "compared_by_query" in entry.capabilities or "paths_from_sums" in entry.capabilities
        refits = 0 if entry.origin is None or decided or preferences_of(record.plan) else MOST_REFITS
        return (halves / 2 + refits) * seconds_once

    def _key_now(self) -> _Key | None:
        dataset = self._session.dataset
        model = self._current.model
        if dataset is None or model is None or not self._session.has_documents:
            return None
        train = model.fold.train
        selects = model.plan.entry.selects and model.step.selected
        if not selects or train.n_queries < 2 or is_wide(train):
            return None
        return dataset.origin.checksum, *model.learned_by, tuple(model.step.selected)


_LAST = {
    Package.FEATURES: "stability",
    Package.BEST: "best",
    Package.NEAR: "near_best",
    Package.STOP: "repeated",
}
"""The part that is there where a package is whole."""


def _store(
    study: Study, run: RunKey, fold: int, name: str, evidence: SelectionEvidence | MeasuredImportance
) -> None:
    from rankstudio.plugins.evidence.evidence_codec import pack_evidence  # noqa: PLC0415 - on the worker only

    study.save_evidence(run, fold, name, pack_evidence(evidence))


def _read(
    study: Study, run: RunKey, fold: int, name: str, unpack: Callable[[bytes, int], Found]
) -> Found | None:
    content = study.evidence(run, fold, name)
    return unpack(content, len(run.feature_ids)) if content is not None else None


def _unpacked(content: bytes, n_features: int) -> SelectionEvidence:
    from rankstudio.plugins.evidence.evidence_codec import unpack_evidence  # noqa: PLC0415 - on the worker only

    evidence = unpack_evidence(content, n_features)
    _ = evidence.losses and evidence.losses.losses  # which takes a while: not in the window
    return evidence


def _n_halves(evidence: SelectionEvidence | None) -> int:
    return evidence.stability.n_paths if evidence is not None and evidence.stability is not None else 0


def _without(evidence: SelectionEvidence, part: str) -> SelectionEvidence:
    """Return the evidence without a part, which is then computed again."""
    named: dict[str, dict[str, Any]] = {"losses": {"losses": None}, "best": {}}
    values = named.get(part, {"exchanges": None, "smaller": None})
    return replace(evidence, done=tuple(name for name in evidence.done if name != part), **values)
