"""Every code block of the readme and the guide does what the page says of it.

A page's blocks are carried out one after the other in an empty folder, as somebody pastes them. The sample is
a small one there; the one that is shipped takes its place in the thorough tests. Python shares its
names along the page; a block that begins with the name of a file, as
``# plan.toml``, is that file. What cannot be carried out bears a comment that says why, and is parsed.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from installed_analyses import found_plugins
from letor_folder import save_folds

from rankstudio.cli import command_line, known_commands, main
from rankstudio.cli.code_options import add_named_code
from rankstudio.engine import load_letor
from rankstudio.engine.data import synthetic
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog.registry import MethodRegistry
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.engine.plugins.plugin import LoadedPlugin

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
RUN, SHOWN = {"awk", "r", "sh", "python", "toml", "letor"}, {"text"}
REPEATED = {"--repetitions", "--of-each", "--permutations", "--draws"}
"""Options of numbers of repetitions: a page has as many as an answer takes, here they are two."""
FEW = {
    "filters.toml": "".join(
        f"\n[parameters.{method}]\nn_features_to_select = 6\n"
        for method in ("expected-divergence", "gas", "single-feature")
    )
}
"""What is added to a file: each further feature is a model for each value of a parameter."""

ON_THE_WHOLE_SAMPLE = ("README.md", "first-steps.md")
"""Pages that are tried on the shipped sample, too, which takes minutes for all of them."""

_BLOCK = re.compile(
    r"(?:<!-- (?P<why>not run: [^>]+|test command) -->\n\n)?"
    r"(?:```(?P<language>\w*)\n(?P<fenced>.*?)^```$|(?<=\n\n)(?P<indented>(?: {4}[^\n]*\n)+))",
    re.DOTALL | re.MULTILINE,
)
_FILE = re.compile(r"# ([\w.-]+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """A code block of a page: its language, its text, and whether it is carried out."""

    language: str
    text: str
    is_run: bool


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page; what is indented without a fence is of the shell."""
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [
        Block(
            "sh" if block["indented"] else block["language"],
            re.sub(r"^ {4}", "", block["indented"], flags=re.MULTILINE)
            if block["indented"]
            else block["fenced"],
            not block["why"],
        )
        for block in found
    ]


WITH_CODE = [page for page in PAGES if blocks(page)]


def command_lines(text: str) -> list[list[str]]:
    """Return the words of each command, without what a comment says of it."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the files of a small sample, in the order of those that are shipped."""
    root = tmp_path_factory.mktemp("small")
    save_folds(root, n_queries=22, n_noise=36, documents=(4, 9), seed=5)
    return [root / f"Fold{fold}" / "test.txt" for fold in (2, 3, 4, 5, 1)]


@pytest.fixture(params=["small", pytest.param("shipped", marks=pytest.mark.thorough)])
def place(
    small: list[Path],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """The empty folder in which a page is carried out; what it adds to Python is forgotten afterwards."""
    if request.param == "small":
        monkeypatch.setattr(synthetic, "sample_files", lambda: small)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        MEASURES, "_listed", {entry.key.lower(): entry for entry in MEASURES.entries()}
    )
    with found_plugins(monkeypatch, partial(plugins_of, tmp_path)):
        yield tmp_path
    for module in list(sys.modules):
        if (tmp_path / f"{module}.py").is_file():
            del sys.modules[module]


def plugins_of(place: Path, kind: str) -> list[LoadedPlugin]:
    """Return the plug-ins of a page with analyses, as if their package were installed."""
    files = place.glob("*.py") if kind == "analyses" else ()
    names = [
        file.stem for file in files if "analyses=(" in file.read_text(encoding="utf-8")
    ]
    return [LoadedPlugin(import_module(name).PLUGIN, name, "1.0") for name in names]


