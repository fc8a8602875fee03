"""Feature logs of search engines with judgments, in the shapes in which their documentation has them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from data.same_data import assert_same_part
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.data.fold_files import path_to_open
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import json_values, part_reader
from rankstudio.engine.data.formats.data_file import unmatched_documents
from rankstudio.engine.data.formats.judgments import read_judgments
from rankstudio.engine.data.source_file import read_lines
from rankstudio.engine.errors import (
    DatasetError,
    FormatError,
    MissingValueError,
    NoJudgmentsError,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import (
    load_plan,
    save_plan,
    with_data_beside,
)
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file
from rankstudio.plugins.search_engines import feature_logs


def elastic_hit(document: str, **values: float | None) -> dict[str, Any]:
    """OpenSearch's documentation, "Logging feature scores": a query that did not match has no value."""
    log = [
        {"name": name, **({} if value is None else {"value": value})}
        for name, value in values.items()
    ]
    return {
        "_index": "tmdb",
        "_id": document,
        "_score": 20.291,
        "_source": {"title": "Rambo", "id": 7},
        "fields": {"_ltrlog": [{"log_entry1": log}]},
        "matched_queries": ["logged_featureset"],
    }


def elastic(query: str, *hits: dict[str, Any]) -> dict[str, Any]:
    return {
        "qid": query,
        "took": 2,
        "hits": {"total": {"value": len(hits)}, "hits": list(hits)},
    }


RAMBO = elastic(
    "1",
    elastic_hit("1370", title=9.5, body=10.75),
    elastic_hit("1369", title=6.75, body=None),
)
ROCKY = elastic(
    "2",
    elastic_hit("1370", title=0.5, body=1.5),
    elastic_hit("4241", title=0.0, body=2.0),
)
# Solr's reference guide, "Learning To Rank": fl=id,score,[features].
SOLR = {
    "responseHeader": {
        "status": 0,
        "params": {"q": "test", "fl": "id,score,[features]"},
    },
    "response": {
        "numFound": 2,
        "docs": [
            {
                "id": "GB18030TEST",
                "score": 1.9,
                "[features]": "documentRecency=0.02,isBook=0.0,originalScore=1.9",
            },
            {
                "id": "UTF8TEST",
                "keywords": "of its own",
                "[features]": "documentRecency=0.03",
            },  # format=sparse
        ],
    },
}
# Vespa's tutorial "Text search: machine-learned ranking".
VESPA = {
    "root": {
        "id": "toplevel",
        "children": [
            {
                "id": "id:msmarco:msmarco::D2977840",
                "relevance": 25.4,
                "fields": {
                    "matchfeatures": {
                        "bm25(body)": 19.5,
                        "bm25(title)": 5.0,
                        "closest(embedding)": {"0": 1.0},
                        "vespa.summaryFeatures.cached": 0.0,
                    },
                    "documentid": "id:msmarco:msmarco::D2977840",
                },
            },
            {
                "id": "index:msmarco/0/abc",
                "fields": {"matchfeatures": {"bm25(body)": 1.0}, "id": "D5"},
            },
        ],
    },
    "query": "what is dad bod",
}
TWICE = {
    "fields": {
        "_ltrlog": [{"l": [{"name": "t", "value": 1}, {"name": "t", "value": 2}]}]
    }
}


def vespa_hit(name: str, value: float = 1.0) -> dict[str, object]:
    return {"id": name, "fields": {"matchfeatures": {"a": value}}}


QRELS = "1 0 1370 4\n1 0 1369 2\n1 0 99 1\n2 0 1370 0\n2 0 4241 3\n"


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def lines(*values: object) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def values_of(data: FoldedDataset) -> dict[tuple[str, str], tuple[float, list[float]]]:
    part = data.folds[0].train
    rows = zip(
        part.query_index.tolist(),
        part.document_ids,
        part.y.tolist(),
        part.X.tolist(),
        strict=True,
    )
    return {
        (part.query_ids[q], document): (grade, row) for q, document, grade, row in rows
    }


EXPECTED = {
    ("1", "1370"): (4.0, [9.5, 10.75]),
    ("1", "1369"): (2.0, [6.75, 10.75]),  # the least of its query
    ("2", "1370"): (0.0, [0.5, 1.5]),
    ("2", "4241"): (3.0, [0.0, 2.0]),
}


