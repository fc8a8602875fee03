"""Contents of a study besides the results of its runs.

They are the list of runs with their data, the seals of test parts, and
the texts for the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset, Source
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.data.fingerprint import change, fingerprint
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.support.extensions import Extensions

_TIMES_TEXTS = {1: "once", 2: "twice"}


@dataclass(frozen=True)
class RunKey:
    """The key of a run in a study, with the run's plan.

    Attributes
    ----------
    id : int
        Number of the run in the study, from 1.
    plan : Plan
        Plan of the run.
    feature_ids : tuple of int
        1-based ids of the dataset's columns.
    """

    id: int
    plan: Plan
    feature_ids: tuple[int, ...]


LONGEST_NAME = 200
LONGEST_NOTE = 100_000
MOST_TAGS = 100
"""Limits of a label, in characters and tags.

Figures and tables would take gigabytes for a name of 100,000 characters.
"""


@dataclass(frozen=True)
class RunLabel:
    """The user's annotations of a run, without effect on its numbers.

    Attributes
    ----------
    name : str
        Name of the run; "" for the method.
    note : str
        Notes of the user.
    tags : tuple of str
        Keywords of the user.
    hidden : bool
        Whether the run is hidden in lists.
    """

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    hidden: bool = False

    def shortened(self) -> RunLabel:
        """Return the label with its texts and the number of its tags cut to the limits."""
        tags = tuple(tag[:LONGEST_NAME] for tag in self.tags[:MOST_TAGS])
        return replace(
            self,
            name=self.name[:LONGEST_NAME],
            note=self.note[:LONGEST_NOTE],
            tags=tags,
        )


@dataclass(frozen=True)
class RunSummary:
    """A run as shown in a list of runs.

    Attributes
    ----------
    key : RunKey
        Key of the run in the study.
    data_name : str
        Name of the data.
    created, finished : str
        Times in UTC in ISO 8601; ``finished`` is "" for an unfinished run.
    seconds : float
        Duration of its finished units, or of the finished run.
    n_finished, n_units : int
        Number of finished units, and of all units: combinations of
        parameters' values on folds.
    versions : Mapping of str to str
        Versions that compute the run; other versions do not resume it.
    damage : str
        Description of damage, as a sentence; "" if there is none.
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
    """The data of a run as recorded in its study.

    Attributes
    ----------
    name : str
        Name of the data.
    place : str
        The opened file or folder; "" for data made in memory.
    checksum : str
        Checksum of all parts of all folds, as in a `Fingerprint`.
    files : tuple of Source
        Source files.
    folds : tuple of int
        Numbers of the folds.
    feature_ids, feature_names
        Ids and names of the columns.
    feature_set : FeatureSet or None
        Feature set of a search engine, matched with the columns.
    first_file : str or None
        Checksum of the first file, which is the same for every
        protocol; "" for data made in memory, None if the study was
        written before it was recorded.
    """

    name: str
    place: str
    checksum: str
    files: tuple[Source, ...]
    folds: tuple[int, ...]
    feature_ids: tuple[int, ...]
    feature_names: tuple[str, ...]
    feature_set: FeatureSet | None = None
    first_file: str | None = None

    def path_to_open(self, plan: Plan) -> str:
        """Return the path by which to open the data again, or else their name in the plan."""
        return plan.data if plan.data == SAMPLE or not self.place else self.place

    def difference(self, dataset: FoldedDataset) -> str:
        """Return how a dataset differs from the one that the study records, as a sentence.

        The result is "" if the dataset does not differ.
        """
        data_fingerprint = fingerprint(dataset)
        if data_fingerprint.checksum == self.checksum:
            return ""
        change_text = change(self.files, data_fingerprint.files)
        return f"{change_text or f'{self.place or self.name}: these are other data than those of the run'}."

    def without_documents(
        self, *, validated: bool = True, tested: bool = True
    ) -> AbsentData:
        """Return a dataset without documents, with the recorded folds and features.

        It takes the place of data that are missing.

        Parameters
        ----------
        validated, tested : bool
            Whether the folds had a validation and a test part.
        """
        path = Path(self.place) if self.place else None
        part = _empty_part(self.feature_ids, self.feature_names)
        vali, test = (part if had_part else None for had_part in (validated, tested))
        folds = tuple(
            Fold(number=number, train=part, vali=vali, test=test)
            for number in self.folds
        )
        return AbsentData(
            self.name,
            path,
            folds,
            extensions=Extensions([self.feature_set]),
            recorded=self,
        )


@dataclass(frozen=True)
class AbsentData(FoldedDataset):
    """A dataset without documents, in place of the missing data of a stored run.

    It is made by :meth:`RecordedData.without_documents`.

    Attributes
    ----------
    recorded : RecordedData or None
        Description of the data in the study.
    """

    recorded: RecordedData | None = None


