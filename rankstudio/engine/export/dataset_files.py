"""A dataset as files, one for each part.

They have all or some of its features, under their old or new ids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, default_names
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.data.file_access import without_ending
from rankstudio.engine.data.formats.dataset_writer import (
    losses,
    save_dataset,
    written_files,
)
from rankstudio.engine.data.splitting.splits import select_features
from rankstudio.engine.export.tables import save_csv
from rankstudio.engine.support.files import make_folder, write_text

FEATURE_TABLE = "features.csv"
"""Name of the table of new ids, names and original ids.

Next to a file of data, it names the features of the data.
"""


@dataclass(frozen=True, eq=False)
class WrittenPart:
    """A part of a dataset, such as the training part of a fold, that was written to a file.

    Attributes
    ----------
    path : Path
        File of the part.
    data : RankingDataset
        Data as they were written, with the kept features.
    files : tuple of Path
        All files of the part; for the first part, the feature table
        comes before them.
    losses : tuple of str
        Contents that the format cannot store.
    """

    path: Path
    data: RankingDataset
    files: tuple[Path, ...]
    losses: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class DatasetFiles:
    """The output files of a dataset: one file, or a folder with the files of all folds.

    Attributes
    ----------
    dataset : FoldedDataset
        Dataset to write.
    out : Path
        The file for a single part, otherwise the folder, with the parts
        Fold1/train.txt and so on.
    form : DataFormat
        Format of the files.
    kept : collection of int, optional
        Ids of the features to keep; None for all.
    renumber : bool
        Whether to renumber the features as 1, 2, … in order, and to
        write a table with the original ids.
    """

    dataset: FoldedDataset
    out: Path
    form: DataFormat
    kept: Collection[int] | None = None
    renumber: bool = False

    @cached_property
    def parts(self) -> Mapping[Path, RankingDataset]:
        """Parts of the dataset (training, validation, test of each fold) by output file."""
        parts = {
            self.out / f"Fold{fold.number}" / f"{name}{self.form.ending}": part
            for fold in self.dataset.folds
            for name, part in fold.parts.items()
        }
        # A single part is written to the output path itself, not into a folder.
        return parts if len(parts) > 1 else {self.out: next(iter(parts.values()))}

    @property
    def single(self) -> bool:
        """Whether there is one part."""
        return self.out in self.parts

    @property
    def feature_table(self) -> Path:
        """Path of the table with the ids and names of the features.

        Beside a single file, the name of the table contains that of the
        file, so that the table does not concern other files there.
        """
        if not self.single:
            return self.out / FEATURE_TABLE
        return self.out.with_name(
            f"{Path(without_ending(self.out.name)).stem}.{FEATURE_TABLE}"
        )

    @property
    def _reduced_set(self) -> FeatureSet | None:
        """A search engine's feature set for the data, reduced to the kept features.

        A feature set has the definitions of the features in the engine.
        The value is None if features are not renumbered, or the data
        have no feature set with all of them.
        """
        feature_set = self.dataset.extension(FeatureSet)
        # `kept` has the ids of the features to write; None for all.
        kept_ids = (
            self.dataset.feature_ids.tolist() if self.kept is None else list(self.kept)
        )
        if (
            feature_set is None
            or not self.renumber
            or not set(kept_ids) <= set(feature_set.ids)
        ):
            return None
        # The names of the kept features in the set, by their ids in the data.
        return feature_set.reduced(feature_set.ids[i] for i in kept_ids)

    def _set_path(self, feature_set: FeatureSet) -> Path:
        """Return the output path of a search engine's feature set of the data.

        The path is beside the table with the ids and names of the features.
        """
        # Vespa reads a file of its own format, the other engines read JSON.
        name = (
            f"features{feature_set.suffix}"
            if feature_set.engine == "vespa"
            else "featureset.json"
        )
        # The name of the table may have the name of the data before this part.
        return self.feature_table.with_name(
            self.feature_table.name.replace(FEATURE_TABLE, name)
        )

    @property
    def paths(self) -> tuple[Path, ...]:
        """All output files."""
        files = [file for path in self.parts for file in written_files(path, self.form)]
        feature_set = self._reduced_set
        set_files = [] if feature_set is None else [self._set_path(feature_set)]
        return (*files, *([self.feature_table, *set_files] if self.renumber else []))

    def written_data(self, part: RankingDataset) -> RankingDataset:
        """Return a part of the dataset with the kept features, under their new ids.

        Raises
        ------
        ParameterError
            If the ids to keep have one that no feature has.
        """
        reduced_part = part if self.kept is None else select_features(part, self.kept)
        return _with_ids_in_order(reduced_part) if self.renumber else reduced_part

    def save(self, *, comments: bool = True) -> Iterator[WrittenPart]:
        """Write the parts of the dataset one after the other; yield each with its files.

        A file is written completely or not at all. With `comments`, the
        comments of the documents are written, if the format has them.

        Raises
        ------
        ParameterError, OutputError, MissingExtraError
            If the format cannot store the data, a file cannot be
            written, or a library is missing.
        """
        # The table of features is written only if features get new ids.
        # It, and the feature set of a search engine, are written with
        # the first part only.
        feature_files: tuple[Path, ...] = (self.feature_table,) if self.renumber else ()
        for path, part in self.parts.items():
            # The part with the kept features only.
            data = self.written_data(part)
            make_folder(path.parent)
            if feature_files:  # all parts have the same features
                self._save_table(feature_files[0], part)
                feature_files = (*feature_files, *self._save_set())
            files = save_dataset(data, path, self.form, comments=comments)
            yield WrittenPart(
                path=path,
                data=data,
                files=(*feature_files, *files),
                losses=losses(data, self.form),
            )
            feature_files = ()

    def _save_set(self) -> tuple[Path, ...]:
        """Write the feature set of the kept features, if there is one."""
        feature_set = self._reduced_set
        if feature_set is None:
            return ()
        write_text(self._set_path(feature_set), feature_set.text())
        return (self._set_path(feature_set),)

    def _save_table(self, path: Path, dataset: RankingDataset) -> None:
        """Write the table of features: new id, name, original id."""
        selected = dataset if self.kept is None else select_features(dataset, self.kept)
        ids = selected.feature_ids.tolist()
        rows = zip(range(1, len(ids) + 1), selected.feature_names, ids, strict=True)
        save_csv(path, ["id", "name", "original_id"], list(rows))


def _with_ids_in_order(dataset: RankingDataset) -> RankingDataset:
    """Return a dataset with the ids 1, 2, … for its features, in their order.

    Names of features stay; but if all names are made of the ids, they
    are made of the new ids.
    """
    ids = np.arange(1, dataset.n_features + 1, dtype=dataset.feature_ids.dtype)
    has_default_names = dataset.feature_names == default_names(dataset.feature_ids)
    names = default_names(ids) if has_default_names else dataset.feature_names
    return dataset.changed(feature_ids=ids, feature_names=names)
