"""The site's reference: one page for each package of the engine, made from the packages there are.

A hook of mkdocs. The pages exist in the site only; the guide that the window shows does not know them.
The hook also shows the dark pictures of pairs in the site's dark colours, and the pictures
that were drawn for narrow screens there.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from rankstudio import api, engine, plugins, testing

ENGINE = Path(engine.__file__).parent
API = Path(api.__file__).parent
TESTING = Path(testing.__file__).parent
PLUGINS = Path(plugins.__file__).parent
_ROLE = re.compile(
    r":(?:func|class|meth|mod|attr|data):(?P<code><code>(?P<name>[^<]*)</code>)"
)
_LIGHT_PICTURE = re.compile(
    r"!\[(?P<text>[^\]]*)\]\((?P<name>images/[\w-]+)-light(?P<ending>\.\w+)\)"
)
FIRST = """\
# The reference

What a program needs stands in `rankstudio.engine`:

{names}
What methods of others need stands in `rankstudio.api`, and their checks in `rankstudio.testing`:

{api}
The packages, all of whose public modules have a place here:

{packages}
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the reference at the end of the navigation."""
    assert config.nav is not None
    pages = ["reference/index.md", *({_name(p): _page(p)} for p in packages())]
    config.nav.append({"API": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference."""
    files.append(File.generated(config, "reference/index.md", content=first_page()))
    for package in packages():
        files.append(
            File.generated(config, _page(package), content=package_page(package))
        )
    return files


def on_page_markdown(markdown: str, config: MkDocsConfig, **_: object) -> str:
    """Add the dark picture to every light one that has it; the theme shows one of the two."""

    def pair(match: re.Match[str]) -> str:
        if not exists(match["name"], f"-dark{match['ending']}"):
            return match[0]
        return picture(match, "light") + picture(match, "dark")

    def picture(match: re.Match[str], mode: str) -> str:
        name = match["name"]
        ending = f"-{mode}{match['ending']}"
        image = f"![{match['text']}]({name}{ending}#only-{mode})"
        if not exists(name, f"-narrow{ending}"):
            return image
        source = f'<source media="(max-width: 600px)" srcset="{name}-narrow{ending}">'
        return f"<picture>{source}{image}</picture>"

    def exists(name: str, ending: str) -> bool:
        return Path(config.docs_dir, f"{name}{ending}").is_file()

    return _LIGHT_PICTURE.sub(pair, markdown)


def on_page_content(html: str, **_: object) -> str:
    """Make links of the roles in which docstrings name other parts of the program."""

    def link(match: re.Match[str]) -> str:
        whole = match["name"].startswith("rankstudio.")
        return (
            f'<autoref identifier="{match["name"]}">{match["code"]}</autoref>'
            if whole
            else match["code"]
        )

    return _ROLE.sub(link, html)


def packages() -> list[Path]:
    """Return the folders of the packages that have public modules, those for methods of others first."""
    return [API, TESTING, *_engine_packages(), *_abilities()]


def _abilities() -> list[Path]:
    """Return the folders of abilities with more than their commands and parts of the window."""
    folders = sorted({path.parent for path in PLUGINS.rglob("*.py")} - {PLUGINS})
    computing = [
        folder for folder in folders if folder.name not in ("window", "commands")
    ]
    return [
        folder
        for folder in computing
        if len(modules(folder)) > (folder.parent == PLUGINS)
    ]


def _engine_packages() -> list[Path]:
    return [
        folder
        for folder in sorted({path.parent for path in ENGINE.rglob("*.py")})
        if modules(folder)
    ]


def modules(package: Path) -> list[Path]:
    """Return the public modules of a package, without the commands of an ability."""
    hidden = ("_", "command") if package.parent == PLUGINS else ("_",)
    return sorted(
        path for path in package.glob("*.py") if not path.name.startswith(hidden)
    )


def first_page() -> str:
    """Return the page with the engine's own names and its packages."""
    names = "".join(
        f"- [`{name}`][{home}.{name}]\n"
        for name, home in sorted(public_names().items())
    )
    lines = "\n".join(
        f"- [`{_name(p)}`]({Path(_page(p)).name}): {_says(p)}" for p in packages()
    )
    values = {name: getattr(api, name) for name in sorted(api.__all__)}
    own = "".join(
        f"- [`{name}`][{value.__module__}.{value.__qualname__}]\n"
        for name, value in values.items()
        if isinstance(value, type)
    )
    return FIRST.format(names=names, api=own, packages=lines)


def package_page(package: Path) -> str:
    """Return the page of a package: its own text and names, then each of its modules."""
    own = f"::: {_name(package)}\n    options: {{ heading_level: 1 }}\n"
    return "\n".join(
        [own, *(f"::: {_name(path.with_suffix(''))}\n" for path in modules(package))]
    )


def public_names() -> dict[str, str]:
    """Return the module in which each public name of the engine is defined."""
    return {name: getattr(engine, name).__module__ for name in engine.__all__}


def _says(package: Path) -> str:
    """Return the first paragraph of a package's docstring."""
    text = (
        ast.get_docstring(
            ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
        )
        or ""
    )
    return " ".join(text.split("\n\n")[0].split())


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ENGINE.parents[1]).parts)


def _page(package: Path) -> str:
    return f"reference/{_name(package).removeprefix('rankstudio.')}.md"