@pytest.mark.parametrize(
    "content",
    [
        lines(RAMBO, ROCKY),
        [RAMBO, ROCKY],
        {"took": 5, "responses": [RAMBO, ROCKY]},
        lines(
            {"qid": 1, "response": {**RAMBO, "qid": None}},
            {"query_id": "2", "hits": ROCKY["hits"]},
        ),
        lines(
            *(
                {"qid": r["qid"], **hit}
                for r in (RAMBO, ROCKY)
                for hit in r["hits"]["hits"]
            )
        ),
    ],
)
def test_responses_of_elasticsearch_in_each_shape(
    tmp_path: Path, content: object
) -> None:
    write(tmp_path, "qrels.txt", QRELS)
    path = write(tmp_path, "log.json", content)
    data = open_dataset(path)
    assert data.feature_names == ("title", "body")
    assert values_of(data) == EXPECTED
    assert (data.origin.read_as.format, data.origin.read_as.qid) == (
        "logs",
        "qrels.txt",
    )
    warned = [warning for warning in data.warnings if "1 99" in warning]
    assert len(warned) == 1 and naming("1 judged document logs").search(warned[0])
    assert values_of(open_dataset(tmp_path)) == EXPECTED, "as a folder"
    assert values_of(open_dataset(tmp_path / "qrels.txt")) == EXPECTED, (
        "by the judgments"
    )
    assert path_to_open([str(path), str(tmp_path / "qrels.txt")]) == str(path)


def test_a_file_for_each_query_which_its_name_tells(tmp_path: Path) -> None:
    write(tmp_path, "qrels", QRELS)
    for query, response in (("1", RAMBO), ("2", ROCKY)):
        write(tmp_path, f"{query}.json", {"hits": response["hits"]})
    assert values_of(open_dataset(tmp_path)) == EXPECTED


def test_solr_and_ratings_of_quepid(tmp_path: Path) -> None:
    path = write(tmp_path, "solr.json", SOLR)
    rated = "8,test,GB18030TEST,3\n8,test,UTF8TEST,0\n8,test,X,\n"
    write(tmp_path, "ratings.csv", f"Case ID,Query Text,Doc ID,Rating\n{rated}")
    data = open_dataset(path)
    assert data.feature_names == ("documentRecency", "isBook", "originalScore")
    assert values_of(data) == {
        ("test", "GB18030TEST"): (3.0, [0.02, 0.0, 1.9]),
        ("test", "UTF8TEST"): (0.0, [0.03, 0.0, 0.0]),
    }
    assert not data.warnings, (
        "a document without a rating is not judged, and a feature left out is 0"
    )
    assert values_of(open_dataset(tmp_path / "ratings.csv")) == values_of(data), (
        "by the judgments"
    )
    (tmp_path / "ratings.csv").rename(tmp_path / "qrels.csv")
    assert values_of(open_dataset(tmp_path)) == values_of(data), (
        "whatever the judgments are called"
    )


def test_vespa_and_judgment_lists_of_opensearch(tmp_path: Path) -> None:
    path = write(tmp_path, "hits.json", VESPA)
    ratings = [{"docId": "D2977840", "rating": "3.000"}, {"docId": "D5", "rating": 0.5}]
    entry = {"query": "what is dad bod", "ratings": ratings}
    for whole in (
        {"name": "Imported", "type": "IMPORT_JUDGMENT", "judgmentRatings": [entry]},
        {"hits": {"hits": [{"_source": {"judgmentRatings": [entry]}}]}},
    ):
        write(tmp_path, "judgments.json", whole)
        data = open_dataset(path)
        assert data.feature_names == ("bm25(body)", "bm25(title)")
        assert values_of(data) == {
            ("what is dad bod", "D2977840"): (3.0, [19.5, 5.0]),
            ("what is dad bod", "D5"): (0.5, [1.0, 5.0]),
        }
        assert any("closest(embedding)" in warning for warning in data.warnings)


def test_what_is_in_one_file_only_is_counted_and_listed(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "log.ndjson",
        lines(RAMBO, ROCKY, elastic("7", elastic_hit("5", title=1.0, body=1.0))),
    )
    judgments = write(
        tmp_path,
        "some.csv",
        "query;docid;rating\n1;1370;-1\n" + "".join(f"3;d{i};1\n" for i in range(12)),
    )
    data = open_dataset(path, columns={"judgments": str(judgments)}).folds[0].train
    said = " ".join(data.warnings)
    assert data.n_documents == 1 and data.y.tolist() == [0.0]
    assert naming("4 logged documents judgment").search(said)
    assert naming("12 judged documents logs").search(said)
    assert naming("1 negative").search(said)
    assert "3 d0; 3 d1" in said and "and others" in said and "7 5" in said
    every = unmatched_documents(path, str(judgments))
    assert [row for row in every if row[2] == "not logged"] == [
        ("3", f"d{i}", "not logged") for i in range(12)
    ]
    assert len(every) == 16 and ("7", "5", "not judged") in every


