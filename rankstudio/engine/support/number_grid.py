"""Grids of numbers as people write them: ``2^0..2^10``, ``0.1, 1, 10``, ``1..5``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr

_POWER = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\^|\*\*)\s*([+\-−]?\d+(?:\.\d+)?)")
_MAX_NUMBERS = 10_000


def parse_grid(text: str, *, name: str = "grid") -> tuple[float, ...]:
    """Parse a grid of numbers.

    Parameters
    ----------
    text : str
        Items separated by commas or blanks. An item is a number, a
        power (``2^-3``), or a range with ``..`` or ``…``: of powers of
        one base, or of whole numbers.
    name : str
        Name of the field, for the error message.

    Returns
    -------
    tuple of float
        Numbers in the given order.

    Raises
    ------
    ParameterError
        For any other text.
    """
    values: list[float] = []
    # Remove blanks around dots and powers, so that blanks only separate items.
    spaced = re.sub(r"\s*(?:\.\.+|…)\s*", "..", text.strip())
    for item in re.split(r"[,;\s]+", re.sub(r"\s*(\^|\*\*)\s*", r"\1", spaced)):
        if not item:
            continue
        first, dots, last = item.partition("..")
        values += (
            _parsed_range(first, last, item, name)
            if dots
            else [_parsed_number(item, name)]
        )
        if len(values) > _MAX_NUMBERS:
            raise ParameterError(
                name, text, tr("at most {most} numbers").format(most=_MAX_NUMBERS)
            )
    if not values:
        raise ParameterError(
            name, text, tr("numbers such as 2^0..2^10, 1..5 or 0.1, 1, 10")
        )
    return tuple(values)


def _parsed_number(item: str, name: str) -> float:
    """Return the number in a text such as "0.5" or "2^-3".

    ``name`` is that of the field. Raise ParameterError for another
    text, or infinity.
    """
    power = _POWER.fullmatch(item)  # base and exponent, as in "2^-3"
    try:
        value = float(power[1]) ** _exponent(power) if power else float(item)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ParameterError(
            name, item, tr("numbers such as 2^0..2^10, 1..5 or 0.1, 1, 10")
        ) from None
    if not math.isfinite(value):
        raise ParameterError(name, item, tr("finite numbers"))
    return value


def _parsed_range(first: str, last: str, item: str, name: str) -> list[float]:
    """Return the numbers of a range such as "1..5" or "2^0..2^10", with both ends.

    ``first`` and ``last`` are the texts of its ends, ``item`` the whole
    text and ``name`` that of the field, for messages. Raise
    ParameterError if the range is invalid.
    """
    first_power = _POWER.fullmatch(first)
    last_power = _POWER.fullmatch(last)
    # Powers of one base: the range is that of the exponents.
    if first_power and last_power and first_power[1] == last_power[1]:
        base = float(first_power[1])
        first_exponent = _exponent(first_power)
        last_exponent = _exponent(last_power)
        if not (first_exponent.is_integer() and last_exponent.is_integer()):
            raise ParameterError(name, item, tr("whole exponents in a range of powers"))
        start = int(first_exponent)
        stop = int(last_exponent)
    elif first_power or last_power:
        raise ParameterError(
            name, item, tr("a range of powers of one base, or of whole numbers")
        )
    else:
        # Whole numbers.
        base = 0.0  # none: the numbers themselves
        start_value = _parsed_number(first, name)
        stop_value = _parsed_number(last, name)
        if start_value != int(start_value) or stop_value != int(stop_value):
            raise ParameterError(
                name, item, tr("a range of powers of one base, or of whole numbers")
            )
        start = int(start_value)
        stop = int(stop_value)
    if abs(stop - start) >= _MAX_NUMBERS:
        raise ParameterError(
            name, item, tr("at most {most} numbers").format(most=_MAX_NUMBERS)
        )
    # The range may ascend or descend, and contains both ends.
    step = 1 if stop >= start else -1
    numbers = range(start, stop + step, step)
    try:
        return [base**number if base else float(number) for number in numbers]
    except (OverflowError, ZeroDivisionError):
        raise ParameterError(name, item, tr("finite numbers")) from None


def _exponent(power: re.Match[str]) -> float:
    """Return the exponent of a power in a text."""
    return float(power[2].replace("−", "-"))


def format_grid(values: Sequence[float]) -> str:
    """Format a grid of numbers as a short text, from which it is read back bit for bit.

    Powers of two are written as such, and ranges of them as
    "2^0..2^10".
    """
    exponents = [power_of_two(v) for v in values]
    if len(values) > 1 and None not in exponents:
        # A range of powers of 2 has exponents that are 1 apart. Even
        # exponents that are 2 apart are a range of powers of 4. Other
        # exponents are floats, in quarters.
        steps = [b - a for a, b in pairwise(exponents)]  # type: ignore[operator]
        if len(values) > 2 and set(steps) == {1} and isinstance(exponents[0], int):
            return f"2^{exponents[0]}..2^{exponents[-1]}"
        if (
            len(values) > 3
            and set(steps) == {2}
            and isinstance(exponents[0], int)
            and exponents[0] % 2 == 0
        ):
            return f"4^{exponents[0] // 2}..4^{exponents[-1] // 2}"
        return ", ".join(f"2^{e}" for e in exponents)
    return ", ".join(format_number(v) for v in values)


def format_number(value: float) -> str:
    """Format a number that is read back bit for bit, integers without a point."""
    # Below 2^53, about 9e15, every whole number is a float, so that the
    # digits are exact.
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value)).replace("e-0", "e-")  # 1e-5, as everywhere else


def format_power(value: float) -> str:
    """Format a value as a label: as a power of two if it is one, including 2^0."""
    exponent = power_of_two(value)
    return format_number(value) if exponent is None else f"2^{exponent}"


def power_of_two(value: float) -> float | None:
    """Return the exponent e if a value is exactly 2^e, otherwise None.

    A whole e is an int, and one in quarters, such as 0.25, a float.
    """
    if value <= 0 or not math.isfinite(value):
        return None
    # frexp() writes the value as mantissa · 2^exponent, with a mantissa from
    # 0.5 to below 1.
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5:
        return exponent - 1
    # Otherwise the exponent may be in quarters.
    quarters = round(4 * math.log2(value)) / 4
    return quarters if -1000 < quarters < 1000 and 2.0**quarters == value else None
