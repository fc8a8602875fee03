"""Files of models of other programs: told apart, read, and their features found in some data."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset, default_names
from rankstudio.engine.data.feature_names import given_names
from rankstudio.engine.data.feature_sets import FeatureSet, first_feature_set
from rankstudio.engine.data.file_access import read_beginning
from rankstudio.engine.errors import DatasetError, FileAccessError, shown, shown_path
from rankstudio.engine.export.exported_names import FEATURE_SET, SHIFTED, exported_names
from rankstudio.engine.export.foreign.model_readers import FOREIGN
from rankstudio.engine.export.foreign.parsed_model import ParsedModel, UnreadableModelError
from rankstudio.engine.export.foreign.tree_libraries import (
    catboost_model,
    lightgbm_model,
    xgboost_dump,
    xgboost_model,
)
from rankstudio.engine.export.models import Model, Weight
from rankstudio.engine.export.trees import ScoreTree, checked_trees, model_text, parsed_trees
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import read_text
from rankstudio.plugins.foreign_models.onnx_model import onnx_model
from rankstudio.plugins.foreign_models.search_engine_models import (
    elasticsearch_model,
    ranklib_model,
    solr_model,
)

_ONNX_SUFFIX = ".onnx"
_LIGHTGBM_START = "tree\n"
_RANKLIB_STARTS = ("## ", "<ensemble")
_HEAD_BYTES = 1 << 12
_DEFAULT_NAME = re.compile(r"|(Column_|feature_|feature |f)[0-9]+")
_FIRST_NAME = "feature_0"


def is_foreign_text(path: Path) -> bool:
    """Return whether a file that is no JSON begins like a model of another program."""
    if path.suffix.lower() == _ONNX_SUFFIX:
        return path.is_file()
    try:
        head = read_beginning(path, _HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except (FileAccessError, OSError):
        return False
    first = head.partition("\n")[0]
    return head.startswith(f"{_LIGHTGBM_START}version=") or (
        head.startswith("## ") and first[3:].strip() in _RANKLIB_KINDS
    )


_RANKLIB_KINDS = ("Coordinate Ascent", "Linear Regression", "LambdaMART", "MART", "Random Forests")


def parsed_file(path: Path) -> ParsedModel | None:
    """Return the model of another program in a file; None where it is none.

    Raises
    ------
    DatasetError, MissingExtraError
        As of :func:`rankstudio.engine.export.foreign.model_readers.foreign_model`.
    """
    try:
        parsed = _parsed_file(path)
    except UnreadableModelError as error:
        raise DatasetError(f"{shown_path(path)}: {error}") from error
    placed = parsed is not None and parsed.numbering == "set" and not parsed.names
    return _with_set_names(parsed, path) if parsed and placed else parsed


def _with_set_names(parsed: ParsedModel, path: Path) -> ParsedModel:
    """Return a model with the names of the feature set that is exported next to it, if it is there.

    Raises
    ------
    DatasetError
        If the set changes values, which the thresholds of trees then count with.
    """
    set_path = path.with_name(f"{path.stem}{FEATURE_SET}")
    feature_set = first_feature_set([set_path])
    if feature_set is None:
        return parsed
    used = {number for tree in parsed.trees for number, *_ in tree.splits}
    if any(SHIFTED in text for index, text in enumerate(feature_set.definitions.values()) if index in used):
        text = tr("{file}: found templates that add constants to values, expected values as they are.")
        raise DatasetError(text.format(file=shown_path(set_path)))
    return replace(parsed, names=feature_set.names)


def _parsed_file(path: Path) -> ParsedModel | None:
    """Return the model in a file of another program; None for a file of no known format."""
    if path.suffix.lower() == _ONNX_SUFFIX:
        return onnx_model(path)
    try:
        text = read_text(path, encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")
    except OSError:
        return None  # which the reader of our own models tells
    if text.startswith(_LIGHTGBM_START):
        return lightgbm_model(text)
    if text.startswith(_RANKLIB_STARTS):
        return ranklib_model(text)
    try:
        values = json.loads(text)
        json.dumps(values, ensure_ascii=False).encode()  # a lone half of a pair of UTF-16 is no text
    except (ValueError, RecursionError):
        return None
    return _parsed_json(values)


def _parsed_json(values: Any) -> ParsedModel | None:
    """Return the model in JSON; None where it may be one of our own."""
    if isinstance(values, list):
        dump = values and all(isinstance(tree, dict) and "nodeid" in tree for tree in values)
        return xgboost_dump(values) if dump else None
    if not isinstance(values, dict) or "format" in values:
        return None
    if "learner" in values:
        return xgboost_model(values)
    if "oblivious_trees" in values or {"trees", "features_info"} <= values.keys():
        return catboost_model(values)
    if ".model." in str(values.get("class", "")):
        return solr_model(values)
    stored = values.get("models")
    if isinstance(stored, list) and len(stored) == 1:  # what Solr's model store answers
        return _parsed_json(stored[0])
    if str(values.get("type", "")).startswith("model/") or {"model", "_source"} & values.keys():
        return elasticsearch_model(values)
    return None


def model_in_data(parsed: ParsedModel, dataset: FoldedDataset, path: Path) -> Model:
    """Return a model in the features of some data, which are found by name, otherwise by number."""
    trees, text = _lightgbm_trees(parsed)
    used = sorted({column for tree in trees for column, *_ in tree.splits} or parsed.weights)
    ids = _feature_ids(parsed, used, dataset, path)
    named = dict(zip(dataset.feature_ids.tolist(), dataset.feature_names, strict=True))
    names = {column: named.get(feature, f"feature {feature}") for column, feature in ids.items()}
    origin = {"program": parsed.program}
    if not trees:
        weights = tuple(Weight(ids[c], names[c], parsed.weights[c]) for c in used)
        return Model(weights, FOREIGN, {}, origin, source=str(path))
    counts = Counter(column for tree in trees for column, *_ in tree.splits)
    total = sum(counts.values())
    weights = tuple(Weight(ids[c], names[c], n / total) for c, n in counts.most_common())
    beyond = {"kind": "trees", "columns": [ids[c] for c in used], "lightgbm": text}
    return Model(weights, FOREIGN, {}, origin, beyond, source=str(path))


def _lightgbm_trees(parsed: ParsedModel) -> tuple[tuple[ScoreTree, ...], str]:
    """Return trees, and as the text by which LightGBM scores, its columns the features that are used."""
    if parsed.lightgbm:
        text = checked_trees(parsed.lightgbm, parsed.n_features).text
        lightgbm_trees = parsed_trees(parsed.lightgbm, parsed.n_features)
        score_trees = [
            ScoreTree(
                tuple(zip(t.features, map(float, t.thresholds), t.left, t.right, strict=True)),
                tuple(map(float, t.leaves)),
            )
            for t in lightgbm_trees
        ]
        return tuple(score_trees), text
    trees = tuple(tree for tree in parsed.trees if tree.splits)  # a leaf alone changes no ranking
    if not trees:
        return (), ""
    used = sorted({column for tree in trees for column, *_ in tree.splits})
    number_of = {column: number for number, column in enumerate(used)}
    written = [f"Tree={i}\n{tree.text(number_of)}\n\n" for i, tree in enumerate(trees)]
    text = model_text(written, [f"Column_{c}" for c in range(len(used) + 1)], "none")
    return trees, checked_trees(text, len(used) + 1).text


def _feature_ids(
    parsed: ParsedModel, used: Iterable[int], dataset: FoldedDataset, path: Path
) -> dict[int, int]:
    """Return the ids of the features that a model uses, by their numbers in it."""
    used = list(used)
    ids = dataset.feature_ids.tolist()
    named = {number: parsed.names[number] for number in used if number < len(parsed.names)}
    id_of = _named_ids(dataset) if named else {}
    if named and any(name not in id_of for name in named.values()):
        id_of = {**_exported_ids(dataset), **id_of}
    unknown = [number for number in used if named.get(number, "") not in id_of]
    # A library that names the first column "feature_0" counts columns, not the ids of "feature 1".
    if used and not unknown and (_FIRST_NAME not in parsed.names or _FIRST_NAME in id_of):
        return {number: id_of[named[number]] for number in used}
    if any(not _DEFAULT_NAME.fullmatch(name) for name in named.values()):
        text = tr(
            "{file}: the {program} model uses the feature {name}, which the data do not have; expected a "
            "name of one of {data}'s {n} features."
        )
        fields = {"name": shown(named.get(unknown[0], "")), "data": dataset.name, "n": len(ids)}
        raise DatasetError(text.format(file=shown_path(path), program=parsed.program, **fields))
    numbers = _numbered_ids(parsed, dataset)
    _refuse_numbers(parsed, used, numbers, dataset, path)
    return {number: numbers[number] for number in used}


def _refuse_numbers(
    parsed: ParsedModel, used: Sequence[int], numbers: Mapping[int, int], dataset: FoldedDataset, path: Path
) -> None:
    """Raise a DatasetError where a model without names uses a feature that the data do not have, or none."""
    ids = dataset.feature_ids.tolist()
    missing = next((number for number in used if number not in numbers), None)
    fields = {"file": shown_path(path), "program": parsed.program, "data": dataset.name, "n": len(ids)}
    if not used:
        text = tr("{file}: the model of {program} uses no features. Open one that has a split or weight.")
        raise DatasetError(text.format(**fields))
    if missing is not None and not numbers and parsed.numbering == "set":
        text = tr(
            "{file}: the {program} model numbers features by their places in its feature set, which is not "
            "there. Save it as {beside} next to the model, or as featureset.json next to the data."
        )
        raise DatasetError(text.format(beside=f"{path.stem}{FEATURE_SET}", **fields))
    if missing is not None and not numbers:
        text = tr(
            "{file}: the {program} model was learned from {size} features without names, and {data} has {n}. "
            "Expected as many, or names."
        )
        raise DatasetError(text.format(size=parsed.n_features, **fields))
    if missing is not None:
        text = tr(
            "{file}: the {program} model uses feature {number}, which {data} does not have; its {n} features "
            "have numbers from {first} to {last}."
        )
        shift = parsed.numbering == "set"  # which counts from 1
        places = {"number": missing + shift, "first": min(numbers) + shift, "last": max(numbers) + shift}
        raise DatasetError(text.format(**fields, **places))


def _named_ids(dataset: FoldedDataset) -> dict[str, int]:
    """Return the ids of features by their possible names; a name of two features is none."""
    ids = dataset.feature_ids.tolist()
    data_names = given_names(dataset)
    feature_set = dataset.extension(FeatureSet)
    of_set = {} if feature_set is None else feature_set.ids
    called = [
        *zip(data_names, ids, strict=True),
        *zip(dataset.feature_names, ids, strict=True),
        *((name, number) for number, name in of_set.items()),
    ]
    pairs = {(form, number) for name, number in called for form in (name, "_".join(name.split()))}
    counts = Counter(form for form, _ in pairs)
    return {form: number for form, number in pairs if counts[form] == 1}


def _exported_ids(dataset: FoldedDataset) -> dict[str, int]:
    """Return the ids of features by the names that exports give them."""
    ids = dataset.feature_ids.tolist()
    return dict(zip(exported_names(list(zip(ids, dataset.feature_names, strict=True))), ids, strict=True))


def _numbered_ids(parsed: ParsedModel, dataset: FoldedDataset) -> dict[int, int]:
    """Return the ids of features by their numbers in a model that names none.

    A library that read LETOR text has a column for each id, also for 0, which no feature has.
    """
    ids = dataset.feature_ids.tolist()
    feature_set = dataset.extension(FeatureSet)
    if parsed.numbering == "set" and feature_set is not None:
        places = {name: index for index, name in enumerate(feature_set.names)}
        return {places[name]: number for number, name in feature_set.ids.items()}
    if parsed.numbering == "set" and dataset.feature_names == default_names(dataset.feature_ids):
        return {number - 1: number for number in ids}
    if parsed.numbering == "set":
        return {}
    if parsed.numbering == "id":
        return {number: number for number in ids}
    if parsed.n_features == max(ids) + 1:
        return {number: number for number in ids}
    return dict(enumerate(ids)) if parsed.n_features in (0, len(ids)) else {}
