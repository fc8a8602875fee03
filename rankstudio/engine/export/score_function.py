"""The function of a model in a form that any program can compute.

It is a weighted sum, or a sum of trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.errors import DatasetError, OutputError
from rankstudio.engine.export.exported_names import exported_names, identifier
from rankstudio.engine.export.models import NORMALIZE, Model
from rankstudio.engine.export.trees import ScoreTree, TextTree, parsed_trees
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import one_line

DEEPEST = 100
"""Maximum number of splits from the root to a leaf that other programs can read."""

Sum = tuple[tuple[int, float], ...]
"""Terms of a sum of inputs: the position of the input, and its weight."""

_NOT_NORMALIZED = NORMALIZE[0]
_LONGEST = 200  # characters of a name
_LONGEST_ABOUT = 300  # characters of the origin of a model
_ZERO_IS_MISSING = 4  # a bit of the decisions in LightGBM's text


@dataclass(frozen=True)
class ModelInput:
    """An input of an exported model: one of its features.

    Attributes
    ----------
    id : int
        1-based id, as in the data files.
    name : str
        Name as in the dataset, without unprintable characters.
    identifier : str
        Unique name that is valid in every language, such as ``bm25_of_body``.
    shift : float
        Constant that the other program adds to a value before its
        weight or threshold; it changes no ranking.
    definition : str
        Definition of the feature in a search engine, see
        :mod:`rankstudio.engine.data.feature_sets`; "" if
        unknown.
    name_in_set : str
        Name of the feature in the search engine's feature set; "" without one.
    """

    id: int
    name: str
    identifier: str
    shift: float = 0.0
    definition: str = ""
    name_in_set: str = ""

    @property
    def exported_name(self) -> str:
        """Name in the other program: that in the feature set, otherwise the identifier."""
        return self.name_in_set or self.identifier


@dataclass(frozen=True)
class ValueRanges:
    """Ranges of the values that a model's inputs have in some documents.

    Attributes
    ----------
    low, high, mean : tuple of float
        Least, greatest and mean value of each input.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    mean: tuple[float, ...]


@dataclass(frozen=True)
class ScoreFunction:
    """A model in the form for other programs: a weighted sum, or a sum of trees.

    Attributes
    ----------
    name : str
        Name of the function for programs, such as
        ``mq2008_fold1_greedy_rankrls``.
    about : str
        Origin of the model in one line.
    inputs : tuple of ModelInput
        Inputs by ascending id: the order of summation.
    weights : tuple of float
        Weights of the inputs; empty for a sum of trees.
    trees : tuple of ScoreTree
        Trees in the order of summation; empty for a weighted sum.
    scaled : bool
        Whether every input is first scaled to [0, 1] within its query;
        constant inputs become 0.
    set_definitions : tuple of str
        Definitions of the inputs in the order of their feature set,
        with those of features they are derived from; empty without a
        feature set.
    sums : tuple of tuple of (int, float)
        New features that the trees split on: a sum has a position of an
        input and a weight for each of its terms, in order. Empty if the
        trees split on the inputs.
    """

    name: str
    about: str
    inputs: tuple[ModelInput, ...]
    weights: tuple[float, ...]
    trees: tuple[ScoreTree, ...]
    scaled: bool
    set_definitions: tuple[str, ...] = ()
    sums: tuple[Sum, ...] = ()

    @property
    def kind(self) -> str:
        """Kind of the model; see :attr:`rankstudio.engine.steps.Step.kind`."""
        return "sums" if self.sums else ""

    @property
    def linear(self) -> bool:
        """Whether it is a weighted sum."""
        return bool(self.weights) or not self.trees

    @property
    def columns(self) -> dict[str, int]:
        """Position of each input, by its identifier."""
        return {
            model_input.identifier: position
            for position, model_input in enumerate(self.inputs)
        }

    @property
    def exported_columns(self) -> dict[str, int]:
        """Position of each input, by its name in the other program."""
        return {
            model_input.exported_name: position
            for position, model_input in enumerate(self.inputs)
        }


def defined(function: ScoreFunction, features: FeatureSet) -> ScoreFunction:
    """Return an exported function with the definitions of a search engine's feature set.

    The set has a name and a definition for each feature in the engine;
    each input gets those of its feature.

    Raises
    ------
    DatasetError
        If an input is not in the set.
    """
    # Name in the set of each input, by the id of its feature.
    names = features.of(
        [(model_input.id, model_input.name) for model_input in function.inputs]
    )
    inputs = tuple(
        replace(
            model_input,
            definition=features.definitions[names[model_input.id]],
            name_in_set=names[model_input.id],
        )
        for model_input in function.inputs
    )
    # A definition may use other features of the set, which are needed, too.
    definitions = tuple(
        features.definitions[name] for name in features.needed(names.values())
    )
    return replace(function, inputs=inputs, set_definitions=definitions)


