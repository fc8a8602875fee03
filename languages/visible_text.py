"""Which literals of the window a user reads, by where a literal stands and how it looks.

A text with a space between two words, or a capital letter first, is read unless it stands where only the
program reads (`OF_THE_PROGRAM`). A lone word in small letters is read only where a word is shown (`SHOWN`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

TRANSLATED = {"tr": 1, "trn": 2, "translatable": 1}
"""The functions that look texts up, and how many of their first arguments are texts."""

_NAMES = """
    MAP MRR NDCG NDCG@k MeanNDCG P@k ERR RR Recall AUC Disagreement StrictDisagreement Tau
    MaxF RPrecision SquaredError
    RankStudio LETOR MSLR RankLib Solr
    CSV JSON TOML PNG SVG PDF LaTeX BibTeX Markdown Inter Qt Jaccard Nogueira Holm Fisher Student HTML dpi
    Ctrl Shift Alt Home Esc MB
"""
_NAME = re.compile(r"[^\W\d_]+@\d+|\b(?:" + "|".join(_NAMES.split()) + r")\b")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROSE = re.compile(
    r"[^\W\d_{}]{2,}[)”’]?[,;:.!?…]* +[^\W\d_({“&|]"  # two words
    r"|\} +\(?[^\W\d_]{2,}|[^\W\d_]{2,}[,:]? +\{"  # a word and what varies
    r"|^&?[A-Z]|^ +[^\W\d_]{2,}"
)
_NOT_PROSE = re.compile(
    # style sheets
    r"[{;][^}]*\b(border|padding|margin|color|background|font)[\w-]*:|^font-size:|^ ?class="
    r"|^[A-Z][A-Z0-9]*_[A-Z0-9_]+$|^Q[A-Z][a-z]\w+( |$)|^https?:|^((Ctrl|Alt|Shift|Meta)\+)+\S+$"
    # paths, and HTML without a word
    r"|^/|^\w+/\w+/|^[\w{}/*.-]+\.\w{2,10}$|^(<[^>]*>|\s|\{\})*$"
)

_PROGRAM_CALLS = set(
    """
    setObjectName setProperty property getattr setattr hasattr isinstance compile match fullmatch search
    setStyleSheet q QColor QKeySequence resource Path TypeVar TypeVarTuple ParamSpec Literal find_spec
    import_module
    startswith endswith removeprefix removesuffix partition rpartition split rsplit strip lstrip rstrip
    encode decode user_config_path user_data_path getLogger info debug exception critical log sysconf CDLL
    ValueError TypeError KeyError RuntimeError AssertionError NotImplementedError invokeMethod findChild
    findChildren set_icon icon pixmap isoformat strftime open read_text write_text glob rglob with_suffix
    with_name joinpath table bytes number remove setValue value Worker Tag setDesktopFileName Signal Slot
    set_mode show_page show_section show_view Cancelled save create field setApplicationName
    setApplicationDisplayName setCreator horizontalAdvance namedtuple row column text color Theme NewType cast
    set_format set_term setFontFamily loadFromData environ setFamily setData pop setdefault enable
    """.split()  # noqa: SIM905 - a list of words reads better so
)
_PROGRAM_ARGUMENTS = set(
    """
    named(1) named(4) Column(0) Column(2) Column(3) Command(0) Command(3) Command(4) PageName(0) PageName(2)
    ExportItem(0) ExportItem(4) Entry(0) TableView(2) Page(0) add_table(0) add_tool(0) _tool(0) _tool(1)
    Segmented(2) add_choice(2) Job(1) _do(2) replace(0) replace(1) set(0) set(1) say(1)
    _select_by(0) _alone(0) _found(0) _ticks(0) _fill_choice(0) _menu_button(0) _line(2)
    ComparedRun(2) get(0) info(0) warning(1) _stem(0) show_image(0)
    """.split()  # noqa: SIM905
)
_PROGRAM_KEYWORDS = set(
    """
    align kind tone role key slot encoding errors name icon thread_name_prefix connect timespec prefix option
    format stem rule mode source symbol suffix ending part way term
    """.split()  # noqa: SIM905
)

_SHOWN = set(
    """
    Column(1) ColumnGroup(0) Command(1) Command(2) PageName(1) PageName(3) Fact(0) Fact(1) Fact(2) Fact(4)
    PlainLabel(0) ElidedLabel(0) QLabel(0) QPushButton(0) QToolButton(0) QCheckBox(0) QRadioButton(0)
    QAction(0)
    QGroupBox(0) QMenu(0) setText(0) setPlaceholderText(0) setWindowTitle(0) setToolTip(0) setStatusTip(0)
    setAccessibleName(0) setAccessibleDescription(0) setTitle(0) setSuffix(0) setPrefix(0)
    setSpecialValueText(0) setIconText(0) setHorizontalHeaderLabels(0) set_title(0) set_caption(0)
    set_names(0)
    set_hint(0) set_reference(1) addItem(0) addItems(0) addAction(0) addTab(1) addMenu(0) addRow(0)
    named(2) named(3) Segmented(1) Line(0) Line(1) Axes(0) Axes(1) Curve(0) HistogramPlot(1) HistogramPlot(2)
    HeatMapPlot(1) HeatMapPlot(2) HeatMapPlot(3)
    BarRows(1) BarsPlot(1) ParetoPlot(1) ParetoPlot(2) MapValues(4)
    MapValues(7) ProgressCell(1) drawText(2) counted(1) counted(2) _found(1) _found(3) Part(0)
    Segmented(0)[1] set_options(0)[1] _offer(1)[1]
    Entry(1) add_choice(0)[1] add_choice(1) add_choice(3) CurvesPlot(1)
    Offer(1) Offer(3) ExportItem(1) ExportItem(2) KeyEntry(0)
    """.split()  # noqa: SIM905
)
_SHOWN_KEYWORDS = set(
    """
    label help tooltip title caption text said accessible_name tip names none_label placeholder units hint
    """.split()  # noqa: SIM905
)
_SHOWN_VARIABLES = set(
    """
    alone better more less runs steps units verb way word note said title what how where _WORDS _X_NAMES
    _OPTIONS[1]
    """.split()  # noqa: SIM905
)


class _Places(ast.NodeVisitor):
    """Goes through a module and collects the literals that are read and not looked up."""

    def __init__(self) -> None:
        self.found: list[ast.expr] = []
        self._above: list[ast.AST] = []

    def generic_visit(self, node: ast.AST) -> None:
        self._above.append(node)
        super().generic_visit(node)
        self._above.pop()

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        """Annotations are no texts."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._above.append(node)
            self.visit(node.value)
            self._above.pop()

    def visit_Compare(self, node: ast.Compare) -> None:
        """Pass over what is compared: a key, not a text; what is called on the way may be given one."""
        self._above.append(node)
        for part in (node.left, *node.comparators):
            if not isinstance(
                part, ast.Constant | ast.JoinedStr | ast.Tuple | ast.Set | ast.List
            ):
                self.visit(part)
        self._above.pop()

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._above.append(node)
        self.visit(node.value)
        if not isinstance(node.slice, ast.Constant | ast.JoinedStr | ast.Tuple):
            self.visit(node.slice)
        self._above.pop()

    def visit_Dict(self, node: ast.Dict) -> None:
        self._above.append(node)
        for key in node.keys:
            if key is not None and not isinstance(key, ast.Constant | ast.JoinedStr):
                self.visit(key)
        for value in node.values:
            self.visit(value)
        self._above.pop()

    def visit_match_case(self, node: ast.match_case) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._above.append(node)
        for part in (
            *node.args.defaults,
            *node.args.kw_defaults,
            *node.decorator_list,
            *node.body,
        ):
            if part is not None:
                self.visit(part)
        self._above.pop()

    def visit_Call(self, node: ast.Call) -> None:
        name = called(node)
        if name in TRANSLATED:
            for argument in node.args[TRANSLATED[name] :]:
                self.visit(argument)
            return
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        if self._is_read(node):
            self.found.append(node)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        above = self._above[-1]
        if (
            isinstance(node.value, str)
            and not isinstance(above, ast.JoinedStr)
            and self._is_read(node)
        ):
            self.found.append(node)

    def _is_read(self, node: ast.expr) -> bool:
        text = template(node)
        words = _WORD.findall(_NAME.sub("", re.sub(r"\{\}|<[^>]*>|&\w+;", " ", text)))
        if not words or _NOT_PROSE.search(text):
            return False
        places = list(self._places(node))
        if any(place in _PROGRAM for place in places):
            return False
        prose = bool(_PROSE.search(text))
        return prose or (
            not text.startswith(("#", ".", "%"))
            and any(place in _SHOWN_ALL for place in places)
        )

    def _places(self, node: ast.AST) -> Iterator[str]:
        """Yield where a literal stands, from the nearest: the argument, keyword, variable or statement."""
        below, pair = node, ""
        for above in reversed(self._above):
            match above:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="_log" | "logging" | "log"))
                ):
                    yield "_log"
                    return
                case ast.Call():
                    name = called(above)
                    if below in above.args:
                        yield f"{name}({above.args.index(below)}){pair}"
                        yield f"{name}({above.args.index(below)})"
                        yield f"{name}()"
                        if name not in (
                            "tuple",
                            "list",
                            "dict",
                            "join",
                            "append",
                            "plain",
                        ):
                            return
                    elif below is above.func:
                        return
                case ast.keyword():
                    filled = (
                        called(self._above[self._above.index(above) - 1]) == "format"
                    )
                    yield "{}" if filled else f"{above.arg}="
                    return
                case ast.Assign(targets=[target, *_]):
                    yield f"{_last(target)}{pair} ="
                    yield f"{_last(target)} ="
                    return
                case ast.Tuple(elts=[first, second]) if second is below:
                    pair = "[1]"
                    if isinstance(first, ast.Name) and first.id.isupper():
                        yield "(KEY, )"
                case ast.Attribute():
                    yield f".{above.attr}"
                case ast.FormattedValue():
                    yield "{}"
                case ast.stmt() | ast.Lambda() | ast.comprehension():
                    yield type(above).__name__
                    return
                case ast.IfExp() if below is above.test:
                    yield "test"
            below = above