def carry_out(block: Block, place: Path, names: dict[str, Any]) -> None:
    """Run a block, or write the file that it is."""
    file = _FILE.match(block.text)
    if file:
        (place / file[1]).write_text(
            block.text + FEW.get(file[1], ""), encoding="utf-8"
        )
    elif block.language == "python":
        exec(compile(block.text, "page", "exec"), names)
    elif block.language == "letor":
        (place / "lines.txt").write_text(block.text, encoding="utf-8")
        assert load_letor(place / "lines.txt").n_documents == len(
            block.text.splitlines()
        )
    elif block.language == "toml":
        tomllib.loads(block.text)
    else:
        for words in command_lines(block.text):
            assert words[0] == "rankstudio", (
                f"{words[0]} is not run: say so before the block, and why"
            )
            seldom = [
                "2" if before in REPEATED else word for before, word in pairwise(words)
            ]
            if "ranksvm" in words and "--ranker-C" not in words:
                # its grid is tried where a page names one
                seldom += ["--ranker-C", "1"]
            if "gas" in words:
                seldom += ["--features", "6"]
            assert main(seldom) == 0, shlex.join(words)


LONG = {"terminal.md"}
"""Pages that take minutes: they are among the thorough tests with the small sample, too."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=page.name,
            marks=[pytest.mark.thorough] if page.name in LONG else [],
        )
        for page in WITH_CODE
    ],
)
def test_the_blocks_of_a_page_run_one_after_the_other(
    page: Path, place: Path, request: pytest.FixtureRequest
) -> None:
    shipped = request.node.callspec.params["place"] == "shipped"
    if (
        shipped
        and page.name not in ON_THE_WHOLE_SAMPLE
        and not request.config.getoption("--whole-sample")
    ):
        pytest.skip(
            "--whole-sample was not given: the page is tried on the small sample"
        )
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        assert block.language in RUN | SHOWN, (
            f"{page.name}: no block is {block.language!r}"
        )
        if block.is_run and block.language in RUN:
            carry_out(block, place, names)


NOT_RUN = [
    (page, block) for page in WITH_CODE for block in blocks(page) if not block.is_run
]
TYPED = [
    pytest.param(words[1:], id=shlex.join(words))
    for _, block in NOT_RUN
    for words in command_lines(block.text)
    if block.language == "sh" and words[0] == "rankstudio"
]


@pytest.fixture
def methods_of_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that pages name without running them: of the example and of files of the guide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.syspath_prepend(ROOT / "examples" / "rankstudio-selectors" / "src")
    example = import_module("rankstudio_selectors").PLUGIN.methods
    monkeypatch.setattr(
        catalog, "METHODS", MethodRegistry((*catalog.methods(), *example))
    )
    for block in (block for page in WITH_CODE for block in blocks(page)):
        file = _FILE.match(block.text)
        if file and file[1].endswith(".py"):
            (tmp_path / file[1]).write_text(block.text, encoding="utf-8")


@pytest.mark.usefixtures("methods_of_pages")
@pytest.mark.parametrize("words", TYPED)
def test_what_is_not_run_is_a_command_that_can_be_parsed(words: list[str]) -> None:
    if words[:1] and words[0] in known_commands():
        # for formats of the pages' own plug-ins
        stand_ins = {"npz": "csv", "ini": "ranklib"}
        written = [stand_ins.get(word, word) for word in words]
        arguments = add_named_code(written)
        assert command_line((words[0],)).parse_args(arguments).run
    else:  # the window's, before whose options files and folders are taken away
        command_line(tuple(known_commands())).parse_args(
            [word for word in words if word.startswith("-")]
        )


def test_blocks_are_found_with_their_language_and_their_reason(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\nText\n\n    one # two\n    three\n\n```python\nfour\n\nfive\n```\n\n- an item\n"
        "  that goes on\n\n<!-- not run: too long -->\n\n```sh\nsix\n```\n\n"
        "<!-- test command -->\n\n    seven\n"
    )
    assert blocks(page) == [
        Block("sh", "one # two\nthree\n", True),
        Block("python", "four\n\nfive\n", True),
        Block("sh", "six\n", False),
        Block("sh", "seven\n", False),
    ]
    assert command_lines("one # two\n\nthree 'four  five'\n") == [
        ["one"],
        ["three", "four  five"],
    ]
