"""Datasets as files: which files there are, and what stands in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine import open_dataset
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.splitting.splits import leave_query_out
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.export.dataset_files import DatasetFiles


@pytest.fixture(scope="module")
def dataset() -> FoldedDataset:
    return make_ranking(n_queries=20, seed=4)


def test_paths_are_exactly_what_is_written(
    dataset: FoldedDataset, tmp_path: Path
) -> None:
    for key in ("letor", "lightgbm", "csv"):
        for renumber in (False, True):
            out = tmp_path / f"{key}-{renumber}"
            files = DatasetFiles(dataset, out, format_of_key(key), (2, 5), renumber)
            written = [path for part in files.save() for path in part.files]
            assert sorted(written) == sorted(files.paths)
            assert sorted(path for path in out.rglob("*") if path.is_file()) == sorted(
                files.paths
            )


def test_one_part_is_one_file_with_a_table_of_its_own(
    dataset: FoldedDataset, tmp_path: Path
) -> None:
    one = replace(dataset, folds=(Fold(1, dataset.folds[0].train),))
    files = DatasetFiles(
        one, tmp_path / "few.txt.gz", format_of_key("letor"), (2, 5), True
    )
    assert files.single and files.feature_table == tmp_path / "few.features.csv"
    (part,) = files.save()
    np.testing.assert_array_equal(part.data.X, dataset.folds[0].train.X[:, [1, 4]])
    assert part.data.feature_ids.tolist() == [1, 2]
    opened = open_dataset(tmp_path / "few.txt.gz").folds[0].train
    np.testing.assert_array_equal(opened.X, part.data.X)


def test_nothing_is_written_where_a_feature_is_not_there(
    dataset: FoldedDataset, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=naming("ids features")):
        list(
            DatasetFiles(
                dataset, tmp_path / "out", format_of_key("letor"), (99,)
            ).save()
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("renumber", [False, True])
def test_a_fold_of_leave_query_out_is_written(
    dataset: FoldedDataset, tmp_path: Path, renumber: bool
) -> None:
    """The window writes the fold that is looked at."""
    fold = leave_query_out(dataset).folds[3]
    one = replace(dataset, folds=(fold,))
    written = list(
        DatasetFiles(
            one, tmp_path / "out", format_of_key("csv"), (2, 5), renumber
        ).save()
    )
    again = open_dataset(tmp_path / "out").folds[0]
    assert len(written) == 2
    np.testing.assert_array_equal(again.train.X, fold.train.X[:, [1, 4]])
    assert again.train.query_ids == fold.train.query_ids and again.test is not None
    assert (
        again.test.feature_names == tuple(fold.train.feature_names[i] for i in (1, 4))
        or renumber
    )