def defined_where_possible(
    function: ScoreFunction, features: FeatureSet | None, engine: str
) -> tuple[ScoreFunction, str]:
    """Return a function with the definitions of a feature set, if possible.

    If the set lacks an input of the function, return the function
    unchanged, and a sentence for the user about this feature. The
    sentence is "" if the function got definitions, or if there is no
    set for this search engine.

    Parameters
    ----------
    function : ScoreFunction
        Model in the form for other programs.
    features : FeatureSet, optional
        Feature set next to the data, or an imported one.
    engine : str
        Search engine for which the function is written. The set of
        another search engine is not used.
    """
    if features is None or features.engine != engine:
        return function, ""
    try:
        return defined(function, features), ""
    except DatasetError as error:
        return function, str(error)


def shifted(
    function: ScoreFunction, shifts: Sequence[float], scale: float = 1.0
) -> ScoreFunction:
    """Return a function with the same ranking, shifted inputs and scaled weights.

    Shifted values are closer to 0, where numbers of few digits are denser.

    Parameters
    ----------
    function : ScoreFunction
        Model in the form for other programs.
    shifts : sequence of float
        Number that is added to each input. A weighted sum changes by a
        constant; thresholds are shifted with the values.
    scale : float
        Factor of the weights: a power of two, so that the weights keep
        their digits.
    """
    inputs = tuple(
        replace(model_input, shift=input_shift)
        for model_input, input_shift in zip(function.inputs, shifts, strict=True)
    )
    return replace(
        function,
        inputs=inputs,
        weights=tuple(weight * scale for weight in function.weights),
    )


def centred(function: ScoreFunction, ranges: ValueRanges) -> ScoreFunction:
    """Return a function whose inputs are shifted by their means, so that they are around 0.

    Similar scores then differ in more digits; no ranking changes.
    `ranges` has the mean of each input.
    """
    return shifted(function, [-float(np.float32(mean)) for mean in ranges.mean])


def refusal_of(kind: str) -> str:
    """Return the reason why models of a kind are not exported to other programs.

    The kinds are "plugin", "sums" and "kernel"; the text has the field
    {format}, for the name of a format.
    """
    if kind == "plugin":
        return tr(
            "This model is a file in the format of a plug-in, which only its reader understands, so it "
            "cannot be written as {format}. Use the file itself."
        )
    if kind == "sums":
        return tr(
            "The trees of this model split on new features, which are sums of features. {format} does not "
            "support them. Export to Python, or to RankStudio's own JSON, which predict and evaluate read."
        )
    return tr(
        "This model is a sum of kernel functions. Other programs support only weighted sums "
        "and trees. Use RankStudio's own JSON, which predict and evaluate read."
    )


def score_function(model: Model) -> ScoreFunction:
    """Return the function that a model computes, in the form for other programs.

    Raises
    ------
    OutputError
        For a model that other programs cannot compute, such as a kernel
        model, or trees that treat missing values.
    DataError
        For invalid trees.
    """
    # A linear model has weights; other models have trees, whose splits
    # may be on sums of features.
    weights: tuple[float, ...] = ()
    trees: tuple[ScoreTree, ...] = ()
    sums: tuple[Sum, ...] = ()
    kind = model.beyond.get("kind", "linear")
    if kind == "linear":
        weight_of = {feature.id: feature.weight for feature in model.features}
        ids = sorted(weight_of)
        weights = tuple(weight_of[i] for i in ids)
    else:
        ids, trees, sums = _trees_of(kind, model.beyond)

    # Names for the inputs and for the function.
    names = {feature.id: feature.name for feature in model.features}
    inputs = model_inputs([(i, names.get(i, f"feature {i}")) for i in ids])
    fold = model.origin.get("fold", "")
    fold_label = "all" if fold == "all" else f"fold{fold}"
    data_name = str(model.origin.get("data", "model"))
    return ScoreFunction(
        name=identifier(f"{data_name} {fold_label} {model.method}"),
        about=_short(_about(model, data_name, len(ids)), _LONGEST_ABOUT),
        inputs=inputs,
        weights=weights,
        trees=trees,
        scaled=model.normalize != _NOT_NORMALIZED,
        sums=sums,
    )


def _about(model: Model, data: str, size: int) -> str:
    """Return the origin of a model in one line: method, data, fold and size.

    `data` is the name of the data, and `size` the number of features.
    The origin in a file may have values of any type, so each is
    checked.
    """
    fold = model.origin.get("fold", "")
    fold_label = "all queries" if fold == "all" else f"fold {fold}"
    about = f"{model.method} on {data}, {fold_label}, k {size}"
    # Method, data, fold and size, then λ and the other chosen parameters.
    value = model.parameters.get("regularization")
    if isinstance(value, int | float):
        about += (
            f", lambda {value:g}" if isinstance(value, float) else f", lambda {value}"
        )
    choice = model.origin.get("chosen")
    if not isinstance(choice, dict) or not isinstance(choice.get("how"), str):
        return about
    values = choice.get("values", {})
    named_values = values.items() if isinstance(values, dict) else ()
    settings = [
        f"{name} {value}" for name, value in named_values if name != "regularization"
    ]
    return ", ".join([about, *settings, f"chosen: {choice['how']}"])


