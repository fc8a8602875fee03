"""Reads model files of other programs: recognizes the format, and finds the model's features in some data."""

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
from rankstudio.engine.export.foreign.parsed_model import (
    ParsedModel,
    UnreadableModelError,
)
from rankstudio.engine.export.foreign.tree_libraries import (
    catboost_model,
    lightgbm_model,
    xgboost_dump,
    xgboost_model,
)
from rankstudio.engine.export.models import Model, Weight
from rankstudio.engine.export.trees import (
    ScoreTree,
    checked_trees,
    model_text,
    parsed_trees,
)
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
    """Return whether a file is a model of another program, by its beginning.

    This function recognizes formats other than JSON: ONNX, and the
    texts of LightGBM and RankLib.
    """
    if path.suffix.lower() == _ONNX_SUFFIX:
        return path.is_file()
    try:
        head = (
            read_beginning(path, _HEAD_BYTES)
            .decode("utf-8", "replace")
            .replace("\r\n", "\n")
        )
    except (FileAccessError, OSError):
        return False
    if head.startswith(f"{_LIGHTGBM_START}version="):
        return True

    # A file of RankLib begins with "## " and the name of a method.
    first_line, _, _ = head.partition("\n")
    return head.startswith("## ") and first_line[3:].strip() in _RANKLIB_KINDS


_RANKLIB_KINDS = (
    "Coordinate Ascent",
    "Linear Regression",
    "LambdaMART",
    "MART",
    "Random Forests",
)


def parsed_file(path: Path) -> ParsedModel | None:
    """Return the model of another program in a file; None if the file is not one.

    Raises
    ------
    DatasetError
        If the model cannot be read.
    MissingExtraError
        If the file's format needs a library that is not installed.
    """
    try:
        parsed = _parsed_file(path)
    except UnreadableModelError as error:
        raise DatasetError(f"{shown_path(path)}: {error}") from error

    # Numbers of features that are positions in a feature set ("set")
    # are of use only with the names in that set.
    if parsed is not None and parsed.numbering == "set" and not parsed.names:
        return _with_set_names(parsed, path)
    return parsed


def _with_set_names(parsed: ParsedModel, path: Path) -> ParsedModel:
    """Return a model with the names of the feature set that is exported next to it, if that file exists.

    Raises
    ------
    DatasetError
        If templates of the set add constants to values, to which the
        thresholds of the trees then apply.
    """
    # The exported set has the name of the model with the ending `FEATURE_SET`.
    set_path = path.with_name(f"{path.stem}{FEATURE_SET}")
    feature_set = first_feature_set([set_path])
    if feature_set is None:
        return parsed
    used = {number for tree in parsed.trees for number, *_ in tree.splits}

    # The numbers of the model are positions in the set, from 0. The
    # text of a template that adds a constant contains `SHIFTED`.
    if any(
        SHIFTED in text
        for index, text in enumerate(feature_set.definitions.values())
        if index in used
    ):
        text = tr(
            "{file}: found templates that add constants to values, expected values as they are."
        )
        raise DatasetError(text.format(file=shown_path(set_path)))
    return replace(parsed, names=feature_set.names)


