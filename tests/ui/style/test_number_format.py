import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.support.number_format import superscript
from rankstudio.ui.style.number_format import power, power_and_value, time_text


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


@given(st.integers(-(10**6), 10**6))
def test_superscripts_translate_digit_by_digit(n):
    back = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    assert superscript(n).translate(back) == str(n)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.2, "0:00 left"), (75, "1:15 left"), (3723, "1:02:03 left")],
)
def test_time_left(seconds, text):
    assert time_text(seconds) == text
