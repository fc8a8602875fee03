"""Model formats of plug-ins: static entries, whose functions are called and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError, PlanError, one_line, shown
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.guard import called

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SUFFIX = re.compile(r"\.[A-Za-z0-9][A-Za-z0-9_-]{0,15}")
_PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_LONGEST = {"label": 80, "summary": 500}
_PATIENCE = 60.0  # seconds that a writer or a reader may take


@dataclass(frozen=True)
class ModelFormatEntry:
    """A format of another program in which models can be written.

    Attributes
    ----------
    key : str
        Key on the command line.
    label : str
        Name for users.
    suffix : str
        Ending of the file, such as ".ini".
    writer : str
        ``"module:function"`` of a function that gets the model and returns the contents of the file, as text
        or bytes. The model has ``inputs`` (each with ``id``, ``name`` and ``identifier``), ``weights`` in
        their order, ``trees`` and ``about``.
    reader : str
        ``"module:function"`` of a function that gets the contents as bytes, a matrix of documents and the ids
        of its columns, and returns a score for each document. With it every exported model is verified; ""
        for none.
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


def as_model_format(entry: ModelFormatEntry, package: str) -> ModelFormat:
    """Return a format of a plug-in as one that is written and read back like RankStudio's own."""
    name = f"{entry.label} ({package})"

    def write(function: ScoreFunction) -> Files:
        try:
            content = called(lambda: imported(entry.writer)(function), _PATIENCE)
            if not isinstance(content, str | bytes) or not content:
                text = tr("expected text or bytes, got {value}")
                raise RuntimeError(text.format(value=shown(content)))
        except (RuntimeError, TimeoutError) as error:
            text = tr("{format} cannot write the model: {problem}.")
            raise OutputError(text.format(format=name, problem=str(error).rstrip("."))) from error
        return {"": content.encode() if isinstance(content, str) else content}

    def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
        if not entry.reader:
            raise OutputError(tr("{format} has no reader.").format(format=name))
        ids = tuple(one.id for one in function.inputs)
        X = np.array(documents.X)
        try:
            given = called(lambda: imported(entry.reader)(files[""], X, ids), _PATIENCE)
            scores = np.asarray(given)
            if scores.shape != (len(X),) or scores.dtype.kind not in "biuf" or not np.isfinite(scores).all():
                text = tr("expected {n} finite scores, got {value} of the shape {shape}")
                values = {"value": scores.dtype.name, "shape": scores.shape}
                raise RuntimeError(text.format(n=len(X), **values))
        except (RuntimeError, TimeoutError) as error:
            text = tr("{format} cannot read the file back: {problem}.")
            raise OutputError(text.format(format=name, problem=str(error).rstrip("."))) from error
        return scores.astype(np.float64)

    summary = entry.summary or tr("A format of the package {package}.").format(package=package)
    return ModelFormat(
        *(entry.key, entry.label, entry.suffix, summary),
        write,
        read,
        linear=entry.linear,
        trees=entry.trees,
        package=package,
    )


def refuse_invalid_model_format(entry: object) -> None:
    """Raise a PlanError for an entry that cannot be offered.

    Parameters
    ----------
    entry : object
        What a plug-in has as a model format.
    """
    if not isinstance(entry, ModelFormatEntry):
        raise PlanError(tr("expected a ModelFormat, got {value}.").format(value=shown(entry)))
    if not isinstance(entry.key, str) or not _KEY.fullmatch(entry.key):
        text = tr("key: expected lower-case letters, digits, dots and hyphens, got {key}.")
        raise PlanError(text.format(key=shown(entry.key)))
    for name, most in _LONGEST.items():
        value = getattr(entry, name)
        if not isinstance(value, str) or len(value) > most or one_line(value) != value:
            text = tr("{key}: {field}: expected a line of at most {most} characters, got {value}.")
            raise PlanError(text.format(key=entry.key, field=name, most=most, value=shown(value)))
    if not entry.label.strip():
        raise PlanError(tr("{key}: the label is empty.").format(key=entry.key))
    if not isinstance(entry.suffix, str) or not _SUFFIX.fullmatch(entry.suffix):
        text = tr('{key}: suffix: expected an ending such as ".ini", got {value}.')
        raise PlanError(text.format(key=entry.key, value=shown(entry.suffix)))
    places = [entry.writer, *([entry.reader] if entry.reader else [])]
    wrong = next((p for p in places if not isinstance(p, str) or not _PLACE.fullmatch(p)), None)
    if wrong is not None:
        text = tr('{key}: expected functions as "module:function", got {value}.')
        raise PlanError(text.format(key=entry.key, value=shown(wrong)))
