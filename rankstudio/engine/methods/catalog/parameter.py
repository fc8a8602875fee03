"""A parameter of a method as data, from which form field, validation, tooltip, option and docs are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.named_sums import format_sum, is_sum, parse_sum
from rankstudio.engine.support.number_grid import (
    format_grid,
    format_number,
    format_power,
    parse_grid,
)


class Kind(Enum):
    """Kind of values of a parameter, which determines its field in the form.

    Examples
    --------
    >>> from rankstudio.api import Kind, Parameter
    >>> Parameter("weighted", "weighted", Kind.SWITCH, True, "Whether queries have weights.").validate("no")
    False
    """

    GRID = "grid"  # one or several numbers: each is a run of its own, "2^0..2^10"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    SWITCH = "switch"  # yes or no
    MEASURE = "measure"  # the name of a ranking measure
    FEATURES = "features"  # 1-based feature ids
    COSTS = "costs"  # cost of each feature by its 1-based id; 1 for features not named
    # a value without a field of its own in forms, such as the name of a function
    TEXT = "text"

    @property
    def between(self) -> str:
        """Separator between several values in a text, because single values may contain commas."""
        return " | " if self in (Kind.FEATURES, Kind.COSTS, Kind.TEXT) else ", "


MILLISECONDS = "milliseconds"
"""Value of a parameter for costs that stands for the costs in the plan."""


def apart(kind: Kind, value: Any, name: str = "") -> list[Any] | None:
    """Split the value of a parameter into individual values; return None if it is a single value.

    A user may give several values, each of which is tried. Several
    values are a list, or a comma-separated text: ``"50, 100"``,
    ``"1..5"``, ``"squared, hinge"``. For features and costs, each
    single value is a list, so several values are a list of lists, or a
    text with bars: ``"25, 39 | 7"``.

    Parameters
    ----------
    kind : Kind
        Any kind except a grid, whose numbers are one value.
    value : object
        Value of the parameter, from a user, a file or a program, or in
        canonical form.
    name : str
        Name of the parameter, for the error message.

    Raises
    ------
    ParameterError
        For an invalid range of numbers.
    """
    single_value_is_list = kind in (Kind.FEATURES, Kind.COSTS)
    # In a text, bars separate values that may contain commas; commas separate others.
    if isinstance(value, str):
        if single_value_is_list:
            return value.split("|") if "|" in value else None
        if kind is Kind.TEXT:
            return [item.strip() for item in value.split("|")] if "|" in value else None
        if kind in (Kind.INTEGER, Kind.NUMBER):
            return _parsed_numbers(kind, value, name)
        return _split_list(value)
    # A mapping has the costs of a single value.
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        return None
    # Of features or costs, only a list of lists has several values.
    items = list(value)
    has_several = not single_value_is_list or any(
        _is_whole_value(kind, item) for item in items
    )
    return items if has_several else None


def _split_list(text: str) -> list[Any] | None:
    """Return the items of a comma-separated text; None without a comma."""
    return (
        [item.strip() for item in text.split(",") if item.strip()]
        if "," in text
        else None
    )


def _parsed_numbers(kind: Kind, text: str, name: str) -> list[Any] | None:
    """Return the numbers in a text with commas or ranges, or None for a single value.

    Ranges such as "1..5" are expanded to numbers. Other items remain
    texts, which are validated later. ``name`` is the parameter's, for
    errors. ``kind`` says whether they are whole numbers.
    """
    items = _split_list(text)
    if items is None and ".." not in text and "…" not in text:
        return None
    numbers: list[Any] = []
    for item in items if items is not None else [text]:
        is_range = ".." in item or "…" in item
        if not is_range:
            numbers.append(item)
            continue
        for number in parse_grid(item, name=name):
            # The parsed numbers are floats.
            is_integer = kind is Kind.INTEGER and number == int(number)
            numbers.append(int(number) if is_integer else number)
    return numbers


def _is_whole_value(kind: Kind, item: Any) -> bool:
    """Return whether an element of a list is a whole value: a set of features, or costs of features.

    Otherwise the list is the value, and the element is a single id or
    (id, cost) pair. ``item`` is the element, and ``kind`` that of the
    parameter, features or costs.
    """
    # A text or a number is no set of features or costs. Only the word
    # "milliseconds" is a whole value: it stands for measured costs.
    if isinstance(item, str) or not isinstance(item, Iterable):
        return kind is Kind.COSTS and item == MILLISECONDS
    if kind is Kind.FEATURES or isinstance(item, Mapping):
        return True
    # A list of (id, cost) pairs is a whole value; a single pair is not.
    first = next(iter(item), ())
    return isinstance(first, Iterable) and not isinstance(first, str)


_TRUE_WORDS = ("yes", "true", "on", "1")
_FALSE_WORDS = ("no", "false", "off", "0")
_INFINITE = (inf, -inf)

OWN_FILE = ".csv"
"""Ending of the names of files with own values, which may be given in place of a choice."""

_MAX_TEXT_LENGTH = 1000

GREATEST_INTEGER = 2**63 - 1
"""The greatest integer that TOML and the kernels support."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method as data, from which form field, validation, tooltip and help are derived.

    Attributes
    ----------
    name : str
        Argument of the estimator.
    label : str
        Short label for the form: "λ".
    kind : Kind
        Kind of its values.
    default : object
        Canonical default: a tuple of numbers for a grid, a number or
        None, a choice's key, a bool, a measure's name, a tuple of
        feature ids, or for costs a tuple of (id, cost) pairs or
        "milliseconds". Except for grids it is a single value; a plan
        may contain a tuple of several values.
    help : str
        Description in one or two sentences.
    symbol, source : str
        The paper's symbol, and its place in the paper.
    option : str
        Option in the terminal; by default derived from ``name``.
    low, high : float
        Range of the numbers; ``low`` is excluded if ``open_low`` is True.
    choices : tuple of (key, label)
        Choices for ``Kind.CHOICE``.
    none_label : str
        For an optional number: meaning of an empty value.
    none_names : tuple of str
        Former names of an empty value, in stored plans and studies.
    ranks : bool
        For a selector: whether the parameter concerns only the method's
        own ranking model. Such a parameter is not used with a final
        ranker.
    only_with : tuple of (str, tuple), or ()
        Another parameter of the method, and its values for which this
        parameter has an effect. With other values, this parameter is
        neither shown nor passed to the estimator.
    changes_criterion : bool
        Whether each value defines another criterion, so that the
        criterion cannot select among them.
    basic : bool
        Whether forms show the parameter in their first part. Parameters
        that most runs leave at their defaults are under "More options".
    offers_several : bool
        Whether forms offer several values. False if all values give the same model.
    summed : bool
        Whether sums and products of the choices may be given, such as "linear +
        0.5 * rbf"; see :mod:`rankstudio.engine.support.named_sums`.
    own_file : bool
        Whether a CSV file may be given in place of a choice, or to an
        estimator an array or a function. See
        :mod:`rankstudio.engine.methods.own_values`.

    Examples
    --------
    >>> from rankstudio.api import Kind, Parameter
    >>> power = Parameter("power", "power", Kind.NUMBER, 2.0, "Exponent of the similarity.", low=0.0)
    >>> power.option, power.validate("3")
    ('--power', 3.0)
    """

    name: str
    label: str
    kind: Kind
    default: Any
    help: str
    symbol: str = ""
    source: str = ""
    option: str = ""
    low: float = float("-inf")
    high: float = float("inf")
    open_low: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    none_label: str = ""
    none_names: tuple[str, ...] = ()
    ranks: bool = False
    only_with: tuple[str, tuple[Any, ...]] | tuple[()] = ()
    changes_criterion: bool = False
    basic: bool = True
    offers_several: bool = True
    summed: bool = False
    own_file: bool = False

    def __post_init__(self) -> None:
        """Derive the option from the name, unless it is given."""
        object.__setattr__(
            self, "option", self.option or f"--{self.name.replace('_', '-')}"
        )

    @property
    def expected(self) -> str:
        """Values that the parameter may have in words, for errors and tooltips."""
        match self.kind:
            case Kind.GRID:
                return tr("numbers {bounds}, such as 2^0..2^10 or 0.1, 1, 10").format(
                    bounds=self._bounds()
                )
            case Kind.INTEGER | Kind.NUMBER:
                is_integer = self.kind is Kind.INTEGER
                number = (
                    tr("a whole number {bounds}")
                    if is_integer
                    else tr("a number {bounds}")
                )
                # Without bounds, the text would end in a space.
                text = number.format(bounds=self._bounds()).strip()
                # The word for no value, "" if there has to be one.
                none = tr(self.none_label)
                return (
                    tr("{number}, or empty for {none}").format(number=text, none=none)
                    if none
                    else text
                )
            case Kind.SWITCH:
                return tr("yes or no")
            case Kind.MEASURE:
                none = tr(self.none_label)
                text = tr("a measure such as MAP, NDCG@10 or P@5")
                return (
                    tr("{number}, or empty for {none}").format(number=text, none=none)
                    if none
                    else text
                )
            case Kind.TEXT:
                return tr("a name, a number, or a call such as Ridge(alpha=2.0)")
            case Kind.CHOICE:
                # `own_file`: also the user's own numbers, from a file.
                # `summed`: also sums and products of choices.
                keys = [key for key, _ in self.choices]
                text = tr("one of {keys}")
                if self.own_file:
                    text = tr("one of {keys}, or a CSV file")
                elif self.summed:
                    text = tr(
                        "one of {keys}, or a sum or product such as {first} + 0.5 * {last}"
                    )
                return text.format(keys=", ".join(keys), first=keys[0], last=keys[-1])
            case Kind.FEATURES:
                return tr("feature ids, such as 25, 39")
            case Kind.COSTS:
                return tr(
                    "costs greater than 0 by feature id, such as 25: 3, 39: 0.5, or milliseconds"
                )

    def _bounds(self) -> str:
        """Return the range of the numbers in words, such as "from 1 to 5"; "" for any number."""
        if self.low == -inf and self.high == inf:
            return ""
        high = "" if self.high == inf else format_number(self.high)
        if self.open_low:
            text = (
                tr("greater than {low:g}, up to {high}")
                if high
                else tr("greater than {low:g}")
            )
        else:
            text = tr("from {low:g} to {high}") if high else tr("from {low:g} up")
        return text.format(low=self.low, high=high)

    def counts(self, values: Mapping[str, Any]) -> bool:
        """Return whether the parameter has an effect with these values of the other parameters, by name.

        The effect may depend on one other parameter. If that parameter
        has several values, one value with the effect is enough, or one
        term of a value that is a sum, such as "linear + rbf".
        """
        if not self.only_with:
            return True
        name, required_values = self.only_with  # of the other parameter
        value = values.get(name)
        # Several values are a tuple; `_parts` are the terms of a sum.
        single_values = value if isinstance(value, tuple) else (value,)
        return any(
            part in required_values
            for single_value in single_values
            for part in _parts(single_value)
        )

    def check(self, value: Any) -> Any:
        """Validate and return a single value that a program passes to an estimator.

        Unlike values of users, numbers must not be texts. Numbers of
        numpy become Python's.

        Raises
        ------
        ParameterError
            If the value is out of range. The message contains the name
            of the estimator's argument, not the label for users.
        """
        import numpy as np  # noqa: PLC0415 - reading the catalog must not wait for it

        is_integer = self.kind is Kind.INTEGER
        # Each case returns a valid value, or says what was expected.
        match self.kind:
            case Kind.GRID | Kind.NUMBER | Kind.INTEGER:
                if value is None and self.none_label:
                    return None
                numbers = (
                    (int, np.integer)
                    if is_integer
                    else (int, float, np.integer, np.floating)
                )
                is_number = isinstance(value, numbers) and not isinstance(value, bool)
                if is_number and self._is_in_range(value) and value not in _INFINITE:
                    return int(value) if is_integer else float(value)
                adjective = "finite " if self.high == inf else ""
                if is_integer:
                    adjective = "whole "
                expected = f"a {adjective}number {self._bounds()}"
            case Kind.SWITCH:
                if isinstance(value, bool | np.bool_):
                    return bool(value)
                expected = "True or False"
            case Kind.CHOICE:
                *earlier_keys, last = [key for key, _ in self.choices]
                # The type is compared first: the comparison of an array
                # with a text has no single truth value, and 1 == True.
                if any(
                    isinstance(value, type(key)) and value == key
                    for key in (*earlier_keys, last)
                ):
                    return value
                # A parameter with `own_file` also takes a user's own numbers.
                if self.own_file and not isinstance(value, str):
                    # An array or a function, which is checked together with the data.
                    return value
                if self.summed and isinstance(value, str) and is_sum(value):
                    return format_sum(
                        parse_sum(value, (*earlier_keys, last), self.name)
                    )
                # Only a parameter with `own_file` also takes arrays and
                # functions, and one with `summed` sums of its choices.
                expected = f"{', '.join((*earlier_keys, last))}, an array or a function"
                expected = (
                    expected
                    if self.own_file
                    else f"{', '.join(earlier_keys)} or {last}"
                )
                if self.summed:
                    expected += (
                        f", or a sum or product such as {last} * {earlier_keys[0]}"
                    )
            case _:
                # No estimator has an argument of another kind: ids of
                # features become columns, for example.
                raise AssertionError(self.kind)
        raise ParameterError(self.name, value, expected)

    def validate(self, value: Any) -> Any:
        """Check a value of a user, and return it in canonical form; several values become a tuple.

        Several values are a list, or a text such as "50, 100"; their
        order stays. The tuple has at least two. A grid of numbers is
        one value.

        Raises
        ------
        ParameterError
            If the value is out of range; the message names the
            parameter, the range and the value.
        """
        if self.kind is Kind.GRID:
            return self._validate_grid(value)
        # The individual values; None if there is only one.
        items = apart(self.kind, value, self.label)
        if items is None:
            return self._validate_one(value)
        values = tuple(self._validate_one(item) for item in items)
        if not values:
            raise ParameterError(
                self.label,
                value,
                tr("at least one value: {expected}").format(expected=self.expected),
            )
        # Repeated values would be computed twice.
        for index, v in enumerate(values):
            if v in values[:index]:
                text = tr("each value once, found {value} twice").format(
                    value=self.name_of(v)
                )
                raise ParameterError(self.label, value, text)
        return values if len(values) > 1 else values[0]

    def several(self, value: Any) -> bool:
        """Return whether a canonical value contains several values.

        A grid always does.
        """
        return self.kind is Kind.GRID or apart(self.kind, value) is not None

    def values(self, value: Any) -> tuple[Any, ...]:
        """Return the individual values of a canonical value, in order; one value if it is single."""
        return tuple(value) if self.several(value) else (value,)

    def _validate_one(self, value: Any) -> Any:
        """Return a single value in canonical form, by its kind; ParameterError for an invalid value.

        A choice may also be the name of a file with own values, or a
        sum of choices, if the parameter allows it.
        """
        match self.kind:
            case Kind.INTEGER | Kind.NUMBER:
                return self._validate_number(value)
            case Kind.SWITCH:
                return self._validate_switch(value)
            case Kind.MEASURE:
                return self._validate_measure(value)
            case Kind.CHOICE:
                is_own_file = (
                    self.own_file
                    and isinstance(value, str)
                    and value.lower().endswith(OWN_FILE)
                )
                keys = [key for key, _ in self.choices]
                if is_own_file or value in keys:
                    return value
                if self.summed and isinstance(value, str) and is_sum(value):
                    return format_sum(parse_sum(value, keys, self.label))
                raise ParameterError(self.label, value, self.expected)
            case Kind.FEATURES:
                return self._validate_features(value)
            case Kind.COSTS:
                return self._validate_costs(value)
            case Kind.TEXT:
                return self._validate_text(value)
            case _:
                raise AssertionError(self.kind)  # a grid has a function of its own

    def _is_in_range(self, number: float) -> bool:
        """Return whether a number is in the range of the parameter."""
        # TOML files and compiled code support no larger integers.
        high = (
            min(self.high, GREATEST_INTEGER) if self.kind is Kind.INTEGER else self.high
        )
        if self.open_low:
            return self.low < number <= high
        return self.low <= number <= high

    def _validate_grid(self, value: Any) -> tuple[float, ...]:
        """Return the distinct numbers of a grid in ascending order; ParameterError for invalid or no numbers."""
        # A text such as 2^0..2^10, several numbers, or one number.
        if isinstance(value, str):
            values: tuple[float, ...] = parse_grid(value, name=self.label)
        else:
            try:
                values = tuple(
                    float(v)
                    for v in (value if isinstance(value, Iterable) else (value,))
                )
            except (TypeError, ValueError, OverflowError):
                raise ParameterError(self.label, value, self.expected) from None
        for number in values:
            if not self._is_in_range(number) or number in _INFINITE:
                raise ParameterError(self.label, number, self.expected)
        if not values:
            raise ParameterError(self.label, value, self.expected)
        return tuple(sorted(set(values)))

    def _validate_number(self, value: Any) -> float | int | None:
        """Return a number in the range, or None for an empty value; ParameterError for any other value."""
        # An empty value stands for None, if the parameter has a word for None.
        if value in (None, "", self.none_label, *self.none_names):
            if self.none_label:
                return None
            raise ParameterError(self.label, value, self.expected)
        try:
            number = self._parsed_number(str(value).strip())
        except ValueError:
            raise ParameterError(self.label, value, self.expected) from None
        is_valid = self._is_in_range(number) and number not in _INFINITE
        if isinstance(value, bool) or not is_valid:
            raise ParameterError(self.label, value, self.expected)
        return number

    def _parsed_number(self, text: str) -> float | int:
        """Return the number in a text, which may be a power such as 2^3 unless the kind is an integer.

        Raises a ValueError for other texts, or a ParameterError for
        several numbers.
        """
        if self.kind is Kind.INTEGER:
            return int(text)
        values = parse_grid(text, name=self.label)
        if len(values) != 1:
            raise ParameterError(self.label, text, self.expected)
        return values[0]

    def _validate_switch(self, value: Any) -> bool:
        """Return True or False, also from words; ParameterError for any other value."""
        word = str(value).strip().lower()
        if word not in _TRUE_WORDS + _FALSE_WORDS:
            raise ParameterError(self.label, value, self.expected)
        return word in _TRUE_WORDS

    def _validate_measure(self, value: Any) -> str | None:
        """Return the name of a measure of rankings, or None for an empty value; else raise a ParameterError."""
        if self.none_label and value in (None, "", self.none_label):
            return None
        # The error gets the parameter's label in place of "measure".
        # Its `meant` is the name that the user probably meant.
        try:
            named_measure = measure(value)
        except ParameterError as error:
            raise ParameterError(
                self.label, value, error.expected, error.meant
            ) from None
        if not named_measure.by_rank:
            raise ParameterError(
                self.label, value, tr("a measure of rankings, such as MAP or NDCG@10")
            )
        return named_measure.name

    def _validate_text(self, value: Any) -> str:
        """Return a text without blanks at its ends; ParameterError if it is long or not printable."""
        if (
            not isinstance(value, str)
            or len(value) > _MAX_TEXT_LENGTH
            or not value.isprintable()
        ):
            raise ParameterError(self.label, value, self.expected)
        return value.strip()

    def _validate_features(self, value: Any) -> tuple[int, ...]:
        """Return distinct feature ids, from a text such as "25, 39" or from numbers; else raise a ParameterError."""
        items = value.replace(",", " ").split() if isinstance(value, str) else value
        try:
            ids = tuple(int(item) for item in items)
            # int() cuts off decimals of numbers, but refuses them in texts.
            are_whole = all(
                isinstance(item, str) or int(item) == item for item in items
            )
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(self.label, value, self.expected) from None
        if not are_whole or not _are_distinct_ids(ids):
            expected = tr("{expected}, each 1 or larger and given once").format(
                expected=self.expected
            )
            raise ParameterError(self.label, value, expected)
        return ids

    def _validate_costs(self, value: Any) -> tuple[tuple[int, float], ...] | str:
        """Return (id, cost) pairs by ascending id, from a mapping, pairs, or a text like "25: 3, 39: 0.5".

        The word "milliseconds", for measured costs, is returned unchanged.
        """
        # A text is either the word for measured costs, or pairs "id:
        # cost" with commas or semicolons in between.
        if isinstance(value, str):
            if value.strip().lower() == MILLISECONDS:
                return MILLISECONDS
            items: list[Any] = [
                item.split(":")
                for item in value.replace(";", ",").split(",")
                if item.strip()
            ]
        else:
            items = list(value.items()) if isinstance(value, Mapping) else value
        # From a mapping or pairs; anything that is no pair of numbers is refused.
        try:
            pairs = [(int(i), float(cost)) for i, cost in items]
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(self.label, value, self.expected) from None
        ids = [i for i, _ in pairs]
        if not _are_distinct_ids(ids) or not all(0 < cost < inf for _, cost in pairs):
            expected = tr("{expected}, each id once, 1 or larger").format(
                expected=self.expected
            )
            raise ParameterError(self.label, value, expected)
        return tuple(sorted(pairs))

    def format(self, value: Any) -> str:
        """Return a canonical value, or several, as a text for reading, with the labels of choices.

        Among several values, None is written as ``none_label``, such as
        "all"; a single None is "", like an empty field.
        """
        if self.kind is Kind.GRID:
            return format_grid(value)
        if self.several(value):
            # `between` is the text between values. `_format_one`
            # returns "" for None.
            return self.kind.between.join(
                self._format_one(v) or self.none_label for v in value
            )
        return self._format_one(value)

    def written(self, value: Any) -> str:
        """Return a canonical value as a text that :meth:`validate` accepts, with the keys of choices."""
        if self.kind is Kind.CHOICE:
            return self.kind.between.join(self.values(value))
        return self.format(value)

    def value_as_text(self, value: Any) -> str:
        """Return a canonical value as part of a message, in the language of the process."""
        if self.kind is Kind.GRID:
            return self.format(value)
        return self.kind.between.join(
            self._translated_one(v) for v in self.values(value)
        )

    def _translated_one(self, single_value: Any) -> str:
        """Return a single value as a text in the language of the process."""
        if self.kind is Kind.SWITCH:
            return tr("yes", "switch") if single_value else tr("no", "switch")
        return tr(self._format_one(single_value) or self.none_label) or tr("none")

    def name_of(self, single_value: Any) -> str:
        """Return a single value as a label: "2^3" for a number of a grid, "all" for an empty number."""
        if self.kind is Kind.GRID:
            return format_power(single_value)
        return self._format_one(single_value) or self.none_label or "none"

    def _format_one(self, value: Any) -> str:
        """Return a single canonical value as a text; an empty value is ""."""
        if value is None:
            return ""
        match self.kind:
            case Kind.FEATURES:
                return ", ".join(str(i) for i in value)
            # The word stands for measured costs.
            case Kind.COSTS if value == MILLISECONDS:
                return MILLISECONDS
            case Kind.COSTS:
                return ", ".join(f"{i}: {format_number(cost)}" for i, cost in value)
            case Kind.CHOICE:
                return dict(self.choices).get(value, str(value))
            case Kind.INTEGER | Kind.NUMBER:
                return format_number(value)
            case Kind.SWITCH:
                return "yes" if value else "no"
            case _:
                return str(value)


def _parts(value: Any) -> tuple[Any, ...]:
    """Return a value, followed by its words and operators if it is a sum or product of choices."""
    if isinstance(value, str) and is_sum(value):
        return (value, *value.split())
    return (value,)


def _are_distinct_ids(ids: Sequence[int]) -> bool:
    """Return whether all numbers are valid feature ids, and none is repeated."""
    return all(1 <= i <= GREATEST_INTEGER for i in ids) and len(set(ids)) == len(ids)
