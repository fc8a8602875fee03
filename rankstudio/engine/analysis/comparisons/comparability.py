"""Rules for ranking, testing, drawing or describing runs together, and the reasons against it.

All code that shows numbers of several runs next to each other follows
these rules: tables, best values and marks, references, tests and Holm
families, curves, Pareto fronts, stability, reports, captions, exports
and commands.

Two runs are comparable if they agree in data, label, protocol, folds,
part and convention, if both are complete, and if their measures are
estimates: from the test part, or cross-fitted on the validation part.
The best of many values on the part that chose it is no estimate, so
such a run is comparable with no other run. The same holds for a run of
features that were chosen by hand from a model that had seen the
measured queries.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, TypeVar

from rankstudio.engine.experiment.plan.hand_choice import HandChoice, HandChoices
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import (
    GIVEN,
    LEAVE_QUERY_OUT,
    parse_protocol,
)
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.results.unfitted import Unfitted
from rankstudio.engine.language import tr, trn
from rankstudio.engine.metrics.conventions import convention

Name = TypeVar("Name", bound=Hashable)

_MAX_LISTED_FOLDS = 10  # folds that are listed by number


class Difference(Enum):
    """Reason why two runs are not comparable."""

    DATA = "data"
    LABEL = "label"
    CONVENTION = "convention"
    PROTOCOL = "protocol"
    FOLDS = "folds"
    QUERIES = "queries"
    UNFINISHED = "unfinished"
    PART = "part"
    HAND_CHOSEN = "hand-chosen"
    NO_ESTIMATE = "no estimate"


@dataclass(frozen=True)
class Comparability:
    """Whether two runs are comparable, and the reason if not.

    It is the result of :func:`comparable`.

    Attributes
    ----------
    difference : Difference or None
        First kind of difference between two runs; None for comparable runs.
    reason : str
        Reason, as part of a sentence about the first run: "on MQ2007,
        not on MQ2008"; "" if comparable.
    """

    difference: Difference | None = None
    reason: str = ""

    @property
    def is_comparable(self) -> bool:
        """Whether the two runs are comparable."""
        return self.difference is None


@dataclass(frozen=True)
class ComparisonKey:
    """Properties that are equal in runs that can be compared.

    Attributes
    ----------
    data_name, data_digest : str
        Name of the data, and digest of their contents.
    label : str
        Label column in use; "" for the only one.
    convention : str
        Key of the convention of the measures.
    protocol : str
        Origin of the folds, with the seed if they are drawn, but
        without the share of the training queries.
    folds : tuple of int
        Numbers of the folds.
    part : Part
        Part of the data on which the run is measured.
    is_hand_chosen : bool
        Whether features were chosen by hand from a model that had seen
        queries of the measures.
    """

    data_name: str
    data_digest: str
    label: str
    convention: str
    protocol: str
    folds: tuple[int, ...]
    part: Part
    is_hand_chosen: bool = False


def comparison_key(run: RunResult) -> ComparisonKey:
    """Return the properties of a run that must be equal in two runs to compare them.

    The properties are the run's data, label, convention of the
    measures, folds, the part on which it is measured, and whether a
    user chose its features by queries of this part.
    """
    plan = run.plan
    return ComparisonKey(
        data_name=run.data_name,
        data_digest=run.data_digest,
        label=label_of(plan),
        convention=plan.convention,
        protocol=_origin_of_folds(plan),
        folds=tuple(fold.fold for fold in run.folds),
        part=run.part,
        is_hand_chosen=_is_hand_chosen(
            plan, [fold.fold for fold in run.folds], run.part
        ),
    )


def _is_hand_chosen(plan: Plan, folds: Iterable[int], part: Part) -> bool:
    """Return whether a user chose features by a model that had seen measured queries.

    `plan` records the fold of this model, on which it was trained. The
    model certainly had not seen the test queries of this fold, so a run
    on the fold alone, measured on the test part, counts as not chosen
    by hand.

    `folds` and `part` are those on which the run is measured.
    """
    hand_choices = plan.extension(HandChoices)
    if hand_choices is None:
        return False
    # `fold_origin` says how the folds were made, such as "5-fold, seed
    # 0": only folds of the same origin are equal.
    fold_choices = tuple(HandChoice(plan.fold_origin, fold) for fold in folds)
    is_run_on_same_fold = (
        len(fold_choices) == 1 and hand_choices.choices == fold_choices
    )
    return part is not Part.TEST or not is_run_on_same_fold


def label_of(plan: Plan) -> str:
    """Return the label column that a plan uses; "" for the only one."""
    return str(plan.columns.get("label", ""))


def comparable(run: RunResult, other: RunResult) -> Comparability:
    """Return whether two runs may be ranked, tested, drawn or described together.

    The result has the reason if the runs may not.

    Parameters
    ----------
    run, other : RunResult
        Results as they are shown, for instance without the test part
        while the test part is sealed.

    Notes
    -----
    The relation of comparable runs is symmetric and transitive. It is
    reflexive for complete runs with estimates.
    """
    # Properties that must be equal: the first one that differs is the
    # reason. `_KEY_ATTRIBUTES` has each kind of difference, and its
    # attribute in the keys.
    key = comparison_key(run)
    other_key = comparison_key(other)
    for difference, attribute in _KEY_ATTRIBUTES:
        if getattr(key, attribute) != getattr(other_key, attribute):
            return Comparability(
                difference, _difference_text(difference, key, other_key)
            )

    # Equal keys, also of the part, but values that must not be ranked.
    if not run.complete or not other.complete:
        return Comparability(Difference.UNFINISHED, tr("not finished"))
    if not run.part.is_estimate:
        return Comparability(Difference.NO_ESTIMATE, why_unranked(run))
    if key.is_hand_chosen or other_key.is_hand_chosen:
        return Comparability(
            Difference.HAND_CHOSEN, why_unranked(run if key.is_hand_chosen else other)
        )

    # Folds of the same numbers must have as many queries.
    for fold, size, other_size in zip(
        key.folds, run.queries_per_fold, other.queries_per_fold, strict=True
    ):
        if size != other_size:
            text = tr("fold {fold} has {own} queries, not {others}")
            return Comparability(
                Difference.QUERIES, text.format(fold=fold, own=size, others=other_size)
            )
    return Comparability()


def why_unranked(run: RunResult) -> str:
    """Return why a complete run cannot be ranked with any other, as part of a sentence.

    The result is "" if the run may be comparable with others.
    """
    match run.part:
        case Part.CHOSEN_ON:
            # `unfitted` says why there are no values of models that
            # were chosen without the measured query.
            reason = run.unfitted.sentence if run.unfitted else ""
            text = tr(
                "measured only on the validation part that chose the model: {reason}"
            )
            return text.format(reason=reason)
        case Part.NONE:
            return tr("no validation part, and the test part is sealed or missing")
        case _ if comparison_key(run).is_hand_chosen:
            # These queries chose no model, but a user has chosen features by them.
            return tr(
                "its features were chosen by hand from a run that saw these queries"
            )
        case _:
            return ""


_KEY_ATTRIBUTES = (
    (Difference.DATA, "data_name"),
    (Difference.LABEL, "label"),
    (Difference.CONVENTION, "convention"),
    (Difference.PROTOCOL, "protocol"),
    (Difference.FOLDS, "folds"),
    (Difference.DATA, "data_digest"),
    (Difference.PART, "part"),
)
"""Differences with their attributes, in the order in which they are the reason.

