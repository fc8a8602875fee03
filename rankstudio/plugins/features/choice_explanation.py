"""Sentences on why a feature is in a model, or is not, from the scores that the method compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rankstudio.engine.analysis.features.candidate_map import (
    CandidateGroups,
    Margin,
    added_at,
    is_share_meaningless,
    shares,
    step_margin,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.language import either, tr
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.support.number_format import (
    correlation_text,
    percent,
    significant,
)


@dataclass(frozen=True, eq=False)
class Alternative:
    """A path of a run to compare with: other parameters, or another fold.

    Attributes
    ----------
    label : str
        Value of the parameter in which the path differs, such as "2⁸",
        or number of its fold, such as "2".
    path : PathResult
    """

    label: str
    path: PathResult


@dataclass(frozen=True, eq=False)
class ChoiceContext:
    """The facts that explain why a method selected a feature or did not.

    Attributes
    ----------
    path : PathResult
    position : int
        Position of the chosen model on the path.
    score : CandidateScore
        Score by which the method compares candidates.
    names : sequence of str of length n
        Names of the features.
    axis : str
        Name of the parameter in which `combinations` differ: "λ";
        "combination" for several parameters.
    combinations : sequence of Alternative
        Paths of the fold, including this one, in the order of the grid.
    folds : sequence of Alternative
        Paths of the other folds with the same parameters.
    groups : CandidateGroups, optional
        Groups of the features; candidates are counted and named as groups.
    """

    path: PathResult
    position: int
    score: CandidateScore
    names: Sequence[str]
    axis: str = ""
    combinations: Sequence[Alternative] = ()
    folds: Sequence[Alternative] = ()
    groups: CandidateGroups | None = None

    @property
    def size(self) -> int:
        """Number of features of the chosen model."""
        return len(self.path.steps[self.position].selected)

    @property
    def n_candidates(self) -> int:
        """Number of features; a group counts as one."""
        return (
            len(self.names) if self.groups is None else len(self.groups.columns.groups)
        )

    def by_candidate(self, groups: CandidateGroups) -> ChoiceContext:
        """Return the context with paths of candidates, each identified by its representative column.

        A candidate is a group of features, or a feature by itself; the
        first column of a group stands for all of it.
        """
        # Alternatives are the paths of other parameters, and of other
        # folds; `groups.path` puts the column of a group in place of
        # its features.
        combinations, folds = (
            [
                replace(alternative, path=groups.path(alternative.path))
                for alternative in alternatives
            ]
            for alternatives in (self.combinations, self.folds)
        )
        path = groups.path(self.path)
        names = groups.names
        return replace(
            self,
            path=path,
            names=names,
            combinations=combinations,
            folds=folds,
        )


TOSS_UP = 0.01
"""Share of the score below which a margin is a near tie."""

# share of a score that a feature must lose by another selection to be displaced by it
_MIN_FALL = 0.1


@dataclass(frozen=True)
class ChoiceExplanation:
    """Reasons why a feature is or is not in the chosen model.

    Attributes
    ----------
    title : str
        "Why at step 2".
    sentences : tuple of str
    """

    title: str
    sentences: tuple[str, ...]


def explain(
    context: ChoiceContext, feature: int, correlations: Floats | None = None
) -> ChoiceExplanation:
    """Explain why a feature is in the chosen model, or is not.

    Parameters
    ----------
    context : ChoiceContext
        The path of the chosen model, its scores, and other paths to compare with.
    feature : int
        0-based column of the feature.
    correlations : ndarray of shape (n, n), optional
        Correlations of the n features within queries.

    Returns
    -------
    ChoiceExplanation
        A title and sentences.
    """
    # A feature of a group is explained by its group, for which the
    # column of the first member stands from here on.
    groups = context.groups
    together = ""
    if groups is not None:
        context = context.by_candidate(groups)
        members = groups.members(feature)
        feature = members[0]
        if len(members) > 1:
            together = f"All {len(members)} features of {groups.names[feature]} are taken or left together."

        # those of groups instead of features
        correlations = (
            None if correlations is None else groups.correlations(correlations)
        )

    # A path of iterations or rounds (its step kind is not FEATURES)
    # weighs all features at once; on the other paths, the feature was
    # selected at a step, or is not in the chosen model.
    in_model = feature in context.path.steps[context.position].selected
    if context.path.step_kind is not StepKind.FEATURES:
        title, sentences = _weight_explanation(context, feature, in_model)
    elif in_model:
        step = next(step for step in context.path.steps if feature in step.selected)

        # The margin is the feature's lead over the best other
        # candidate. The divisor makes scores per document.
        margin = step_margin(context.score, step, feature, context.path.divisor)
        title = tr("Why it was selected at step {step}").format(step=margin.number)
        sentences = [
            _reason_selected(context, margin),
            _first_rank_sentence(context, feature, margin.number),
        ]
    else:
        title = tr("Why it is not in the model with k = {size}").format(
            size=context.size
        )
        sentences = [
            _later_step_sentence(context, feature),
            _closest_step_sentence(context, feature, correlations),
        ]
        sentences.append(_displacement_sentence(context, feature, correlations))
    if not in_model:
        sentences.append(
            _similarity_sentence(context, feature, correlations, sentences)
        )
    sentences.append(_alternatives_sentence(context, feature, in_model))
    return ChoiceExplanation(
        title, tuple(sentence for sentence in (together, *sentences) if sentence)
    )


def _reason_selected(context: ChoiceContext, margin: Margin) -> str:
    """Explain why a feature was selected, and how far ahead of which rival it was.

    The margin has the feature, the best other candidate (the rival),
    and the lead as a share of the greater of their scores; a negative
    share means that the rival was ahead.
    """
    score = context.score
    if np.isnan(margin.score):
        return tr(
            "It was selected without a comparison: no other remaining candidate could change a ranking."
        )

    # A backward selection drops the feature with the least score, so
    # that the "selected" feature is the one that was dropped.
    if score.least and margin.rival is not None:
        return _drop_sentence(context, margin, margin.rival)
    if margin.rival is None:
        return f"{_effect_sentence(score, margin.score)} {tr('It was the only candidate left.')}"

    # One of the two did not lower the criterion, so that the lead as a
    # share of a score says nothing.
    if is_share_meaningless(score, margin):
        return _reason_without_use(context, margin, margin.rival)
    rival = f"{context.names[margin.rival]} ({significant(margin.rival_score)})"

    # A lead of less than the share TOSS_UP is a near tie.
    if margin.share == 0:
        text = tr("It was tied with {rival}; the first one in the file was selected.")
    elif margin.share < 0:
        text = tr(
            "{rival} scored {share} better; pins, costs or a limit decided against it."
        )
    elif margin.share < TOSS_UP:
        text = tr("The next candidate, {rival}, was {share} behind: a near tie.")
    else:
        text = tr("The next candidate, {rival}, was {share} behind.")
    comparison = text.format(rival=rival, share=percent(abs(margin.share)))
    return f"{_effect_sentence(score, margin.score)} {comparison}"


def _reason_without_use(context: ChoiceContext, margin: Margin, rival: int) -> str:
    """Explain the selection of a feature if the feature or its rival did not lower the criterion.

    ``rival`` is the column of the best other candidate. A score is the
    reduction of the criterion: negative if adding the feature raises
    it.
    """
    score = margin.score
    rival_score = margin.rival_score
    if score > 0:
        text = tr(
            "Lowered the {criterion} {unit} by {number}. No other candidate would have lowered it."
        )
    elif score == 0 and rival_score > 0:
        text = tr(
            "Left the {criterion} {unit} unchanged. {rival} would have lowered it by {less}, "
            "but pins, costs or a limit decided."
        )
    elif rival_score > 0:
        text = tr(
            "Raised the {criterion} {unit} by {number}. {rival} would have lowered it by "
            "{less}, but pins, costs or a limit decided."
        )
    elif score == 0:
        text = tr(
            "Left the {criterion} {unit} unchanged. No candidate would have lowered it."
        )
    elif rival_score == 0:
        text = tr(
            "Raised the {criterion} {unit} by {number}. No candidate would have lowered it; "
            "candidates without any effect, such as {rival}, come last."
        )
    elif rival_score > score:
        text = tr(
            "Raised the {criterion} {unit} by {number}. No candidate would have lowered it; "
            "{rival} would have raised it by {less}, but pins, costs or a limit decided."
        )
    else:
        text = tr(
            "Raised the {criterion} {unit} by {number}. No candidate would have lowered it; "
            "{rival} would have raised it by {less}."
        )
    return text.format(
        number=significant(abs(score)),
        criterion=tr(context.score.criterion),
        unit=tr(context.score.unit),
        rival=context.names[rival],
        less=significant(abs(rival_score)),
    )


def _effect_sentence(score: CandidateScore, value: float) -> str:
    """Return a sentence on the effect of adding a feature, by its score ``value``.

    ``score`` is the kind of score. An example is "Lowered the
    leave-query-out error per document by 2.5.".
    """
    # A score that is no reduction of the criterion is given by its own name.
    if score.source is ScoreSource.CRITERION:
        text = (
            tr("Raised the {name} {unit} by {number}.")
            if value < 0
            else tr("Lowered the {name} {unit} by {number}.")
        )
        return text.format(
            number=significant(abs(value)),
            name=tr(score.criterion),
            unit=tr(score.unit),
        )
    return f"{_capitalized(tr(score.title))}: {significant(value)}."


def _drop_sentence(context: ChoiceContext, margin: Margin, rival: int) -> str:
    """Return the sentence on why backward selection dropped a feature at a step.

    Backward selection drops the feature with the least score. The
    sentence says how far its score was below the next one, that of a
    feature that stayed.

    ``margin`` is that of the dropped feature: its score, the score of
    the feature that stayed, their difference as a share, and the number
    of features before the step. ``rival`` is the column of the feature
    that stayed; ``context`` has the names of features and of the score.
    """
    text = tr(
        "With {count} features left it was dropped next: its {name}, {score}, was {share} "
        "below that of {rival}."
    )
    if margin.share <= 0:
        text = tr(
            "With {count} features left it was dropped next: its {name}, {score}, equals that of {rival}."
        )
    return text.format(
        count=margin.number,
        name=tr(context.score.name),
        score=significant(margin.score),
        share=percent(margin.share),
        rival=f"{context.names[rival]} ({significant(margin.rival_score)})",
    )


def _first_rank_sentence(context: ChoiceContext, feature: int, step_number: int) -> str:
    """Return the sentence on a feature's rank among the candidates at the first step of the selection.

    The sentence is "" if the feature was selected at the first step, or
    was no candidate. ``step_number`` is that of the step at which the
    feature was selected.
    """
    # scores of all features at the first step; NaN for those that are
    # no candidates
    values = context.score.of(context.path.steps[0], context.path.divisor)
    if step_number <= 1 or not np.isfinite(values[feature]):
        return ""
    return tr("At step 1 it was {place}.").format(
        place=_rank_text(context.score, values, feature)
    )


def _later_step_sentence(context: ChoiceContext, feature: int) -> str:
    """Return the sentence on the first larger model of the path that has a feature."""
    steps = context.path.steps
    later = next(
        (
            step.number
            for step in steps
            if feature in step.selected and len(step.selected) > context.size
        ),
        0,
    )
    if not later:
        return tr("It is in no model of the path.")
    return tr("It is selected at step {step}.").format(step=later)


def _closest_step_sentence(
    context: ChoiceContext, feature: int, correlations: Floats | None
) -> str:
    """Return the sentence on the step at which a feature came closest to being selected.

    Steps after the chosen model do not count. The sentence names the
    feature that was selected at the closest step. It also has the
    correlation of the two if ``correlations``, of shape (n, n), are
    given.
    """
    path = context.path
    score = context.score
    scores = [
        score.of(step, path.divisor) for step in path.steps[: context.position + 1]
    ]

    # The score at each step as a share of the step's best score, by
    # which steps can be compared; NaN at steps where the feature was no
    # candidate.
    share_of_best = np.array([shares(score, values)[feature] for values in scores])
    if not np.isfinite(share_of_best).any():
        return tr("It was not a candidate at any step.")
    index = int(np.nanargmax(share_of_best))

    # The columns that were selected at this step; a group has several.
    selected = added_at(path, index)
    values = scores[index]
    details = {
        "step": path.steps[index].number,
        "place": _rank_text(score, values, feature),
    }
    if not selected or not np.isfinite(values[selected[0]]):
        return tr("Closest at step {step}: {place}.").format(**details)
    winner = selected[0]
    gains = score.gains(values)
    winner_score = float(values[winner])
    own_score = float(values[feature])
    name = _name_with_r(context.names[winner], correlations, feature, winner)
    if score.source is ScoreSource.CRITERION and min(winner_score, own_score) <= 0:
        return _closest_without_use(winner_score, own_score, details, name)

    # Gains are scores with a sign by which the greatest is the best.
    size = max(abs(winner_score), abs(own_score))
    behind = float(gains[winner] - gains[feature]) / size if size else 0.0
    text = tr("Closest at step {step}: {place}, tied with {name}, which was selected.")
    if behind > 0:
        text = tr(
            "Closest at step {step}: {place}, {share} behind the selected {name}."
        )
    return text.format(**details, share=percent(behind), name=name)


def _closest_without_use(
    winner_score: float, own_score: float, details: Mapping[str, object], name: str
) -> str:
    """Return the sentence on the closest step, if one of the two features did not lower the criterion.

    A score is the reduction of the criterion. ``details`` has the step
    and the rank of the feature there, and ``name`` is that of the
    feature that was selected instead.
    """
    if own_score > 0:
        text = tr(
            "Closest at step {step}: {place}. It would have lowered the error, unlike the selected {name}."
        )
    elif winner_score > 0:
        text = tr(
            "Closest at step {step}: {place}. It would not have lowered the error, "
            "unlike the selected {name}."
        )
    else:
        text = tr(
            "Closest at step {step}: {place}. Neither it nor the selected {name} would "
            "have lowered the error."
        )
    return text.format(**details, name=name)


def _displacement_sentence(
    context: ChoiceContext, feature: int, correlations: Floats | None
) -> str:
    """Return the sentence on the selection that lowered a feature's score most.

    When a similar feature is selected, the score of ``feature`` falls.
    The sentence is "" for a fall of less than a tenth, or if the method
    selects the feature with the least score. ``correlations`` of the
    features has the shape (n, n), or is None.
    """
    path = context.path
    score = context.score
    values = [
        float(score.of(step, path.divisor)[feature])
        for step in path.steps[: context.position + 1]
    ]

    # A feature that is selected at a step lowers the scores of the next one.
    falls = [
        (before - after, step_index)
        for step_index, (before, after) in enumerate(pairwise(values))
        if before - after > _MIN_FALL * abs(before)
    ]
    if not falls or score.least:
        return ""
    _, index = max(falls)
    selected = added_at(path, index)
    if not selected:
        return ""
    winner = selected[0]
    name = _name_with_r(context.names[winner], correlations, feature, winner)
    return tr("With {name} in the model it fell from {before} to {after}.").format(
        name=name,
        before=significant(values[index]),
        after=significant(values[index + 1]),
    )


def _similarity_sentence(
    context: ChoiceContext,
    feature: int,
    correlations: Floats | None,
    sentences: Sequence[str],
) -> str:
    """Return the sentence on the model's feature that is most similar to a feature.

    The result is "" if one of the earlier ``sentences`` names the
    similar feature, or without ``correlations``.
    """
    model = [f for f in context.path.steps[context.position].selected if f != feature]
    if correlations is None or not model:
        return ""

    # The correlations have the shape (n, n) for n features. A
    # correlation of 0 is that of a constant feature.
    closest = max(model, key=lambda f: abs(correlations[feature, f]))
    is_named = any(context.names[closest] in sentence for sentence in sentences)
    if correlations[feature, closest] == 0 or is_named:
        return ""
    name = _name_with_r(context.names[closest], correlations, feature, closest)
    return tr("The most similar feature in the model is {name}.").format(name=name)


def _weight_explanation(
    context: ChoiceContext, feature: int, in_model: bool
) -> tuple[str, list[str]]:
    """Explain the weight of a feature in a model that weighs all features at once.

    Return a title and sentences. ``in_model`` says whether the feature
    has a weight in the chosen model.
    """
    path = context.path
    score = context.score
    step = path.steps[context.position]
    values = score.of(step, path.divisor)
    if not in_model or values[feature] == 0:
        # The step at which the feature had its greatest score. Scores
        # of models that weigh features are no drops of the criterion,
        # so that they need no divisor.
        history = np.array([score.of(path_step)[feature] for path_step in path.steps])
        top = int(np.argmax(history))
        text = tr("Its {name} is 0 {at}.")
        if history[top] > 0:
            text = tr("Its {name} is 0 {at}; the maximum is {most}, {then}.")
        sentence = text.format(
            name=tr(score.name),
            at=_at_round(path, step.number),
            most=significant(history[top]),
            then=_at_round(path, path.steps[top].number),
        )
        return tr("Why it is not in the model"), [sentence]

    # The feature is compared with the next one in order of score, if
    # that has a positive score; without it, the fields of the
    # comparison are not used.
    order = np.argsort(-values, kind="stable").tolist()
    rank = order.index(feature)
    text = tr("{name} {value} {at}, {place}.")
    other = feature
    if rank + 1 < len(order) and values[order[rank + 1]] > 0:
        other = order[rank + 1]
        text = tr("{name} {value} {at}, {place}; {share} more than {other} ({less}).")
    sentence = text.format(
        name=_capitalized(tr(score.name)),
        value=significant(float(values[feature])),
        at=_at_round(path, step.number),
        place=_rank_text(score, values, feature),
        share=percent(float((values[feature] - values[other]) / values[feature])),
        other=context.names[other],
        less=significant(float(values[other])),
    )
    return tr("Why it is in the model"), [sentence]


def _at_round(path: PathResult, step_number: int) -> str:
    """Return "at round 8", or "at iteration 8"."""
    if path.step_kind is StepKind.ITERATIONS:
        return tr("at iteration {number}").format(number=step_number)
    return tr("at round {number}").format(number=step_number)


def _alternatives_sentence(context: ChoiceContext, feature: int, in_model: bool) -> str:
    """Return the sentence on the other parameters and folds for which the outcome would differ.

    ``in_model`` is the outcome: whether the feature is in the chosen
    model. The sentence is "" if there is nothing to compare with.
    """
    size = context.size
    parts = []

    # A model with all features has each of them, whatever the parameters are.
    if in_model and size == context.n_candidates:
        return ""

    # On each other path, the model of about the same size counts. Then
    # the labels with the other outcome, `not in_model`, are listed.
    combinations = [
        (alternative.label, feature in _comparable_model(alternative.path, context))
        for alternative in context.combinations
    ]
    if len(combinations) > 1:
        parts.append(_state_labels(context.axis, combinations, not in_model))
    folds = [
        (alternative.label, feature in _comparable_model(alternative.path, context))
        for alternative in context.folds
    ]
    if folds:
        parts.append(_state_labels("fold", folds, not in_model))
    if not parts:
        return ""

    # A part is "" if the outcome is the same everywhere.
    differing = [part for part in parts if part]
    kind = "several" if size > 1 else "one"
    if context.path.step_kind is not StepKind.FEATURES:
        kind = "model"
    text = (
        _other_template(kind, in_model) if differing else _same_template(kind, in_model)
    )
    return text.format(size=size, where=either(differing))


def _other_template(kind: str, in_model: bool) -> str:
    """Return the template of the sentence on where the outcome would differ.

    ``kind`` is that of the chosen model: "model" for one that weighs
    all features, "several" or "one" for a selection of several features
    or of one. ``in_model`` says whether it has the feature.
    """
    if kind == "model":
        if in_model:
            return tr("It would not be in the model {where}.")
        return tr("It would be in the model {where}.")
    if kind == "several":
        if in_model:
            return tr("It would not be among the first {size} {where}.")
        return tr("It would be among the first {size} {where}.")
    return (
        tr("It would not be selected first {where}.")
        if in_model
        else tr("It would be selected first {where}.")
    )


def _same_template(kind: str, in_model: bool) -> str:
    """Return the template of the sentence that a feature's outcome is the same on every path.

    The outcome is that the model has or lacks the feature. ``kind`` is
    that of the chosen model: "model" for one that weighs all features,
    "several" or "one" for a selection of several features or of one.
    ``in_model`` says whether it has the feature.
    """
    if kind == "model":
        return (
            tr("It is in every model of the run.")
            if in_model
            else tr("It is in no model of the run.")
        )
    if kind == "several":
        if in_model:
            return tr("It is among the first {size} on every path of the run.")
        return tr("It is not among the first {size} on any path of the run.")
    return (
        tr("Every path of the run starts with it.")
        if in_model
        else tr("No path of the run starts with it.")
    )


def _comparable_model(path: PathResult, context: ChoiceContext) -> tuple[int, ...]:
    """Return the features of the model of about the same size on another path."""
    if path.step_kind is not StepKind.FEATURES:
        return path.steps[-1].selected
    return path.steps[int(np.abs(path.sizes - context.size).argmin())].selected


def _state_labels(
    axis: str, states: Sequence[tuple[str, bool]], wanted_state: bool
) -> str:
    """Return a text on the parameters or folds with a state: "with λ = 2⁸ to 2¹⁵", "in fold 2 or 4".

    ``states`` has the ordered labels of parameters or folds, each with
    its state. Labels with ``wanted_state`` are named. ``axis`` is the
    name of the parameter, "fold", or "combination" for several
    parameters, whose labels are only counted. Successive labels are
    joined to a range. The text is "" if no label has the state.
    """
    if axis == "combination":
        count = sum(state is wanted_state for _, state in states)
        text = tr("with {count} of {most} combinations")
        return text.format(count=count, most=len(states)) if count else ""

    # A label begins a range if the one before it does not have the
    # state. Before the first label is none, so that it begins a range,
    # too.
    ranges: list[list[str]] = []
    state_before = not wanted_state
    for label, state in states:
        if state is wanted_state:
            if state_before is not wanted_state:
                ranges.append([])
            ranges[-1].append(label)
        state_before = state
    if not ranges:
        return ""
    labels = either([_label_range(successive) for successive in ranges])
    if axis == "fold":
        return tr("in fold {labels}").format(labels=labels)
    return tr("with {axis} = {labels}").format(axis=tr(axis), labels=labels)


def _label_range(labels: Sequence[str]) -> str:
    """Return the text of successive labels: "2⁸", "2⁸ or 2⁹", "2⁸ to 2¹⁵"."""
    if len(labels) == 1:
        return labels[0]
    text = tr("{first} or {last}") if len(labels) == 2 else tr("{first} to {last}")
    return text.format(first=labels[0], last=labels[-1])


def _rank_text(score: CandidateScore, values: Floats, feature: int) -> str:
    """Return a feature's rank among the candidates by their scores, as a text: "9th of 46".

    ``values`` are the scores of the n features, NaN for those that are
    no candidates. Features with equal scores have the same rank.
    """
    gains = score.gains(values)
    rank = 1 + int(np.count_nonzero(gains > gains[feature]))
    text = tr("{rank}th of {count}")
    if not 10 < rank % 100 < 14:  # 11th, 12th, 13th
        endings = {
            1: tr("{rank}st of {count}"),
            2: tr("{rank}nd of {count}"),
            3: tr("{rank}rd of {count}"),
        }
        text = endings.get(rank % 10, text)
    return text.format(rank=rank, count=int(np.isfinite(values).sum()))


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def _name_with_r(
    name: str, correlations: Floats | None, feature: int, other: int
) -> str:
    """Return the name of a feature with its correlation to another feature, if known."""
    if correlations is None:
        return name
    r = correlation_text(correlations[feature, other])
    return tr("{name} (r = {r} within queries)").format(name=name, r=r)
