"""The language of the window: texts are English, and are looked up in a catalog where another is wanted.

The language is chosen once, before the modules of the window are imported: texts of modules and classes are
looked up as they are made. :func:`install` refuses to come later.
"""

from __future__ import annotations

from gettext import GNUTranslations, NullTranslations

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTranslator

from rankstudio.engine.support.resources import resource

SYSTEM = "system"
LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The languages there are, each by its own name."""

_SOURCE = "en"


class _Language:
    """The language of this process, and the catalog its texts are looked up in."""

    def __init__(self) -> None:
        self.key = _SOURCE
        self.catalog = NullTranslations()
        self.used = False


_language = _Language()


def tr(text: str, context: str = "") -> str:
    """Return a text in the language of the window.

    Parameters
    ----------
    text : str
        In English, as a literal: catalogs are made of what the source says. What varies has names in braces
        and is put in by ``.format``.
    context : str
        Tells two meanings of a word apart: "menu".
    """
    _language.used = True
    if not text:
        return text  # the catalog's own heading
    return _language.catalog.pgettext(context, text) if context else _language.catalog.gettext(text)


def trn(one: str, several: str, number: int) -> str:
    """Return the one of two texts that goes with a number, in the language of the window."""
    _language.used = True
    return _language.catalog.ngettext(one, several, number)


def language() -> str:
    """Return the key of the language of the window."""
    return _language.key


def install(wanted: str = SYSTEM) -> str:
    """Choose the language of this process; return its key.

    Parameters
    ----------
    wanted : str
        A key of `LANGUAGES`; what is none of them, as "system", stands for the system's own where there is
        a catalog for it, and for English otherwise.

    Raises
    ------
    RuntimeError
        Where texts have been looked up already, so that they are in another language.
    """
    key = wanted if wanted in LANGUAGES else _of_the_system()
    if _language.used and key != _language.key:
        raise RuntimeError(f"Texts have been looked up in {_language.key}: it is too late for {key}.")
    _language.key = key
    if key != _SOURCE:
        with resource("languages", f"{key}.mo").open("rb") as file:
            _language.catalog = GNUTranslations(file)
    return key


def translate_qt(application: QObject) -> None:
    """Give Qt's own buttons and dialogs the language of the window, and numbers their point in any.

    Parameters
    ----------
    application : QApplication
        Keeps what it translates with.
    """
    QLocale.setDefault(QLocale.c())
    if _language.key != _SOURCE:
        translator = QTranslator(application)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if translator.load(f"qtbase_{_language.key}", folder):
            application.installTranslator(translator)  # type: ignore[attr-defined]


def _of_the_system() -> str:
    """Return the first of the user's languages, where there is a catalog for it."""
    first = next(iter(QLocale.system().uiLanguages()), _SOURCE)
    key = first.replace("_", "-").partition("-")[0]
    return key if key in LANGUAGES else _SOURCE
