"""The window. It knows Qt and computes nothing; what it shows comes from the engine."""

from rankstudio.ui.process.qt_features import ignore_features

ignore_features()  # before anything of Qt, and what it comes with, is imported
