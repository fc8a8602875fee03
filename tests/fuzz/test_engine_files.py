"""Damaged feature sets, feature logs and judgments of search engines: what stands there, or a sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated, mutated_value

from rankstudio.engine.data.feature_sets import is_rank_feature, parsed_feature_set, read_feature_set
from rankstudio.engine.data.formats.data_file import load_logs
from rankstudio.engine.errors import DataError

HOSTILE = "\"',;{}</script>${jndi:x}{{keywords}}\n*/ $(rm)"
ELASTIC = {
    "name": "movies",
    "features": [
        {"name": "title", "params": ["keywords"], "template": {"match": {"title": HOSTILE}}},
        {"name": HOSTILE, "params": [], "template_language": "derived_expression", "template": "title * 2"},
    ],
}
SOLR = [
    {"name": name, "store": "s", "class": "org.apache.solr.ltr.feature.SolrFeature", "params": {"q": HOSTILE}}
    for name in ("recency", "isBook")
]
VESPA = ["bm25(title)", "fieldMatch(title).completeness", 'query("a b")', "nativeRank"]
PROFILES = (
    b"bm25(title)\nnativeRank # more\nattribute(x)\n",
    b"rank-profile a {\n match-features {\n bm25(title) closeness(field, e)\n }\n}\n",
)

ENTRIES = [{"name": "title", "value": 9.5}, {"name": "body"}]
LOGS: tuple[object, ...] = (
    {"qid": "1", "hits": {"hits": [{"_id": d, "fields": {"_ltrlog": [{"log": ENTRIES}]}} for d in "abc"]}},
    {
        "responseHeader": {"params": {"q": "1"}},
        "response": {
            "docs": [{"id": "a", "[features]": "title=1.0,body=2"}, {"id": "b", "[features]": "body=0"}]
        },
    },
    {
        "query": "1",
        "root": {
            "children": [
                {"id": "id:x:x::a", "fields": {"matchfeatures": {"bm25(title)": 1, "t": {"0": 1}}}},
                {"id": "b", "fields": {"matchfeatures": {"bm25(title)": 0.5}}},
            ]
        },
    },
)
JUDGMENTS = (
    b"1 0 a 2\n1 0 b 0\n1 0 c -1\n2 0 a 1\n",
    b'query,docid,rating\n1,a,3\n1,b,0.5\n"1",c,\n',
    json.dumps(
        {
            "judgmentRatings": [
                {"query": "1", "ratings": [{"docId": "a", "rating": "2"}, {"docId": "b", "rating": 0}]}
            ]
        }
    ).encode(),
)


def as_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


def test_feature_sets(fuzz: Fuzz) -> None:
    sound = (*map(as_bytes, ({"featureset": ELASTIC}, SOLR, VESPA)), *PROFILES)

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / rng.choice(("featureset.json", "x.profile"))
        if rng.random() < 0.5:
            content = as_bytes(mutated_value(rng, rng.choice(({"featureset": ELASTIC}, SOLR, VESPA))))
        else:
            content = mutated(rng, rng.choice(sound), sound)
        path.write_bytes(content)
        try:
            found = read_feature_set(path)
        except DataError as error:
            return refusal(error, path)
        assert found.definitions and found.engine in ("elasticsearch", "solr", "vespa")
        again = parsed_feature_set(path, found.text())
        assert (again.engine, again.definitions) == (found.engine, found.definitions)
        if found.engine == "vespa":
            assert all(map(is_rank_feature, found.names)), "nothing else goes into an expression"
        found.reduced(found.names[:1]).text().encode()
        return Outcome.READ

    fuzz("feature sets", attempt, 500)


def test_feature_logs(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        log, judgments = folder / "log.json", folder / rng.choice(("qrels", "ratings.csv", "judgments.json"))
        value, graded = rng.choice(LOGS), rng.choice(JUDGMENTS)
        content = as_bytes(value)
        which = rng.random()
        if which < 0.4:
            content = as_bytes(mutated_value(rng, value))
        elif which < 0.7:
            content = mutated(rng, content, tuple(map(as_bytes, LOGS)))
        else:
            graded = mutated(rng, graded, JUDGMENTS)
        log.write_bytes(content)
        judgments.write_bytes(graded)
        try:
            data = load_logs(log, judgments)
        except DataError as error:
            return refusal(error, log if log.name in str(error) else judgments)
        assert np.isfinite(data.X).all() and (data.y >= 0).all() and np.isfinite(data.y).all()
        assert data.n_documents == len(set(zip(data.query_index.tolist(), data.document_ids, strict=True)))
        assert len(set(data.feature_names)) == data.n_features > 0
        return Outcome.READ

    fuzz("feature logs", attempt, 700)
