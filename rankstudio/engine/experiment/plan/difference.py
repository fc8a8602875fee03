"""Differences between plans as texts, which name the parameters that differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of, groups_in_words
from rankstudio.engine.experiment.plan.hand_choice import HandChoices
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.preference_source import (
    learned_from,
    preferences_of,
)
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.item_groups import grouped

Names = Mapping[int, str]

PINS = ("pinned", "banned")
"""Parameters by which a user decides on the selection of single features."""


def differences(
    plan: Plan, reference: Plan, names: Names | None = None
) -> tuple[str, ...]:
    """Return the differences between two plans, such as "λ 1, 2" or "another method".

    Parameters
    ----------
    plan, reference : Plan
        Plan that the texts describe, and plan that it is compared with.
    names : Mapping of int to str, optional
        Names of the features, by id.

    Returns
    -------
    tuple of str
        One text per difference, with the value of the first plan; empty
        for equal plans. For different methods no parameters are listed,
        because they are not comparable.
    """
    if plan.method != reference.method:
        return (tr("another method"),)
    # With a final ranker, the parameters of the method's own ranking
    # (`p.ranks`) have no effect.
    method_parameters = [
        p for p in plan.entry.parameters if not (p.ranks and plan.ranker)
    ]
    texts = _changed_parameters(
        method_parameters, plan.parameters, reference.parameters, names or {}
    )
    ranker = plan.ranker_entry
    if plan.ranker != reference.ranker:
        texts.append(
            tr("final ranker: {label}").format(label=plan.entry.final_ranker(ranker))
        )
    elif ranker:
        ranker_texts = _changed_parameters(
            ranker.parameters, plan.ranker_parameters, reference.ranker_parameters, {}
        )
        texts += [f"{ranker.label} {text}" for text in ranker_texts]
    return (*texts, *_protocol_differences(plan, reference))


def parameter_texts(plan: Plan) -> dict[str, str]:
    """Return the value of each parameter that has an effect as a text, by its label.

    Labels of parameters of the final ranker begin with the ranker's
    name. Groups of features, preferences, and a selection rule other
    than "best" are included if the plan has them.
    """
    ranker = plan.ranker_entry
    # With a final ranker, the parameters of the method's own ranking
    # (`p.ranks`) have no effect.
    labelled_parameters = [
        (tr(p.label), p, plan.parameters[p.name])
        for p in plan.entry.parameters
        if not (ranker and p.ranks)
    ]
    if ranker:
        labelled_parameters += [
            (f"{ranker.label} {tr(p.label)}", p, plan.ranker_parameters[p.name])
            for p in ranker.parameters
        ]
    # `value_as_text` returns a value as text.
    values = {label: p.value_as_text(value) for label, p, value in labelled_parameters}
    values |= (
        {tr("groups"): groups_in_words(feature_groups_of(plan))}
        if feature_groups_of(plan)
        else {}
    )
    values |= _preference_source(plan)
    return values | ({tr("rule"): plan.rule} if plan.rule != "best" else {})


def _preference_source(plan: Plan) -> dict[str, str]:
    """Return the file name of a plan's preferences or clicks, as a dict with its label.

    The result is {} for a plan that learns from the labels of documents.

    For clicks, the text also names the documents that make pairs with a
    clicked one, and η, the exponent of the weights of positions.
    """
    preferences = preferences_of(plan)
    if not preferences:
        return {}
    name = Path(preferences["path"]).name
    if "pairs" not in preferences:
        return {tr("preferences"): name}
    text = tr("{file}: over {pairs}, η {eta}")
    return {
        tr("clicks"): text.format(
            file=name, pairs=preferences["pairs"], eta=preferences["eta"]
        )
    }


def changed_parameters(plan: Plan) -> dict[str, str]:
    """Return texts of the parameters with other values than the defaults, by label.

    Parameters without effect are left out.
    """
    default_texts = parameter_texts(Plan(plan.data, plan.method, ranker=plan.ranker))
    return {
        label: text
        for label, text in parameter_texts(plan).items()
        if text != default_texts.get(label)
    }


def distinctions(plans: Mapping[int, Plan]) -> dict[int, str]:
    """Return a text for each plan that distinguishes it from the others: "λ 1, 2 · features k 5".

    The text has the parameters in which plans of the same method
    differ. It also has the rule, the measure that chooses the model,
    and the convention of the measures, if the plans differ in these.
    `plans` may have any integers as keys, such as numbers of runs; the
    result has the same keys.
    """
    # The values of the parameters as texts, by label, for each plan.
    values = {key: parameter_texts(plan) for key, plan in plans.items()}
    several_rules = len({plan.rule for plan in plans.values()}) > 1
    several_conventions = len({plan.convention for plan in plans.values()}) > 1
    texts = {}
    # Keys of plans with the same title, which names the method.
    for keys in grouped(plans, lambda key: plans[key].title).values():
        # Only parameters that differ among plans of the same method distinguish them.
        labels = {label for key in keys for label in values[key]}
        differing_labels = {
            label
            for label in labels
            if len({values[key].get(label) for key in keys}) > 1
        }
        if several_rules:
            differing_labels.add(tr("rule"))
        several_choosers = len({plans[key].select_by for key in keys}) > 1
        for key in keys:
            parts = [
                f"{label} {setting}"
                for label, setting in values[key].items()
                if label in differing_labels
            ]
            if several_choosers:
                parts.append(tr("by {chooser}").format(chooser=_chooser(plans[key])))
            if several_conventions:
                parts.append(convention(plans[key].convention).label)
            texts[key] = " · ".join(parts)
    return texts


def pins_of(plan: Plan) -> tuple[Any, ...]:
    """Return the pinned and banned features; empty if there are none."""
    return tuple(plan.parameters[name] for name in PINS if plan.parameters.get(name))


def only_pins_differ(plan: Plan, reference: Plan) -> bool:
    """Return whether two plans differ in pinned or banned features, and in nothing else."""
    if plan.method != reference.method or not set(PINS) & set(plan.parameters):
        return False
    # With the pins of the reference, such a plan has no difference.
    reference_pins = {
        name: reference.parameters[name] for name in PINS if name in plan.parameters
    }
    plan_with_reference_pins = plan.changed(
        parameters={**plan.parameters, **reference_pins}
    )
    are_pins_different = plan.parameters != reference.parameters
    return are_pins_different and not differences(plan_with_reference_pins, reference)


def _changed_parameters(
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    other_values: Mapping[str, Any],
    names: Names,
) -> list[str]:
    """Return the text of each parameter whose value differs in two plans, with the first plan's."""
    differing = [p for p in parameters if values[p.name] != other_values[p.name]]
    return [
        _parameter_text(p, values[p.name], other_values[p.name], names)
        for p in differing
    ]


