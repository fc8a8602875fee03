"""The window's style sheet, made from the theme's colors.

Widgets opt into a variant with the dynamic property ``role``::

    QPushButton   primary (the one call to action), quiet (no frame until the mouse is over it), link
    QToolButton   quiet is the default; disclosure, fold (the arrow of a heading in a table)
    QLabel        muted, title (a panel's), heading (inside a panel), warning, ok, error
    QFrame        panel, header, separator
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template

from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, scaled

_BASE = Template("""
QWidget { color: $text; }
QMainWindow, QDialog, QWidget[role="ground"] { background: $ground; }
QDialogButtonBox, QMessageBox { dialogbuttonbox-buttons-have-icons: 0; }
QWidget[role="bar"], QToolBar, QMenuBar, QStatusBar { background: $panel; }
QToolBar { border: none; border-bottom: 1px solid $line; spacing: 8px; padding: 5px 12px 8px 12px; }
QToolBar::separator { background: $line; width: 1px; margin: 5px 4px; }
QToolBar QLabel { background: transparent; }
QStatusBar { padding-left: 8px; border-top: 1px solid $line; color: $muted; font-size: ${small}px; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $muted; font-size: ${small}px; padding: 0 4px; }
QDialog[role="palette"] { background: $panel; border: 1px solid $line_hover; border-radius: 9px; }
QWidget[role="rail"] { background: $panel; border-right: 1px solid $line; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: $line_hover; border-radius: 2px; }
QScrollArea, QScrollArea > QWidget > QWidget[role="page"] { background: transparent; border: none; }

QLabel { background: transparent; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="field"] { color: $muted; min-height: 28px; max-height: 28px; }
QLabel[role="caption"] { color: $muted; font-size: ${small}px; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; font-size: 15px; }
QLabel[role="warning"] { color: $warning; }
QLabel[role="ok"] { color: $ok; }
QLabel[role="error"] { color: $error; }

QFrame[role="chip"] { background: $tint; border: 1px solid $line; border-radius: 7px; }
QFrame[role="panel"] { background: $panel; border: 1px solid $line; border-radius: 9px; }
QFrame[role="header"] {
  background: transparent; border: none; border-bottom: 1px solid $line; min-height: 35px; max-height: 35px;
}
QFrame[role="separator"] { background: $line; border: none; max-height: 1px; }

