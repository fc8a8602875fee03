"""Features that were chosen by hand, and the queries on which they were chosen.

A set of features that a user makes from a model depends on the queries
that the model was trained and chosen on. If a run of the set is tested
on these queries, its measures are too high.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Self

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.experiment.plan.checks import check_field
from rankstudio.engine.experiment.plan.protocol import (
    GIVEN,
    LEAVE_QUERY_OUT,
    parse_protocol,
)
from rankstudio.engine.language import tr

# An origin of folds, such as "10-fold, seed 1".
_PROTOCOL_WITH_SEED = re.compile(r"(?P<protocol>.+), seed (?P<seed>\d{1,18})")
_FOLD_NUMBER = re.compile(r"[1-9]\d{0,8}")


@dataclass(frozen=True, order=True)
class HandChoice:
    """A fold whose training and validation queries were known when features were chosen.

    Attributes
    ----------
    origin : str
        Protocol of the folds with its seed, see :func:`fold_origin`.
    fold : int
        Number of the fold, from 1.
    """

    origin: str
    fold: int


@dataclass(frozen=True)
class HandChoices:
    """Folds whose queries were known when the features that a plan pins were chosen by hand.

    The queries are the training and validation queries of the folds.

    The record of these folds changes no number; a run that measures
    such queries is not ranked, see
    `rankstudio.engine.analysis.comparisons.comparability`.

    Attributes
    ----------
    choices : tuple of HandChoice
        In order, at least one.
    """

    choices: tuple[HandChoice, ...]

    @classmethod
    def parsed(cls, text: Any) -> Self | None:
        """Return the folds of a choice by hand that a text names; None for "".

        PlanError is raised for a text in another form.
        """
        check_field("hand_chosen", text, tr("a text"), isinstance(text, str))
        choices = parse_hand_choices(text)
        return cls(choices) if choices else None

    @property
    def text(self) -> str:
        """The choices as a plan's file has them: "given: 1", or "5-fold, seed 0: 1, 2"."""
        return hand_choices_text(self.choices)


def fold_origin(protocol: str, seed: int) -> str:
    """Return where folds come from: "given", or "5-fold, seed 0"."""
    # the share of the training queries is no origin
    folds = replace(parse_protocol(protocol), train=100)
    return folds.divided_by(seed) or GIVEN


def parse_hand_choices(text: str) -> tuple[HandChoice, ...]:
    """Parse a text with folds on which features were chosen by hand; return them in order.

    For example "given: 1", or "5-fold, seed 0: 1, 2; given: 3". Each
    part between semicolons is a protocol with the numbers of its folds.

    Raises
    ------
    PlanError
        For any other text.
    """
    choices = {
        choice
        for part in text.split(";")
        if part.strip()
        for choice in _parsed_choices(part, text)
    }
    return tuple(sorted(choices))


def hand_choices_text(choices: tuple[HandChoice, ...]) -> str:
    """Return the choices as a text that :func:`parse_hand_choices` reads."""
    parts = groupby(sorted(choices), key=lambda choice: choice.origin)
    return "; ".join(
        f"{origin}: {', '.join(str(choice.fold) for choice in group)}"
        for origin, group in parts
    )


def _parsed_choices(part: str, text: str) -> list[HandChoice]:
    """Return the folds in one part of a text, such as "5-fold, seed 0: 1, 2".

    Each fold is one on which features were chosen by hand. `text` is
    the whole text, which the message of a PlanError quotes.
    """
    origin, colon, folds = part.rpartition(":")
    numbers = [number.strip() for number in folds.split(",")]
    if not colon or not all(_FOLD_NUMBER.fullmatch(number) for number in numbers):
        raise _invalid_text_error(text)
    match = _PROTOCOL_WITH_SEED.fullmatch(origin.strip())
    try:
        name = match["protocol"] if match else origin
        # Protocol and seed in canonical form; the seed only for random folds.
        canonical_origin = fold_origin(name, int(match["seed"]) if match else 0)
    except PlanError:
        raise _invalid_text_error(text) from None
    # Only folds that are drawn at random have a seed, and they must have one.
    is_drawn = canonical_origin not in (GIVEN, LEAVE_QUERY_OUT)
    has_seed = match is not None
    if has_seed is not is_drawn:
        raise _invalid_text_error(text)
    return [HandChoice(canonical_origin, int(number)) for number in numbers]


def _invalid_text_error(text: str) -> PlanError:
    """Return the error for a text that does not list folds."""
    sentence = tr(
        'hand_chosen: expected the folds whose queries were known, such as "given: 1" or "5-fold, seed 0: '
        '1, 2", got {value}.'
    )
    return PlanError(sentence.format(value=shown(text)))
