"""Models in ONNX: what an operator, a type or a place of data means, and what is refused for its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wording import naming

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from rankstudio.engine.errors import DatasetError  # noqa: E402
from rankstudio.engine.export.foreign.model_readers import parsed_file  # noqa: E402
from rankstudio.engine.export.foreign.parsed_model import ParsedModel, greatest_up_to  # noqa: E402

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
WEIGHTS = np.array([[0.5], [0.25]])


def saved(
    path: Path,
    nodes: list[Any],
    constants: Any = (),
    made: str = "score",
    given: Any = DOUBLE,
    **more: Any,
) -> Path:
    X = helper.make_tensor_value_info("X", given, [None, 2])
    score = helper.make_tensor_value_info(made, FLOAT, None)
    graph = helper.make_graph(nodes, "g", [X], [score], list(constants))
    imports = {"": 17, "ai.onnx.ml": 5, "my.own": 1} | more.pop("versions", {})
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(*i) for i in imports.items()],
        ir_version=8,
        **more,
    )
    path.write_bytes(model.SerializeToString())
    return path


def read(path: Path) -> ParsedModel:
    parsed = parsed_file(path)
    assert parsed is not None
    return parsed


def ensemble(**changes: Any) -> Any:
    """Return three trees of one split each, in doubles."""
    values: dict[str, Any] = {
        "tree_roots": [0, 1, 2],
        "nodes_featureids": [0, 1, 0],
        "nodes_splits": numpy_helper.from_array(np.array([0.1, 0.2, 0.3])),
        "nodes_modes": numpy_helper.from_array(np.zeros(3, dtype=np.uint8)),
        "nodes_truenodeids": [0, 2, 4],
        "nodes_trueleafs": [1, 1, 1],
        "nodes_falsenodeids": [1, 3, 5],
        "nodes_falseleafs": [1, 1, 1],
        "leaf_targetids": [0] * 6,
        "leaf_weights": numpy_helper.from_array(np.array([4.0, 1, 2, 1, 3, 5])),
        **changes,
    }
    return helper.make_node(
        "TreeEnsemble", ["X"], ["score"], domain="ai.onnx.ml", **values
    )


@pytest.mark.parametrize(("number", "first"), [(0, 4 / 3), (1, 4.0)])
def test_trees_are_added_up_or_averaged(
    number: int, first: float, tmp_path: Path
) -> None:
    parsed = read(saved(tmp_path / "m.onnx", [ensemble(aggregate_function=number)]))
    assert parsed.trees[0].leaves[0] == first


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"aggregate_function": 2}, "aggregate_function"),
        ({"aggregate_function": 3}, "aggregate_function"),
        ({"post_transform": 2}, "post_transform"),
        ({"n_targets": 2}, "score"),
        ({"leaf_targetids": [0, 0, 0, 0, 0, 1]}, "score"),
        (
            {"nodes_modes": numpy_helper.from_array(np.full(3, 4, dtype=np.uint8))},
            "BRANCH_LEQ",
        ),
        ({"base_values": [1.0]}, "base_values"),
    ],
)
def test_trees_that_are_put_together_in_another_way_are_refused(
    changes: dict[str, Any], name: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=naming(f"m.onnx TreeEnsemble {name}")):
        read(saved(tmp_path / "m.onnx", [ensemble(**changes)]))


def test_a_mode_says_which_side_a_value_goes(tmp_path: Path) -> None:
    modes = numpy_helper.from_array(np.array([1, 2, 3], dtype=np.uint8))
    first, second, third = read(
        saved(tmp_path / "m.onnx", [ensemble(nodes_modes=modes)])
    ).trees
    assert (first.splits[0][1], first.leaves) == (np.nextafter(0.1, 0), (4.0, 1.0))
    assert (second.splits[0][1], second.leaves) == (np.nextafter(0.2, 0), (1.0, 2.0))
    assert (third.splits[0][1], third.leaves) == (0.3, (5.0, 3.0))


@pytest.mark.parametrize("given", [FLOAT, DOUBLE])
def test_thresholds_are_of_the_precision_of_the_input(
    given: int, tmp_path: Path
) -> None:
    """Catches doubles that are rounded to floats, as though the program had."""
    values = {
        **{f"nodes_{key}": [0, 0, 0] for key in ("treeids", "featureids")},
        "nodes_nodeids": [0, 1, 2],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.1, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        **{f"target_{key}": [0, 0] for key in ("treeids", "ids")},
        "target_nodeids": [1, 2],
        "target_weights": [1.0, 2.0],
    }
    node = helper.make_node(
        "TreeEnsembleRegressor", ["X"], ["score"], domain="ai.onnx.ml", **values
    )
    path = saved(tmp_path / "m.onnx", [node], given=given, versions={"ai.onnx.ml": 3})
    threshold = float(np.float32(0.1))
    expected = greatest_up_to(threshold) if given == FLOAT else threshold
    assert read(path).trees[0].splits[0][1] == expected


def product(
    *before: Any, at: str = "X", domain: str = "", weights: str = "weights"
) -> list[Any]:
    return [
        *before,
        helper.make_node("MatMul", [at, weights], ["score"], domain=domain),
    ]


CAST = helper.make_node("Cast", ["X"], ["v"], to=TensorProto.INT64)
BACK = helper.make_node("Cast", ["v"], ["w"], to=DOUBLE)
SHAPE = numpy_helper.from_array(np.array([-1, 2]), "shape")
RESHAPE = helper.make_node("Reshape", ["X", "shape"], ["v"])
TURNED = helper.make_node("Reshape", ["X", "turned"], ["v"])
CONSTANTS = (
    numpy_helper.from_array(WEIGHTS, "weights"),
    numpy_helper.from_array(np.hstack([WEIGHTS, WEIGHTS]), "two"),
    SHAPE,
    numpy_helper.from_array(np.array([2, -1]), "turned"),
)


def test_operators_that_change_nothing_are_passed(tmp_path: Path) -> None:
    assert read(
        saved(tmp_path / "m.onnx", product(RESHAPE, at="v"), CONSTANTS)
    ).weights == {0: 0.5, 1: 0.25}


@pytest.mark.parametrize(
    ("nodes", "name"),
    [
        (product(CAST, BACK, at="w"), "Cast INT64"),
        (product(domain="my.own"), "my.own.MatMul"),
        (product(TURNED, at="v"), "Reshape"),
        (product(helper.make_node("Relu", ["X"], ["v"]), at="v"), "Relu"),
        (product(helper.make_node("Flatten", ["X"], ["v"], axis=0), at="v"), "Flatten"),
        (
            product(helper.make_node("Identity", ["X"], ["v"], odd=1), at="v"),
            "Identity odd",
        ),
        (product(weights="two"), "MatMul score"),
        (product(helper.make_node("Identity", ["X"], ["v"])), "MatMul"),
        ([helper.make_node("MatMul", ["weights", "X"], ["score"])], "MatMul"),
    ],
)
def test_what_is_not_computed_here_is_refused_by_its_name(
    nodes: list[Any], name: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=naming(f"m.onnx {name}")):
        read(saved(tmp_path / "m.onnx", nodes, CONSTANTS))


def test_a_version_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=naming("MatMul version 99")):
        read(saved(tmp_path / "m.onnx", product(), CONSTANTS, versions={"": 99}))


def test_a_function_of_the_model_is_refused(tmp_path: Path) -> None:
    body = helper.make_node("Identity", ["a"], ["b"])
    own = helper.make_function(
        "", "MatMul", ["a", "c"], ["b"], [body], [helper.make_opsetid("", 17)]
    )
    with pytest.raises(DatasetError, match=r"m\.onnx"):
        read(saved(tmp_path / "m.onnx", product(), CONSTANTS, functions=[own]))


def external(location: str, **more: str) -> Any:
    tensor = TensorProto(name="weights", data_type=DOUBLE, dims=[2, 1])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def test_external_data_are_those_of_the_model_s_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches data of the folder that one stands in, which made another model of the same file."""
    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere"
    for place, weights in ((folder, WEIGHTS), (elsewhere, -WEIGHTS)):
        place.mkdir()
        (place / "weights.bin").write_bytes(b"12345678" + weights.tobytes())
    monkeypatch.chdir(elsewhere)
    path = saved(
        folder / "m.onnx", product(), [external("weights.bin", offset="8", length="16")]
    )
    assert read(path).weights == {0: 0.5, 1: 0.25}
    monkeypatch.chdir(folder)
    assert read(Path("m.onnx")).weights == {0: 0.5, 1: 0.25}


