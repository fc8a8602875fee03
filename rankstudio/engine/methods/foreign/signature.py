"""Parameters of a class or a function as data, from its signature and its numpydoc docstring."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from rankstudio.engine.methods.catalog.parameter import (
    GREATEST_INTEGER,
    Kind,
    Parameter,
)

DATA = ("X", "y", "qid")
"""Names of the arguments of a function that are data."""

SIZES = (
    "n_features_to_select",
    "k_features",
    "num_features",
    "n_selected_features",
    "k",
)
"""Names that libraries use for the number of features.

Forms have one name for all of them.
"""

_IGNORED_ARGUMENTS = ("self", "cls", "n_jobs", "verbose")
_LONGEST_HELP = 600
_SECTION = re.compile(r"^-{3,}\s*$")
_NAMES_AND_TYPE = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(.*))?$")


def parameters_of(
    target: Callable[..., Any], skip: Sequence[str] = ()
) -> tuple[Parameter, ...]:
    """Return the parameters of a method that follow from the arguments of a class or a function.

    Parameters
    ----------
    target : callable
        A class, whose constructor has the parameters, or a function
        with the data first.
    skip : sequence of str
        Names of arguments that are not parameters.

    Returns
    -------
    tuple of Parameter
        Parameters in the order of the signature. The kind of a
        parameter comes from its annotation, scikit-learn's
        ``_parameter_constraints``, or its default; the help comes from
        the docstring.
    """
    # What is known about the arguments: help, types, and scikit-learn's constraints.
    documentation = _documented_parameters(target)
    annotations = _annotations(target)
    constraints = (
        getattr(target, "_parameter_constraints", {})
        if isinstance(target, type)
        else {}
    )
    # SIZES are the names of arguments for the number of features to
    # select, for which every method has a parameter.
    skipped_names = {*_IGNORED_ARGUMENTS, *SIZES, *skip}
    return tuple(
        _inferred_parameter(
            argument,
            annotations.get(argument.name, inspect.Parameter.empty),
            constraints.get(argument.name, ())
            if isinstance(constraints, Mapping)
            else (),
            documentation.get(argument.name, ""),
        )
        for argument in _named_arguments(target)
        if argument.name not in skipped_names and not argument.name.startswith("_")
    )


def size_argument(target: Callable[..., Any]) -> str:
    """Return the name of the argument with the number of features.

    ``target`` is a class or a function of another library. The number
    is that of the features to select. The name is "" if ``target`` has
    no such argument.
    """
    names = [argument.name for argument in _named_arguments(target)]
    return next((name for name in SIZES if name in names), "")


def summary_of(target: object) -> str:
    """Return the first paragraph of the docstring of an object on one line.

    The result is "" if ``target``, a class or a function, has no docstring.
    """
    text = inspect.getdoc(target) or ""
    first_paragraph = " ".join(text.split("\n\n")[0].split())
    return first_paragraph[:_LONGEST_HELP]


def _named_arguments(target: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the arguments of a class or a function that can be passed by name.

    Nothing is yielded if ``target`` has no signature.
    """
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):  # a compiled callable may have no signature
        return
    for argument in signature.parameters.values():
        if argument.kind not in (
            argument.VAR_POSITIONAL,
            argument.VAR_KEYWORD,
            argument.POSITIONAL_ONLY,
        ):
            yield argument


