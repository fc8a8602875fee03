import pytest

from rankstudio.engine.support.number_format import (
    correlation_text,
    fixed,
    signed,
    significant,
)


def test_signs_are_true_ones():
    assert signed(0.239) == "+0.24"
    assert signed(-0.1) == "−0.10"
    assert signed(float("nan")) == significant(float("nan")) == "–"
    assert (
        significant(-0.12345) == "−0.123" and significant(0.5, 2, sign=True) == "+0.5"
    )


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