def test_judgments_elsewhere_are_named_for_a_file_and_for_a_folder(
    tmp_path: Path,
) -> None:
    for folder in ("logs", "judged", "plans"):
        (tmp_path / folder).mkdir()
    path = write(tmp_path / "logs", "log.json", [RAMBO, ROCKY])
    judgments = write(tmp_path / "judged", "mine.txt", QRELS)
    with pytest.raises(NoJudgmentsError, match=naming("log.json")):
        open_dataset(path)
    told = {"judgments": str(judgments)}
    found = [open_dataset(place, columns=told) for place in (path, tmp_path / "logs")]
    assert values_of(found[0]) == values_of(found[1]) != {}
    plan = Plan("logs/log.json", columns={"judgments": "judged/mine.txt"})
    save_plan(plan, tmp_path / "plan.toml")
    again = with_data_beside(load_plan(tmp_path / "plan.toml"), tmp_path / "plan.toml")
    assert values_of(open_data(again)) == values_of(found[0])
    letor = write(tmp_path, "train.txt", "1 qid:1 1:2\n")
    with pytest.raises(FormatError, match=naming("train.txt")):
        open_dataset(letor, columns=told)


def test_a_feature_set_elsewhere_is_named_in_a_plan(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    path = write(tmp_path / "logs", "log.json", [RAMBO, ROCKY])
    write(tmp_path / "logs", "qrels.txt", QRELS)
    features = [{"name": n, "params": [], "template": {}} for n in ("body", "title")]
    own = write(
        tmp_path, "mine.json", {"featureset": {"name": "s", "features": features}}
    )
    save_plan(
        Plan(str(path), columns={"feature_set": "mine.json"}), tmp_path / "plan.toml"
    )
    data = open_data(
        with_data_beside(load_plan(tmp_path / "plan.toml"), tmp_path / "plan.toml")
    )
    assert data.extension(FeatureSet) is not None and data.extension(
        FeatureSet
    ).source == str(own)
    assert data.extension(FeatureSet).ids == {1: "title", 2: "body"}
    with pytest.raises(DatasetError, match=naming("log.json")):
        open_dataset(path, columns={"feature_set": str(path)})


def test_missing_values_follow_the_usual_rule(tmp_path: Path) -> None:
    write(tmp_path, "qrels.txt", QRELS)
    path = write(tmp_path, "log.json", [RAMBO, ROCKY])
    assert values_of(open_dataset(path, missing="zero"))["1", "1369"] == (
        2.0,
        [6.75, 0.0],
    )
    with pytest.raises(MissingValueError, match="1369"):
        open_dataset(path, missing="refuse")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('{"hits": {"hits": [{"_id": "1", "fields": {"_ltrlog": [1]}}]}}', "_ltrlog"),
        (lines(RAMBO) + '{"qid": "_ltrlog"\n', "line 2"),
        (elastic("1", elastic_hit("1370", title="nine")), "nine"),  # type: ignore[arg-type]
        (
            elastic("1", {"fields": {"_ltrlog": [{"l": [{"name": "t", "value": 1}]}]}}),
            "id",
        ),
        ({"docs": [{"id": "1", "[features]": "a=1,b"}]}, "name=value"),
        ({"qid": "1", "docs": [{"id": "1370", "[features]": "a=1,a =2"}]}, "named 'a'"),
        (
            {"qid": "1", "docs": [{"id": "1370", "[features]": "a=1,a=2"}]},
            "each feature",
        ),
        (elastic("1", elastic_hit("1370", title=1.0) | TWICE), "each feature"),
        (
            '{"query": "1", "fields": {"matchfeatures": {"a": 1, "a": 2}, "id": "1370"}}',
            "each name",
        ),
        ({"qid": True, "docs": [{"id": "1370", "[features]": "a=1"}]}, "true"),
        ('{"qid": NaN, "docs": [{"id": "1370", "[features]": "a=1"}]}', "NaN"),
        (
            {
                "query": "1",
                "root": {
                    "children": [vespa_hit("id:a:t::1370"), vespa_hit("id:b:t::1370")]
                },
            },
            "id:b:t",
        ),
        (
            '{"a": "[features]", "hits": {"hits": []}, "[features]": 1}',
            "no logged features",
        ),
        (elastic("5", elastic_hit("5", title=1.0)), "judgment"),
        (
            {"hits": {"hits": [elastic_hit("1370", title=1.0)]}},
            'field "query" or "qid"',
        ),
        (
            '{"qid": "1", "fields": {"_ltrlog": [{"l": [{"name": "\\ud800", "value": 1}]}]}}',
            "_ltrlog",
        ),
        ("[" * 100_000 + '"_ltrlog"', "_ltrlog"),
    ],
)
def test_what_is_no_log_is_refused_in_a_sentence(
    tmp_path: Path, content: object, found: str
) -> None:
    judgments = write(tmp_path, "qrels.txt", QRELS)
    path = write(tmp_path, "log.json", content)
    with pytest.raises((FormatError, DatasetError)) as refused:
        open_dataset(path, columns={"judgments": str(judgments)})
    assert "log.json" in str(refused.value) and found in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "a,b,c\n1,2,3\n",
        "query,docid,rating\n1,2\n",
        "query,docid,rating\n1,2,x\n",
        "query,docid,rating\n1,2,3\n1,2,4\n",
        {"judgmentRatings": [{"query": "x"}]},
        {
            "judgmentRatings": [
                {"query": "x", "ratings": [{"docId": "1", "rating": "inf"}]}
            ]
        },
        {"judgmentRatings": []},
    ],
)
def test_what_are_no_judgments_is_refused_in_a_sentence(
    tmp_path: Path, content: object
) -> None:
    with pytest.raises((FormatError, DatasetError)) as refused:
        read_judgments(read_lines(write(tmp_path, "judgments.csv", content)))
    assert "judgments.csv" in str(refused.value) and "expected" in str(refused.value)


