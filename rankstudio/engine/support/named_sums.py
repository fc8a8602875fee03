"""Sums and products of named values as users write them: ``linear + 0.5 * rbf``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support.number_grid import format_number, parse_grid

SUM = "+"
TIMES = "*"

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+|\^-?\d+)?", re.IGNORECASE)
_NAME = re.compile(r"[a-z_]\w*", re.IGNORECASE)
_MAX_FACTORS = 32


@dataclass(frozen=True)
class Product:
    """A product in a sum: a weight times values that are given by their names.

    Attributes
    ----------
    weight : float
        Finite number greater than 0.
    names : tuple of str
        Names of the values, at least one; a repeated name is a power.
    """

    weight: float
    names: tuple[str, ...]


def parse_sum(text: str, names: Sequence[str], parameter: str) -> tuple[Product, ...]:
    """Parse a sum of products, without brackets.

    Parameters
    ----------
    text : str
        Products separated by ``+``. A product consists of factors
        separated by ``*``: at least one name, and any numbers greater
        than 0, such as ``0.5`` or ``2^-3``.
    names : sequence of str
        Names that may be used.
    parameter : str
        Name of the parameter, for the error message.

    Returns
    -------
    tuple of Product
        Products in the given order, at least one.

    Raises
    ------
    ParameterError
        For any other text; the message gives the position of the first
        wrong character.

    Examples
    --------
    >>> parse_sum("linear * rbf + 0.5*rbf", ("linear", "rbf"), "kernel")
    (Product(weight=1.0, names=('linear', 'rbf')), Product(weight=0.5, names=('rbf',)))
    """
    # takes() moves behind the sign "+" if it is next; else the sum has ended.
    parser = _Parser(text, tuple(names), parameter)
    products = [parser.product()]
    while parser.takes(SUM):
        products.append(parser.product())
    if parser.position < len(text):
        raise parser.error(tr("+ or * at character {position}"))
    return tuple(products)


class _Parser:
    """A position in a text, and the functions that read the parts of a sum from there.

    Parameters
    ----------
    text, names, parameter
        As in :func:`parse_sum`.

    Attributes
    ----------
    position : int
        Position of the next character that is no blank, counted from 0.
    """

    def __init__(self, text: str, names: tuple[str, ...], parameter: str) -> None:
        """Begin at the first character that is not blank.

        ``names`` are allowed in the ``text``, and ``parameter`` is for
        messages.
        """
        self._text = text
        self._names = names
        self._parameter = parameter
        self._n_factors = 0
        self.position = 0
        self._advance(0)  # over blanks

    def product(self) -> Product:
        """Read a product of names and numbers, such as "0.5 * rbf".

        Raise ParameterError if there is none, or its weight is not finite.
        """
        start = self.position
        factors = [self._factor()]
        while self.takes(TIMES):
            factors.append(self._factor())
        # The numbers are multiplied, and the names remain.
        weight = math.prod(factor for factor in factors if isinstance(factor, float))
        names = tuple(factor for factor in factors if isinstance(factor, str))
        if not names or not 0.0 < weight < math.inf:
            self.position = start
            raise self.error(
                tr(
                    "a product of one of {names} and finite weights greater than 0 at character {position}"
                )
            )
        return Product(float(weight), names)

    def takes(self, operator: str) -> bool:
        """Return whether an operator is next; if so, move behind it."""
        is_next = self._text.startswith(operator, self.position)
        if is_next:
            self._advance(len(operator))
        return is_next

    def error(self, expected: str) -> ParameterError:
        """Return the error for the text at the present position.

        ``expected`` is a template, whose fields are filled here: the
        allowed names, the position, which counts from 1, and the
        maximum number of factors.
        """
        text = expected.format(
            names=", ".join(self._names),
            position=self.position + 1,
            most=_MAX_FACTORS,
        )
        return ParameterError(self._parameter, self._text, text)

    def _factor(self) -> float | str:
        """Read a name, or a number greater than 0; ParameterError for anything else."""
        # The limit keeps texts of plans and model files short.
        self._n_factors += 1
        if self._n_factors > _MAX_FACTORS:
            raise self.error(tr("at most {most} names and numbers"))
        name = _NAME.match(self._text, self.position)
        if name and name[0] in self._names:
            self._advance(len(name[0]))
            return name[0]
        number = _NUMBER.match(self._text, self.position)
        value = _parsed_number(number[0]) if number else math.nan
        if number and value > 0.0:
            self._advance(len(number[0]))
            return value
        raise self.error(
            tr("{names} or a number greater than 0 at character {position}")
        )

    def _advance(self, n_characters: int) -> None:
        """Move by some characters, and behind the blanks that follow them."""
        rest = self._text[self.position + n_characters :]
        self.position = len(self._text) - len(rest.lstrip())


def _parsed_number(text: str) -> float:
    """Return the number in a text; NaN for a number out of the floating-point range."""
    try:
        (number,) = parse_grid(text)
    except ParameterError:
        return math.nan
    return number


def format_sum(products: Sequence[Product]) -> str:
    """Format a sum as a text that :func:`parse_sum` reads back bit for bit.

    Examples
    --------
    >>> format_sum(parse_sum("linear*2+rbf", ("linear", "rbf"), "kernel"))
    '2 * linear + rbf'
    """
    return f" {SUM} ".join(map(_format_product, products))


def _format_product(product: Product) -> str:
    """Return a product as text, without a weight of 1."""
    weight = [] if product.weight == 1.0 else [format_number(product.weight)]
    return f" {TIMES} ".join([*weight, *product.names])


def is_sum(text: str) -> bool:
    """Return whether a text is written as a sum or product, not as a single name."""
    return SUM in text or TIMES in text
