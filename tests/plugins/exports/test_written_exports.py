"""Every format read by a reader that shares nothing with ours: all queries are ranked alike."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import xml.dom.minidom
from contextlib import closing
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import onnx
import onnxruntime
import pytest
from written_models import names, ranklib_scores, written

from rankstudio.engine.export.score_function import score_function


def test_ranklib(given) -> None:
    text = written(given, "ranklib")[""].decode()
    assert given.same(ranklib_scores(text, given.rows)) == given.all


@pytest.mark.parametrize(
    ("key", "version"), [("svmlight", "V6.02"), ("svmrank", "V6.20")]
)
def test_svm_light(weighted, key: str, version: str) -> None:
    lines = written(weighted, key)[""].decode().split("\n")
    assert lines[0] == f"SVM-light Version {version}"
    for at, what in ((1, "0 # kernel type"), (6, "empty# ")):
        assert lines[at].startswith(what)
    head = {
        line.partition(" # ")[2].strip(): line.partition(" # ")[0]
        for line in lines[1:11]
    }
    ids = [f.id for f in weighted.model.features]
    assert int(head["highest feature index"]) == max(ids)
    assert (
        float(head["threshold b, each following line is a SV (starting with alpha*y)"])
        == 0.0
    )
    vectors = lines[11:-1]
    assert int(head["number of support vectors plus 1"]) == len(vectors) + 1
    weights = {}
    # the factor is a double, and values are floats: 1 is the same in both
    for vector in vectors:
        found = re.fullmatch(r"(\S+) (\d+):1 #.*", vector)
        weights[int(found[2])] = float(found[1])
    assert list(weights) == sorted(ids)
    scores = [
        sum(weight * row[n] for n, weight in weights.items()) for row in weighted.rows
    ]
    assert weighted.same(scores) == weighted.all


def test_lightgbm(grown) -> None:
    booster = lightgbm.Booster(model_str=written(grown, "lightgbm")[""].decode())
    known = names(grown)
    assert [n for n in booster.feature_name() if not n.startswith("unused")] == list(
        known
    )
    X = np.array([[row[i] for i in known.values()] for row in grown.rows])
    X = np.column_stack([X, np.zeros((len(X), booster.num_feature() - X.shape[1]))])
    assert grown.same(booster.predict(X, raw_score=True).tolist()) == grown.all


def test_onnx(given) -> None:
    content = written(given, "onnx")[""]
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    properties = {entry.key: entry.value.split("\n") for entry in model.metadata_props}
    ids = [int(i) for i in properties["feature_ids"]]
    by_id = {f.id: f.name for f in given.model.features}
    assert properties["feature_names"] == [by_id[i] for i in ids]
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    X = np.array([[row[i] for i in ids] for row in given.rows])
    (scores,) = session.run(["score"], {"X": X})
    assert scores.dtype == np.float64 and scores.shape == (len(X), 1)
    assert given.same(scores[:, 0].tolist()) == given.all


def test_pmml(given) -> None:
    document = xml.dom.minidom.parseString(written(given, "pmml")[""])
    root = document.documentElement
    assert (root.tagName, root.getAttribute("version")) == ("PMML", "4.4")
    fields = {f.getAttribute("name"): f for f in root.getElementsByTagName("DataField")}
    known = names(given)
    assert list(fields) == list(known)
    by_id = {f.id: f.name for f in given.model.features}
    assert [f.getAttribute("displayName") for f in fields.values()] == [
        by_id[i] for i in known.values()
    ]
    rows = [{name: row[i] for name, i in known.items()} for row in given.rows]
    if given.linear:
        (table,) = root.getElementsByTagName("RegressionTable")
        assert table.getAttribute("intercept") == "0"
        terms = [
            (p.getAttribute("name"), float(p.getAttribute("coefficient")))
            for p in table.getElementsByTagName("NumericPredictor")
        ]
        scores = [sum(weight * row[name] for name, weight in terms) for row in rows]
    else:
        (segments,) = root.getElementsByTagName("Segmentation")
        assert segments.getAttribute("multipleModelMethod") == "sum"
        tops = [
            children(tree, "Node")[0] for tree in root.getElementsByTagName("TreeModel")
        ]
        scores = [sum(pmml_score(top, row) for top in tops) for row in rows]
    assert given.same(scores) == given.all


def children(element: Any, *tags: str) -> list[Any]:
    return [c for c in element.childNodes if getattr(c, "tagName", None) in tags]


def pmml_score(node: Any, row: dict[str, float]) -> float:
    """Go down to the first child whose predicate holds, as the standard says."""
    operators = {"lessOrEqual": lambda a, b: a <= b, "greaterThan": lambda a, b: a > b}
    while inner := children(node, "Node"):
        for child in inner:
            (asked,) = children(child, "SimplePredicate", "True")
            value = float(asked.getAttribute("value"))
            if operators[asked.getAttribute("operator")](
                row[asked.getAttribute("field")], value
            ):
                node = child
                break
    return float(node.getAttribute("score"))


def test_python(given) -> None:
    module: dict[str, Any] = {}
    exec(written(given, "python")[""].decode(), module)
    text = written(given, "python")[""].decode()
    assert "import" not in text and "  " not in text.partition("\n")[0]
    by_id = {f.id: f.name for f in given.model.features}
    assert module["FEATURES"] == {i: by_id[i] for i in names(given).values()}
    assert given.same([module["score"](row) for row in given.rows]) == given.all


@pytest.mark.parametrize("compiler", ["gcc", "tcc", "clang"])
def test_c(given, compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    source = written(given, "c")[""].decode()
    function = score_function(given.model)
    ids = [
        int(i)
        for i in re.findall(r"^ +x\[\d+\]  feature (\d+), ", source, re.MULTILINE)
    ]
    assert ids == [i.id for i in function.inputs]
    main = (
        f"#include <stdio.h>\ndouble {function.name}(const double *x);\n"
        f"int main(void) {{ double x[{len(ids)}]; int i; for (;;) {{ "
        f'for (i = 0; i < {len(ids)}; i++) if (scanf("%lf", x + i) != 1) return 0; '
        f'printf("%.17g\\n", {function.name}(x)); }} }}\n'
    )
    (tmp_path / "model.c").write_text(source)
    (tmp_path / "main.c").write_text(main)
    flags = (
        []
        if compiler == "tcc"
        else ["-std=c89", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"]
    )
    command = [compiler, *flags, "-o", "model", "model.c", "main.c"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = "".join(" ".join(repr(row[i]) for i in ids) + "\n" for row in given.rows)
    run = subprocess.run(
        [str(tmp_path / "model")],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert given.same([float(line) for line in run.stdout.splitlines()]) == given.all


def test_sql(given) -> None:
    expression = written(given, "sql")[""].decode()
    known = names(given)
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(
            f"CREATE TABLE t (n INTEGER PRIMARY KEY, {', '.join(f'{n} DOUBLE' for n in known)})"
        )
        rows = [
            (n, *(row[i] for i in known.values())) for n, row in enumerate(given.rows)
        ]
        base.executemany(
            f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", rows
        )
        scores = [
            s for (s,) in base.execute(f"SELECT {expression.strip()} FROM t ORDER BY n")
        ]
    assert given.same(scores) == given.all
