"""Model formats of plug-ins, in the form of RankStudio's own formats."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DataError, OutputError, shown
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.plugin_formats import (
    PATIENCE,
    ModelFormatEntry,
    PluginModelFormat,
)
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.guard import called


def as_model_format(entry: ModelFormatEntry, package: str, version: str) -> ModelFormat:
    """Return a plug-in's format of models in the form of RankStudio's own formats.

    `entry` is the plug-in's description of the format. `package` and
    `version` are those of the package that has the plug-in.
    """
    name = f"{entry.label} ({package})"

    def write(function: ScoreFunction) -> Files:
        """Return the contents that the plug-in writes for a model, of a single file.

        The key of the file is "". `entry` and `name`, the plug-in's
        format and its name, are variables of the enclosing function.
        OutputError is raised if the plug-in fails.
        """
        try:
            # Code of other packages may hang: it has a time limit.
            content = called(lambda: imported(entry.writer)(function), PATIENCE)
            if not isinstance(content, str | bytes) or not content:
                text = tr("expected text or bytes, got {value}")
                raise RuntimeError(text.format(value=shown(content)))
        except (RuntimeError, TimeoutError) as error:
            text = tr("{format} cannot write the model: {problem}.")
            raise OutputError(
                text.format(format=name, problem=str(error).rstrip("."))
            ) from error
        # "" is the ending of the main file, which is the only one.
        return {"": content.encode() if isinstance(content, str) else content}

    def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
        """Return the scores that the plug-in's reader computes for documents from a file.

        The key "" of `files` is the file itself. The result has shape
        (m,), one score per document.

        `entry`, `package`, `version` and `name`, which describe the
        plug-in's format, are variables of the enclosing function.
        """
        if not entry.reader:
            raise OutputError(tr("{format} has no reader.").format(format=name))
        ids = tuple(model_input.id for model_input in function.inputs)
        try:
            return PluginModelFormat(entry, package, version).score(
                files[""], documents.X, ids
            )
        except DataError as error:
            text = tr("{format} cannot read the file back: {problem}.")
            raise OutputError(
                text.format(format=name, problem=str(error).rstrip("."))
            ) from error

    summary = entry.summary or tr("A format of the package {package}.").format(
        package=package
    )
    return ModelFormat(
        key=entry.key,
        label=entry.label,
        suffix=entry.suffix,
        summary=summary,
        write=write,
        read=read,
        linear=entry.linear,
        trees=entry.trees,
        package=package,
    )
