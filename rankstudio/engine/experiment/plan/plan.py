"""A plan: everything that determines the numbers of a run, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of, greatest_size
from rankstudio.engine.data.formats.format_catalog import format_sources
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.checks import check_field
from rankstudio.engine.experiment.plan.combinations import Axis, ParameterCombination
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.hand_choice import fold_origin
from rankstudio.engine.experiment.plan.left_out_names import (
    PAIR_MEASURES,
    canonical_name,
    is_left_out,
    is_pair_out,
    left_out_name,
    plain_name,
)
from rankstudio.engine.experiment.plan.plan_extensions import (
    KINDS,
    PLAN_EXTENSIONS,
    with_words,
)
from rankstudio.engine.experiment.plan.plan_parts import (
    MISSING,
    NORMALIZE,
    DataReading,
    FinalRanker,
    Missing,
    ModelChoice,
    Normalize,
)
from rankstudio.engine.experiment.plan.preference_source import (
    preferences_of,
    refusal_of_preferences,
)
from rankstudio.engine.experiment.plan.protocol import (
    BEST,
    GIVEN,
    parse_protocol,
    parse_rule,
)
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import (
    GIVEN_MODEL,
    Kind,
    Method,
    add_entry,
    find_method,
    is_added,
    method,
    methods,
    refusal_of_groups,
)
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.methods.catalog.parameter import (
    GREATEST_INTEGER,
    MILLISECONDS,
    OWN_FILE,
    Parameter,
)
from rankstudio.engine.methods.catalog.shared import LEFT_OUT_CRITERIA
from rankstudio.engine.metrics.conventions import USUAL, convention
from rankstudio.engine.metrics.measure_entry import MeasureEntry
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.engine.metrics.names import (
    ONE_RANKING_MEASURES,
    foreign_entries,
    measure,
)
from rankstudio.engine.plugins.origin import CodeSource
from rankstudio.engine.plugins.pair_sources import AbsentPairSource, pair_source
from rankstudio.engine.support.extensions import Extensions, Value
from rankstudio.engine.support.frozen_mapping import FrozenMapping

if TYPE_CHECKING:
    from rankstudio.engine.methods.base import LinearRanker

SAMPLE = "sample"
"""Name of the bundled sample, in the place of a file of data."""

# Entries of a pickled plan, besides its fields.
_ADDED_METHODS_KEY = "added methods"
_FOREIGN_MEASURES_KEY = "measures of others"

MOST_COMBINATIONS = 100_000
"""Maximum number of combinations of values of a plan."""

USUAL_MEASURES = ("MAP", "P@10", "MeanNDCG", "NDCG@10")
"""Measures of a new plan."""

CRITERION = "criterion"
"""Chooses by the method's own criterion, for data without a validation part."""


WORDS = (
    "data",
    "method",
    "parameters",
    "select_by",
    "measures",
    "convention",
    "folds",
    "missing",
    "normalize",
    "seed",
    "ranker",
    "ranker_parameters",
    "protocol",
    "rule",
    "columns",
)
"""Fields of plans without those of extensions, in the order of files."""