@pytest.mark.parametrize(
    "place",
    [
        "../weights.bin",
        "deeper/../../weights.bin",
        "{absolute}",
        "link.bin",
        "linked/weights.bin",
        "..\\weights.bin",
        "C:weights.bin",
        "missing.bin",
        "",
        ".",
        "short.bin",
        "weights.bin\x00",
        "\x1b[31m",
    ],
)
def test_external_data_of_another_place_are_refused(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "deeper").mkdir(parents=True)
    outside = tmp_path / "weights.bin"
    outside.write_bytes(WEIGHTS.tobytes())
    (folder / "link.bin").symlink_to(outside)
    (folder / "linked").symlink_to(tmp_path)
    (folder / "short.bin").write_bytes(b"1234")
    path = saved(
        folder / "m.onnx", product(), [external(place.format(absolute=outside))]
    )
    with pytest.raises(DatasetError, match=r"m\.onnx") as caught:
        read(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "more", [{"length": "8"}, {"offset": "-8"}, {"offset": "9" * 30}, {"odd": "1"}]
)
def test_external_data_of_another_size_are_refused(
    more: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "weights.bin").write_bytes(WEIGHTS.tobytes())
    with pytest.raises(DatasetError, match=r"weights\.bin"):
        read(saved(tmp_path / "m.onnx", product(), [external("weights.bin", **more)]))
