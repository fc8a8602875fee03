"""A method as data: how it is called, where it comes from, what it asks for and what runs it."""

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
from rankstudio.engine.steps import Step

_ROUNDING = 1e-12  # of a criterion before a step: less than this is only the rounding of its sum


class ScoreSource(Enum):
    """What the numbers are that a step has of each feature.

    A step does not name them itself: name and unit are the same for every step, and a study would keep them
    as often as it has steps.
    """

    CRITERION = "the criterion with the feature added: its drop is the score"
    SCORE = "the score itself"
    WEIGHT = "the size of the feature's weight, which is in the step's coef"


@dataclass(frozen=True)
class CandidateScore:
    """What a method compares its candidates by.

    Attributes
    ----------
    name : str
        "drop in leave-query-out error", as the title of an axis.
    unit : str
        "per document"; what the number is of, or in.
    source : ScoreSource
    least : bool
        Whether the candidate with the least score gets the step's place, rather than the greatest.
    from_zero : bool
        Whether a candidate that is worth nothing has the score 0: a measure of ranking has no such zero.
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
        """What a drop is one in: "leave-query-out error"; the name of any other score."""
        return self.name.removeprefix("drop in ")

    def of(self, step: Step, divisor: float = 1.0) -> Floats:
        """Return the score of each feature in a step.

        Parameters
        ----------
        step : Step
            Of n features.
        divisor : float
            What criteria are divided by, so that folds compare.

        Returns
        -------
        ndarray of shape (n,)
            NaN for what was no candidate; all NaN where the step compares none.
        """
        n = step.coef.size
        if self.source is ScoreSource.WEIGHT:
            return np.abs(step.coef)
        if step.candidates.size != n:
            return np.full(n, np.nan)
        if self.source is ScoreSource.SCORE:
            return step.candidates
        drops = step.before - step.candidates
        return np.where(np.abs(drops) <= _ROUNDING * abs(step.before), 0.0, drops) / divisor

    def gains(self, scores: Floats) -> Floats:
        """Return scores in the sense in which more is better."""
        return -scores if self.least else scores


class StepKind(Enum):
    """What the steps of a method are, and so what its curves are drawn over.

    Of iterations only the last one is a model to choose; of all others each is.
    """

    FEATURES = "number of features"
    ITERATIONS = "iteration"
    ROUNDS = "round"

    @property
    def limit(self) -> str:
        """Name of the parameter that limits how many steps a path has."""
        return _LIMITS[self]


_LIMITS = {
    StepKind.FEATURES: "n_features_to_select",
    StepKind.ITERATIONS: "max_iter",
    StepKind.ROUNDS: "n_rounds",
}


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    key, label : str
        For plans and the terminal; for people.
    family : str
        "selector" for what chooses features, "ranker" for what ranks with the features it is given, "given"
        for a ranking that is there already, "model" for a model that is.
    citation, title : str
        "Pahikkala et al. 2010", and the paper's title.
    summary : str
        What it does, in a few sentences.
    criterion : str
        What its criterion is, as an axis title; "" where it has none. Of one that is ``measured``: the
        measure of which it is the negative, and as which it is shown.
    estimator : str
        "module:Class"; imported when it is first used.
    parameters : tuple of Parameter
        In the order of the form.
    formula : str
        What it minimises or computes, with the paper's symbols; "" where words say it better.
    step_kind : StepKind
    per_document : bool
        Whether the criterion is a sum over documents, to be divided by their number so that folds compare.
    takes : tuple of str
        Arguments of the estimator that are the plan's and not the method's: "convention", "seed", "groups".
    library : tuple of str
        Arguments of the estimator that no plan gives, for programs that call it.
    learns_preferences : bool
        Whether it learns from preferences between documents as well as from labels.
    permutes : bool
        Whether its paths for many label vectors share their work, so that a permutation test takes seconds.
    measured : bool
        Whether the criterion is the negative of a measure.
    candidate_score : CandidateScore or None
        What it compares its candidates by at each step; None for a method that compares none.
    left_out : bool
        Whether its estimator predicts each query by the model learned without it.
    live : bool
        Whether a path is computed fast enough to follow a slider.
    drops_features : bool
        Whether a ranker's models may go without some of the features that it is given.
    compares_densities : bool
        Whether it judges a feature by the densities of its values in each grade, which can be shown.
    module, extra : str
        What it cannot do without besides what is always there, and the extra that installs it; "" where
        every installation has it.
    ranks_with : str
        For a selector: the label of the model that ranks with its features unless a final ranker is chosen;
        "" where that model is called as the selector is.
    slow : bool
        Whether a run takes a minute or more on data of usual size.
    greatest_label : float
        Labels above it are refused.
    """

    key: str
    label: str
    family: str
    citation: str
    title: str
    summary: str
    criterion: str
    estimator: str
    parameters: tuple[Parameter, ...]
    formula: str = ""
    step_kind: StepKind = StepKind.FEATURES
    per_document: bool = False
    takes: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    learns_preferences: bool = False
    permutes: bool = False
    measured: bool = False
    candidate_score: CandidateScore | None = None
    left_out: bool = False
    live: bool = False
    drops_features: bool = False
    compares_densities: bool = False
    module: str = ""
    extra: str = ""
    ranks_with: str = ""
    slow: bool = False
    greatest_label: float = inf

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of every parameter, by name."""
        return {p.name: p.default for p in self.parameters}

    @property
    def selects(self) -> bool:
        """Whether it chooses features."""
        return self.family == "selector"

    @property
    def given(self) -> bool:
        """Whether nothing is learned: the ranking, or the model, is there already."""
        return self.family in ("given", "model")

    @property
    def featureless(self) -> bool:
        """Whether there are no features behind a ranking, but what was given."""
        return self.family == "given"

    @property
    def uses_all(self) -> bool:
        """Whether its models have all the features that it is given."""
        return not self.selects and not self.drops_features

    @property
    def groups(self) -> bool:
        """Whether it takes a group of features or leaves it, as a whole."""
        return "groups" in self.takes or self.uses_all

    @property
    def group_rule(self) -> str:
        """By what it compares groups of features, as a sentence; "" where it honours none."""
        if not self.selects or not self.groups:
            return ""
        if self.candidate_score is not None and self.candidate_score.source is ScoreSource.CRITERION:
            return "A group of features is one step, compared by the criterion with all its features added."
        return "A group of features is one step, compared by the score of its best feature."

    @property
    def grids(self) -> tuple[Parameter, ...]:
        """The parameters of which several values are tried."""
        return tuple(p for p in self.parameters if p.kind is Kind.GRID)

    @property
    def lacking(self) -> str:
        """Why it cannot be used here, as a sentence; "" where it can."""
        if not self.module or find_spec(self.module) is not None:
            return ""
        package = f'"rankstudio[{self.extra}]"' if self.extra else self.module
        return tr("{label} needs {module}, which is not installed: pip install {package}.").format(
            label=self.label, module=self.module, package=package
        )

    def refusal_of_labels(self, greatest: float) -> str:
        """Return why it cannot learn from labels up to a greatest one, as a sentence; "" where it can."""
        if greatest <= self.greatest_label:
            return ""
        return tr("{label} needs labels up to {most:g}; the data have {found:g}.").format(
            label=self.label, most=self.greatest_label, found=greatest
        )

    def final_ranker(self, ranker: Method | None) -> str:
        """Return what a final ranker of its features is called, None for the model it has itself.

        A ranker of the name of its own model is another one: it is trained with settings of its own.
        """
        own = self.ranks_with or self.label
        if ranker is None:
            return own
        return tr("{label}, separate settings").format(label=own) if ranker.label == own else ranker.label

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name; PlanError names the ones there are."""
        for p in self.parameters:
            if p.name == name:
                return p
        known = ", ".join(p.name for p in self.parameters)
        raise PlanError(
            tr("{label} has no parameter {name}; its parameters are {known}.").format(
                label=self.label, name=shown(name), known=known
            )
        )

    def validate(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters in canonical form, defaults filled in, in the order of the catalog."""
        for name in values:
            self.parameter(name)
        return {p.name: p.validate(values.get(p.name, p.default)) for p in self.parameters}

    def load(self) -> type[Any]:
        """Import and return the estimator's class.

        Raises
        ------
        PlanError
            Where something is not installed that it cannot do without.
        """
        if self.lacking:
            raise PlanError(self.lacking)
        module, _, name = self.estimator.partition(":")
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