@dataclass(frozen=True, init=False)
class Plan:
    """Specification of a run: data, method, grid and protocol.

    Parameters
    ----------
    data : str
        A data file or a folder of folds, or ``"sample"``.
    method : str
        Key of the method in the catalog. A program may also pass an
        estimator, of RankStudio or of another library, such as
        ``SelectKBest(f_regression)``: its parameters become those of
        the plan.
    parameters : Mapping
        Parameters by name; grids are tuples of numbers, features are
        1-based ids. Missing parameters have their defaults. Any
        parameter may have several values, as a list; every combination
        is tried.
    select_by : str
        Selection criterion: a validation measure; ``"leave-query-out
        MAP"`` for a measure of the training queries, each ranked by the
        model trained without it (any measure, if the method supports
        it); or ``"criterion"``; for one ranking ``"leave-pair-out
        AUC"``, or ``"leave-pair-out Disagreement"`` for labels of more
        than two values. Ties go to the earlier combination (the smaller
        λ, the value listed first), then to fewer features.
    measures : tuple of str
        Measures to report.
    convention : str
        Convention of the measures; "" for the usual one of the data, which a run then names.
    folds : tuple of int
        Numbers of the folds to run; empty for all.
    missing : str
        Treatment of missing values: "query_min", "zero" or "refuse".
    normalize : str
        "none", or "query_minmax" to scale each feature to [0, 1] within each query.
    seed : int
        Seed of randomised methods, and of the division into folds.
    ranker : str
        Key of the final ranker, trained on the selected features at every k; "" for the method's own model.
    ranker_parameters : Mapping
        Parameters of the final ranker, as ``parameters``.
    protocol : str
        Protocol of the folds: "given" as in the files, "10-fold",
        "leave-query-out", "split 60/20/20" (percentages of train, vali
        and test) or "nested 20" (percentage of the training queries,
        for folds without a validation part), or with an inner
        cross-validation, "5-fold, nested 4-fold", or with a share of
        the training queries, "5-fold, train 20%"; see
        `rankstudio.engine.experiment.plan.protocol`.
    rule : str
        Selection rule: "best"; "smallest" for the smallest model on the
        path of the best one that is not significantly worse; "one-se"
        for the smallest one on that path within one standard error of
        the best; or "at most 10" for the best with at most this number
        of features.
    columns : Mapping of str to object
        Columns of tables, if their names are not recognised: ``qid``,
        ``label`` and ``part``, names as ``features`` and ``ignore``,
        and ``ids_from`` 0 or 1. For several judges, ``labels`` has the
        columns of all judges, or ``judgments`` their files, and
        ``label`` the column in use; see
        `rankstudio.engine.data.columns`.
    extensions : Extensions
        Values of optional abilities, such as the costs of features; see
        :meth:`extension` and
        `rankstudio.engine.experiment.plan.plan_extensions`.
    **words : object
        The extensions as plain values: ``groups`` of features, which a
        selector selects as a whole (`GroupedFeatures`); ``preferences``
        between documents, which replace the labels in training
        (`PreferenceSource`); ``scores``, files for the methods
        "given-scores" and "given-model" (`GivenRanking`); ``costs``,
        milliseconds that features cost (`FeatureCosts`), which change
        no number unless a parameter of the method is "milliseconds";
        and ``hand_chosen``, folds whose queries were known when
        features were pinned, such as "given: 1" (`HandChoices`).

    Attributes
    ----------
    reading : DataReading
        ``missing``, ``normalize`` and ``columns``.
    final_ranker : FinalRanker
        ``ranker`` and ``ranker_parameters``.
    model_choice : ModelChoice
        ``select_by`` and ``rule``.
    """

    data: str
    method: str = "greedy-rankrls"
    parameters: Mapping[str, Any] = field(default_factory=FrozenMapping)
    measures: tuple[str, ...] = USUAL_MEASURES
    convention: str = USUAL
    folds: tuple[int, ...] = ()
    seed: int = 0
    protocol: str = GIVEN
    reading: DataReading = field(default_factory=DataReading)
    final_ranker: FinalRanker = field(default_factory=FinalRanker)
    model_choice: ModelChoice = field(default_factory=ModelChoice)
    extensions: Extensions = field(default_factory=Extensions)

    def __init__(
        self,
        data: str,
        method: str = "greedy-rankrls",
        parameters: Mapping[str, Any] = FrozenMapping(),
        select_by: str = "MAP",
        measures: tuple[str, ...] = USUAL_MEASURES,
        convention: str = USUAL,
        folds: tuple[int, ...] = (),
        missing: Missing = "query_min",
        normalize: Normalize = "none",
        seed: int = 0,
        ranker: str = "",
        ranker_parameters: Mapping[str, Any] = FrozenMapping(),
        protocol: str = GIVEN,
        rule: str = BEST,
        columns: Mapping[str, Any] = FrozenMapping(),
        extensions: Extensions = Extensions(),  # noqa: B008
        **words: Any,
    ) -> None:
        """Set the fields of the plan, and bring their values into canonical form.

        `words` has values of extensions, such as ``costs``, by the
        names that they have in the file of a plan.
        """
        unknown = [word for word in words if word not in KINDS]
        if unknown:
            raise TypeError(f"Plan() got an unexpected keyword argument {unknown[0]!r}")
        # A plan is frozen, so its fields are set past its own __setattr__.
        set_field = partial(object.__setattr__, self)
        set_field("data", data)
        set_field("method", method)
        set_field("parameters", parameters)
        set_field("measures", measures)
        set_field("convention", convention)
        set_field("folds", folds)
        set_field("seed", seed)
        set_field("protocol", protocol)
        set_field("reading", DataReading(missing, normalize, columns))
        set_field("final_ranker", FinalRanker(ranker, ranker_parameters))
        set_field("model_choice", ModelChoice(select_by, rule))
        set_field("extensions", extensions)
        # Only now all fields are there, so that their values can be checked.
        self._settle(words)

    def _settle(self, words: Mapping[str, Any]) -> None:
        """Check the values of all fields, and bring them into canonical form.

        ``words`` has values of extensions, such as ``costs``, which are added.
        """
        # A plan is frozen, so its fields are set past its own __setattr__.
        set_field = partial(object.__setattr__, self)

        # An object with a fit method becomes its key and its parameters.
        if not isinstance(self.method, str) and hasattr(self.method, "fit"):
            from rankstudio.engine.methods.foreign.instances import instance_of  # noqa: PLC0415 - for objects

            # Parameters of the plan replace those of the object.
            instance = instance_of(self.method)
            set_field("method", instance.entry.key)
            set_field("parameters", {**instance.parameters, **self.parameters})

        # The method and the final ranker, with their parameters.
        _check_kinds(self)
        set_field("method", self.entry.key)
        set_field("parameters", FrozenMapping(self.entry.validate(self.parameters)))
        ranker = _check_ranker(self)
        values = ranker.validate(self.ranker_parameters) if ranker else {}
        set_field("final_ranker", FinalRanker(self.ranker, FrozenMapping(values)))

        # Lists without repetitions.
        set_field(
            "measures", tuple(dict.fromkeys(measure(m).name for m in self.measures))
        )
        set_field("folds", tuple(dict.fromkeys(self.folds)))

        # How the data are read.
        columns = DataColumns.of(self.columns).as_dict()
        frozen_columns = {
            name: tuple(setting) if isinstance(setting, list) else setting
            for name, setting in columns.items()
        }
        set_field(
            "reading", replace(self.reading, columns=FrozenMapping(frozen_columns))
        )
        set_field("extensions", with_words(self.extensions, words, self.method))

        # Choice of the model; the call of convention() only checks that
        # the name is known.
        convention(self.convention)
        select_by = (
            self.select_by
            if self.select_by == CRITERION
            else canonical_name(self.select_by)
        )
        set_field("protocol", str(parse_protocol(self.protocol)))
        set_field("model_choice", ModelChoice(select_by, str(parse_rule(self.rule))))

        # Words out of a fixed list, and the number of combinations.
        # `check_field` raises a PlanError if its last argument is
        # False.
        for name, keys in (("missing", MISSING), ("normalize", NORMALIZE)):
            value = getattr(self, name)
            check_field(
                name,
                value,
                tr("one of {keys}").format(keys=", ".join(keys)),
                value in keys,
            )
        # An axis is a parameter with several values.
        n_combinations = prod(len(axis.values) for axis in self.axes)
        axis_labels = ", ".join(axis.label for axis in self.axes)
        expected = tr("at most {most} combinations of values").format(
            most=MOST_COMBINATIONS
        )
        check_field(
            axis_labels, n_combinations, expected, n_combinations <= MOST_COMBINATIONS
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields of the plan: a process that unpickles it derives the rest.

        Methods that no plug-in provides, such as those of a user's
        file, go along, so that a worker has them, and descriptions of
        measures, so that a worker without a measure can say what is
        missing.
        """
        values = {
            attribute.name: getattr(self, attribute.name) for attribute in fields(self)
        }
        added_entries = tuple(entry for entry in self.entries if is_added(entry))
        return {
            **values,
            _ADDED_METHODS_KEY: added_entries,
            _FOREIGN_MEASURES_KEY: self.foreign_measures,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled plan, and add the methods and measures with it to this process.

        `state` is what :meth:`__getstate__` returned, with the methods
        and measures that a new process lacks.
        """
        for entry in state.pop(_ADDED_METHODS_KEY, ()):
            if find_method(entry.key) is None:
                add_entry(entry)
        for measure_entry in state.pop(_FOREIGN_MEASURES_KEY, ()):
            MEASURES.receive(measure_entry)
        vars(self).update(state)

    @property
    def missing(self) -> Missing:
        """Treatment of missing values."""
        return self.reading.missing

    @property
    def normalize(self) -> Normalize:
        """How features are scaled: "none" or "query_minmax"."""
        return self.reading.normalize

    @property
    def columns(self) -> Mapping[str, Any]:
        """Columns of tables, if their names are not recognised."""
        return self.reading.columns

    @property
    def ranker(self) -> str:
        """Key of the final ranker; "" for the method's own model."""
        return self.final_ranker.key

    @property
    def ranker_parameters(self) -> Mapping[str, Any]:
        """Parameters of the final ranker."""
        return self.final_ranker.parameters

    @property
    def select_by(self) -> str:
        """Selection criterion."""
        return self.model_choice.select_by

    @property
    def rule(self) -> str:
        """Selection rule."""
        return self.model_choice.rule

    @property
    def words(self) -> dict[str, Any]:
        """Values by the words of files and arguments, without extensions."""
        return {word: getattr(self, word) for word in WORDS}

    def extension(self, kind: type[Value]) -> Value | None:
        """Return the plan's value of an optional ability, by its type, such as `FeatureCosts`.

        Such a value is called an extension. The result is None if the
        plan has none of this type.
        """
        return self.extensions.find(kind)

    def named(self, word: str) -> Any:
        """Return a value by its word, also that of an extension."""
        kind = KINDS.get(word)
        return getattr(self, word) if kind is None else self.extension(kind)

    @property
    def entry(self) -> Method:
        """Catalog entry of the method."""
        return method(self.method)

    @property
    def ranker_entry(self) -> Method | None:
        """Catalog entry of the ranker; None without one."""
        return method(self.ranker) if self.ranker else None

    @property
    def entries(self) -> tuple[Method, ...]:
        """Catalog entries of the method and, if there is one, of the ranker."""
        ranker = self.ranker_entry
        return (self.entry,) if ranker is None else (self.entry, ranker)

    @property
    def foreign_measures(self) -> tuple[MeasureEntry, ...]:
        """Entries of the measures that are not RankStudio's own, parameters' values included."""
        # The measure that selects the model is computed as well; the
        # method's own criterion is no measure.
        measure_names = list(
            self.evaluated
            if self.chosen_by == CRITERION
            else (*self.evaluated, self.chosen_by)
        )
        ranker = self.ranker_entry
        methods_with_values = [(self.entry, self.parameters)]
        methods_with_values += (
            [] if ranker is None else [(ranker, self.ranker_parameters)]
        )
        for entry, values in methods_with_values:
            for p in entry.parameters:
                if p.kind is Kind.MEASURE:
                    measure_names += map(str, p.values(values[p.name]))
        return foreign_entries(measure_names)

    @property
    def sources(self) -> tuple[CodeSource, ...]:
        """Code that computes a run of the plan, so that a study can record where it comes from.

        The code is that of the methods, of measures that are not
        RankStudio's, and of the plug-in for the data format. If the
        plug-in that reads the plan's preferences is missing, a stand-in
        names it.
        """
        data_sources = format_sources(str(self.columns.get("format", "")))
        pairs = (
            (AbsentPairSource(),)
            if preferences_of(self) and pair_source() is None
            else ()
        )
        return (*self.entries, *self.foreign_measures, *data_sources, *pairs)

    @property
    def title(self) -> str:
        """Name of the method, with the share of the queries if only some train: "GAS, train 20%"."""
        return f"{self._methods}{self.share_text}"

    @property
    def share_text(self) -> str:
        """End of the plan's title that names the share of the training queries in use.

        The text is, for example, ", train 20%". It is "" if all queries train.
        """
        train = parse_protocol(self.protocol).train
        return "" if train == 100 else f", train {train}%"

    @property
    def _methods(self) -> str:
        """Name of the methods that rank, "GAS, then RankSVM", or of given scores or a model."""
        ranker = self.ranker_entry
        files = self.extension(GivenRanking)
        if files is not None:
            text = (
                tr("{name} (model)")
                if self.method == GIVEN_MODEL.key
                else tr("{name} (given scores)")
            )
            return text.format(name=files.name)
        if ranker is None:
            return self.entry.label
        return tr("{selector}, then {ranker}").format(
            selector=self.entry.label, ranker=ranker.label
        )

    @property
    def step_kind(self) -> StepKind:
        """Kind of the steps of a path."""
        return StepKind.FEATURES if self.ranker else self.entry.step_kind

    @property
    def candidate_score(self) -> CandidateScore | None:
        """Score by which each step of training compares features; None if no step compares.

        A candidate is a feature, or group of features, that a step
        might add to the model.

        With a final ranker, the steps contain the scores of the
        selector, not criteria of its models from which a score could be
        computed.
        """
        score = self.entry.candidate_score
        if score is not None:
            # The name depends on what the training data let the method leave out.
            score = replace(score, name=self._left_out_as(score.name, of_ranker=False))
        return (
            replace(score, source=ScoreSource.SCORE) if score and self.ranker else score
        )

    @property
    def live(self) -> bool:
        """Whether a path is computed fast enough to follow a slider."""
        ranker = self.ranker_entry
        return self.entry.live and (ranker is None or ranker.live)

    @property
    def inner(self) -> int:
        """Number of inner folds that select the model; 0 if a validation part selects it."""
        return parse_protocol(self.protocol).inner

    @property
    def one_ranking(self) -> bool:
        """Whether all documents are read as one ranking, without queries."""
        return bool(self.columns.get("no_queries"))

    @property
    def fold_origin(self) -> str:
        """Where the folds come from: "given", or "5-fold, seed 0"."""
        return fold_origin(self.protocol, self.seed)

    @property
    def criterion(self) -> str:
        """Axis title of the criterion."""
        return self._left_out_as(
            (self.ranker_entry or self.entry).criterion.name, of_ranker=True
        )

    @property
    def own_criterion(self) -> str:
        """Name of the method's own criterion, with any final ranker."""
        return self._left_out_as(self.entry.criterion.name, of_ranker=False)

    def _left_out_as(self, criterion: str, *, of_ranker: bool) -> str:
        """Return the name of a selection criterion by what is left out of training.

        `criterion` is a name such as "leave-query-out MAP". Usually
        queries are left out, and the name remains. Data with one
        ranking have only one query: documents are left out if the loss
        is pointwise, otherwise pairs of documents. A selector with a
        pointwise loss leaves out documents for all data. With
        ``of_ranker``, the loss is that of the final ranker, if there is
        one, otherwise that of the method.
        """
        entry = self.entry
        values = self.parameters
        if of_ranker and self.ranker_entry is not None:
            entry = self.ranker_entry
            values = self.ranker_parameters
        # The names for pairs and documents. A criterion that leaves
        # nothing out has only one name.
        pairs_name, documents_name = LEFT_OUT_CRITERIA.get(
            criterion, (criterion, criterion)
        )
        # Only some methods have this parameter; "pointwise" is a loss
        # of single documents.
        has_pairs = "pairs" in values
        is_pointwise = (
            has_pairs
            and entry.parameter("pairs").values(values["pairs"])[0] == "pointwise"
        )
        if is_pointwise and (self.one_ranking or entry.selects):
            return documents_name
        return pairs_name if self.one_ranking else criterion

    @property
    def measured_criterion(self) -> bool:
        """Whether the criterion is the negative of a measure, which is shown instead."""
        return (self.ranker_entry or self.entry).criterion.measured

    @property
    def evaluated(self) -> tuple[str, ...]:
        """Measures to compute: the reported ones, and the selection criterion."""
        extra = (
            () if self.chosen_by in (CRITERION, *self.measures) else (self.chosen_by,)
        )
        return self.measures + extra

    @property
    def can_leave_out(self) -> bool:
        """Whether the ranker supports leave-query-out predictions."""
        return (self.ranker_entry or self.entry).left_out and not self.entry.combines

    @property
    def leaves_out(self) -> bool:
        """Whether a measure of left-out queries, or pairs, selects the model."""
        return is_left_out(self.select_by)

    @property
    def pairs_out(self) -> bool:
        """Whether a measure of left-out pairs of documents selects the model."""
        return is_pair_out(self.select_by)

    def left_out_by(self, name: str) -> str:
        """Return a measure's name on what the plan leaves out, such as "leave-query-out MAP".

        `name` is that of the measure, such as "MAP". If the plan leaves
        out pairs of documents, and the measure is no pair measure,
        return the plan's own criterion.
        """
        if self.pairs_out and name not in PAIR_MEASURES:
            return self.select_by
        return left_out_name(name, pairs=self.pairs_out)

    @property
    def chosen_by(self) -> str:
        """Name of the measure that selects the model, or ``"criterion"`` for the method's own.

        The name has no "leave-query-out" at its beginning.
        """
        return plain_name(self.select_by)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Parameters with several values, first those of the method, then of the final ranker.

        Parameters without effect are left out: those of the method's
        own model, if a final ranker replaces it, and those that the
        value of another parameter switches off.
        """
        ranker = self.ranker_entry
        parameters = [p for p in self.entry.parameters if not (ranker and p.ranks)]
        # A parameter counts if the values of the others give it an effect.
        parameters = [p for p in parameters if p.counts(self.parameters)]
        method_values = [(p, self.parameters[p.name]) for p in parameters]
        axes = [Axis(p, p.values(v)) for p, v in method_values if p.several(v)]
        if ranker:
            ranker_parameters = [
                p for p in ranker.parameters if p.counts(self.ranker_parameters)
            ]
            ranker_values = [
                (p, self.ranker_parameters[p.name]) for p in ranker_parameters
            ]
            axes += [
                Axis(p, p.values(v), ranker.label)
                for p, v in ranker_values
                if p.several(v)
            ]
        return tuple(axes)

    @cached_property
    def combinations(self) -> tuple[ParameterCombination, ...]:
        """All combinations of the parameters' values, one value per parameter in each.

        An axis is a parameter with several values. The values of the
        last axis vary fastest.
        """
        return tuple(
            self.combination(values)
            for values in product(*(axis.values for axis in self.axes))
        )

    def combination(self, values: tuple[Any, ...]) -> ParameterCombination:
        """Return the combination with these values on the axes.

        A combination gives each parameter one value. An axis is a
        parameter for which the plan has several values; `values` has
        one value per axis, which need not be one of the plan's. A plan
        has a method and perhaps a final ranker, which learns the model
        from the features that the method selects. Both have their own
        parameters.
        """
        first_values = {
            p.name: p.values(self.parameters[p.name])[0] for p in self.entry.parameters
        }
        # `axis.ranker` is the label of the final ranker if the
        # parameter is one of the ranker's, and "" if it is one of the
        # method's.
        values_on_axes = list(zip(self.axes, values, strict=True))
        method_values = {
            axis.parameter.name: value
            for axis, value in values_on_axes
            if not axis.ranker
        }
        ranker_values = {
            axis.parameter.name: value for axis, value in values_on_axes if axis.ranker
        }
        # Values of the axes replace the first values. A parameter that
        # is no axis, because it has one value or no effect, keeps its
        # first value.
        return ParameterCombination(
            parameters=FrozenMapping({**first_values, **method_values}),
            ranker=FrozenMapping({**self.ranker_parameters, **ranker_values}),
            values=values,
        )

    def axis_values(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """Return the values on the axes by the axes' names in files and tables."""
        return dict(zip((axis.name for axis in self.axes), values, strict=True))

    def agrees(self, other: Plan) -> bool:
        """Return whether this plan and another one are equal.

        A plan that names no convention of the measures is compared as
        if it had the convention of the other plan.
        """
        if self.convention and other.convention:
            return self == other
        return self.resolved(other.convention) == other.resolved(self.convention)

    def resolved(self, convention: str) -> Plan:
        """Return the plan with the convention of its data, if the plan names none."""
        return (
            self
            if self.convention or not convention
            else self.changed(convention=convention)
        )

    def changed(self, **changes: Any) -> Plan:
        """Return a copy of the plan with some fields replaced, by their names.

        Some values are dropped: the files of given scores if the method
        changes, and the record of folds on which features were chosen
        by hand if no feature is pinned.
        """
        is_other_method = changes.get("method", self.method) != self.method
        parameters = changes.get("parameters", self.parameters)
        extensions = changes.pop("extensions", self.extensions)
        for extension in PLAN_EXTENSIONS:
            # An extension in the changes is set anyway; another one may
            # not fit the new method.
            if extension.word not in changes and not extension.lasts(
                is_other_method, parameters
            ):
                extensions = extensions.without(extension.kind)
        return Plan(**{**self.words, "extensions": extensions, **changes})


def usual_measures(plan: Plan, *, one_ranking: bool) -> Plan:
    """Return a plan with the usual measures of its kind of data.

    Measures that a user has chosen stay. Otherwise, if the first of the
    old measures selects the model, the first of the new measures does
    so.

    Parameters
    ----------
    plan : Plan
        Plan whose measures are replaced if they are the usual ones.
    one_ranking : bool
        Whether all documents of the data are one ranking.
    """
    suitable_measures = ONE_RANKING_MEASURES if one_ranking else USUAL_MEASURES
    if plan.measures == suitable_measures or plan.measures not in (
        USUAL_MEASURES,
        ONE_RANKING_MEASURES,
    ):
        return plan
    is_chosen_by_first = plan.select_by == plan.measures[0]
    select_by = suitable_measures[0] if is_chosen_by_first else plan.select_by
    return plan.changed(measures=suitable_measures, select_by=select_by)


def counting_plan(plan: Plan) -> Plan:
    """Return the plan with the default value for each parameter without effect.

    Without effect are parameters of the method's own model, if a final
    ranker replaces that model, and parameters that the value of another
    parameter switches off. Plans that differ only in such parameters
    define the same work.
    """
    ranker = plan.ranker_entry
    method_defaults = {
        p.name: p.default
        for p in plan.entry.parameters
        if (ranker and p.ranks) or not p.counts(plan.parameters)
    }
    ranker_defaults = {
        p.name: p.default
        for p in (ranker.parameters if ranker else ())
        if not p.counts(plan.ranker_parameters)
    }
    return plan.changed(
        parameters={**plan.parameters, **method_defaults},
        ranker_parameters={**plan.ranker_parameters, **ranker_defaults},
    )


def path_plan(plan: Plan) -> Plan:
    """Return the plan without its grids, folds and selection, which do not change a path.

    A path is the sequence of models of one combination of parameters'
    values on one fold. Runs for which this function returns equal plans
    can share paths.
    """
    ranker = plan.ranker_entry
    method_defaults = {p.name: p.default for p in plan.entry.grids}
    ranker_defaults = {p.name: p.default for p in ranker.grids} if ranker else {}
    # `evaluated` are the measures along the paths, with the one that
    # selected the model.
    return plan.changed(
        parameters={**plan.parameters, **method_defaults},
        ranker_parameters={**plan.ranker_parameters, **ranker_defaults},
        folds=(),
        select_by="criterion",
        rule="best",
        measures=plan.evaluated,
    )


def has_map(plan: Plan) -> bool:
    """Return whether the models of a plan form a map of several parameters and sizes."""
    return (
        bool(plan.axes) and plan.step_kind is StepKind.FEATURES and plan.entry.selects
    )


def longest_path(plan: Plan, n_features: int) -> int:
    """Return the maximum length of a path, the sequence of models that training makes.

    The length is a number of features, iterations or rounds, by method.

    Parameters
    ----------
    plan : Plan
        Plan with one or several combinations of parameters.
    n_features : int
        Number of features of the data.

    Returns
    -------
    int
        The length; 1 for a method that uses all features at once.
    """
    # The parameter has another name for each kind of step; 0 or None is no limit.
    limits = [
        combination.parameters.get(plan.step_kind.limit)
        for combination in plan.combinations
    ]
    if plan.step_kind is not StepKind.FEATURES:
        return max(limit or 1 for limit in limits)
    if not plan.entry.selects:
        return 1
    # Groups are selected as a whole: after k steps there may be more
    # than k features. `greatest_size` counts their features, largest
    # groups first.
    max_steps = max(limit or n_features for limit in limits)
    return greatest_size(
        n_features, feature_groups_of(plan) if plan.entry.groups else {}, max_steps
    )


def refusal(plan: Plan, entry: Method, *, selects: bool) -> str:
    """Return the reason why a method does not support a plan; "" if it does.

    The reason, a sentence for the user, is that the method does not
    support groups of features or preferences, which the plan has.

    Parameters
    ----------
    plan : Plan
        Plan with this method, or with another one that it would replace.
    entry : Method
        Catalog entry of the method.
    selects : bool
        Whether the method replaces that of the plan, not its final
        ranker, which supports any groups.
    """
    n_joint_groups = sum(len(ids) > 1 for ids in feature_groups_of(plan).values())
    if preferences_of(plan) and not entry.learns_preferences:
        return refusal_of_preferences(entry)
    if n_joint_groups and selects and not entry.groups:
        return refusal_of_groups(entry, n_joint_groups)
    return ""


def n_steps(plan: Plan, feature_ids: Ints) -> int:
    """Return the maximum number of steps of a unit of a plan on data with these features.

    A unit trains one combination of the parameters' values on one fold;
    each step is a model. `feature_ids`, shape (n,), has the 1-based ids
    of the data's features.

    Raises
    ------
    ParameterError, PlanError
        Before any work, if an estimator cannot be made: for a feature
        that the data do not have, groups or preferences that a method
        does not support, or a missing library.
    """
    # Nothing is learned from scores or a model of a file: its ranking is the only step.
    if plan.entry.learns_nothing:
        return 1
    max_steps = 0
    for combination in plan.combinations:
        learner = estimator(plan, plan.entry, combination.parameters, feature_ids)
        if plan.ranker_entry is not None:
            # Called for its errors only.
            estimator(plan, plan.ranker_entry, combination.ranker, feature_ids)
        max_steps = max(max_steps, learner.n_steps(feature_ids.size))
    # A final ranker makes steps of features from the iterations or
    # rounds of a selector.
    has_steps_of_features = (
        plan.ranker and plan.entry.step_kind is not StepKind.FEATURES
    )
    return feature_ids.size if has_steps_of_features else max_steps


def estimator(
    plan: Plan, entry: Method, parameters: Mapping[str, Any], feature_ids: Ints
) -> LinearRanker:
    """Create an estimator of a plan's method or final ranker, with one value per parameter.

    `entry` is the method or final ranker, and `parameters` has its
    values by name. Users write feature ids; the estimator gets columns,
    which are the positions of the ids in `feature_ids`, shape (n,).

    Raises
    ------
    ParameterError
        For a feature that the data do not have.
    PlanError
        If a required library is not installed, or the method does not
        support the plan's groups or preferences.
    """
    if reason := refusal(plan, entry, selects=entry.key == plan.method):
        raise PlanError(reason)

    groups_by_name = feature_groups_of(plan)
    _check_bans(parameters, groups_by_name)
    # Costs in milliseconds are replaced by the prices of the features.
    parameters = {
        name: _feature_prices(plan) if setting == MILLISECONDS else setting
        for name, setting in parameters.items()
    }
    # Values of these parameters may have feature ids; own values are read from a file.
    names_with_features = [
        p.name
        for p in entry.parameters
        if p.own_file or p.kind in (Kind.FEATURES, Kind.COSTS)
    ]
    columns: dict[int, int] = {}

    # For a million features this takes long, so it is done only if a
    # value needs the columns.
    if groups_by_name or any(parameters.get(name) for name in names_with_features):
        columns = dict(zip(feature_ids.tolist(), range(feature_ids.size), strict=True))

    # Parameters of the method, and fields of the plan that the method takes.
    groups = []
    for name, ids in groups_by_name.items():
        label = f"group {name!r}"
        groups.append(tuple(_column(label, i, columns) for i in ids))
    arguments: dict[str, Any] = {
        p.name: _with_columns(p, parameters[p.name], columns)
        for p in entry.parameters
        if p.counts(parameters)
    }
    # `named` also finds extensions, such as groups.
    arguments |= {name: plan.named(name) for name in entry.takes}
    # The estimator needs the columns of the groups, not their names.
    if "groups" in arguments:
        arguments["groups"] = tuple(groups)
    learner: LinearRanker = entry.load()(**arguments)
    return learner


def _check_bans(
    parameters: Mapping[str, Any], groups: Mapping[str, Sequence[int]]
) -> None:
    """Raise a ParameterError if a banned feature, or one of its group, is also pinned.

    `parameters` has the method's values by name, and `groups` the
    feature ids of each group by its name. The error names the ids that
    the user wrote.
    """
    pinned = parameters.get("pinned") or ()
    banned = parameters.get("banned") or ()
    group_of = {
        feature: name for name, features in groups.items() for feature in features
    }
    # A feature without a group is a group of its own.
    pinned_groups = {group_of.get(feature, feature) for feature in pinned}
    conflicts = sorted(
        feature for feature in banned if group_of.get(feature, feature) in pinned_groups
    )
    if conflicts:
        raise ParameterError(
            "banned", list(banned), f"features that are not pinned ({conflicts[0]} is)"
        )


def _feature_prices(plan: Plan) -> tuple[tuple[int, float], ...]:
    """Return the costs of a plan's features as a parameter has them: (id, cost) pairs.

    A cost is in milliseconds per query. PlanError is raised if the plan
    has no costs.
    """
    costs = plan.extension(FeatureCosts)
    if costs is None:
        raise PlanError(
            tr(
                "The plan selects by milliseconds, but has no costs of features. Import costs, or put "
                "costs.csv beside the data."
            )
        )
    return tuple(costs.prices().items())


def _with_columns(parameter: Parameter, value: Any, columns: Mapping[int, int]) -> Any:
    """Return a value of a parameter as the estimator expects it.

    Ids of features become columns: `columns` has the 0-based column of
    each feature by its id. Costs of features become an array of shape
    (n,), with 1 for a feature without a cost; they become None if no
    feature has a cost. If the value is the name of a CSV file, the file
    is read. Other values stay the same.
    """
    if parameter.kind is Kind.FEATURES:
        return tuple(_column(parameter.label, i, columns) for i in value)
    if parameter.own_file and value.lower().endswith(OWN_FILE):
        from rankstudio.engine.methods.own_values import read_own_values  # noqa: PLC0415 - reads a file

        return read_own_values(parameter, value, columns)
    if parameter.kind is not Kind.COSTS:
        return value
    if not value:
        return None
    costs = np.ones(len(columns))
    for i, cost in value:
        costs[_column(parameter.label, i, columns)] = cost
    return costs


def _column(label: str, feature: int, columns: Mapping[int, int]) -> int:
    """Return the column of the feature with an id, from the columns by id.

    ParameterError is raised if the data have no such feature; its
    message names the parameter by `label`.
    """
    if feature not in columns:
        expected = tr("ids of the dataset's features, {first} to {last}").format(
            first=min(columns), last=max(columns)
        )
        raise ParameterError(label, feature, expected)
    return columns[feature]


def _check_kinds(plan: Plan) -> None:
    """Raise a PlanError if a field of a plan has a value of a wrong type.

    Values may have any type, because a person may have written the file
    of the plan.
    """
    # `check_field` raises the error if its last argument is False.
    texts = ("data", "method", "select_by", "convention", "ranker", "protocol", "rule")
    for name in texts:
        value = getattr(plan, name)
        check_field(name, value, tr("a text"), isinstance(value, str))
    for name in ("parameters", "ranker_parameters"):
        value = getattr(plan, name)
        check_field(name, value, tr("a table"), isinstance(value, Mapping))
    has_measures = isinstance(plan.measures, tuple | list) and len(plan.measures) > 0
    check_field(
        "measures",
        plan.measures,
        tr("a list of names such as MAP, NDCG@10"),
        has_measures,
    )
    are_numbers = isinstance(plan.folds, tuple | list) and all(
        _is_integer(number) and number >= 1 for number in plan.folds
    )
    check_field("folds", plan.folds, tr("a list of numbers from 1 up"), are_numbers)
    check_field(
        "seed",
        plan.seed,
        tr("a whole number from 0 up"),
        _is_integer(plan.seed) and plan.seed >= 0,
    )


def _check_ranker(plan: Plan) -> Method | None:
    """Return the catalog entry of a plan's final ranker; None without a final ranker.

    Raise a PlanError if the plan names a method that is not a ranker,
    or if the plan's method selects no features for it.
    """
    ranker = plan.ranker_entry
    if ranker is None:
        parameters = dict(plan.ranker_parameters)
        check_field(
            "ranker_parameters",
            parameters,
            tr("no value without a ranker"),
            not parameters,
        )
        return None
    rankers = ", ".join(entry.key for entry in methods() if not entry.selects)
    expected = tr("a ranker, one of {rankers}").format(rankers=rankers)
    check_field("ranker", plan.ranker, expected, not ranker.selects)
    # A ranker learns on selected features, so the method must select some.
    expected = tr("no ranker, because {label} does not select features").format(
        label=plan.entry.label
    )
    check_field("ranker", plan.ranker, expected, plan.entry.selects)
    return ranker


def _is_integer(value: object) -> bool:
    """Return whether a value is an integer of 64 bits, and no bool."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and abs(value) <= GREATEST_INTEGER
    )
