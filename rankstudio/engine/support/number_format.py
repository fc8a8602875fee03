"""Numbers as displayed: with true minus signs, no zeros for small numbers, and a dash for missing numbers."""

from __future__ import annotations

import math
import re

from rankstudio.engine.language import thousands_separator, tr

MINUS = "−"

NOTHING = "–"
"""Text for a missing number."""

_MILLION = 1_000_000
_NARROW_SPACE = "\u202f"
_POWER = re.compile(r"(?<![\w.])(\d+)\^(-?\d+(?:\.\d+)?)")
_SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(number: float | str) -> str:
    """Return a number in superscript figures: 10 → "¹⁰", -3 → "⁻³", 9.75 → "⁹·⁷⁵"."""
    return str(number).translate(_SUPERSCRIPTS)


def raised(text: str) -> str:
    """Return a text with typeset powers: "2^-2" as "2⁻²"."""
    return _POWER.sub(lambda power: f"{power[1]}{superscript(power[2])}", text)


def count_text(number: int) -> str:
    """Return a count with its digits in groups of three.

    The language decides the sign between them: "9,630" or "9.630".
    """
    return f"{number:,}".replace(",", thousands_separator())


def fixed(value: float, decimals: int = 4, *, sign: bool = False) -> str:
    """Return a number with some decimals and a true minus: "0.5341", "−0.0021".

    NaN becomes "–". With ``sign``, positive numbers have a plus. A
    number other than 0 that would be all zeros gets one more decimal
    or, if that is still all zeros, an exponent: "−3e-6". 0 itself has
    no sign.
    """
    if math.isnan(value):
        return NOTHING
    signs = "+" if sign and value else ""
    # 0 is formatted apart, as -0.0 would have a sign.
    text = f"{value:{signs}.{decimals}f}" if value else f"{0:.{decimals}f}"
    # A text of zeros only is empty without zeros, sign and point.
    if value and not text.strip("+-0."):
        text = f"{value:{signs}.{decimals + 1}f}"
    if value and not text.strip("+-0."):
        # Exponents have two digits: "3e-06" becomes "3e-6".
        text = f"{value:{signs}.0e}".replace("e-0", "e-")
        return text.replace("-", MINUS, 1) if value < 0 else text
    return text.replace("-", MINUS)


def signed(value: float, decimals: int = 2) -> str:
    """Return a number with its sign and some decimals: "+0.24", "−0.10", "0.00".

    A number other than 0 that would be all zeros gets one more decimal
    or an exponent, "+3e-6".
    """
    return fixed(value, decimals, sign=True)


def significant(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """Return a number with some significant figures and a true minus: "−0.123"; "–" for NaN.

    A number with more figures before the point has all of them, up to a
    million: "1,192", not "1.19e+03". In a language that groups digits
    by points, a narrow space is used, because 1.192 would be another
    number.
    """
    if math.isnan(value):
        return NOTHING
    form = ",.0f" if 10**digits - 0.5 <= abs(value) < _MILLION else f".{digits}g"
    text = f"{value:{'+' if sign else ''}{form}}".replace("-", MINUS)
    return text if thousands_separator() == "," else text.replace(",", _NARROW_SPACE)


def correlation_text(r: float) -> str:
    """Return a correlation with two decimals: "0.95", "−0.20", never "−0.00"."""
    return NOTHING if math.isnan(r) else f"{round(r, 2) + 0.0:.2f}".replace("-", MINUS)


def percentage(share: float, decimals: int = 0) -> str:
    """Return a share in percent with some decimals: "41 %", "99.8 %"."""
    return f"{100 * share:.{decimals}f} %"


def percent(share: float) -> str:
    """Return a share in percent with two figures: "41 %", "0.83 %", "less than 0.01 %"."""
    if share < 0.0001:
        return "0 %" if share == 0 else tr("less than 0.01 %")
    if share >= 0.095:
        return percentage(share)
    return f"{100 * share:.2g} %" if share >= 0.001 else f"{100 * share:.2f} %"


def relative_excess(error: float, least: float) -> float:
    """Return the excess of an error over the least error, as a share of the least error.

    If no feature or no label varies within a query, both errors are 0,
    and so is the excess.
    """
    if least > 0:
        return float(error / least - 1)
    return math.inf if error > 0 else 0.0
