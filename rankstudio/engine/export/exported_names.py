"""Names of features in exported models, and feature sets next to models."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

FEATURE_SET = "-featureset.json"
"""End of the name of Elasticsearch's feature set, after the stem of the model."""

SHIFTED = "Math.max(0.0, (doc[params.field].size() == 0 ? 0.0 : doc[params.field].value) + params.shift)"
"""Script of a template that adds a constant to a field."""


def exported_names(features: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return distinct names of features for programs, such as "bm25_of_title", in order.

    `features` has the id and the name of each feature.

    A feature whose name is not distinct, or has no letters, is named by
    its id: "feature_7".
    """
    names = [identifier(name) for _, name in features]
    repeated_names = {name for name, count in Counter(names).items() if count > 1}
    # `identifier` begins with "feature_" where a name has no usable beginning.
    return tuple(
        f"feature_{i}"
        if name in repeated_names or name.startswith("feature_")
        else name
        for (i, _), name in zip(features, names, strict=True)
    )


def identifier(text: str) -> str:
    """Return a text as a name for programs, of lower-case letters, digits and ``_``.

    An empty name, or one that begins with a digit, gets the prefix "feature_".
    """
    # Decompose letters, so that ü becomes u.
    letters = (
        unicodedata.normalize("NFKD", text[:200])
        .encode("ascii", "ignore")
        .decode()
        .lower()
    )
    words = "_".join(re.findall(r"[a-z0-9]+", letters))
    return words if words and not words[0].isdigit() else f"feature_{words}"
