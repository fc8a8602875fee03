"""Description of a plug-in's reader of models of other programs."""

from __future__ import annotations

from dataclasses import dataclass

ABILITY = "foreign-models"


@dataclass(frozen=True)
class ModelReader:
    """A plug-in's reader of models of other programs.

    Attributes
    ----------
    key : str
        Key of the reader.
    recognise : str
        ``"module:function"`` that returns whether a file that is not
        JSON begins like such a model.
    parse : str
        ``"module:function"`` that returns the `ParsedModel` of a file,
        or None if the file has no model.
    place : str
        ``"module:function"`` that returns the model in the features of
        some data.
    """

    key: str
    recognise: str
    parse: str
    place: str
