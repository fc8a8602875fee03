"""Models as rank profiles for Vespa: an expression over rank features, or over attributes of documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import Node
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import comment_text

_TOKEN = r"\d[\d.]*(?:e[+-]?\d+)?|if\b|<=|[-+*(),]"
_N_RERANKED = 100


def write(function: ScoreFunction) -> Files:
    """Return the rank profile of a model for Vespa, for ``schemas/SCHEMA/NAME.profile``.

    The result has the file under "", because it is the only one.

    Known rank features are used unchanged in a second phase, because
    many of them are too slow for every matching document. Otherwise
    attributes are named after the features.
    """
    # The terms of the score: weighted features, or the value of each tree.
    names = _input_names(function)
    if function.linear:
        terms = [
            f"{'-' if w < 0 else '+'} {abs(w)!r} * {n}"
            for n, w in zip(names, function.weights, strict=True)
        ]
    else:
        terms = [f"+ {_if_text(t.nested(), names)}" for t in function.trees]

    # If the profile defines features itself, the model ranks again in the second phase.
    has_definitions = any(model_input.definition for model_input in function.inputs)
    begin = [f"rank-profile {function.name} {{", "    first-phase {"]
    if has_definitions:
        begin = [
            f"rank-profile {function.name} inherits default {{",
            *_lines_before_expression(names),
        ]

    # The profile: comments, the sections before the expression, and the
    # sum of the terms.
    lines = [
        f"# {comment_text(function.about, 'hash')}",
        *(
            f"# {i.identifier}: feature {i.id}, {comment_text(i.name, 'hash')}"
            for i in function.inputs
        ),
        *begin,
        "        expression {",
        "            0",  # because each term begins with a sign
        *(f"            {term}" for term in terms),
        "        }",
        "    }",
        "}",
    ]
    return {"": ("\n".join(lines) + "\n").encode()}


def _input_names(function: ScoreFunction) -> list[str]:
    """Return the name of each input in the expression."""
    return [
        model_input.definition or f"attribute({model_input.identifier})"
        for model_input in function.inputs
    ]


def _lines_before_expression(names: list[str]) -> list[str]:
    """Return the lines of a rank profile before its expression.

    The lines list the features to log for each hit, by their ``names``,
    and begin the second phase.
    """
    feature_lines = [f"        {name}" for name in names]
    return [
        *("    match-features {", *feature_lines, "    }"),
        "    second-phase {",
        f"        rerank-count: {_N_RERANKED}",
    ]


def _if_text(node: Node, names: list[str]) -> str:
    """Return a node of a tree, and the nodes below it, as an ``if`` expression of Vespa.

    ``names`` are those of the inputs, by position.
    """
    if not isinstance(node, tuple):
        return repr(node)
    column, threshold, below, above = node
    return f"if ({names[column]} <= {threshold!r}, {_if_text(below, names)}, {_if_text(above, names)})"


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with the expression of a rank profile, in double precision like Vespa.

    `files` has the profile under the key "", its only file. The result
    has shape (m,), one score per document.
    """
    # The expression is between the braces after its keyword.
    _, _, body = files[""].decode().partition("expression {")
    values = {
        name: documents.X[:, column]
        for column, name in enumerate(_input_names(function))
    }

    # The zeros make an array of an expression that is only a number.
    return _Expression(body.partition("}")[0], values).value() + np.zeros(
        documents.X.shape[0]
    )


class _Expression:
    """Parses an expression of sums, products, rank features and ``if``, and evaluates it for all documents.

    Parameters
    ----------
    text : str
    values : Mapping of str to ndarray
        Values of all documents, by the name of the rank feature.
    """

    def __init__(self, text: str, values: Mapping[str, Floats]) -> None:
        self._tokens = [*_tokens(text, values), ""]  # "" marks the end
        self._values = values
        self._position = 0

    def value(self) -> Floats:
        """Evaluate the sum at the present position; shape (m,) for m documents."""
        total = self._product()
        while self._tokens[self._position] in ("+", "-"):
            is_added = self._next() == "+"
            term = self._product()
            total = total + term if is_added else total - term
        return total

    def _product(self) -> Floats:
        """Evaluate the product at the present position; shape (m,) or ()."""
        result = self._factor()
        while self._tokens[self._position] == "*":
            self._next()
            result = result * self._factor()
        return result

    def _factor(self) -> Floats:
        """Parse a number, a name, a negated factor or an ``if``, and return its values, shape (m,) or ().

        The ``if`` is written ``if (a <= b, c, d)``: c where a is at most b, else d.
        """
        match self._next():
            case "-":
                return -self._factor()
            case "if":
                self._next("(")
                operand = self.value()
                self._next("<=")
                is_below = operand <= self.value()
                self._next(",")
                below = self.value()
                self._next(",")
                above = self.value()
                self._next(")")

                # Both values were computed for all documents.
                return np.where(is_below, below, above)
            case name if name in self._values:
                return self._values[name]
            case number:
                return np.array(float(number))

    def _next(self, expected: str | None = None) -> str:
        """Return the present token of the expression and go to the next one.

        Raise ValueError if the present token is not the expected one.
        """
        token = self._tokens[self._position]
        if expected is not None and token != expected:
            raise ValueError(
                f"found {token!r} in the expression, expected {expected!r}"
            )
        self._position += 1
        return token


def _tokens(text: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the tokens of an expression: numbers, names, ``if`` and signs."""
    # The longest name that fits is meant: names may begin with other names.
    longest_first = "|".join(
        re.escape(name) for name in sorted(names, key=len, reverse=True)
    )
    token = re.compile(rf"\s*({longest_first + '|' if longest_first else ''}{_TOKEN})")
    position = 0
    while text[position:].strip():
        token_match = token.match(text, position)
        if token_match is None:
            raise ValueError(
                f"found {text[position : position + 20]!r} in the expression"
            )
        yield token_match[1]
        position = token_match.end()


FORMAT = ModelFormat(
    "vespa",
    "Vespa",
    ".profile",
    translatable(
        "A rank profile that computes the score: in the second phase from your own rank features, or in the "
        "first phase from attributes named after the features."
    ),
    write,
    read,
    engine="vespa",
    readers=Readers.SEARCH_ENGINE,
)
