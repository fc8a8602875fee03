"""A plan: everything that determines the numbers of a run, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Literal, get_args

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.feature_groups import checked_groups
from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.experiment.plan.combinations import Axis, ParameterCombination
from rankstudio.engine.experiment.plan.given_files import checked_scores
from rankstudio.engine.experiment.plan.left_out_names import canonical_name, is_left_out, plain_name
from rankstudio.engine.experiment.plan.preference_files import checked_preferences
from rankstudio.engine.experiment.plan.protocol import BEST, GIVEN, parse_protocol, parse_rule
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import GIVEN_MODEL, Method, method, methods
from rankstudio.engine.methods.catalog.method import CandidateScore, ScoreSource, StepKind
from rankstudio.engine.methods.catalog.parameter import GREATEST_INTEGER
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.frozen_mapping import FrozenMapping

Missing = Literal["query_min", "zero", "refuse"]
Normalize = Literal["none", "query_minmax"]
MISSING: tuple[str, ...] = get_args(Missing)
NORMALIZE: tuple[str, ...] = get_args(Normalize)

SAMPLE = "sample"
"""The name under which a plan asks for the bundled sample instead of a file."""

MOST_COMBINATIONS = 100_000
"""Of values that a plan may try."""

CRITERION = "criterion"
"""Choosing by the method's own criterion, for data without a validation part."""


