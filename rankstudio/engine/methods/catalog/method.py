"""A method as data: its name, its paper, its parameters and its estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.plugins.origin import Origin
from rankstudio.engine.steps import Step

CAPABILITIES = (
    "paths_from_sums",
    "step_test",
    "exact_exchange",
    "compared_by_query",
    "paths_of_labels",
    "densities_of",
    "weighed_features",
)
"""Abilities that an estimator may have: :class:`rankstudio.engine.methods.capabilities.Capabilities`.

An entry declares ``exact_exchange`` if the method selects by the exact
left-out error, so that best sets can be computed.
"""

TRAITS = ("learns_preferences", "left_out", "live", "drops_features", "combines")
"""Traits of methods.

:class:`Method` has a property with the meaning of each.
"""

_LOADER_MODULE = "rankstudio.engine.methods.foreign.estimators"
# Share of the criterion before a step; a smaller change is only rounding of sums.
_ROUNDING = 1e-12


class ScoreSource(Enum):
    """Where the score of each feature comes from in a step.

    Steps do not contain the name and the unit of the score, because
    these are the same for all steps, and a study would store them
    repeatedly.

    Examples
    --------
    >>> from rankstudio.api import CandidateScore, ScoreSource
    >>> CandidateScore("weight", "", ScoreSource.WEIGHT).source.name
    'WEIGHT'
    """

    CRITERION = "the criterion with the feature added: its drop is the score"
    SCORE = "the score itself"
    WEIGHT = "the size of the feature's weight, which is in the step's coef"


@dataclass(frozen=True)
class CandidateScore:
    """Score by which a method compares candidates.

    Attributes
    ----------
    name : str
        Axis title: "drop in leave-query-out error".
    unit : str
        Unit or context: "per document".
    source : ScoreSource
    least : bool
        Whether the method selects the candidate with the smallest
        score, not the largest.
    from_zero : bool
        Whether a worthless candidate has the score 0; ranking measures
        have no such zero.

    Examples
    --------
    >>> from rankstudio.api import CandidateScore
    >>> CandidateScore("relevance minus redundancy", "", from_zero=False).name
    'relevance minus redundancy'
    """

    name: str
    unit: str
    source: ScoreSource = ScoreSource.SCORE
    least: bool = False
    from_zero: bool = True

    @property
    def title(self) -> str:
        """Name and unit: "drop in leave-query-out error per document"."""
        return f"{self.name} {self.unit}".strip()

    @property
    def criterion(self) -> str:
        """Name of the criterion that the score is a drop in, such as "leave-query-out error".

        For a score that is no drop in a criterion, it is the name of the score.
        """
        return self.name.removeprefix("drop in ")

    def of(self, step: Step, divisor: float = 1.0) -> Floats:
        """Return the score of each feature at a step, by which the method compared it with others.

        Parameters
        ----------
        step : Step
            Step of a path on data with n features.
        divisor : float
            Divisor of criteria, which makes those of different folds
            comparable. Only drops of the criterion are divided.

        Returns
        -------
        ndarray of shape (n,)
            NaN for features that were not candidates; all NaN if the
            step compares none.
        """
        n = step.coef.size
        # The score is the weight's size, the step's own score, or the drop of the criterion.
        if self.source is ScoreSource.WEIGHT:
            return np.abs(step.coef)
        if step.candidates.size != n:
            return np.full(n, np.nan)
        if self.source is ScoreSource.SCORE:
            return step.candidates
        # The step has the criterion before it, and the criterion with
        # each candidate. A drop that is only rounding counts as 0.
        drops = step.before - step.candidates
        return (
            np.where(np.abs(drops) <= _ROUNDING * abs(step.before), 0.0, drops)
            / divisor
        )

    def gains(self, scores: Floats) -> Floats:
        """Return scores (n,) for which larger is better: negated if the least score is best."""
        return -scores if self.least else scores


class StepKind(Enum):
    """Kind of a method's steps, and therefore the x axis of its curves.

    If steps are iterations, only the last step can be selected; for all
    other kinds, every step can.

    Examples
    --------
    >>> from rankstudio.api import StepKind
    >>> StepKind.ITERATIONS.value
    'iteration'
    """

    FEATURES = "number of features"
    ITERATIONS = "iteration"
    ROUNDS = "round"

    @property
    def limit(self) -> str:
        """Name of the parameter that limits the number of steps of this kind."""
        return _LENGTH_PARAMETERS[self]


_LENGTH_PARAMETERS = {
    StepKind.FEATURES: "n_features_to_select",
    StepKind.ITERATIONS: "max_iter",
    StepKind.ROUNDS: "n_rounds",
}


@dataclass(frozen=True)
class Seconds:
    """Typical duration of a method with default parameters on the bundled sample, with one thread.

    Attributes
    ----------
    fold : float
        Seconds shared by all fits of a fold, such as the order of the features.
    fit : float
        Seconds per combination of parameters.
    path : float
        Seconds that the method takes as a final ranker, per
        combination, for all numbers of features.
    slow : bool
        Whether a run takes a minute or more on data of usual size.

    Examples
    --------
    >>> from rankstudio.api import Seconds
    >>> Seconds(fold=0.3, fit=0.1).path
    0.0
    """

    fold: float
    fit: float
    path: float = 0.0
    slow: bool = False


@dataclass(frozen=True)
class Description:
    """Texts that describe a method to users.

    Attributes
    ----------
    citation, title : str
        "Pahikkala et al. 2010", and the paper's title.
    summary : str
        Description in a few sentences.
    formula : str
        Objective or definition, with the paper's symbols; "" if words are clearer.
    bibtex : str
        Entries of BibTeX for ``rankstudio cite`` and reports; "" to
        make one of citation and title. RankStudio's own are in
        ``resources/references.bib``.

    Examples
    --------
    >>> from rankstudio.api import Description
    >>> Description("Geng et al. 2007", "Feature selection for ranking", "Selects features.").citation
    'Geng et al. 2007'
    """

    citation: str
    title: str
    summary: str
    formula: str = ""
    bibtex: str = ""


@dataclass(frozen=True)
class Criterion:
    """The number that a method minimises, which every step of its path has.

    Attributes
    ----------
    name : str
        Axis title; "" if there is no criterion. If ``measured``, the
        name of the measure.
    per_document : bool
        Whether the criterion is a sum over documents, which is divided
        by their number to compare folds.
    measured : bool
        Whether the criterion is the negative of a measure. The measure
        is then shown instead.

    Examples
    --------
    >>> from rankstudio.api import LEAVE_QUERY_OUT, Criterion
    >>> Criterion("training measure", measured=True).name
    'training measure'
    >>> LEAVE_QUERY_OUT.per_document
    True
    """

    name: str = ""
    per_document: bool = False
    measured: bool = False


@dataclass(frozen=True)
class Requirement:
    """An optional library that a method needs.

    Attributes
    ----------
    module : str
        Module that is imported; "" if the method needs no optional library.
    extra : str
        Extra of RankStudio that installs the library; "" if pip
        installs it by the module's name.

    Examples
    --------
    >>> from rankstudio.api import Requirement
    >>> Requirement("catboost", extra="catboost").module
    'catboost'
    """

    module: str = ""
    extra: str = ""


@dataclass(frozen=True)
class Method:
    """Entry of one method in the catalog: its texts, parameters, traits, and the name of its estimator.

    Attributes
    ----------
    key, label : str
        Key for plans and the terminal; label for users.
    family : str
        "selector" for methods that select features, "ranker" for
        methods that rank with given features, "given" for an existing
        ranking, "model" for an existing model.
    description : Description
        Paper, summary and formula.
    estimator : str
        "module:Class"; imported on first use, "" for a method without code.
    parameters : tuple of Parameter
        Parameters in the order of the form.
    criterion : Criterion
        Criterion that the steps minimise, such as `LEAVE_QUERY_OUT`.
    step_kind : StepKind
    takes : tuple of str
        Arguments of the estimator that come from the plan:
        "convention", "seed", "groups".
    library : tuple of str
        Arguments of the estimator that plans cannot set, only programs
        that call the estimator.
    candidate_score : CandidateScore or None
        Score by which the method compares candidates; None if it compares none.
    traits : tuple of str
        Traits of the method, from :data:`TRAITS`.
    capabilities : tuple of str
        Abilities of the estimator that analyses use, from :data:`CAPABILITIES`.
    requires : Requirement
        Optional library that the method needs.
    ranks_with : str
        For a selector: label of the model that ranks with the selected
        features if there is no final ranker; "" if this is the label of
        the selector.
    greatest_label : float
        Maximum supported label.
    seconds : Seconds
        Typical duration, for estimates before the first run; and
        whether the method is slow.
    origin : Origin or None
        Where the method's code comes from; None for a method of
        RankStudio itself. Set by the registry.

    Examples
    --------
    >>> from rankstudio.api import LEAVE_QUERY_OUT, RANKING_LAMBDA, SIZE, Description, Method
    >>> entry = Method(
    ...     key="mrmr",
    ...     label="mRMR",
    ...     family="selector",
    ...     description=Description(
    ...         "Peng et al. 2005",
    ...         "Feature selection based on mutual information",
    ...         "Takes features that say much of the labels and little of each other.",
    ...     ),
    ...     criterion=LEAVE_QUERY_OUT,
    ...     estimator="my_package.mrmr:MRMR",
    ...     parameters=(RANKING_LAMBDA, SIZE),
    ... )
    >>> entry.selects
    True
    """

    key: str
    label: str
    family: str
    description: Description
    estimator: str
    parameters: tuple[Parameter, ...]
    criterion: Criterion = Criterion()
    step_kind: StepKind = StepKind.FEATURES
    takes: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    candidate_score: CandidateScore | None = None
    traits: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    requires: Requirement = Requirement()
    ranks_with: str = ""
    greatest_label: float = inf
    seconds: Seconds = Seconds(fold=0.03, fit=0.03, path=1.0)
    origin: Origin | None = None

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of every parameter, by name."""
        return {p.name: p.default for p in self.parameters}

    @property
    def learns_preferences(self) -> bool:
        """Whether the method can learn from preferences between documents instead of labels."""
        return "learns_preferences" in self.traits

    @property
    def left_out(self) -> bool:
        """Whether the estimator supports leave-query-out predictions."""
        return "left_out" in self.traits

    @property
    def live(self) -> bool:
        """Whether a path is computed fast enough to update it while a slider is moved."""
        return "live" in self.traits

    @property
    def drops_features(self) -> bool:
        """Whether the models of a ranker may omit some of the given features."""
        return "drops_features" in self.traits

    @property
    def combines(self) -> bool:
        """Whether each step of a selector adds one new feature, a weighted sum of the step's features.

        A linear final ranker ranks with the new features. The estimator
        has the weights of the sums as ``combinations_``, shape (t, n).
        """
        return "combines" in self.traits

    @property
    def permutes(self) -> bool:
        """Whether paths for many label vectors share computations, so permutation tests take seconds."""
        return "paths_of_labels" in self.capabilities

    @property
    def compares_densities(self) -> bool:
        """Whether the method scores a feature by the densities of its values in each grade."""
        return "densities_of" in self.capabilities

    @property
    def weighs_features(self) -> bool:
        """Whether the method weighs features by importance and similarity, as FSMRank and GAS do."""
        return "weighed_features" in self.capabilities

    @property
    def selects(self) -> bool:
        """Whether the method selects features."""
        return self.family == "selector"

    @property
    def learns_nothing(self) -> bool:
        """Whether the method learns nothing, because the ranking or the model is given."""
        return self.family in ("given", "model")

    @property
    def featureless(self) -> bool:
        """Whether the method uses no features, because the ranking is given."""
        return self.family == "given"

    @property
    def uses_all(self) -> bool:
        """Whether the method's models use all given features."""
        return not self.selects and not self.drops_features

    @property
    def groups(self) -> bool:
        """Whether the method supports groups of features, which are selected as a whole."""
        return "groups" in self.takes or self.uses_all

    @property
    def group_rule(self) -> str:
        """Sentence about the score that compares groups of features.

        The sentence is "" if the method does not select groups.
        """
        if not self.selects or not self.groups:
            return ""
        if (
            self.candidate_score is not None
            and self.candidate_score.source is ScoreSource.CRITERION
        ):
            return "A group of features is one step, compared by the criterion with all its features added."
        return "A group of features is one step, compared by the score of its best feature."

    @property
    def grids(self) -> tuple[Parameter, ...]:
        """Parameters with a grid of values, each of which is tried."""
        return tuple(p for p in self.parameters if p.kind is Kind.GRID)

    @property
    def lacking(self) -> str:
        """Reason why the method cannot be used in this installation, as a sentence.

        The reason is "" if the method can be used.
        """
        # A method from elsewhere: its package or file may be missing.
        if self.origin is not None and self.origin.lacking:
            return f"{self.label} {self.origin.lacking}"
        # `requires` names the optional library of the method, and the
        # extra of RankStudio that installs it, if there is one.
        module = self.requires.module
        if not module or find_spec(module) is not None:
            return ""
        package = (
            f'"rankstudio[{self.requires.extra}]"' if self.requires.extra else module
        )
        return tr("{label} needs {module}: pip install {package}.").format(
            label=self.label, module=module, package=package
        )

    def refusal_of_labels(self, greatest: float) -> str:
        """Return why the method does not support labels up to ``greatest``, as a sentence.

        The reason is "" if the labels are supported.
        """
        if greatest <= self.greatest_label:
            return ""
        return tr(
            "{label} needs labels up to {most:g}; the data have {found:g}."
        ).format(label=self.label, most=self.greatest_label, found=greatest)

    def final_ranker(self, ranker: Method | None) -> str:
        """Return the label of the method that ranks with the selected features.

        That is ``ranker``, or for None the selector's own ranking
        model. A ``ranker`` with the label of the own model gets a
        longer label, because it has separate settings.
        """
        label = self.ranks_with or self.label
        if ranker is None:
            return label
        return (
            tr("{label}, separate settings").format(label=label)
            if ranker.label == label
            else ranker.label
        )

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name.

        The PlanError for an unknown name lists the known names.
        """
        for p in self.parameters:
            if p.name == name:
                return p
        names_text = ", ".join(p.name for p in self.parameters)
        raise PlanError(
            tr("{label} has no parameter {name}; its parameters are {known}.").format(
                label=self.label, name=shown(name), known=names_text
            )
        )

    def validate(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters in canonical form, with defaults, in the order of the catalog."""
        for name in values:
            self.parameter(name)
        return {
            p.name: p.validate(values.get(p.name, p.default)) for p in self.parameters
        }

    @property
    def package(self) -> str:
        """Package that the method comes from.

        The name of the package is "" for RankStudio's own methods.
        """
        return "" if self.origin is None else self.origin.name

    def load(self) -> type[Any]:
        """Import and return the class of the method's estimator, which learns.

        Raises
        ------
        PlanError
            If a required library is not installed.
        """
        if self.lacking:
            raise PlanError(self.lacking)
        if self.origin is not None:
            # A method of a plug-in, a file or a command has a loader,
            # which also checks its steps. It is imported by name,
            # because it imports this module.
            return import_module(_LOADER_MODULE).load(self)  # type: ignore[no-any-return]
        module, _, name = self.estimator.partition(":")  # "module:name"
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
