"""Values of parameters that are objects of other libraries, as texts: names, numbers, and calls of classes.

A text is parsed, never evaluated as code: it consists of literals,
names, and calls of classes with such values. Names are looked up in the
method's own module, and in modules of scikit-learn; nothing else is
imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr

_SCIKIT_LEARN = (
    *(
        "linear_model",
        "feature_selection",
        "svm",
        "ensemble",
        "tree",
        "kernel_ridge",
        "neighbors",
    ),
    *("model_selection", "preprocessing", "metrics", "gaussian_process.kernels"),
)
"""Modules of scikit-learn in which a name is looked up."""


def value_of(text: str, name: str, modules: Sequence[str]) -> Any:
    """Return the value that a text describes, such as an object for ``"Ridge(alpha=2.0)"``.

    Parameters
    ----------
    text : str
        Name, call or literal, such as ``"f_regression"``,
        ``"Ridge(alpha=2.0)"`` or ``"(1, 2)"``. Any other word is
        returned as a string.
    name : str
        Name of the parameter, for the error message.
    modules : sequence of str
        Modules in which names are looked up first.

    Raises
    ------
    ParameterError
        If the text calls an unknown name, or calls a class with wrong arguments.
    """
    # A text that is no expression is a string.
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    # The text is not run by Python: `_value` accepts only some kinds of
    # expressions, and raises a LookupError for others.
    try:
        return _value(node, modules)
    except LookupError as error:
        if isinstance(node, ast.Name):
            # A word that is not a function, such as the name of a solver.
            return text
        raise ParameterError(name, text, str(error.args[0])) from error
    except RecursionError as error:
        raise ParameterError(name, text, tr("a shorter text")) from error


def _value(node: ast.AST, modules: Sequence[str]) -> Any:
    """Return the value of a parsed expression: a constant, a list of such values, a name, or a call.

    Names are looked up in ``modules``, then in scikit-learn. Raises a
    LookupError, which says what was expected, for any other expression.
    ``node`` is the expression.
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(
            op=ast.USub(), operand=ast.Constant(value=int() | float() as number)
        ):
            return -number
        case ast.Tuple() | ast.List():
            values = [_value(item, modules) for item in node.elts]
            return tuple(values) if isinstance(node, ast.Tuple) else values
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {
                _value(key, modules): _value(item, modules)
                for key, item in pairs
                if key is not None  # None stands for an unpacked {**other}
            }
        case ast.Name():
            return _named(node.id, modules)
        case ast.Call(func=ast.Name()):
            return _called(node, modules)
        case _:
            raise LookupError(
                tr("a name, a number, or a call such as Ridge(alpha=2.0)")
            )


def _called(node: ast.Call, modules: Sequence[str]) -> Any:
    """Call the class of an estimator with the arguments in an expression, and return the object.

    The class is looked up in ``modules`` first, then in scikit-learn.
    Raises a LookupError, which says what was expected, for any other
    call. ``node`` is the expression.
    """
    assert isinstance(node.func, ast.Name)
    # Only classes of estimators may be called, so that an expression
    # cannot run any function.
    estimator_class: Callable[..., Any] = _named(node.func.id, modules)
    if not isinstance(estimator_class, type) or not hasattr(
        estimator_class, "get_params"
    ):
        raise LookupError(tr("the name of an estimator before the brackets"))
    # An unpacked **argument has no name.
    if any(keyword.arg is None for keyword in node.keywords):
        raise LookupError(tr("arguments with names"))
    # Arguments are expressions, too.
    arguments = [_value(item, modules) for item in node.args]
    keywords = {
        str(keyword.arg): _value(keyword.value, modules) for keyword in node.keywords
    }
    try:
        return estimator_class(*arguments, **keywords)
    except Exception as error:
        raise LookupError(
            tr("arguments of {name} ({error})").format(name=node.func.id, error=error)
        ) from error


def _named(name: str, modules: Sequence[str]) -> Any:
    """Return the public function or class with a name, from the first module that has it.

    ``modules`` are searched first, then scikit-learn's. Raises a
    LookupError if no module has such a name.
    """
    if not name.startswith("_"):
        for module in (*modules, *(f"sklearn.{part}" for part in _SCIKIT_LEARN)):
            candidate = getattr(import_module(module), name, None)
            if callable(candidate):
                return candidate
    raise LookupError(tr("a name that the method's module or scikit-learn has"))


def text_of(value: Any) -> Any:
    """Return a parameter's value as a plan can store it: numbers and texts unchanged, objects as texts.

    The text of an estimator is a call with the parameters that differ
    from their defaults.

    Raises
    ------
    ParameterError
        For an object that cannot be written as such a text.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | dict):
        return repr(value)
    # An estimator. If its class cannot be called without arguments, all
    # of its parameters are written.
    if hasattr(value, "get_params") and not isinstance(value, type):
        defaults = (
            type(value)().get_params(deep=False) if _has_defaults(type(value)) else {}
        )
        values = value.get_params(deep=False).items()
        settings = {
            name: v
            for name, v in values
            if name not in defaults or not _equal(v, defaults[name])
        }
        arguments = ", ".join(
            f"{name}={_source(item)}" for name, item in settings.items()
        )
        return f"{type(value).__name__}({arguments})"
    # A function or a class: its name.
    name = getattr(value, "__name__", "")
    if callable(value) and name.isidentifier():
        return name
    raise ParameterError(
        "parameters", value, tr("plain values, named functions or estimators")
    )


def _source(value: Any) -> str:
    """Return a value as the text of an argument in a call, from which it can be parsed again."""
    text = text_of(value)
    is_object = not (value is None or isinstance(value, bool | int | float | str))
    return str(text) if is_object else repr(value)


def _equal(value: Any, default: Any) -> bool:
    """Return whether a value equals its default; an array only if it is the same one."""
    try:
        return value is default or bool(value == default)
    except ValueError:  # arrays have no truth value
        return False


def _has_defaults(cls: type) -> bool:
    """Return whether a class can be called without arguments."""
    try:
        cls()
    except TypeError:
        return False
    return True
