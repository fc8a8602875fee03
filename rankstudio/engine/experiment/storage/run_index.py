"""What a study tells of its runs without opening their data: which there are, and on which data they ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset, Source
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.storage.data_fingerprint import change, fingerprint


@dataclass(frozen=True)
class RunKey:
    """A run of a study.

    Attributes
    ----------
    id : int
        Its number in the study, from 1.
    plan : Plan
    feature_ids : tuple of int
        Of the dataset's columns, 1-based.
    """

    id: int
    plan: Plan
    feature_ids: tuple[int, ...]


@dataclass(frozen=True)
class RunLabel:
    """What a person says of a run; it changes nothing of its numbers.

    Attributes
    ----------
    name : str
        What it is called; "" for what it runs.
    note : str
    tags : tuple of str
    hidden : bool
        Whether a list leaves it out.
    """

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    hidden: bool = False


@dataclass(frozen=True)
class RunSummary:
    """A run as a list of runs shows it.

    Attributes
    ----------
    key : RunKey
    data_name : str
    created, finished : str
        When, in UTC after ISO 8601; ``finished`` is "" for a run that is not.
    seconds : float
        How long its finished units took, or the whole of a finished run.
    n_finished, n_units : int
        How many units are done, and how many there are.
    versions : Mapping of str to str
        By which it is computed; others do not go on with it.
    damage : str
        What of it is damaged, as a sentence; "" where nothing is.
    """

    key: RunKey
    data_name: str
    created: str
    finished: str
    seconds: float
    n_finished: int
    n_units: int
    versions: Mapping[str, str]
    damage: str = ""


@dataclass(frozen=True)
class RecordedData:
    """The data of a run as its study recorded them.

    Attributes
    ----------
    name : str
    place : str
        The file or folder that was opened; "" for data made in memory.
    checksum : str
        Of all parts of all folds, as `rankstudio.engine.experiment.storage.data_fingerprint` has it.
    files : tuple of Source
        Those that were read.
    folds : tuple of int
        Numbers of the folds.
    feature_ids, feature_names
        Of the columns.
    """

    name: str
    place: str
    checksum: str
    files: tuple[Source, ...]
    folds: tuple[int, ...]
    feature_ids: tuple[int, ...]
    feature_names: tuple[str, ...]

    def opened_by(self, plan: Plan) -> str:
        """Return what opens them again: the place, or what a plan calls them where that is no place."""
        return plan.data if plan.data == SAMPLE or not self.place else self.place

    def difference(self, dataset: FoldedDataset) -> str:
        """Return, as a sentence, why a dataset is not the one that was recorded; "" where it is."""
        found = fingerprint(dataset)
        if found.checksum == self.checksum:
            return ""
        changed = change(self.files, found.files)
        return f"{changed or f'{self.place or self.name}: these are other data than those of the run'}."

    def without_documents(self, *, validated: bool = True, tested: bool = True) -> FoldedDataset:
        """Return what stands for the data where they are not at hand: folds and features, no documents.

        Parameters
        ----------
        validated, tested : bool
            Whether the folds had a validation and a test part.
        """
        path = Path(self.place) if self.place else None
        part = _empty(self.feature_ids, self.feature_names)
        vali, test = (part if there else None for there in (validated, tested))
        return FoldedDataset(self.name, path, tuple(Fold(number, part, vali, test) for number in self.folds))


def _empty(ids: tuple[int, ...], names: tuple[str, ...]) -> RankingDataset:
    start = np.zeros(1, dtype=np.int64)
    return RankingDataset(
        np.empty((0, len(ids))), np.empty(0), start, (), np.array(ids, dtype=np.int64), names, ()
    )