def _annotations(target: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the annotations of the arguments as types, by name; {} if they cannot be evaluated."""
    # The annotations of a class are on its constructor.
    annotated: Any = (
        vars(target).get("__init__", target) if isinstance(target, type) else target
    )
    try:
        return typing.get_type_hints(annotated)
    except Exception:  # a foreign annotation may be anything
        return {}


def _inferred_parameter(
    argument: inspect.Parameter, annotation: Any, constraints: Sequence[Any], text: str
) -> Parameter:
    """Return the parameter of a method for an argument of a class or a function.

    The parameter's kind follows from the default, the annotation and
    scikit-learn's constraints; ``text`` is the parameter's help.
    """
    # An argument without a default counts as one with the default None.
    default = None if argument.default is inspect.Parameter.empty else argument.default
    name = argument.name
    label = name.replace("_", " ")
    about = text or label
    members = _union_members(annotation)  # int and None for ``int | None``
    # The choices that the annotation or the constraints name; none if
    # they name no texts.
    choices = _choices(members, constraints)
    # A switch first: for Python, True and False are numbers, too.
    if isinstance(default, bool) or bool in members:
        return Parameter(
            name=name,
            label=label,
            kind=Kind.SWITCH,
            default=bool(default),
            help=about,
        )
    # A choice, if the default is one of the known texts.
    if choices and (default is None or default in choices):
        choice_labels = tuple((choice, choice) for choice in choices)
        if default is None and argument.default is not inspect.Parameter.empty:
            # The default None is a choice, too.
            choice_labels = (("none", "none"), *choice_labels)
        first_choice, _ = choice_labels[0]
        return Parameter(
            name=name,
            label=label,
            kind=Kind.CHOICE,
            default=first_choice if default is None else default,
            help=about,
            choices=choice_labels,
        )
    # A number, whole or not, in the range of the constraints.
    number_type = _number_type(default, members, constraints)
    if number_type is not None:
        is_integer = number_type is int
        is_optional = default is None
        low, high, open_low = _number_range(constraints, is_integer)
        return Parameter(
            name=name,
            label=label,
            kind=Kind.INTEGER if is_integer else Kind.NUMBER,
            default=default,
            help=about,
            low=low,
            high=high,
            open_low=open_low,
            none_label="none" if is_optional else "",
        )
    # Anything else is a text, which is later parsed as an expression.
    return Parameter(
        name=name,
        label=label,
        kind=Kind.TEXT,
        default=_default_text(default),
        help=about,
    )


def _union_members(annotation: Any) -> tuple[Any, ...]:
    """Return the alternatives of an annotation: the types of a union, or the annotation itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return () if annotation is inspect.Parameter.empty else (annotation,)


def _choices(members: Sequence[Any], constraints: Sequence[Any]) -> tuple[str, ...]:
    """Return the texts from which an argument's value is chosen; () if other values are possible.

    ``members`` are the types of its annotation. If one is a
    ``Literal``, the texts in it are returned, whatever the constraints
    are.

    Otherwise ``constraints`` decide. Each of them is a kind of value
    that scikit-learn allows for the argument. Those with ``options``
    list texts. If another one allows other values than None, such as
    numbers, there are no choices.
    """
    for member in members:
        if typing.get_origin(member) is Literal:
            return tuple(
                value for value in typing.get_args(member) if isinstance(value, str)
            )
    # Constraints with ``options`` list texts.
    allows_only_options = len(constraints) == 1 or all(
        constraint is None or hasattr(constraint, "options")
        for constraint in constraints
    )
    if allows_only_options:
        for constraint in constraints:
            options = getattr(constraint, "options", ())
            if options and all(isinstance(option, str) for option in options):
                return tuple(sorted(options))
    return ()


def _number_type(
    default: Any, members: Sequence[Any], constraints: Sequence[Any]
) -> type | None:
    """Return int or float for an argument that is always a number, None for any other argument.

    ``members`` are the types of its annotation, and ``constraints``
    what scikit-learn accepts. ``default`` is the default of the
    argument, None without one.
    """
    # A constraint with options allows words, besides or instead of numbers.
    may_be_word = any(
        hasattr(constraint, "options") or isinstance(constraint, str | list)
        for constraint in constraints
    )
    if may_be_word:
        return None
    # The default says most. But a float may have a default that is written as an int.
    if isinstance(default, int):
        return float if float in members else int
    if isinstance(default, float):
        return float
    # A default of another type is no number. Without a default, the annotation decides.
    if default is not None:
        return None
    kinds = [member for member in members if member in (int, float)]
    if kinds:
        return float if float in kinds else int
    # Without a useful annotation, scikit-learn's interval of valid numbers decides.
    intervals = [
        constraint for constraint in constraints if hasattr(constraint, "left")
    ]
    if len(intervals) != 1:
        return None
    return int if "Integral" in getattr(intervals[0].type, "__name__", "") else float


def _number_range(
    constraints: Sequence[Any], is_integer: bool
) -> tuple[float, float, bool]:
    """Return the range that scikit-learn's constraint allows: low, high, and whether low is excluded.

    Without an interval among the constraints, any number is allowed.
    ``is_integer`` says whether the argument is a whole number: its
    bounds are never excluded.
    """
    for constraint in constraints:
        # scikit-learn's Interval; an open end is None.
        if hasattr(constraint, "left") and hasattr(constraint, "closed"):
            low = float("-inf") if constraint.left is None else float(constraint.left)
            high = float("inf") if constraint.right is None else float(constraint.right)
            # A parameter with integers has no excluded bounds.
            return (
                low,
                high,
                constraint.closed in ("right", "neither") and not is_integer,
            )
    return (
        (float(-GREATEST_INTEGER) if is_integer else float("-inf")),
        float("inf"),
        False,
    )


def _default_text(default: Any) -> str:
    """Return the default of an argument as a text; a function or a class by its name, None as ""."""
    if default is None:
        return ""
    name = getattr(default, "__name__", "")
    if callable(default) and name:
        return str(name)
    return default if isinstance(default, str) else repr(default)


def _documented_parameters(target: object) -> dict[str, str]:
    """Return the first paragraph about each parameter in a numpydoc docstring, by the parameter's name."""
    lines = (inspect.getdoc(target) or "").splitlines()
    # The section of the parameters begins after its heading, which is
    # underlined: _SECTION matches such a line.
    start = next(
        (i for i, line in enumerate(lines) if line.strip() == "Parameters"), None
    )
    if start is None or start + 1 >= len(lines) or not _SECTION.match(lines[start + 1]):
        return {}
    # A line that is not indented names parameters; the lines after it
    # are about all of them.
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for number, line in enumerate(lines[start + 2 :], start=start + 2):
        if number + 1 < len(lines) and _SECTION.match(lines[number + 1]):
            break  # the heading of the next section
        heading = (
            _NAMES_AND_TYPE.match(line) if line and not line[0].isspace() else None
        )
        if heading:
            names = [name.strip("* ") for name in heading[1].split(",")]
            texts.update({name: [] for name in names})
            continue
        for name in names:
            texts[name].append(line.strip())
    return {name: _first_paragraph(words) for name, words in texts.items()}


def _first_paragraph(lines: Sequence[str]) -> str:
    """Return the first paragraph of a parameter's text on one line."""
    paragraph = "\n".join(lines).strip().split("\n\n")[0]
    text = " ".join(paragraph.replace("`", "").split())
    return text if len(text) <= _LONGEST_HELP else text[: _LONGEST_HELP - 1] + "…"
