"""Readers of written models that share nothing with ours, for several formats."""

from __future__ import annotations

import re
from typing import Any

from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.score_function import score_function

MODEL_FORMATS = model_formats()


def written(given: Any, key: str) -> dict[str, bytes]:
    return dict(MODEL_FORMATS[key].files(score_function(given.model)))


def names(given: Any) -> dict[str, int]:
    """The identifiers that the files use, and the ids they stand for."""
    return {i.identifier: i.id for i in score_function(given.model).inputs}


def ranklib_scores(text: str, rows: list[dict[int, float]]) -> list[float]:
    """Read RankLib's two kinds of file as its manual describes them, line by line."""
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.startswith("##")
    ]
    if text.startswith("## Coordinate Ascent"):
        (line,) = lines
        pairs = [
            (int(n), float(w)) for n, w in (word.split(":") for word in line.split(" "))
        ]
        return [sum(w * row[n] for n, w in pairs) for row in rows]
    assert (
        text.startswith("## LambdaMART")
        and lines[0] == "<ensemble>"
        and lines[-1] == "</ensemble>"
    )
    scores = [0.0] * len(rows)
    lines = lines[1:-1]
    while lines:
        assert re.fullmatch(r'<tree id="\d+" weight="1.0">', lines.pop(0))
        tree = ranklib_split(lines)
        assert lines.pop(0) == "</tree>"
        for number, row in enumerate(rows):
            scores[number] += walked(tree, row)
    return scores


def ranklib_split(lines: list[str]) -> Any:
    assert re.fullmatch(r'<split( pos="(left|right)")?>', lines.pop(0))
    if (output := re.fullmatch(r"<output> (\S+) </output>", lines[0])) is not None:
        del lines[:2]
        return float(output[1])
    feature, threshold = (
        re.fullmatch(r"<\w+> (\S+) </\w+>", lines.pop(0))[1] for _ in range(2)
    )
    assert 'pos="left"' in lines[0]
    left = ranklib_split(lines)
    assert 'pos="right"' in lines[0]
    right = ranklib_split(lines)
    assert lines.pop(0) == "</split>"
    return int(feature), float(threshold), left, right


def walked(node: Any, row: dict[Any, float]) -> float:
    while isinstance(node, tuple):
        feature, threshold, left, right = node
        node = left if row[feature] <= threshold else right
    return float(node)
