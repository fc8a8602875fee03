import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.export.figures import ticks
from rankstudio.engine.export.figures.ticks import (
    DECIMAL_STEPS,
    decimals,
    integer_ticks,
    log_ticks,
    nice_step,
    nice_ticks,
    tick_labels,
)

spans = st.floats(1e-9, 1e9)
lows = st.floats(-1e6, 1e6)


def test_the_axis_of_the_paper_s_figure():
    assert integer_ticks(1, 46, 6) == [1, 10, 20, 30, 40, 46]
    assert integer_ticks(1, 5, 8) == [1, 2, 3, 4, 5]
    assert integer_ticks(0.2, 0.8, 5) == []
    assert integer_ticks(3.4, 9.7, 3) == [4, 6, 8, 9]


@given(st.integers(0, 500), st.integers(1, 3000), st.floats(2, 30))
def test_integer_ticks_keep_the_ends_and_their_distance(low, span, count):
    ticks = integer_ticks(low, low + span, count)
    assert ticks[0] == low and ticks[-1] == low + span
    assert ticks == sorted(set(ticks))
    assert all(t == int(t) for t in ticks)
    assert len(ticks) <= count + 3
    if len(ticks) > 3:
        gaps = [b - a for a, b in pairwise(ticks)]
        assert min(gaps[0], gaps[-1]) >= 0.5 * max(gaps[1:-1])


@given(st.floats(-1e12, 1e12), st.integers(0, 40), st.floats(2, 12))
def test_a_range_as_narrow_as_floats_are_has_labels(low, n_floats, count):
    high = low
    for _ in range(n_floats):
        high = math.nextafter(high, math.inf)
    ticks = nice_ticks(low, high, count)
    assert len(tick_labels(ticks)) == len(ticks) == len(set(ticks))


@given(spans, st.floats(1, 30))
def test_a_step_is_round_and_gives_no_more_than_asked_for(span, count):
    step = nice_step(span, count, DECIMAL_STEPS)
    mantissa = step / 10.0 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(mantissa - m) for m in (1, 2, 5, 10)) < 1e-6
    assert span / step <= count * (1 + 1e-6)
    assert span / step >= count / 5


@given(lows, st.floats(1e-3, 1e6), st.floats(2, 12))
def test_ticks_lie_inside_evenly(low, span, count):
    ticks = nice_ticks(low, low + span, count)
    air = span * 1e-6
    assert all(low - air <= t <= low + span + air for t in ticks)
    gaps = [(b - a) / span for a, b in pairwise(ticks)] or [0.0]
    assert max(gaps) - min(gaps) < 1e-6


@pytest.mark.parametrize(
    ("ticks", "labels"),
    [
        ([0.202, 0.204, 0.206], ["0.202", "0.204", "0.206"]),
        ([0.0, 0.25, 0.5], ["0.00", "0.25", "0.50"]),
        ([-1.0, 0.0, 1.0], ["−1", "0", "1"]),
        ([0.0, 5000.0], ["0", "5,000"]),
        ([1e7, 2e7], ["1e+07", "2e+07"]),
        ([0.5], ["0.5"]),
        ([], []),
    ],
)
def test_labels_tell_ticks_apart(ticks, labels):
    assert tick_labels(ticks) == labels


@given(st.integers(0, 9))
def test_decimals_of_a_power_of_ten(places):
    assert decimals(10.0**-places) == places


def test_degenerate_spans_do_no_harm():
    assert (
        nice_step(0.0, 5)
        == nice_step(float("nan"), 5)
        == nice_step(float("inf"), 5)
        == 1.0
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.9, 1.2e5, [1, 10, 100, 1000, 10_000, 100_000]),
        (5.0, 900.0, [10, 30, 100, 300]),
        (2e-9, 3e9, [1e-9 * 1000**i for i in range(1, 7)]),
        (100.0, 104.0, [100, 101, 102, 103, 104]),
    ],
)
def test_logarithmic_ticks_are_round(
    low: float, high: float, expected: list[float]
) -> None:
    assert log_ticks(low, high, 7.0) == pytest.approx(expected)


@pytest.mark.parametrize("count", [1.0, 2.0, 3.0, 7.0])
def test_three_hundred_powers_have_no_more_ticks_than_there_is_room_for(
    count: float,
) -> None:
    ticks = log_ticks(2e-301, 2.0, count)
    assert 1 <= len(ticks) <= count and all(2e-301 <= tick <= 2.0 for tick in ticks)


def test_ticks_that_are_close_together_have_different_texts() -> None:
    ticks = [0.488 + i * 2e-8 for i in range(6)]
    assert len(set(tick_labels(ticks))) == 6
    assert tick_labels([1e6 + i for i in range(3)]) == ["1000000", "1000001", "1000002"]


def test_digits_are_grouped_as_the_language_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for separator, whole, decimal in (
        (",", "−12,000", "1,000.5"),
        (".", "−12.000", "1000.5"),
    ):
        monkeypatch.setattr(
            ticks, "thousands_separator", lambda separator=separator: separator
        )
        assert (
            ticks.tick_labels([-12_000.0, -10_000.0])[0]
            == ticks.grouped(-12_000.0)
            == whole
        )
        assert ticks.tick_labels([1000.0, 1000.5])[1] == decimal
