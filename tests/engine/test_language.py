"""Sentences of the engine in another language, and what stays English there."""

from __future__ import annotations

from collections.abc import Iterator
from gettext import NullTranslations
from threading import Thread

import pytest

from rankstudio.engine import language
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import in_english, install, tr, trn
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.support.resources import resource


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(language, "_language", language._Language())
    install("de", resource("languages", "de.mo"))
    yield


def test_texts_are_english_before_a_catalog_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_language", language._Language())
    assert tr("Why in the model") == "Why in the model"
    assert isinstance(language._language.catalog, NullTranslations)


def test_a_wrong_value_is_told_in_german(german: None) -> None:
    size = next(p for p in method("greedy-rankrls").parameters if p.kind.name == "INTEGER")
    with pytest.raises(ParameterError, match="erwartet eine ganze Zahl ab 1"):
        size.validate("-3")


def test_what_is_written_for_everybody_stays_english_on_its_thread(german: None) -> None:
    elsewhere: list[str] = []
    with in_english():
        assert tr("Why in the model") == "Why in the model"
        assert trn("{n} run", "{n} runs", 2) == "{n} runs"
        thread = Thread(target=lambda: elsewhere.append(tr("Why in the model")))
        thread.start()
        thread.join()
    assert elsewhere == [tr("Why in the model")] == ["Warum im Modell"]