_PROGRAM = {
    *(f"{name}()" for name in _PROGRAM_CALLS),
    *_PROGRAM_ARGUMENTS,
    *(f"{word}=" for word in _PROGRAM_KEYWORDS),
    *(f".{word}" for word in ("partition", "startswith", "endswith", "translate")),
    *(
        "__all__ =",
        "TERMS =",
        "header =",
        "_SLOT =",
        "_NAMES =",
        "USUAL =",
        "_USUAL_PROTOCOLS =",
        "OFFERED =",
        "_FILES =",
        "_log",
    ),
    "test",
}
_SHOWN_ALL = {
    *_SHOWN,
    *(f"{word}=" for word in _SHOWN_KEYWORDS),
    *(f"{word} =" for word in _SHOWN_VARIABLES),
    *("{}", "(KEY, )"),
}


def called(node: ast.AST) -> str:
    """Return the last name of what is called, "" for what is no call."""
    return _last(node.func) if isinstance(node, ast.Call) else ""


def _last(node: ast.AST) -> str:
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def template(node: ast.AST) -> str:
    """Return the text of a literal, "{}" for what varies."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}"
            for part in node.values
        )
    return str(node.value) if isinstance(node, ast.Constant) else ""


EXCEPTIONS: dict[str, frozenset[str] | None] = {
    "language/__init__.py": None,  # languages have their own names
    "process/display_check.py": None,  # speaks in the terminal, where no window can be
    # heads a report for developers
    "process/crash.py": frozenset({"RankStudio {}, Python {}, {}\n{}\n\n"}),
    "shell/help.py": frozenset(  # headings of the guide, which is English
        {
            *(
                "Data",
                "Select",
                "Features",
                "Compare",
                "Queries",
                "Method",
                "Candidates",
                "Inspector",
            ),
            *("Runs", "Curves", "Results", "Criterion and validation"),
        }
    ),
    "plots/pyqtgraph_parts.py": None,  # names of classes and modules
    # a key of its rules
    "plots/pareto.py": frozenset({"not significantly worse", "one standard error"}),
    "select/curves_panel.py": frozenset({"validation part"}),  # a term of the glossary
    # the same
    "compare/pareto_view.py": frozenset(
        {"one standard error", "not significantly worse"}
    ),
}
"""What looks like a text and is none, by module; None for all of it."""


def unwrapped(tree: ast.Module, module: str = "") -> list[ast.expr]:
    """Return the literals that a user reads and that are not looked up, from top to bottom.

    Parameters
    ----------
    tree : ast.Module
    module : str
        Path of the module inside ``rankstudio/ui``, for its exceptions.
    """
    excepted = EXCEPTIONS.get(module, frozenset())
    if excepted is None:
        return []
    places = _Places()
    places.visit(tree)
    kept = [node for node in places.found if template(node) not in excepted]
    return sorted(kept, key=lambda node: (node.lineno, node.col_offset))
