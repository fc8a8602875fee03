"""Feature sets of search engines: the definition of each feature, kept as it was read."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from rankstudio.engine.data.feature_groups import read_feature_file
from rankstudio.engine.errors import DataError, DatasetError, shown
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.escaping import one_line

Engine = Literal["elasticsearch", "solr", "vespa"]
LABELS: Mapping[Engine, str] = {
    "elasticsearch": "Elasticsearch or OpenSearch",
    "solr": "Solr",
    "vespa": "Vespa",
}

FEATURE_SET_FILES = ("featureset.json", "features.json", "features.profile")
"""Possible names of the file of a feature set beside the data."""
_ENDINGS = (".json", ".profile", ".sd")

_EXPECTED = translatable(
    "a feature set of Elasticsearch or OpenSearch, a feature store of Solr, or rank features of Vespa, "
    "one per line"
)
_LISTS = re.compile(r"\b(?:match|summary)-features\s*")
_LINE = re.compile(r"[^\n{}]*")
_BRACE = re.compile(r"[{}]")
_INHERITS = "inherits"
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_ARGUMENT_CHARACTER = re.compile(r"[^\x00-\x1f\x7f{}#]")
_ARGUMENT_OR_OUTPUT = re.compile(r"[(.]")
_DERIVED = ("derived_expression", "script_feature")
_NAMES = re.compile(r"\w+")
# an entry among the features of a result that is not a feature
_CACHED = "vespa.summaryFeatures.cached"
_MAX_LENGTH = 2000  # characters of a rank feature


@dataclass(frozen=True)
class FeatureSet:
    """The feature set of a search engine: its definitions of features, in order.

    Attributes
    ----------
    engine : {"elasticsearch", "solr", "vespa"}
        The search engine.
    name : str
        Name of the set, or of Solr's store; "" without one.
    definitions : Mapping of str to str
        Definition of each feature by name: a JSON object, or Vespa's
        rank feature.
    source : str
        Name of the source of the set, such as a file, for messages.
    ids : Mapping of int to str
        Names of the set's features by their 1-based ids in the data
        that the set is matched with; empty if the set is not matched
        with data.
    by_name : bool
        Whether the features are matched by name; otherwise by position.
    """

    engine: Engine
    name: str
    definitions: Mapping[str, str] = field(hash=False)
    source: str = field(default="", compare=False)
    ids: Mapping[int, str] = field(default_factory=dict, hash=False)
    by_name: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features in order."""
        return tuple(self.definitions)

    @property
    def suffix(self) -> str:
        """Ending of the name of a file with :meth:`text`."""
        return ".profile" if self.engine == "vespa" else ".json"

    @property
    def labels(self) -> dict[int, str]:
        """Names of the features on one line each, by their ids in the data that the set is matched with."""
        return {
            number: one_line(name)
            for number, name in self.ids.items()
            if one_line(name)
        }

    def of(self, features: Sequence[tuple[int, str]]) -> dict[int, str]:
        """Return the names that the features of a model have in this set, by id.

        If the set is matched with data, a feature is found by its id in
        these data. Otherwise features are found by name, or, unless the
        set has all the names, by position: feature 1 is the first of
        the set.

        Parameters
        ----------
        features : sequence of (int, str)
            1-based ids and names of the model's features.

        Raises
        ------
        DatasetError
            If a feature is not in the set, so that scores would be wrong.
        """
        # ``ids`` has the name of each feature of the data by its id; it
        # is empty unless the set is matched with data.
        name_of_id = self.ids or self._numbered(features)
        for number, name in features:
            if number not in name_of_id:
                text = tr(
                    "{source}: feature {number} ({name}) of the model is not among the {count} features of "
                    "the feature set. Give the feature set with which the data were logged."
                )
                raise DatasetError(
                    text.format(
                        source=self.source,
                        number=number,
                        name=shown(name),
                        count=len(self.names),
                    )
                )
        return {number: name_of_id[number] for number, _ in features}

    def _numbered(self, features: Sequence[tuple[int, str]]) -> dict[int, str]:
        """Return the names that features have in this set, by feature id.

        ``features`` are pairs (1-based id, name). If the set has all
        the names, features are matched by name; else by position, as
        feature 1 is the first of the set. A feature whose name stands
        at another position of the set is left out, as its position
        would be wrong.
        """
        # Names in data are on one line; the set's may have line ends. A
        # label is a name of the set on one line.
        name_of_label = self._name_of_label
        if all(name in name_of_label for _, name in features):
            return {number: name_of_label[name] for number, name in features}
        name_at_position = dict(enumerate(self.names, start=1))
        return {
            number: name_at_position[number]
            for number, name in features
            if number in name_at_position
            and name_of_label.get(name, name_at_position[number])
            == name_at_position[number]
        }

    @property
    def _name_of_label(self) -> dict[str, str]:
        """The names in the set by their label, the name on one line, which the data have."""
        return {one_line(name): name for name in self.definitions}

    def matched(
        self, features: Iterable[tuple[int, str]], *, by_position: bool
    ) -> FeatureSet:
        """Return the set with the ids that its features have in some data.

        If the data have any name of the set, features are matched by
        name only: a table may have further columns.

        Parameters
        ----------
        features : iterable of (int, str)
            1-based ids and names of all features of the data.
        by_position : bool
            Whether feature 12 is the twelfth of the set where the data
            have none of its names.
        """
        all_features = list(features)
        # Names in data are on one line; the set's may have line ends. A
        # label is a name of the set on one line.
        name_of_label = self._name_of_label
        ids = {
            number: name_of_label[name]
            for number, name in all_features
            if name in name_of_label
        }
        by_name = bool(ids)
        if not ids and by_position:
            names = self.names
            ids = {
                number: names[number - 1]
                for number, _ in all_features
                if number <= len(names)
            }
        return replace(self, ids=ids, by_name=by_name)

    def unused(self, n: int) -> str:
        """Return the message that the set has none of the n features of some data."""
        text = tr(
            "{path}: the feature set has none of the {n} features of the data, so it is not used."
        )
        return text.format(path=self.source, n=n)

    def definition(self, feature: int) -> str:
        """Return the definition of a feature of the matched data by id.

        Return "" if the set lacks the feature.
        """
        return self.definitions.get(self.ids.get(feature, ""), "")

    def reduced(self, names: Iterable[str]) -> FeatureSet:
        """Return the set with only some of its features, by name, in the same order.

        Features from which these are derived are included, too.
        """
        definitions = {name: self.definitions[name] for name in self.needed(names)}
        return replace(self, definitions=definitions)

    def text(self) -> str:
        """Return the set as a text for its search engine.

        The text is the body of a request to Elasticsearch or Solr, in
        JSON, or the ``match-features`` of a rank profile of Vespa.
        """
        if self.engine == "vespa":
            return "".join(
                f"{line}\n" for line in ("match-features {", *self.names, "}")
            )
        features = [json.loads(definition) for definition in self.definitions.values()]
        document = {"featureset": {"name": self.name, "features": features}}
        body = features if self.engine == "solr" else document
        return json.dumps(body, indent=2, ensure_ascii=False) + "\n"

    def needed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of some features and of all features that they are derived from.

        The names are in the order of the set.

        Elasticsearch derives a feature from earlier ones by an
        expression or a script that contains their names.
        """
        # Follow the sources of each feature until no new one appears.
        needed = set(names)
        waiting = list(needed)
        while waiting:
            sources = self._sources(waiting.pop()) - needed
            needed |= sources
            waiting += sources
        return tuple(name for name in self.definitions if name in needed)

    def _sources(self, name: str) -> set[str]:
        """Return the names of the features that a feature is derived from directly.

        Only Elasticsearch has derived features: the template of such a
        feature is an expression or a script with the names of other
        features.
        """
        if self.engine != "elasticsearch":
            return set()
        feature = json.loads(self.definitions[name])
        if feature.get("template_language") not in _DERIVED:
            return set()
        words = set(_NAMES.findall(json.dumps(feature["template"], ensure_ascii=False)))
        return {word for word in words if word in self.definitions} - {name}


def read_feature_set(path: Path) -> FeatureSet:
    """Read the feature set of a search engine.

    Parameters
    ----------
    path : Path
        JSON of an Elasticsearch or OpenSearch feature set, or of a Solr
        feature store, also as the engine's response; or Vespa rank
        features: one per line, as a JSON list, the ``matchfeatures`` of
        a result, or the ``match-features`` of a rank profile.

    Raises
    ------
    DatasetError
        If the file is not a feature set, or two features have the same name.
    FileAccessError
        If the file cannot be read.
    """
    return parsed_feature_set(path, read_feature_file(path, tr(_EXPECTED)))


def parsed_feature_set(path: Path, text: str) -> FeatureSet:
    """Return a search engine's feature set from a text: JSON, or lines of Vespa.

    ``path`` is for messages only. Raise DatasetError if the text is no
    feature set, or a name occurs twice.
    """
    read = _set_from_json if text.lstrip()[:1] in ("[", "{") else _set_from_lines
    parsed = read(path, text)
    # Features are pairs (name, definition).
    counts = Counter(name for name, _ in parsed.features)
    repeated_names = [name for name, count in counts.items() if count > 1]
    if repeated_names:
        raise DatasetError(
            tr(
                "{path}: the feature {name} occurs twice, expected distinct names."
            ).format(path=path, name=shown(repeated_names[0]))
        )
    return FeatureSet(parsed.engine, parsed.name, dict(parsed.features), str(path))


def feature_set_beside(data: Path) -> FeatureSet | None:
    """Return the feature set next to a data file or folder; None if there is none."""
    folder = data if data.is_dir() else data.parent
    return first_feature_set(
        folder / name for name in FEATURE_SET_FILES if folder / name != data
    )


def first_feature_set(places: Iterable[Path]) -> FeatureSet | None:
    """Return the feature set of a search engine in the first of some files that has one.

    Missing files and files without a feature set are skipped. Return
    None if no file has one.
    """
    for path in places:
        if path.is_file():
            with suppress(DataError):  # a list of names alone, or no permission to read
                return read_feature_set(path)
    return None


def holds_feature_set(path: Path) -> bool:
    """Return whether a file is a feature set, by the ending of its name and its contents."""
    return path.suffix.lower() in _ENDINGS and first_feature_set([path]) is not None


def features_in_json(node: Any) -> tuple[list[Any], str]:
    """Return (features, name of their set) in parsed JSON of a search engine.

    ``node`` may be the list itself, a feature store or a model of Solr,
    a feature set, or a response with a feature set. The name is "" if
    there is none; without a list return ([], "").
    """
    name = ""
    # Keys of the objects that may be around the list, from the
    # outermost inward (a response has "hits" within "hits"); those that
    # are absent are skipped. The name is in the innermost object with
    # one. A list with one hit of a search is unwrapped, too.
    keys = (
        "hits",
        "hits",
        "_source",
        "model",
        "feature_set",
        "featureset",
        "featureStore",
        "features",
    )
    for key in keys:
        if isinstance(node, dict) and key in node:
            name = node["name"] if isinstance(node.get("name"), str) else name
            node = node[key]
        if (
            isinstance(node, list)
            and len(node) == 1
            and isinstance(node[0], dict)
            and "_source" in node[0]
        ):
            node = node[0]
    return (node, name) if isinstance(node, list) else ([], "")


def is_rank_feature(text: str) -> bool:
    """Return whether a text is a rank feature of Vespa, such as ``fieldMatch(title).completeness``.

    Other text is rejected, because a brace or a line end could end the
    expression.
    """
    # A name, then arguments in brackets, then an output of the feature
    # after a dot; the last two are optional. ``end`` is the position
    # behind what was recognised, 0 for an error.
    head = _DOTTED_NAME.match(text)
    if head is None or len(text) > _MAX_LENGTH:
        return False
    end = head.end()
    if text[end : end + 1] == "(":
        end = _end_of_bracket(text, end)
        if end and text[end : end + 1] == ".":
            output = _DOTTED_NAME.match(text, end + 1)
            end = output.end() if output else 0
    return end == len(text)


@dataclass(frozen=True)
class _ParsedSet:
    """Contents of a file: the engine, the name of the set, and names with definitions."""

    engine: Engine
    name: str
    features: tuple[tuple[str, str], ...]


def _set_from_json(path: Path, text: str) -> _ParsedSet:
    """Return the feature set in a JSON text of a search engine: the engine, name and definitions.

    ``path`` is for messages. Raise DatasetError if there is no feature set.
    """
    try:
        document = json.loads(text)
        # Refuse what could not be written again: half of a surrogate
        # pair, NaN, and 1e999, which is infinite.
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise _no_feature_set_error(path) from error
    # Feature sets of Vespa have only the names of features.
    if rank_features := _match_features(document):
        return _vespa_set(path, rank_features)
    features, name = features_in_json(document)
    if features and all(isinstance(feature, str) for feature in features):
        return _vespa_set(path, features)
    # Other engines define each feature by an object with a name.
    if not features or not all(
        isinstance(f, dict) and isinstance(f.get("name"), str) for f in features
    ):
        raise _no_feature_set_error(path)
    # All features have to be of one engine, None if an object is of none.
    engines = {_engine_of_feature(feature) for feature in features}
    if len(engines) != 1 or None in engines:
        raise _no_feature_set_error(path)
    engine = engines.pop()
    assert engine is not None
    # The features of Solr belong to one store, which names the set.
    if engine == "solr":
        stores = list(
            dict.fromkeys(
                str(feature.get("store", "_DEFAULT_")) for feature in features
            )
        )
        if len(stores) > 1:
            text = tr(
                "{path}: found features of several stores ({stores}), expected those of one."
            )
            raise DatasetError(
                text.format(path=path, stores=", ".join(map(shown, stores)))
            )
        name = stores[0]
    definitions = (
        (feature["name"], json.dumps(feature, ensure_ascii=False))
        for feature in features
    )
    return _ParsedSet(engine, name, tuple(definitions))


def _set_from_lines(path: Path, text: str) -> _ParsedSet:
    """Return the feature set of Vespa in lines of text, with one rank feature each.

    If the text is a rank profile, only the contents of its lists
    ``match-features`` and ``summary-features`` count, where several
    features may share a line. "#" begins a comment. ``path`` is for
    messages. Raise DatasetError if there is no feature set.
    """
    # The contents of the lists, none if the text is no rank profile.
    blocks = list(_profile_lists(text))
    feature_text = "\n".join(blocks) if blocks else text
    lines = (line.partition("#")[0].strip() for line in feature_text.splitlines())
    features = [
        feature
        for line in lines
        if line
        for feature in (_split_outside_brackets(line) if blocks else [line])
    ]
    # In the lists of a profile, any name is a feature; elsewhere, a
    # name might be any word of a text. Several lists may have the same
    # feature.
    if blocks:
        return _vespa_set(path, list(dict.fromkeys(features)), listed=True)
    return _vespa_set(path, features)


def _profile_lists(text: str) -> Iterator[str]:
    """Yield the contents of the lists of features in a rank profile of Vespa.

    The profile is ``text``. A list has a head such as
    ``match-features``, and its contents either on the same line after a
    colon, or in braces. O(n) for n characters: the next braces are
    searched only if the last ones found are passed, as a text may have
    many heads of lists before one brace.
    """
    end = 0  # behind the last list
    opening = -1  # the first brace after the head of the list
    closing = -1  # the brace after that
    for head in _LISTS.finditer(text):
        begin = head.end()
        # A head within the contents of another list is none.
        if head.start() < end:
            continue
        if text.startswith(":", begin):
            line = _LINE.match(text, begin + 1)
            assert line is not None  # it may be empty
            end = line.end()
            yield line[0]
            continue
        if opening < begin:
            opening = _next_brace(text, begin)
            closing = _next_brace(text, opening + 1)
        # The braces follow the head, or "inherits" and the name of another list.
        has_list = opening == begin or text.startswith(_INHERITS, begin)
        if has_list and text.startswith("{", opening) and text.startswith("}", closing):
            end = closing + 1
            yield text[opening + 1 : closing]


def _next_brace(text: str, begin: int) -> int:
    """Return the index of the first brace in a text from the index ``begin`` on.

    Return the length of the text if there is no brace.
    """
    brace = _BRACE.search(text, begin)
    return len(text) if brace is None else brace.start()


def _vespa_set(
    path: Path, features: Sequence[str], *, listed: bool = False
) -> _ParsedSet:
    """Return the feature set of some of Vespa's rank features; each defines itself.

    Names without arguments and outputs could be any words of any text:
    they are accepted only if another feature has arguments or an
    output, or if they are ``listed`` in a rank profile. Otherwise raise
    DatasetError, which names ``path``.
    """
    names = [feature.strip() for feature in features]
    has_typical_name = any(map(_ARGUMENT_OR_OUTPUT.search, names))
    if not all(map(is_rank_feature, names)) or not (
        has_typical_name or (listed and names)
    ):
        raise _no_feature_set_error(path)
    return _ParsedSet("vespa", "", tuple((name, name) for name in names))


def _engine_of_feature(feature: Mapping[str, Any]) -> Engine | None:
    """Return the search engine whose format a feature's object has; None for neither."""
    if isinstance(feature.get("class"), str):
        return "solr"
    return "elasticsearch" if "template" in feature else None