def test_logs_without_judgments_or_with_several_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "log.json", RAMBO)
    with pytest.raises(DatasetError, match=naming("log.json judgments folder")):
        open_dataset(path)
    write(tmp_path, "qrels.txt", QRELS)
    write(tmp_path, "ratings.csv", "query,docid,rating\n1,2,3\n")
    with pytest.raises(DatasetError, match=naming("qrels.txt ratings.csv one")):
        open_dataset(path)


def test_the_user_s_part_of_an_id_of_vespa_may_have_colons(tmp_path: Path) -> None:
    """Catches ``std::vector`` and ``my::vector`` read as one document ``vector``."""
    ids = (
        "id:code:doc::std::vector",
        "id:code:doc:n=7:my::vector",
        "id:code:doc:g=a:vector",
        "std::map",
    )
    hits = [vespa_hit(name, float(i)) for i, name in enumerate(ids)]
    path = write(tmp_path, "hits.json", {"query": "q", "root": {"children": hits}})
    documents = ("std::vector", "my::vector", "vector", "std::map")
    write(
        tmp_path,
        "qrels.txt",
        "".join(f"q 0 {name} {i}\n" for i, name in enumerate(documents)),
    )
    read_values = values_of(open_dataset(path))
    assert read_values == {
        ("q", name): (float(i), [float(i)]) for i, name in enumerate(documents)
    }


def test_documents_with_one_user_s_part_are_apart_by_their_whole_ids(
    tmp_path: Path,
) -> None:
    ids = ("id:a:t::1", "id:b:t::1")
    hits = [vespa_hit(name, float(i)) for i, name in enumerate(ids)]
    path = write(tmp_path, "hits.json", {"query": "q", "root": {"children": hits}})
    write(
        tmp_path,
        "qrels.txt",
        "".join(f"q 0 {name} {i}\n" for i, name in enumerate(ids)),
    )
    assert values_of(open_dataset(path)) == {
        ("q", name): (float(i), [float(i)]) for i, name in enumerate(ids)
    }


@pytest.mark.parametrize(
    ("query", "name"), [(17.0, "17"), (17.0, "17.0"), (17.5, "17.5"), (-0.0, "0")]
)
def test_a_query_that_is_a_number_keeps_its_name(
    tmp_path: Path, query: float, name: str
) -> None:
    """Catches the name of the file in its place."""
    path = write(
        tmp_path,
        "log.json",
        {"query": query, "docs": [{"id": 3.0, "[features]": "a=1"}]},
    )
    write(tmp_path, "qrels.txt", f"{name} 0 3 1\n")
    assert values_of(open_dataset(path)) == {(name, "3"): (1.0, [1.0])}