def _parameter_text(parameter: Parameter, value: Any, other: Any, names: Names) -> str:
    """Return the label of a parameter with its value, in comparison with another plan.

    For a set of features, the text names added and removed ones, by
    `names`, which has the names of features by id. `value` is that of
    the plan that is described, `other` that of the plan compared with
    it; both are canonical.
    """
    # A tuple of several values, which a plan tries one by one, is written as it is.
    if (
        parameter.kind is not Kind.FEATURES
        or parameter.several(value)
        or parameter.several(other)
    ):
        return f"{tr(parameter.label)} {parameter.value_as_text(value)}"
    added = _missing_from(other, value)  # in `value`, not in `other`
    removed = _missing_from(value, other)
    label = tr(parameter.label)
    parts = [f"{label} {_feature_names(added, names)}"] if added else []
    parts += (
        [
            tr("not {label} {names}").format(
                label=label, names=_feature_names(removed, names)
            )
        ]
        if removed
        else []
    )
    return ", ".join(parts) or tr("{label} in a different order").format(label=label)


def _missing_from(
    features: Iterable[int], all_of_them: Iterable[int]
) -> tuple[int, ...]:
    """Return the features in `all_of_them` that are not in `features`, in order."""
    return tuple(i for i in all_of_them if i not in features)


def _feature_names(ids: Iterable[int], names: Names) -> str:
    """Return the names of features, by their ids, as text."""
    return ", ".join(names.get(i, f"feature {i}") for i in ids)


def _protocol_differences(plan: Plan, reference: Plan) -> tuple[str, ...]:
    """Return a text for each setting, besides the method, in which a plan differs.

    `plan` is compared with `reference`, and each text has the value of
    `plan`. The method and its parameters are not compared. The result
    is () without differences.
    """
    hand_choices = plan.extension(HandChoices)
    preference_text = learned_from(preferences_of(plan))

    # Texts of all fields, by name; only those of the fields that differ are returned.
    texts = {
        "select_by": tr("chosen by {chooser}").format(chooser=_chooser(plan)),
        "rule": tr("rule: {rule}").format(rule=plan.rule),
        "normalize": tr("not scaled") if plan.normalize == "none" else tr("scaled"),
        "missing": tr("missing values: {policy}").format(policy=plan.missing),
        "seed": tr("seed {seed}").format(seed=plan.seed),
        "columns": tr("other columns"),
        "scores": tr("other files"),
        "preferences": preference_text
        or tr("preferences: {file}").format(file=tr("none")),
        "groups": tr("groups: {groups}").format(
            groups=groups_in_words(feature_groups_of(plan))
        ),
        "costs": _costs_text(plan, reference),
        "hand_chosen": tr("features chosen by hand on {folds}").format(
            folds=hand_choices.text if hand_choices is not None else tr("no fold")
        ),
    }
    return tuple(
        text
        # A value is found by its name in a plan's file, also that of an extension.
        for name, text in texts.items()
        if plan.named(name) != reference.named(name)
    )


def _costs_text(plan: Plan, reference: Plan) -> str:
    """Return a text on how the costs of features of a plan differ from a reference plan's.

    At least one of the plans has costs.
    """
    if plan.extension(FeatureCosts) is None:
        return tr("without costs of features")
    if reference.extension(FeatureCosts) is None:
        return tr("with costs of features")
    return tr("other costs of features")


def _chooser(plan: Plan) -> str:
    """Return the selection criterion in words."""
    return tr("the criterion") if plan.select_by == CRITERION else plan.select_by
