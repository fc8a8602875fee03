"""Several judges of the same documents: label columns of a table, or files of judgments of logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine import open_dataset
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.errors import DatasetError, ParameterError, RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import (
    load_plan,
    plan_as_toml,
    with_data_beside,
)

JUDGES = ("ann", "bob", "clicks")


def frame_of(seed: int, *, queries: int = 6, gaps: float = 0.3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, queries)
    rows = {"qid": np.repeat(np.arange(1, queries + 1), sizes)}
    for judge in JUDGES:
        labels = rng.integers(0, 3, sizes.sum()).astype(float)
        rows[judge] = np.where(
            rng.random(labels.size) < gaps * (judge != "ann"), np.nan, labels
        )
    rows |= {name: rng.random(sizes.sum()).round(3) for name in ("tf", "idf")}
    return pd.DataFrame(rows)


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


def opened(path: Path, judge: str = "", **more: Any) -> Any:
    return open_dataset(path, columns={"labels": JUDGES, "label": judge, **more})


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=max(settings().max_examples // 3, 5),  # parquet takes its time
)
@given(
    seed=st.integers(0, 10_000),
    on_disk=st.booleans(),
    suffix=st.sampled_from(["csv", "parquet"]),
)
def test_each_judge_has_the_data_of_a_file_with_the_label_alone(
    seed: int, on_disk: bool, suffix: str, tmp_path: Path
) -> None:
    frame = frame_of(seed).sample(frac=1.0, random_state=seed)  # queries are scattered
    path = write(frame, tmp_path / f"all-{seed}.{suffix}")
    for judge in JUDGES:
        alone = frame.drop(columns=[name for name in JUDGES if name != judge]).dropna()
        if alone.empty:
            continue
        expected = load_data(
            write(alone, tmp_path / f"one-{seed}.csv"), columns={"label": judge}
        )
        with pytest.MonkeyPatch.context() as patch:
            if on_disk:
                patch.setattr(
                    "rankstudio.engine.data.formats.part_reader.exceeds_budget",
                    lambda *_: True,
                )
            data = opened(path, judge)
        train = data.folds[0].train
        assert train.from_disk is on_disk
        # Where a judge left the first documents of a file out, its queries come in another order.
        order = [train.query_ids.index(query) for query in expected.query_ids]
        rows = np.concatenate([np.arange(*train.query_ptr[q : q + 2]) for q in order])
        np.testing.assert_array_equal(train.X[rows], expected.X)
        np.testing.assert_array_equal(train.y[rows], expected.y)
        assert sorted(train.query_ids) == sorted(expected.query_ids)
        assert train.feature_names == ("tf", "idf")
        assert data.origin.read_as.label == judge and data.name.endswith(f"({judge})")
        assert data.greatest_grade == alone[judge].max()
        (judged,) = data.extension(PartJudgments).parts
        assert judged.names == JUDGES
        by_query = frame.set_index("qid")
        for q, query in enumerate(judged.query_ids):
            own = judged.labels[judged.query_ptr[q] : judged.query_ptr[q + 1]]
            np.testing.assert_array_equal(
                own, by_query.loc[[int(query)], list(JUDGES)].to_numpy()
            )


def test_documents_that_the_judge_left_out_are_counted_and_their_values_fill_gaps(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("qid,ann,bob,tf\n1,1,0,3\n1,0,,2\n1,2,1,\n2,0,,5\n")
    data = opened_two(path, "bob")
    train = data.folds[0].train
    assert train.query_ids == ("1",) and train.y.tolist() == [0, 1]
    assert train.X.tolist() == [[3], [2]], (
        "the least value of the query, judged by bob or not"
    )
    assert any("2 documents" in note and "bob" in note for note in data.warnings)
    assert not any(
        "without a label" in note for note in opened_two(path, "ann").warnings
    )
    other = opened_two(path, "ann")
    assert data.origin.checksum == other.origin.checksum, (
        "names and notes of features belong to both"
    )
    assert fingerprint(data).checksum != fingerprint(other).checksum, "runs do not"
    assert fingerprint(data).checksum == fingerprint(opened_two(path, "bob")).checksum


def opened_two(path: Path, judge: str) -> Any:
    return open_dataset(path, columns={"labels": ["ann", "bob"], "label": judge})


def test_parts_by_a_column_have_judges_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "qid,split,ann,bob,tf\n1,train,1,0,3\n1,train,0,,2\n2,test,2,1,1\n2,test,,2,4\n"
    )
    data = opened_two(path, "bob")
    assert [part.y.tolist() for part in data.folds[0].parts.values()] == [[0], [1, 2]]
    assert [judged.labels.shape for judged in data.extension(PartJudgments).parts] == [
        (2, 2),
        (2, 2),
    ]
    with pytest.raises(DatasetError, match=naming("label ann")):
        path.write_text("qid,split,ann,bob,tf\n1,train,1,0,3\n2,test,,1,1\n")
        opened_two(path, "ann")


def test_files_of_judgments_are_judges_of_logs(tmp_path: Path) -> None:
    hits = [
        {"_id": f"d{i}", "fields": {"_ltrlog": [{"log": [{"name": "tf", "value": i}]}]}}
        for i in range(4)
    ]
    (tmp_path / "log.json").write_text(json.dumps({"qid": "1", "hits": {"hits": hits}}))
    (tmp_path / "ann.csv").write_text("query,docid,rating\n1,d0,2\n1,d1,0\n")
    (tmp_path / "model.csv").write_text("query,docid,rating\n1,d1,3\n1,d2,1\n")
    files = [str(tmp_path / name) for name in ("ann.csv", "model.csv")]
    found = {
        judge: open_dataset(
            tmp_path / "log.json", columns={"judgments": files, "label": judge}
        )
        for judge in ("", "ann", "model")
    }
    assert found[""].name == "log (ann)"
    assert {j: d.folds[0].train.y.tolist() for j, d in found.items()} == {
        "": [2, 0],
        "ann": [2, 0],
        "model": [3, 1],
    }
    assert found["model"].folds[0].train.X.tolist() == [[1], [2]]
    judged = found["ann"].extension(PartJudgments)
    np.testing.assert_array_equal(
        judged.parts[0].labels, [[2, np.nan], [0, 3], [np.nan, 1]]
    )


def test_a_plan_names_the_judge_in_use(tmp_path: Path) -> None:
    plan = Plan("a.csv", columns={"labels": "ann, bob", "judgments": ()})
    assert plan.columns == {"label": "ann", "labels": ("ann", "bob")}
    (tmp_path / "plan.toml").write_text(plan_as_toml(plan))
    assert load_plan(tmp_path / "plan.toml") == plan
    assert Plan("a.csv", columns={"labels": ["ann"]}).columns == {"label": "ann"}
    for name in ("ann.csv", "model.csv"):
        (tmp_path / name).write_text("")
    logs = Plan(
        "log.json", columns={"judgments": ["ann.csv", "model.csv"], "label": "model"}
    )
    beside = DataColumns.of(with_data_beside(logs, tmp_path / "plan.toml").columns)
    assert beside.files == tuple(
        str(tmp_path / name) for name in ("ann.csv", "model.csv")
    )


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"labels": ["ann", "bob"], "label": "tf"}, "judges ann bob tf"),
        ({"labels": ["ann", "ann"]}, "judge ann"),
        ({"labels": ["ann", "bob"], "ignore": ["bob"]}, "bob"),
        ({"labels": ["ann", "bob"], "judgments": "b.csv"}, "label judgments"),
        ({"labels": 3}, "columns"),
        ({"judgments": ["a/x.csv", "b/x.csv"]}, "judge x"),
        ({"judgments": [3]}, "columns"),
    ],
)
def test_what_names_no_judges_is_refused_before_anything_is_read(
    columns: Any, named: str
) -> None:
    with pytest.raises(ParameterError, match=naming(named)):
        DataColumns.of(columns)


def test_judges_that_a_file_cannot_have_are_refused(tmp_path: Path) -> None:
    letor, table = tmp_path / "a.txt", tmp_path / "a.csv"
    letor.write_text("1 qid:1 1:0.5\n")
    table.write_text("qid,ann,bob,tf\n1,1,x,3\n")
    told = {"labels": ["ann", "bob"]}
    with pytest.raises(DatasetError, match=naming("a.txt one label table")):
        open_dataset(letor, columns=told)
    for columns, named in ((told, "bob x"), ({"labels": ["ann", "eve"]}, "eve")):
        with pytest.raises(RankStudioError, match=naming(named)):
            open_dataset(table, columns=columns)
