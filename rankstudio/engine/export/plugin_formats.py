"""Entries of the model formats of plug-ins.

Their readers can also score with files that other programs wrote.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DataError, PlanError, one_line, shown, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of, imported
from rankstudio.engine.plugins.guard import called
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.plugins.plugin import LoadedPlugin

PATIENCE = 60.0
"""Seconds that a writer or a reader may take."""

KIND = "plugin"
"""Kind of a model that only the reader of a plug-in can score with."""

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SUFFIX = re.compile(r"\.[A-Za-z0-9][A-Za-z0-9_-]{0,15}")
_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_MAX_LENGTHS = {"label": 80, "summary": 500}


@dataclass(frozen=True)
class ModelFormatEntry:
    """A plug-in's description of a format of another program for exported models.

    Attributes
    ----------
    key : str
        Key on the command line.
    label : str
        Name for users.
    suffix : str
        Ending of the file, such as ".ini".
    writer : str
        ``"module:function"`` of a function that gets the model and
        returns the contents of the file, as text or bytes. The model
        has ``inputs`` (each with ``id``, ``name`` and ``identifier``),
        ``weights`` in their order, ``trees`` and ``about``.
    reader : str
        ``"module:function"`` of a function that gets the contents as
        bytes, a matrix of documents and the ids of its columns, which
        may be more than the model uses, and returns a score for each
        document. With it every exported model is verified, and files of
        the format can be opened; "" for none.
    summary : str
        Description of the contents, as a sentence.
    linear, trees : bool
        Whether weighted sums and sums of trees can be written.

    Examples
    --------
    >>> ModelFormatEntry("ini", "INI file", ".ini", writer="my_formats:write").trees
    False
    """

    key: str
    label: str
    suffix: str
    writer: str
    reader: str = ""
    summary: str = ""
    linear: bool = True
    trees: bool = False


@dataclass(frozen=True)
class PluginModelFormat:
    """A plug-in's format of models, with the package that it comes from.

    Attributes
    ----------
    entry : ModelFormatEntry
        The plug-in's description of the format.
    package, version : str
        Name and version of the package.
    """

    entry: ModelFormatEntry
    package: str
    version: str

    def score(self, content: bytes, documents: Floats, ids: tuple[int, ...]) -> Floats:
        """Return the scores of m documents, shape (m,), by the model in a file's contents.

        `documents`, shape (m, n), has the values of n features with the
        ids `ids`.

        Raises
        ------
        DataError
            If the plug-in's reader fails, or does not return finite
            scores; the message does not name the file.
        """
        # A copy, because the code of the plug-in may change it.
        X = np.array(documents)
        try:
            scores = np.asarray(
                called(lambda: imported(self.entry.reader)(content, X, ids), PATIENCE)
            )
            has_shape = scores.shape == (len(X),)
            # booleans, integers and floating-point numbers
            is_numeric = scores.dtype.kind in "biuf"
            if not has_shape or not is_numeric or not np.isfinite(scores).all():
                text = tr(
                    "expected {n} finite scores, got {value} of the shape {shape}"
                )
                values = {"value": scores.dtype.name, "shape": scores.shape}
                raise RuntimeError(text.format(n=len(X), **values))
        except (RuntimeError, TimeoutError, ValueError) as error:
            raise DataError(str(error)) from error
        return scores.astype(np.float64)


@cache
def model_format_entries() -> tuple[tuple[LoadedPlugin, Any], ...]:
    """Return the model formats of all plug-ins, built-in ones first."""
    exists = tr("A model format with the key {key} exists already. Choose another key.")
    message = tr("A model format of the plug-in {name} cannot be used: {reason}")
    return tuple(
        entries_of("model_formats", refuse_invalid_model_format, exists, message)
    )


def readable_formats() -> tuple[PluginModelFormat, ...]:
    """Return the formats of plug-ins that have a reader, so that files can be opened."""
    return tuple(
        PluginModelFormat(entry, loaded_plugin.package, loaded_plugin.version)
        for loaded_plugin, entry in model_format_entries()
        if isinstance(entry, ModelFormatEntry) and entry.reader
    )


def plugin_scores(
    beyond: Mapping[str, Any], column_of: Mapping[int, int], X: Floats, source: str
) -> Floats:
    """Return the scores of m documents by a model in the format of a plug-in, shape (m,).

    The file of the model only names a format. The reader that computes
    the scores must be that of an installed plug-in, so that a file
    cannot run other code.

    Parameters
    ----------
    beyond : Mapping
        Definition of the model that :func:`checked_plugin` has validated.
    column_of : Mapping of int to int
        Column of each feature id.
    X : ndarray of shape (m, n)
        Values of n features of m documents.
    source : str
        Source of the model, for messages.

    Raises
    ------
    DataError
        If the package is not installed, or its reader fails.
    """
    # The format must be one of an installed plug-in.
    form_key = beyond["format"], beyond["package"]
    form = next(
        (
            form
            for form in readable_formats()
            if (form.entry.key, form.package) == form_key
        ),
        None,
    )
    prefix = f"{shown_path(source)}: " if source else ""
    if form is None:
        origin = Origin(
            OriginKind.PACKAGE, beyond["package"], beyond["version"], present=False
        )
        # `lacking` is the end of a sentence, which says how to install
        # the package.
        text = tr("{file}the model {reason}")
        raise DataError(text.format(file=prefix, reason=origin.lacking))

    # The reader scores the content with the columns it was stored for.
    columns = beyond["columns"]
    try:
        return form.score(
            base64.b64decode(beyond["content"]),
            X[:, [column_of[i] for i in columns]],
            tuple(columns),
        )
    except DataError as error:
        text = tr("{file}{format} of {package} cannot score with the model: {problem}.")
        values = {
            "format": form.entry.label,
            "package": form.package,
            "problem": str(error).rstrip("."),
        }
        raise DataError(text.format(file=prefix, **values)) from error


def checked_plugin(values: Mapping[str, Any], columns: list[int]) -> dict[str, Any]:
    """Validate and return the definition of a model in the format of a plug-in.

    ValueError is raised if the definition is invalid.

    Parameters
    ----------
    values : Mapping
        Definition of the model, as read from JSON: the format, and the
        content of the file.
    columns : list of int
        Ids of the model's columns, which are checked already.
    """
    texts = {
        name: values.get(name) for name in ("format", "package", "version", "content")
    }
    wrong_name = next(
        (name for name, value in texts.items() if not isinstance(value, str)), None
    )
    if wrong_name is not None:
        raise ValueError(
            f"found {shown(texts[wrong_name])} as {wrong_name}, expected a text"
        )
    try:
        # Called for its errors only.
        base64.b64decode(str(texts["content"]), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the content of the model is not base64") from None
    return {"kind": KIND, **texts, "columns": columns}


def refuse_invalid_model_format(entry: object) -> None:
    """Raise a PlanError for a model format of a plug-in that cannot be offered.

    Parameters
    ----------
    entry : object
        Object that a plug-in lists as a format of models; it may have any type.
    """
    # Type and key.
    if not isinstance(entry, ModelFormatEntry):
        raise PlanError(
            tr("expected a ModelFormat, got {value}.").format(value=shown(entry))
        )
    if not isinstance(entry.key, str) or not _KEY.fullmatch(entry.key):
        text = tr(
            "key: expected lower-case letters, digits, dots and hyphens, got {key}."
        )
        raise PlanError(text.format(key=shown(entry.key)))

    # Texts: one line of limited length.
    for name, max_length in _MAX_LENGTHS.items():
        value = getattr(entry, name)
        if (
            not isinstance(value, str)
            or len(value) > max_length
            or one_line(value) != value
        ):
            text = tr(
                "{key}: {field}: expected a line of at most {most} characters, got {value}."
            )
            raise PlanError(
                text.format(
                    key=entry.key, field=name, most=max_length, value=shown(value)
                )
            )

    # Label and suffix.
    if not entry.label.strip():
        raise PlanError(tr("{key}: the label is empty.").format(key=entry.key))
    if not isinstance(entry.suffix, str) or not _SUFFIX.fullmatch(entry.suffix):
        text = tr('{key}: suffix: expected an ending such as ".ini", got {value}.')
        raise PlanError(text.format(key=entry.key, value=shown(entry.suffix)))

    # Functions are named by text; the reader is optional.
    for function in (entry.writer, entry.reader) if entry.reader else (entry.writer,):
        if not isinstance(function, str) or not _MODULE_AND_NAME.fullmatch(function):
            text = tr('{key}: expected functions as "module:function", got {value}.')
            raise PlanError(text.format(key=entry.key, value=shown(function)))