def _trees_of(
    kind: str, beyond: Mapping[str, Any]
) -> tuple[list[int], tuple[ScoreTree, ...], tuple[Sum, ...]]:
    """Return the ids of a nonlinear model's features, its trees, and its sums.

    The trees of a model of kind "sums" split on sums of features; other
    models have no sums. `beyond` is the definition of the model.
    OutputError is raised for kinds without trees.
    """
    if kind in ("kernel", "plugin"):
        raise OutputError(refusal_of(kind))
    if kind == "thresholds":
        return *_stumps(beyond["thresholds"]), ()
    if kind == "trees":
        return *_trees(beyond["lightgbm"], beyond["columns"]), ()

    # The features of the inner model are sums, numbered from 1; each
    # sum has a row with a weight per column.
    sum_numbers, trees, _ = _trees_of(beyond["model"]["kind"], beyond["model"])
    columns = beyond["columns"]
    rows = [beyond["sums"][number - 1] for number in sum_numbers]
    # A feature is needed if one of the sums has a weight for it.
    ids = sorted(i for i, *weights in zip(columns, *rows, strict=True) if any(weights))
    # Input of each column; -1 for a column that no sum uses, whose weights are 0.
    positions = [ids.index(i) if i in ids else -1 for i in columns]
    # Each sum has pairs of an input and its weight.
    sums = (
        tuple(
            (position, weight)
            for position, weight in zip(positions, row, strict=True)
            if weight
        )
        for row in rows
    )
    return ids, trees, tuple(sums)


def _stumps(
    thresholds: Sequence[Mapping[str, Any]],
) -> tuple[list[int], tuple[ScoreTree, ...]]:
    """Return ids of features, and thresholds of their values as trees of one split.

    `thresholds` has the plain values of a model of thresholds. A
    threshold adds a number to the score of documents whose value is
    above it. The trees split on positions in the list of ids.
    """
    ids = sorted({threshold["id"] for threshold in thresholds})
    trees = []
    for threshold in thresholds:
        # Children below 0 are leaves: -1 is the first one, for values
        # up to the threshold, which adds nothing.
        split = (ids.index(threshold["id"]), float(threshold["above"]), -1, -2)
        trees.append(ScoreTree(splits=(split,), leaves=(0.0, float(threshold["adds"]))))
    return ids, tuple(trees)


def _trees(
    text: str, columns: Sequence[int]
) -> tuple[list[int], tuple[ScoreTree, ...]]:
    """Return the ids of the features on which trees of LightGBM split, and these trees.

    `text` has the trees, and `columns` the feature id of each of their columns.
    """
    trees = parsed_trees(text, len(columns))
    ids = sorted({columns[feature] for tree in trees for feature in tree.features})
    # Position in `ids` of each column that is used.
    position_of = {
        column: ids.index(i) for column, i in enumerate(columns) if i in set(ids)
    }
    return ids, tuple(_tree(tree, position_of) for tree in trees)


def _tree(tree: TextTree, position_of: Mapping[int, int]) -> ScoreTree:
    """Return a tree of LightGBM's text as a tree that splits on inputs of a function.

    `position_of` has the position of the input of each column.
    OutputError is raised for a tree that other programs cannot compute.
    """
    # The kind of a split is a number; one of its bits says that 0 is missing.
    if any(decision & _ZERO_IS_MISSING for decision in tree.decisions):
        raise OutputError(
            "The trees of the model treat 0 as a missing value; only LightGBM supports this."
        )
    rows = zip(tree.features, tree.thresholds, tree.left, tree.right, strict=True)
    splits = tuple(
        (position_of[column], float(threshold), left, right)
        for column, threshold, left, right in rows
    )
    # Children have higher numbers than their parent; leaves are below 0.
    depth = [0] * len(splits)
    for node, (_, _, *children) in enumerate(splits):
        for child in children:
            if child >= 0:
                depth[child] = depth[node] + 1
    if splits and max(depth) >= DEEPEST:
        raise OutputError(
            f"The model has a tree of depth {max(depth) + 1}; expected at most {DEEPEST}."
        )
    return ScoreTree(splits, tuple(float(value) for value in tree.leaves))


def model_inputs(features: Sequence[tuple[int, str]]) -> tuple[ModelInput, ...]:
    """Return inputs from features by id and name, with distinct identifiers."""
    names = exported_names(features)
    return tuple(
        ModelInput(i, _short(name), exported_name)
        for (i, name), exported_name in zip(features, names, strict=True)
    )


def _short(text: str, max_length: int = _LONGEST) -> str:
    """Return a text in one line, cut to a maximum length."""
    return one_line(text[: 2 * max_length])[:max_length]
