"""Extensions of plans, each with a word for files, a type, and a codec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import GroupedFeatures
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.hand_choice import HandChoices
from rankstudio.engine.experiment.plan.preference_source import PreferenceSource
from rankstudio.engine.support.extensions import Extensions


def _always_lasts(_is_other_method: bool, _parameters: Mapping[str, Any]) -> bool:
    """Return True, for values that no change removes."""
    return True


@dataclass(frozen=True)
class PlanExtension:
    """One kind of value that an optional ability adds to plans, such as the costs of features.

    Attributes
    ----------
    word : str
        Name of the value in a plan's file and among the arguments of `Plan`.
    kind : type
        Type of the value; see :meth:`Plan.extension`.
    parsed : callable
        Takes plain values, as in a file, and the key of the plan's
        method. Returns the value of this type, or None for empty
        values.
    plain : callable
        Takes a value of this type, and returns it as plain values for a file.
    lasts : callable
        Takes whether the method of a plan changed, and the new
        parameters. Returns whether the changed plan keeps the value.
    """

    word: str
    kind: type[Any]
    parsed: Callable[[Any, str], Any]
    plain: Callable[[Any], Any]
    lasts: Callable[[bool, Mapping[str, Any]], bool] = _always_lasts


PLAN_EXTENSIONS: tuple[PlanExtension, ...] = (
    PlanExtension(
        word="hand_chosen",
        kind=HandChoices,
        parsed=lambda values, _: HandChoices.parsed(values),
        plain=lambda value: value.text,
        lasts=lambda _, parameters: bool(parameters.get("pinned")),
    ),
    PlanExtension(
        word="scores",
        kind=GivenRanking,
        parsed=GivenRanking.parsed,
        plain=GivenRanking.plain,
        lasts=lambda is_other_method, _: not is_other_method,
    ),
    PlanExtension(
        word="preferences",
        kind=PreferenceSource,
        parsed=lambda values, _: PreferenceSource.parsed(values),
        plain=lambda value: value.told,
    ),
    PlanExtension(
        word="groups",
        kind=GroupedFeatures,
        parsed=lambda values, _: GroupedFeatures.parsed(values),
        plain=lambda value: value.groups,
    ),
    PlanExtension(
        word="costs",
        kind=FeatureCosts,
        parsed=lambda values, _: FeatureCosts.of(values) if values else None,
        plain=lambda value: value.plain(),
    ),
)
"""All kinds of extensions, in the order of a plan's file."""

KINDS: Mapping[str, type[Any]] = {
    extension.word: extension.kind for extension in PLAN_EXTENSIONS
}
"""Type of the value of each extension, by its word."""


def with_words(
    extensions: Extensions, values: Mapping[str, Any], method: str
) -> Extensions:
    """Return the extensions with new values; an empty value removes an extension.

    An extension is a value that an optional ability adds to plans, such
    as "costs". `values` has the new ones by their words in a file;
    other words are ignored.

    The values may be plain, as in a file for a plan with this method,
    or extensions already.
    """
    for extension in PLAN_EXTENSIONS:
        if extension.word in values:
            argument = values[extension.word]
            value = (
                argument
                if isinstance(argument, extension.kind)
                else extension.parsed(argument, method)
            )
            extensions = extensions.without(extension.kind).extended(value)
    return extensions


def in_words(extensions: Extensions) -> Iterator[tuple[str, Any]]:
    """Yield the words and plain values of extensions, in the order of a plan's file."""
    for extension in PLAN_EXTENSIONS:
        value = extensions.find(extension.kind)
        if value is not None:
            yield extension.word, extension.plain(value)