def _match_features(document: Any) -> list[str]:
    """Return the names of the rank features in a response of Vespa; [] without any.

    ``document`` is parsed JSON: a result, whose first hit has the
    features, or a hit itself.
    """
    if not isinstance(document, dict):
        return []
    root = document.get("root")
    hits = root.get("children") if isinstance(root, dict) else None
    first = hits[0] if isinstance(hits, list) and hits else document
    fields = first.get("fields", first) if isinstance(first, dict) else {}
    match_features = fields.get("matchfeatures") if isinstance(fields, dict) else None
    if not isinstance(match_features, dict):
        return []
    # Vespa adds an entry about its cache, which is no feature.
    return [name for name in match_features if name != _CACHED]


def _split_outside_brackets(line: str) -> Iterator[str]:
    """Yield the words of a line; blanks within brackets do not separate words.

    The rest of a line in which a bracket is not closed is one word.
    """
    depth = 0
    start = 0
    # The added blank ends the last word.
    for position, character in enumerate(line + " "):
        depth += (character == "(") - (character == ")")
        if character.isspace() and depth <= 0:
            if line[start:position].strip():
                yield line[start:position].strip()
            start = position
    if depth > 0:
        yield line[start:].strip()


def _end_of_bracket(text: str, opening: int) -> int:
    """Return the position behind the bracket that closes the one at ``opening``.

    Return 0 if no bracket closes it, or if the text in between has a
    backslash or a character that is not allowed in arguments.
    """
    depth = 0
    is_quoted = False
    for end in range(opening, len(text)):
        sign = text[end]
        if not _ARGUMENT_CHARACTER.match(sign):
            return 0
        if sign == '"':
            is_quoted = not is_quoted
        elif sign == "\\":
            return 0
        elif not is_quoted:
            # Brackets within quotation marks do not count.
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                return end + 1
    return 0


def _no_feature_set_error(path: Path) -> DatasetError:
    """Return the error of a file that is no feature set."""
    return DatasetError(
        tr("{path}: no feature set found; expected {expected}.").format(
            path=path, expected=tr(_EXPECTED)
        )
    )