def _empty_part(ids: tuple[int, ...], names: tuple[str, ...]) -> RankingDataset:
    """Return a part of a dataset that has features, but no documents."""
    return RankingDataset(
        X=np.empty((0, len(ids))),
        y=np.empty(0),
        query_ptr=np.zeros(1, dtype=np.int64),
        query_ids=(),
        feature_ids=np.array(ids, dtype=np.int64),
        feature_names=names,
        comments=(),
    )


@dataclass(frozen=True)
class SealMark:
    """A user's action that sealed (hid) or unsealed the test parts of datasets.

    Attributes
    ----------
    sealed : bool
        True if the test parts were sealed, False if they were unsealed.
    happened : str
        Time in UTC: "2026-11-22T02:30:00+00:00".
    datasets : tuple of str or None
        Keys of the datasets that the mark seals or unseals, as in
        :func:`dataset_keys`; None for all datasets, also those of
        later runs.
    """

    sealed: bool
    happened: str
    datasets: tuple[str, ...] | None = None

    @classmethod
    def now(cls, *, sealed: bool, data: SealedData | None = None) -> SealMark:
        """Return a mark with the current time, on a dataset or on all of them."""
        datasets = None if data is None else dataset_keys(data)[:1]
        return cls(sealed, datetime.now(UTC).isoformat(timespec="seconds"), datasets)


SealedData = FoldedDataset | RecordedData
"""Data with a seal: an open dataset, or the record of one."""


def dataset_keys(data: SealedData) -> tuple[str, ...]:
    """Return the keys by which marks of seals name a dataset; new marks have the first key.

    A key consists of the dataset's name and the checksum of its first
    file, which are the same for every protocol and location. If a study
    does not record that checksum, there is a key for each file, or one
    with the location.
    """
    if isinstance(data, AbsentData) and data.recorded is not None:
        return dataset_keys(data.recorded)
    if isinstance(data, RecordedData):
        location = data.place
        # None: an earlier version did not record it. "": the data were
        # made in memory, and have no file.
        if data.first_file is not None:
            contents = [data.first_file or data.checksum]
        else:
            # Any of the files may be the first one.
            contents = [source.checksum for source in data.files] or [
                location or data.checksum
            ]
    else:
        location = str(data.path.absolute()) if data.path is not None else ""
        contents = [
            # The location is the key that an earlier version used without a checksum.
            data.origin.checksum or fingerprint(data).checksum,
            *filter(None, [location]),
        ]
    return tuple(f"{content} {data.name}" for content in contents)


def marks_of(
    marks: Sequence[SealMark], data: SealedData | None
) -> tuple[SealMark, ...]:
    """Return the marks of seals that concern a dataset, in order.

    A mark says that the test parts of some datasets, or of all, were
    sealed (hidden) or unsealed. Without data, return the marks that
    concern all datasets.
    """
    keys = dataset_keys(data) if data is not None else ()
    return tuple(
        mark
        for mark in marks
        if mark.datasets is None or not {*mark.datasets}.isdisjoint(keys)
    )


def is_sealed(marks: Sequence[SealMark], data: SealedData | None) -> bool:
    """Return whether the test part of a dataset is sealed (hidden) after some clicks.

    Without any mark for the dataset, the test part is not sealed.

    Parameters
    ----------
    marks : sequence of SealMark
        Marks of a study, in order.
    data : FoldedDataset, RecordedData or None
        The dataset; None for one that is not opened yet.
    """
    data_marks = marks_of(marks, data)
    return bool(data_marks) and data_marks[-1].sealed


def n_looks(marks: Sequence[SealMark], data: SealedData | None) -> int:
    """Return how often the test part of a dataset was unsealed."""
    return sum(not mark.sealed for mark in marks_of(marks, data))


def seal_text(marks: Sequence[SealMark], data: SealedData) -> str:
    """Return how often a test part was shown, for a report: "test part shown twice".

    A sealed test part is hidden: "test part sealed, shown once before".
    `marks` are the study's records of seals, and `data` is the dataset
    with the test part. The result is "" if the dataset was never
    sealed.
    """
    # How often the test part was shown.
    looks = n_looks(marks, data)
    looks_text = f"shown {_TIMES_TEXTS.get(looks, f'{looks} times')}" if looks else ""
    if is_sealed(marks, data):
        return (
            f"test part sealed, {looks_text} before"
            if looks_text
            else "test part sealed"
        )
    return f"test part {looks_text}" if looks_text else ""


@dataclass(frozen=True)
class ReportSettings:
    """Contents of a report besides the results of runs.

    Attributes
    ----------
    question, notes : str
        Texts of the user.
    sections : tuple of (str, bool)
        Keys of sections in order, each with whether it is included;
        empty for all in the usual order.
    """

    question: str = ""
    notes: str = ""
    sections: tuple[tuple[str, bool], ...] = ()
