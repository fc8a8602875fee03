"""Grids as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.number_grid import (
    format_grid,
    format_number,
    format_power,
    parse_grid,
    power_of_two,
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2^0..2^3", (1, 2, 4, 8)),
        ("2^-2 … 2^0", (0.25, 0.5, 1)),
        ("2^−1", (0.5,)),
        ("10**-1...10**1", (0.1, 1, 10)),
        ("2^1..2^-1", (2, 1, 0.5)),
        ("0.1, 1;10 1e2", (0.1, 1, 10, 100)),
        ("2^9.75, 4^-0.5", (2.0**9.75, 0.5)),
        ("1..4", (1, 2, 3, 4)),
        ("3..3", (3,)),
        ("6000..6001", (6000, 6001)),
        ("1, 2^4..2^5", (1, 16, 32)),
    ],
)
def test_what_people_write(text: str, values: tuple[float, ...]) -> None:
    assert parse_grid(text) == pytest.approx(values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " , ",
        "two",
        "1..x",
        "2^0..3^4",
        "2^1..5",
        "1..2^3",
        "0.5..2",
        "2^99999",
        "1..999999",
        "nan",
        "inf",
        "2^",
        "1....",
        "2^0.5..2^3",
    ],
)
def test_anything_else_is_refused_with_the_fields_name(text: str) -> None:
    with pytest.raises(ParameterError, match="λ: expected"):
        parse_grid(text, name="λ")


def test_ten_thousand_numbers_are_taken_and_no_more() -> None:
    assert len(parse_grid("1..10000")) == len(parse_grid("1..9999, 5")) == 10_000
    for text, found in (("1..10001, 5", "1..10001"), ("1..10000, 5", "1..10000, 5")):
        with pytest.raises(ParameterError) as caught:
            parse_grid(text, name="λ")
        assert str(caught.value) == f"λ: expected at most 10000 numbers, got {found!r}."


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((8.0,), "8"),
        ((1.0, 2.0), "2^0, 2^1"),
        ((2.0, 4.0, 8.0), "2^1..2^3"),
        ((1.0, 4.0, 16.0), "2^0, 2^2, 2^4"),
        ((4.0, 16.0, 64.0, 256.0), "4^1..4^4"),
        ((2.0**-6, 2.0**-4, 0.25, 1.0, 4.0), "4^-3..4^1"),
        ((2.0, 8.0, 32.0, 128.0), "2^1, 2^3, 2^5, 2^7"),
        ((1.0, 4.0, 2.0, 8.0, 16.0), "2^0, 2^2, 2^1, 2^3, 2^4"),
        (tuple(2.0 ** (e + 0.25) for e in range(3)), "2^0.25, 2^1.25, 2^2.25"),
        ((1.0, 2.0, 3.0), "1, 2, 3"),
    ],
)
def test_a_grid_is_written_as_briefly_as_people_write_it(
    values: tuple[float, ...], text: str
) -> None:
    assert format_grid(values) == text


def test_whole_numbers_are_written_without_a_point_below_a_thousand_billions() -> None:
    assert [format_number(v) for v in (5.0, -3.0, 0.5)] == ["5", "-3", "0.5"]
    assert format_number(999_999_999_999_999.0) == "999999999999999"
    assert format_number(1e15) == "1000000000000000.0"
    assert [format_power(v) for v in (1.0, 3.0, 8.0)] == ["2^0", "3", "2^3"]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8)
)
def test_a_grid_reads_back_bit_for_bit(values: list[float]) -> None:
    assert parse_grid(format_grid(values)) == tuple(values)


@given(st.integers(-1000, 1000), st.integers(0, 15))
def test_powers_of_two_are_written_as_powers(start: int, length: int) -> None:
    grid = tuple(2.0**e for e in range(start, start + length + 3))
    assert format_grid(grid) == f"2^{start}..2^{start + length + 2}"
    assert parse_grid(format_grid(grid)) == grid
    assert [power_of_two(v) for v in grid] == list(range(start, start + length + 3))


@given(st.integers(-1200, 1200))
def test_quarters_of_powers_are_recognised_and_no_neighbour_is(quarters: int) -> None:
    value = 2.0 ** (quarters / 4)
    assert power_of_two(value) == quarters / 4
    assert power_of_two(math.nextafter(value, math.inf)) is None
    assert parse_grid(format_grid([value, 3 * value])) == (value, 3 * value)
    assert parse_grid(format_power(value)) == (value,)
