"""The same data in every format, and from a frame, give the same results of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import written_formats
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.runner import run

pytest.importorskip("pyarrow")
pytest.importorskip("polars")

OPTIONS = {
    "parameters": {"regularization": (1.0, 4.0), "n_features_to_select": 4},
    "convention": "letor4",  # text of LETOR is recognised, other formats are not
    "seed": 1,
}


def parts() -> dict[str, RankingDataset]:
    """Return the parts of a fold of the sample, whose queries have the ids that a file of sizes gives."""
    found = {}
    for name, part in load_sample().folds[0].parts.items():
        ids = tuple(str(i + 1) for i in range(part.n_queries))
        names = tuple(f"feature {i}" for i in part.feature_ids.tolist())
        found[name] = replace(part, query_ids=ids, feature_names=names, sparse=False)
    return found


def results(plan: Plan, data: FoldedDataset | None = None) -> str:
    """Return what results.json would have, without where the data are."""
    (finished,) = (event for event in run(plan, data) if isinstance(event, RunFinished))
    values: dict[str, Any] = results_as_dict(finished.result)
    return json.dumps(without_place(values), sort_keys=True)


def without_place(value: Any) -> Any:
    if isinstance(value, dict):
        left_out = {
            "data",
            "dataset",
            "path",
            "checksum",
            "seconds",
            "columns",
            "files",
        }
        return {
            name: without_place(v) for name, v in value.items() if name not in left_out
        }
    return [without_place(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("letor")
    for name, part in parts().items():
        save_dataset(part, folder / f"{name}.txt", written_formats()[0])
    found = results(Plan(str(folder), **OPTIONS))
    assert '"selected"' in found
    return found


@pytest.mark.parametrize("form", written_formats(), ids=lambda form: form.key)
def test_results_are_those_of_letor_text(
    tmp_path: Path, expected: str, form: DataFormat
) -> None:
    for name, part in parts().items():
        save_dataset(part, tmp_path / f"{name}{form.ending}", form)
    assert results(Plan(str(tmp_path), **OPTIONS)) == expected


def test_lightgbm_example_has_its_names_and_its_layout(
    tmp_path: Path, expected: str
) -> None:
    """As LightGBM's examples/lambdarank: rank.train beside rank.train.query; and tables without a header."""
    for name, part in parts().items():
        form = next(form for form in written_formats() if form.key == "lightgbm")
        ending = "valid" if name == "vali" else name
        save_dataset(part, tmp_path / f"rank.{ending}", form)
        rows = zip(part.y.tolist(), part.X.tolist(), strict=True)
        table = tmp_path / "table" / f"rank.{ending}"
        table.parent.mkdir(exist_ok=True)
        table.write_text("".join("\t".join(map(repr, [y, *x])) + "\n" for y, x in rows))
        (tmp_path / f"rank.{ending}.query").rename(
            table.with_name(f"{table.name}.query")
        )
        (tmp_path / f"rank.{ending}.query").write_bytes(
            table.with_name(f"{table.name}.query").read_bytes()
        )
    (tmp_path / "train.conf").write_text("task = train\n")
    assert results(Plan(str(tmp_path), **OPTIONS)) == expected
    assert results(Plan(str(tmp_path / "table"), **OPTIONS)) == expected


def test_frames_give_the_same_results(expected: str) -> None:
    polars = pytest.importorskip("polars")
    for kind in (pd.DataFrame, polars.DataFrame):
        made = {}
        for name, part in parts().items():
            frame = part.to_frame()
            made[name] = RankingDataset.from_frame(
                kind({c: frame[c].to_numpy() for c in frame.columns})
            )
        data = FoldedDataset("Data", None, (Fold(1, **made),))
        assert results(Plan("nowhere", **OPTIONS), data) == expected


def test_a_plan_keeps_what_the_columns_are(tmp_path: Path, expected: str) -> None:
    for name, part in parts().items():
        frame = part.to_frame().rename(columns={"qid": "session", "label": "clicked"})
        frame.insert(1, "url", "http://…")
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    columns = {"qid": "session", "label": "clicked", "ignore": ["url"]}
    plan = Plan(str(tmp_path), columns=columns, **OPTIONS)
    save_plan(plan, tmp_path / "plan.toml")
    again = load_plan(tmp_path / "plan.toml")
    assert again == plan and hash(again.columns) == hash(plan.columns)
    assert results(again) == expected
