"""Why a feature is in a model, or is not: sentences made of the scores that the method compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankstudio.engine.analysis.features.candidate_map import Margin, shares, step_margin
from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.candidate_score import CandidateScore, ScoreSource
from rankstudio.engine.methods.catalog.method import StepKind

TOSS_UP = 0.01
"""Share of the score under which a margin says little."""

_FALL = 0.1  # of a score: what loses less with a feature is not displaced by it


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another path of the same run.

    Attributes
    ----------
    label : str
        "2⁸"; "2" for a fold.
    path : PathResult
    """

    label: str
    path: PathResult


@dataclass(frozen=True, eq=False)
class ChoiceContext:
    """What a feature's choice is explained with.

    Attributes
    ----------
    path : PathResult
    position : int
        Of the chosen model among its steps.
    score : CandidateScore
        The method's.
    names : sequence of str of length n
        Of the features.
    axis : str
        What differs between `combinations`: "λ"; "combination" where it is more than one thing.
    combinations : sequence of Alternative
        The paths of the fold, this one among them, in the order of the grid.
    folds : sequence of Alternative
        The paths of the other folds with the same parameters.
    """

    path: PathResult
    position: int
    score: CandidateScore
    names: Sequence[str]
    axis: str = ""
    combinations: Sequence[Alternative] = ()
    folds: Sequence[Alternative] = ()

    @property
    def size(self) -> int:
        """How many features the chosen model has."""
        return len(self.path.steps[self.position].selected)


@dataclass(frozen=True)
class ChoiceExplanation:
    """Why a feature is in the chosen model, or is not.

    Attributes
    ----------
    title : str
        "Why at step 2".
    sentences : tuple of str
    """

    title: str
    sentences: tuple[str, ...]


def explain(context: ChoiceContext, feature: int, correlations: Floats | None = None) -> ChoiceExplanation:
    """Explain why a feature is in the chosen model, or is not.

    Parameters
    ----------
    context : ChoiceContext
    feature : int
        Its 0-based column.
    correlations : ndarray of shape (n, n), optional
        Of the features inside queries.
    """
    inside = feature in context.path.steps[context.position].selected
    if context.path.step_kind is not StepKind.FEATURES:
        title, sentences = _of_weights(context, feature, inside)
    elif inside:
        step = next(step for step in context.path.steps if feature in step.selected)
        margin = step_margin(context.score, step, feature, context.path.divisor)
        title = f"Why at step {margin.number}"
        sentences = [_lead(context, margin), _first_rank(context, feature, margin.number)]
    else:
        title = f"Why not with k = {context.size}"
        sentences = [_later(context, feature), _closest(context, feature, correlations)]
        sentences.append(_displaced(context, feature, correlations))
    if not inside:
        sentences.append(_likeness(context, feature, correlations, sentences))
    sentences.append(_elsewhere(context, feature, inside))
    return ChoiceExplanation(title, tuple(sentence for sentence in sentences if sentence))


def _lead(context: ChoiceContext, margin: Margin) -> str:
    """Say what a feature was taken for, and how far ahead of whom it was."""
    score = context.score
    if np.isnan(margin.score):
        return "It came without a comparison: no other candidate was left that could change a ranking."
    added = score.source is ScoreSource.CRITERION and margin.score < 0
    if score.source is ScoreSource.CRITERION:
        verb, by = ("Added", "to") if added else ("Took", "off")
        name = score.name.removeprefix("drop in ")
        said = f"{verb} {number(abs(margin.score))} {by} the {name} {score.unit}"
    else:
        said = f"{score.title[0].upper()}{score.title[1:]}: {number(margin.score)}"
    if score.least and margin.rival is not None:
        said = f"With {margin.number} features left it was the next to drop out"
        rival = f"{context.names[margin.rival]} ({number(margin.rival_score)})"
        how = (
            f"{percent(margin.share)} less than that of {rival}"
            if margin.share > 0
            else f"as that of {rival}"
        )
        return f"{said}: the {score.name}, {number(margin.score)}, was {how}."
    if margin.rival is None:
        return f"{said}; it was the last candidate."
    rival = f"{context.names[margin.rival]} ({number(-margin.rival_score if added else margin.rival_score)})"
    if margin.share == 0:
        return f"{said}, the same as {rival}: the first in the file was taken."
    if margin.share < 0:
        return f"{said}. {rival} was ahead by {percent(-margin.share)}: pins, costs or a limit decided."
    close = ": a toss of a coin" if margin.share < TOSS_UP else ""
    return f"{said}, ahead of {rival} by {percent(margin.share)}{close}."


