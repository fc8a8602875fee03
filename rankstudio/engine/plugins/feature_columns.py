"""Descriptions of the columns that plug-ins add to the table of features on the page *Data*; without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of


@dataclass(frozen=True)
class FeatureColumn:
    """A column of the table of features: a number for each feature of a fold.

    Attributes
    ----------
    key : str
        Key, unique among columns.
    label, help : str
        Title, and meaning of the numbers, as a sentence without a full stop.
    task : str
        Name of the computation while it runs, such as "Comparing the parts".
    compute : str
        ``"module:function"``: called with a
        :class:`~rankstudio.engine.data.dataset.Fold` and the
        convention of the measures, it is a
        :data:`~rankstudio.engine.support.work.Waiting` for a dict
        of :class:`FeatureValue` by the ids of features.
    form : str
        Format specification of the numbers, as for :func:`format`.
    width : int
        Width in pixels.
    parts : tuple of str
        Parts, such as "vali", that a fold must have for the computation.
    most_documents : int
        Maximum number of documents of the training part and these parts
        together; with more documents, nothing is computed.
    """

    key: str
    label: str
    help: str
    task: str
    compute: str
    form: str = ".3f"
    width: int = 60
    parts: tuple[str, ...] = ()
    most_documents: int = 200_000


@dataclass(frozen=True)
class FeatureValue:
    """Cell of a plug-in's column in the table of features, for one feature.

    Attributes
    ----------
    number : float
        Number that is shown.
    text : str
        Explanation of the number, in sentences.
    """

    number: float
    text: str = ""


def feature_columns() -> list[FeatureColumn]:
    """Return the columns that abilities add to tables of features.

    Abilities are RankStudio's own removable plug-ins. Columns of other
    packages are left out with a warning.
    """
    # Texts of the warnings.
    exists = tr(
        "A column of features with the key {key} exists already. Choose another key."
    )
    unusable = tr("A column of the plug-in {name} cannot be used: {reason}")
    return [
        entry
        for _, entry in entries_of("feature_columns", _refuse_invalid, exists, unusable)
    ]


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError: a column sees the test part, which may be sealed."""
    text = tr(
        "columns of features are reserved for RankStudio, because they see the test part. Use a WindowPanel "
        "instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
