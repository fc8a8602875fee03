"""The language of the window: which there are, which is chosen, and Qt's own part of it.

Texts are looked up by the engine's `tr` and `trn`, since sentences of
the engine are shown too. The language is chosen once, before the
modules of the window are imported: texts of modules and classes are
looked up as they are made. :func:`install` warns where it comes later.
"""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTranslator

from rankstudio.engine import language as texts
from rankstudio.engine.language import SOURCE, either, language, together, tr, trn
from rankstudio.engine.plugins.texts import plugin_texts
from rankstudio.engine.support.resources import resource

__all__ = [
    "LANGUAGES",
    "SYSTEM",
    "either",
    "install",
    "language",
    "together",
    "tr",
    "translate_qt",
    "trn",
]

SYSTEM = "system"
LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The languages there are, each by its own name."""


def install(choice: str = SYSTEM) -> str:
    """Choose the language of this process; return the key of the language.

    Parameters
    ----------
    choice : str
        A key of `LANGUAGES`. Any other text, such as "system", stands
        for the language of the operating system if that language has a
        catalog, and otherwise for English.
    """
    key = choice if choice in LANGUAGES else _system_language()
    texts.install(key, None if key == SOURCE else resource("languages", f"{key}.mo"))
    if key != SOURCE:
        texts.add_texts(plugin_texts(key))
    return key


def translate_qt(application: QObject) -> None:
    """Give Qt's own buttons and dialogs the language of the window, and numbers their point in any.

    Parameters
    ----------
    application : QApplication
        The running application, which keeps the translator.
    """
    QLocale.setDefault(QLocale.c())
    if language() != SOURCE:
        translator = QTranslator(application)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if translator.load(f"qtbase_{language()}", folder):
            application.installTranslator(translator)  # type: ignore[attr-defined]


def _system_language() -> str:
    """Return the first of the user's languages, where there is a catalog for it."""
    first = next(iter(QLocale.system().uiLanguages()), SOURCE)
    key = first.replace("_", "-").partition("-")[0]
    return key if key in LANGUAGES else SOURCE
