"""Plug-ins that need others: there with them, left out with the reason without them."""

from __future__ import annotations

import pytest

from rankstudio.engine.plugins import loader
from rankstudio.engine.plugins.loader import PluginSet, plugins, plugins_with
from rankstudio.engine.plugins.plugin import LoadedPlugin, Plugin


@pytest.fixture
def of_packages(monkeypatch: pytest.MonkeyPatch):
    """A function that has some plug-ins found as those of packages."""

    def install(*installed: Plugin) -> PluginSet:
        others = PluginSet(
            tuple(LoadedPlugin(one, "a-package", "1") for one in installed)
        )
        monkeypatch.setattr(loader, "_plugins_of_packages", lambda: others)
        loader._plugins_with_needs.cache_clear()
        return plugins_with("pages")

    yield install
    monkeypatch.undo()
    loader._plugins_with_needs.cache_clear()


def names(found: PluginSet) -> set[str]:
    return {loaded.plugin.name for loaded in found.loaded if not loaded.built_in}


def test_what_is_needed_may_be_of_a_package_or_built_in(of_packages) -> None:
    needs = ("first", "rankstudio", "data-formats")
    found = of_packages(
        Plugin("first"),
        Plugin("second", needs=needs),
        Plugin("third", needs=("second",)),
    )
    assert names(found) == {"first", "second", "third"} and found.failed == ()


def test_two_may_need_each_other(of_packages) -> None:
    assert names(
        of_packages(Plugin("a", needs=("b", "a")), Plugin("b", needs=("a",)))
    ) == {"a", "b"}


def test_what_lacks_something_is_left_out_with_all_that_need_it(of_packages) -> None:
    found = of_packages(
        Plugin("a", needs=("b",)), Plugin("b", needs=("c\x1b[2J",)), Plugin("d")
    )
    assert names(found) == {"d"}
    assert [one.name for one in found.failed] == ["a", "b"]
    for one in found.failed:
        assert "c" in one.reason and one.reason.endswith("which is absent or left out")
        assert "\x1b" not in one.reason


@pytest.mark.parametrize("needs", [5, None, "lab", {"lab": 1}, ("lab", 7), [3]])
def test_odd_needs_are_refused(of_packages, needs: object) -> None:
    found = of_packages(Plugin("odd", needs=needs))
    assert names(found) == set() and [one.name for one in found.failed] == ["odd"]


@pytest.mark.ability("papers")
def test_papers_need_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loader.WITHOUT, "lab")
    for function in (
        loader._plugins_of_packages,
        loader._built_in,
        loader._plugins_with_needs,
        plugins,
    ):
        function.cache_clear()
    try:
        assert "papers" not in {one.plugin.name for one in plugins().loaded}
        assert [one.name for one in plugins().failed] == ["papers"]
    finally:
        monkeypatch.undo()
        for function in (
            loader._plugins_of_packages,
            loader._built_in,
            loader._plugins_with_needs,
            plugins,
        ):
            function.cache_clear()
