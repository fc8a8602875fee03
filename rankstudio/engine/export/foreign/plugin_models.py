"""Files of models in formats of plug-ins, whose readers compute the scores."""

from __future__ import annotations

import base64
from pathlib import Path

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.file_access import refusal, regular_file_size
from rankstudio.engine.data.formats.format_catalog import data_endings
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.export.models import Model, Weight
from rankstudio.engine.export.plugin_formats import KIND, readable_formats
from rankstudio.engine.language import tr

# endings of other files, which are no models of plug-ins
_OTHER_ENDINGS = frozenset((".json", ".toml", ".py", ".rankstudio"))
_FOREIGN_METHOD = "foreign"  # the same as for parsed models of other programs
_N_TRIAL_ROWS = 8  # number of documents on which a reader is tried
_MAX_MODEL_BYTES = 1 << 28


def is_plugin_model(path: Path) -> bool:
    """Return whether the name of a file ends as a model in a format of a plug-in does.

    An ending that is also one of a data format does not count.
    """
    ending = path.suffix.lower()
    return ending not in data_endings() and may_be_plugin_model(path) and path.is_file()


def may_be_plugin_model(path: Path) -> bool:
    """Return whether a model's file has the ending of a plug-in's format."""
    ending = path.suffix.lower()
    return ending not in _OTHER_ENDINGS and any(
        form.entry.suffix.lower() == ending for form in readable_formats()
    )


def plugin_model(path: Path, dataset: FoldedDataset) -> Model | None:
    """Return the model of a file in the format of a plug-in; None for other files.

    Parameters
    ----------
    path : Path
        File of a model.
    dataset : FoldedDataset
        Data whose features are the inputs of the model. Only the
        plug-in's reader knows which features the model uses.

    Raises
    ------
    DataError
        If the file cannot be read, or two packages have formats with
        the ending of its name.
    """
    if not may_be_plugin_model(path):
        return None

    # The ending must belong to exactly one format.
    forms = [
        form
        for form in readable_formats()
        if form.entry.suffix.lower() == path.suffix.lower()
    ]
    if len(forms) > 1:
        text = tr(
            "{path}: {first} and {second} both have models with this ending. Leave one out with --without."
        )
        packages = {"first": forms[0].package, "second": forms[1].package}
        raise DatasetError(text.format(path=shown_path(path), **packages))

    # There is a format: `may_be_plugin_model` has compared the ending.
    # The model keeps the content of the file, which the plug-in reads
    # when it scores.
    form = forms[0]
    content = _read_model_file(path)
    ids = dataset.feature_ids.tolist()
    # The definition of a model that is no weighted sum: the format with
    # its package, the ids of the columns, and the content of the file.
    beyond = {
        "kind": KIND,
        "format": form.entry.key,
        "package": form.package,
        "version": form.version,
        "columns": ids,
        "content": base64.b64encode(content).decode("ascii"),
    }

    # Which features the file uses is not known, so all have the same weight.
    weights = tuple(
        Weight(i, name, 1 / len(ids))
        for i, name in zip(ids, dataset.feature_names, strict=True)
    )
    origin = {"program": f"{form.entry.label}, {form.package} {form.version}"}
    model = Model(
        features=weights,
        method=_FOREIGN_METHOD,
        parameters={},
        origin=origin,
        beyond=beyond,
        source=str(path),
    )

    # Called for the errors of the reader only: score a few documents.
    model.predict(dataset.folds[0].train.X[:_N_TRIAL_ROWS], dataset.feature_ids)
    return model


def _read_model_file(path: Path) -> bytes:
    """Return the content of the file of a model.

    DatasetError is raised if the file is larger than a model may be, or
    cannot be read.
    """
    size = regular_file_size(path)
    if size > _MAX_MODEL_BYTES:
        text = tr("{path}: found {size} bytes, expected a model of at most {most}.")
        raise DatasetError(
            text.format(path=shown_path(path), size=size, most=_MAX_MODEL_BYTES)
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise refusal(path, error) from None