def test_two_specifications_may_log_the_same_value(tmp_path: Path) -> None:
    entries = {
        "_ltrlog": [
            {"a": [{"name": "t", "value": 2}]},
            {"b": [{"name": "t", "value": 2.0}]},
        ]
    }
    path = write(tmp_path, "log.json", elastic("1", {"_id": "1370", "fields": entries}))
    write(tmp_path, "qrels.txt", QRELS)
    assert values_of(open_dataset(path)) == {("1", "1370"): (4.0, [2.0])}


names = st.text(
    alphabet=st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6
)
numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3) + 0.0)


def read(
    path: Path, grades: dict[str, dict[str, float]], on_disk: bool, **how: Any
) -> RankingDataset:
    """Return the documents of a log with these judgments, from memory or from disk."""
    ratings = [
        {
            "query": query,
            "ratings": [{"docId": d, "rating": g} for d, g in of_query.items()],
        }
        for query, of_query in grades.items()
    ]
    judgments = write(path.parent, "judgments.json", {"judgmentRatings": ratings})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_reader, "exceeds_budget", lambda *_: on_disk)
        told = {"judgments": str(judgments)}
        data = open_dataset(path, columns=told, cache=on_disk, **how).folds[0].train
    assert in_file(data.X) == on_disk
    return data


@given(
    st.lists(
        st.tuples(
            st.tuples(names, names),
            st.dictionaries(names, numbers, min_size=1, max_size=4),
        ),
        min_size=1,
        max_size=12,
    ),
    st.dictionaries(
        st.tuples(names, names), st.integers(0, 4), min_size=1, max_size=12
    ),
    st.sampled_from([None, 2, "lines", "list of responses"]),
    st.booleans(),
)
def test_documents_are_joined_as_by_hand(
    logged: list[tuple[tuple[str, str], dict[str, float]]],
    judged: dict[tuple[str, str], int],
    form: str | int | None,
    solr: bool,
) -> None:
    """The last values count; a feature that a document does not have is missing, of Solr 0."""
    judged = judged | dict.fromkeys([place for place, _ in logged][::2], 2)
    hits = []
    for (query, document), values in logged:
        entry = [{"name": name, "value": value} for name, value in values.items()]
        response = elastic(query, elastic_hit(document))
        response["hits"]["hits"][0]["fields"]["_ltrlog"][0]["log_entry1"] = entry
        text = ",".join(f"{name}={value}" for name, value in values.items())
        hits.append(
            {"qid": query, "docs": [{"id": document, "[features]": text}]}
            if solr
            else response
        )
    if solr and any(set(",=") & set("".join(values)) for _, values in logged):
        return
    if form == "list of responses":
        content = json.dumps(hits)
    elif form == "lines":
        content = lines(*hits).replace("\n", "\r\n\r\n")
    else:  # one after the other, each in one line or in several
        content = "".join(json.dumps(hit, indent=form) for hit in hits)
    grades: dict[str, dict[str, float]] = {}
    for (query, document), grade in judged.items():
        grades.setdefault(query, {})[document] = float(grade)
    last = dict(logged)
    rows = [
        (q, d) for q, of_query in grades.items() for d in of_query if (q, d) in last
    ]
    columns = list(
        dict.fromkeys(
            name for place, values in logged if place in judged for name in values
        )
    )
    by_hand = np.array(
        [
            [last[row].get(name, 0.0 if solr else np.nan) for name in columns]
            for row in rows
        ]
    )
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_CACHE_DIR", folder)
        patch.setattr(feature_logs, "_DOCUMENTS_PER_PIECE", 2)
        patch.setattr(json_values, "CHUNK", 100)
        path = write(Path(folder), "log.json", content)
        found = [
            read(path, grades, on_disk, missing="zero") for on_disk in (False, True)
        ]
        for data in found:
            assert data.feature_names == tuple(columns)
            np.testing.assert_array_equal(data.X, np.nan_to_num(by_hand))
            assert data.y.tolist() == [float(judged[row]) for row in rows]
            places = zip(data.query_index.tolist(), data.document_ids, strict=True)
            assert [(data.query_ids[q], document) for q, document in places] == rows
            n_unjudged, n_unlogged = (
                sum(place not in judged for place, _ in logged),
                len(judged) - len(rows),
            )
            repeated, known = 0, dict[tuple[str, str], dict[str, float]]()
            for place, values in logged:
                repeated += (
                    place in judged and known.setdefault(place, values) != values
                )
                known[place] = values
            counts = [
                int(s.split("log.json: ")[1].split(" ")[0])
                for s in data.warnings
                if "log.json: " in s
            ]
            assert counts[
                : 3 - (n_unjudged == 0) - (n_unlogged == 0) - (repeated == 0)
            ] == [n for n in (n_unjudged, n_unlogged, repeated) if n]
            assert data.source.checksum == found[0].source.checksum
        assert_same_part(found[1], found[0])
        del data, found  # before their files go