QToolTip { background: $panel; color: $text; border: 1px solid $line_hover; padding: 5px 7px; }
""")

_BUTTONS = Template("""
QPushButton, QToolButton {
  background: $panel; color: $text; border: 1px solid $line; border-radius: 7px;
  padding: 0 12px; min-height: 28px;
}
QPushButton:hover, QToolButton:hover { border-color: $line_hover; background: $inset; }
QPushButton:pressed, QToolButton:pressed, QPushButton:open, QToolButton:open { background: $line_soft; }
QPushButton:checked, QToolButton:checked { background: $tint; color: $accent; border-color: $accent; }
QPushButton:focus, QToolButton:focus { border: 2px solid $accent; padding: 0 11px; min-height: 26px; }
QPushButton:disabled, QToolButton:disabled { color: $faint; background: $panel; border-color: $line_soft; }
QPushButton[role="primary"], QToolButton[role="primary"] {
  background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; padding: 0 14px;
}
QPushButton[role="primary"]:hover, QToolButton[role="primary"]:hover {
  background: $accent_hover; border-color: $accent_hover;
}
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus {
  border: 2px solid $text; padding: 0 13px;
}
QPushButton[role="primary"]:disabled, QToolButton[role="primary"]:disabled {
  background: $inset; color: $faint; border-color: $line;
}
QPushButton[role="quiet"], QToolButton[role="quiet"] {
  background: transparent; border: 1px solid transparent; padding: 0 5px; min-height: 24px;
}
QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover { background: $line_soft; }
QPushButton[role="quiet"]:checked, QToolButton[role="quiet"]:checked { background: $tint; color: $accent; }
QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus {
  border: 2px solid $accent; padding: 0 4px; min-height: 22px;
}
QPushButton[role="quiet"]:disabled, QToolButton[role="quiet"]:disabled { background: transparent; }
QFileDialog QToolButton { background: transparent; border-color: transparent; padding: 0; min-height: 0; }
QToolButton[role="disclosure"] {
  background: transparent; color: $muted; border: 1px solid transparent;
  padding: 0 5px 0 0; margin-left: -6px; min-height: 24px;
}
QToolButton[role="disclosure"]:hover { color: $text; background: $line_soft; }
QToolButton[role="disclosure"]:focus { border: 2px solid $accent; padding: 0 4px 0 0; min-height: 22px; }
QToolButton[role="fold"] {
  background: transparent; border: 1px solid transparent; padding: 0; min-height: 18px; min-width: 18px;
}
QToolButton[role="fold"]:hover { background: $line_soft; }
QToolButton[role="fold"]:focus { border: 2px solid $accent; min-height: 16px; min-width: 16px; }
QPushButton[role="link"] {
  background: transparent; border: 1px solid transparent; padding: 0 5px; min-height: 24px; color: $accent;
}
QPushButton[role="link"]:hover { background: $line_soft; }
QPushButton[role="link"]:focus { border: 2px solid $accent; padding: 0 4px; min-height: 22px; }
QPushButton[role="segment"] { padding: 0 4px; min-height: 22px; border-radius: 6px; }
QPushButton[role="segment"]:checked { font-weight: 600; }
QPushButton[role="segment"]:focus { padding: 0 3px; min-height: 20px; }
QPushButton[role="choose"] {
  background: $tint; color: $accent; border: 1px solid $accent; padding: 0 8px; min-height: 22px;
  border-radius: 6px; margin-right: 6px;
}
QPushButton[role="choose"]:hover { background: $accent; color: $on_accent; }
QPushButton[role="choose"]:focus { border: 2px solid $accent; padding: 0 7px; min-height: 20px; }
QPushButton[role="chip-link"] {
  background: transparent; border: 1px solid transparent; padding: 0 5px; min-height: 20px; color: $accent;
}
QPushButton[role="chip-link"]:hover { background: $line_soft; }
QPushButton[role="chip-link"]:focus { border: 2px solid $accent; padding: 0 4px; min-height: 18px; }
QToolButton[role="page-button"] {
  border: 1px solid transparent; background: transparent; color: $muted; padding: 4px 0; min-height: 46px;
  font-size: ${small}px;
}
QToolButton[role="page-button"]:hover { background: $line_soft; }
QToolButton[role="page-button"]:checked { background: $tint; color: $accent; font-weight: 600; }
QToolButton[role="page-button"]:focus { border: 2px solid $accent; padding: 3px 0; min-height: 46px; }
QPushButton::menu-indicator, QToolButton::menu-indicator {
  image: url("$chevron"); width: 12px; height: 12px;
  subcontrol-origin: padding; subcontrol-position: center right; right: 8px;
}
QPushButton[menu="true"], QToolButton[popupMode="2"] { padding-right: 26px; }
QToolButton[popupMode="2"][role="quiet"] { padding-right: 5px; }
QPushButton[role="quiet"]::menu-indicator { image: none; width: 0; }
QToolButton[role="quiet"]::menu-indicator { image: none; width: 0; }
QToolButton#qt_toolbar_ext_button {
  border: none; padding: 0; qproperty-icon: none; image: url("$chevron_right");
}
""")

_FIELDS = Template("""
QLineEdit, QComboBox, QTextEdit, QAbstractSpinBox {
  background: $inset; color: $text; border: 1px solid $line; border-radius: 7px;
  selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit, QComboBox, QAbstractSpinBox { padding: 0 9px; min-height: 26px; }
QLineEdit:hover, QComboBox:hover, QAbstractSpinBox:hover { border-color: $line_hover; }
QLineEdit:focus, QComboBox:focus, QTextEdit:focus, QAbstractSpinBox:focus {
  border: 2px solid $accent; background: $panel;
}
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { padding: 0 8px; min-height: 24px; }
QLineEdit[invalid="true"], QComboBox[invalid="true"] { border-color: $error; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled {
  color: $faint; background: $panel; border-color: $line_soft;
}
QComboBox QLineEdit, QAbstractSpinBox QLineEdit {
  border: none; background: transparent; padding: 0; min-height: 0;
}
QComboBox { combobox-popup: 0; padding-right: 2px; }
QComboBox:focus { padding-right: 1px; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: url("$chevron"); width: 12px; height: 12px; }
QComboBox::down-arrow:disabled { image: url("$chevron_faint"); }
QAbstractSpinBox { padding-right: 2px; }
QAbstractSpinBox:focus { padding-right: 1px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: 22px; }
QAbstractSpinBox::up-button { subcontrol-position: top right; padding-top: 2px; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; padding-bottom: 2px; }
QAbstractSpinBox::up-arrow { image: url("$chevron_up"); width: 9px; height: 9px; }
QAbstractSpinBox::down-arrow { image: url("$chevron"); width: 9px; height: 9px; }
QAbstractSpinBox::down-arrow:off, QAbstractSpinBox::down-arrow:disabled { image: url("$chevron_faint"); }
QComboBox QAbstractItemView {
  background: $panel; border: 1px solid $line_hover; padding: 4px; outline: none;
  selection-background-color: $tint; selection-color: $text;
}
QComboBox QAbstractItemView::item { min-height: 26px; padding: 0 6px; border-radius: 5px; }
QComboBox QAbstractItemView::item:hover, QComboBox QAbstractItemView::item:selected {
  background: $tint; color: $text;
}

QCheckBox { spacing: 8px; background: transparent; min-height: 22px; }
QCheckBox:disabled { color: $faint; }
QCheckBox::indicator, QListWidget::indicator {
  width: 14px; height: 14px; border: 1px solid $line_hover; border-radius: 4px; background: $inset;
}
QCheckBox::indicator:hover { border-color: $muted; }
QCheckBox::indicator:checked, QListWidget::indicator:checked {
  background: $accent; border-color: $accent; image: url("$check");
}
QCheckBox:focus { color: $accent; }
QCheckBox::indicator:focus { border: 2px solid $accent; width: 12px; height: 12px; }
QCheckBox::indicator:disabled, QListWidget::indicator:disabled { border-color: $line; background: $panel; }
QCheckBox::indicator:checked:disabled, QListWidget::indicator:checked:disabled {
  border-color: $line_hover; background: $line_hover;
}

QSlider:horizontal { min-height: 22px; background: transparent; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $line; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::sub-page:horizontal:disabled { background: $line_hover; }
QSlider::handle:horizontal {
  width: 12px; height: 12px; margin: -6px 0; border-radius: 8px;
  background: $panel; border: 2px solid $accent;
}
QSlider::handle:horizontal:hover { background: $tint; }
QSlider::handle:horizontal:focus { background: $accent; }
QSlider::handle:horizontal:disabled { border-color: $line_hover; }

QProgressBar { background: $line; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
""")

_VIEWS = Template("""
QAbstractItemView { background: $panel; border: none; outline: none; alternate-background-color: $panel; }
QTableView, QTreeView {
  background: transparent; border: none; gridline-color: $line_soft;
  selection-background-color: $tint; selection-color: $text;
}
QListView {
  background: $panel; color: $text; border: none;
  selection-background-color: $tint; selection-color: $text;
}
QListView[role="popup"] { border: 1px solid $line_hover; padding: 4px; }
QListView[role="popup"]::item { min-height: 26px; padding: 0 6px; border-radius: 5px; }
QListView[role="popup"]::item:hover, QListView[role="popup"]::item:selected {
  background: $tint; color: $text;
}
QListWidget::item { min-height: 26px; padding: 0 8px; border-radius: 5px; }
QListWidget::item:hover { background: $inset; }
QListWidget::item:selected { background: $tint; color: $text; }
QListWidget:disabled, QListWidget::item:disabled { color: $faint; }
QListWidget::item:selected:disabled { background: $inset; }
QTableView::item { border: none; padding: 0 8px; }
QTableView::item:hover { background: $inset; }
QTableView::item:selected { background: $tint; color: $text; }
QTableView:focus { border: none; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section {
  background: $panel; color: $muted; border: none; border-bottom: 1px solid $line;
  padding: 0 6px 0 8px; font-size: ${small}px; font-weight: 400;
}
QHeaderView::section:hover { color: $text; }
QHeaderView::down-arrow, QHeaderView::up-arrow {
  width: 10px; height: 8px; subcontrol-origin: margin; subcontrol-position: top center;
}
QHeaderView::down-arrow { image: url("$chevron"); }
QHeaderView::up-arrow { image: url("$chevron_up"); }
QTableCornerButton::section { background: $panel; border: none; border-bottom: 1px solid $line; }

QMenuBar { padding: 2px 3px; }
QMenuBar::item { background: transparent; padding: 5px 9px; border-radius: 6px; }
QMenuBar::item:selected { background: $line_soft; }
QMenu { background: $panel; border: 1px solid $line_hover; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 10px; border-radius: 5px; min-height: 18px; }
QMenu::item:selected { background: $tint; }
QMenu::item:disabled { color: $faint; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: $line; margin: 5px 8px; }
QMenu::indicator { width: 14px; height: 14px; margin-left: 6px; }
QMenu::indicator:checked { image: url("$check_text"); }
QMenu::right-arrow { image: url("$chevron_right"); width: 12px; height: 12px; margin-right: 8px; }

QTabWidget::pane { border: none; }
QTabBar { background: transparent; }
QTabBar::tab {
  background: transparent; color: $muted; border: none; border-bottom: 2px solid transparent;
  padding: 0 4px; margin: 0 8px; height: 33px;
}
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; font-weight: 600; }
QTabBar::tab:focus { color: $accent; }
QTabBar::tab:disabled { color: $faint; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: $line_hover; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 28px; margin: 2px; }
QScrollBar::handle:horizontal { min-width: 28px; margin: 2px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; background: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
""")


# Properties that are scaled with the text: font sizes, and heights from
# 18 pixels, which hold a line of text.
_WITH_TEXT = re.compile(
    r"(font-size|(?:min-|max-|\b)height): (1[89]|[2-9]\d|(?<=font-size: )\d+)px"
)


def style_sheet(colors: Colors, images: Mapping[str, str]) -> str:
    """Return the style sheet of a theme.

    Parameters
    ----------
    colors : Colors
    images : mapping of str to str
        Paths of small pictures, which style sheets can only load from
        files: ``chevron``, ``chevron_faint``, ``chevron_up``,
        ``chevron_right``, ``check``, ``check_text``.
    """
    # The sheet has $name for each color and picture. The field `dark` is no color.
    roles = {
        name: getattr(colors, name)
        for name in colors.__dataclass_fields__
        if name != "dark"
    }
    placeholders = {**roles, **images, "small": str(SMALL)}
    sheet = "".join(
        part.substitute(placeholders) for part in (_BASE, _BUTTONS, _FIELDS, _VIEWS)
    )

    # Font sizes and heights grow with the size of text that the user
    # has chosen: the pattern matches a property and its pixels.
    return _WITH_TEXT.sub(lambda match: f"{match[1]}: {scaled(int(match[2]))}px", sheet)