The digest comes late, because another label, protocol or number of
folds changes it, too.
"""


def _difference_text(
    difference: Difference, key: ComparisonKey, other: ComparisonKey
) -> str:
    """Return how the properties of two runs differ: "on MQ2007, not on MQ2008".

    The text is part of a sentence. `key` and `other` have the
    properties of the runs that comparable runs share, and `difference`
    says which of these properties differs.
    """
    # Data may differ although their name is the same.
    match difference:
        case Difference.DATA if key.data_name == other.data_name:
            return tr("on other data called {name}").format(name=key.data_name)
        case Difference.DATA:
            return tr("on {one}, not on {other}").format(
                one=key.data_name, other=other.data_name
            )
        case Difference.LABEL:
            text = tr("with the label {one}, not {other}")
            return text.format(
                one=key.label or tr("of the file"),
                other=other.label or tr("of the file"),
            )
        case Difference.CONVENTION:
            text = tr("measured by the convention {one}, not {other}")
            return text.format(
                one=convention(key.convention).label,
                other=convention(other.convention).label,
            )
        case Difference.PROTOCOL:
            text = tr("different folds: {one}, not {other}")
            return text.format(one=key.protocol, other=other.protocol)
        case Difference.FOLDS:
            return _folds_difference_text(key.folds, other.folds)
        # The remaining difference is that of the measured part.
        case _:
            return tr("{one}, not {other}").format(
                one=key.part.label, other=other.part.label
            )


def _folds_difference_text(folds: Sequence[int], other_folds: Sequence[int]) -> str:
    """Return how folds differ, as part of a sentence: "on fold 5 only, not on all 5 folds"."""
    if set(folds) < set(other_folds):
        text = tr("on {one} only, not on all {n} folds")
        return text.format(one=listed_folds(folds), n=len(other_folds))
    if set(folds) > set(other_folds):
        text = tr("on all {n} folds, not only on {other}")
        return text.format(n=len(folds), other=listed_folds(other_folds))
    return tr("on {one}, not on {other}").format(
        one=listed_folds(folds), other=listed_folds(other_folds)
    )


def listed_folds(numbers: Sequence[int]) -> str:
    """Return folds by number, or how many there are: "folds 1, 2, 3"."""
    if len(numbers) > _MAX_LISTED_FOLDS:
        return tr("{n} folds").format(n=len(numbers))
    text = trn("fold {numbers}", "folds {numbers}", len(numbers))
    return text.format(numbers=", ".join(map(str, numbers)))


def _origin_of_folds(plan: Plan) -> str:
    """Return how the folds were made, as a text: "5-fold, seed 0", or "as in the files"."""
    # The share of the training queries does not change what is measured.
    protocol = str(replace(parse_protocol(plan.protocol), train=100))
    if protocol == GIVEN:
        return tr("as in the files")
    # Nothing is drawn at random, so the seed has no effect.
    if protocol == LEAVE_QUERY_OUT:
        return protocol
    return tr("{protocol}, seed {seed}").format(protocol=protocol, seed=plan.seed)


@dataclass(frozen=True)
class ComparableGroup(Generic[Name]):
    """Runs that are comparable with each other, or a group of runs that are not ranked.

    Attributes
    ----------
    key : ComparisonKey
        Properties that all runs of the group share.
    runs : Mapping of Name to RunResult
        Runs by name, in the given order.
    unranked : str
        Why the runs are not ranked, as part of a sentence: "measured
        only on the validation part that chose the model"; "" for runs
        that are comparable with each other.
    why_separate : str
        Why the runs are not ranked with the first group on the same
        dataset; "" for the first group itself.
    """

    key: ComparisonKey
    runs: Mapping[Name, RunResult]
    unranked: str = ""
    why_separate: str = ""

    @property
    def n_queries(self) -> int:
        """Number of queries behind the measures of each run."""
        return sum(next(iter(self.runs.values())).queries_per_fold)

    @property
    def scope(self) -> str:
        """Source of the measures: "test, fold 5 only, 157 queries"."""
        return f"{self.key.part.label}, {self.extent}"

    @property
    def extent(self) -> str:
        """Description of the folds and queries: "fold 5 only, 157 queries"."""
        first = next(iter(self.runs.values()))
        queries = paired_over(first.plan, self.n_queries) if self.n_queries else ""
        return ", ".join(filter(None, [self.folds_text, queries]))

    @property
    def folds_text(self) -> str:
        """Description of the folds: "5 folds", "fold 5 only"."""
        first = next(iter(self.runs.values()))
        is_part_of_folds = bool(first.plan.folds) or not first.complete
        return _folds_text(self.key.folds, is_part_of_folds)


_Kind = tuple[ComparisonKey, bool, tuple[int, ...], Unfitted | None]
"""Properties that the runs of a group share.

