"""Models of other programs, read by plug-ins when a file is opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DataError, DatasetError
from rankstudio.engine.export.foreign.parsed_model import ParsedModel
from rankstudio.engine.export.models import Model, load_model
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.loader import plugins_with
from rankstudio.engine.plugins.model_reader import ABILITY

FOREIGN = "foreign"
"""Takes the place of a method's key in models that other programs learned."""

ENDINGS = (".json", ".txt", ".xml", ".model", ".onnx")
"""Suffixes of files of models."""


def is_foreign_text(path: Path) -> bool:
    """Return whether a file that is not JSON begins like a model of another program."""
    return any(imported(reader.recognise)(path) for reader in _readers())


def parsed_file(path: Path) -> ParsedModel | None:
    """Return the model of another program in a file.

    The result is None if the file has no such model, or no plug-in
    reads its format.

    Raises
    ------
    DatasetError, MissingExtraError
        As in :func:`foreign_model`.
    """
    models = (imported(reader.parse)(path) for reader in _readers())
    return next((model for model in models if model is not None), None)


def model_in_data(parsed: ParsedModel, dataset: FoldedDataset, path: Path) -> Model:
    """Return a parsed model of another program as a model of the features of some data.

    `path` is the path of the model's file, for messages. Features are
    matched by name, or by number if the model has no names. DataError
    is raised if the data lack a feature of the model.
    """
    reader = next(_readers())
    model: Model = imported(reader.place)(parsed, dataset, path)
    return model


def foreign_model(path: Path, dataset: FoldedDataset) -> Model | None:
    """Return the model of another program in a file as a model of the data's features.

    The result is None if the file has no model that a plug-in reads.

    Parameters
    ----------
    path : Path
        File of the model.
    dataset : FoldedDataset
        Data whose features are matched with those of the model: by
        name, or by number if the model has no names.

    Raises
    ------
    DataError
        If the file cannot be read, or the model needs a feature that
        the data do not have.
    MissingExtraError
        If onnx is needed but not installed.
    """
    parsed_model = parsed_file(path)
    return None if parsed_model is None else model_in_data(parsed_model, dataset, path)


def own_model(path: Path) -> Model:
    """Return the model in a file that RankStudio wrote.

    Raises
    ------
    DataError
        If the file has no such model. If the plug-in that reads models
        of other programs is absent, the message names it.
    """
    try:
        return load_model(path)
    except DataError as error:
        # `_readers` yields the readers of the plug-in, if it is there.
        # They were tried before, so the file is no model of another
        # program either.
        if any(_readers()):
            raise
        text = tr(
            "{error} Models of other programs need the plug-in {plugin}, which is absent or left out."
        )
        raise DatasetError(text.format(error=error, plugin=ABILITY)) from error


def _readers() -> Iterator[Any]:
    """Yield the readers of built-in plug-ins."""
    for loaded_plugin in plugins_with("model_readers").loaded:
        if loaded_plugin.built_in:
            yield from loaded_plugin.plugin.model_readers