def _first_rank(context: ChoiceContext, feature: int, number_: int) -> str:
    """Say how a feature stood at the first step, where it came later."""
    values = context.score.of(context.path.steps[0], context.path.divisor)
    if number_ <= 1 or not np.isfinite(values[feature]):
        return ""
    return f"At step 1 it was {_place(context.score, values, feature)}."


def _later(context: ChoiceContext, feature: int) -> str:
    steps = context.path.steps
    later = next(
        (step.number for step in steps if feature in step.selected and len(step.selected) > context.size), 0
    )
    return f"It comes at step {later}." if later else "No model of the path has it."


def _closest(context: ChoiceContext, feature: int, correlations: Floats | None) -> str:
    """Say at which step up to the chosen one a feature came closest, and who was taken there."""
    path, score = context.path, context.score
    found = [score.of(step, path.divisor) for step in path.steps[: context.position + 1]]
    near = np.array([shares(score, values)[feature] for values in found])
    if not np.isfinite(near).any():
        return "It was a candidate at no step."
    place = int(np.nanargmax(near))
    before = path.steps[place - 1].selected if place else ()
    taken = [f for f in path.steps[place].selected if f not in before]
    values = found[place]
    where = f"It came closest at step {path.steps[place].number}: {_place(score, values, feature)}"
    if not taken or not np.isfinite(values[taken[0]]):
        return f"{where}."
    gains = score.gains(values)
    best, own = float(values[taken[0]]), float(values[feature])
    size = max(abs(best), abs(own))
    behind = float(gains[taken[0]] - gains[feature]) / size if size else 0.0
    name = context.names[taken[0]]
    how = f"{percent(behind)} behind {name}" if behind > 0 else f"no worse than {name}"
    return f"{where}, {how}{_r(correlations, feature, taken[0])}, which was taken."


def _displaced(context: ChoiceContext, feature: int, correlations: Floats | None) -> str:
    """Say with which feature its score fell most."""
    path, score = context.path, context.score
    values = [float(score.of(step, path.divisor)[feature]) for step in path.steps[: context.position + 1]]
    falls = [
        (before - after, place)
        for place, (before, after) in enumerate(pairwise(values))
        if before - after > _FALL * abs(before)
    ]
    if not falls or score.least:
        return ""
    place = max(falls)[1]
    earlier = path.steps[place - 1].selected if place else ()
    taken = [f for f in path.steps[place].selected if f not in earlier]
    if not taken:
        return ""
    name = f"{context.names[taken[0]]}{_r(correlations, feature, taken[0])}"
    return f"With {name} in the model it fell from {number(values[place])} to {number(values[place + 1])}."


def _likeness(context: ChoiceContext, feature: int, correlations: Floats | None, said: Sequence[str]) -> str:
    """Say which of the model's features a feature is most like, where that was not said yet."""
    model = [f for f in context.path.steps[context.position].selected if f != feature]
    if correlations is None or not model:
        return ""
    like = max(model, key=lambda f: abs(correlations[feature, f]))
    if correlations[feature, like] == 0 or any(context.names[like] in sentence for sentence in said):
        return ""
    return f"In the model it is most like {context.names[like]}{_r(correlations, feature, like)}."


