"""Feature sets of search engines, in the shapes in which their documentation and projects have them."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data import feature_sets
from rankstudio.engine.data.feature_names import (
    FeatureNotes,
    load_notes,
    renamed,
    save_notes,
    set_mismatch,
    with_feature_set,
)
from rankstudio.engine.data.feature_sets import (
    FeatureSet,
    feature_set_beside,
    is_rank_feature,
    parsed_feature_set,
    read_feature_set,
)
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.errors import DataError, DatasetError

TITLE = {
    "name": "title_query",
    "params": ["keywords"],
    "template_language": "mustache",
    "template": {"match": {"title": "{{keywords}}"}},
}
# OpenSearch's documentation, "Working with features": features derived from others.
BOOST = {
    "name": "title_query_boost",
    "params": ["some_multiplier"],
    "template_language": "derived_expression",
    "template": "title_query * some_multiplier",
}
SCRIPT = {
    "name": "custom",
    "params": ["some_multiplier"],
    "template_language": "script_feature",
    "template": {
        "lang": "painless",
        "source": "params.feature_vector.get('title_query_boost') * 2",
    },
}
# Solr's reference guide, "Learning To Rank".
RECENCY = {
    "name": "documentRecency",
    "class": "org.apache.solr.ltr.feature.SolrFeature",
    "params": {"q": "{!func}recip( ms(NOW,last_modified), 3.16e-11, 1, 1)"},
}
BOOK = {
    "name": "isBook",
    "class": "org.apache.solr.ltr.feature.SolrFeature",
    "params": {"fq": ["{!terms f=cat}book"]},
}
# Vespa's tutorial "Text search: machine-learned ranking".
PROFILE = """
schema msmarco {
    rank-profile collect_rank_features inherits default {
        first-phase {
            expression: bm25(title) + bm25(body)
        }
        match-features {
            bm25(title)
            closeness(field, embedding)  # of the first query
            fieldMatch(title).completeness nativeRank
        }
        summary-features: bm25(title) fieldTermMatch(title,0).weight
    }
}
"""


def written(tmp_path: Path, content: object, name: str = "set.json") -> Path:
    path = tmp_path / name
    path.write_text(
        content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
    )
    return path


ELASTIC = [TITLE, BOOST, SCRIPT]


@pytest.mark.parametrize(
    "whole",
    [
        {"featureset": {"name": "movies", "features": ELASTIC}},
        {"name": "movies", "features": ELASTIC},
        {
            "validation": {"index": "tmdb"},
            "featureset": {"name": "movies", "features": ELASTIC},
        },
        {
            "_index": ".ltrstore",
            "_source": {"name": "movies", "featureset": {"features": ELASTIC}},
        },
        {
            "hits": {
                "hits": [
                    {"_source": {"featureset": {"name": "movies", "features": ELASTIC}}}
                ]
            }
        },
        {
            "_source": {
                "name": "m",
                "model": {"feature_set": {"name": "movies", "features": ELASTIC}},
            }
        },
    ],
)
def test_elasticsearch_in_each_of_its_answers(tmp_path: Path, whole: object) -> None:
    feature_set = read_feature_set(written(tmp_path, whole))
    assert (feature_set.engine, feature_set.name) == ("elasticsearch", "movies")
    assert [json.loads(text) for text in feature_set.definitions.values()] == ELASTIC


@pytest.mark.parametrize("store", [None, "egstore"])
def test_solr_keeps_its_store(tmp_path: Path, store: str | None) -> None:
    features = [
        {**({"store": store} if store else {}), **feature}
        for feature in (RECENCY, BOOK)
    ]
    for whole in (features, {"responseHeader": {"status": 0}, "features": features}):
        feature_set = read_feature_set(written(tmp_path, whole))
        assert (feature_set.engine, feature_set.name) == ("solr", store or "_DEFAULT_")
        assert [
            json.loads(text) for text in feature_set.definitions.values()
        ] == features


def test_vespa_from_a_profile_a_list_lines_and_a_result(tmp_path: Path) -> None:
    names = (
        "bm25(title)",
        "closeness(field, embedding)",
        "fieldMatch(title).completeness",
        "nativeRank",
    )
    profile = read_feature_set(written(tmp_path, PROFILE, "msmarco.sd"))
    assert profile.names == (*names, "fieldTermMatch(title,0).weight")
    hit = {
        "fields": {
            "matchfeatures": {
                **dict.fromkeys(names, 0.5),
                "vespa.summaryFeatures.cached": 0.0,
            }
        }
    }
    shapes = (
        "\n".join(f"{n}  # noted" for n in names),
        list(names),
        {"root": {"children": [hit]}},
    )
    for shape in shapes:
        feature_set = read_feature_set(written(tmp_path, shape))
        assert (feature_set.engine, feature_set.names) == ("vespa", names)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "1,BM25\n2,TF\n",
        ["BM25", "TF"],
        [{"name": "BM25"}],
        [TITLE, RECENCY],
        [{**RECENCY, "store": "a"}, {**BOOK, "store": "b"}],
        [TITLE, TITLE],
        [{**TITLE, "template": float("nan")}],
        '[{"name": "title", "template": 1e999}]',
        '[{"name": "\\ud800", "template": {}}]',
        "bm25(title\nbm25(body)",
        "bm25(title)} rank-profile x {",
        "[" * 100_000,
    ],
)
def test_what_is_none_is_refused_in_a_sentence(tmp_path: Path, content: object) -> None:
    with pytest.raises(DatasetError) as refused:
        read_feature_set(written(tmp_path, content))
    assert "expected" in str(refused.value)
    assert "set.json" in str(refused.value)


def test_derived_features_bring_those_they_need_in_the_order_of_the_set(
    tmp_path: Path,
) -> None:
    # its name stands in a template that is not derived
    other = {**TITLE, "name": "title"}
    feature_set = read_feature_set(written(tmp_path, {"features": [other, *ELASTIC]}))
    assert feature_set.needed(["custom"]) == (
        "title_query",
        "title_query_boost",
        "custom",
    )
    assert feature_set.needed(["title"]) == ("title",)
    assert feature_set.needed(["custom", "title"]) == (
        "title",
        "title_query",
        "title_query_boost",
        "custom",
    )


SET = FeatureSet(
    "vespa", "", {name: name for name in ("bm25(a)", "bm25(b)", "c")}, "features.txt"
)


def test_features_are_found_by_name_or_else_by_id() -> None:
    assert SET.of([(7, "c"), (9, "bm25(a)")]) == {7: "c", 9: "bm25(a)"}
    assert SET.of([(1, "feature 1"), (3, "feature 3")]) == {1: "bm25(a)", 3: "c"}
    assert SET.of([(2, "renamed by hand"), (3, "c")]) == {2: "bm25(b)", 3: "c"}


@pytest.mark.parametrize(
    "features", [[(4, "feature 4")], [(1, "c"), (2, "feature 2")], [(371, "x")]]
)
def test_a_model_that_asks_for_more_than_its_set_has_is_refused(
    features: list[tuple[int, str]],
) -> None:
    with pytest.raises(DatasetError, match="not among the 3 features"):
        SET.of(features)


def test_a_set_beside_the_data_is_found_and_a_list_of_names_is_none(
    tmp_path: Path,
) -> None:
    data = written(tmp_path, "1 qid:1 1:2\n", "train.txt")
    assert feature_set_beside(data) is None
    written(tmp_path, ["BM25", "TF"], "features.json")
    assert feature_set_beside(data) is None
    written(
        tmp_path,
        {"featureset": {"name": "movies", "features": ELASTIC}},
        "featureset.json",
    )
    for place in (data, tmp_path):
        feature_set = feature_set_beside(place)
        assert feature_set is not None
        assert feature_set.name == "movies"


def test_features_of_data_are_found_by_name_or_by_position_where_they_have_none() -> (
    None
):
    named = SET.matched([(1, "price"), (2, "c"), (3, "bm25(a)")], by_position=True)
    assert (named.ids, named.by_name) == ({2: "c", 3: "bm25(a)"}, True)
    assert named.definition(1) == "" and named.definition(2) == "c"
    assert named.of([(3, "called otherwise by now")]) == {3: "bm25(a)"}
    with pytest.raises(DatasetError, match="price"):
        named.of([(1, "price")])
    plain = [(i, f"feature {i}") for i in range(1, 6)]
    numbered = SET.matched(plain, by_position=True)
    assert (numbered.ids, numbered.by_name) == (
        {1: "bm25(a)", 2: "bm25(b)", 3: "c"},
        False,
    )
    assert SET.matched(plain, by_position=False).ids == {}


@pytest.mark.parametrize(
    "content",
    [{"featureset": {"name": "m", "features": ELASTIC}}, [RECENCY, BOOK], PROFILE],
)
def test_a_set_is_written_as_its_engine_takes_it(
    tmp_path: Path, content: object
) -> None:
    feature_set = read_feature_set(
        written(tmp_path, content, "set.profile" if content == PROFILE else "set.json")
    )
    again = parsed_feature_set(Path("again"), feature_set.text())
    assert (again.engine, again.name, again.definitions) == (
        feature_set.engine,
        feature_set.name,
        feature_set.definitions,
    )
    last = feature_set.names[-1]
    kept = feature_set.reduced([last])
    assert last in kept.names and len(kept.names) < len(feature_set.names) + (
        feature_set.engine == "elasticsearch"
    )
    assert (
        parsed_feature_set(Path("again"), kept.text()).definitions == kept.definitions
    )


TEXT = "2 qid:1 1:0.1 2:3\n0 qid:1 1:0.2 2:1\n"


def test_data_beside_a_set_have_its_names_and_definitions(tmp_path: Path) -> None:
    written(tmp_path, TEXT, "train.txt")
    written(
        tmp_path,
        {"featureset": {"name": "movies", "features": ELASTIC[:2]}},
        "featureset.json",
    )
    dataset = open_dataset(tmp_path)
    assert dataset.feature_names == tuple(feature["name"] for feature in ELASTIC[:2])
    assert dataset.extension(FeatureSet) is not None
    assert json.loads(dataset.extension(FeatureSet).definition(2)) == ELASTIC[1]
    assert not dataset.warnings
    written(
        tmp_path,
        {"featureset": {"name": "movies", "features": ELASTIC}},
        "featureset.json",
    )
    dataset = open_dataset(tmp_path)
    assert naming("featureset.json 3 2").search(" ".join(dataset.warnings))
    written(tmp_path, "id,name\n1,own\n2,other\n", "features.csv")
    named = open_dataset(tmp_path)
    assert named.feature_names == ("own", "other"), "names that are written by hand win"
    assert named.extension(FeatureSet) is not None
    assert named.extension(FeatureSet).ids == dataset.extension(FeatureSet).ids


def test_rank_features_beside_data_name_them(tmp_path: Path) -> None:
    written(tmp_path, TEXT, "train.txt")
    written(tmp_path, "bm25(title)\nnativeRank\n", "features.profile")
    assert open_dataset(tmp_path).feature_names == ("bm25(title)", "nativeRank")


def test_columns_of_a_table_keep_their_names_beside_a_set(tmp_path: Path) -> None:
    first, second = (feature["name"] for feature in ELASTIC[:2])
    written(
        tmp_path,
        f"qid,label,price,{second},{first}\n1,1,5,0.1,0.2\n1,0,6,0.3,0.4\n",
        "train.csv",
    )
    written(
        tmp_path,
        {"featureset": {"name": "movies", "features": ELASTIC}},
        "featureset.json",
    )
    dataset = open_dataset(tmp_path)
    assert dataset.feature_names == ("price", second, first)
    assert dataset.extension(FeatureSet) is not None
    assert dataset.extension(FeatureSet).ids == {2: second, 3: first}
    (tmp_path / "train.csv").write_text("qid,label,price,size\n1,1,5,0.1\n1,0,6,0.3\n")
    dataset = open_dataset(tmp_path)
    assert dataset.extension(FeatureSet) is None and dataset.feature_names == (
        "price",
        "size",
    )
    assert naming("featureset.json 2 features").search(" ".join(dataset.warnings))


def test_a_set_that_is_named_and_names_of_the_users_own(tmp_path: Path) -> None:
    dataset = open_dataset(written(tmp_path, TEXT, "train.txt"))
    mine = renamed(dataset, {2: "Mine"})
    made = with_feature_set(mine, SET)
    assert made.feature_names == ("bm25(a)", "Mine")
    assert renamed(made, {}).feature_names == ("bm25(a)", "bm25(b)")
    assert naming("features.txt 3 2").search(set_mismatch(made))
    with pytest.raises(DatasetError, match="none"):
        with_feature_set(dataset, replace(SET, definitions={}))


def test_a_set_is_kept_with_notes(tmp_path: Path) -> None:
    dataset = open_dataset(written(tmp_path, TEXT, "train.txt"))
    elastic = read_feature_set(
        written(tmp_path, {"features": [{**TITLE, "name": HOSTILE}, BOOST]})
    )
    save_notes(tmp_path / "notes", dataset, FeatureNotes(feature_set=elastic))
    feature_set = load_notes(tmp_path / "notes", dataset).feature_set
    assert feature_set is not None and feature_set.definitions == elastic.definitions
    next((tmp_path / "notes").glob("*.featureset")).write_text("{")
    assert load_notes(tmp_path / "notes", dataset).feature_set is None


HOSTILE = "\"',;{}</script>${jndi:x}{{keywords}}\n*/ $(rm)"


@given(st.text(alphabet='ab1.,(){}"\\\n#$ _-', max_size=30))
def test_a_rank_feature_never_leaves_its_expression(text: str) -> None:
    if is_rank_feature(text):
        assert not set(text) & set("{}#\n\\")
        quoted = text.split('"')
        assert len(quoted) % 2 == 1
        plain = "".join(quoted[::2])
        assert plain.count("(") == plain.count(")")
        assert (
            "(" not in plain[plain.rindex(")") :]
            if ")" in plain
            else plain.replace(".", "").isidentifier()
        )


_PARTS = (
    "match-features",
    "summary-features",
    "inherits",
    " ",
    "\n",
    ":",
    "{",
    "}",
    "a",
    "bm25(b)",
    "x",
)


@given(st.lists(st.sampled_from(_PARTS), max_size=40).map("".join))
def test_the_lists_of_a_profile_are_those_of_a_pattern(text: str) -> None:
    """The pattern says what they are, and takes a time that grows with the square of the text."""
    pattern = r"\b(?:match|summary)-features\s*(?::([^\n{}]*)|(?:inherits[^{}]*)?\{([^{}]*)\})"
    expected = [
        "".join(filter(None, match.groups())) for match in re.finditer(pattern, text)
    ]
    assert list(feature_sets._profile_lists(text)) == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        *(f"{name}-features inherits " * 12_000 for name in ("match", "summary")),
        "match-features { inherits match-features inherits x }" * 5_000,
        "match-features " * 15_000,
        "match-features {" + "(" * 200_000,
        "match-features {\n" * 12_000,
        "match-features : a " * 11_000,
        "match-features" + " " * 200_000,
    ],
)
def test_a_long_profile_is_read_or_refused_at_once(tmp_path: Path, text: str) -> None:
    """A profile of 208 KB hung every command for more than a minute."""
    path = tmp_path / "features.profile"
    path.write_text(text, encoding="utf-8")
    with contextlib.suppress(DataError):
        read_feature_set(path)


@pytest.mark.timeout(20)
def test_a_long_chain_of_derived_features_is_followed_at_once(tmp_path: Path) -> None:
    """A chain of 600 took 19 s, with the third power of its length."""
    n = 5_000
    template = {"params": [], "template_language": "derived_expression"}
    features = [
        {"name": f"f{i}", **template, "template": f"f{max(i - 1, 0)} * 2"}
        for i in range(n)
    ]
    path = tmp_path / "featureset.json"
    path.write_text(
        json.dumps({"featureset": {"name": "s", "features": features}}),
        encoding="utf-8",
    )
    feature_set = read_feature_set(path)
    assert len(feature_set.needed([f"f{n - 1}"])) == n
    assert feature_set.needed(["f2"]) == ("f0", "f1", "f2")
