"""Sums and products of names: what is read, what is written, and where a text is wrong."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.named_sums import Product, format_sum, parse_sum

NAMES = ("rbf", "poly", "linear")

PRODUCTS = st.builds(
    Product,
    st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple),
)


@given(st.lists(PRODUCTS, min_size=1, max_size=8).map(tuple))
def test_what_is_written_is_read_back_bit_for_bit(
    products: tuple[Product, ...],
) -> None:
    text = format_sum(products)
    assert parse_sum(text, NAMES, "kernel") == products
    assert parse_sum(f"  {text.replace(' ', '')}\n", NAMES, "kernel") == products


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("linear+rbf", "linear + rbf"),
        ("rbf * 2^-3*linear * 4", "0.5 * rbf * linear"),
        ("1 * rbf", "rbf"),
        ("1e-3*rbf + .5 * poly+2.*poly", "0.001 * rbf + 0.5 * poly + 2 * poly"),
    ],
)
def test_numbers_of_a_product_become_its_weight(text: str, canonical: str) -> None:
    assert format_sum(parse_sum(text, NAMES, "kernel")) == canonical


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 1),
        ("rbf +", 6),
        ("rbf + * poly", 7),
        ("linear  rbf", 9),
        ("linear + cubic", 10),
        ("rbf - poly", 5),
        ("rbf + -1 * poly", 7),
        ("rbf + 0 * poly", 7),
        ("rbf + 2", 7),
        ("rbf + (poly + linear) * rbf", 7),
        ("1e400 * rbf", 1),
        ("rbf + 1e300 * 1e300 * poly", 7),
        ("rbf + 1e-300 * 1e-300 * poly", 7),
        ("rbf ** 2", 6),
        ("RBF + poly", 1),
        ("2 rbf", 1),
        ("rbf + poly\0", 11),
        ("rbf + nan * poly", 7),
    ],
)
def test_an_error_has_the_position(text: str, position: int) -> None:
    with pytest.raises(
        ParameterError, match=rf"^kernel: .* at character {position}, got"
    ):
        parse_sum(text, NAMES, "kernel")


def test_long_sums_are_refused() -> None:
    assert len(parse_sum("+".join(["rbf"] * 32), NAMES, "kernel")) == 32
    with pytest.raises(ParameterError, match="at most 32 names and numbers"):
        parse_sum("+".join(["rbf"] * 33), NAMES, "kernel")
    assert math.isfinite(parse_sum("0" * 9999 + "1*rbf", NAMES, "kernel")[0].weight)
