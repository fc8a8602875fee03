import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.ui.style.number_format import (
    correlation_text,
    fixed,
    plain,
    power,
    power_and_value,
    signed,
    superscript,
    time_text,
)


@pytest.mark.parametrize(
    ("value", "short", "long"),
    [
        (64.0, "2⁶", "2⁶ = 64"),
        (1.0, "2⁰", "2⁰ = 1"),
        (0.125, "2⁻³", "2⁻³ = 0.125"),
        (1024.0, "2¹⁰", "2¹⁰ = 1024"),
        (2.0**9.75, "2⁹·⁷⁵", "2⁹·⁷⁵ = 861.1"),
        (2.0**-2.5, "2⁻²·⁵", "2⁻²·⁵ = 0.1768"),
        (0.3, "0.3", "0.3"),
        (0.0, "0", "0"),
        (-4.0, "-4", "-4"),
        (1e-7, "1e-7", "1e-7"),
    ],
)
def test_powers(value, short, long):
    assert power(value) == short
    assert power_and_value(value) == long


def test_signs_are_true_ones():
    assert signed(0.239) == "+0.24"
    assert signed(-0.1) == "−0.10"
    assert signed(float("nan")) == plain(float("nan")) == "–"


@pytest.mark.parametrize(
    ("value", "plainly", "with_sign"),
    [
        (0.0, "0.0000", "0.0000"),
        (-0.0, "0.0000", "0.0000"),
        (-0.00004, "−0.00004", "−0.00004"),
        (0.000004, "4e-6", "+4e-6"),
        (-1e-12, "−1e-12", "−1e-12"),
        (0.00006, "0.0001", "+0.0001"),
        (-0.53414, "−0.5341", "−0.5341"),
        (float("nan"), "–", "–"),
    ],
)
def test_no_number_but_zero_is_all_zeros(value, plainly, with_sign):
    assert fixed(value) == plainly
    assert signed(value, 4) == with_sign


@given(st.integers(-(10**6), 10**6))
def test_superscripts_translate_digit_by_digit(n):
    back = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    assert superscript(n).translate(back) == str(n)


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.2, "0:00 left"), (75, "1:15 left"), (3723, "1:02:03 left")]
)
def test_time_left(seconds, text):
    assert time_text(seconds) == text


@pytest.mark.parametrize(
    ("r", "text"),
    [
        (0.954, "0.95"),
        (-0.2, "−0.20"),
        (-0.002, "0.00"),
        (0.004, "0.00"),
        (-0.0, "0.00"),
        (1.0, "1.00"),
        (float("nan"), "–"),
    ],
)
def test_correlations_have_two_decimals_and_no_minus_before_nothing(r, text):
    assert correlation_text(r) == text
