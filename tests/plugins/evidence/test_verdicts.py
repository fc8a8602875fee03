"""The rules of verdicts, case by case."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from rankstudio.engine.errors import ParameterError
from rankstudio.plugins.evidence.evidence_result import StopAdvice
from rankstudio.plugins.evidence.verdicts import (
    Exchange,
    FeatureEvidence,
    Loss,
    SetDifference,
    Verdict,
    VerdictRules,
    partner_of,
    verdict_of,
)

AS_GOOD, WORSE = SetDifference((1,), 1.96, 1.0), SetDifference((1,), 1.97, 1.0)
NO_LOSS, LOSS = Loss(0.1, 0.0, 0.2), Loss(0.1, 0.01, 0.2)


@pytest.mark.parametrize(
    ("probability", "partner", "loss", "smaller", "verdict"),
    [
        (0.9, None, LOSS, WORSE, Verdict.SECURE),
        # what is selected again is not dispensed with
        (0.9, None, NO_LOSS, AS_GOOD, Verdict.SECURE),
        # a twin, whatever its probability
        (1.0, 3, LOSS, WORSE, Verdict.INTERCHANGEABLE),
        (0.5, 3, NO_LOSS, AS_GOOD, Verdict.INTERCHANGEABLE),
        (0.89, None, NO_LOSS, AS_GOOD, Verdict.DISPENSABLE),
        # better without
        (0.89, None, Loss(-0.1, -0.2, -0.01), AS_GOOD, Verdict.DISPENSABLE),
        (0.89, None, LOSS, AS_GOOD, Verdict.UNCERTAIN),
        (0.89, None, NO_LOSS, WORSE, Verdict.UNCERTAIN),
        (0.89, None, NO_LOSS, None, Verdict.UNCERTAIN),
        (0.89, None, None, AS_GOOD, Verdict.UNCERTAIN),
        (0.0, None, None, None, Verdict.UNCERTAIN),
        (None, None, NO_LOSS, AS_GOOD, None),
    ],
)
def test_the_first_rule_that_applies_decides(
    probability, partner, loss, smaller, verdict
) -> None:
    row = FeatureEvidence(
        0, True, probability, partner=partner, loss=loss, smaller=smaller
    )
    assert verdict_of(row, VerdictRules()) is verdict


def halves(own: str, other: str) -> np.ndarray:
    """Which of ten halves select feature 0 and feature 1: "1" or "0" each."""
    return np.array([[a == "1", b == "1"] for a, b in zip(own, other, strict=True)])


def exchange(
    result: SetDifference | None = AS_GOOD, correlation: float = 0.3
) -> list[Exchange]:
    return [Exchange(1, correlation, result)]


@pytest.mark.parametrize(
    ("own", "other", "exchanges", "partner"),
    [
        ("1111100000", "0000011111", exchange(), (1, 1.0)),
        ("1111100000", "0000011110", exchange(), (1, 0.9)),
        ("1111100000", "0000011100", exchange(), None),  # neither on two of ten
        ("1111100000", "0000111111", exchange(), (1, 1.0)),  # both on one
        # both on two: the one does not stand for the other
        ("1111100000", "0001111111", exchange(), None),
        # always there, with it or without
        ("1111100000", "1111111111", exchange(), None),
        ("1111111110", "0000000001", exchange(), None),  # secure by itself
        # in its place on only half of the halves without it
        ("1111111100", "0000000010", exchange(), None),
        ("1111111100", "0000000011", exchange(), (1, 1.0)),
        ("1111100000", "0000011111", exchange(WORSE), None),
        ("1111100000", "0000011111", exchange(None), None),
        ("1111100000", "0000011111", [], None),
        # twins: ties go to the first
        ("1111111111", "0000000000", exchange(WORSE, -0.99), (1, 1.0)),
        # twins that both are missing
        ("1111111100", "1111111100", exchange(WORSE, 0.99), None),
        ("1111111111", "0000000000", exchange(AS_GOOD, 0.98), None),
        ("1111111111", "0000000000", exchange(AS_GOOD, nan), None),
    ],
)
def test_a_partner_takes_the_place_or_is_a_twin(own, other, exchanges, partner) -> None:
    found = partner_of(0, halves(own, other), exchanges, VerdictRules())
    assert (found and (found[0].column, found[1])) == partner


@pytest.mark.parametrize(
    ("errors", "n_tests", "twins"),
    [
        (1.96, 1, True),
        (1.97, 1, False),
        (1.97, 2, True),
        (2.24, 2, True),
        (2.25, 2, False),
        (2.64, 6, False),
    ],
)
def test_twins_of_which_one_is_better_are_not_interchangeable(
    errors, n_tests, twins
) -> None:
    """The quantiles 1 - 0.025 / n of the normal distribution are 1.960, 2.241 and 2.638."""
    pair = [Exchange(1, 0.99, AS_GOOD, SetDifference((1,), errors, 1.0))]
    found = partner_of(
        0, halves("1111111111", "0000000000"), pair, VerdictRules(), n_tests
    )
    assert (found is not None) is twins


def test_of_several_partners_the_one_that_covers_most_halves_counts() -> None:
    inside = np.array(
        [[True, False, False]] * 5 + [[False, False, True]] + [[False, True, True]] * 4
    )
    both = [Exchange(1, 1.0, AS_GOOD), Exchange(2, 1.0, AS_GOOD)]
    assert partner_of(0, inside, both, VerdictRules()) == (both[1], 1.0)


@pytest.mark.parametrize(
    "rules",
    [{"threshold": 0.5}, {"threshold": 1.1}, {"twin": 0.0}, {"stop_level": 1.0}],
)
def test_thresholds_out_of_range_are_refused(rules: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(rules))):
        VerdictRules(**rules)


@pytest.mark.parametrize(
    ("verdict", "numbers"),
    [
        (Verdict.SECURE, ["84 %"]),
        (Verdict.INTERCHANGEABLE, ["84 %", "column 7", "96 %"]),
        (Verdict.DISPENSABLE, ["84 %", "−0.0123", "0.5"]),
        (Verdict.UNCERTAIN, ["84 %"]),
    ],
)
def test_a_reason_has_its_numbers(verdict: Verdict, numbers: list[str]) -> None:
    row = FeatureEvidence(
        0,
        True,
        0.84,
        loss=Loss(0.2, -0.01234, 0.5),
        partner=7,
        pair_probability=0.96,
        verdict=verdict,
    )
    said = row.reason(lambda column: f"column {column}")
    assert all(number in said for number in numbers) and "{" not in said
    assert FeatureEvidence(0, True, 0.84).reason(str) == ""


@pytest.mark.parametrize(
    ("advice", "numbers"),
    [
        (StopAdvice(6, 10, 0.4), ["6", "0.4"]),
        (StopAdvice(0, 10, 0.31), ["0.31"]),
        (StopAdvice(10, 10, None), ["10"]),
    ],
)
def test_advice_where_to_stop_has_its_numbers(
    advice: StopAdvice, numbers: list[str]
) -> None:
    assert all(number in advice.sentence for number in numbers)