def _parsed_file(path: Path) -> ParsedModel | None:
    """Return the model in a file of another program; None for a file of no known format.

    Raises
    ------
    UnreadableModelError, MissingExtraError
        If the file has a known format, but cannot be read.
    """
    if path.suffix.lower() == _ONNX_SUFFIX:
        return onnx_model(path)
    try:
        text = read_text(path, encoding="utf-8-sig", errors="replace").replace(
            "\r\n", "\n"
        )
    except OSError:
        return None  # the reader of RankStudio's own models raises the error
    if text.startswith(_LIGHTGBM_START):
        return lightgbm_model(text)
    if text.startswith(_RANKLIB_STARTS):
        return ranklib_model(text)
    try:
        values = json.loads(text)

        # Called for its error only: a ValueError for unpaired UTF-16 surrogates.
        json.dumps(values, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return _parsed_json(values)


def _parsed_json(values: Any) -> ParsedModel | None:
    """Return the model in the values of a JSON file, whose program is recognised by its keys.

    Return None for unknown contents, which may be one of RankStudio's own models.
    """
    # A list is a dump of XGBoost or nothing that is known.
    if isinstance(values, list):
        is_dump = values and all(
            isinstance(tree, dict) and "nodeid" in tree for tree in values
        )
        return xgboost_dump(values) if is_dump else None

    # Models with "format" are those of RankStudio, which are read elsewhere.
    if not isinstance(values, dict) or "format" in values:
        return None

    # Keys that only one library writes.
    if "learner" in values:
        return xgboost_model(values)
    if "oblivious_trees" in values or {"trees", "features_info"} <= values.keys():
        return catboost_model(values)

    # Models of search engines.
    if ".model." in str(values.get("class", "")):
        return solr_model(values)
    stored = values.get("models")
    if isinstance(stored, list) and len(stored) == 1:  # an answer of Solr's model store
        return _parsed_json(stored[0])
    if (
        str(values.get("type", "")).startswith("model/")
        or {"model", "_source"} & values.keys()
    ):
        return elasticsearch_model(values)
    return None


def model_in_data(parsed: ParsedModel, dataset: FoldedDataset, path: Path) -> Model:
    """Return a model whose features are those of some data, found by name or else by number.

    ``path`` is that of the model's file, for messages and as the origin.

    Raises
    ------
    DatasetError
        If the data do not have a feature of the model.
    """
    # The numbers of the features that the model uses: those of the
    # splits or, without trees, those of the weights, which are a dict
    # by number.
    trees, text = _lightgbm_trees(parsed)
    used = sorted(
        {column for tree in trees for column, *_ in tree.splits} or parsed.weights
    )
    ids = _feature_ids(parsed, used, dataset, path)  # by such numbers
    name_of_id = dict(
        zip(dataset.feature_ids.tolist(), dataset.feature_names, strict=True)
    )
    names = {
        column: name_of_id.get(feature, f"feature {feature}")
        for column, feature in ids.items()
    }
    origin = {"program": parsed.program}

    # `FOREIGN` takes the place of the method. {}: the parameters with
    # which the model was learned are not known.
    if not trees:
        weights = tuple(Weight(ids[c], names[c], parsed.weights[c]) for c in used)
        return Model(weights, FOREIGN, {}, origin, source=str(path))

    # The weight of a feature in trees is its share of the splits.
    counts = Counter(column for tree in trees for column, *_ in tree.splits)
    total = sum(counts.values())
    weights = tuple(
        Weight(ids[c], names[c], n / total) for c, n in counts.most_common()
    )
    tree_values = {"kind": "trees", "columns": [ids[c] for c in used], "lightgbm": text}
    return Model(weights, FOREIGN, {}, origin, tree_values, source=str(path))


def _lightgbm_trees(parsed: ParsedModel) -> tuple[tuple[ScoreTree, ...], str]:
    """Return the trees of a model, and their text in LightGBM's format; () and "" for a weighted sum.

    The columns of the text are the features that the trees use, except
    in a model of LightGBM itself, whose text keeps its columns.
    """
    # `checked_trees` raises an error for trees that LightGBM could not read.
    if parsed.lightgbm:
        text = checked_trees(parsed.lightgbm, parsed.n_features).text
        lightgbm_trees = parsed_trees(parsed.lightgbm, parsed.n_features)
        score_trees = [
            ScoreTree(
                tuple(
                    zip(
                        t.features,
                        map(float, t.thresholds),
                        t.left,
                        t.right,
                        strict=True,
                    )
                ),
                tuple(map(float, t.leaves)),
            )
            for t in lightgbm_trees
        ]
        return tuple(score_trees), text

    # A tree that is a single leaf adds the same to all scores, and changes no ranking.
    trees = tuple(tree for tree in parsed.trees if tree.splits)
    if not trees:
        return (), ""
    used = sorted({column for tree in trees for column, *_ in tree.splits})
    number_of = {column: number for number, column in enumerate(used)}
    tree_texts = [
        f"Tree={i}\n{tree.text(number_of)}\n\n" for i, tree in enumerate(trees)
    ]

    # One column more than used, as LightGBM needs at least two
    # features. The range of the values is not known: "none".
    text = model_text(tree_texts, [f"Column_{c}" for c in range(len(used) + 1)], "none")
    return trees, checked_trees(text, len(used) + 1).text


def _feature_ids(
    parsed: ParsedModel, used: Iterable[int], dataset: FoldedDataset, path: Path
) -> dict[int, int]:
    """Return the ids of the features that a model uses, by their numbers in the model.

    Features are found by their names. If some name is unknown and all
    names are default names of a library, the features are found by
    their numbers instead.

    Raises
    ------
    DatasetError
        If the data do not have a feature of the model; ``path`` is that of its file.
    """
    used = list(used)
    ids = dataset.feature_ids.tolist()
    name_of = {
        number: parsed.names[number] for number in used if number < len(parsed.names)
    }
    id_of = _named_ids(dataset) if name_of else {}

    # The model may have been exported by RankStudio, which changes
    # names for other programs. Names of the data come first.
    if name_of and any(name not in id_of for name in name_of.values()):
        id_of = {**_exported_ids(dataset), **id_of}
    unknown = [number for number in used if name_of.get(number, "") not in id_of]

    # A library that names its first column "feature_0" counts columns
    # from 0, so that its "feature_1" is not the feature with id 1.
    counts_columns = _FIRST_NAME in parsed.names and _FIRST_NAME not in id_of
    if used and not unknown and not counts_columns:
        return {number: id_of[name_of[number]] for number in used}
    if any(not _DEFAULT_NAME.fullmatch(name) for name in name_of.values()):
        text = tr(
            "{file}: the {program} model uses the feature {name}, which the data do not have; expected a "
            "name of one of {data}'s {n} features."
        )
        fields = {
            "name": shown(name_of.get(unknown[0], "")),
            "data": dataset.name,
            "n": len(ids),
        }
        raise DatasetError(
            text.format(file=shown_path(path), program=parsed.program, **fields)
        )

    # All names are defaults of a library: numbers count instead. The
    # second call is for its errors only.
    numbers = _numbered_ids(parsed, dataset)
    _refuse_numbers(parsed, used, numbers, dataset, path)
    return {number: numbers[number] for number in used}


def _refuse_numbers(
    parsed: ParsedModel,
    used: Sequence[int],
    numbers: Mapping[int, int],
    dataset: FoldedDataset,
    path: Path,
) -> None:
    """Raise a DatasetError if a model without names uses no features, or features not in the data.

    ``used`` are the numbers of the features in the model, and
    ``numbers`` the ids of the data's features by such numbers.
    """
    ids = dataset.feature_ids.tolist()

    # The first feature of the model whose number the data do not have.
    missing = next((number for number in used if number not in numbers), None)
    fields = {
        "file": shown_path(path),
        "program": parsed.program,
        "data": dataset.name,
        "n": len(ids),
    }
    if not used:
        text = tr(
            "{file}: the model of {program} uses no features. Open one that has a split or weight."
        )
        raise DatasetError(text.format(**fields))

    # Without any numbers, the features of the model and those of the
    # data could not be matched.
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

    # Some features were matched, but one has a number that the data do not have.
    if missing is not None:
        text = tr(
            "{file}: the {program} model uses feature {number}, which {data} does not have; its {n} features "
            "have numbers from {first} to {last}."
        )

        # True counts as 1: users count positions in a feature set from 1.
        shift = parsed.numbering == "set"
        shown_numbers = {
            "number": missing + shift,
            "first": min(numbers) + shift,
            "last": max(numbers) + shift,
        }
        raise DatasetError(text.format(**fields, **shown_numbers))


def _named_ids(dataset: FoldedDataset) -> dict[str, int]:
    """Return the ids of the data's features by all names that a model may have for them.

    A feature may have the name in its data, the user's name for it, and
    the name in a feature set. Names with blanks are also there with
    underscores. A name that two features have is left out.
    """
    ids = dataset.feature_ids.tolist()
    data_names = given_names(dataset)
    feature_set = dataset.extension(FeatureSet)
    set_names = {} if feature_set is None else feature_set.ids
    names_and_ids = [
        *zip(data_names, ids, strict=True),
        *zip(dataset.feature_names, ids, strict=True),
        *((name, number) for number, name in set_names.items()),
    ]
    pairs = {
        (spelling, number)
        for name, number in names_and_ids
        for spelling in (name, "_".join(name.split()))
    }
    counts = Counter(spelling for spelling, _ in pairs)
    return {spelling: number for spelling, number in pairs if counts[spelling] == 1}


def _exported_ids(dataset: FoldedDataset) -> dict[str, int]:
    """Return the ids of features by the names that features have in exported models."""
    ids = dataset.feature_ids.tolist()
    return dict(
        zip(
            exported_names(list(zip(ids, dataset.feature_names, strict=True))),
            ids,
            strict=True,
        )
    )


def _numbered_ids(parsed: ParsedModel, dataset: FoldedDataset) -> dict[int, int]:
    """Return the ids of features by their numbers in a model without names; {} if they cannot be matched.

    `parsed.numbering` says what these numbers are: positions in a
    feature set, ids, or columns.

    A library that read LETOR text has a column for each id, including
    0, which no feature has.
    """
    ids = dataset.feature_ids.tolist()
    feature_set = dataset.extension(FeatureSet)

    # Numbers are positions in a feature set, from 0. Without the set,
    # features without names of their own are in the order of their ids,
    # from 1.
    if parsed.numbering == "set" and feature_set is not None:
        positions = {name: index for index, name in enumerate(feature_set.names)}
        return {positions[name]: id_ for id_, name in feature_set.ids.items()}
    if parsed.numbering == "set" and dataset.feature_names == default_names(
        dataset.feature_ids
    ):
        return {feature_id - 1: feature_id for feature_id in ids}
    if parsed.numbering == "set":
        return {}

    # Numbers are ids.
    if parsed.numbering == "id":
        return {number: number for number in ids}

    # Numbers are columns.
    if parsed.n_features == max(ids) + 1:  # a column for each id, from 0
        return {number: number for number in ids}

    # As many columns as the data have features, or an unknown number of them.
    return dict(enumerate(ids)) if parsed.n_features in (0, len(ids)) else {}