@dataclass(frozen=True)
class Plan:
    """What to run: data, method, grid and protocol.

    Attributes
    ----------
    data : str
        A data file or a folder of folds, or ``"sample"``.
    method : str
        Key in the catalog.
    parameters : Mapping
        By name; grids are tuples of numbers, features are 1-based ids. What is left out has its default. Any
        parameter may have several values, as a list: every combination of them is tried.
    select_by : str
        The validation measure that chooses the combination and the number of features,
        ``"leave-query-out MAP"`` for a measure of the training queries, each ranked by the model learned
        without it (any measure, where the method has such predictions), or ``"criterion"``.
        Ties go to the earlier combination (the smaller λ, the value listed first), then to the smaller
        number of features.
    measures : tuple of str
        What is reported.
    convention : str
        Which convention the measures follow.
    folds : tuple of int
        Numbers of the folds to run; empty for all.
    missing : str
        What becomes of missing values: "query_min", "zero" or "refuse".
    normalize : str
        "none", or "query_minmax" for scaling each feature to [0, 1] within each query.
    seed : int
        For methods that draw random numbers, and for dealing queries to folds.
    ranker : str
        Key of a ranker that ranks with the features that the method selects, for every number of them; ""
        for the method's own model.
    ranker_parameters : Mapping
        Of that ranker, as ``parameters``.
    protocol : str
        How the folds come about: "given" as the files have them, "10-fold", "leave-query-out", "split
        60/20/20" (percent of train, vali and test) or "nested 20" (where a fold has no validation part,
        percent of its training queries), or with an inner cross-validation, "5-fold, nested 4-fold"; see
        `rankstudio.engine.experiment.plan.protocol`.
    rule : str
        Which model is chosen: "best", "smallest" for the smallest one on the best one's path that is not
        significantly worse, "one-se" for the smallest one there within a standard error of the best, or "at
        most 10" for the best with so few features.
    groups : Mapping of str to tuple of int
        Named groups of features, by 1-based ids, that a selector takes or leaves as a whole; a feature that
        is in none stands for itself. A plan may have them with a method that does not honour groups; it is
        refused when it is to be run.
    columns : Mapping of str to object
        What the columns of tables are, where their names do not tell: ``qid``, ``label`` and ``part``, names
        as ``features`` and ``ignore``, and ``ids_from`` 0 or 1; see `rankstudio.engine.data.columns`.
    scores : Mapping of str to object
        Of the methods "given-scores" and "given-model": ``name``, what they are called, ``path``, a file or
        a folder, and ``files``, the SHA-256 of each file that was read, by its place in the folder. Where
        these are there, a file with other contents is refused.
    preferences : Mapping of str to str
        ``path`` of a CSV file of preferences between documents, which the method and the ranker learn from in
        place of labels, and ``checksum``, its SHA-256: where it is there, a file with other contents is
        refused. Measures are by the labels. It is refused with a method that learns from labels alone when
        it is to be run.
    """

    data: str
    method: str = "greedy-rankrls"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    select_by: str = "MAP"
    measures: tuple[str, ...] = ("MAP", "P@10", "MeanNDCG", "NDCG@10")
    convention: str = "letor4"
    folds: tuple[int, ...] = ()
    missing: Missing = "query_min"
    normalize: Normalize = "none"
    seed: int = 0
    ranker: str = ""
    ranker_parameters: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = GIVEN
    rule: str = BEST
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=FrozenMapping)
    columns: Mapping[str, Any] = field(default_factory=FrozenMapping)
    scores: Mapping[str, Any] = field(default_factory=FrozenMapping)
    preferences: Mapping[str, str] = field(default_factory=FrozenMapping)

    def __post_init__(self) -> None:
        _check_kinds(self)
        complete = self.entry.validate(self.parameters)
        object.__setattr__(self, "parameters", FrozenMapping(complete))
        ranker = _check_ranker(self)
        complete = ranker.validate(self.ranker_parameters) if ranker else {}
        object.__setattr__(self, "ranker_parameters", FrozenMapping(complete))
        object.__setattr__(self, "measures", tuple(dict.fromkeys(measure(m).name for m in self.measures)))
        object.__setattr__(self, "folds", tuple(dict.fromkeys(self.folds)))
        object.__setattr__(self, "groups", checked_groups(self.groups))
        columns = DataColumns.of(self.columns).as_dict()
        frozen = {name: tuple(v) if isinstance(v, list) else v for name, v in columns.items()}
        object.__setattr__(self, "columns", FrozenMapping(frozen))
        object.__setattr__(self, "scores", checked_scores(self.scores, self.method))
        object.__setattr__(self, "preferences", checked_preferences(self.preferences))
        convention(self.convention)
        if self.select_by != CRITERION:
            object.__setattr__(self, "select_by", canonical_name(self.select_by))
        object.__setattr__(self, "protocol", str(parse_protocol(self.protocol)))
        object.__setattr__(self, "rule", str(parse_rule(self.rule)))
        for name, known in (("missing", MISSING), ("normalize", NORMALIZE)):
            value = getattr(self, name)
            _check(name, value, tr("one of {keys}").format(keys=", ".join(known)), value in known)
        tried = prod(len(axis.values) for axis in self.axes)
        several = ", ".join(axis.label for axis in self.axes)
        _check(
            several,
            tried,
            tr("at most {most} combinations of values").format(most=MOST_COMBINATIONS),
            tried <= MOST_COMBINATIONS,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the plan: a process that gets it derives the rest itself."""
        return {given.name: getattr(self, given.name) for given in fields(self)}

    @property
    def entry(self) -> Method:
        """The method's entry in the catalog."""
        return method(self.method)

    @property
    def ranker_entry(self) -> Method | None:
        """The ranker's entry in the catalog; None where there is no ranker."""
        return method(self.ranker) if self.ranker else None

    @property
    def title(self) -> str:
        """What is run, in words: "GAS, then RankSVM"."""
        ranker = self.ranker_entry
        if self.scores:
            given = tr("{name} (model)") if self.method == GIVEN_MODEL.key else tr("{name} (given scores)")
            return given.format(name=self.scores["name"])
        if ranker is None:
            return self.entry.label
        return tr("{selector}, then {ranker}").format(selector=self.entry.label, ranker=ranker.label)

    @property
    def step_kind(self) -> StepKind:
        """What the steps of a path are."""
        return StepKind.FEATURES if self.ranker else self.entry.step_kind

    @property
    def candidate_score(self) -> CandidateScore | None:
        """What the steps of a path compare their candidates by; None where they compare none.

        Where a ranker ranks, its steps hold the scores by which the method has selected.
        """
        score = self.entry.candidate_score
        return replace(score, source=ScoreSource.SCORE) if score and self.ranker else score

    @property
    def live(self) -> bool:
        """Whether a path is computed fast enough to follow a slider."""
        ranker = self.ranker_entry
        return self.entry.live and (ranker is None or ranker.live)

    @property
    def inner(self) -> int:
        """How many inner folds of each training part choose the model; 0 where a validation part does."""
        return parse_protocol(self.protocol).inner

    @property
    def criterion(self) -> str:
        """What the criterion of a step is, as an axis title."""
        return (self.ranker_entry or self.entry).criterion

    @property
    def measured_criterion(self) -> bool:
        """Whether the criterion of a step is the negative of a measure, as which it is shown."""
        return (self.ranker_entry or self.entry).measured

    @property
    def evaluated(self) -> tuple[str, ...]:
        """The measures to compute: those reported, and the one that chooses."""
        extra = () if self.chosen_by in (CRITERION, *self.measures) else (self.chosen_by,)
        return self.measures + extra

    @property
    def can_leave_out(self) -> bool:
        """Whether what ranks predicts each query by the model learned without it."""
        return (self.ranker_entry or self.entry).left_out

    @property
    def leaves_out(self) -> bool:
        """Whether a measure of left-out training queries chooses the model."""
        return is_left_out(self.select_by)

    @property
    def chosen_by(self) -> str:
        """The measure that chooses, of whatever queries; or ``"criterion"``."""
        return plain_name(self.select_by)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The grids and all else that has several values, as in the form: the method's, then the ranker's.

        Where a ranker ranks, what concerns only the method's own model is not asked for; nor is what does not
        count with the other parameters.
        """
        ranker = self.ranker_entry
        own = [p for p in self.entry.parameters if not (ranker and p.ranks)]
        own = [p for p in own if p.counts(self.parameters)]
        axes = [Axis(p, p.values(v)) for p in own if p.several(v := self.parameters[p.name])]
        if ranker:
            counting = [p for p in ranker.parameters if p.counts(self.ranker_parameters)]
            given = [(p, self.ranker_parameters[p.name]) for p in counting]
            axes += [Axis(p, p.values(v), ranker.label) for p, v in given if p.several(v)]
        return tuple(axes)

    @cached_property
    def combinations(self) -> tuple[ParameterCombination, ...]:
        """Every combination of the axes' values, one for each parameter; the last axis runs fastest."""
        return tuple(self.combination(values) for values in product(*(axis.values for axis in self.axes)))

    def combination(self, values: tuple[Any, ...]) -> ParameterCombination:
        """Return the combination with these values on the axes, whether or not they are on the grids."""
        first = {p.name: p.values(self.parameters[p.name])[0] for p in self.entry.parameters}
        on_axes = list(zip(self.axes, values, strict=True))
        own = {axis.parameter.name: value for axis, value in on_axes if not axis.ranker}
        ranker = {axis.parameter.name: value for axis, value in on_axes if axis.ranker}
        return ParameterCombination(
            FrozenMapping({**first, **own}),
            FrozenMapping({**self.ranker_parameters, **ranker}),
            values,
        )

    def changed(self, **changes: Any) -> Plan:
        """Return a copy with some attributes replaced; scores go with their method."""
        if changes.get("method", self.method) != self.method:
            changes.setdefault("scores", {})
        return replace(self, **changes)


def _check_kinds(plan: Plan) -> None:
    """Refuse what is not even of the right kind: a person may have written the plan."""
    for name in ("data", "method", "select_by", "convention", "ranker", "protocol", "rule"):
        value = getattr(plan, name)
        _check(name, value, tr("a text"), isinstance(value, str))
    for name in ("parameters", "ranker_parameters"):
        value = getattr(plan, name)
        _check(name, value, tr("a table"), isinstance(value, Mapping))
    several = isinstance(plan.measures, tuple | list) and len(plan.measures) > 0
    _check("measures", plan.measures, tr("a list of names such as MAP, NDCG@10"), several)
    numbers = isinstance(plan.folds, tuple | list) and all(_whole(f) and f >= 1 for f in plan.folds)
    _check("folds", plan.folds, tr("a list of numbers from 1 up"), numbers)
    _check("seed", plan.seed, tr("a whole number from 0 up"), _whole(plan.seed) and plan.seed >= 0)


def _check_ranker(plan: Plan) -> Method | None:
    """Return the ranker's entry; PlanError where it is none, or has nothing to rank with."""
    ranker = plan.ranker_entry
    if ranker is None:
        given = dict(plan.ranker_parameters)
        _check("ranker_parameters", given, tr("no value without a ranker"), not given)
        return None
    rankers = ", ".join(entry.key for entry in methods() if not entry.selects)
    _check(
        "ranker", plan.ranker, tr("a ranker, one of {rankers}").format(rankers=rankers), not ranker.selects
    )
    _check(
        "ranker",
        plan.ranker,
        tr("no ranker, because {label} does not select features").format(label=plan.entry.label),
        plan.entry.selects,
    )
    return ranker


def _check(name: str, value: object, expected: str, met: bool) -> None:
    if not met:
        raise PlanError(
            tr("{name}: expected {expected}, got {value}.").format(
                name=name, expected=expected, value=shown(value)
            )
        )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= GREATEST_INTEGER