They are the key, whether a run is complete, the queries per fold, and
why runs are not cross-fitted.
"""


def comparable_groups(
    runs: Mapping[Name, RunResult],
) -> tuple[ComparableGroup[Name], ...]:
    """Divide runs into groups; runs are comparable if they are in the same group.

    `runs` has the runs by name. Groups follow each other by dataset, in
    order of first occurrence. On a dataset, groups with estimates come
    first, then groups with more queries. Runs that are not finished, or
    whose measures are no estimates, are in groups without ranking.
    """
    # Runs of the same kind are comparable with each other. A kind is a
    # tuple of the properties that the runs of a group share.
    members: dict[_Kind, dict[Name, RunResult]] = {}
    for name, run in runs.items():
        # Runs without estimates are grouped by the reason for it.
        unfitted = None if run.part.is_estimate else run.unfitted
        kind = comparison_key(run), run.complete, run.queries_per_fold, unfitted
        members.setdefault(kind, {})[name] = run

    # Datasets in the order of the runs; in each, ranked groups with the
    # most queries first.
    datasets = list(dict.fromkeys(run.data_name for run in runs.values()))

    def rank(kind: _Kind) -> tuple[int, bool, int]:
        """Return the key by which groups of runs are sorted, from the runs' common properties.

        `datasets`, the names of the data in order, is a variable of the
        enclosing function.
        """
        key, complete, sizes, _ = kind
        is_ranked = complete and key.part.is_estimate and not key.is_hand_chosen
        # Ascending order: ranked groups (False) first, then more queries.
        return datasets.index(key.data_name), not is_ranked, -sum(sizes)

    # The first group of a dataset is the main one; the other groups say
    # why they are separate from it.
    groups: list[ComparableGroup[Name]] = []
    for kind in sorted(members, key=rank):
        key, complete, *_ = kind
        runs_of_kind = members[kind]
        run = next(iter(runs_of_kind.values()))
        unranked = why_unranked(run) if complete else tr("not finished")
        leader = next(
            (group for group in groups if group.key.data_name == key.data_name), None
        )
        why_separate = ""
        if leader is not None:
            leading_run = next(iter(leader.runs.values()))
            why_separate = comparable(run, leading_run).reason
        groups.append(
            ComparableGroup(
                key=key, runs=runs_of_kind, unranked=unranked, why_separate=why_separate
            )
        )
    return tuple(groups)


def _folds_text(numbers: Sequence[int], is_part_of_folds: bool) -> str:
    """Return folds as text: "5 folds", or "fold 5 only" if the data have other folds, too."""
    if is_part_of_folds and numbers:
        return tr("{folds} only").format(folds=listed_folds(numbers))
    return trn("{n} fold", "{n} folds", len(numbers)).format(n=len(numbers))


@dataclass(frozen=True)
class ExpectedRun:
    """A run without results yet: the properties that it will share with comparable runs.

    Attributes
    ----------
    plan : Plan
        Plan of the run.
    data_name : str
        Name of the data.
    folds : tuple of int
        Numbers of the folds that the run will have.
    """

    plan: Plan
    data_name: str
    folds: tuple[int, ...]

    @property
    def extent(self) -> str:
        """Description of the folds: "fold 5 only"."""
        return _folds_text(self.folds, bool(self.plan.folds))

    @property
    def kind(self) -> tuple[str, str, str, str, tuple[int, ...], str]:
        """Properties that comparable runs share, as far as they are known before any results.

        The properties are data, label, convention, origin of the folds,
        folds, and folds of features that were chosen by hand.
        """
        hand_choices = self.plan.extension(HandChoices)
        return (
            self.data_name,
            label_of(self.plan),
            self.plan.convention,
            _origin_of_folds(self.plan),
            self.folds,
            hand_choices.text if hand_choices is not None else "",
        )

    def belongs_to(self, group: ComparableGroup[Any]) -> bool:
        """Return whether the run will be comparable with the runs of a group.

        The answer uses only properties that are known before the run
        has results.
        """
        key = group.key
        if _is_hand_chosen(self.plan, self.folds, key.part) is not key.is_hand_chosen:
            return False
        # The last property, features chosen by hand, has just been compared.
        *properties, _ = self.kind
        return tuple(properties) == (
            key.data_name,
            key.label,
            key.convention,
            key.protocol,
            key.folds,
        )


def paired_over(plan: Plan, n: int) -> str:
    """Describe the pairs of values in a test of two runs of a plan: "784 queries".

    `n` is the number of pairs. In data of one ranking, each fold counts
    as a query, and the pairs are folds.
    """
    if plan.one_ranking:
        return trn("{n:,} fold of one ranking", "{n:,} folds of one ranking", n).format(
            n=n
        )
    return trn("{n:,} query", "{n:,} queries", n).format(n=n)
