"""A model in PMML 4.4: a regression, or a mining model that adds up trees."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from rankstudio import __version__
from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.formats.trial import tree_sum, weighted_sum
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import Node, ScoreTree
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import clean_text

_NAMESPACE = "http://www.dmg.org/PMML-4_4"


def write(function: ScoreFunction) -> Files:
    """Return a model as an XML document of PMML; its fields are named after the features.

    The only file has the key "", the ending of its name after the stem.
    """
    # The root and its header say what wrote the model.
    root = Element("PMML", version="4.4", xmlns=_NAMESPACE)
    header = SubElement(root, "Header", description=clean_text(function.about))
    SubElement(header, "Application", name="RankStudio", version=__version__)

    # The fields are the features that the model uses.
    fields = SubElement(
        root, "DataDictionary", numberOfFields=str(len(function.inputs))
    )
    for feature in function.inputs:
        SubElement(
            fields,
            "DataField",
            name=feature.identifier,
            displayName=clean_text(feature.name),
            optype="continuous",
            dataType="double",
        )
    if function.linear:
        # A linear model is one regression without an intercept.
        model = SubElement(
            root, "RegressionModel", modelName=function.name, functionName="regression"
        )
        _schema(model, function)
        table = SubElement(model, "RegressionTable", intercept="0")
        for feature, weight in zip(function.inputs, function.weights, strict=True):
            SubElement(
                table,
                "NumericPredictor",
                name=feature.identifier,
                coefficient=repr(weight),
            )
    else:
        # Trees are the segments of an ensemble whose predictions are added up.
        model = SubElement(
            root, "MiningModel", modelName=function.name, functionName="regression"
        )
        _schema(model, function)
        segments = SubElement(model, "Segmentation", multipleModelMethod="sum")
        for number, tree in enumerate(function.trees, start=1):
            segment = SubElement(segments, "Segment", id=str(number))

            # The predicate of a segment: the tree counts for each document.
            SubElement(segment, "True")
            _tree(segment, tree, function)
    ElementTree.indent(root)
    return {
        "": ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
    }


def _schema(model: Element, function: ScoreFunction) -> None:
    """Add the input fields and the output to a model's element.

    The output is the predicted score. ``model`` is the XML element,
    which is changed, and ``function`` the model.
    """
    schema = SubElement(model, "MiningSchema")
    for feature in function.inputs:
        SubElement(schema, "MiningField", name=feature.identifier, usageType="active")
    output = SubElement(model, "Output")
    SubElement(
        output, "OutputField", name="score", dataType="double", feature="predictedValue"
    )


def _tree(segment: Element, tree: ScoreTree, function: ScoreFunction) -> None:
    """Add the model of a tree to the element of a segment.

    The XML element ``segment`` is changed. The fields of the new model
    are the inputs of ``function`` that the tree splits on.
    """
    model = SubElement(
        segment,
        "TreeModel",
        functionName="regression",
        splitCharacteristic="binarySplit",
    )
    schema = SubElement(model, "MiningSchema")
    for column in sorted({column for column, _, _, _ in tree.splits}):
        SubElement(schema, "MiningField", name=function.inputs[column].identifier)

    # Every document enters the root.
    names = list(function.columns)
    root = SubElement(model, "Node")
    SubElement(root, "True")
    _grow(root, tree.nested(), names)


def _grow(parent: Element, node: Node, names: list[str]) -> None:
    """Add the contents of a node of a tree to the node's XML element.

    ``parent`` is the element, which already has the predicate of the node.

    A leaf has a score; a split has two child elements, the first for
    values up to the threshold. ``names`` are the fields of the inputs,
    by position.
    """
    if not isinstance(node, tuple):  # a leaf
        parent.set("score", repr(node))
        return
    column, threshold, below, above = node
    for operator, child in (("lessOrEqual", below), ("greaterThan", above)):
        inner = SubElement(parent, "Node")
        SubElement(
            inner,
            "SimplePredicate",
            field=names[column],
            operator=operator,
            value=repr(threshold),
        )
        _grow(inner, child, names)


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with the XML document in a file, in double precision.

    The scores have the shape (m,) for m documents. An XML document with
    a table of coefficients is a weighted sum; without such a table, it
    has trees.
    """
    root = ElementTree.fromstring(files[""])
    columns = function.columns

    # Names of elements are in the namespace of PMML: "{namespace}name".
    table = root.find(f".//{{{_NAMESPACE}}}RegressionTable")
    if table is not None:
        # the column and the weight of each input
        terms = [
            (columns[p.get("name", "")], float(p.get("coefficient", ""))) for p in table
        ]
        return weighted_sum(documents.X, terms, np.float64) + float(
            table.get("intercept", "0")
        )
    tops = root.iterfind(f".//{{{_NAMESPACE}}}TreeModel/{{{_NAMESPACE}}}Node")
    return tree_sum(documents.X, [_node(top, columns) for top in tops], np.float64)


def _node(element: Element, columns: dict[str, int]) -> Node:
    """Return the node of a tree in an XML element.

    A node is the value of a leaf, or a split with its two children. A
    split is the column of a field, a threshold, and the nodes for
    values up to the threshold and above it. ``columns`` has the columns
    by the names of fields.
    """
    children = element.findall(f"{{{_NAMESPACE}}}Node")
    if not children:
        return float(element.get("score", ""))
    below, above = children
    predicate = below[0]  # its first child element
    column = columns[predicate.get("field", "")]
    threshold = float(predicate.get("value", ""))
    return column, threshold, _node(below, columns), _node(above, columns)


FORMAT = ModelFormat(
    "pmml",
    "PMML 4.4",
    ".pmml",
    translatable(
        "A PMML 4.4 document: a RegressionModel, or a MiningModel that sums TreeModels."
    ),
    write,
    read,
    readers=Readers.RUNTIME,
)