@pytest.mark.parametrize("missing", ["query_min", "zero"])
def test_a_log_on_disk_is_what_it_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: Any
) -> None:
    """Two files, one packed, of queries that come back, with new features and tensors among them."""
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(feature_logs, "_DOCUMENTS_PER_PIECE", 3)
    rng = np.random.default_rng(0)
    hits = []
    for number in range(80):
        values = {
            f"f{j}": float(rng.random())
            for j in range(3 + number // 20)
            if rng.random() < 0.9
        }
        tensor = {"t": {"0": 1.0}} if number % 7 else {"t": 1.0}
        fields = {"matchfeatures": values | tensor}
        hits.append({"qid": str(number % 5), "id": f"D{number % 70}", "fields": fields})
    (tmp_path / "a.ndjson").write_bytes(("\ufeff" + lines(*hits[:50])).encode())
    (tmp_path / "b.ndjson.gz").write_bytes(gzip.compress(lines(*hits[50:]).encode()))
    write(
        tmp_path,
        "qrels.txt",
        "".join(f"{n % 5} 0 D{n} {n % 3 - 1}\n" for n in rng.permutation(90)),
    )
    for place in (tmp_path, tmp_path / "qrels.txt"):
        whole = open_dataset(place, missing=missing).folds[0].train
        with memory.within(3e3):
            found = [
                open_dataset(place, missing=missing).folds[0].train for _ in range(2)
            ]
        assert whole.feature_names == ("f0", "f1", "f2", "f3", "f4", "f5")
        for data in found:
            assert in_file(data.X)
            assert_same_part(data, whole)
            assert set(whole.warnings) < set(data.warnings) and len(whole.warnings) == 4
    with memory.within(3e3), pytest.raises(MissingValueError) as on_disk:
        open_dataset(tmp_path, missing="refuse")
    with pytest.raises(MissingValueError) as in_memory:
        open_dataset(tmp_path, missing="refuse")
    assert str(on_disk.value) == str(in_memory.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (lines(RAMBO) + json.dumps(ROCKY)[:-9] + "\n" + lines(ROCKY), 2),
        (
            json.dumps([RAMBO, ROCKY], indent=1)[:-3],
            len(json.dumps([RAMBO, ROCKY], indent=1).split("\n")) - 2,
        ),
        (json.dumps(RAMBO, indent=1).replace('"took": 2,', '"took": 2'), 3),
        (f"[{json.dumps(RAMBO)},\n]", 2),
        (f"[{json.dumps(RAMBO)}\n{json.dumps(ROCKY)}]", 2),
    ],
)
def test_the_line_of_an_error_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, line: int
) -> None:
    judgments = write(tmp_path, "qrels.txt", QRELS)
    path = write(tmp_path, "log.json", content)
    for chunk in (100, 1 << 20):
        monkeypatch.setattr(json_values, "CHUNK", chunk)
        with pytest.raises(FormatError) as refused:
            open_dataset(path, columns={"judgments": str(judgments)})
        assert refused.value.line == line
    path.write_bytes(content.encode("utf-16"))
    with pytest.raises(FormatError, match="UTF-16"):
        open_dataset(tmp_path)


def test_logs_of_two_engines_with_other_features_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_logs, "_DOCUMENTS_PER_PIECE", 1)
    solr = {"qid": "1", "docs": [{"id": "1369", "[features]": "title=1"}]}
    new = elastic("2", elastic_hit("4241", other=1.0))
    first = elastic("1", elastic_hit("1370", title=1.0))
    write(tmp_path, "qrels.txt", QRELS)
    path = write(tmp_path, "log.json", lines(first, solr))
    assert values_of(open_dataset(path))["1", "1369"] == (2.0, [1.0])
    with pytest.raises(DatasetError, match="other"):
        open_dataset(write(tmp_path, "log.json", lines(first, solr, new)))
