"""Names in generated files, read back by each target's own parser: none is anything but text."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import shutil
import sqlite3
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import nbformat
import numpy as np
import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.experiment.plan.as_code import as_command, as_notebook, as_python
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_toml
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Series
from rankstudio.engine.export.formats.model_format import Documents
from rankstudio.engine.export.formats.registry import absent_plugin_of, model_formats
from rankstudio.engine.export.models import Model, Weight
from rankstudio.engine.export.score_function import ScoreFunction, score_function
from rankstudio.engine.export.tables import (
    TextTable,
    csv_text,
    latex_text,
    markdown_text,
)
from rankstudio.engine.support.escaping import (
    Comment,
    clean_text,
    comment_text,
    guarded,
    html_text,
    latex_escaped,
    markdown_escaped,
    one_line,
    shell_command,
    unguarded,
)

MODEL_FORMATS = model_formats()

PIECES = (
    *(
        "*\\",
        "*\\/",
        "*/",
        "/*",
        "??/",
        "??/\n",
        "\\\n",
        "\\",
        "*",
        "/",
        "//",
        '"""',
        "'''",
        "'",
        '"',
    ),
    *(
        "#",
        "--",
        "; DROP TABLE documents;",
        ";",
        ":x",
        "?",
        "$1",
        "]]>",
        "<![CDATA[",
        "</script>",
    ),
    *(
        "<script>",
        "<b>",
        "&lt;",
        "&#0;",
        "&",
        "%",
        "%%",
        "\\input{x}",
        "\\end{document}",
        "^^5cinput",
    ),
    *(
        "{",
        "}",
        "$",
        "~",
        "_",
        "^",
        "[9cm]",
        "|",
        "`",
        "![x](http://x)",
        "[x](javascript:x)",
    ),
    *(
        "http://x",
        "<!--",
        "-->",
        "\\033[",
        "\r",
        "\n",
        "\t",
        "\0",
        "\x1b[2J",
        "\x7f",
        "\x85",
        "\u2028",
    ),
    *(
        "\u2029",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\ufffe",
        "coding: utf-7",
        "coding=utf_7 +AAo-",
        "$(id)",
    ),
    *(
        "`id`",
        "!!",
        "\\$",
        "x",
        " ",
        "é",
        "日本",
        "2^9",
        "import os",
        "system();",
        "){ }",
        "@",
        "= cmd",
    ),
    *("}}", "{{", "${x}", "-*-"),
)
names = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)
several = st.lists(names, min_size=1, max_size=12)
HOSTILE = '*\\ int evil(void) { return system("id"); } \\*'


