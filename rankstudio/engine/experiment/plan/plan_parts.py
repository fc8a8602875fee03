"""Parts of a plan: how data are read, the final ranker, and how models are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rankstudio.engine.experiment.plan.protocol import BEST
from rankstudio.engine.support.frozen_mapping import FrozenMapping

Missing = Literal["query_min", "zero", "refuse"]
Normalize = Literal["none", "query_minmax"]
MISSING: tuple[str, ...] = get_args(Missing)
NORMALIZE: tuple[str, ...] = get_args(Normalize)


@dataclass(frozen=True)
class DataReading:
    """How the files of the data are read.

    Attributes
    ----------
    missing : str
        Treatment of missing values: "query_min", "zero" or "refuse".
    normalize : str
        "none", or "query_minmax" to scale each feature to [0, 1] within each query.
    columns : Mapping of str to object
        Columns of tables, if their names are not recognised; see
        `rankstudio.engine.data.columns`.
    """

    missing: Missing = "query_min"
    normalize: Normalize = "none"
    columns: Mapping[str, Any] = FrozenMapping()


@dataclass(frozen=True)
class FinalRanker:
    """The ranker that is trained on the selected features.

    Attributes
    ----------
    key : str
        Key of the ranker in the catalog; "" for the method's own model.
    parameters : Mapping
        Parameters of the ranker, by name.
    """

    key: str = ""
    parameters: Mapping[str, Any] = FrozenMapping()


@dataclass(frozen=True)
class ModelChoice:
    """The way in which a plan chooses one of the models of a run.

    Attributes
    ----------
    select_by : str
        A measure, of validation or left-out queries, or ``"criterion"``.
    rule : str
        "best"; "smallest" or "one-se" for a smaller model that is about
        as good; or "at most 10" for the best with this many features.
    """

    select_by: str = "MAP"
    rule: str = BEST