def _of_weights(context: ChoiceContext, feature: int, inside: bool) -> tuple[str, list[str]]:
    """Explain a feature of a model that weighs all at once."""
    path, score = context.path, context.score
    step = path.steps[context.position]
    values = score.of(step, path.divisor)
    what = "iteration" if path.step_kind is StepKind.ITERATIONS else "round"
    if not inside or values[feature] == 0:
        history = np.array([score.of(one)[feature] for one in path.steps])
        top = int(np.argmax(history))
        once = (
            f", at most {number(history[top])}, at {what} {path.steps[top].number}"
            if history[top] > 0
            else ""
        )
        return "Why not in the model", [f"Its {score.name} is 0 at {what} {step.number}{once}."]
    order = np.argsort(-values, kind="stable").tolist()
    rank = order.index(feature)
    said = f"{score.name[0].upper()}{score.name[1:]} {number(float(values[feature]))} at {what} {step.number}"
    said += f", {_place(score, values, feature)}"
    if rank + 1 < len(order) and values[order[rank + 1]] > 0:
        other = order[rank + 1]
        lead = (values[feature] - values[other]) / values[feature]
        said += f"; {percent(lead)} more than {context.names[other]} ({number(float(values[other]))})"
    return "Why in the model", [f"{said}."]


def _elsewhere(context: ChoiceContext, feature: int, inside: bool) -> str:
    """Say with which other parameters of the run, and in which folds, it would be otherwise."""
    size, parts = context.size, []
    if inside and size == len(context.names):
        return ""
    combinations = [(one.label, feature in _model(one.path, context)) for one in context.combinations]
    if len(combinations) > 1:
        parts.append(_where(context.axis, combinations, not inside))
    folds = [(one.label, feature in _model(one.path, context)) for one in context.folds]
    if folds:
        parts.append(_where("fold", folds, not inside))
    if not parts:
        return ""
    other = [part for part in parts if part]
    among = f"among the first {size}" if context.path.step_kind is StepKind.FEATURES else "in the model"
    if inside:
        return (
            f"It would not be {among} {' nor '.join(other)}."
            if other
            else f"Every path of the run has it {among}."
        )
    return f"It would be {among} {' or '.join(other)}." if other else f"No path of the run has it {among}."


def _model(path: PathResult, context: ChoiceContext) -> tuple[int, ...]:
    """Return the features of the model of another path that compares with the chosen one."""
    if path.step_kind is not StepKind.FEATURES:
        return path.steps[-1].selected
    return path.steps[int(np.abs(path.sizes - context.size).argmin())].selected


def _where(what: str, states: Sequence[tuple[str, bool]], wanted: bool) -> str:
    """Return which of some ordered labels have a state: "with λ = 2⁸ to 2¹⁵", "in fold 2 or 4"."""
    if what == "combination":
        count = sum(state is wanted for _, state in states)
        return f"with {count} of {len(states)} combinations" if count else ""
    runs: list[list[str]] = []
    before = not wanted
    for label, state in states:
        if state is wanted:
            if before is not wanted:
                runs.append([])
            runs[-1].append(label)
        before = state
    if not runs:
        return ""
    said = [
        run[0] if len(run) == 1 else f"{run[0]} {'or' if len(run) == 2 else 'to'} {run[-1]}" for run in runs
    ]
    return f"{'in fold' if what == 'fold' else f'with {what} ='} {' or '.join(said)}"


def _place(score: CandidateScore, values: Floats, feature: int) -> str:
    """Return a feature's rank among the candidates: "9th of 46"."""
    gains = score.gains(values)
    rank = 1 + int(np.count_nonzero(gains > gains[feature]))
    ending = "th" if 10 < rank % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending} of {int(np.isfinite(values).sum())}"


def _r(correlations: Floats | None, one: int, other: int) -> str:
    if correlations is None:
        return ""
    return f" (r = {round(correlations[one, other], 2) + 0.0:.2f} inside queries)".replace("-", "−")


def number(value: float) -> str:
    """Return a score with three figures."""
    return f"{value:.3g}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share in percent: "41 %", "0.83 %", "less than 0.01 %"."""
    if share < 0.0001:
        return "0 %" if share == 0 else "less than 0.01 %"
    if share >= 0.095:
        return f"{100 * share:.0f} %"
    return f"{100 * share:.2g} %" if share >= 0.001 else f"{100 * share:.2f} %"