def model(named: Sequence[str]) -> Model:
    weights = tuple(Weight(i, name, float(i)) for i, name in enumerate(named, start=1))
    return Model(
        weights, named[0], {}, {"data": named[-1], "fold": named[len(named) // 2]}
    )


def written(key: str, named: Sequence[str]) -> tuple[str, str]:
    """Return a model with these names, and the same with plain names in their places."""
    if lacking := absent_plugin_of(key):
        pytest.skip(lacking)
    function = score_function(model(named))
    assert all(
        re.fullmatch(r"[a-z_][a-z0-9_]{0,400}", text)
        for text in (function.name, *idents(function))
    )
    plain = replace(
        function, about="x", inputs=tuple(replace(i, name="x") for i in function.inputs)
    )
    form = MODEL_FORMATS[key]
    return form.files(function)[""].decode(), form.files(plain)[""].decode()


def idents(function: ScoreFunction) -> Iterator[str]:
    return (given.identifier for given in function.inputs)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@example(named=[HOSTILE])
@example(named=["*??/\n/ int evil;", "*\\\n/ int evil;", "a */ int evil; /*"])
@given(named=several)
def test_c_is_the_same_code_whatever_the_names(named: list[str]) -> None:
    strict = (
        "gcc",
        "-std=c89",
        "-trigraphs",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-Wbidi-chars=any",
    )

    def tokens(source: str, *options: str) -> str:
        command = [*strict, *options, "-x", "c", "-"]
        return subprocess.run(
            command, input=source, capture_output=True, text=True, check=True
        ).stdout

    hostile, plain = written("c", named)
    assert tokens(hostile, "-E", "-P") == tokens(plain, "-E", "-P"), (
        "without comments it is the same"
    )
    tokens(hostile, "-fsyntax-only")


@example(named=["coding: utf-7 +AAo-import os+AAo-"])
@given(named=several)
def test_a_python_module_is_the_same_code_whatever_the_names(named: list[str]) -> None:
    hostile, plain = written("python", named)
    assert tokenize.detect_encoding(io.BytesIO(hostile.encode()).readline)[0] == "utf-8"
    (features, *rest), (_, *others) = (
        ast.parse(text.encode()).body for text in (hostile, plain)
    )
    assert list(map(ast.dump, rest)) == list(map(ast.dump, others))
    found = ast.literal_eval(features.value)
    assert found == {i.id: i.name for i in score_function(model(named)).inputs}


@example(data="x", version='1"""\nimport os\nos.system("id")')
@example(data="x", version="coding: utf-7 +AAo-import os+AAo-")
@given(data=names.filter(bool), version=names)
def test_a_program_and_a_notebook_are_the_same_code_whatever_a_study_says(
    data: str, version: str
) -> None:
    plan, by = Plan(data), {"rankstudio": version, version: "1"}
    program = as_python(plan, data, by)
    assert tokenize.detect_encoding(io.BytesIO(program.encode()).readline)[0] == "utf-8"
    assert ast.dump(ast.parse(program)) == ast.dump(ast.parse(as_python(plan, data)))
    (said,) = [
        k.value
        for k in ast.walk(ast.parse(program))
        if isinstance(k, ast.keyword) and k.arg == "data"
    ]
    assert ast.literal_eval(said) == data
    notebook = nbformat.reads(as_notebook(plan, data, by), as_version=4)
    nbformat.validate(notebook)
    plain = nbformat.reads(as_notebook(plan, data), as_version=4)
    assert [c.source for c in notebook.cells[1:]] == [c.source for c in plain.cells[1:]]
    kinds = [token.type for token in MarkdownIt().parse(notebook.cells[0].source)]
    assert kinds == [
        "heading_open",
        "inline",
        "heading_close",
        "paragraph_open",
        "inline",
        "paragraph_close",
    ]


@given(named=several)
def test_sql_is_one_expression_whatever_the_names(named: list[str]) -> None:
    hostile, plain = written("sql", named)
    for sign in ";:?\\@$'`/*":  # clients look for these in comments, too
        assert hostile.count(sign) == plain.count(sign)
    assert [line for line in hostile.splitlines() if line[:2] != "--"] == [
        line for line in plain.splitlines() if line[:2] != "--"
    ]
    columns = ", ".join(f'"{i}" REAL' for i in idents(score_function(model(named))))
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE documents ({columns})")
        base.execute(f"INSERT INTO documents VALUES ({', '.join('1' for _ in named)})")
        ((score,),) = base.execute(f"SELECT ({hostile}) FROM documents")
    assert score == sum(range(1, len(named) + 1))


@pytest.mark.parametrize(("key", "mark"), [("ranklib", "##"), ("vespa", "#")])
@given(named=several)
def test_lines_of_comments_stay_comments(key: str, mark: str, named: list[str]) -> None:
    hostile, plain = (text.splitlines() for text in written(key, named))
    assert [line for line in hostile if not line.startswith(mark)] == [
        line for line in plain if not line.startswith(mark)
    ]
    assert len(hostile) == len(plain) and not {"{", "}"} & set(
        "".join(hostile[: len(named) + 1])
    )


def _without_description(key: str, text: str) -> object:
    """What is read of a model, without the comment or field that says how it was chosen."""
    if key in ("solr", "elasticsearch"):
        entries = json.loads(text)
        entries.pop("description", None)
        return entries
    return [line.partition("#")[0] for line in text.splitlines()]


@pytest.mark.parametrize("key", ["solr", "elasticsearch", "svmlight", "svmrank"])
@given(named=several)
def test_formats_without_names_have_identifiers_alone(
    key: str, named: list[str]
) -> None:
    hostile, plain = (_without_description(key, text) for text in written(key, named))
    assert hostile == plain


@given(named=several)
def test_pmml_is_xml_with_the_names_as_attributes(named: list[str]) -> None:
    hostile, _ = written("pmml", named)
    root = ElementTree.fromstring(hostile)
    found = [e.get("displayName") for e in root.iter() if e.tag.endswith("DataField")]
    assert found == [clean_text(i.name) for i in score_function(model(named)).inputs]


@pytest.mark.ability("exports")
@given(named=several)
def test_onnx_has_a_line_for_each_name(named: list[str]) -> None:
    graph = onnx.load_from_string(
        MODEL_FORMATS["onnx"].files(score_function(model(named)))[""]
    )
    onnx.checker.check_model(graph)
    (found,) = [
        p.value.split("\n") for p in graph.metadata_props if p.key == "feature_names"
    ]
    assert found == [i.name for i in score_function(model(named)).inputs]


class Tags(HTMLParser):
    """The tags with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, object]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append((tag, attrs))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("", data))

    handle_pi = unknown_decl = handle_comment

    def handle_data(self, data: str) -> None:
        self.text += data


@given(name=names)
def test_html_has_names_as_text_in_elements_and_in_attributes(name: str) -> None:
    found = Tags(
        f"<td title=\"{html_text(name)}\" lang='{html_text(name)}'>{html_text(name)}</td>"
    )
    assert found.tags == [
        ("td", [("title", clean_text(name)), ("lang", clean_text(name))])
    ]
    assert found.text == clean_text(name)
    assert not set(
        "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e\u200f\u061c\0\x1b"
    ) & set(found.text)


@pytest.mark.ability("report")
@given(name=names)
def test_a_report_has_no_tag_more_whatever_the_texts(name: str) -> None:
    from rankstudio.plugins.report.document import (  # noqa: PLC0415 - its folder may be absent
        CodeText,
        FactList,
        Paragraph,
        Report,
        ReportSection,
        html_page,
    )

    def tags(text: str) -> list[str]:
        table = TextTable(text, (text, text), ((text, text),), note=text or "x")
        blocks = (
            Paragraph(f"x {one_line(text)}"),
            FactList(((text, text),)),
            table,
            CodeText(text, text),
        )
        page = html_page(Report(text, text, (ReportSection("data", text, blocks),)))
        return [tag[0] for tag in Tags(page).tags]

    assert tags(name) == tags("x")


def named_svg(name: str) -> ElementTree.Element:
    # where there is room for any name
    axis, style = FigureAxis(name), style_of("poster", 4.0)
    drawn = CurvesFigure(
        "x", name, name, axis, axis, (Series("", (1.0, 2.0), (1.0, 2.0)),)
    )
    return ElementTree.fromstring(figure_bytes(drawn, style, "svg"))


plain_svg = cache(lambda: named_svg("x"))


# a figure takes a fifth of a second
@settings(max_examples=max(settings().max_examples // 3, 5))
@given(name=names)
def test_svg_is_xml_with_the_names_as_text(name: str) -> None:
    root = named_svg(name)
    assert {e.tag for e in root.iter()} <= {e.tag for e in plain_svg().iter()}
    said = " ".join(e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text"))
    assert " ".join(said.split()).count(" ".join(one_line(name).split())) >= 2
    assert (root.findtext("{http://www.w3.org/2000/svg}title") or "") == clean_text(
        name
    )


@given(name=names)
def test_markdown_has_names_as_text(name: str) -> None:
    parsed = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .parse(markdown_text(["x"], [[name]]))
    )
    inline = [token for token in parsed if token.type == "inline"]
    assert (
        len(inline) == 2
        and [t.type for t in parsed if t.type.endswith("_open")].count("td_open") == 1
    )
    children = inline[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == (one_line(name) or "–")
    assert markdown_escaped(name) == markdown_escaped(one_line(name))


SIGNS = frozenset("&%$#_{}")
WORDS = frozenset(
    {
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
        "pm",
        "times",
        "ldots",
        "lambda",
        "Phi",
        "psi",
    }
    | {"checkmark", "dagger", "ddagger", "cdot", "char"}
)


def tex_tokens(text: str) -> Iterator[str]:
    """Yield tokens as TeX's mouth makes them with LaTeX's category codes: \\words, \\signs and characters."""
    at = 0
    while at < len(text):
        assert text[at : at + 2] != "^^", "TeX would read another character here"
        if text[at] == "%":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end + 1
            continue
        found = re.match(r"\\([A-Za-z]+) *|\\(.)|(.)", text[at:], re.DOTALL)
        assert found is not None
        word, sign, plain = found.groups()
        yield f"\\{word or sign}" if plain is None else plain
        at += found.end()


def check_tex(tokens: Sequence[str]) -> None:
    """Assert that nothing but what sets characters is in the text of a cell."""
    depth, math = 0, False
    for token in tokens:
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
        math ^= token == "$"
        if token.startswith("\\"):
            assert token[1:] in WORDS or token[1:] in SIGNS, token
        assert token not in ("&", "#", "~", "%", "\n", "\0") and (
            math or token not in ("^", "_")
        ), token
        assert depth or token not in ("[", "*"), "an argument of what stands before"
    assert depth == 0 and not math


@example(name="\\input{/etc/passwd}")
@example(name="[9cm] *")
@given(name=names)
def test_latex_sets_names_as_characters(name: str) -> None:
    check_tex(list(tex_tokens(latex_escaped(name))))
    lines = latex_text([name, name], [[name, name]], caption=name).split("\n")
    ended = [list(tex_tokens(line)) for line in lines if line.endswith(r"\\")]
    assert [row.count("&") for row in ended] == [1, 1]
    assert len(lines) == 10 + 2 * bool(latex_escaped(name))


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@given(
    words=st.lists(
        names.map(lambda name: name.replace("\0", "")), min_size=1, max_size=20
    )
)
def test_a_shell_reads_the_words_and_nobody_the_signs(words: list[str]) -> None:
    command = shell_command(words)
    assert command == one_line(command), "one line, and nothing that a terminal obeys"
    run = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
    )
    assert run.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1] == words


@given(data=names.filter(lambda name: name and name.isprintable()))
def test_a_plan_as_a_command_and_as_toml_says_the_same_data(data: str) -> None:
    plan = Plan(data)
    assert tomllib.loads(plan_as_toml(plan))["data"] == data
    assert shell_command([data]) in as_command(plan)


@pytest.mark.parametrize("kind", get_args(Comment))
@given(name=names)
def test_a_comment_is_one_line_of_what_may_be_there(kind: Comment, name: str) -> None:
    said = comment_text(name, kind)
    assert said.splitlines() in ([said], []) and "\\" not in said
    assert all(c.isprintable() or c.isspace() for c in said)


@pytest.mark.ability("exports")
def test_the_code_of_a_hostile_name_never_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first name made a file as soon as the proof of C had loaded what it compiled."""
    mark = tmp_path / "ran"
    monkeypatch.setenv("RAN", str(mark))
    code = 'int system(const char *); void __attribute__((constructor)) evil(void) { system("touch $RAN"); }'
    named = [
        f"*\\ {code} \\*",
        f"*??/ {code}",
        '"""\nimport os; os.system("touch $RAN")',
        "plain",
    ]
    for key in ("c", "python", "sql"):
        form, function = MODEL_FORMATS[key], score_function(model(named))
        X = np.eye(len(named))
        scores = form.read(
            form.files(function), function, Documents(X, np.array([0, len(named)]))
        )
        assert scores.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert not mark.exists()


FORMULAS = ("=cmd|' /C calc'!A0", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "＝1", "-", "--x")


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_written_as_text(name: str, separator: str) -> None:
    ((cell,),) = csv.reader(
        io.StringIO(csv_text([name], [], separator), newline=""), delimiter=separator
    )
    assert cell.startswith("'") and "\t=" not in cell
    assert unguarded(cell) == name


def test_a_formula_behind_a_semicolon_is_written_as_text() -> None:
    assert guarded("BM25;=cmd") == "BM25;'=cmd"


def test_numbers_and_other_texts_stay_as_they_are() -> None:
    row = [
        -0.5,
        -3,
        True,
        None,
        "-0.5",
        "+1e-3",
        "-inf",
        "BM25 of title",
        "a-b",
        "x = 1",
        "'quoted'",
    ]
    assert csv_text(["n"], [row]).splitlines()[1] == (
        "-0.5,-3,True,,-0.5,+1e-3,-inf,BM25 of title,a-b,x = 1,'quoted'"
    )


@given(st.text(alphabet="'=+-@\t\r\n;,a1 ＝", max_size=12))
@example("'=x")
@example("''-")
def test_what_is_guarded_reads_back(text: str) -> None:
    assert unguarded(str(guarded(text))) == text


def test_names_of_features_that_we_wrote_are_read_as_they_were(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "-2+3", "'=quoted", "BM25, title"]
    (tmp_path / "data.txt").write_text(
        "1 qid:1 1:0 2:0 3:0 4:1\n0 qid:1 1:1 2:0 3:0 4:1\n"
    )
    (tmp_path / "features.csv").write_text(
        csv_text(("id", "name"), enumerate(names, start=1))
    )
    data = load_letor(tmp_path / "data.txt", cache=False)
    assert list(data.feature_names) == names
